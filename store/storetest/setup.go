package storetest

// Stat gives the current object of a key, without its being requested.
func (b *Bucket) Stat(key string) (Object, bool) {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	if v := b.current(key); v != nil {
		return v.Object, true
	}
	return Object{}, false
}

// Purge removes all versions and delete markers of a key, as etcd-manager's
// cleanup does.
func (b *Bucket) Purge(key string) {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	delete(b.keys, key)
}

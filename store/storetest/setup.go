package storetest

import "slices"

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

// Name is the bucket's name.
func (b *Bucket) Name() string { return b.name }

// History gives all versions and delete markers, key by key, in the order in which
// they were put: what it takes to make the bucket again on another server.
func (b *Bucket) History() []Object {
	b.fake.mu.Lock()
	defer b.fake.mu.Unlock()
	var all []Object
	for _, key := range b.sorted("") {
		for _, v := range slices.Backward(b.keys[key]) {
			all = append(all, v.Object)
		}
	}
	return all
}

package main

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"backstop/audit"
)

// A bucket is an S3 bucket: the versions of each key, the newest first.
type bucket struct {
	clock      *clock
	name       string
	versioning string // "", Enabled, Suspended
	public     bool
	rules      []lifecycleRule
	sizeMode   string // x-amz-transition-default-minimum-object-size

	shards map[string][]*stack // by the first part of the key; each sorted by key
	order  []string            // the names of the shards, sorted
	made   int                 // versions so far
	// changed is told of every key that was written or deleted.
	changed []func(key string)
}

// A stack is what a bucket holds of one key.
type stack struct {
	key      string
	versions []*version
}

type version struct {
	audit.Version
	body       []byte
	unreadable string // why nobody can read it
}

// An upload is an object to be written.
type upload struct {
	key  string
	body []byte
	size int64 // of one whose content nobody reads; else the length of body
	etag string
	// dated is what S3 will say of when it was written: now, except in a replica.
	dated time.Time
}

// shardOf is the part of a bucket that a key is in: all that begins alike up to the
// first slash, so that a write moves little.
func shardOf(key string) string {
	if i := strings.IndexByte(key, '/'); i >= 0 {
		return key[:i+1]
	}
	return key
}

// find gives where a key is in its shard, or would be.
func (b *bucket) find(key string) (shard []*stack, i int, ok bool) {
	shard = b.shards[shardOf(key)]
	i = sort.Search(len(shard), func(i int) bool { return shard[i].key >= key })
	return shard, i, i < len(shard) && shard[i].key == key
}

// set replaces a shard.
func (b *bucket) set(key string, shard []*stack) {
	name := shardOf(key)
	if _, known := b.shards[name]; !known {
		i, _ := slices.BinarySearch(b.order, name)
		b.order = slices.Insert(b.order, i, name)
	}
	b.shards[name] = shard
}

// below gives the stacks whose keys begin with prefix, in order. It holds until the
// next change.
func (b *bucket) below(prefix string) []*stack {
	if strings.Contains(prefix, "/") {
		return within(b.shards[shardOf(prefix)], prefix)
	}
	var all []*stack
	for _, name := range b.order {
		all = append(all, within(b.shards[name], prefix)...)
	}
	return all
}

func within(shard []*stack, prefix string) []*stack {
	i := sort.Search(len(shard), func(i int) bool { return shard[i].key >= prefix })
	n := sort.Search(len(shard)-i, func(n int) bool { return !strings.HasPrefix(shard[i+n].key, prefix) })
	return shard[i : i+n]
}

// current gives the object that a reader gets, or nil.
func (b *bucket) current(key string) *version {
	shard, i, ok := b.find(key)
	if !ok || shard[i].versions[0].Marker {
		return nil
	}
	return shard[i].versions[0]
}

func (b *bucket) put(u upload) *version {
	v := &version{body: u.body}
	v.Key, v.Size, v.ETag = u.key, max(u.size, int64(len(u.body))), u.etag
	if u.etag == "" {
		sum := md5.Sum(fmt.Append(u.body, u.size))
		if u.size > 0 { // another content each time
			sum = md5.Sum(fmt.Append(nil, b.name, b.made))
		}
		v.ETag = `"` + hex.EncodeToString(sum[:]) + `"`
	}
	b.push(v, u.dated)
	return v
}

// remove deletes a key as DeleteObject does.
func (b *bucket) remove(key string) {
	if b.versioning == "" {
		b.drop(key, "null")
		return
	}
	v := &version{}
	v.Key, v.Marker = key, true
	b.push(v, time.Time{})
}

// push puts a version on top.
func (b *bucket) push(v *version, dated time.Time) {
	b.made++
	if dated.IsZero() {
		dated = b.clock.now
	}
	v.LastModified, v.VersionID = dated.UTC().Truncate(time.Second), "null"
	if b.versioning == "Enabled" {
		v.VersionID = fmt.Sprintf("%s-%08d", b.name, b.made)
	} else {
		b.forget(v.Key, "null")
	}
	shard, i, ok := b.find(v.Key)
	if !ok {
		shard = slices.Insert(shard, i, &stack{key: v.Key})
		b.set(v.Key, shard)
	}
	s := shard[i]
	s.versions = slices.Insert(s.versions, 0, v)
	b.tell(v.Key)
}

// drop destroys one version.
func (b *bucket) drop(key, id string) {
	b.forget(key, id)
	b.tell(key)
}

func (b *bucket) forget(key, id string) {
	shard, i, ok := b.find(key)
	if !ok {
		return
	}
	s := shard[i]
	s.versions = slices.DeleteFunc(s.versions, func(v *version) bool { return v.VersionID == id })
	if len(s.versions) == 0 {
		b.set(key, slices.Delete(shard, i, i+1))
	}
}

// removeAll destroys every version of a key.
func (b *bucket) removeAll(key string) {
	if shard, i, ok := b.find(key); ok {
		b.set(key, slices.Delete(shard, i, i+1))
		b.tell(key)
	}
}

func (b *bucket) tell(key string) {
	for _, f := range b.changed {
		f(key)
	}
}

// keys gives the keys of the current objects below a prefix.
func (b *bucket) keys(prefix string) []string {
	var keys []string
	for _, s := range b.below(prefix) {
		if !s.versions[0].Marker {
			keys = append(keys, s.key)
		}
	}
	return keys
}

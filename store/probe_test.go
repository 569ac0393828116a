package store_test

import (
	"slices"
	"testing"

	"backstop/store"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// TestProbe holds what a probe of the control files sees, and what it asks.
func TestProbe(t *testing.T) {
	const created, spec = main + "/control/etcd-cluster-created", main + "/control/etcd-cluster-spec"
	gone := func(keys ...string) func(*storetest.Bucket) {
		return func(b *storetest.Bucket) {
			for _, k := range keys {
				b.Purge(k)
			}
		}
	}
	const get, list = "GetObject", "ListObjectsV2"
	for name, c := range map[string]struct {
		before, after func(*storetest.Bucket)
		same          bool
		fails         bool
		asks          []string
	}{
		"nothing has happened": {same: true, asks: []string{get, get}},
		"created is gone":      {after: gone(created), asks: []string{get, get, list}},
		"spec is gone":         {after: gone(spec), asks: []string{get, get, list}},
		"created is hidden":    {before: func(b *storetest.Bucket) { b.SetVersioning("Enabled") }, after: func(b *storetest.Bucket) { b.Delete(created) }, asks: []string{get, get, list}},
		"created is written again": {after: func(b *storetest.Bucket) {
			b.Put(created, etcdmanager.FormatCreated(noon), storetest.WithTime(noon))
		}, asks: []string{get}},
		"a spec that was missing stays missing": {before: gone(spec), same: true, asks: []string{get, list}},
		"a spec that was missing is written: the reset": {before: gone(spec), after: func(b *storetest.Bucket) { b.Put(spec, []byte(`{"memberCount": 1}`)) },
			asks: []string{get, list}},
		"both were missing, and created comes": {before: gone(created, spec), after: func(b *storetest.Bucket) { b.Put(created, []byte("{}")) }, asks: []string{list}},
		"reading is refused, the listing shows both": {after: func(b *storetest.Bucket) { b.Deny("s3:GetObject") }, fails: true,
			asks: []string{get, get, list}},
		"reading is refused, and created is gone":    {after: func(b *storetest.Bucket) { b.Purge(created); b.Deny("s3:GetObject") }, asks: []string{get, get, list}},
		"everything is refused":                      {after: func(b *storetest.Bucket) { b.Deny("s3:GetObject", "s3:ListBucket") }, fails: true, asks: []string{get, get, list}},
		"it was refused when the store was observed": {before: func(b *storetest.Bucket) { b.Deny("s3:GetObject") }, same: true, asks: []string{list}},
	} {
		t.Run(name, func(t *testing.T) {
			f, fake, b := seeded(t)
			if c.before != nil {
				c.before(fake)
			}
			o := observe(t, b)
			if c.after != nil {
				c.after(fake)
			}
			before := len(f.Requests())
			same, err := store.Probe(t.Context(), b, o)
			if same != c.same || (err != nil) != c.fails {
				t.Errorf("got %v, %v, want %v, failing %v", same, err, c.same, c.fails)
			}
			var asked []string
			for _, r := range f.Requests()[before:] {
				asked = append(asked, r.Operation)
			}
			if !slices.Equal(asked, c.asks) {
				t.Errorf("asked %q, want %q", asked, c.asks)
			}
		})
	}
}

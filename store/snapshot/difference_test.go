package snapshot_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"backstop/store/snapshot"
	"backstop/store/snapshot/snapshottest"
)

// differ compares two snapshots.
func differ(t *testing.T, before, after []byte) snapshot.Difference {
	t.Helper()
	a := snapshot.NewInventory()
	b := a.Another()
	for inv, body := range map[*snapshot.Inventory][]byte{a: before, b: after} {
		if got := snapshot.Verify(bytes.NewReader(body), snapshot.Options{Inventory: inv}); got.Facts == nil {
			t.Fatalf("%s: %s", got.Verdict, got.Reason)
		}
	}
	d, err := snapshot.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// lines writes what changed, without bytes, a place a line.
func lines(d snapshot.Difference) string {
	var b strings.Builder
	for _, p := range d.Places {
		fmt.Fprintf(&b, "%s %s: %d to %d, +%d ~%d -%d\n", p.Resource, p.Namespace, p.KeysBefore, p.KeysAfter, p.Added, p.Changed, p.Removed)
	}
	return b.String()
}

func TestDifference(t *testing.T) {
	m := makeDB(t, 4096)
	m.update(func(tx *bolt.Tx) error {
		for _, k := range []string{
			"/registry/pods/default/a", "/registry/pods/default/b", "/registry/pods/kube-system/c", "/registry/minions/node-1",
			"/registry/apps.example.com/things/default/t", "/registry/services/specs/default/s", "/registry/alone", "/registry/namespaces/default",
			"cilium/state/x/y", "plain", "/registry/pods//odd",
		} {
			if err := m.write(tx, k, []byte("1")); err != nil {
				return err
			}
		}
		return nil
	})
	before := m.snapshot()
	m.update(func(tx *bolt.Tx) error {
		for _, w := range []struct{ key, value string }{
			{"/registry/pods/default/a", ""}, {"/registry/pods/default/b", "2"}, {"/registry/pods/kube-system/c", "1"}, // written again
			{"/registry/pods/new/d", "1"}, {"/registry/pods/new/gone", "1"}, {"/registry/pods/new/gone", ""},
			{"/registry/minions/node-1", ""}, {"/registry/minions/node-1", "longer than before"}, // deleted and made again
			{"cilium/state/x/y", "2"}, {"/registry/apps.example.com/things/default/u", "1"},
		} {
			value := []byte(w.value)
			if w.value == "" {
				value = nil
			}
			if err := m.write(tx, w.key, value); err != nil {
				return err
			}
		}
		return nil
	})
	d := differ(t, before, m.snapshot())
	want := strings.TrimLeft(`
(other) : 1 to 1, +0 ~0 -0
alone : 1 to 1, +0 ~0 -0
apps.example.com/things default: 1 to 2, +1 ~0 -0
cilium : 1 to 1, +0 ~1 -0
minions : 1 to 1, +0 ~1 -0
namespaces : 1 to 1, +0 ~0 -0
pods : 1 to 1, +0 ~0 -0
pods default: 2 to 1, +0 ~1 -1
pods kube-system: 1 to 1, +0 ~0 -0
pods new: 0 to 1, +1 ~0 -0
services/specs default: 1 to 1, +0 ~0 -0
`, "\n")
	if got := lines(d); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if c := d.Change; c.KeysBefore != 11 || c.KeysAfter != 12 || c.Added != 2 || c.Changed != 3 || c.Removed != 1 || c.Same() ||
		c.BytesAfter != c.BytesBefore+c.AddedBytes-c.RemovedBytes+c.ChangedAfter-c.ChangedBefore {
		t.Errorf("in all: %+v", c)
	}
	if d := differ(t, before, before); !d.Same() || d.KeysBefore != 11 {
		t.Errorf("with itself: %+v", d.Change)
	}
}

// What is counted is what the simplest comparison counts, whatever the pages that
// are free still hold.
func TestDifferenceOfMany(t *testing.T) {
	m := makeDB(t, 4096)
	r := rand.New(rand.NewPCG(8, 5))
	values := map[string]string{}
	step := func() {
		m.update(func(tx *bolt.Tx) error {
			for range 900 {
				key, value := fmt.Sprintf("/registry/pods/ns-%d/%d", r.IntN(3), r.IntN(2000)), fmt.Sprint(r.IntN(3))
				b := []byte(value)
				if r.IntN(4) == 0 {
					b = nil
				}
				if err := m.write(tx, key, b); err != nil {
					return err
				}
				values[key] = value
				if b == nil {
					delete(values, key)
				}
			}
			return nil
		})
	}
	for range 5 {
		step()
	}
	before, old := m.snapshot(), map[string]string{}
	for k, v := range values {
		old[k] = v
	}
	for range 2 {
		step()
	}
	var added, changed, removed int64
	for k, v := range values {
		if was, ok := old[k]; !ok {
			added++
		} else if was != v {
			changed++
		}
	}
	for k := range old {
		if _, ok := values[k]; !ok {
			removed++
		}
	}
	d := differ(t, before, m.snapshot())
	if d.Added != added || d.Changed != changed || d.Removed != removed || d.KeysAfter != int64(len(values)) || len(d.Places) != 3 {
		t.Errorf("got %+v, want +%d ~%d -%d", d.Change, added, changed, removed)
	}
	if d.Added == 0 || d.Changed == 0 || d.Removed == 0 {
		t.Error("nothing was tried")
	}
}

// What an inventory takes counts towards what may be kept.
func TestInventoryIsBounded(t *testing.T) {
	plain := snapshottest.Plain(t, "healthy-v3.6")
	least := func(make func() *snapshot.Inventory) int64 {
		return int64(sort.Search(8<<20, func(n int) bool {
			return snapshot.Verify(bytes.NewReader(plain), snapshot.Options{MaxMemory: int64(n) + 1, Inventory: make()}).Facts != nil
		}))
	}
	without, with := least(func() *snapshot.Inventory { return nil }), least(snapshot.NewInventory)
	if with <= without+1097*32 {
		t.Errorf("with an inventory of 1,097 keys it takes %d bytes, without %d", with, without)
	}
	inv := snapshot.NewInventory()
	if snapshot.Verify(bytes.NewReader(plain), snapshot.Options{Inventory: inv}); inv.Bytes() < 1097*32 || inv.Bytes() > with-without {
		t.Errorf("it says that it keeps %d bytes; making it took %d", inv.Bytes(), with-without)
	}
}

// Only inventories that were made to be compared can be.
func TestStrangersAreNotCompared(t *testing.T) {
	if _, err := snapshot.Compare(snapshot.NewInventory(), snapshot.NewInventory()); err == nil {
		t.Error("two that have nothing in common were compared")
	}
}

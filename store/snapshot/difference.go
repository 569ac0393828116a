package snapshot

import (
	"cmp"
	"errors"
	"slices"
)

// A Difference is what changed between two snapshots.
type Difference struct {
	Change
	// Places are those with a key in one of the two, by resource and namespace.
	Places []PlaceChange
}

// A PlaceChange is what changed in one place.
type PlaceChange struct {
	Place
	Change
}

// A Change counts keys and what their newest records take in the database.
type Change struct {
	// KeysBefore and KeysAfter are how many keys there were and are.
	KeysBefore int64 `json:"keys_before"`
	KeysAfter  int64 `json:"keys_after"`
	// BytesBefore and BytesAfter are what they took and take.
	BytesBefore int64 `json:"bytes_before"`
	BytesAfter  int64 `json:"bytes_after"`
	// Added are keys that were not there before, Removed those that are not there
	// after, Changed those with another value. A key that was written again with
	// the same value has not changed, nor has one that was only bound to another
	// lease.
	Added   int64 `json:"added"`
	Changed int64 `json:"changed"`
	Removed int64 `json:"removed"`
	// AddedBytes are those of Added, RemovedBytes of Removed; ChangedBefore and
	// ChangedAfter are those of Changed.
	AddedBytes    int64 `json:"added_bytes"`
	RemovedBytes  int64 `json:"removed_bytes"`
	ChangedBefore int64 `json:"changed_bytes_before"`
	ChangedAfter  int64 `json:"changed_bytes_after"`
}

// Same reports whether nothing changed.
func (c Change) Same() bool { return c.Added == 0 && c.Changed == 0 && c.Removed == 0 }

// Add adds other to the counts.
func (c *Change) Add(other Change) {
	c.KeysBefore += other.KeysBefore
	c.KeysAfter += other.KeysAfter
	c.BytesBefore += other.BytesBefore
	c.BytesAfter += other.BytesAfter
	c.Added += other.Added
	c.Changed += other.Changed
	c.Removed += other.Removed
	c.AddedBytes += other.AddedBytes
	c.RemovedBytes += other.RemovedBytes
	c.ChangedBefore += other.ChangedBefore
	c.ChangedAfter += other.ChangedAfter
}

// errStrangers is a mistake of the caller's.
var errStrangers = errors.New("the inventories cannot be compared: the second was not made by Another of the first")

// Compare tells what changed from one inventory to another. It takes 5 to 11
// bytes a key of the first besides what the two hold. Fingerprints may deceive it:
// of a million keys two are taken for one with a probability of 1e-17, and a value
// that changed for the same with one of 5e-20.
func Compare(before, after *Inventory) (Difference, error) {
	if before.key != after.key || before.value != after.value || before.places != after.places {
		return Difference{}, errStrangers
	}
	by := make([]Change, len(before.places.all))
	table := before.index()
	for i := range after.keys.n {
		k := after.keys.at(i)
		at := &by[k.place]
		at.KeysAfter++
		at.BytesAfter += int64(k.size)
		at.count(table.find(k), k)
	}
	for i := range before.keys.n {
		k := before.keys.at(i)
		at := &by[k.place]
		at.KeysBefore++
		at.BytesBefore += int64(k.size)
		if !k.found {
			at.Removed++
			at.RemovedBytes += int64(k.size)
		}
		k.found = false // for the next comparison
	}
	return difference(before.places.all, by), nil
}

// count counts a key that is there after, and what it was before; nil for nothing.
func (c *Change) count(old, k *kept) {
	switch {
	case old == nil:
		c.Added++
		c.AddedBytes += int64(k.size)
		return
	case old.value != k.value:
		c.Changed++
		c.ChangedBefore += int64(old.size)
		c.ChangedAfter += int64(k.size)
	}
	old.found = true
}

// difference sorts what was counted, and sums it up.
func difference(all []Place, by []Change) Difference {
	var d Difference
	for i, c := range by {
		if c.KeysBefore > 0 || c.KeysAfter > 0 {
			d.Places = append(d.Places, PlaceChange{all[i], c})
			d.Add(c)
		}
	}
	slices.SortFunc(d.Places, func(a, b PlaceChange) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace))
	})
	return d
}

// An index finds keys of an inventory by their fingerprints.
type index struct {
	inv   *Inventory
	table []uint32 // index + 1
	mask  uint64
}

func (inv *Inventory) index() index {
	size := uint64(16)
	for size < uint64(inv.keys.n)+uint64(inv.keys.n)/3 {
		size *= 2
	}
	x := index{inv, make([]uint32, size), size - 1}
	for i := range inv.keys.n {
		slot := inv.keys.at(i).key & x.mask
		for x.table[slot] != 0 {
			slot = (slot + 1) & x.mask
		}
		x.table[slot] = i + 1
	}
	return x
}

// find gives the key of the inventory that is the same as k, or nil.
func (x index) find(k *kept) *kept {
	for slot := k.key & x.mask; x.table[slot] != 0; slot = (slot + 1) & x.mask {
		if old := x.inv.keys.at(x.table[slot] - 1); old.key == k.key && old.more == k.more {
			return old
		}
	}
	return nil
}

package snapshot

import (
	"bytes"
	"hash/maphash"
	"reflect"
)

// An Inventory is what a snapshot holds, key by key, kept small enough to be
// compared with another: of each key that can be read a fingerprint, one of its
// value, and where it belongs. It takes 32 bytes a key, whatever the values are.
//
// [Verify] fills the one that [Options.Inventory] names. Fingerprints are seeded,
// so that two can only be compared when the second came from [Inventory.Another].
type Inventory struct {
	key    [2]maphash.Seed
	value  maphash.Seed
	places *places
	keys   slab[kept]
	bytes  int64
}

// A kept is one key. It holds no pointers.
type kept struct {
	key   uint64
	value uint64
	more  uint32
	size  uint32 // of its newest record in the database, in bytes
	place uint32
	found bool // in the other inventory, while they are compared
}

// NewInventory gives an empty inventory.
func NewInventory() *Inventory {
	return &Inventory{
		key: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, value: maphash.MakeSeed(),
		places: newPlaces(), keys: newSlab[kept](),
	}
}

// Another gives an empty inventory that can be compared with inv.
func (inv *Inventory) Another() *Inventory {
	return &Inventory{key: inv.key, value: inv.value, places: inv.places, keys: newSlab[kept]()}
}

// Bytes is what the inventory keeps, in bytes.
func (inv *Inventory) Bytes() int64 { return inv.bytes }

// A Place is what keys are counted by.
type Place struct {
	// Resource is as in [Resource.Name].
	Resource string
	// Namespace is the Kubernetes namespace; empty for what has none.
	Namespace string
}

// places numbers the places of two snapshots.
type places struct {
	all   []Place
	byKey map[Place]uint32
	last  uint32 // keys of one place are often written in a row
}

func newPlaces() *places {
	return &places{all: []Place{{Resource: otherKeys}}, byKey: map[Place]uint32{{Resource: otherKeys}: 0}}
}

// placeOverhead is what a place costs besides its two names, which stand in the
// table and in the list.
const placeOverhead = 128

// of gives the number of a key's place, and false where there is no memory for a
// new one.
func (p *places) of(key []byte, b *budget) (uint32, bool) {
	name, namespace := resource(key), namespace(key)
	if len(name) == 0 || len(name) > maxGroupName || len(namespace) > maxGroupName {
		return 0, true
	}
	if l := p.all[p.last]; l.Resource == string(name) && l.Namespace == string(namespace) {
		return p.last, true
	}
	// A string made of bytes for the key of a look-up is not allocated.
	if n, ok := p.byKey[Place{string(name), string(namespace)}]; ok {
		p.last = n
		return n, true
	}
	if !b.take(int64(2*(len(name)+len(namespace))) + placeOverhead) {
		return 0, false
	}
	at := Place{string(name), string(namespace)}
	p.last = uint32(len(p.all))
	p.all = append(p.all, at)
	p.byKey[at] = p.last
	return p.last, true
}

// namespace gives what stands between a resource and the name of an object:
// default of /registry/pods/default/a, and nothing of /registry/minions/a. Keys of
// other programs have none.
func namespace(key []byte) []byte {
	if !bytes.HasPrefix(key, []byte(registry)) {
		return nil
	}
	rest := key[min(len(key), len(registry)+len(resource(key))):]
	rest, _ = bytes.CutPrefix(rest, []byte{'/'})
	if i := bytes.IndexByte(rest, '/'); i >= 0 {
		return rest[:i]
	}
	return nil
}

// A sighting is what an inventory needs of a record beyond what records have. It
// has the record's index.
type sighting struct {
	value uint64
	place uint32
}

// fill says which inventory to fill, before the first page; nil for none.
func (s *scanner) fill(inv *Inventory) {
	if inv != nil {
		s.inventory, s.seeds, s.sightings = inv, inv.key, newSlab[sighting]()
	}
}

// sight keeps a sighting of the record that was added last. Records that were cut
// off since are forgotten.
func (s *scanner) sight(kv keyValue) {
	inv := s.inventory
	if inv == nil || s.err != nil {
		return
	}
	place, ok := inv.places.of(kv.key, s.budget)
	s.sightings.cut(s.records.n - 1)
	if !ok || s.sightings.add(s.budget, sighting{maphash.Bytes(inv.value, kv.value), place}) == nil {
		s.err = errTooBig
	}
}

// takeInventory fills the inventory, if one is wanted, with the keys that can be
// read. It reports whether there was memory to.
func (w *walker) takeInventory() bool {
	inv := w.inventory
	if inv == nil {
		return true
	}
	fits := true
	w.eachRecord(func(i uint32, r *record) {
		if !fits || r.flags&isNewest == 0 || r.flags&isTombstone != 0 {
			return
		}
		seen := w.sightings.at(i)
		fits = inv.keys.add(w.budget, kept{key: r.key, more: r.more, size: r.size, value: seen.value, place: seen.place}) != nil
	})
	inv.bytes = int64(len(inv.keys.parts))*slabSize*int64(reflect.TypeFor[kept]().Size()) + inv.places.bytes()
	return fits
}

// bytes is what the places take.
func (p *places) bytes() int64 {
	n := int64(0)
	for _, at := range p.all {
		n += int64(2*(len(at.Resource)+len(at.Namespace))) + placeOverhead
	}
	return n
}

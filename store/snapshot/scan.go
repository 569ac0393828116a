package snapshot

import (
	"errors"
	"hash/maphash"
)

// maxExtent is the longest page, with those that follow it, that is put
// together in memory. etcd takes values of 1.5 MiB unless it is told otherwise.
const maxExtent = 64 << 20

var errOverlap = errors.New("its pages overlap so much that it cannot be read in one pass")

// A kind is what a candidate turned out to be.
type kind uint8

const (
	kindWaiting   kind = iota // its end has not come
	kindFlawed                // see flaw
	kindLong                  // longer than maxExtent
	kindBranch                // kept whole
	kindRevBranch             // a branch of revisions, kept packed
	kindRevisions             // a leaf of the key bucket, kept as records
	kindLeases                // a leaf of the lease bucket, kept as a sum
	kindBuckets               // a leaf whose values are buckets, kept whole
	kindDropped               // the same, but of no use
	kindOther                 // any other leaf, kept whole
	kindFreelist              // kept where the meta page names it
)

// A candidate is a position where a page of the tree could begin: its header is
// that of a page with this number. It holds no pointers.
type candidate struct {
	page  uint32
	over  uint32
	count uint16
	kind  kind
	flaw  flaw
	// Of a leaf of revisions: its first record, and the parts of its first and
	// last keys that records do not hold.
	first             uint32
	firstSub, lastSub uint32
}

// extent is how many pages it takes.
func (c *candidate) extent() uint64 { return uint64(c.over) + 1 }

// indexed is how many pages share an entry of the scanner's index.
const indexed = 64

// A scanner sums up pages in the order of the file.
type scanner struct {
	layout
	budget *budget

	next       uint64 // the page that comes next
	candidates slab[candidate]
	index      []uint32 // of each 64th page: the first candidate at or after it
	records    slab[record]
	kept       map[uint32][]byte
	keptBytes  int64
	buckets    []uint32 // pages of kindBuckets
	rootLeaf   bool     // the root has come, and is a leaf
	groups     *groups
	seeds      [2]maphash.Seed

	inventory *Inventory // nil where none is wanted
	sightings slab[sighting]

	// waiting are candidates whose end has not come, by their index, and carry
	// what came since carryAt, where the first of them begins.
	waiting []uint32
	carry   []byte
	carryAt uint64

	parsed int64 // bytes of all candidates, overlaps counted again
	err    error // why it cannot go on
}

// keptOverhead is what an entry of kept costs besides its bytes.
const keptOverhead = 96

func newScanner(l layout, b *budget) *scanner {
	return &scanner{
		layout: l, budget: b, groups: newGroups(), kept: map[uint32][]byte{},
		candidates: newSlab[candidate](), records: newSlab[record](),
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
}

// feed takes the next pages. It reports whether it makes sense to go on.
func (s *scanner) feed(b []byte) bool {
	size := int(s.pageSize)
	base := s.next
	s.next += uint64(len(b) / size)
	s.finish(b, base)
	old := len(s.waiting)
	for at := 0; at < len(b) && s.err == nil; at += size {
		s.look(base+uint64(at/size), b[at:])
	}
	s.carryOn(b, base, old)
	return s.err == nil && !s.rootless()
}

// rootless reports that the root has come by, and is no page of a tree: what
// follows cannot mend that.
func (s *scanner) rootless() bool {
	if s.next <= s.root {
		return false
	}
	c := s.find(s.root)
	return c == nil || c.kind == kindFlawed
}

// finish sums up the candidates that end in b, which begins with page base.
func (s *scanner) finish(b []byte, base uint64) {
	if len(s.waiting) == 0 {
		return
	}
	need := uint64(0)
	for _, i := range s.waiting {
		c := s.candidates.at(i)
		need = max(need, min(uint64(c.page)+c.extent(), s.next)-base)
	}
	s.grow(b[:need*uint64(s.pageSize)])
	still := s.waiting[:0]
	for _, i := range s.waiting {
		c := s.candidates.at(i)
		if uint64(c.page)+c.extent() > s.next {
			still = append(still, i)
			continue
		}
		from := (uint64(c.page) - s.carryAt) * uint64(s.pageSize)
		if s.err == nil {
			s.parse(c, s.carry[from:from+c.extent()*uint64(s.pageSize)])
		}
	}
	s.waiting = still
}

// carryOn keeps of b what candidates need that do not end in it. Those that
// waited before, old of them, have it already.
func (s *scanner) carryOn(b []byte, base uint64, old int) {
	if len(s.waiting) == 0 {
		s.carry = s.carry[:0]
		return
	}
	first := uint64(s.candidates.at(s.waiting[0]).page)
	if old == 0 {
		s.carry, s.carryAt = s.carry[:0], first
		s.grow(b[(first-base)*uint64(s.pageSize):])
		return
	}
	// What precedes the first that waits is of no use any more.
	if useless := int((first - s.carryAt) * uint64(s.pageSize)); useless > len(s.carry)/2 {
		s.carry = s.carry[:copy(s.carry, s.carry[useless:])]
		s.carryAt = first
	}
}

// grow appends to carry.
func (s *scanner) grow(b []byte) {
	before := cap(s.carry)
	if len(s.carry)+len(b) > before && !s.budget.take(int64(2*(len(s.carry)+len(b)))) {
		s.err = errTooBig
		return
	}
	s.carry = append(s.carry, b...)
	if cap(s.carry) > before {
		s.budget.give(int64(2*len(s.carry) - cap(s.carry) + before))
	}
}

// look notes a candidate if one begins here; b is what there is from here on.
func (s *scanner) look(page uint64, b []byte) {
	if page%indexed == 0 {
		if !s.budget.take(4) {
			s.err = errTooBig
			return
		}
		s.index = append(s.index, s.candidates.n)
	}
	h := readHeader(b)
	if h.id != page || page < 2 || h.flags != leafPage && h.flags != branchPage && h.flags != freelistPage {
		return
	}
	if h.flags == freelistPage && page != s.freelist {
		return
	}
	c := s.candidates.add(s.budget, candidate{page: uint32(page), over: h.over, count: h.count})
	if c == nil {
		s.err = errTooBig
		return
	}
	extent := c.extent() * uint64(s.pageSize)
	switch {
	case page+c.extent() > s.pages:
		c.spoil(flawOverflow)
	case extent > maxExtent:
		c.kind = kindLong
	case extent > uint64(len(b)):
		s.waiting = append(s.waiting, s.candidates.n-1)
	default:
		s.parse(c, b[:extent])
	}
}

func (c *candidate) spoil(f flaw) { c.kind, c.flaw = kindFlawed, f }

// find gives the candidate at a page that has come, or nil.
func (s *scanner) find(page uint64) *candidate {
	if page/indexed >= uint64(len(s.index)) {
		return nil
	}
	for i := s.index[page/indexed]; i < s.candidates.n; i++ {
		c := s.candidates.at(i)
		if uint64(c.page) >= page {
			if uint64(c.page) == page {
				return c
			}
			return nil
		}
	}
	return nil
}

// keep keeps bytes of a page.
func (s *scanner) keep(c *candidate, k kind, b []byte) {
	n := int64(len(b)) + keptOverhead
	if !s.budget.take(n) {
		s.err = errTooBig
		return
	}
	s.keptBytes += n
	s.kept[c.page] = append(make([]byte, 0, len(b)), b...)
	c.kind = k
}

// drop forgets what was kept of a page.
func (s *scanner) drop(c *candidate) {
	if b, ok := s.kept[c.page]; ok {
		s.budget.give(int64(len(b)) + keptOverhead)
		delete(s.kept, c.page)
	}
	c.kind = kindDropped
}

package snapshot

// elementSize is that of an entry of a page's table. Of a leaf: flags u32, pos
// u32, ksize u32, vsize u32. Of a branch: pos u32, ksize u32, page u64. A pos
// counts from its own entry.
const elementSize = 16

// bucketFlag marks a leaf element whose value is a bucket: {root u64, sequence
// u64}, and an inline page where root is 0.
const (
	bucketFlag   = 0x01
	bucketHeader = 16
)

// A flaw is what is wrong with a page, found when it came by.
type flaw uint8

const (
	noFlaw flaw = iota
	flawOverflow
	flawTable
	flawEmpty
	flawElement
	flawGap
	flawSlack
	flawOrder
	flawRevision
	flawRecord
	flawTombstone
	flawLease
	flawChild
	enough // no flaw: the callback wants no more elements
)

var flaws = [...]string{
	flawOverflow:  "it reaches beyond the last page",
	flawTable:     "its table of elements reaches beyond its end",
	flawEmpty:     "it is a branch without children",
	flawElement:   "an element reaches beyond its end",
	flawGap:       "an element does not begin where the one before it ends",
	flawSlack:     "it takes more pages than it fills",
	flawOrder:     "its keys do not rise",
	flawRevision:  "a key is a revision that no etcd makes",
	flawRecord:    "a value is not the KeyValue of its revision",
	flawTombstone: "a tombstone holds more or less than a key",
	flawLease:     "a value is not the lease of its key",
	flawChild:     "a child is no page of this database",
}

func (f flaw) String() string { return flaws[f] }

// A header is that of a page.
type header struct {
	id    uint64
	flags uint16
	count uint16
	over  uint32 // how many pages follow that belong to it
}

func readHeader(b []byte) header {
	return header{le.Uint64(b), le.Uint16(b[8:]), le.Uint16(b[10:]), le.Uint32(b[12:])}
}

// An element is an entry of a leaf.
type element struct {
	bucket     bool
	key, value []byte
	end        int // where it ends in the page
}

// elements cuts page into the elements of a leaf, and calls each in turn. It
// stops at the first that is not where bbolt writes it: bbolt puts the first
// behind the table, and each behind the one before.
func elements(page []byte, count int, each func(i int, e element) flaw) (end int, f flaw) {
	end = headerSize + count*elementSize
	if end > len(page) {
		return end, flawTable
	}
	for i := range count {
		at := headerSize + i*elementSize
		t := page[at : at+elementSize]
		pos, ksize, vsize := uint64(le.Uint32(t[4:])), uint64(le.Uint32(t[8:])), uint64(le.Uint32(t[12:]))
		from := uint64(at) + pos
		switch {
		case from+ksize+vsize > uint64(len(page)):
			return end, flawElement
		case from != uint64(end):
			return end, flawGap
		}
		middle := end + int(ksize)
		e := element{le.Uint32(t)&bucketFlag != 0, page[end:middle], page[middle : middle+int(vsize)], middle + int(vsize)}
		end = e.end
		if f := each(i, e); f != noFlaw {
			return end, f
		}
	}
	return end, noFlaw
}

// A child is an entry of a branch.
type child struct {
	key  []byte
	page uint64
}

// children does for a branch what elements does for a leaf.
func children(page []byte, count int, each func(i int, c child) flaw) (end int, f flaw) {
	end = headerSize + count*elementSize
	if end > len(page) {
		return end, flawTable
	}
	for i := range count {
		at := headerSize + i*elementSize
		t := page[at : at+elementSize]
		from, ksize := uint64(at)+uint64(le.Uint32(t)), uint64(le.Uint32(t[4:]))
		switch {
		case from+ksize > uint64(len(page)):
			return end, flawElement
		case from != uint64(end):
			return end, flawGap
		}
		c := child{page[end : end+int(ksize)], le.Uint64(t[8:])}
		end += int(ksize)
		if f := each(i, c); f != noFlaw {
			return end, f
		}
	}
	return end, noFlaw
}

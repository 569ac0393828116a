package snapshot

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// maxDepth is deeper than any tree of 2^32 pages whose branches have two
// children each.
const maxDepth = 64

// A walker goes through the tree in the order of its keys, over what the scanner
// kept, and writes down what it holds and what is wrong.
type walker struct {
	*scanner
	out   *Result
	facts *Facts

	claimed []uint64 // a bit for each page
	used    uint64   // how many pages are claimed
	long    bool     // it met a page that is too long to be read

	bucket  string // the one that it is in; empty above them
	seen    map[string]bool
	crc     uint32 // of all that etcdutl hashes, so far
	shifts  shifts
	runs    slab[run] // the leaves of the key bucket, in order
	last    revision  // the newest of them
	compact compaction
}

func newWalker(s *scanner, out *Result, f *Facts) *walker {
	return &walker{scanner: s, out: out, facts: f, seen: map[string]bool{}, runs: newSlab[run]()}
}

// damagef adds damage at a page.
func (w *walker) damagef(c Cause, page uint64, format string, args ...any) {
	d := Damage{Cause: c, Page: page, Offset: w.offset(page), Bucket: w.bucket}
	in := ""
	if w.bucket != "" {
		in = fmt.Sprintf(" in bucket %q", w.bucket)
	}
	d.What = fmt.Sprintf("page %d (at byte %d)%s: %s", page, d.Offset, in, fmt.Sprintf(format, args...))
	w.out.add(d)
}

// walk goes through the whole tree, and through what belongs to it otherwise.
// It reports whether there was memory to.
func (w *walker) walk() bool {
	if !w.budget.take(int64(w.next/8 + 8)) {
		return false
	}
	// A page that has not come has no candidate, and is never claimed.
	w.claimed = make([]uint64, w.next/64+1)
	w.claim(0, 1)
	w.claim(1, 1)
	type found struct {
		page uint64
		element
	}
	var all []found
	w.tree(place{page: w.root}, func(page uint64, e element) {
		if !e.bucket || len(e.value) < bucketHeader {
			w.damagef(BadSchema, page, "the entry %.40q among the buckets is none", e.key)
			return
		}
		all = append(all, found{page, e})
	})
	for _, f := range all {
		w.enter(f.page, f.element)
	}
	w.bucket = ""
	w.checkFreelist()
	return w.err == nil
}

// enter goes through one bucket. A small one lies in its entry.
func (w *walker) enter(page uint64, e element) {
	w.bucket = string(e.key)
	w.seen[w.bucket] = true
	w.crc = crc32.Update(w.crc, castagnoli, e.key)
	root, inline := le.Uint64(e.value), e.value[bucketHeader:]
	switch {
	case root != 0 && len(inline) > 0:
		w.damagef(BadStructure, page, "the bucket %.40q has a page and is inline too", e.key)
	case root != 0:
		w.tree(place{page: root, parent: page}, w.entry)
	case len(inline) < headerSize || le.Uint16(inline[8:]) != leafPage:
		w.damagef(BadStructure, page, "the inline bucket %.40q is no leaf", e.key)
	default:
		w.inline(page, inline, int(le.Uint16(inline[10:])))
	}
}

// inline goes through a bucket that lies in its entry.
func (w *walker) inline(page uint64, b []byte, count int) {
	if w.bucket == keyBucket && count > 0 {
		r, _, f := w.run(b, count)
		switch f {
		case noFlaw:
			w.addRun(page, r, count)
			return
		case enough: // not revisions: told below
		default:
			w.damagef(BadRecord, page, "%s", f)
			return
		}
	}
	w.each(page, b, count, w.entry)
}

// A place is where the walk is: a page, the one that led there, and the keys
// that it must lie between, nil where there is no bound.
type place struct {
	page, parent uint64
	low, high    []byte
	depth        int
}

// tree goes through a page and all below it, in order.
func (w *walker) tree(at place, visit func(page uint64, e element)) {
	c := w.reach(at)
	if c == nil {
		return
	}
	switch c.kind {
	case kindBranch, kindRevBranch:
		w.descend(at, w.unpack(c), visit)
	case kindRevisions:
		w.revisionLeaf(at, c)
	case kindLeases:
		w.leaseLeaf(at, w.kept[c.page])
	default:
		b := w.kept[c.page]
		if c.count == 0 && at.depth > 0 {
			w.damagef(BadStructure, at.page, "it is a leaf without keys")
			return
		}
		w.within(at, b, int(c.count))
		w.each(at.page, b, int(c.count), visit)
	}
}

// reach gives the candidate at a place if it can be a page of the tree, and
// claims its pages.
func (w *walker) reach(at place) *candidate {
	if at.page < 2 || at.page >= w.pages || at.depth > maxDepth {
		w.damagef(BadStructure, at.parent, "it refers to page %d of %d, %d levels deep", at.page, w.pages, at.depth)
		return nil
	}
	c := w.find(at.page)
	switch {
	case c == nil:
		w.damagef(BadStructure, at.page, "page %d leads here, but no page of a tree begins here", at.parent)
	case c.kind == kindFlawed:
		w.damagef(flawCause(c.flaw), at.page, "%s", c.flaw)
	case c.kind == kindWaiting:
		w.damagef(BadLength, at.page, "its end is missing")
	case c.kind == kindDropped:
		w.damagef(BadSchema, at.page, "page %d leads here, to buckets, and etcd nests none", at.parent)
	case c.kind == kindFreelist:
		w.damagef(BadStructure, at.page, "page %d leads here, but it is of another type", at.parent)
	case c.kind == kindLong:
		w.long = true
	case w.claim(at.page, c.extent()):
		return c
	}
	return nil
}

// flawCause tells records from structure.
func flawCause(f flaw) Cause {
	switch f {
	case flawRevision, flawRecord, flawTombstone, flawLease:
		return BadRecord
	}
	return BadStructure
}

// claim marks pages as used, each once.
func (w *walker) claim(page, n uint64) bool {
	for p := page; p < page+n; p++ {
		if w.isClaimed(p) {
			w.damagef(BadStructure, p, "it is used twice")
			return false
		}
		w.claimed[p/64] |= 1 << (p % 64)
	}
	w.used += n
	return true
}

func (w *walker) isClaimed(page uint64) bool { return w.claimed[page/64]&(1<<(page%64)) != 0 }

// descend goes through the children of a branch. Each holds the keys from its
// own on to the next child's.
func (w *walker) descend(at place, below []child, visit func(uint64, element)) {
	w.bounds(at, below[0].key, below[len(below)-1].key)
	for i, ch := range below {
		next := place{page: ch.page, parent: at.page, low: ch.key, high: at.high, depth: at.depth + 1}
		if i+1 < len(below) {
			next.high = below[i+1].key
		}
		w.tree(next, visit)
	}
}

// bounds holds the keys of a page against those of its parent.
func (w *walker) bounds(at place, first, last []byte) {
	switch {
	case at.low != nil && bytes.Compare(first, at.low) < 0:
		w.damagef(BadStructure, at.page, "its first key is lower than page %d says", at.parent)
	case at.high != nil && bytes.Compare(last, at.high) >= 0:
		w.damagef(BadStructure, at.page, "its last key is higher than page %d says", at.parent)
	}
}

// within is bounds for a leaf that was kept whole.
func (w *walker) within(at place, b []byte, count int) {
	var first, last []byte
	_, _ = elements(b, count, func(i int, e element) flaw { // it went well before
		if i == 0 {
			first = e.key
		}
		last = e.key
		return noFlaw
	})
	if count > 0 {
		w.bounds(at, first, last)
	}
}

// each goes through the elements of a leaf, and hashes them where etcdutl does.
func (w *walker) each(page uint64, b []byte, count int, visit func(uint64, element)) {
	var last []byte
	_, f := elements(b, count, func(i int, e element) flaw {
		if i > 0 && bytes.Compare(last, e.key) >= 0 {
			return flawOrder
		}
		last = e.key
		if w.bucket != "" {
			w.crc = crc32.Update(crc32.Update(w.crc, castagnoli, e.key), castagnoli, e.value)
		}
		visit(page, e)
		return noFlaw
	})
	if f != noFlaw {
		w.damagef(flawCause(f), page, "%s", f)
	}
}

// revisionLeaf goes through a leaf of records.
func (w *walker) revisionLeaf(at place, c *candidate) {
	if w.bucket != keyBucket {
		w.damagef(BadStructure, at.page, "it holds revisions, which belong to bucket %q", keyBucket)
		return
	}
	first, last := w.records.at(c.first), w.records.at(c.first+uint32(c.count)-1)
	sum := leafSum{
		first: c.first,
		low:   revision{first.main, c.firstSub, first.flags&isTombstone != 0},
		high:  revision{last.main, c.lastSub, last.flags&isTombstone != 0},
	}
	w.bounds(at, sum.low.append(nil), sum.high.append(nil))
	w.addRun(at.page, sum, int(c.count))
}

// addRun appends the records of a leaf to those of the key bucket. Keys rise
// within a leaf, and have to from one to the next.
func (w *walker) addRun(page uint64, sum leafSum, count int) {
	if w.runs.n > 0 && sum.low.compare(w.last) <= 0 {
		w.damagef(BadStructure, page, "revision %d comes after revision %d", sum.low.main, w.last.main)
	}
	w.last = sum.high
	r := run{sum.first, uint32(count)}
	if w.runs.add(w.budget, r) == nil {
		w.err = errTooBig
		return
	}
	w.facts.Revisions += int64(count)
	for i := r.first; i < r.first+r.count; i++ {
		rec := w.records.at(i)
		w.crc = w.shifts.join(w.crc, rec.crc, rec.size)
	}
}

// leaseLeaf takes the sum of a leaf of leases.
func (w *walker) leaseLeaf(at place, sum []byte) {
	if w.bucket != leaseBucket {
		w.damagef(BadStructure, at.page, "it holds leases, which belong to bucket %q", leaseBucket)
		return
	}
	w.bounds(at, sum[:8], sum[8:16])
	w.crc = w.shifts.join(w.crc, be.Uint32(sum[16:]), be.Uint32(sum[20:]))
	w.facts.Leases += int64(w.find(at.page).count)
}

// checkFreelist holds a freelist, if one is stored, to be all that the tree does
// not use. etcd stores none since 3.3.
func (w *walker) checkFreelist() {
	if w.freelist == noFreelist {
		return
	}
	c := w.find(w.freelist)
	if c == nil || c.kind != kindFreelist {
		w.damagef(BadStructure, w.freelist, "the meta page calls it the freelist, and it is none")
		return
	}
	if !w.claim(w.freelist, c.extent()) {
		return
	}
	b := w.kept[c.page][headerSize:]
	n := uint64(c.count)
	if n == 0xffff && len(b) >= 8 { // the true number does not fit the header
		n, b = le.Uint64(b), b[8:]
	}
	if n > uint64(len(b))/8 {
		w.damagef(BadStructure, w.freelist, "the freelist reaches beyond its end")
		return
	}
	w.free(b[:8*n])
}

// free goes through the numbers of a freelist.
func (w *walker) free(b []byte) {
	listed := uint64(0)
	last := uint64(1)
	for ; len(b) > 0; b = b[8:] {
		page := le.Uint64(b)
		switch {
		case page <= last || page >= w.pages:
			w.damagef(BadStructure, w.freelist, "the freelist has page %d after page %d, of %d pages", page, last, w.pages)
			return
		case w.isClaimed(page):
			w.damagef(BadStructure, page, "it is in use, and the freelist calls it free")
		}
		last = page
		listed++
	}
	if lost := int64(w.pages) - int64(w.used) - int64(listed); lost != 0 && !w.long && len(w.out.Damage) == 0 {
		w.damagef(BadStructure, w.freelist, "%d pages are neither used nor in the freelist", lost)
	}
}

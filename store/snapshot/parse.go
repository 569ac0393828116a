package snapshot

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"hash/maphash"
)

// parse sums up a candidate of which all bytes are there.
func (s *scanner) parse(c *candidate, page []byte) {
	if s.parsed += int64(len(page)); s.parsed > 8*s.offset(s.next)+maxExtent {
		s.err = errOverlap
		return
	}
	switch le.Uint16(page[8:]) {
	case branchPage:
		s.branch(c, page)
	case freelistPage:
		s.keep(c, kindFreelist, page)
	default:
		s.leaf(c, page)
	}
	if c.kind == kindBuckets {
		s.prune(c)
	}
}

// prune drops leaves of buckets that are of no use: all but the root, once the
// root has turned out to be a leaf. Each transaction writes one, so that there
// may be many old ones.
func (s *scanner) prune(c *candidate) {
	switch {
	case uint64(c.page) == s.root:
		s.rootLeaf = true
		for _, page := range s.buckets {
			s.drop(s.find(uint64(page)))
		}
		s.buckets = nil
	case s.rootLeaf:
		s.drop(c)
	default:
		s.buckets = append(s.buckets, c.page)
	}
}

// leaf sorts a leaf by its first element.
func (s *scanner) leaf(c *candidate, page []byte) {
	var first element
	_, f := elements(page, int(c.count), func(_ int, e element) flaw { first = e; return enough })
	_, like, _ := parseRevision(first.key)
	switch {
	case f != noFlaw && f != enough:
		c.spoil(f)
	case like && !first.bucket:
		s.revisions(c, page)
	case isLease(first.key, first.value) && !first.bucket:
		s.leases(c, page)
	default:
		s.other(c, page)
	}
}

// slack holds how much of its pages a page fills: bbolt allocates as many as it
// needs, and old releases one more where the last would be full.
func (s *scanner) slack(page []byte, end int) flaw {
	if len(page)-end > int(s.pageSize) {
		return flawSlack
	}
	return noFlaw
}

// revisions sums up a leaf whose first key is a revision. If a later one is not,
// the leaf is kept whole, and the walk says what is wrong with it.
func (s *scanner) revisions(c *candidate, page []byte) {
	sum, end, f := s.run(page, int(c.count))
	switch {
	case f == enough:
		s.other(c, page)
		return
	case f == noFlaw:
		f = s.slack(page, end)
	}
	if f != noFlaw {
		s.records.cut(sum.first)
		c.spoil(f)
		return
	}
	c.kind, c.first, c.firstSub, c.lastSub = kindRevisions, sum.first, sum.low.sub, sum.high.sub
}

// A leafSum is what a leaf of revisions comes to: its first record, and its
// first and last key.
type leafSum struct {
	first     uint32
	low, high revision
}

// run makes records of the elements of a leaf. It ends with enough where a key is
// not like a revision; what it made then is cut off again. A record that is
// wrong counts after keys that are: a changed key makes its value wrong too.
func (s *scanner) run(page []byte, count int) (leafSum, int, flaw) {
	out := leafSum{first: s.records.n}
	wrong := noFlaw
	end, f := elements(page, count, func(i int, e element) flaw {
		r, like, ok := parseRevision(e.key)
		switch {
		case !like || e.bucket:
			return enough
		case !ok:
			return flawRevision
		case i > 0 && r.compare(out.high) <= 0:
			return flawOrder
		case i == 0:
			out.low = r
		}
		out.high = r
		if wrong == noFlaw {
			wrong = s.record(r, e)
		}
		return noFlaw
	})
	if f == noFlaw {
		f = wrong
	}
	if f != noFlaw {
		s.records.cut(out.first)
	}
	return out, end, f
}

// record keeps what is needed of one revision.
func (s *scanner) record(r revision, e element) flaw {
	kv, ok := parseKeyValue(e.value)
	switch {
	case !ok:
		return flawRecord
	case r.tomb && (len(kv.key) == 0 || kv.mod != 0 || kv.create != 0 || kv.version != 0):
		return flawTombstone
	case !r.tomb && !put(kv, r, len(e.value)):
		return flawRecord
	}
	rec := record{
		main: r.main, key: maphash.Bytes(s.seeds[0], kv.key), more: uint32(maphash.Bytes(s.seeds[1], kv.key)),
		size: uint32(len(e.key) + len(e.value)), crc: crc32.Update(crc32.Checksum(e.key, castagnoli), castagnoli, e.value),
		group: s.groups.of(kv.key),
	}
	if r.tomb {
		rec.flags |= isTombstone
	}
	if kv.lease != 0 {
		rec.flags |= isLeased
	}
	if bytes.HasPrefix(kv.key, []byte(registry)) {
		rec.flags |= isKubernetes
	}
	if kv.unknown {
		rec.flags |= isUnknown
	}
	if s.records.add(s.budget, rec) == nil {
		s.err = errTooBig
	}
	s.sight(kv)
	return noFlaw
}

// put reports whether a KeyValue is one that etcd writes for a revision. An
// empty one is written by `etcdutl snapshot restore --bump-revision`.
func put(kv keyValue, r revision, size int) bool {
	if size == 0 {
		return true
	}
	return len(kv.key) > 0 && kv.mod == r.main && kv.create > 0 && kv.create <= kv.mod && kv.version > 0
}

// other keeps a leaf whole: those of the small buckets, and whatever has to be
// told about in detail.
func (s *scanner) other(c *candidate, page []byte) {
	k := kindBuckets
	var last []byte
	end, f := elements(page, int(c.count), func(i int, e element) flaw {
		if !e.bucket {
			k = kindOther
		}
		if i > 0 && bytes.Compare(last, e.key) >= 0 {
			return flawOrder
		}
		last = e.key
		return noFlaw
	})
	if f == noFlaw {
		f = s.slack(page, end)
	}
	if f != noFlaw {
		c.spoil(f)
		return
	}
	if c.count == 0 {
		k = kindOther
	}
	s.keep(c, k, page[:end])
}

// branch keeps a branch. One of revisions is packed, because each transaction
// writes one, and there may be many old ones: about 5 bytes a child.
func (s *scanner) branch(c *candidate, page []byte) {
	if c.count == 0 {
		c.spoil(flawEmpty)
		return
	}
	packed := make([]byte, 0, 8*int(c.count))
	var last []byte
	var lastRev revision
	lastPage, alike := uint64(0), true
	end, f := children(page, int(c.count), func(i int, ch child) flaw {
		switch {
		case ch.page < 2 || ch.page >= s.pages:
			return flawChild
		case i > 0 && bytes.Compare(last, ch.key) >= 0:
			return flawOrder
		}
		last = ch.key
		r, like, ok := parseRevision(ch.key)
		if alike = alike && like && ok; alike {
			packed = packChild(packed, r, lastRev, int64(ch.page-lastPage))
			lastRev, lastPage = r, ch.page
		}
		return noFlaw
	})
	if f == noFlaw {
		f = s.slack(page, end)
	}
	switch {
	case f != noFlaw:
		c.spoil(f)
	case alike:
		s.keep(c, kindRevBranch, packed)
	default:
		s.keep(c, kindBranch, page[:end])
	}
}

func packChild(b []byte, r, last revision, pages int64) []byte {
	tomb := uint64(0)
	if r.tomb {
		tomb = 1
	}
	b = binary.AppendUvarint(b, uint64(r.main-last.main))
	b = binary.AppendUvarint(b, uint64(r.sub)<<1|tomb)
	return binary.AppendVarint(b, pages)
}

// unpack gives the children of a branch that was kept.
func (s *scanner) unpack(c *candidate) []child {
	b := s.kept[c.page]
	out := make([]child, 0, c.count)
	if c.kind == kindBranch {
		_, _ = children(b, int(c.count), func(_ int, ch child) flaw { out = append(out, ch); return noFlaw }) // it went well before
		return out
	}
	r, page := revision{}, uint64(0)
	keys := make([]byte, 0, tombstoneSize*int(c.count))
	for range c.count {
		main, n := binary.Uvarint(b)
		sub, m := binary.Uvarint(b[n:])
		step, o := binary.Varint(b[n+m:])
		b = b[n+m+o:]
		r = revision{r.main + int64(main), uint32(sub >> 1), sub&1 != 0}
		page += uint64(step)
		from := len(keys)
		keys = r.append(keys)
		out = append(out, child{keys[from:], page})
	}
	return out
}

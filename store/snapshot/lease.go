package snapshot

import (
	"bytes"
	"hash/crc32"
)

// isLease reports whether an element is one of the lease bucket: the id as 8
// bytes, and a leasepb.Lease (1 ID, 2 TTL, 3 RemainingTTL) of the same id.
func isLease(key, value []byte) bool {
	if len(key) != 8 {
		return false
	}
	id := uint64(0)
	for len(value) > 0 {
		var tag, n uint64
		var ok bool
		if tag, value, ok = uvarint(value); !ok || tag&7 != 0 || tag == 0 {
			return false
		}
		if n, value, ok = uvarint(value); !ok {
			return false
		}
		if tag>>3 == 1 {
			id = n
		}
	}
	return id != 0 && id == be.Uint64(key)
}

// leaseSum is what is kept of a leaf of leases: its first and last key, the
// checksum of all keys and values, and their length.
const leaseSum = 8 + 8 + 4 + 4

// leases sums up a leaf whose first element is a lease. If a later one is not,
// the leaf is kept whole.
func (s *scanner) leases(c *candidate, page []byte) {
	var first, last []byte
	crc, size := uint32(0), 0
	end, f := elements(page, int(c.count), func(i int, e element) flaw {
		switch {
		case e.bucket || !isLease(e.key, e.value):
			return enough
		case i > 0 && bytes.Compare(last, e.key) >= 0:
			return flawOrder
		case i == 0:
			first = e.key
		}
		last = e.key
		crc = crc32.Update(crc32.Update(crc, castagnoli, e.key), castagnoli, e.value)
		size += len(e.key) + len(e.value)
		return noFlaw
	})
	if f == noFlaw {
		f = s.slack(page, end)
	}
	switch f {
	case enough:
		s.other(c, page)
	case noFlaw:
		sum := make([]byte, 0, leaseSum)
		sum = append(append(sum, first...), last...)
		s.keep(c, kindLeases, be.AppendUint32(be.AppendUint32(sum, crc), uint32(size)))
	default:
		c.spoil(f)
	}
}

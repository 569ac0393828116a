package snapshot

import "cmp"

// A revision is a key of the key bucket: main u64 big endian, '_', sub u64 big
// endian, and 't' where it says that a key was deleted.
type revision struct {
	main int64
	sub  uint32 // the number within a transaction
	tomb bool
}

const (
	revisionSize  = 17
	tombstoneSize = 18
)

// parseRevision reads a revision. It reports whether k looks like one, and then
// whether it is one that an etcd makes. The first byte must be 0, as in every
// revision below 2^56: a user name of 17 letters may have a '_' in the middle.
func parseRevision(k []byte) (r revision, like, ok bool) {
	tomb := len(k) == tombstoneSize && k[17] == 't'
	if len(k) != revisionSize && !tomb || k[8] != '_' || k[0] != 0 {
		return revision{}, false, false
	}
	main, sub := be.Uint64(k), be.Uint64(k[9:])
	return revision{int64(main), uint32(sub), tomb}, true, sub < 1<<32
}

// compare gives the order that the keys have as bytes.
func (r revision) compare(s revision) int {
	if c := cmp.Or(cmp.Compare(r.main, s.main), cmp.Compare(r.sub, s.sub)); c != 0 || r.tomb == s.tomb {
		return c
	}
	if r.tomb {
		return 1
	}
	return -1
}

// append appends the revision as it stands in the database.
func (r revision) append(b []byte) []byte {
	b = be.AppendUint64(b, uint64(r.main))
	b = append(b, '_')
	b = be.AppendUint64(b, uint64(r.sub))
	if r.tomb {
		b = append(b, 't')
	}
	return b
}

// A record is what is kept of one revision: enough to count, to tell which is
// the newest of its key, and to make both hashes. It holds no pointers, and is
// 32 bytes, because there are millions of them.
type record struct {
	main int64
	// key and more are two seeded hashes of the user's key, 96 bits together:
	// of a million keys two are the same with a probability of 1e-17.
	key   uint64
	more  uint32
	size  uint32 // of revision and value, in bytes
	crc   uint32 // Castagnoli's of both
	group uint16 // which resource it belongs to
	flags uint8
}

const (
	isTombstone = 1 << iota
	isLeased
	isKubernetes // its key is below /registry/
	isUnknown    // its value has fields that this program does not know
)

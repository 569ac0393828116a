package snapshot

import (
	"cmp"
	"hash/crc32"
	"slices"
)

// A run is a row of records from one leaf of the key bucket.
type run struct{ first, count uint32 }

// isNewest marks the newest record of a key.
const isNewest = 1 << 7

// eachRecord calls each record of the key bucket in the order of revisions.
func (w *walker) eachRecord(each func(i uint32, r *record)) {
	for n := range w.runs.n {
		run := w.runs.at(n)
		for i := run.first; i < run.first+run.count; i++ {
			each(i, w.records.at(i))
		}
	}
}

// count counts what the key bucket holds. It reports whether there was memory
// to.
func (w *walker) count() bool {
	if w.facts.Revisions == 0 {
		return true
	}
	w.facts.Revision = w.last.main
	if !w.findNewest(w.facts.Revisions) {
		return false
	}
	by := make([]Resource, len(w.groups.names))
	unknown := int64(0)
	w.eachRecord(func(_ uint32, r *record) {
		w.facts.RevisionBytes += int64(r.size)
		if r.flags&isUnknown != 0 {
			unknown++
		}
		switch {
		case r.flags&isTombstone != 0:
			w.facts.Tombstones++
			return
		case r.flags&isNewest == 0:
			return
		}
		w.facts.Keys++
		w.facts.KeyBytes += int64(r.size)
		by[r.group].Keys++
		by[r.group].Bytes += int64(r.size)
		if r.flags&isKubernetes != 0 {
			w.facts.KubernetesKeys++
		}
		if r.flags&isLeased != 0 {
			w.facts.LeasedKeys++
		}
	})
	if unknown > 0 {
		w.out.remarkf("%d values have fields that this program does not know, as of a newer etcd", unknown)
	}
	w.resources(by)
	return true
}

func (w *walker) resources(by []Resource) {
	for i, r := range by {
		if r.Name = w.groups.names[i]; r.Keys > 0 {
			w.facts.Resources = append(w.facts.Resources, r)
		}
	}
	slices.SortFunc(w.facts.Resources, func(a, b Resource) int { return cmp.Compare(a.Name, b.Name) })
}

// findNewest marks the newest record of each key. It is a hash table of indexes
// into the records, which hold the hashes.
func (w *walker) findNewest(n int64) bool {
	size := int64(16)
	for size < n+n/3 {
		size *= 2
	}
	if !w.budget.take(4 * size) {
		return false
	}
	defer w.budget.give(4 * size)
	table := make([]uint32, size) // index + 1
	mask := uint64(size - 1)
	w.eachRecord(func(i uint32, r *record) {
		slot := r.key & mask
		for table[slot] != 0 {
			if old := w.records.at(table[slot] - 1); old.key == r.key && old.more == r.more {
				break
			}
			slot = (slot + 1) & mask
		}
		table[slot] = i + 1
	})
	for _, i := range table {
		if i != 0 {
			w.records.at(i - 1).flags |= isNewest
		}
	}
	return true
}

// hashKV is the hash that a server restored from the snapshot gives at its
// newest revision (etcd's server/storage/mvcc/hash.go): of the bucket's name and
// of all records that were not compacted, and of those that were if they are the
// newest of their key. Where no key is left, those that were compacted count too,
// but for tombstones of the compacted revision.
func (w *walker) hashKV() uint32 {
	crc := crc32.Checksum([]byte(keyBucket), castagnoli)
	compacted := w.facts.CompactRevision
	w.eachRecord(func(_ uint32, r *record) {
		tomb := r.flags&isTombstone != 0
		live := r.flags&isNewest != 0 && !tomb
		if r.main > compacted || live || w.facts.Keys == 0 && (r.main < compacted || !tomb) {
			crc = w.shifts.join(crc, r.crc, r.size)
		}
	})
	return crc
}

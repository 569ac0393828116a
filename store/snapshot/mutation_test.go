package snapshot_test

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"backstop/store/snapshot"
	"backstop/store/snapshot/etcdtest"
	"backstop/store/snapshot/snapshottest"
)

var little = binary.LittleEndian

// A tree is a database with the pages of its tree, found in the simplest way.
type tree struct {
	db    []byte
	size  int
	pages []uint64 // of the tree
	free  []uint64 // all others
}

func readTree(plain []byte) *tree {
	t := &tree{db: plain[:len(plain)-snapshottest.TrailerSize], size: 4096}
	t.walk(little.Uint64(t.db[16+16:]), true)
	used := map[uint64]bool{}
	for _, p := range t.pages {
		for i := range uint64(little.Uint32(t.page(p)[12:])) + 1 {
			used[p+i] = true
		}
	}
	for p := uint64(2); p < uint64(len(t.db)/t.size); p++ {
		if !used[p] {
			t.free = append(t.free, p)
		}
	}
	return t
}

func (t *tree) page(p uint64) []byte { return t.db[p*uint64(t.size):] }

func (t *tree) walk(p uint64, buckets bool) {
	t.pages = append(t.pages, p)
	b := t.page(p)
	for i := range int(little.Uint16(b[10:])) {
		e := b[16+16*i:]
		if little.Uint16(b[8:]) == 1 {
			t.walk(little.Uint64(e[8:]), buckets)
			continue
		}
		if value := e[little.Uint32(e[4:])+little.Uint32(e[8:]):]; buckets && little.Uint64(value) != 0 {
			t.walk(little.Uint64(value), false)
		}
	}
}

// sealMeta makes the checksum of a meta page again.
func sealMeta(page []byte) {
	sum := fnv.New64a()
	sum.Write(page[16 : 16+56])
	little.PutUint64(page[16+56:], sum.Sum64())
}

// mutate changes the structure of a copy of the database, and says how.
func (t *tree) mutate(r *rand.Rand) (db []byte, what string) {
	db = append([]byte{}, t.db...)
	p := t.pages[r.IntN(len(t.pages))]
	if r.IntN(4) == 0 {
		p = t.pages[r.IntN(min(8, len(t.pages)))] // those that lead to others
	}
	page := db[p*uint64(t.size):]
	other := t.pages[r.IntN(len(t.pages))]
	count := int(little.Uint16(page[10:]))
	flags := little.Uint16(page[8:])
	say := func(format string, args ...any) {
		what = fmt.Sprintf("page %d (type %d): ", p, flags) + fmt.Sprintf(format, args...)
	}
	near := func(v uint64) uint64 {
		return []uint64{v + 1, v - 1, v ^ 1<<r.IntN(12), v ^ 1<<r.IntN(32), uint64(r.IntN(1 << 16)), 0}[r.IntN(6)]
	}
	switch r.IntN(12) {
	case 0:
		little.PutUint64(page, near(little.Uint64(page)))
		say("its number is %d", little.Uint64(page))
	case 1:
		little.PutUint16(page[8:], []uint16{0, 1, 2, 4, 16, 3, uint16(r.IntN(1 << 16))}[r.IntN(7)])
		say("its type is %d", little.Uint16(page[8:]))
	case 2:
		little.PutUint16(page[10:], uint16(near(uint64(count))))
		say("it counts %d in place of %d", little.Uint16(page[10:]), count)
	case 3:
		was := little.Uint32(page[12:])
		little.PutUint32(page[12:], uint32(near(uint64(was))))
		say("%d pages follow in place of %d", little.Uint32(page[12:]), was)
	case 4, 5, 6:
		if count == 0 {
			return t.mutate(r)
		}
		i := r.IntN(count)
		field := 4 * r.IntN(4)
		e := page[16+16*i:]
		was := little.Uint32(e[field:])
		little.PutUint32(e[field:], uint32(near(uint64(was))))
		say("element %d: the number at %d is %d in place of %d", i, field, little.Uint32(e[field:]), was)
	case 7:
		if count == 0 {
			return t.mutate(r)
		}
		i := r.IntN(count)
		e := page[16+16*i:]
		from, n := little.Uint32(e[4:]), little.Uint32(e[8:])+min(16, little.Uint32(e[12:]))
		if flags == 1 {
			from, n = little.Uint32(e), little.Uint32(e[4:])
		}
		at := int(from) + r.IntN(int(n))
		e[at] ^= 1 << r.IntN(8)
		say("element %d: a bit of byte %d of its key or value", i, at-int(from))
	case 8:
		copy(page[:t.size], t.db[other*uint64(t.size):])
		say("page %d lies over it", other)
	case 9:
		if len(t.free) > 0 && r.IntN(2) == 0 {
			other = t.free[r.IntN(len(t.free))]
			copy(page[:t.size], t.db[other*uint64(t.size):])
			say("the free page %d lies over it", other)
			break
		}
		clear(page[:t.size])
		say("it is all zeros")
	case 10:
		field := 16 + []int{8, 16, 24, 32, 40, 48}[r.IntN(6)]
		was := little.Uint64(db[field:])
		v := near(was)
		if r.IntN(3) == 0 {
			v = other
		}
		for _, at := range [][]int{{0, t.size}, {0}, {t.size}}[r.IntN(3)] {
			little.PutUint64(db[at+field:], v)
			sealMeta(db[at:])
			what += fmt.Sprintf("meta page %d: ", at/t.size)
		}
		what += fmt.Sprintf("the number at %d is %d in place of %d", field, v, was)
	default:
		if flags != 1 {
			return t.mutate(r)
		}
		i := r.IntN(count)
		e := page[16+16*i:]
		was := little.Uint64(e[8:])
		little.PutUint64(e[8:], []uint64{other, near(was), 1 << 40, 0, p}[r.IntN(5)])
		say("child %d is page %d in place of %d", i, little.Uint64(e[8:]), was)
	}
	return db, what
}

// At least a thousand changes of structure, with the trailer made again, against
// etcdutl 3.7: whatever it refuses must be refused. What it passes and we do not
// is listed.
func TestMutationsAgainstEtcdutl(t *testing.T) {
	if !oracle() {
		t.Skip("1,200 mutations: make oracle")
	}
	release := etcdtest.Find(t, "3.7")
	dir := t.TempDir()
	counts := map[string]int{}
	for _, base := range []string{"post-reset-v3.6", "empty-fresh-v3.6", "synced-freelist-ok"} {
		tr := readTree(snapshottest.Plain(t, base))
		r := rand.New(rand.NewPCG(20261201, uint64(len(base))))
		for range map[string]int{"post-reset-v3.6": 700, "empty-fresh-v3.6": 200, "synced-freelist-ok": 300}[base] {
			db, what := tr.mutate(r)
			b := snapshottest.Seal(db)
			if string(db) == string(tr.db) {
				continue
			}
			ours := verify(b)
			theirs := refuses(t, release, filepath.Join(dir, "snapshot.db"), b)
			word := tell(ours, theirs)
			counts[word]++
			switch word {
			case "only etcdutl refuses":
				t.Errorf("%s: %s: %s: we say %s; %.200v", base, what, word, ours.Verdict, theirs)
			case "only we refuse":
				t.Logf("%s: %s: %s: %s: %s", base, what, word, ours.Cause, ours.Reason)
			}
			if ours.Verdict == snapshot.Unverified {
				t.Errorf("%s: %s: %s: %s", base, what, ours.Cause, ours.Reason)
			}
		}
	}
	t.Log(counts)
}

func tell(ours snapshot.Result, theirs error) string {
	switch refused := ours.Verdict == snapshot.Damaged; {
	case refused && theirs != nil:
		return "both refuse"
	case refused:
		return "only we refuse"
	case theirs != nil:
		return "only etcdutl refuses"
	}
	return "both pass"
}

// refuses is why etcdutl refuses a snapshot, by its word, a crash, or by never
// ending.
func refuses(t *testing.T, r etcdtest.Release, name string, b []byte) error {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	c := r.Etcdutl("snapshot", "status", name)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(30*time.Second, func() { _ = c.Process.Kill() })
	defer hung.Stop()
	return c.Wait()
}

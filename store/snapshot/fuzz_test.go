package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"testing"

	"backstop/store/snapshot/snapshottest"
)

// sealed makes a snapshot of pages: two meta pages before them that lead to root,
// and the trailer behind them.
func sealed(pages []byte, root, freelist uint64, size int) []byte {
	db := make([]byte, 2*size, 2*size+len(pages)+size)
	db = append(db, pages...)
	for len(db)%size != 0 || len(db) < 3*size {
		db = append(db, 0)
	}
	for i := range uint64(2) {
		page := db[int(i)*size:]
		le.PutUint64(page, i)
		le.PutUint16(page[8:], metaPage)
		m := page[headerSize:]
		le.PutUint32(m, metaMagic)
		le.PutUint32(m[4:], metaVersion)
		le.PutUint32(m[8:], uint32(size))
		le.PutUint64(m[16:], root)
		le.PutUint64(m[32:], freelist)
		le.PutUint64(m[40:], uint64(len(db)/size))
		le.PutUint64(m[48:], 9-i)
		sum := fnv.New64a()
		sum.Write(m[:56])
		le.PutUint64(m[56:], sum.Sum64())
	}
	sum := sha256.Sum256(db)
	return append(db, sum[:]...)
}

const fuzzLimit = 32 << 20

// FuzzPages verifies databases of any pages whatever whose meta pages and trailer
// are right, so that only the parser and the walk stand against them.
func FuzzPages(f *testing.F) {
	plain := snapshottest.Plain(f, "empty-fresh-v3.6")
	f.Add(plain[2*4096:len(plain)-32], uint16(4), uint16(0))
	plain = snapshottest.Plain(f, "not-etcd-bbolt")
	f.Add(plain[2*4096:12*4096], uint16(5), uint16(3))
	plain = snapshottest.Plain(f, "post-reset-v3.6")
	db := plain[:len(plain)-32]
	f.Add(db[2*4096:40*4096], uint16(3), uint16(0))
	f.Add(db[len(db)-3*4096:], uint16(2), uint16(0))
	f.Fuzz(func(t *testing.T, pages []byte, root, freelist uint16) {
		if len(pages) > 1<<20 {
			return
		}
		free := noFreelist
		if freelist > 0 {
			free = uint64(freelist)
		}
		b := sealed(pages, uint64(root), free, 1024<<(freelist%3))
		got := Verify(bytes.NewReader(b), Options{MaxMemory: fuzzLimit})
		checkResult(t, got)
		again := Verify(bytes.NewReader(b), Options{MaxMemory: fuzzLimit})
		if got.Verdict != again.Verdict || got.Reason != again.Reason {
			t.Errorf("got %s %q, and then %s %q", got.Verdict, got.Reason, again.Verdict, again.Reason)
		}
	})
}

// FuzzVerify reads anything.
func FuzzVerify(f *testing.F) {
	for _, name := range []string{"empty-fresh-v3.6", "plain-text"} {
		f.Add(snapshottest.Plain(f, name))
		f.Add(snapshottest.Gzipped(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := Verify(bytes.NewReader(b), Options{MaxMemory: fuzzLimit})
		checkResult(t, got)
		with := Verify(bytes.NewReader(b), Options{MaxMemory: fuzzLimit, Size: int64(len(b)), Tail: b[max(0, len(b)-8):]})
		if got.Verdict == Intact && with.Verdict != Intact {
			t.Errorf("intact, and with its length known %s: %s", with.Verdict, with.Reason)
		}
	})
}

// A page longer than what is put together in memory is not verified, and not
// called damaged.
func TestTooLongPage(t *testing.T) {
	pages := make([]byte, maxExtent+8192)
	le.PutUint64(pages, 2)
	le.PutUint16(pages[8:], leafPage)
	le.PutUint32(pages[12:], uint32(maxExtent/4096))
	got := Verify(bytes.NewReader(sealed(pages, 2, noFreelist, 4096)), Options{})
	if got.Verdict != Unverified || got.Cause != TooBig || got.Reason != "one of its values is longer than 64 MiB" {
		t.Errorf("got %s, %s, %q", got.Verdict, got.Cause, got.Reason)
	}
}

func checkResult(t *testing.T, r Result) {
	t.Helper()
	if r.Cause == Internal || r.Verdict == "" {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
	if (r.Facts == nil) != (r.Verdict == Damaged || r.Verdict == Unverified) || len(r.Damage) > maxDamage {
		t.Errorf("%s with facts %v, %d damages", r.Verdict, r.Facts, len(r.Damage))
	}
}

// FuzzLeaf gives any bytes to the parser as one page of each type, and then walks
// what it kept.
func FuzzLeaf(f *testing.F) {
	plain := snapshottest.Plain(f, "post-reset-v3.6")
	for page := range 40 {
		f.Add(plain[page*4096:][:4096], uint8(page))
	}
	f.Fuzz(func(t *testing.T, b []byte, flags uint8) {
		page := make([]byte, 4096*(1+len(b)/4096))
		copy(page, b)
		le.PutUint64(page, 2)
		le.PutUint16(page[8:], []uint16{branchPage, leafPage, freelistPage}[flags%3])
		le.PutUint32(page[12:], uint32(len(page)/4096-1))
		var out Result
		s := newScanner(layout{meta: meta{pageSize: 4096, root: 2, freelist: uint64(2 + flags%2), pages: 5000}}, &budget{fuzzLimit})
		s.next = 2
		s.index = []uint32{0}
		s.feed(page)
		newWalker(s, &out, &Facts{}).walk()
	})
}

func crcOf(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// A checksum of two pieces is that of the whole.
func TestJoin(t *testing.T) {
	b := make([]byte, 70_000)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	var s shifts
	for _, cut := range []int{0, 1, 7, 100, 16_383, 16_384, 16_385, 69_999, 70_000} {
		got := s.join(crcOf(b[:cut]), crcOf(b[cut:]), uint32(len(b)-cut))
		if want := crcOf(b); got != want {
			t.Errorf("cut at %d: got %x, want %x", cut, got, want)
		}
	}
}

func TestKeyValue(t *testing.T) {
	number := func(tag, v uint64) []byte { return binary.AppendUvarint(binary.AppendUvarint(nil, tag), v) }
	key := []byte("\x0a\x01k")
	tests := map[string]struct {
		in      []byte
		ok      bool
		mod     int64
		unknown bool
	}{
		"nothing":                        {nil, true, 0, false},
		"a key":                          {key, true, 0, false},
		"a number":                       {append(bytes.Clone(key), number(tagMod, 1<<62)...), true, 1 << 62, false},
		"the last of two":                {append(number(tagMod, 1), number(tagMod, 2)...), true, 2, false},
		"a key that is cut":              {key[:2], false, 0, false},
		"a tag alone":                    {[]byte{tagMod}, false, 0, false},
		"a number that never ends":       {append([]byte{tagMod}, bytes.Repeat([]byte{0xff}, 12)...), false, 0, false},
		"a number beyond 64 bits":        {append([]byte{tagMod}, append(bytes.Repeat([]byte{0xff}, 9), 2)...), false, 0, false},
		"a key of the wrong type":        {[]byte{1 * 8, 1}, false, 0, false},
		"a lease of the wrong type":      {[]byte{6*8 + 2, 0}, false, 0, false},
		"field 0":                        {[]byte{0, 0}, false, 0, false},
		"a later number":                 {number(7*8, 5), true, 0, true},
		"later bytes":                    {[]byte{7*8 + 2, 1, 'x'}, true, 0, true},
		"later bytes that are cut":       {[]byte{7*8 + 2, 2, 'x'}, false, 0, true},
		"later 8 bytes":                  {[]byte{7*8 + 1, 1, 2, 3, 4, 5, 6, 7, 8}, true, 0, true},
		"later 4 bytes":                  {[]byte{7*8 + 5, 1, 2, 3, 4}, true, 0, true},
		"later 4 bytes that are cut":     {[]byte{7*8 + 5, 1, 2, 3}, false, 0, true},
		"a group":                        {[]byte{7*8 + 3, 7*8 + 4}, false, 0, true},
		"a field number that is too big": {number(1<<29*8, 1), false, 0, true},
	}
	for name, test := range tests {
		kv, ok := parseKeyValue(test.in)
		if ok != test.ok || ok && (kv.mod != test.mod || kv.unknown != test.unknown) {
			t.Errorf("%s: got %+v, %t", name, kv, ok)
		}
	}
}

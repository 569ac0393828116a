package snapshot_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"backstop/store/snapshot"
	"backstop/store/snapshot/snapshottest"
)

// want is what must be said of a snapshot.
type want struct {
	verdict snapshot.Verdict
	cause   snapshot.Cause
	reason  string // a part of it
}

func (w want) check(t *testing.T, got snapshot.Result) {
	t.Helper()
	if got.Verdict != w.verdict || got.Cause != w.cause || !strings.Contains(got.Reason, w.reason) {
		t.Errorf("got %s, %s, %q\nwant %s, %s, %q", got.Verdict, got.Cause, got.Reason, w.verdict, w.cause, w.reason)
	}
	if hasFacts := got.Facts != nil; hasFacts != (got.Verdict == snapshot.Intact || got.Verdict == snapshot.Restorable) {
		t.Errorf("%s with facts: %t", got.Verdict, hasFacts)
	}
	if (got.Reason == "") != (got.Verdict == snapshot.Intact) {
		t.Errorf("%s with the reason %q", got.Verdict, got.Reason)
	}
}

func verify(b []byte) snapshot.Result {
	return snapshot.Verify(bytes.NewReader(b), snapshot.Options{})
}

// verifyWhole tells Verify all that can be known beforehand.
func verifyWhole(b []byte) snapshot.Result {
	return snapshot.Verify(bytes.NewReader(b), snapshot.Options{Size: int64(len(b)), Tail: b[max(0, len(b)-8):]})
}

// Every snapshot that was handed over, and what must be said of it.
var handed = map[string]want{
	"healthy-v3.4":                           {snapshot.Intact, "", ""},
	"healthy-v3.5":                           {snapshot.Intact, "", ""},
	"healthy-v3.6":                           {snapshot.Intact, "", ""},
	"synced-freelist-ok":                     {snapshot.Intact, "", ""},
	"post-reset-v3.6":                        {snapshot.Intact, "", ""},
	"empty-fresh-v3.6":                       {snapshot.Restorable, snapshot.Remarked, "it holds nothing"},
	"torn-meta0-resealed":                    {snapshot.Restorable, snapshot.Remarked, "meta page 0 is damaged"},
	"bitflip-leaf-value":                     {snapshot.Damaged, snapshot.BadTrailer, "its bytes were changed"},
	"wrong-sha":                              {snapshot.Damaged, snapshot.BadTrailer, "its bytes were changed"},
	"bitflip-leaf-key-resealed":              {snapshot.Damaged, snapshot.BadStructure, `page 210 (at byte 860160) in bucket "key": its keys do not rise`},
	"leaf-element-size-out-of-page-resealed": {snapshot.Damaged, snapshot.BadStructure, `page 210 (at byte 860160) in bucket "key": an element reaches beyond its end`},
	"bad-freelist-reachable-freed-resealed":  {snapshot.Damaged, snapshot.BadStructure, "page 210 (at byte 860160): it is in use, and the freelist calls it free"},
	"bad-kv-proto":                           {snapshot.Damaged, snapshot.BadRecord, `page 613 (at byte 2510848) in bucket "key": a value is not the KeyValue`},
	"hwm-beyond-file-resealed":               {snapshot.Damaged, snapshot.BadLength, "pages are missing"},
	"not-etcd-bbolt":                         {snapshot.Damaged, snapshot.NotSnapshot, `a bbolt database, but not etcd's: its buckets are "users"`},
	"plain-text":                             {snapshot.Damaged, snapshot.NotSnapshot, "is not a bbolt database"},
}

func TestHandedSnapshots(t *testing.T) {
	for _, name := range snapshottest.Names(t) {
		w, ok := handed[name]
		if !ok {
			t.Errorf("nothing is said of %s", name)
		}
		t.Run(name, func(t *testing.T) {
			b := snapshottest.Gzipped(t, name)
			got := verify(b)
			w.check(t, got)
			if !got.Gzip {
				t.Error("it was not taken for gzip")
			}
			if got.Verdict == snapshot.Intact && got.Read != int64(len(b)) {
				t.Errorf("read %d bytes of %d", got.Read, len(b))
			}
			w.reason = strings.Replace(w.reason, "pages are missing", "", 1) // told otherwise from the tail
			w.check(t, verifyWhole(b))
		})
	}
}

// Plain snapshots are judged as gzipped ones are.
func TestPlainSnapshots(t *testing.T) {
	for name, w := range handed {
		t.Run(name, func(t *testing.T) {
			b := snapshottest.Plain(t, name)
			if name == "plain-text" {
				w.reason = "it is neither gzip nor a bbolt database"
			}
			got := verify(b)
			w.check(t, got)
			if got.Gzip {
				t.Error("it was taken for gzip")
			}
			w.check(t, verifyWhole(b))
		})
	}
}

// The numbers are those of `etcdutl snapshot status` 3.6.16 and 3.7.3; HashKV is
// that of a 3.6.16 server on which the snapshot was restored.
func TestFactsOfHandedSnapshots(t *testing.T) {
	tests := map[string]snapshot.Facts{
		"healthy-v3.4":       {Hash: 3990699090, Revision: 72, Keys: 1103, Size: 4419584, CompactRevision: 53, ConsistentIndex: 82, ClusterVersion: "3.4.0"},
		"healthy-v3.5":       {Hash: 3261988135, Revision: 84, Keys: 1097, Size: 4407296, CompactRevision: 57, ConsistentIndex: 94, Term: 2, ClusterVersion: "3.5.0"},
		"healthy-v3.6":       {Hash: 3148400998, HashKV: 3372758807, Revision: 84, Keys: 1097, Size: 4452352, CompactRevision: 57, ConsistentIndex: 94, Term: 2, StorageVersion: "3.6.0", ClusterVersion: "3.6.0"},
		"synced-freelist-ok": {Hash: 3148400998, HashKV: 3372758807, Revision: 84, Keys: 1097, Size: 4452352, CompactRevision: 57, ConsistentIndex: 94, Term: 2, StorageVersion: "3.6.0", ClusterVersion: "3.6.0"},
		"post-reset-v3.6":    {Hash: 2102429198, Revision: 24, Keys: 319, Size: 1323008, CompactRevision: 19, ConsistentIndex: 34, Term: 2, StorageVersion: "3.6.0", ClusterVersion: "3.6.0"},
		"empty-fresh-v3.6":   {Hash: 3181073312, Size: 24576, ConsistentIndex: 4, Term: 2, StorageVersion: "3.6.0", ClusterVersion: "3.6.0"},
	}
	for name, w := range tests {
		f := verify(snapshottest.Gzipped(t, name)).Facts
		if f == nil {
			t.Errorf("%s: no facts", name)
			continue
		}
		got := snapshot.Facts{
			Hash: f.Hash, HashKV: f.HashKV, Revision: f.Revision, Keys: f.Keys, Size: f.Size, CompactRevision: f.CompactRevision,
			ConsistentIndex: f.ConsistentIndex, Term: f.Term, StorageVersion: f.StorageVersion, ClusterVersion: f.ClusterVersion,
		}
		if w.HashKV == 0 {
			got.HashKV = 0
		}
		if gotJSON, wantJSON := asJSON(t, got), asJSON(t, w); gotJSON != wantJSON {
			t.Errorf("%s:\ngot  %s\nwant %s", name, gotJSON, wantJSON)
		}
		sum, bytes := int64(0), int64(0)
		for _, r := range f.Resources {
			sum += r.Keys
			bytes += r.Bytes
		}
		if sum != f.Keys || bytes != f.KeyBytes {
			t.Errorf("%s: the resources have %d keys of %d bytes, the snapshot %d of %d", name, sum, bytes, f.Keys, f.KeyBytes)
		}
	}
}

func TestIdentity(t *testing.T) {
	f := verify(snapshottest.Plain(t, "healthy-v3.6")).Facts
	if f.DerivedClusterID != "b5ab4a16e5931a5c" { // as its server logged it
		t.Errorf("the cluster's id is derived as %s", f.DerivedClusterID)
	}
	if len(f.Members) != 1 || f.Members[0].ID != "f415ea577c2fe481" || f.Members[0].Name != "e36" || len(f.Members[0].PeerURLs) != 1 {
		t.Errorf("got the members %+v", f.Members)
	}
	if f.Leases != 1 || f.LeasedKeys != 280 {
		t.Errorf("got %d leases, %d keys", f.Leases, f.LeasedKeys)
	}
}

// What stands before or behind a snapshot, or instead of it.
func TestStreams(t *testing.T) {
	plain := snapshottest.Plain(t, "post-reset-v3.6")
	gz := snapshottest.Gzip(plain)
	db := plain[:len(plain)-snapshottest.TrailerSize]
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	flip := func(b []byte, at int) []byte { b = bytes.Clone(b); b[at] ^= 0x10; return b }
	tests := map[string]struct {
		in []byte
		want
	}{
		"nothing":                           {nil, want{snapshot.Damaged, snapshot.NotSnapshot, "it is empty"}},
		"one byte":                          {[]byte{0x1f}, want{snapshot.Damaged, snapshot.NotSnapshot, "neither gzip nor"}},
		"half a gzip header":                {gz[:5], want{snapshot.Damaged, snapshot.BadGzip, "header"}},
		"a gzip header alone":               {gz[:10], want{snapshot.Damaged, snapshot.BadGzip, "cut short"}},
		"gzip of nothing":                   {snapshottest.Gzip(nil), want{snapshot.Damaged, snapshot.NotSnapshot, "holds nothing"}},
		"gzip of gzip":                      {snapshottest.Gzip(gz), want{snapshot.Damaged, snapshot.NotSnapshot, "is not a bbolt database"}},
		"a tar archive":                     {snapshottest.Gzip(join(make([]byte, 257), []byte("ustar\x0000"), make([]byte, 9000))), want{snapshot.Damaged, snapshot.NotSnapshot, "etcd v2"}},
		"gzip cut in the middle":            {gz[:len(gz)*6/10], want{snapshot.Damaged, snapshot.BadGzip, "cut short: it ends at byte"}},
		"gzip without its trailer":          {gz[:len(gz)-8], want{snapshot.Damaged, snapshot.BadGzip, "cut short"}},
		"gzip without its last byte":        {gz[:len(gz)-1], want{snapshot.Damaged, snapshot.BadGzip, "cut short"}},
		"a bit of gzip":                     {flip(gz, len(gz)/2), want{snapshot.Damaged, snapshot.BadGzip, ""}},
		"a bit of gzip's checksum":          {flip(gz, len(gz)-6), want{snapshot.Damaged, snapshot.BadGzip, "checksum does not match"}},
		"a bit of gzip's length":            {flip(gz, len(gz)-2), want{snapshot.Damaged, snapshot.BadGzip, "checksum does not match"}},
		"garbage behind gzip":               {join(gz, []byte("garbage")), want{snapshot.Damaged, snapshot.BadGzip, "other bytes follow the end of the gzip data"}},
		"zeros behind gzip":                 {join(gz, make([]byte, 512)), want{snapshot.Damaged, snapshot.BadGzip, "other bytes follow"}},
		"two members":                       {join(gz, gz), want{snapshot.Damaged, snapshot.BadGzip, "other bytes follow"}},
		"no trailer":                        {db, want{snapshot.Damaged, snapshot.BadTrailer, "trailer is missing"}},
		"no trailer, gzipped":               {snapshottest.Gzip(db), want{snapshot.Damaged, snapshot.BadTrailer, "trailer is missing"}},
		"half a trailer":                    {plain[:len(plain)-7], want{snapshot.Damaged, snapshot.BadTrailer, "25 bytes of 32"}},
		"two trailers":                      {snapshottest.Seal(plain), want{snapshot.Damaged, snapshot.BadLength, "goes on after byte"}},
		"cut at a page, gzipped":            {snapshottest.Gzip(db[:len(db)/2/4096*4096]), want{snapshot.Damaged, snapshot.BadLength, "it ends at byte"}},
		"cut at a page, resealed":           {snapshottest.Seal(db[:len(db)/2/4096*4096]), want{snapshot.Damaged, snapshot.BadLength, "a trailer was made for the rest"}},
		"cut in a page":                     {plain[:len(plain)/2+77], want{snapshot.Damaged, snapshot.BadLength, "it ends at byte"}},
		"cut in the first meta page":        {plain[:50], want{snapshot.Damaged, snapshot.BadStructure, "both meta pages are damaged"}},
		"cut in the second meta page":       {plain[:4200], want{snapshot.Damaged, snapshot.BadLength, "it ends at byte 4200"}},
		"padded, gzipped":                   {snapshottest.Gzip(join(plain, make([]byte, 1<<20))), want{snapshot.Damaged, snapshot.BadLength, "goes on after byte"}},
		"both meta pages torn":              {snapshottest.Seal(join(db[:40], make([]byte, 40), db[80:4096+40], make([]byte, 40), db[4096+80:])), want{snapshot.Damaged, snapshot.BadStructure, "both meta pages are damaged"}},
		"the second meta page torn":         {snapshottest.Seal(join(db[:4096+40], make([]byte, 40), db[4096+80:])), want{snapshot.Restorable, snapshot.Remarked, "meta page 1 is damaged"}},
		"a header of a meta page":           {snapshottest.Seal(flip(db, 4096)), want{snapshot.Restorable, snapshot.Remarked, "the header of meta page 1 is damaged"}},
		"the root is no page of a tree":     {snapshottest.Seal(withMeta(db, 16, 3)), want{snapshot.Damaged, snapshot.BadStructure, ""}},
		"a root beyond the end":             {snapshottest.Seal(withMeta(db, 16, 1<<40)), want{snapshot.Damaged, snapshot.BadStructure, "its root is page"}},
		"a torn page that bbolt would pick": {snapshottest.Seal(withMeta(db, 32, 0)), want{snapshot.Damaged, snapshot.BadStructure, "its freelist is page 0"}},
		"a page size of none":               {snapshottest.Seal(withMeta(db, 8, 1<<30|5000)), want{snapshot.Damaged, snapshot.BadStructure, "its page size is"}},
		"more pages than can be":            {snapshottest.Seal(withMeta(db, 40, 1<<50)), want{snapshot.Unverified, snapshot.TooBig, "pages"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.check(t, verify(test.in))
			if test.verdict != snapshot.Damaged {
				test.check(t, verifyWhole(test.in))
				return
			}
			if got := verifyWhole(test.in); got.Verdict != snapshot.Damaged {
				t.Errorf("with its length known: %s, %s", got.Verdict, got.Reason)
			}
		})
	}
}

// withMeta puts a number into both meta pages, and makes their checksums again.
func withMeta(db []byte, field int, v uint64) []byte {
	db = bytes.Clone(db)
	for _, at := range []int{16, 4096 + 16} {
		binary.LittleEndian.PutUint64(db[at+field:], v)
		sum := fnv.New64a()
		sum.Write(db[at : at+56])
		binary.LittleEndian.PutUint64(db[at+56:], sum.Sum64())
	}
	return db
}

// Wrong lengths are refused at the head, without reading on.
func TestRefusedAtTheHead(t *testing.T) {
	plain := snapshottest.Plain(t, "healthy-v3.6")
	gz := snapshottest.Gzip(plain)
	bomb := zeros(t, 24<<20, nil)
	for name, in := range map[string][]byte{
		"cut":        gz[:len(gz)*6/10],
		"padded":     append(bytes.Clone(gz), make([]byte, 3000)...),
		"a bomb":     bomb,
		"pages lost": snapshottest.Gzip(plain[:len(plain)/2/4096*4096]),
		"plain, cut": plain[:3<<20],
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := verifyWhole(in)
		runtime.ReadMemStats(&after)
		if got.Verdict != snapshot.Damaged {
			t.Errorf("%s: %s, %s", name, got.Verdict, got.Reason)
		}
		if got.Read > 1<<20 {
			t.Errorf("%s: %d bytes were read", name, got.Read)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 2<<20 {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
	}
}

// zeros gives gzip of head and zeros, n bytes in all.
func zeros(t *testing.T, n int64, head []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(head); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(z, nothing{}, n-int64(len(head))); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type nothing struct{}

func (nothing) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A bomb whose meta pages say that it is as long as it is ends where the root is
// missing, and one that hides the root behind it stays within the bound.
func TestBombs(t *testing.T) {
	db := snapshottest.Plain(t, "healthy-v3.6")
	const pages = 20 << 20 / 4096
	for name, root := range map[string]uint64{"the root is missed soon": 700, "the root is last": pages - 1} {
		head := withMeta(withMeta(db[:64<<10], 40, pages), 16, root)
		bomb := zeros(t, pages*4096+32, head)
		got := snapshot.Verify(bytes.NewReader(bomb), snapshot.Options{MaxMemory: 16 << 20})
		if got.Verdict != snapshot.Damaged || got.Cause != snapshot.BadStructure && got.Cause != snapshot.BadTrailer {
			t.Errorf("%s: %s, %s, %s", name, got.Verdict, got.Cause, got.Reason)
		}
		if root == 700 && got.Read > 1<<20 {
			t.Errorf("%s: %d bytes were read", name, got.Read)
		}
	}
}

func TestMemoryBound(t *testing.T) {
	b := snapshottest.Gzipped(t, "healthy-v3.6")
	for limit, w := range map[int64]want{
		1 << 20: {snapshot.Unverified, snapshot.TooBig, "more memory than it may have (1 MiB)"},
		3 << 20: {snapshot.Unverified, snapshot.TooBig, "(3 MiB)"},
		8 << 20: {snapshot.Intact, "", ""},
	} {
		w.check(t, snapshot.Verify(bytes.NewReader(b), snapshot.Options{MaxMemory: limit}))
	}
}

var errBroken = errors.New("the connection broke off")

// What goes wrong with the reader is never laid upon the snapshot.
func TestReaderFails(t *testing.T) {
	gz, plain := snapshottest.Gzipped(t, "post-reset-v3.6"), snapshottest.Plain(t, "post-reset-v3.6")
	for _, b := range [][]byte{gz, plain} {
		for _, n := range []int{0, 1, 2, 9, 18, 4000, 70000, len(b) / 2, len(b) - 8, len(b) - 1, len(b)} {
			r := io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(errBroken))
			want{snapshot.Unverified, snapshot.NotRead, "the connection broke off"}.check(t, snapshot.Verify(r, snapshot.Options{}))
		}
	}
	for name, r := range map[string]io.Reader{
		"a byte at a time":          iotest.OneByteReader(bytes.NewReader(gz)),
		"halves":                    iotest.HalfReader(bytes.NewReader(plain)),
		"its end with its last one": iotest.DataErrReader(bytes.NewReader(gz)),
	} {
		if got := snapshot.Verify(r, snapshot.Options{}); got.Verdict != snapshot.Intact {
			t.Errorf("%s: %s, %s", name, got.Verdict, got.Reason)
		}
	}
}

// An input that ends too early without an error is not read.
func TestInputEndsEarly(t *testing.T) {
	for _, b := range [][]byte{snapshottest.Gzipped(t, "post-reset-v3.6"), snapshottest.Plain(t, "post-reset-v3.6")} {
		for _, n := range []int{0, 1, 5, len(b) / 2, len(b) - 1} {
			o := snapshot.Options{Size: int64(len(b)), Tail: b[len(b)-8:]}
			want{snapshot.Unverified, snapshot.NotRead, "its input ended after"}.check(t, snapshot.Verify(bytes.NewReader(b[:n]), o))
		}
	}
}

// A reader that gives nothing, for ever, does not hold us.
func TestReaderGivesNothing(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1 << 20} {
		r := io.MultiReader(bytes.NewReader(snapshottest.Plain(t, "healthy-v3.6")[:n]), idle{})
		want{snapshot.Unverified, snapshot.NotRead, "no data"}.check(t, snapshot.Verify(r, snapshot.Options{}))
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// Whatever the reader does, the verdict is a verdict.
func TestReaderPanics(t *testing.T) {
	got := snapshot.Verify(panics{}, snapshot.Options{})
	want{snapshot.Unverified, snapshot.Internal, "a bug of it: no"}.check(t, got)
	r := io.MultiReader(bytes.NewReader(snapshottest.Plain(t, "healthy-v3.6")[:1<<20]), panics{})
	want{snapshot.Unverified, snapshot.Internal, "a bug of it: no"}.check(t, snapshot.Verify(r, snapshot.Options{}))
}

type panics struct{}

func (panics) Read([]byte) (int, error) { panic("no") }

package snapshot

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Options say what is known of a snapshot before it is read, and what it may
// cost.
type Options struct {
	// Size is the length of the input in bytes; 0 where it is not known.
	Size int64
	// Tail is the end of the input, 8 bytes or more; nil where it is not known.
	// With it a gzipped snapshot that was cut, padded or blown up is refused
	// after its first bytes.
	Tail []byte
	// MaxMemory bounds what is kept, in bytes; 0 is DefaultMaxMemory.
	MaxMemory int64
	// Bare says that the input is a copy of the file member/snap/db. It has no
	// trailer, and may be longer than its pages: bbolt grows its file ahead of
	// them. What follows the pages is not read to its end.
	Bare bool
	// Inventory is filled with the keys that the snapshot holds, where it turns
	// out to be intact or restorable; nil for no inventory.
	Inventory *Inventory
}

// Verify reads a snapshot, gzipped or plain, and says what it is good for. It
// reads no further than it must to be sure, and to the end of what is intact. An
// error of r makes it Unverified. It returns when it is done with r.
func Verify(r io.Reader, o Options) (out Result) {
	defer func() {
		if p := recover(); p != nil {
			out.unverified(Internal, fmt.Sprintf("the verifier failed, which is a bug of it: %v", p))
		}
	}()
	if o.MaxMemory <= 0 {
		o.MaxMemory = DefaultMaxMemory
	}
	v := &verification{options: o, src: &source{r: r, size: o.Size}}
	v.run()
	v.out.Read = v.src.n
	v.out.judge()
	return v.out
}

// A verification is one look at one snapshot.
type verification struct {
	options Options
	src     *source
	in      *inflater
	layout  layout
	out     Result
}

func (v *verification) run() {
	var err error
	if v.in, err = open(v.src); err != nil {
		v.cannotBegin(err)
		return
	}
	v.out.Gzip = v.in.gzip != nil
	first := v.in.block()
	if !v.begin(first) {
		return
	}
	b := &budget{v.options.MaxMemory - blocks*blockSize}
	s := newScanner(v.layout, b)
	s.fill(v.options.Inventory)
	end := v.stream(s, first)
	if s.err != nil {
		v.tooBig(s.err)
		return
	}
	if whole := v.ended(end); v.out.Verdict != "" || !whole && !s.rootless() {
		return
	}
	v.resolve(s, end)
}

// cannotBegin tells why not even the first byte came.
func (v *verification) cannotBegin(err error) {
	switch {
	case v.src.err != nil:
		v.out.unverified(NotRead, v.src.err.Error())
	case errors.Is(err, errEmpty):
		v.out.damagef(NotSnapshot, "it is empty")
	default:
		v.out.damagef(BadGzip, "its gzip header is damaged: %v", err)
	}
}

// begin judges the first bytes. It reports whether to read on.
func (v *verification) begin(first *block) bool {
	if v.src.err != nil {
		v.out.unverified(NotRead, v.src.err.Error())
		return false
	}
	head := first.bytes()
	l, err := readLayout(head)
	switch {
	case errors.Is(err, errNoDatabase) && len(head) == 0 && first.err != io.EOF:
		v.out.damagef(BadGzip, "%v", first.err)
	case errors.Is(err, errNoDatabase):
		v.out.damagef(NotSnapshot, "%s", v.describe(head))
	case err != nil:
		v.out.damagef(BadStructure, "%v", err)
	case l.pages > maxPages:
		v.out.unverified(TooBig, fmt.Sprintf("its meta page counts %d pages; at most %d can be read", l.pages, int64(maxPages)))
	default:
		v.layout = l
		return v.length()
	}
	return false
}

// describe says what a thing is that is no database.
func (v *verification) describe(head []byte) string {
	what := "it is neither gzip nor a bbolt database"
	if v.out.Gzip {
		what = "what it holds, gzipped, is not a bbolt database"
	}
	switch {
	case v.out.Gzip && len(head) == 0:
		return "it is gzip, and holds nothing"
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return what + ", but a tar archive, as backups of etcd v2 and those of Juju's etcd charm are: no etcd-manager of today restores it, and backstop preflight --snapshots reads the charm's"
	case len(bytes.Trim(head, "\x00")) == 0:
		return what + ": it begins with zeros"
	}
	return what
}

// total is how long the inflated snapshot has to be; a bare one may be longer.
func (v *verification) total() int64 {
	if v.options.Bare {
		return v.layout.size()
	}
	return v.layout.size() + trailerSize
}

// length holds what is known of the length against the meta page.
func (v *verification) length() bool {
	if v.options.Bare {
		return v.bareLength()
	}
	says := fmt.Sprintf("its meta page counts %d pages of %d bytes, which makes %d with the trailer", v.layout.pages, v.layout.pageSize, v.total())
	if !v.out.Gzip {
		if v.options.Size > 0 && v.options.Size != v.total() {
			v.out.damagef(BadLength, "%s; it has %d bytes%s", says, v.options.Size, v.guess(v.options.Size))
		}
	} else if t := v.options.Tail; len(t) >= 8 {
		// The last four bytes of gzip are the length modulo 2^32.
		if n := le.Uint32(t[len(t)-4:]); n != uint32(v.total()) {
			v.out.damagef(BadLength, "%s, and the gzip data ends with the length %d: it was cut short or padded%s", says, n, v.guess(int64(n)))
		}
	}
	return len(v.out.Damage) == 0
}

// bareLength is length for a copy of the file.
func (v *verification) bareLength() bool {
	if n := v.options.Size; !v.out.Gzip && n > 0 && n < v.layout.size() {
		v.out.damagef(BadLength, "its meta page counts %d pages of %d bytes, and it has %d bytes: it was cut short, or copied while etcd wrote to it",
			v.layout.pages, v.layout.pageSize, n)
		return false
	}
	return true
}

// guess says what a wrong length may come from.
func (v *verification) guess(n int64) string {
	switch {
	case n == v.layout.size():
		return "; just the sha256 trailer is missing, as in a copy of the file member/snap/db"
	case n > 0 && n < v.total() && n%int64(v.layout.pageSize) == trailerSize:
		return "; pages are missing, and a trailer was made for the rest"
	}
	return ""
}

// tooBig ends a look that would take too much.
func (v *verification) tooBig(err error) {
	v.out.unverified(TooBig, fmt.Sprintf("%v (%d MiB)", err, v.options.MaxMemory>>20))
}

// ended judges how the stream ended. It reports whether all pages came.
func (v *verification) ended(end streamEnd) bool {
	switch {
	case v.src.err != nil:
		v.out.unverified(NotRead, v.src.err.Error())
		return false
	case end.stopped:
		return false
	case v.options.Bare:
		return v.bareEnded(end)
	case end.n > v.total():
		v.out.damagef(BadLength, "it goes on after byte %d, where its meta page has it end", v.total())
		return false
	case end.err != nil:
		v.out.damagef(BadGzip, "%v", end.err)
	case end.n < v.layout.size():
		v.out.damagef(BadLength, "it ends at byte %d of %d, in page %d of %d%s", end.n, v.total(),
			end.n/int64(v.layout.pageSize), v.layout.pages, v.guess(end.n))
	case end.n < v.total():
		v.out.damagef(BadTrailer, "its sha256 trailer is missing or cut: %d bytes of %d follow the database, "+
			"as in a copy of the file member/snap/db; etcd-manager and etcdutl refuse to restore it", end.n-v.layout.size(), trailerSize)
	case !bytes.Equal(end.sum, end.trailer):
		v.out.damagef(BadTrailer, "its bytes were changed: their sha256 is not that of its trailer%s", v.when())
	}
	return end.n >= v.layout.size()
}

// bareEnded is ended for a copy of the file: whatever follows its pages is as it
// may be.
func (v *verification) bareEnded(end streamEnd) bool {
	switch {
	case end.n >= v.layout.size():
		return true
	case end.err != nil:
		v.out.damagef(BadGzip, "%v", end.err)
	default:
		v.out.damagef(BadLength, "it ends at byte %d of %d, in page %d of %d", end.n, v.total(),
			end.n/int64(v.layout.pageSize), v.layout.pages)
	}
	return false
}

// when says when bytes were changed, as far as gzip's checksum tells.
func (v *verification) when() string {
	if v.out.Gzip {
		return "; gzip's own checksum is right, so that it was before they were compressed"
	}
	return ""
}

// resolve walks the tree and makes the facts.
func (v *verification) resolve(s *scanner, end streamEnd) {
	f := &Facts{PageSize: int(s.pageSize), Size: s.size(), SHA256: hex.EncodeToString(end.sum)}
	w := newWalker(s, &v.out, f)
	if !w.walk() || !w.summarize() {
		v.tooBig(errTooBig)
		return
	}
	if w.long && len(v.out.Damage) == 0 {
		v.out.unverified(TooBig, fmt.Sprintf("one of its values is longer than %d MiB", maxExtent>>20))
		return
	}
	v.out.Facts = f
	if v.layout.torn != nil {
		v.out.remarkf("%v; etcd opens it all the same", v.layout.torn)
	}
	if f.Keys == 0 {
		v.out.remarkf("it holds nothing: there is no key in it")
	}
}

// summarize makes facts of what the walk met.
func (w *walker) summarize() bool {
	if !w.long { // else buckets may be hidden
		w.schema()
	}
	w.facts.InUse = int64(w.used) * int64(w.pageSize)
	w.facts.Hash = w.crc
	w.facts.CompactRevision = max(w.compact.scheduled, w.compact.finished)
	w.facts.DerivedClusterID = derivedClusterID(w.facts.Members)
	if !w.count() || !w.takeInventory() {
		return false
	}
	w.facts.HashKV = w.hashKV()
	return true
}

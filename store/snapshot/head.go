package snapshot

import (
	"bytes"
	"errors"
	"io"
)

// Sizes of the ends of a snapshot that [Head] asks for, in bytes as stored.
const (
	// HeadSize holds both meta pages, however little they are compressed.
	HeadSize = 64 << 10
	// TailSize is gzip's checksum and length.
	TailSize = 8
)

// Head judges a snapshot by its first bytes, HeadSize of them or all that there
// are, and by what the options tell of its end. That is enough to refuse what is no
// snapshot, what was cut short or padded, and what would inflate to something else
// than it says. Its best verdict is Plausible.
func Head(first []byte, o Options) Result {
	v := &verification{options: o, src: &source{r: bytes.NewReader(first)}}
	v.peek()
	v.out.Read = int64(len(first))
	v.out.judge()
	if v.out.Verdict == Intact || v.out.Verdict == Restorable {
		v.out.Verdict, v.out.Cause = Plausible, ""
	}
	return v.out
}

func (v *verification) peek() {
	var err error
	if v.in, err = open(v.src); err != nil {
		v.cannotBegin(err)
		return
	}
	v.out.Gzip = v.in.gzip != nil
	b := v.in.block()
	if b.err != nil && !errors.Is(b.err, io.EOF) && !errors.Is(b.err, errCut) {
		v.out.damagef(BadGzip, "%v", b.err) // in what there is
		return
	}
	if v.begin(b) && v.layout.torn != nil {
		v.out.remarkf("%v; etcd opens it all the same", v.layout.torn)
	}
}

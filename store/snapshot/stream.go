package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

const (
	// blockSize is a multiple of every page size, and holds both meta pages of
	// each.
	blockSize = 256 << 10
	// blocks are on the way between inflating and hashing.
	blocks = 12
)

var errEmpty = errors.New("it is empty")

// A source counts the bytes of the input, and keeps why they ended: an error of
// the input is not one of the snapshot.
type source struct {
	r    io.Reader
	size int64 // how many there should be; 0 where that is not known
	n    int64
	idle int // reads in a row that gave neither a byte nor an error
	err  error
}

// maxIdle is how many such reads there may be: fewer than bufio allows itself.
const maxIdle = 50

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	if s.idle++; n > 0 || err != nil {
		s.idle = 0
	}
	switch {
	case s.idle > maxIdle:
		s.err = io.ErrNoProgress
		return 0, s.err
	case err != nil && err != io.EOF:
		s.err = err
	case err == io.EOF && s.n < s.size:
		s.err = fmt.Errorf("its input ended after %d bytes of %d", s.n, s.size)
	}
	return n, err
}

// An inflater cuts the inflated snapshot into blocks.
type inflater struct {
	src  *source
	raw  *bufio.Reader
	gzip *gzip.Reader // nil where the snapshot is plain
	at   int64        // how much has been inflated
}

// open looks whether the input is gzip.
func open(src *source) (*inflater, error) {
	in := &inflater{src: src, raw: bufio.NewReaderSize(src, 64<<10)}
	magic, err := in.raw.Peek(2)
	if len(magic) == 0 {
		if err == io.EOF {
			err = errEmpty
		}
		return nil, err
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return in, nil
	}
	if in.gzip, err = gzip.NewReader(in.raw); err != nil {
		return nil, err
	}
	in.gzip.Multistream(false) // a second one is no part of the first
	return in, nil
}

// A block is a piece of the inflated snapshot.
type block struct {
	at  int64 // where it begins
	n   int   // how long it is
	err error // why it is the last: io.EOF, or what is wrong
	buf [blockSize]byte
}

func (b *block) bytes() []byte { return b.buf[:b.n] }

// block gives the next block in a new buffer.
func (in *inflater) block() *block {
	b := new(block)
	in.fill(b)
	return b
}

// fill inflates the next block. Its err is io.EOF at a proper end.
func (in *inflater) fill(b *block) {
	var r io.Reader = in.raw
	if in.gzip != nil {
		r = in.gzip
	}
	b.at, b.n, b.err = in.at, 0, nil
	for b.n < blockSize && b.err == nil {
		var n int
		n, b.err = r.Read(b.buf[b.n:])
		b.n += n
	}
	in.at += int64(b.n)
	if b.err != nil && in.gzip != nil {
		b.err = in.end(b.err)
	}
}

// end says what is wrong where gzip ended; io.EOF if nothing is.
func (in *inflater) end(err error) error {
	var corrupt flate.CorruptInputError
	at := in.src.n - int64(in.raw.Buffered())
	switch {
	case err == io.EOF:
		if _, err := in.raw.Peek(1); err == nil {
			return fmt.Errorf("other bytes follow the end of the gzip data, from byte %d on, and gzip takes them for part of it", at)
		}
		return io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the gzip data is cut short: it ends at byte %d, of which %d were inflated", at, in.at)
	case errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("gzip's checksum does not match: bytes were changed after they were compressed (%d were inflated)", in.at)
	case errors.As(err, &corrupt):
		return fmt.Errorf("the gzip data is damaged at about byte %d, of which %d were inflated", at, in.at)
	}
	return fmt.Errorf("the gzip data cannot be read at byte %d: %w", at, err)
}

// A streamEnd says how a snapshot ended.
type streamEnd struct {
	n       int64 // how many bytes were inflated
	err     error // what is wrong with gzip
	stopped bool  // the scanner wanted no more
	sum     []byte
	trailer []byte
}

// A pipe inflates in one goroutine, and hashes and scans in another: what was
// hashed is still near the processor when it is scanned.
type pipe struct {
	in      *inflater
	limit   int64 // no more is inflated than a block beyond it
	free    chan *block
	full    chan *block
	stop    chan struct{}
	wait    sync.WaitGroup
	failure atomic.Value // what a goroutine panicked with
}

// stream passes the whole input by the scanner, beginning with first.
func (v *verification) stream(s *scanner, first *block) streamEnd {
	p := &pipe{
		in: v.in, limit: v.total(), stop: make(chan struct{}),
		free: make(chan *block, blocks), full: make(chan *block, blocks),
	}
	sum := &trailed{hash: sha256.New(), size: v.layout.size()}
	p.wait.Go(func() { defer p.caught(); defer close(p.full); p.inflate(first) })
	end := p.scanAndStop(s, sum)
	if f := p.failure.Load(); f != nil {
		panic(f)
	}
	end.sum, end.trailer = sum.hash.Sum(nil), sum.trailer
	return end
}

// scanAndStop scans, and ends the inflating whatever happens: the reader must not
// be used any more when Verify returns.
func (p *pipe) scanAndStop(s *scanner, sum *trailed) streamEnd {
	defer p.wait.Wait()
	defer close(p.stop)
	return p.scan(s, sum)
}

// caught keeps a panic of inflating for the goroutine that called Verify.
func (p *pipe) caught() {
	if f := recover(); f != nil {
		p.failure.CompareAndSwap(nil, fmt.Sprint(f))
	}
}

func (p *pipe) inflate(b *block) {
	for made := 1; ; {
		select {
		case p.full <- b:
		case <-p.stop:
			return
		}
		if b.err != nil || p.in.at > p.limit {
			return
		}
		if b = p.spare(&made); b == nil {
			return
		}
		p.in.fill(b)
	}
}

// spare gives a block that is free, or makes one where there are few; nil when
// no more is wanted.
func (p *pipe) spare(made *int) *block {
	select {
	case b := <-p.free:
		return b
	default:
	}
	if *made < blocks {
		*made++
		return new(block)
	}
	select {
	case b := <-p.free:
		return b
	case <-p.stop:
		return nil
	}
}

// scan hashes, and feeds whole pages to the scanner, until the stream or the
// scanner ends.
func (p *pipe) scan(s *scanner, sum *trailed) (end streamEnd) {
	size := s.size()
	for b := range p.full {
		sum.add(b)
		end.n = b.at + int64(b.n)
		pages := max(min(int64(b.n), size-b.at), 0)
		pages -= pages % int64(s.pageSize)
		if !s.feed(b.buf[:pages]) {
			end.stopped = true
			return end
		}
		if b.err != nil && b.err != io.EOF {
			end.err = b.err
		}
		p.free <- b
	}
	return end
}

// trailed hashes a database and keeps what follows it.
type trailed struct {
	hash    hash.Hash
	size    int64 // of the database
	trailer []byte
}

func (t *trailed) add(b *block) {
	in := max(min(int64(b.n), t.size-b.at), 0)
	_, _ = t.hash.Write(b.buf[:in]) // it never fails
	if room := trailerSize - len(t.trailer); room > 0 {
		t.trailer = append(t.trailer, b.buf[in:min(int(in)+room, b.n)]...)
	}
}

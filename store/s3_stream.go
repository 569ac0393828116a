package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"backstop/audit"
)

// Open implements [Bucket].
func (s *S3) Open(ctx context.Context, in OpenInput) (Stream, error) {
	b := &s3Body{s: s, ctx: ctx, key: in.Key, etag: in.ETag, at: in.From}
	out, err := b.connect()
	if err != nil || out.Unreadable != "" {
		return out, err
	}
	out.ReadCloser = b
	return out, nil
}

// An s3Body is the body of an object over as many connections as it takes.
type s3Body struct {
	s         *S3
	ctx       context.Context
	key, etag string

	at, end  int64 // the next byte, and the one after the last
	conn     *connection
	failures int // in a row, without a byte in between
	err      error
}

// A connection is one answer whose body is being read.
type connection struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelFunc
	answer *answer
}

func (c *connection) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

// connect asks for what is still wanted of the object.
func (b *s3Body) connect() (Stream, error) {
	q := query{op: "get object", object: b.s.URL(b.key), action: Actions["Open"][0], missing: "NoSuchKey"}
	return call(b.ctx, b.s, q, func(limited context.Context, a *answer, opt func(*s3.Options)) (Stream, error) {
		// The body outlives the call, and its time limit is another.
		ctx, cancel := context.WithCancel(b.ctx)
		stop := context.AfterFunc(limited, cancel)
		defer stop()
		a.partial = b.at != 0
		out, err := b.s.client.GetObject(ctx, b.input(), opt)
		if why := a.unreadable(); why != "" {
			cancel()
			return Stream{Object: audit.Object{Key: b.key, StorageClass: a.refusal.StorageClass}, Unreadable: why}, nil
		}
		if a.status == http.StatusPreconditionFailed {
			err = faultf(audit.CauseOther, "it has been written again since (its ETag is no longer %s)", b.etag)
		}
		if err == nil {
			err = b.take(out, a)
		}
		if err != nil {
			cancel()
			return Stream{}, err
		}
		b.conn = &connection{out.Body, ctx, cancel, a}
		return Stream{VersionID: aws.ToString(out.VersionId), Object: audit.Object{
			Key: b.key, Size: b.end, LastModified: out.LastModified.UTC(),
			ETag: b.etag, StorageClass: class(string(out.StorageClass)),
		}}, nil
	})
}

func (b *s3Body) input() *s3.GetObjectInput {
	in := &s3.GetObjectInput{Bucket: &b.s.bucket, Key: &b.key}
	switch {
	case b.at > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", b.at))
	case b.at < 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d", b.at))
	}
	if b.etag != "" {
		in.IfMatch = aws.String(`"` + b.etag + `"`)
	}
	return in
}

// take holds an answer to what was asked for, and notes what is needed to go on
// where it breaks off. It closes the body of an answer that it refuses.
func (b *s3Body) take(out *s3.GetObjectOutput, a *answer) (err error) {
	defer func() {
		if err != nil {
			_ = out.Body.Close() // it is given up
		}
	}()
	from, size, err := a.extent()
	switch {
	case err != nil:
		return err
	case out.LastModified == nil:
		return faultf(audit.CauseForeign, "it has no Last-Modified, so it is no object") // a proxy's page has none
	case b.at >= 0 && from != b.at, b.at < 0 && from != max(0, size+b.at), b.end > 0 && size != b.end:
		return faultf(audit.CauseForeign, "it is from byte %d of %d, and byte %d was asked for", from, size, b.at)
	}
	b.at, b.end = from, size
	if b.etag == "" {
		b.etag = unquote(aws.ToString(out.ETag))
	}
	return nil
}

// extent says where the body begins in the object, and how long the object is.
func (a *answer) extent() (from, size int64, err error) {
	if a.status != http.StatusPartialContent {
		if a.length < 0 {
			return 0, 0, faultf(audit.CauseMalformed, "it does not say how long it is, so it may have been cut short")
		}
		return 0, a.length, nil
	}
	var last int64
	if _, err := fmt.Sscanf(a.header.Get("Content-Range"), "bytes %d-%d/%d", &from, &last, &size); err != nil || last != size-1 || from > last {
		return 0, 0, faultf(audit.CauseForeign, "its Content-Range is %s", strconv.Quote(a.header.Get("Content-Range")))
	}
	return from, size, nil
}

// Read gives what comes next. It makes a new connection for one that broke off
// or stood still, until as many in a row as S3Options.MaxAttempts brought
// nothing.
func (b *s3Body) Read(p []byte) (int, error) {
	for b.err == nil && b.at < b.end && len(p) > 0 {
		if b.conn == nil {
			if _, b.err = b.connect(); b.err != nil {
				break
			}
		}
		n, err := b.some(p[:min(int64(len(p)), b.end-b.at)])
		b.at += int64(n)
		if n > 0 {
			b.failures = 0
		}
		if err != nil && b.at < b.end {
			b.lost(err)
		}
		if n > 0 {
			return n, nil
		}
	}
	if b.err != nil {
		return 0, b.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	return 0, io.EOF
}

// some reads from the connection, which may not stand still for longer than a
// call may take.
func (b *s3Body) some(p []byte) (int, error) {
	stalled := time.AfterFunc(b.s.timeout, b.conn.cancel)
	defer stalled.Stop()
	return b.conn.Read(p)
}

// lost gives up a connection, and notes the error where no other is to be
// tried.
func (b *s3Body) lost(err error) {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	q := query{
		op: fmt.Sprintf("read byte %d of %d of", b.at, b.end), object: b.s.URL(b.key), action: Actions["Open"][0],
	}
	c := b.conn
	e := q.judge(b.ctx, c.ctx, c.answer, err)
	_ = c.Close() // it is broken
	b.conn = nil
	b.failures++
	e.Attempts = b.failures
	again := retryable(e, c.answer) || e.Cause == audit.CauseTimeout && b.ctx.Err() == nil
	if !again || b.failures >= b.s.attempts || !b.s.pause(b.ctx, b.failures) {
		b.err = e
	}
}

// errClosed is what a read gives after Close.
var errClosed = errors.New("read after close")

// Close ends the reading.
func (b *s3Body) Close() error {
	if b.err == nil {
		b.err = errClosed
	}
	if b.conn == nil {
		return nil
	}
	c := b.conn
	b.conn = nil
	return c.Close()
}

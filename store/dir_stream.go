package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"backstop/audit"
)

// Open implements Bucket. A directory knows an ETag only where a listing beside
// it tells, and refuses by none.
func (d *Dir) Open(ctx context.Context, in OpenInput) (Stream, error) {
	failed := func(cause audit.Cause, err error) (Stream, error) {
		return Stream{}, &Error{Op: "open", Object: d.URL(in.Key), Cause: cause, Err: err}
	}
	if err := ctx.Err(); err != nil {
		return failed(audit.CauseTimeout, err)
	}
	f, err := d.fsys.Open(in.Key)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, syscall.ENOTDIR):
		return failed(audit.CauseOther, ErrMissing)
	case err != nil:
		return failed(pathCause(err), err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = ErrMissing
	}
	if err != nil {
		_ = f.Close() // nothing was read
		return failed(pathCause(err), err)
	}
	out := Stream{Object: d.object(in.Key, info)}
	if doc := (audit.Document{Object: out.Object}); doc.Archived() {
		_ = f.Close()
		out.Unreadable = "archived in storage class " + out.StorageClass
		return out, nil
	}
	from := in.From
	if from < 0 {
		from = max(0, info.Size()+from)
	}
	if err := skip(f, from); err != nil {
		_ = f.Close()
		return failed(pathCause(err), err)
	}
	out.ReadCloser = &dirBody{File: f, ctx: ctx, url: d.URL(in.Key), at: from, end: info.Size()}
	return out, nil
}

// skip passes over the first n bytes of a file.
func skip(f fs.File, n int64) error {
	if n == 0 {
		return nil
	}
	if s, ok := f.(io.Seeker); ok {
		_, err := s.Seek(n, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, f, n)
	return err
}

// A dirBody is a file that is being read. One that becomes shorter meanwhile is
// an error, as a body that is cut off.
type dirBody struct {
	fs.File
	ctx     context.Context
	url     string
	at, end int64
}

// Read gives what comes next, up to the length that the file had when it was
// opened.
func (b *dirBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, b.failed(audit.CauseTimeout, err)
	}
	if b.at == b.end {
		return 0, io.EOF
	}
	n, err := b.File.Read(p[:min(int64(len(p)), b.end-b.at)])
	b.at += int64(n)
	switch {
	case err == io.EOF && b.at < b.end:
		return n, b.failed(audit.CauseMalformed, io.ErrUnexpectedEOF)
	case err != nil && err != io.EOF:
		return n, b.failed(pathCause(err), err)
	}
	return n, nil
}

func (b *dirBody) failed(cause audit.Cause, err error) error {
	return &Error{Op: fmt.Sprintf("read byte %d of %d of", b.at, b.end), Object: b.url, Cause: cause, Err: err}
}

// Part implements Bucket.
func (d *Dir) Part(ctx context.Context, in PartInput) (audit.Document, error) {
	s, err := d.Open(ctx, OpenInput{Key: in.Key, From: in.From, ETag: in.ETag})
	if err != nil {
		return audit.Document{}, err
	}
	doc := audit.Document{Object: s.Object, Unreadable: s.Unreadable}
	if s.Unreadable != "" {
		return doc, nil
	}
	defer func() { _ = s.Close() }() // it was only read
	length := in.Length
	if in.From < 0 {
		length = -in.From
	}
	doc.Body, err = io.ReadAll(io.LimitReader(s, length))
	if err != nil {
		return audit.Document{}, err
	}
	return doc, nil
}

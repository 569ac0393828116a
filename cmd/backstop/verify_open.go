package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"backstop/store"
	"backstop/store/etcdmanager"
)

// tailSize is how much of the end of a snapshot tells its length.
const tailSize = 8

func (o *verifyOptions) addVerifying(f *pflag.FlagSet) {
	o.addS3(f)
	o.concurrency, o.logLevel, o.logFormat = 1, "warn", "text" // it has no such flags
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "how long S3 may say nothing")
	f.StringVar(&o.color, "color", "auto", "auto, always or never")
	f.StringVarP(&o.output, "output", "o", "text", "text or json")
	f.StringVar(&o.maxMemory, "max-memory", "1GiB", "the most that a snapshot's summary may take; beyond that it is not verified")
}

// An input is a snapshot to be read.
type input struct {
	io.ReadCloser
	name string
	size int64 // 0 where it is not known
	tail []byte
}

// openSnapshot opens what an argument names.
func (p *program) openSnapshot(ctx context.Context, arg string, o *verifyOptions) (input, error) {
	if arg == "-" {
		return input{ReadCloser: io.NopCloser(p.stdin), name: "standard input"}, nil
	}
	at, err := store.ParseTarget(arg)
	switch {
	case err != nil:
		return input{name: arg}, usagef("%w", err)
	case at.Dir != "":
		return openFile(at.Dir)
	case at.Prefix == "":
		return input{name: arg}, usagef("SNAPSHOT %q is a bucket; want s3://BUCKET/KEY", arg)
	}
	ts, pace, err := p.targets([]string{arg}, &o.options)
	if err != nil {
		return input{name: arg}, err
	}
	if o.pace == nil {
		o.pace = pace // one for all snapshots
	}
	b, key, err := p.open(ctx, ts[0], o.pace, &o.options)
	if err != nil {
		return input{name: arg}, err
	}
	return openObject(ctx, b, key)
}

// openFile opens a file, or the snapshot in a directory of etcd-manager's.
func openFile(name string) (input, error) {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		name = filepath.Join(name, etcdmanager.DataFile)
		info, err = os.Stat(name)
	}
	if err != nil {
		return input{name: name}, err
	}
	f, err := os.Open(name)
	if err != nil {
		return input{name: name}, err
	}
	in := input{ReadCloser: f, name: name}
	if !info.Mode().IsRegular() {
		return in, nil // a pipe has no length
	}
	in.size = info.Size()
	tail := make([]byte, tailSize)
	if _, err := f.ReadAt(tail, in.size-tailSize); err == nil {
		in.tail = tail
	}
	if in.size == 0 {
		return in, nil
	}
	in.ReadCloser = &whole{in.ReadCloser, in.size}
	return in, nil
}

// A whole is a file that must not become shorter while it is read: that is no
// damage of what it held.
type whole struct {
	io.ReadCloser
	left int64
}

// Read reads up to the length that the file had.
func (w *whole) Read(b []byte) (int, error) {
	n, err := w.ReadCloser.Read(b[:min(int64(len(b)), w.left+1)])
	w.left -= int64(n)
	switch {
	case w.left < 0:
		return n, errors.New("the file grew while it was read; verify a copy of it, or read it through a pipe")
	case err == io.EOF && w.left > 0:
		return n, fmt.Errorf("the file became shorter while it was read; %d bytes are missing", w.left)
	}
	return n, err
}

// openObject opens an object, or the snapshot below a prefix of etcd-manager's.
func openObject(ctx context.Context, b store.Bucket, key string) (input, error) {
	s, err := b.Open(ctx, store.OpenInput{Key: key})
	if errors.Is(err, store.ErrMissing) && path.Base(key) != etcdmanager.DataFile {
		if below, err2 := b.Open(ctx, store.OpenInput{Key: key + "/" + etcdmanager.DataFile}); !errors.Is(err2, store.ErrMissing) {
			s, err, key = below, err2, key+"/"+etcdmanager.DataFile
		}
	}
	in := input{name: b.URL(key)}
	if err != nil {
		return in, err
	}
	if s.Unreadable != "" {
		return in, fmt.Errorf("read %s: it is %s", in.name, s.Unreadable)
	}
	in.ReadCloser, in.size = s, s.Size
	in.tail = tailOf(ctx, b, s)
	return in, nil
}

// tailOf reads the end of an object; nil where that is not to be had. Then a
// wrong length shows later.
func tailOf(ctx context.Context, b store.Bucket, s store.Stream) []byte {
	if s.Size < tailSize {
		return nil
	}
	end, err := b.Part(ctx, store.PartInput{Key: s.Key, From: -tailSize, ETag: s.ETag})
	if err != nil || end.Unreadable != "" {
		return nil
	}
	return end.Body
}

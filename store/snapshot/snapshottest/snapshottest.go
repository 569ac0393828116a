// Package snapshottest holds snapshots, healthy and damaged, for tests.
package snapshottest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// The snapshots were taken from real servers of etcd 3.4, 3.5 and 3.6, and some
// of them damaged. They are kept inflated, because they differ little.
//
//go:embed testdata/snapshots.tar.zst
var archive []byte

// TrailerSize is the length of the sha256 at a snapshot's end.
const TrailerSize = sha256.Size

// all unpacks the archive once.
var all = sync.OnceValues(func() (map[string][]byte, error) {
	z, err := zstd.NewReader(bytes.NewReader(archive), zstd.WithDecoderMaxWindow(1<<28), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	out := map[string][]byte{}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if out[strings.TrimSuffix(h.Name, ".raw")], err = io.ReadAll(t); err != nil {
			return nil, err
		}
	}
})

// Names lists the snapshots.
func Names(tb testing.TB) []string {
	tb.Helper()
	m, err := all()
	if err != nil {
		tb.Fatal(err)
	}
	return slices.Sorted(maps.Keys(m))
}

// Plain gives a snapshot as `etcdctl snapshot save` writes it, in memory that
// the caller may change.
func Plain(tb testing.TB, name string) []byte {
	tb.Helper()
	m, err := all()
	if err != nil {
		tb.Fatal(err)
	}
	b, ok := m[name]
	if !ok {
		tb.Fatalf("there is no snapshot %q", name)
	}
	return bytes.Clone(b)
}

// gzipped remembers what Gzipped made.
var gzipped sync.Map

// Gzipped gives a snapshot as etcd-manager stores it, in memory that the caller
// may change.
func Gzipped(tb testing.TB, name string) []byte {
	tb.Helper()
	b, ok := gzipped.Load(name)
	if !ok {
		b, _ = gzipped.LoadOrStore(name, Gzip(Plain(tb, name)))
	}
	return bytes.Clone(b.([]byte))
}

// Gzip compresses as etcd-manager does.
func Gzip(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		panic(fmt.Sprintf("snapshottest: %v", err)) // a buffer takes everything
	}
	if err := z.Close(); err != nil {
		panic(fmt.Sprintf("snapshottest: %v", err))
	}
	return out.Bytes()
}

// Seal gives a database with the trailer that belongs to it.
func Seal(db []byte) []byte {
	sum := sha256.Sum256(db)
	return append(bytes.Clone(db), sum[:]...)
}

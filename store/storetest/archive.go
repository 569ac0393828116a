package storetest

import (
	"archive/tar"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The archives hold backup stores that a real etcd-manager wrote around a real
// etcd, with their true modification times; testdata/stores/README.md says how
// each was made. They stay archives because names in them hold colons, which Go's
// embedding and module zips refuse.
//
//go:embed testdata/stores/*.tar.gz
var archives embed.FS

// A File is one object of an archived store.
type File struct {
	Key  string // as in the bucket: CLUSTER/backups/etcd/NAME/…
	Body []byte
	Time time.Time
}

// Archive reads an archived store: healthy, armed, trigger, post-reset, …
func Archive(name string) ([]File, error) {
	f, err := archives.Open("testdata/stores/" + name + ".tar.gz")
	if err != nil {
		return nil, fmt.Errorf("open archived store: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("archived store %s: %w", name, err)
	}
	var files []File
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("archived store %s: %w", name, err)
		}
		_, key, _ := strings.Cut(strings.TrimPrefix(h.Name, "./"), "/")
		// What lies beside the store describes it, and is not part of it.
		if h.Typeflag != tar.TypeReg || !strings.Contains(key, "/backups/etcd/") {
			continue
		}
		body, err := io.ReadAll(t)
		if err != nil {
			return nil, fmt.Errorf("archived store %s: %w", name, err)
		}
		files = append(files, File{Key: key, Body: body, Time: h.ModTime.UTC()})
	}
}

// Archives lists the archived stores.
func Archives() []string {
	entries, err := archives.ReadDir("testdata/stores")
	if err != nil {
		panic(err) // they are part of the binary
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".tar.gz"))
	}
	return names
}

// Fill puts the files into a bucket of the fake, with their times.
func (b *Bucket) Fill(files []File) {
	for _, f := range files {
		b.Put(f.Key, f.Body, WithTime(f.Time))
	}
}

// Unpack writes the files below dir, with their times.
func Unpack(dir string, files []File) error {
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Key))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Body, 0o644); err != nil {
			return err
		}
		if err := os.Chtimes(name, f.Time, f.Time); err != nil {
			return err
		}
	}
	return nil
}

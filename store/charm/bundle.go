package charm

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"backstop/store/snapshot"
)

// A Bundle is what deploy/charm/collect.sh saw on a unit. It is a tar archive,
// gzipped or not, that holds
//
//	manifest        lines KEY=VALUE; the first is backstop_charm_bundle=1
//	listing         a line a file: TYPE, SIZE and PATH between tabs
//	unseen          a line for what could not be looked at; empty where nothing
//	etcd.conf.yml   without what could be secret
//	db/PATH         the databases, by their paths on the unit
//	end             empty, and the last: the bundle is whole
type Bundle struct {
	Unit string // as in etcd/0; empty where nobody told
	// Taken is the unit's clock, and Zone how far that is ahead of UTC.
	Taken time.Time
	Zone  time.Duration
	// Revision is the snap revision that `current` is a link to; empty where it is
	// none.
	Revision string
	// Config is the configuration; nil where there is none.
	Config []byte
	// OldConfig and Migrated say that etcd.conf and etcd.conf.2x are there.
	OldConfig, Migrated bool
	// Dirs are the data directories below /var/snap/etcd/current, and Elsewhere
	// those below other places, by their whole paths.
	Dirs, Elsewhere []DataDir
	// Unseen says what could not be looked at.
	Unseen []string
}

const (
	bundleFormat = "1"
	maxDocument  = 16 << 20 // bytes of a text in a bundle
)

// ReadBundle reads a bundle to its end. An error says that it is none, or not
// whole.
func ReadBundle(r io.Reader, maxMemory int64) (Bundle, error) {
	raw := bufio.NewReaderSize(r, 64<<10)
	var in io.Reader = raw
	if magic, _ := raw.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(raw)
		if err != nil {
			return Bundle{}, fmt.Errorf("its gzip header is damaged: %w", err)
		}
		in = z
	}
	b := bundle{maxMemory: maxMemory, texts: map[string][]byte{}, dbs: map[string]*snapshot.Result{}}
	for t := tar.NewReader(in); !b.whole; {
		h, err := t.Next()
		if err == io.EOF {
			return Bundle{}, errors.New("it has no member `end`: it is cut short, or no bundle of collect.sh")
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = b.take(path.Clean("/" + h.Name)[1:], h.Size, t)
		}
		if err != nil {
			return Bundle{}, fmt.Errorf("its tar data is damaged or cut short: %w", err)
		}
	}
	if _, err := io.Copy(io.Discard, in); err != nil { // for gzip's checksum
		return Bundle{}, fmt.Errorf("its gzip data is damaged: %w", err)
	}
	return b.parse()
}

// A bundle is a Bundle being read.
type bundle struct {
	maxMemory int64
	texts     map[string][]byte
	dbs       map[string]*snapshot.Result
	whole     bool
}

func (b *bundle) take(name string, size int64, r io.Reader) error {
	if name == "end" {
		b.whole = true
		return nil
	}
	if at, ok := strings.CutPrefix(name, "db/"); ok {
		w := &watched{r: r}
		got := snapshot.Verify(w, snapshot.Options{Size: size, Bare: true, MaxMemory: b.maxMemory})
		b.dbs["/"+at] = &got
		return w.err
	}
	body, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if len(body) > maxDocument {
		return fmt.Errorf("%s is longer than %d MiB", name, maxDocument>>20)
	}
	b.texts[name] = body
	return err
}

func (b *bundle) parse() (Bundle, error) {
	manifest := map[string]string{}
	for line := range lines(b.texts["manifest"]) {
		key, value, _ := strings.Cut(line, "=")
		manifest[key] = value
	}
	if v := manifest["backstop_charm_bundle"]; v != bundleFormat {
		return Bundle{}, fmt.Errorf("its manifest says format %q, and this program reads %s; use the collect.sh that belongs to it", v, bundleFormat)
	}
	out := Bundle{Unit: manifest["unit"], Config: b.texts[ConfigFile], Revision: manifest["revision"]}
	if s, err := strconv.ParseInt(manifest["taken"], 10, 64); err == nil {
		out.Taken = time.Unix(s, 0).UTC()
	}
	zone, err := ParseZone(manifest["zone"])
	if err != nil {
		return Bundle{}, err
	}
	out.Zone = zone
	for line := range lines(b.texts["unseen"]) {
		out.Unseen = append(out.Unseen, line)
	}
	return out, b.list(&out)
}

// list reads the listing.
func (b *bundle) list(out *Bundle) error {
	var current, elsewhere Tree
	for line := range lines(b.texts["listing"]) {
		parts := strings.SplitN(line, "\t", 3)
		if len(parts) != 3 {
			return fmt.Errorf("its listing has the line %q, want TYPE, SIZE and PATH between tabs", line)
		}
		size, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil {
			return fmt.Errorf("its listing has the line %q: the size is no number", line)
		}
		name := path.Clean(parts[2])
		switch name {
		case CommonDir + "/" + OldConfigFile:
			out.OldConfig = true
		case CommonDir + "/" + MigratedFile:
			out.Migrated = true
		}
		if parts[0] == "f" {
			b.sort(name, size, &current, &elsewhere)
		}
	}
	out.Dirs, out.Elsewhere = current.Dirs(), elsewhere.Dirs()
	for i := range out.Elsewhere {
		out.Elsewhere[i].Path = "/" + out.Elsewhere[i].Path
	}
	return nil
}

func (b *bundle) sort(name string, size int64, current, elsewhere *Tree) {
	t, rel := elsewhere, strings.TrimPrefix(name, "/")
	if below, ok := Within(name, "", ""); ok {
		t, rel = current, below
	}
	dir, isDB := t.Add(rel, size)
	if !isDB {
		return
	}
	if got := b.dbs[name]; got != nil {
		t.SetDB(dir, got, "")
	} else {
		t.SetDB(dir, nil, "the bundle was made without databases")
	}
}

// lines gives the lines of a text that hold something.
func lines(text []byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimRight(line, "\r\n"); line != "" && !yield(line) {
				return
			}
		}
	}
}

// ParseZone reads a distance from UTC as `date +%z` prints it: +0200.
func ParseZone(s string) (time.Duration, error) {
	t, err := time.Parse("-0700", s)
	if err != nil {
		return 0, fmt.Errorf("%q is no distance from UTC; want one as `date +%%z` prints it: +0200", s)
	}
	_, offset := t.Zone()
	return time.Duration(offset) * time.Second, nil
}

package charm

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"

	"backstop/store/snapshot"
)

// A Format is what a snapshot is, by what is in it.
type Format string

// The formats of snapshots.
const (
	// V3 is an archive with a copy of the file member/snap/db, as ./db.
	V3 Format = "v3"
	// V2 is an archive with a data directory as `etcdctl backup` makes it: a log
	// and the v2 store. Kubernetes keeps nothing there since 1.6 made etcd3 its
	// default.
	V2 Format = "v2"
	// Plain is a snapshot as `etcdctl snapshot save` writes it, without an archive.
	Plain Format = "plain"
	// DataCopy is an archive of a data directory, made before a restore.
	DataCopy Format = "data-copy"
	// NoFormat is neither.
	NoFormat Format = "none"
)

// An Archive is one snapshot and what was found in it.
type Archive struct {
	Format Format `json:"format"`
	// Gzip says that it is compressed.
	Gzip bool `json:"gzip"`
	// Problem says what is wrong with it as an archive; empty where nothing is.
	// Unread says why it was not read to its end, so that nothing is known.
	Problem string `json:"problem,omitempty"`
	Unread  string `json:"unread,omitempty"`
	// DB is its database; nil where it has none.
	DB *snapshot.Result `json:"db,omitempty"`
	// Trailer says that the database ends with a sha256, as `etcdctl snapshot save`
	// writes it. The copies that the charm makes have none.
	Trailer bool `json:"trailer,omitempty"`
	// WALs and Snaps count the files of a v2 archive.
	WALs  int `json:"wals,omitempty"`
	Snaps int `json:"snaps,omitempty"`
	// SHA256 is that of the file as it is stored, in hexadecimal, as the charm's
	// action tells it.
	SHA256 string `json:"sha256,omitempty"`
}

// Limits of an archive. The charm's have at most a handful of files.
const (
	maxEntries  = 10_000
	maxInflated = 1 << 40 // bytes
)

// ReadOptions are what a reader of archives may be told.
type ReadOptions struct {
	Size      int64 // of the input in bytes; 0 where it is not known
	MaxMemory int64 // as in snapshot.Options
}

// Read reads a snapshot to its end: an archive, gzipped or not, or a plain
// snapshot. An error of r makes it Unread, and is no damage.
func Read(r io.Reader, o ReadOptions) Archive {
	in := &input{r: r, sum: sha256.New(), size: o.Size}
	raw := bufio.NewReaderSize(in, 64<<10)
	a := Archive{Format: NoFormat}
	a.read(raw, o)
	if a.Unread == "" && in.err == nil {
		_, _ = io.Copy(io.Discard, raw) // in keeps its error
	}
	switch {
	case in.err != nil:
		return Archive{Format: a.Format, Gzip: a.Gzip, Unread: in.err.Error()}
	case a.Unread != "":
		return a
	}
	a.SHA256 = hex.EncodeToString(in.sum.Sum(nil))
	return a
}

// An input hashes what is read, and keeps why it ended early.
type input struct {
	r   io.Reader
	sum interface {
		io.Writer
		Sum([]byte) []byte
	}
	n, size int64
	err     error
}

// Read reads and hashes.
func (in *input) Read(b []byte) (int, error) {
	n, err := in.r.Read(b)
	in.n += int64(n)
	_, _ = in.sum.Write(b[:n]) // a hash never fails
	switch {
	case err != nil && err != io.EOF:
		in.err = err
	case err == io.EOF && in.n < in.size:
		in.err = fmt.Errorf("its input ended after %d bytes of %d", in.n, in.size)
	}
	return n, err
}

// read looks what it is, and reads that.
func (a *Archive) read(raw *bufio.Reader, o ReadOptions) {
	magic, _ := raw.Peek(2)
	if len(magic) == 0 {
		a.Problem = "it is empty"
		return
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		a.inflated(raw, o)
		return
	}
	a.Gzip = true
	z, err := gzip.NewReader(raw)
	if err != nil {
		a.Problem = "its gzip header is damaged: " + err.Error()
		return
	}
	in := &inflated{r: z}
	a.inflated(bufio.NewReaderSize(in, 64<<10), o)
	if _, err := io.Copy(io.Discard, in); a.Problem == "" && in.err == nil && err == nil {
		return
	}
	a.gzipEnded(in.err)
}

// gzipEnded says what ended the inflating, which is worse than what came of it.
func (a *Archive) gzipEnded(err error) {
	switch {
	case errors.Is(err, errTooLong):
		a.Unread = err.Error()
	case err != nil:
		a.Problem, a.DB = "its gzip data is damaged or cut short: "+err.Error(), nil
	}
}

var errTooLong = fmt.Errorf("it inflates to more than %d GiB", int64(maxInflated>>30))

// An inflated keeps why inflating ended, and bounds it.
type inflated struct {
	r   io.Reader
	n   int64
	err error
}

// Read reads.
func (in *inflated) Read(b []byte) (int, error) {
	if in.err != nil {
		return 0, in.err
	}
	n, err := in.r.Read(b)
	if in.n += int64(n); in.n > maxInflated {
		err = errTooLong
	}
	if err != nil && err != io.EOF {
		in.err = err
	}
	return n, err
}

// inflated reads what is not compressed, or no more.
func (a *Archive) inflated(r *bufio.Reader, o ReadOptions) {
	head, _ := r.Peek(512)
	if len(head) < 262 || string(head[257:262]) != "ustar" {
		a.plain(r, o)
		return
	}
	if err := a.entries(tar.NewReader(r), o); err != nil {
		a.Problem = "its tar data is damaged or cut short: " + err.Error()
	}
	a.classify()
}

// plain reads what is no tar archive. A copy of member/snap/db is told from a
// snapshot by its length, where that is known.
func (a *Archive) plain(r io.Reader, o ReadOptions) {
	bare := !a.Gzip && o.Size > 0 && o.Size%512 != sha256.Size
	got := snapshot.Verify(r, snapshot.Options{Bare: bare, MaxMemory: o.MaxMemory})
	if got.Cause == snapshot.NotSnapshot {
		a.Problem = "it is neither a tar archive nor a snapshot of etcd: " + got.Reason
		return
	}
	a.Format, a.Trailer = Plain, !bare
	a.db(got)
}

// db keeps what was found out of a database.
func (a *Archive) db(r snapshot.Result) {
	if r.Verdict == snapshot.Unverified {
		a.Unread = r.Reason
	}
	a.DB = &r
}

// entries reads the archive's files. Names begin with ./ because the charm packs
// the directory it is in.
func (a *Archive) entries(t *tar.Reader, o ReadOptions) error {
	for n := 0; ; n++ {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case n >= maxEntries:
			return fmt.Errorf("it holds more than %d files", maxEntries)
		}
		if err := a.entry(path.Clean("/" + h.Name)[1:], h, t, o); err != nil {
			return err
		}
	}
}

func (a *Archive) entry(name string, h *tar.Header, t *tar.Reader, o ReadOptions) error {
	if h.Typeflag != tar.TypeReg {
		return nil
	}
	base, inMember := name, false
	if i := strings.LastIndex("/"+name, "/member/"); i >= 0 {
		base, inMember = ("/" + name)[i+len("/member/"):], true
	}
	switch {
	case !inMember && name == "db":
		a.Format = or(a.Format, V3)
		return a.database(h, t, o)
	case inMember && base == "snap/db":
		return a.database(h, t, o)
	case inMember && path.Dir(base) == "wal" && path.Ext(base) == ".wal":
		a.WALs++
	case inMember && path.Dir(base) == "snap" && path.Ext(base) == ".snap":
		a.Snaps++
	}
	return nil
}

func or(f, g Format) Format {
	if f == NoFormat {
		return g
	}
	return f
}

// database reads a database in the archive. One that a person put there with
// `etcdctl snapshot save` has a trailer.
func (a *Archive) database(h *tar.Header, t *tar.Reader, o ReadOptions) error {
	a.Trailer = h.Size%512 == sha256.Size
	w := &watched{r: t}
	got := snapshot.Verify(w, snapshot.Options{Size: h.Size, Bare: !a.Trailer, MaxMemory: o.MaxMemory})
	if w.err != nil {
		return w.err // of the archive, and not of the database
	}
	a.db(got)
	return nil
}

// A watched keeps an error of the archive.
type watched struct {
	r   io.Reader
	err error
}

// Read reads.
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.r.Read(b)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

// classify says which format the files make.
func (a *Archive) classify() {
	switch {
	case a.Problem != "":
	case a.Format == V3 && a.WALs > 0:
		a.Format, a.Problem = NoFormat, "it holds ./db and a log (member/wal) too: it is neither the charm's v3 layout nor its v2 layout, and its restore takes it for v2"
	case a.Format == V3:
	case a.WALs > 0:
		a.Format = V2
	default:
		a.Problem = "it holds neither ./db (v3) nor ./member/wal (v2): there is nothing to restore in it"
	}
}

// AsDataCopy makes of a v2 archive what it is if its name is that of a copy made
// before a restore: the whole data directory.
func (a Archive) AsDataCopy() Archive {
	if a.Format == V2 {
		a.Format = DataCopy
	}
	return a
}

// KubernetesKeys counts the keys of Kubernetes in the database: those below
// /registry/. It is -1 where that is not known.
func (a Archive) KubernetesKeys() int64 {
	if a.DB == nil || a.DB.Facts == nil {
		return -1
	}
	return a.DB.Facts.KubernetesKeys
}

// Revision is that of the database; 0 where it is not known.
func (a Archive) Revision() int64 {
	if a.DB == nil || a.DB.Facts == nil {
		return 0
	}
	return max(a.DB.Facts.Revision, a.DB.Facts.CompactRevision)
}

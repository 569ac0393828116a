package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Format is the version of the file's layout. A file with a higher one is refused:
// an older program would lose what it does not know.
const Format = 1

// DefaultWait is how long to wait for others that use the file.
const DefaultWait = 10 * time.Second

// The buckets of the file.
var (
	aboutBucket   = []byte("backstop") // formatKey
	storesBucket  = []byte("stores")   // by store: a storeRecord
	objectsBucket = []byte("objects")  // by store a bucket, by key in it an objectRecord
	formatKey     = []byte("format")
)

// Why a ledger is of no use.
var (
	// ErrBusy: others used it for as long as one may wait.
	ErrBusy = errors.New("another process holds it")
	// ErrNewer: a newer program wrote it.
	ErrNewer = errors.New("a newer backstop wrote it")
	// ErrForeign: it is something else, or damaged.
	ErrForeign = errors.New("it is not a ledger, or it is damaged")
)

// A Ledger is such a file. It is safe for concurrent use.
type Ledger struct {
	path string
	wait time.Duration
	mu   sync.Mutex // the file's lock is between processes
}

// Open makes sure that the file is a ledger, and makes one where nothing is. wait
// is how long to wait for others, each time; 0 is DefaultWait.
func Open(path string, wait time.Duration) (*Ledger, error) {
	if wait <= 0 {
		wait = DefaultWait
	}
	l := &Ledger{path: path, wait: wait}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = l.create(os.Link)
	case err == nil && info.Mode().IsRegular() && info.Size() == 0: // as mktemp makes them
		err = l.create(os.Rename)
	}
	if err == nil {
		err = l.view(func(*bbolt.Tx) error { return nil })
	}
	if err != nil {
		return nil, fmt.Errorf("open the ledger %s: %w", path, err)
	}
	return l, nil
}

// Path is the file's name.
func (l *Ledger) Path() string { return l.path }

// create makes the file under another name first: a program that is killed must not
// leave half a ledger. Where two do so at a time the first one wins.
func (l *Ledger) create(name func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(l.path), "."+filepath.Base(l.path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	db, err := bbolt.Open(f.Name(), 0o600, nil)
	if err != nil {
		return err
	}
	err = errors.Join(db.Update(initialise), db.Close())
	if err != nil {
		return err
	}
	if err = name(f.Name(), l.path); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return os.Rename(f.Name(), l.path) // a file system without links
}

func initialise(tx *bbolt.Tx) error {
	for _, name := range [][]byte{storesBucket, objectsBucket} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	about, err := tx.CreateBucketIfNotExists(aboutBucket)
	if err != nil {
		return err
	}
	return about.Put(formatKey, fmt.Append(nil, Format))
}

// view reads.
func (l *Ledger) view(do func(tx *bbolt.Tx) error) error {
	return l.with(true, func(db *bbolt.DB) error { return db.View(checked(do)) })
}

// update writes, all of it or nothing.
func (l *Ledger) update(do func(tx *bbolt.Tx) error) error {
	return l.with(false, func(db *bbolt.DB) error { return db.Update(checked(do)) })
}

// with opens the file for as long as something is done with it. bbolt panics when a
// page is not what it should be, and faults when one is missing; for us both are a
// damaged file.
func (l *Ledger) with(readOnly bool, do func(db *bbolt.DB) error) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrForeign, p)
		}
	}()
	db, err := bbolt.Open(l.path, 0o600, &bbolt.Options{Timeout: l.wait, ReadOnly: readOnly})
	if err != nil {
		return explain(err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return do(db)
}

// checked does something with a file that is a ledger of ours.
func checked(do func(tx *bbolt.Tx) error) func(tx *bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		about := tx.Bucket(aboutBucket)
		if about == nil || tx.Bucket(storesBucket) == nil || tx.Bucket(objectsBucket) == nil {
			return fmt.Errorf("%w: it is a bbolt database of another program", ErrForeign)
		}
		var format int
		if err := json.Unmarshal(about.Get(formatKey), &format); err != nil {
			return fmt.Errorf("%w: its format is %q", ErrForeign, about.Get(formatKey))
		}
		if format > Format {
			return fmt.Errorf("%w: it has format %d, and this program knows %d", ErrNewer, format, Format)
		}
		return do(tx)
	}
}

// explain puts bbolt's errors into our words.
func explain(err error) error {
	for _, foreign := range []error{bolterrors.ErrInvalid, bolterrors.ErrVersionMismatch, bolterrors.ErrChecksum} {
		if errors.Is(err, foreign) {
			return fmt.Errorf("%w: %w", ErrForeign, err)
		}
	}
	if errors.Is(err, bolterrors.ErrTimeout) {
		return ErrBusy
	}
	return err
}

package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"backstop/audit"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, path string) *Ledger {
	t.Helper()
	l, err := Open(path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "ledger") }

// seen is a look at a store with snapshots of these sizes, one an hour.
func seen(at time.Time, sizes ...int64) *audit.Observation {
	s := audit.Store{URL: "s3://kops/main", Bucket: "kops", Prefix: "main"}
	o := &audit.Observation{Store: s, Ended: at}
	var l audit.Listing
	for i, size := range sizes {
		name := fmt.Sprintf("2026-11-30T%02d:00:00Z-000001", i)
		taken := time.Date(2026, 11, 30, i, 0, 0, 0, time.UTC)
		l.Snapshots = append(l.Snapshots, audit.Snapshot{Name: name, Taken: taken,
			Data: &audit.Object{Key: "main/" + name + "/etcd.backup.gz", Size: size, ETag: fmt.Sprint("etag", size), LastModified: taken},
			Meta: &audit.Object{Key: "main/" + name + "/_etcd_backup.meta", Size: 100, LastModified: taken}})
	}
	o.Listing = audit.Is(l)
	o.Created = audit.Is(audit.Document{Body: []byte("created"), VersionID: "v1"})
	o.Spec = audit.None[audit.Document]()
	o.Bucket.Lifecycle = audit.None[audit.Document]()
	return o
}

func found(o *audit.Observation, i int, c audit.Condition) audit.Examined {
	d := o.Listing.Value.Snapshots[i]
	return audit.Examined{Name: d.Name, Key: d.Data.Key, ETag: d.Data.ETag, Size: d.Data.Size, Depth: audit.Parsed, At: o.Ended, Condition: c}
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What was seen and found is there in the next run, and what is there no more is
// forgotten.
func TestRemembers(t *testing.T) {
	l := open(t, newPath(t))
	first := seen(noon, 1000, 2000, 3000)
	do(t, l.Recall(first))
	if first.Memory != nil || !first.Verification.Remembers {
		t.Errorf("at first it remembers %+v, %+v", first.Memory, first.Verification)
	}
	do(t, l.Note(first))
	do(t, l.Keep(first.Store, found(first, 0, audit.Intact)))
	do(t, l.Keep(first.Store, found(first, 2, audit.Damaged)))

	next := seen(noon.Add(time.Hour), 1000, 2000, 3000, 4000)
	next.Created = audit.Is(audit.Document{Body: []byte("other"), VersionID: "v2"})
	do(t, l.Recall(next))
	if m := next.Memory; m == nil || !m.Since.Equal(noon) || !m.Last.Equal(noon) || string(m.Created.Now.Body) != "created" || !m.Spec.Now.Missing || len(m.Altered) > 0 {
		t.Errorf("it remembers %+v", m)
	}
	got := next.Verification.Snapshots
	if len(got) != 2 || got[0].Condition != audit.Intact || got[1].Condition != audit.Damaged || !got[0].Remembered || !got[0].At.Equal(noon) {
		t.Errorf("it remembers %+v", got)
	}
	do(t, l.Note(next))

	later := seen(noon.Add(2*time.Hour), 1000)
	do(t, l.Recall(later))
	if m := later.Memory; string(m.Created.Before.Body) != "created" || string(m.Created.Now.Body) != "other" || !m.Created.Changed.Equal(noon.Add(time.Hour)) ||
		m.Window.Length != 13*time.Hour || !m.Since.Equal(noon) {
		t.Errorf("it remembers %+v", m)
	}
	do(t, l.Note(later))
	back := seen(noon.Add(3*time.Hour), 1000, 2000, 3000)
	do(t, l.Recall(back))
	if got := back.Verification.Snapshots; len(got) != 1 {
		t.Errorf("of snapshots that were gone it remembers %+v", got)
	}
}

// Another object at the same key is not the one that was verified.
func TestKnowsAnotherObject(t *testing.T) {
	l := open(t, newPath(t))
	first := seen(noon, 1000, 2000)
	do(t, l.Note(first))
	do(t, l.Keep(first.Store, found(first, 0, audit.Intact)))
	next := seen(noon, 1001, 2000)
	do(t, l.Recall(next))
	if len(next.Verification.Snapshots) > 0 {
		t.Errorf("it takes another object for the one that was verified: %+v", next.Verification.Snapshots)
	}
	if a := next.Memory.Altered; len(a) != 1 || a[0].First.Size != 1000 || a[0].Now.Size != 1001 || a[0].Key != next.Listing.Value.Snapshots[0].Data.Key {
		t.Errorf("altered: %+v", a)
	}
	other := seen(noon, 1000, 2000)
	other.Store.URL = "s3://kops/other"
	do(t, l.Recall(other))
	if other.Memory != nil || len(other.Verification.Snapshots) > 0 {
		t.Errorf("it knows a store that it never saw: %+v", other.Memory)
	}
}

// What was not seen changes nothing that is remembered.
func TestUnseenChangesNothing(t *testing.T) {
	l := open(t, newPath(t))
	first := seen(noon, 1000)
	do(t, l.Note(first))
	do(t, l.Keep(first.Store, found(first, 0, audit.Intact)))
	do(t, l.Note(&audit.Observation{Store: first.Store, Ended: noon.Add(time.Hour)}))
	next := seen(noon.Add(2*time.Hour), 1000)
	do(t, l.Recall(next))
	if m := next.Memory; string(m.Created.Now.Body) != "created" || !m.Created.Changed.IsZero() || len(next.Verification.Snapshots) != 1 {
		t.Errorf("it remembers %+v, %+v", m, next.Verification)
	}
}

// A longer window is remembered for 30 days.
func TestWindow(t *testing.T) {
	l := open(t, newPath(t))
	do(t, l.Note(seen(noon, 1)))
	for days, want := range map[int]time.Duration{20: 12 * time.Hour, 31: time.Minute} {
		o := seen(noon.Add(time.Duration(days)*audit.Day), 1)
		o.Listing.Value.Snapshots[0].Taken = o.Ended.Add(-time.Minute)
		o.Listing.Value.Snapshots[0].Data.LastModified = o.Ended.Add(-time.Minute)
		o.Listing.Value.Snapshots[0].Meta.LastModified = o.Ended.Add(-time.Minute)
		r := storeRecord{Window: audit.Reach{Length: 12 * time.Hour, At: noon}}
		if got := r.after(o).Window.Length; got != want {
			t.Errorf("after %d days the window is %v, want %v", days, got, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		make func(path string) error
		want error
		says string
	}{
		"a text": {func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("hello\n", 10_000)), 0o600) }, ErrForeign, "it is not a ledger"},
		"a database of another program": {func(p string) error {
			return edit(p, func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("x")); return err })
		}, ErrForeign, "another program"},
		"one of a newer program": {func(p string) error {
			if _, err := Open(p, 0); err != nil {
				return err
			}
			return edit(p, func(tx *bbolt.Tx) error { return tx.Bucket(aboutBucket).Put(formatKey, []byte("2")) })
		}, ErrNewer, "a newer backstop wrote it: it has format 2, and this program knows 1"},
		"one that was cut": {func(p string) error {
			l, err := Open(p, 0)
			if err == nil {
				err = l.Note(seen(noon, make([]int64, 300)...))
			}
			return errors.Join(err, os.Truncate(p, 8192))
		}, ErrForeign, ""},
		"a directory":         {func(p string) error { return os.Mkdir(p, 0o700) }, nil, "directory"},
		"no directory for it": {func(p string) error { return os.RemoveAll(filepath.Dir(p)) }, os.ErrNotExist, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			do(t, c.make(path))
			_, err := Open(path, time.Second)
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "open the ledger "+path+": ") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func edit(path string, change func(tx *bbolt.Tx) error) error {
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	return errors.Join(db.Update(change), db.Close())
}

// Who cannot have the file for as long as he waits says so.
func TestBusy(t *testing.T) {
	path := newPath(t)
	l := open(t, path)
	l.wait = time.Millisecond
	db, err := bbolt.Open(path, 0o600, nil)
	do(t, err)
	defer db.Close()
	if err := l.Note(seen(noon, 1)); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "write the ledger "+path+": another process holds it") {
		t.Errorf("got %v", err)
	}
	if _, err := Open(path, time.Millisecond); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v", err)
	}
}

// Half of what was written never shows, and nothing is left beside the file.
func TestLeavesNothingBeside(t *testing.T) {
	path := newPath(t)
	do(t, open(t, path).Note(seen(noon, 1)))
	entries, err := os.ReadDir(filepath.Dir(path))
	do(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"ledger"}) {
		t.Errorf("the directory has %q", names)
	}
}

// An empty file is no memory yet.
func TestEmptyFile(t *testing.T) {
	path := newPath(t)
	do(t, os.WriteFile(path, nil, 0o600))
	do(t, open(t, path).Note(seen(noon, 1)))
}

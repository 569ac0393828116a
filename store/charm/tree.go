package charm

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"backstop/store/snapshot"
)

// The places of the etcd snap.
const (
	SnapDir    = "/var/snap/etcd"
	CurrentDir = SnapDir + "/current"
	CommonDir  = SnapDir + "/common"
	StorageDir = "/media/etcd/data"

	ConfigFile    = "etcd.conf.yml"
	OldConfigFile = "etcd.conf"    // of etcd 2.x
	MigratedFile  = "etcd.conf.2x" // the same after the migration
)

// A DataDir is a directory that is, or looks like, a data directory of etcd.
type DataDir struct {
	// Path is relative to the directory that was looked at; "." is that itself.
	Path string `json:"path"`
	// Member says that it has a directory member.
	Member bool `json:"member"`
	// WALs counts the files member/wal/*.wal.
	WALs int `json:"wals"`
	// Snaps counts the files member/snap/*.snap, which hold the v2 store.
	Snaps int `json:"snaps"`
	// DBSize is the size of member/snap/db in bytes; 0 where there is none.
	DBSize int64 `json:"db_bytes"`
	// DB is what is in member/snap/db; nil where it was not read.
	DB *snapshot.Result `json:"db,omitempty"`
	// Unread says why DB is nil though the file is there.
	Unread string `json:"unread,omitempty"`
}

// smallestDB is below what a database of etcd has.
const smallestDB = 20 << 10

// Facts are those of its database; nil where they are not known.
func (d DataDir) Facts() *snapshot.Facts {
	if d.DB == nil {
		return nil
	}
	return d.DB.Facts
}

// Full reports whether it holds an etcd's data: a log, and a database with a
// revision or, of an etcd 2, snapshots. One whose database could not be read is
// taken for full, by its size. What an etcd leaves that could not start has a
// database of 16 MB and no log.
func (d DataDir) Full() bool {
	if d.WALs == 0 {
		return false
	}
	if f := d.Facts(); f != nil {
		return max(f.Revision, f.CompactRevision) >= 1
	}
	return d.DBSize >= smallestDB || d.Snaps > 0
}

// Doubtful says that it was not read what the database holds.
func (d DataDir) Doubtful() bool { return d.WALs > 0 && d.DBSize > 0 && d.Facts() == nil }

// Revision is that of the database; 0 where it is not known.
func (d DataDir) Revision() int64 {
	if f := d.Facts(); f != nil {
		return max(f.Revision, f.CompactRevision)
	}
	return 0
}

// Keys is the number of keys; -1 where it is not known.
func (d DataDir) Keys() int64 {
	if f := d.Facts(); f != nil {
		return f.Keys
	}
	return -1
}

// A Tree sorts the files of a directory into data directories.
type Tree struct{ dirs map[string]*DataDir }

// Add takes a file, by its path relative to the directory. It reports the data
// directory to which it is the database.
func (t *Tree) Add(rel string, size int64) (dir string, isDB bool) {
	parts := strings.Split(path.Clean(rel), "/")
	at := slices.Index(parts, "member")
	if at < 0 {
		if path.Ext(rel) == ".wal" { // of a wal-dir that is the data-dir, as with Juju's storage
			t.at(path.Dir(path.Clean(rel))).WALs++
		}
		return "", false
	}
	dir = path.Join(append([]string{"."}, parts[:at]...)...)
	d := t.at(dir)
	d.Member = true
	rest := strings.Join(parts[at+1:], "/")
	switch {
	case rest == "snap/db":
		d.DBSize = size
		return dir, true
	case path.Dir(rest) == "wal" && path.Ext(rest) == ".wal":
		d.WALs++
	case path.Dir(rest) == "snap" && path.Ext(rest) == ".snap":
		d.Snaps++
	}
	return "", false
}

func (t *Tree) at(dir string) *DataDir {
	d := t.dirs[dir]
	if d == nil {
		d = &DataDir{Path: dir}
		if t.dirs == nil {
			t.dirs = map[string]*DataDir{}
		}
		t.dirs[dir] = d
	}
	return d
}

// SetDB says what is in a database, or why it was not read.
func (t *Tree) SetDB(dir string, r *snapshot.Result, unread string) {
	d := t.at(dir)
	d.DB, d.Unread = r, unread
}

// Dirs gives the data directories, by path.
func (t *Tree) Dirs() []DataDir {
	var all []DataDir
	for _, d := range t.dirs {
		all = append(all, *d)
	}
	slices.SortFunc(all, func(a, b DataDir) int { return cmp.Compare(a.Path, b.Path) })
	return all
}

// Within gives a path on the unit relative to the directory that was looked at: a
// copy of /var/snap/etcd/current, or the directory at real itself. revision is the
// snap revision that it is known to be of; empty where that is not known.
func Within(name, real, revision string) (rel string, ok bool) {
	name = path.Clean(name)
	for _, root := range []string{CurrentDir, real} {
		if root == "" {
			continue
		}
		if name == root {
			return ".", true
		}
		if below, found := strings.CutPrefix(name, strings.TrimSuffix(root, "/")+"/"); found {
			return below, true
		}
	}
	if revision != "" {
		return Within(name, SnapDir+"/"+revision, "")
	}
	return "", false
}

// PinnedRevision gives the snap revision of a path as /var/snap/etcd/123/…, which
// does not follow when snapd refreshes the snap; empty for any other.
func PinnedRevision(name string) string {
	below, ok := strings.CutPrefix(path.Clean(name), SnapDir+"/")
	if !ok {
		return ""
	}
	first, _, _ := strings.Cut(below, "/")
	if strings.Trim(first, "x0123456789") == "" { // x1 is one that was installed by hand
		return first
	}
	return ""
}

package preflight

import (
	"path"
	"strings"
	"time"

	"backstop/store/charm"
)

// An Input is all that was seen.
type Input struct {
	Units []Unit
	// Before is an earlier copy of the first unit's configuration; nil without one.
	Before *charm.Config
	// Snapshots are the charm's snapshots; nil where nobody gave them.
	Snapshots *Snapshots
	// Unseen says what was asked for and could not be looked at.
	Unseen []string
	// Now is the time of judgement.
	Now time.Time
}

// A Unit is one unit of the charm.
type Unit struct {
	// Name is the unit, as in etcd0; File is where the configuration was read.
	Name, File string
	Config     charm.Config
	// Beside is what lies in the configuration's folder; nil where the file was
	// given by another name, as a copy is, so that its folder says nothing.
	Beside *Beside
	// Data is what lies in /var/snap/etcd/current; nil where it was not given.
	Data *Data
}

// Beside are the files of etcd 2.x.
type Beside struct{ OldConfig, Migrated bool }

// Data is what was seen of a unit's data.
type Data struct {
	// Root names the directory that was looked at, and Real is where it really lies.
	Root, Real string
	// Revision is the snap revision that it is of; empty where that does not show.
	Revision string
	// Dirs are the data directories in it, by paths relative to it, and Elsewhere
	// those that were seen at other places, by whole paths.
	Dirs, Elsewhere []charm.DataDir
	// Whole says that all places were looked at where the charm may have data, as
	// collect.sh does.
	Whole bool
}

// Snapshots are those of one store.
type Snapshots struct {
	Store string
	// All are sorted by the latest time at which they can have been written.
	All []Snapshot
	// NotOpened counts the older ones that were left unread.
	NotOpened int
}

// A Snapshot is one of them.
type Snapshot struct {
	File string // its name, without the folder
	Name charm.Name
	// Stored is the file's own date, by the store's clock.
	Stored time.Time
	// Zone is how far the unit's clock is ahead of UTC; nil where nobody told.
	Zone *time.Duration
	// Recorded is the sha256 that the action told of it; empty where nobody gave it.
	Recorded string
	charm.Archive
}

// Written is the latest time at which it can have been written: its date, unless
// the time in its name is earlier even in the zone that is furthest behind.
func (s Snapshot) Written() time.Time {
	at := s.Name.Latest()
	if s.Zone != nil {
		at = s.Name.In(*s.Zone)
	}
	if s.Stored.Before(at) {
		return s.Stored
	}
	return at
}

// zoneDoubt is how far the date of a file may lie from its name before the name
// might be that of a copy, or of a unit in another zone than UTC.
const zoneDoubt = time.Hour

// Dated reports whether it is certain when it was written, to an hour or so.
func (s Snapshot) Dated() bool {
	return s.Zone != nil || s.Stored.Sub(s.Name.Clock).Abs() <= zoneDoubt
}

// place is where a data directory is on the unit, for sentences: below the snap's
// directory, unless the configuration speaks of the one that was looked at.
func (u Unit) place(dir charm.DataDir) string {
	if path.IsAbs(dir.Path) || u.Data == nil {
		return dir.Path
	}
	root := charm.CurrentDir
	if _, ok := charm.Within(u.Config.DataDir, u.Data.Real, ""); ok && !strings.HasPrefix(u.Config.DataDir, charm.SnapDir) {
		root = u.Data.Real
	}
	return path.Join(root, dir.Path)
}

// configured gives the data directory that the configuration names. looked is false
// where it lies outside of what was looked at; one that is not there is empty.
func (u Unit) configured() (dir charm.DataDir, looked bool) {
	if u.Data == nil || u.Config.DataDir == "" {
		return charm.DataDir{}, false
	}
	name := path.Clean(u.Config.DataDir)
	for _, d := range u.Data.Elsewhere {
		if d.Path == name {
			return d, true
		}
	}
	if u.Data.Whole && (name == charm.StorageDir || strings.HasPrefix(name, charm.StorageDir+"/") || charm.PinnedRevision(name) != "" && charm.PinnedRevision(name) != u.Data.Revision) {
		return charm.DataDir{Path: name}, true
	}
	rel, ok := charm.Within(name, u.Data.Real, u.Data.Revision)
	if !ok {
		return charm.DataDir{}, false
	}
	rel = path.Clean(rel)
	for _, d := range u.Data.Dirs {
		if d.Path == rel {
			return d, true
		}
	}
	return charm.DataDir{Path: rel}, true
}

// full gives the directories that hold data, but for copies that snapd keeps of
// other revisions.
func (u Unit) full() []charm.DataDir {
	if u.Data == nil {
		return nil
	}
	var all []charm.DataDir
	for _, d := range u.Data.Dirs {
		if d.Full() {
			all = append(all, d)
		}
	}
	for _, d := range u.Data.Elsewhere {
		if d.Full() && d.Path == charm.StorageDir {
			all = append(all, d)
		}
	}
	return all
}

// others are the full directories but for the one that is configured.
func (u Unit) others() []charm.DataDir {
	own, _ := u.configured()
	var all []charm.DataDir
	for _, d := range u.full() {
		if d.Path != own.Path {
			all = append(all, d)
		}
	}
	return all
}

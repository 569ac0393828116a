package charm

import (
	"path"
	"strings"
	"time"
)

// A Kind says what a file is, by its name.
type Kind string

// The kinds of files.
const (
	// Snapshot is what the charm's action `snapshot` makes.
	Snapshot Kind = "snapshot"
	// PreRestore is the copy of the data directory that its action `restore` makes
	// before it begins, if asked to (skip-backup=false). It is a plain tar archive,
	// whatever its name says.
	PreRestore Kind = "pre-restore"
	// Operator is a backup of the charmed-etcd operator: a plain snapshot.
	Operator Kind = "operator"
)

// A Name is what the name of a file tells.
type Name struct {
	Kind Kind
	// Clock is the time in the name as if it were UTC. It is the unit's local
	// time, and the name does not say of which zone.
	Clock time.Time
}

// The names of the files, as Go writes times (src/actions/snapshot and
// src/actions/restore.py of the charm, src/managers/backup.py of the operator).
const (
	snapshotName   = "etcd-snapshot-2006-01-02-15.04.05.tar.gz"
	preRestoreName = "etcd-data-20060102-150405.tar.gz"
	operatorName   = "2006-01-02T15:04:05Z"
)

// ParseName reads the last element of a key or a path.
func ParseName(key string) (Name, bool) {
	base := path.Base(key)
	for kind, layout := range map[Kind]string{Snapshot: snapshotName, PreRestore: preRestoreName, Operator: operatorName} {
		if t, err := time.Parse(layout, base); err == nil && len(base) == len(layout) {
			return Name{Kind: kind, Clock: t}, true
		}
	}
	return Name{}, false
}

// Root gives the folder that a snapshot lies in, judging by the key alone; empty
// for a whole bucket. What lies deeper belongs to a folder of its own.
func Root(key string) (root string, ok bool) {
	if _, ok := ParseName(key); !ok {
		return "", false
	}
	if i := strings.LastIndexByte(key, '/'); i >= 0 {
		return key[:i], true
	}
	return "", true
}

// The zones of the world lie between 14 hours ahead of UTC and 12 behind.
const (
	zoneAhead  = 14 * time.Hour
	zoneBehind = 12 * time.Hour
)

// Latest is the latest time at which the file can have been written: no zone's
// clock showed what is in its name after that.
func (n Name) Latest() time.Time { return n.Clock.Add(zoneBehind) }

// Earliest is the earliest such time.
func (n Name) Earliest() time.Time { return n.Clock.Add(-zoneAhead) }

// In gives the time for a unit whose zone is known, as its clock's distance from
// UTC: 2 h for UTC+2.
func (n Name) In(offset time.Duration) time.Time { return n.Clock.Add(-offset) }

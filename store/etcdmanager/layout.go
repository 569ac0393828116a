package etcdmanager

import (
	"strings"
	"time"
)

// The names that etcd-manager gives to the objects of a backup store
// (pkg/backup/store.go, pkg/commands/store.go, pkg/commands/vfs.go).
const (
	ControlDir  = "control"
	CreatedFile = "etcd-cluster-created"
	SpecFile    = "etcd-cluster-spec"
	CommandFile = "_command.json"
	DataFile    = "etcd.backup.gz"
	MetaFile    = "_etcd_backup.meta"

	CreatedPath = ControlDir + "/" + CreatedFile
	SpecPath    = ControlDir + "/" + SpecFile
)

// A Kind says what an object of a store is.
type Kind int

// The kinds of objects of a store.
const (
	Stray         Kind = iota // etcd-manager would not write it
	Created                   // control/etcd-cluster-created
	Spec                      // control/etcd-cluster-spec
	QueuedCommand             // control/TIME-000000/_command.json
	Data                      // NAME/etcd.backup.gz
	Meta                      // NAME/_etcd_backup.meta
)

// Classify tells what the object at rel, a key relative to the store's root,
// is, and for Data and Meta the name of the snapshot.
//
// Any directory directly below the root that holds a meta file is a backup to
// etcd-manager, whatever its name (pkg/backup/vfs.go); one deeper down it would
// list too, but look for at the wrong place when it restores, so that is Stray
// here. Likewise it takes any _command.json anywhere below control/ for a
// command (pkg/commands/vfs.go).
func Classify(rel string) (kind Kind, snapshot string) {
	switch rel {
	case CreatedPath:
		return Created, ""
	case SpecPath:
		return Spec, ""
	}
	dir, file, ok := cutLast(rel)
	if !ok {
		return Stray, ""
	}
	if dir == ControlDir || strings.HasPrefix(dir, ControlDir+"/") {
		if file == CommandFile {
			return QueuedCommand, ""
		}
		return Stray, ""
	}
	if strings.Contains(dir, "/") {
		return Stray, ""
	}
	switch file {
	case DataFile:
		return Data, dir
	case MetaFile:
		return Meta, dir
	}
	return Stray, ""
}

// InControl reports whether rel lies below control/.
func InControl(rel string) bool { return strings.HasPrefix(rel, ControlDir+"/") }

// Root finds the root of the store that key belongs to, judging by the key
// alone: what comes before control/etcd-cluster-created, -spec or a queued
// command, and before a snapshot directory whose name etcd-manager would write.
// The root is empty when the store is the whole bucket; ok is false for a key
// that does not show a store. snapshot is whether it was a snapshot that did.
func Root(key string) (root string, snapshot, ok bool) {
	dir, file, _ := cutLast(key)
	parent, name, nested := cutLast(dir)
	if !nested {
		parent, name = "", dir
	}
	switch file {
	case CreatedFile, SpecFile:
		return parent, false, name == ControlDir
	case CommandFile:
		grand, control, below := cutLast(parent)
		if !below {
			grand, control = "", parent
		}
		_, isTime := ParseName(name)
		return grand, false, control == ControlDir && isTime
	case DataFile, MetaFile:
		_, isTime := ParseName(name)
		return parent, true, isTime
	}
	return "", false, false
}

// ParseName gives the time in the name of a snapshot or of a queued command:
// UTC to the second, as in 2026-11-30T18:06:17Z-000005. The suffix may be
// anything, or missing (pkg/backupcontroller/parse.go). It counts from 1 in
// each process, so it says nothing about order.
//
// etcd-manager's cleanup also takes a name with another offset than Z if it
// has no suffix; it never writes one, so that is no name here.
func ParseName(name string) (time.Time, bool) {
	i := strings.Index(name, "Z-")
	switch {
	case i >= 0:
		name = name[:i+1]
	case !strings.HasSuffix(name, "Z"):
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, name)
	if err != nil {
		return time.Time{}, false
	}
	return t.UTC(), true
}

// FormatName gives the name that etcd-manager gives to the n-th snapshot of a
// process, taken at t (pkg/backup/vfs.go).
func FormatName(t time.Time, n int) string {
	digits := []byte("000000")
	for i := len(digits) - 1; i >= 0 && n > 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return t.UTC().Format(time.RFC3339) + "-" + string(digits)
}

// KopsNames gives the cluster and the etcd cluster from a store's root in
// kops's default layout, CLUSTER/backups/etcd/NAME, possibly below a prefix
// (pkg/model/components/etcdmanager/options.go). Of another layout it gives an
// empty cluster and the last part of the root.
func KopsNames(root string) (cluster, etcd string) {
	parts := strings.Split(root, "/")
	n := len(parts)
	if n >= 4 && parts[n-3] == "backups" && parts[n-2] == "etcd" {
		return parts[n-4], parts[n-1]
	}
	return "", parts[n-1]
}

// cutLast cuts s at its last slash.
func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}

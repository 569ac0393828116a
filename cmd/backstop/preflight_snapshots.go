package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"backstop/audit"
	"backstop/rules/preflight"
	"backstop/store"
	"backstop/store/charm"
)

// snapshotsOpened is how many of the newest snapshots are read.
const snapshotsOpened = 20

// snapshots looks at --snapshots. It fails only for what is wrong with the command
// line.
func (l *preflightLook) snapshots(ctx context.Context) error {
	sums, err := l.o.recordedSums()
	if err != nil {
		return err
	}
	zone, err := l.zoneOf()
	if err != nil {
		return err
	}
	b, prefix, only, err := l.openSnapshots(ctx)
	if err != nil {
		var f *failure
		if errors.As(err, &f) {
			return err
		}
		l.unseen("%v", err)
		return nil
	}
	objects, err := listSnapshots(ctx, b, prefix, only)
	if err != nil {
		l.unseen("%v", err)
		return ctx.Err()
	}
	s := &preflight.Snapshots{Store: l.o.snapshots}
	for _, o := range objects {
		name, _ := charm.ParseName(o.Key)
		file := path.Base(o.Key)
		s.All = append(s.All, preflight.Snapshot{File: file, Name: name, Stored: o.LastModified, Zone: zone, Recorded: sums[file]})
	}
	byTime := func(a, b preflight.Snapshot) int {
		return cmp.Or(a.Written().Compare(b.Written()), a.Name.Clock.Compare(b.Name.Clock), cmp.Compare(a.File, b.File))
	}
	slices.SortFunc(s.All, byTime)
	if n := len(s.All) - snapshotsOpened; n > 0 {
		s.All, s.NotOpened = s.All[n:], n
	}
	for i, x := range s.All {
		at := slices.IndexFunc(objects, func(o audit.Object) bool { return path.Base(o.Key) == x.File })
		s.All[i].Archive = l.read(ctx, b, objects[at])
	}
	l.in.Snapshots = s
	return ctx.Err()
}

// openSnapshots opens the place. only is the one file that was named.
func (l *preflightLook) openSnapshots(ctx context.Context) (b store.Bucket, prefix, only string, err error) {
	at, err := store.ParseTarget(l.o.snapshots)
	if err != nil {
		return nil, "", "", usagef("--snapshots: %w", err)
	}
	if at.Dir != "" {
		dir := at.Dir
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			dir, only = filepath.Split(dir)
			dir = cmp.Or(dir, ".")
		}
		d, prefix, err := store.OpenDir(dir)
		if err != nil {
			return nil, "", "", err
		}
		return d, prefix, only, nil
	}
	ts, pace, err := l.targets([]string{l.o.snapshots}, &l.o.options)
	if err != nil {
		return nil, "", "", err
	}
	b, prefix, err = l.open(ctx, ts[0], pace, &l.o.options)
	if _, ok := charm.ParseName(prefix); ok {
		only = path.Base(prefix)
		if prefix = path.Dir(prefix); prefix == "." {
			prefix = ""
		}
	}
	return b, prefix, only, err
}

// listSnapshots gives the snapshots of one folder. Those of several folders are of
// several units, and are not compared.
func listSnapshots(ctx context.Context, b store.Bucket, prefix, only string) ([]audit.Object, error) {
	below := prefix
	if below != "" {
		below += "/"
	}
	folders := map[string][]audit.Object{}
	for o, err := range b.List(ctx, store.ListInput{Prefix: below}) {
		if err != nil {
			return nil, err
		}
		if root, ok := charm.Root(o.Key); ok && (only == "" || path.Base(o.Key) == only) {
			folders[root] = append(folders[root], o)
		}
	}
	if own, ok := folders[prefix]; ok {
		return own, nil
	}
	switch len(folders) {
	case 0:
		return nil, fmt.Errorf("look for snapshots in %s: no file there has the name of one (etcd-snapshot-….tar.gz, etcd-data-….tar.gz, or a time such as 2026-11-30T18:06:47Z)", cmp.Or(b.URL(prefix), "the bucket"))
	case 1:
		for _, all := range folders {
			return all, nil
		}
	}
	var names []string
	for name := range folders {
		names = append(names, b.URL(name))
	}
	slices.Sort(names)
	return nil, fmt.Errorf("look for snapshots in %s: %d folders hold some, and one unit's are compared at a time; name one, as %s", b.URL(prefix), len(names), names[0])
}

// read reads one snapshot to its end.
func (l *preflightLook) read(ctx context.Context, b store.Bucket, o audit.Object) charm.Archive {
	s, err := b.Open(ctx, store.OpenInput{Key: o.Key, ETag: o.ETag})
	switch {
	case err != nil:
		return charm.Archive{Format: charm.NoFormat, Unread: err.Error()}
	case s.Unreadable != "":
		return charm.Archive{Format: charm.NoFormat, Unread: "it is " + s.Unreadable}
	}
	defer func() { _ = s.Close() }() // it was read
	a := charm.Read(s, charm.ReadOptions{Size: s.Size, MaxMemory: l.limit})
	if name, _ := charm.ParseName(o.Key); name.Kind == charm.PreRestore {
		a = a.AsDataCopy()
	}
	return a
}

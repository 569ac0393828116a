package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"backstop/rules/preflight"
	"backstop/store/charm"
	"backstop/store/snapshot"
)

// A preflightLook gathers what preflight judges.
type preflightLook struct {
	*program
	o     *preflightOptions
	limit int64
	zone  *time.Duration // of a bundle
	in    preflight.Input
}

func (l *preflightLook) unseen(format string, args ...any) {
	l.in.Unseen = append(l.in.Unseen, fmt.Sprintf(format, args...))
}

// look fails only for what is wrong with the command line.
func (l *preflightLook) look(ctx context.Context) error {
	for i, file := range l.o.confs {
		l.unit(ctx, i, file)
	}
	for _, file := range l.o.bundles {
		l.bundle(file)
	}
	if l.o.before != "" {
		if c, err := readConf(l.o.before); err != nil {
			l.unseen("%v", err)
		} else {
			l.in.Before = &c
		}
	}
	if l.o.snapshots != "" {
		if err := l.snapshots(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func readConf(file string) (charm.Config, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return charm.Config{}, err
	}
	c, err := charm.ParseConfig(body)
	if err != nil {
		return c, fmt.Errorf("read configuration %s: %w", file, err)
	}
	return c, nil
}

// unit looks at a unit of which files are given.
func (l *preflightLook) unit(ctx context.Context, i int, file string) {
	c, err := readConf(file)
	if err != nil {
		l.unseen("%v", err)
		return
	}
	u := preflight.Unit{Name: c.Name, File: file, Config: c}
	if u.Name == "" {
		u.Name = file
	}
	if filepath.Base(file) == charm.ConfigFile {
		u.Beside = l.beside(filepath.Dir(file))
	}
	if i < len(l.o.data) {
		u.Data = l.data(ctx, u.Name, l.o.data[i])
	}
	l.in.Units = append(l.in.Units, u)
}

// beside looks what else lies in the folder of the configuration.
func (l *preflightLook) beside(dir string) *preflight.Beside {
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.unseen("%v", err)
		}
		return err == nil
	}
	return &preflight.Beside{OldConfig: has(charm.OldConfigFile), Migrated: has(charm.MigratedFile)}
}

// data looks through a directory for data directories, and reads their databases. It
// follows no link below it.
func (l *preflightLook) data(ctx context.Context, unit, dir string) *preflight.Data {
	d := &preflight.Data{Root: dir}
	real, err := filepath.Abs(dir)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		l.unseen("%s: %v", unit, err)
		return d
	}
	d.Real = filepath.ToSlash(real)
	d.Revision = charm.PinnedRevision(charm.SnapDir + "/" + filepath.Base(real))
	var tree charm.Tree
	err = filepath.WalkDir(real, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			l.unseen("%s: %v", unit, err)
			return nil
		}
		if !e.Type().IsRegular() {
			return ctx.Err()
		}
		info, err := e.Info()
		if err != nil {
			l.unseen("%s: %v", unit, err)
			return nil
		}
		rel, err := filepath.Rel(real, name)
		if err != nil {
			return err
		}
		if at, isDB := tree.Add(filepath.ToSlash(rel), info.Size()); isDB {
			r, unread := l.database(name)
			tree.SetDB(at, r, unread)
		}
		return ctx.Err()
	})
	if err != nil {
		l.unseen("%s: %v", unit, err)
	}
	d.Dirs = tree.Dirs()
	return d
}

// databaseTries is how often a database is read that changes in between.
const databaseTries = 3

// database reads a database, again where etcd wrote to it meanwhile, and a page that
// it used again looks like damage.
func (l *preflightLook) database(name string) (*snapshot.Result, string) {
	for range databaseTries {
		r, changed, err := l.readDatabase(name)
		switch {
		case err != nil:
			return nil, err.Error()
		case r.Verdict == snapshot.Unverified:
			return nil, r.Reason
		case r.Verdict != snapshot.Damaged || !changed:
			return r, ""
		}
	}
	return nil, fmt.Sprintf("etcd writes to %s while it is read; give a copy that was made while etcd stood still", name)
}

func (l *preflightLook) readDatabase(name string) (r *snapshot.Result, changed bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }() // it was read
	before, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	got := snapshot.Verify(f, snapshot.Options{Size: before.Size(), Bare: true, MaxMemory: l.limit})
	after, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	return &got, before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime()), nil
}

// bundle reads what collect.sh made.
func (l *preflightLook) bundle(file string) {
	f, err := os.Open(file)
	if err != nil {
		l.unseen("%v", err)
		return
	}
	defer func() { _ = f.Close() }() // it was read
	b, err := charm.ReadBundle(f, l.limit)
	if err != nil {
		l.unseen("read bundle %s: %v", file, err)
		return
	}
	for _, what := range b.Unseen {
		l.unseen("%s: on the unit: %s", file, what)
	}
	if b.Config == nil {
		l.unseen("%s: the unit has no %s/%s: is etcd installed there, and is it the snap?", file, charm.CommonDir, charm.ConfigFile)
		return
	}
	c, err := charm.ParseConfig(b.Config)
	if err != nil {
		l.unseen("%s: read configuration: %v", file, err)
		return
	}
	if l.zone == nil {
		l.zone = &b.Zone
	}
	u := preflight.Unit{Name: c.Name, File: file, Config: c,
		Beside: &preflight.Beside{OldConfig: b.OldConfig, Migrated: b.Migrated},
		Data:   &preflight.Data{Root: file, Revision: b.Revision, Dirs: b.Dirs, Elsewhere: b.Elsewhere, Whole: true}}
	if u.Name == "" {
		u.Name = b.Unit
	}
	l.in.Units = append(l.in.Units, u)
}

package main

import (
	"time"

	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// Snapshots that are missing, late, damaged, or cannot be restored.
var snapshots = []situation{
	{name: "backups are late: the newest is two hours old",
		is:   func(w *scene) { w.prod().stops(2 * hour) },
		want: found{"main": "running WARNING: warning snapshot/late"}},
	{name: "backups have stopped a day ago",
		is:   func(w *scene) { w.prod().stops(day) },
		want: found{"main": "running CRITICAL: critical snapshot/stale"}},
	{name: "backups have stopped, and somebody copied the newest snapshot over itself an hour ago",
		is: func(w *scene) {
			s := w.prod().stops(20 * day)
			key := s.key(s.newest(), etcdmanager.MetaFile)
			o, _ := s.b.Stat(key)
			s.b.Put(key, o.Body, w.when(hour))
		},
		want: found{"main": "running CRITICAL: critical snapshot/stale"}},
	{name: "the newest snapshot is an empty object",
		is:   func(w *scene) { w.prod().stops(14*minute).takesOne(minute, nil) },
		want: found{"main": "running CRITICAL: critical snapshot/empty-object"}},
	{name: "an older snapshot is an empty object",
		is: func(w *scene) {
			s := w.prod()
			s.takesOne(10*minute, nil)
			s.takes(0)
		},
		want: found{"main": "running WARNING: warning snapshot/empty-object"}},
	{name: "a snapshot has a meta file and no data",
		is: func(w *scene) {
			s := w.prod()
			s.b.Purge(s.b.Keys()[1])
		},
		want: found{"main": "running WARNING: warning snapshot/incomplete"},
		says: []string{"a restore of it stops the live cluster and then fails"}},
	{name: "the newest meta file is not one",
		is: func(w *scene) {
			s := w.prod()
			s.b.Purge(s.key(s.newest(), etcdmanager.MetaFile))
			s.put(s.newest()+"/"+etcdmanager.MetaFile, []byte("<html>"), minute)
		},
		want: found{"main": "running WARNING: warning snapshot/bad-meta"}},
	{name: "old snapshots were moved to Glacier",
		is: func(w *scene) {
			s := w.prod()
			for _, key := range s.b.Keys()[:20] {
				o, _ := s.b.Stat(key)
				s.b.Purge(key)
				s.b.Put(key, o.Body, storetest.WithTime(o.Time), storetest.WithClass("GLACIER"))
			}
		},
		want: found{"main": "running WARNING: warning snapshot/archived"}},
	{name: "all snapshots are read to their end, and are intact",
		is: func(w *scene) {
			w.prod()
			w.verifies("new")
		},
		want: found{"main": "running OK"}},
	{name: "the newest snapshot was cut short",
		is: func(w *scene) {
			w.prod().stops(10*minute).takesOne(minute, filledSnapshot[:5000])
		},
		want: found{"main": "running CRITICAL: critical retention/last-good-expiring, critical snapshot/damaged"}},
	{name: "a byte of the newest snapshot was changed, and nothing is read",
		is: func(w *scene) {
			w.prod().stops(10*minute).takesOne(minute, changedSnapshot)
		},
		want: found{"main": "running OK"}},
	{name: "a byte of the newest snapshot was changed, and it is read",
		is: func(w *scene) {
			w.prod().stops(10*minute).takesOne(minute, changedSnapshot)
			w.flags = []string{"--verify", "newest"}
		},
		want: found{"main": "running CRITICAL: critical retention/last-good-expiring, critical snapshot/damaged"}},
	{name: "an old snapshot is damaged, and all are read",
		is: func(w *scene) {
			w.prod().takesOne(40*day+2*hour, changedSnapshot)
			w.verifies("new")
		},
		want: found{"main": "running WARNING: warning snapshot/damaged"}},
	{name: "the newest snapshot is too big for the memory that it may have",
		is: func(w *scene) {
			w.prod()
			w.flags = []string{"--verify", "newest", "--max-memory", "1MiB"}
		},
		want: found{"main": "running UNKNOWN: unknown snapshot/unverified"}},
	{name: "an older snapshot was restored this morning, and all are read",
		is: func(w *scene) {
			s := w.prod().stops(3 * hour)
			s.takesOne(4*hour, laterSnapshot).takes(2*hour, hour, minute)
			w.verifies("new")
		},
		want: found{"main": "running WARNING: warning snapshot/restored"}},
	{name: "etcd 3.4 still runs",
		is: func(w *scene) {
			s := w.cluster(400*day, func(c *clusterSpec) { c.version = "3.4.13" })
			s.version = "3.4.13"
			s.lives(400 * day)
		},
		want: found{"main": "running WARNING: warning snapshot/unrestorable-version"}},
	{name: "etcd 3.5.1 runs, which loses data",
		is: func(w *scene) {
			s := w.cluster(400*day, func(c *clusterSpec) { c.version = "3.5.1" })
			s.version = "3.5.1"
			s.lives(400 * day)
		},
		want: found{"main": "running WARNING: warning snapshot/known-bad-version"}},
	{name: "an old snapshot was overwritten last week with another content",
		is: func(w *scene) {
			s := w.prod()
			s.b.Put(s.b.Keys()[61], append(filledSnapshot[:len(filledSnapshot):len(filledSnapshot)], "x"...), w.when(7*day))
		},
		want: found{"main": "running CRITICAL: critical snapshot/altered"}},
	{name: "the newest snapshot was overwritten a minute later with another content",
		is: func(w *scene) {
			s := w.prod()
			s.put(s.newest()+"/"+etcdmanager.DataFile, append(filledSnapshot[:len(filledSnapshot):len(filledSnapshot)], "x"...), 0)
		},
		want: found{"main": "running CRITICAL: critical retention/last-good-expiring, critical snapshot/altered"}},
	{name: "an old snapshot was copied over itself last week, as to encrypt it anew",
		is: func(w *scene) {
			s := w.prod()
			s.b.Put(s.b.Keys()[61], filledSnapshot, w.when(7*day))
		},
		want: found{"main": "running OK"}},
	{name: "an upload was tried again, and left two equal versions",
		is: func(w *scene) {
			s := w.prod()
			s.put(s.newest()+"/"+etcdmanager.DataFile, filledSnapshot, 30e9)
		},
		want: found{"main": "running OK"}},
	{name: "two etcd-managers write to the store, or one tries again and again",
		is: func(w *scene) {
			s := w.prod()
			for a := hour - minute; a > minute; a -= 2 * minute {
				s.takes(a + 30e9)
			}
		},
		want: found{"main": "running WARNING: warning snapshot/too-frequent"}},
	{name: "the cleanup may delete nothing",
		is: func(w *scene) {
			s := w.prod()
			for a := 10 * day; a > hour; a -= 15 * minute {
				s.takes(a + minute)
			}
		},
		want: found{"main": "running WARNING: warning retention/cleanup-ineffective"}},
	{name: "a lifecycle rule deletes snapshots in a versioned bucket, and nothing removes their old versions",
		is: func(w *scene) {
			s := w.prod()
			for i := range 200 {
				name, ago := etcdmanager.FormatName(w.ago(300*day-time.Duration(i)*day), 1), 300*day-time.Duration(i)*day
				s.put(name+"/"+etcdmanager.DataFile, nil, ago, storetest.WithSize(20<<20))
				s.b.Delete(s.key(name, etcdmanager.DataFile), w.when(ago-90*day))
			}
		},
		want: found{"main": "running WARNING: warning retention/noncurrent-growth"}},
}

package main

import (
	"strings"
	"sync"
	"time"

	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// What looks odd and is well, what happens while backstop looks, and clocks.
var oddities = []situation{
	{name: "HA suffixes: three members take turns, each counting for itself",
		is: func(w *scene) {
			s := w.prod().stops(2 * hour)
			for i, n := range []int{41, 1, 42, 2, 7, 43, 3, 44} {
				ago := time.Duration(8-i)*15*minute - 14*minute
				s.takesNamed(etcdmanager.FormatName(w.ago(ago), n), ago, filledSnapshot)
			}
		},
		want: found{"main": "running OK"}},
	{name: "leader restarting hourly: it counts from one again, and takes a snapshot at once",
		is: func(w *scene) {
			s := w.prod().stops(day)
			for h := 24 * hour; h > 0; h -= hour {
				for i, ago := range []time.Duration{h, h - 15*minute, h - 30*minute, h - 45*minute, h - 59*minute} {
					if ago < hour || i == 0 {
						s.takesNamed(etcdmanager.FormatName(w.ago(ago), i+1), ago, filledSnapshot)
					}
				}
			}
		},
		want: found{"main": "running OK"}},
	{name: "rolling update: members are replaced, and each forces a snapshot",
		is: func(w *scene) {
			s := w.prod().stops(20 * minute)
			for _, ago := range []time.Duration{18, 17, 12, 11, 6, 5, 1} {
				s.takes(ago * minute)
			}
		},
		want: found{"main": "running OK"}},
	{name: "rolling update: of three weeks ago, and the command queue is empty",
		is:   func(w *scene) { w.prod().specBy("etcd-manager", 21*day, 3, "3.5.30") },
		want: found{"main": "running OK"}},
	{name: "spec rewritten today before the roll: the upgrade comes tomorrow",
		is: func(w *scene) {
			w.prod(func(c *clusterSpec) { c.version = "3.6.11" }).spec(3*hour, 3, "3.6.11")
		},
		want: found{"main": "running OK: info control/spec-mismatch"}},
	{name: "spec rewritten today before the roll: kops writes what etcd-manager wrote, with other spaces",
		is:   func(w *scene) { w.prod().spec(3*hour, 3, "3.5.30") },
		want: found{"main": "running OK"}},
	{name: "spec rewritten ten days ago, and nobody has rolled since",
		is: func(w *scene) {
			w.prod(func(c *clusterSpec) { c.version = "3.6.11" }).spec(10*day, 3, "3.6.11")
		},
		want: found{"main": "running WARNING: warning control/spec-mismatch"}},
	{name: "spec not written yet: kops has a new version, and kops update has not run",
		is:   func(w *scene) { w.prod(func(c *clusterSpec) { c.wanted = "3.6.11" }) },
		want: found{"main": "running OK"}},
	{name: "cilium and events stores nearly empty",
		is: func(w *scene) {
			w.prod(func(c *clusterSpec) { c.etcds = []string{"main", "events", "cilium"} })
			for _, etcd := range []string{"events", "cilium"} {
				s := w.tree("prod.example.com/backups/etcd/" + etcd).born(400 * day)
				for a := 59 * day; a > day; a -= day {
					s.takesOne(a, emptySnapshot)
				}
				for a := hour; a > 0; a -= 15 * minute {
					s.takesOne(a-minute, emptySnapshot)
				}
			}
		},
		want: found{"main": "running OK", "events": "running OK", "cilium": "running OK"}},
	{name: "a namespace was deleted, and the snapshots shrank",
		is: func(w *scene) {
			s := w.prod().stops(30 * minute)
			s.takesOne(16*minute, shrunkSnapshot).takesOne(minute, shrunkSnapshot)
		},
		want: found{"main": "running OK"}},

	{name: "upload in progress: the data is there, and the meta file is not yet",
		is: func(w *scene) {
			s := w.prod()
			s.put(etcdmanager.FormatName(w.ago(2*minute), 999)+"/"+etcdmanager.DataFile, filledSnapshot, 2*minute)
		},
		want: found{"main": "running OK"}},
	{name: "upload in progress: its meta file comes while backstop looks",
		is: func(w *scene) {
			s := w.prod()
			name := etcdmanager.FormatName(w.ago(12*minute), 999)
			s.put(name+"/"+etcdmanager.DataFile, filledSnapshot, 12*minute)
			w.once(reading, func() { s.put(name+"/"+etcdmanager.MetaFile, s.meta(name), 0) })
		},
		want: found{"main": "running OK"}},
	{name: "an upload broke off yesterday",
		is: func(w *scene) {
			s := w.prod()
			s.put(etcdmanager.FormatName(w.ago(day), 999)+"/"+etcdmanager.DataFile, filledSnapshot, day)
		},
		want: found{"main": "running WARNING: warning snapshot/incomplete"}},
	{name: "cleanup during our listing: a snapshot goes between two pages, of which the first had its meta file",
		is: func(w *scene) {
			s := w.prod()
			eleventh := s.b.Keys()[20:22] // its meta file is the last key of the first page
			w.fake.SetPageSize(21)
			w.once(listing, func() { s.b.Purge(eleventh[0]); s.b.Purge(eleventh[1]) })
		},
		want: found{"main": "running OK"}},
	{name: "cleanup during our listing: many snapshots go, half of each of which was listed",
		is: func(w *scene) {
			s := w.prod()
			keys := s.b.Keys()
			w.fake.SetPageSize(7)
			w.every(listing, 20, func(n int) {
				s.b.Purge(keys[8*n+6]) // the last key of the page, a meta file
				s.b.Purge(keys[8*n+7])
			})
		},
		want: found{"main": "running OK"}},
	{name: "cleanup during our listing: the meta file is deleted first, and we come between the two",
		is: func(w *scene) {
			s := w.prod()
			oldest := s.b.Keys()[0:2]
			s.b.Purge(oldest[0])
			w.once(reading, func() { s.b.Purge(oldest[1]) })
		},
		want: found{"main": "running OK"}},
	{name: "cleanup during our listing: a restore was carried out, and its command is gone when we read it",
		is: func(w *scene) {
			s := w.prod().queues(hour, "x")
			w.once(listing, func() {
				for _, key := range s.b.Keys() {
					if strings.HasSuffix(key, etcdmanager.CommandFile) {
						s.b.Purge(key)
					}
				}
			})
		},
		want: found{"main": "running OK"}},
	{name: "created is written while backstop looks: it was missing at the first look, and is there at the second",
		is: func(w *scene) {
			s := w.cluster(10*minute).spec(9*minute, 3, "3.5.30")
			w.once(listing, func() { s.created(0, 0) })
		},
		want: found{"main": "running OK"}},

	{name: "writer clock slow: by three days, so that names lie behind",
		is: func(w *scene) {
			s := w.tree(mainRoot)
			s.clock = -3 * day
			w.cluster(400 * day).born(400 * day)
			s.ladder(57*day, minute)
		},
		want: found{"main": "running WARNING: warning snapshot/writer-clock"}},
	{name: "writer clock slow: and backups have stopped",
		is: func(w *scene) {
			s := w.tree(mainRoot)
			s.clock = -3 * day
			w.cluster(400 * day).born(400 * day)
			s.ladder(57*day, day)
		},
		want: found{"main": "running CRITICAL: critical snapshot/stale"},
		says: []string{"is 24h old"}},
	{name: "writer clock fast: by an hour, so that names lie in the future",
		is: func(w *scene) {
			s := w.tree(mainRoot)
			s.clock = hour
			w.cluster(400 * day).born(400 * day)
			s.ladder(57*day, minute)
		},
		want: found{"main": "running WARNING: warning snapshot/writer-clock"}},
	{name: "writer clock fast: by two days, and backups have stopped a day ago",
		is: func(w *scene) {
			s := w.tree(mainRoot)
			s.clock = 2 * day
			w.cluster(400 * day).born(400 * day)
			s.ladder(57*day, day)
		},
		want: found{"main": "running CRITICAL: critical snapshot/stale"},
		says: []string{"is 24h old"}},
	{name: "writer clock slow on one node of three",
		is: func(w *scene) {
			s := w.prod().stops(2 * hour)
			for i := range 8 {
				s.clock = []time.Duration{0, 0, -2 * hour}[i%3]
				s.takes(time.Duration(8-i)*15*minute - 14*minute)
			}
		},
		want: found{"main": "running WARNING: warning snapshot/writer-clock"},
		says: []string{"a node that wrote others than the newest snapshot"}},
	{name: "our clock a day off: behind",
		is:   func(w *scene) { w.ourClockIs(-day); w.prod() },
		want: found{"main": "running WARNING: warning audit/clock-skew"}},
	{name: "our clock a day off: ahead",
		is:   func(w *scene) { w.ourClockIs(day); w.prod() },
		want: found{"main": "running WARNING: warning audit/clock-skew"}},
	{name: "our clock a day off: ahead, and backups have stopped",
		is:   func(w *scene) { w.ourClockIs(day); w.prod().stops(7 * hour) },
		want: found{"main": "running CRITICAL: critical snapshot/stale, warning audit/clock-skew"},
		says: []string{"h old"}},
	{name: "our clock ten minutes off",
		is:   func(w *scene) { w.off = 10 * minute; w.prod() },
		want: found{"main": "running WARNING: warning audit/clock-skew"}},
	{name: "our clock half a minute off",
		is:   func(w *scene) { w.off = 30 * time.Second; w.prod() },
		want: found{"main": "running OK"}},
}

// listing is a page of the listing of the main store, and reading is the read of
// an object in it.
func listing(r storetest.Request) bool {
	return r.Operation == "ListObjectsV2" && r.Query.Get("prefix") == mainRoot+"/"
}

func reading(r storetest.Request) bool {
	return r.Operation == "GetObject" && strings.HasPrefix(r.Key, mainRoot+"/")
}

// once does something after the first answer to a call, before the next.
func (w *scene) once(call func(storetest.Request) bool, do func()) {
	w.every(call, 1, func(int) { do() })
}

// every does something after each of the first answers to a call.
func (w *scene) every(call func(storetest.Request) bool, times int, do func(n int)) {
	var mu sync.Mutex
	n := 0
	w.fault = func(r storetest.Request) *storetest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if n < times && call(r) {
			n++
			do(n - 1)
		}
		return nil
	}
}

package main

import (
	"time"

	"backstop/store/etcdmanager"
)

// New clusters, those that never came to be, and those that were made again on
// purpose.
var births = []situation{
	{name: "all is well: a cluster of 400 days",
		is:   func(w *scene) { w.prod() },
		want: found{"main": "running OK"}},

	{name: "new cluster: kops update has run, and the nodes come up",
		is:   func(w *scene) { w.cluster(20*minute).spec(15*minute, 3, "3.5.30") },
		want: found{"main": "bootstrapping OK: info control/never-initialised"}},
	{name: "new cluster: kops update ran twice before the first boot",
		is: func(w *scene) {
			w.cluster(50*minute).spec(45*minute, 3, "3.5.30").spec(5*minute, 3, "3.6.11")
		},
		want: found{"main": "bootstrapping OK: info control/never-initialised"}},
	{name: "new cluster: described in kops long ago, applied for the first time just now",
		is:   func(w *scene) { w.cluster(90*day).spec(10*minute, 3, "3.5.30") },
		want: found{"main": "bootstrapping OK: info control/never-initialised"}},
	{name: "new cluster: etcd-manager made it a minute ago, and it has no snapshot yet",
		is:   func(w *scene) { w.cluster(10 * minute).born(minute) },
		want: found{"main": "running OK"}},
	{name: "new cluster: its first snapshot is being uploaded",
		is: func(w *scene) {
			s := w.cluster(10 * minute).born(minute)
			s.put(etcdmanager.FormatName(w.now, 1)+"/"+etcdmanager.DataFile, emptySnapshot, 0)
		},
		want: found{"main": "running OK"}},
	{name: "new cluster: an hour old, and nearly empty",
		is: func(w *scene) {
			s := w.cluster(70 * minute).born(time.Hour)
			for a := time.Hour - time.Second; a > 0; a -= 15 * minute {
				s.takesOne(a, emptySnapshot)
			}
		},
		want: found{"main": "running OK"}},
	{name: "new cluster: cilium's etcd was added to an old cluster, and has not formed yet",
		is: func(w *scene) {
			w.prod(withCilium)
			w.tree("prod.example.com/backups/etcd/cilium").spec(10*minute, 3, "3.5.30")
		},
		want: found{"main": "running OK", "cilium": "bootstrapping OK: info control/never-initialised"}},
	{name: "new cluster: one of this name was deleted last month, and its snapshots are still there",
		is: func(w *scene) {
			w.tree(mainRoot).lives(200*day).stops(30*day).loses(30*day, etcdmanager.CreatedPath, etcdmanager.SpecPath)
			w.cluster(20*minute).spec(15*minute, 3, "3.5.30")
		},
		want: found{"main": "bootstrapping OK: info control/never-initialised"}},
	{name: "new cluster: one of this name was deleted last month, and the new one runs since an hour",
		is: func(w *scene) {
			w.tree(mainRoot).lives(200*day).stops(30*day).loses(30*day, etcdmanager.CreatedPath, etcdmanager.SpecPath)
			s := w.cluster(70 * minute).born(60 * minute)
			s.takesOne(60*minute-time.Second, emptySnapshot).takes(45*minute, 30*minute, 15*minute)
		},
		want: found{"main": "running OK"}},

	{name: "never came to be: a spec was written a month ago, without kops's documents beside it",
		is:   func(w *scene) { w.tree(mainRoot).spec(30*day, 3, "3.5.30") },
		want: found{"main": "uninitialised WARNING: warning control/never-initialised"}},
	{name: "never came to be: kops has had the cluster for a month, and etcd-manager may not write",
		is: func(w *scene) { w.cluster(30*day).spec(30*day, 3, "3.5.30") },
		// An auditor cannot tell it from a cluster that lost created and all
		// its snapshots in a bucket of which nothing is kept.
		want: found{"main": "imminent CRITICAL: critical control/reset-imminent"}},
	{name: "never came to be: the cluster is described in kops and was never applied",
		is: func(w *scene) {
			c := clusterSpec{name: "plan.example.com", created: w.ago(day), members: 3, version: "3.5.30"}
			w.state.Put("plan.example.com/config", c.yaml("s3://kops-state"), w.when(day))
		},
		want: found{"not audited: s3://kops-state": "no-store"}},
	{name: "never a snapshot: a cluster of two years",
		is:   func(w *scene) { w.cluster(730 * day).born(730 * day) },
		want: found{"main": "running CRITICAL: critical snapshot/none"}},

	{name: "planned reset: nobody has told backstop",
		is:   func(w *scene) { w.prod().resetOnPurpose() },
		want: found{"main": "running CRITICAL: critical control/reseeded, critical retention/last-good-expiring"},
		says: []string{"acknowledged: [{rule: control/reseeded, event: "}},
	{name: "planned and acknowledged reset",
		is: func(w *scene) {
			s := w.prod().resetOnPurpose()
			w.config = "- url: s3://kops-state\n  acknowledged:\n  - {rule: control/reseeded, event: " + s.event(2*time.Hour) + ", reason: planned rebuild}\n"
		},
		want: found{"main": "running OK: info control/reseeded"},
		says: []string{"acknowledged (planned rebuild)"}},
	{name: "planned and acknowledged reset, and then one that nobody planned",
		is: func(w *scene) {
			s := w.prod().resetOnPurpose()
			s.loses(50*minute, etcdmanager.CreatedPath).specBy("etcd-manager", 49*minute, 3, "3.5.30").created(49*minute, 49*minute)
			s.takesOne(48*minute, emptySnapshot).takes(30*minute, 15*minute, minute)
			w.config = "- url: s3://kops-state\n  acknowledged:\n  - {rule: control/reseeded, event: " + s.event(2*time.Hour) + ", reason: planned rebuild}\n"
		},
		want: found{"main": "running CRITICAL: critical control/reseeded, critical retention/last-good-expiring, info audit/ignore"}},
}

// withCilium gives the cluster a third etcd beside main and events, without the
// events.
func withCilium(c *clusterSpec) { c.etcds = []string{"main", "cilium"} }

// withEvents gives the cluster the two that kops makes by itself.
func withEvents(c *clusterSpec) { c.etcds = []string{"main", "events"} }

package main

import (
	"fmt"
	"strings"
	"time"

	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// Clusters that sleep, are deleted, copied, replicated and kept.
var lives = []situation{
	{name: "hibernated nightly: asleep since eight in the evening, and the configuration says so",
		is:   func(w *scene) { w.now = at("2026-11-30T03:00:00Z"); w.prod().stops(7 * hour); w.config = nightly },
		want: found{"main": "running OK"}},
	{name: "hibernated nightly: asleep, and nobody has told backstop",
		is:   func(w *scene) { w.now = at("2026-11-30T03:00:00Z"); w.prod().stops(7 * hour) },
		want: found{"main": "running CRITICAL: critical snapshot/stale"},
		says: []string{"a deleted or hibernated one takes no backups"}},
	{name: "hibernated nightly: awake for half an hour, and the first snapshot is still to come",
		is: func(w *scene) {
			w.now = at("2026-11-30T07:30:00Z")
			w.prod().stops(11*hour + 30*minute)
			w.config = nightly
		},
		want: found{"main": "running OK"}},
	{name: "hibernated nightly: it should have been awake for three hours, and is not",
		is:   func(w *scene) { w.now = at("2026-11-30T10:00:00Z"); w.prod().stops(14 * hour); w.config = nightly },
		want: found{"main": "running CRITICAL: critical snapshot/stale"}},
	{name: "hibernated nightly: somebody deleted both control files while it was asleep",
		is: func(w *scene) {
			w.now = at("2026-11-30T03:00:00Z")
			w.prod().stops(7*hour).loses(90*minute, etcdmanager.CreatedPath, etcdmanager.SpecPath)
			w.config = nightly
		},
		want: found{"main": "armed CRITICAL: critical control/reset-armed"}},

	{name: "deleted cluster in a versioned bucket: beside others it is not missed",
		is: func(w *scene) {
			w.prod()
			w.deleted("old.example.com", 5*day)
		},
		want: found{"main": "running OK"}},
	{name: "deleted cluster in a versioned bucket: the only one that there was",
		is: func(w *scene) { w.deleted("old.example.com", 5*day) },
		want: found{"kops-state/old.example.com/backups/etcd/main": "uninitialised WARNING: warning bucket/orphan-store",
			"kops-state/old.example.com/backups/etcd/events": "uninitialised WARNING: warning bucket/orphan-store"}},
	{name: "deleted cluster in a versioned bucket: somebody asks for its store",
		is: func(w *scene) {
			w.prod()
			w.deleted("old.example.com", 5*day)
			w.places = []string{"s3://kops-state/old.example.com/backups/etcd/main"}
		},
		want: found{"kops-state/old.example.com/backups/etcd/main": "uninitialised WARNING: warning bucket/orphan-store"},
		says: []string{"2026-11-25 12:00:00Z"}},
	{name: "deleted cluster in a versioned bucket: the configuration still names its store",
		is: func(w *scene) {
			w.prod()
			w.deleted("old.example.com", 5*day)
			w.config = "- url: s3://kops-state\n- url: s3://kops-state/old.example.com/backups/etcd/main\n"
		},
		want: found{"main": "running OK", "kops-state/old.example.com/backups/etcd/main": "uninitialised WARNING: warning audit/store-vanished"}},
	{name: "deleted cluster in a versioned bucket: all of its store was deleted, and kops still lists the cluster",
		is:   func(w *scene) { w.prod().losesAll(5 * day) },
		want: found{"main": "armed CRITICAL: critical audit/store-vanished"},
		says: []string{"do NOT run kops update cluster --yes"}},
	{name: "deleted cluster in a versioned bucket: no person did it, but a lifecycle rule, kops's documents and all",
		is: func(w *scene) {
			w.lifecycle(expireAfter(90))
			w.deleted("prod.example.com", 5*day+12*hour)
		},
		want: found{"main": "armed CRITICAL: critical control/reset-armed, info lifecycle/cuts-ladder", "events": "armed CRITICAL: critical control/reset-armed, info lifecycle/cuts-ladder"}},
	{name: "deleted cluster, and its store was left behind",
		is: func(w *scene) {
			w.prod()
			w.tree("old.example.com/backups/etcd/main").lives(300 * day).stops(40 * day)
		},
		want: found{"main": "running OK", "kops-state/old.example.com/backups/etcd/main": "running WARNING: warning bucket/orphan-store"}},
	{name: "deleted with the store elsewhere: kops deletes what is below its own folder, and nothing else",
		is: func(w *scene) {
			w.kops("a.example.com", 400*day, withStore("s3://backups-eu/a/main"))
			b := w.bucket("backups-eu")
			w.treeIn(b, "a/main").lives(400 * day)
			w.treeIn(b, "old/main").lives(300 * day).stops(20 * day)
			w.places = []string{"s3://kops-state", "s3://backups-eu"}
		},
		want: found{"backups-eu/a/main": "running OK", "backups-eu/old/main": "running WARNING: warning bucket/orphan-store"}},
	{name: "deleted with the store elsewhere: only the backups are looked at, so that nobody knows",
		is: func(w *scene) {
			w.treeIn(w.bucket("backups-eu"), "old/main").lives(300 * day).stops(20 * day)
			w.places = []string{"s3://backups-eu"}
		},
		want: found{"backups-eu/old/main": "running CRITICAL: critical snapshot/stale"},
		says: []string{"Check that the cluster is meant to run"}},
	{name: "deleted with the store elsewhere: the configuration calls it an archive",
		is: func(w *scene) {
			w.treeIn(w.bucket("backups-eu"), "old/main").lives(300 * day).stops(20 * day)
			w.config = "- url: s3://backups-eu\n  role: archive\n"
		},
		want: found{"backups-eu/old/main": "archive, running OK: info snapshot/stale"}},

	{name: "copied store and the old tree: moved to another bucket a month ago, and kops knows",
		is: func(w *scene) {
			old := w.prod(withStore("s3://backups-eu/prod/main"))
			old.stops(30*day).copiesTo(w.bucket("backups-eu"), "prod/main", 30*day).ladder(30*day-hour, minute)
		},
		want: found{"main": "running WARNING: warning bucket/duplicate-tree", "backups-eu/prod/main": "running OK: info snapshot/copied-store"},
		says: []string{"keeps its backups at s3://backups-eu/prod/main"}},
	{name: "copied store and the old tree: moved, and control/ stayed behind",
		is: func(w *scene) {
			old := w.prod(withStore("s3://backups-eu/prod/main"))
			old.copiesTo(w.bucket("backups-eu"), "prod/main", hour, etcdmanager.ControlDir).spec(10*minute, 3, "3.5.30")
		},
		want: found{"main": "running WARNING: warning bucket/duplicate-tree", "backups-eu/prod/main": "imminent CRITICAL: critical control/reset-imminent, info snapshot/copied-store"}},
	{name: "copied store: backupStore was changed, nothing was copied, and kops update has run",
		is: func(w *scene) {
			w.prod(withStore("s3://backups-eu/prod/main"))
			w.treeIn(w.bucket("backups-eu"), "prod/main").spec(10*minute, 3, "3.5.30")
		},
		want: found{"main": "running WARNING: warning bucket/duplicate-tree", "backups-eu/prod/main": "imminent CRITICAL: critical control/reset-imminent"},
		says: []string{"its control/ did not come along"}},
	{name: "copied store: backupStore was changed to a folder beside the old one, nothing was copied, and kops update has run",
		is: func(w *scene) {
			w.prod(withStore("s3://kops-state/prod.example.com/elsewhere"))
			w.tree("prod.example.com/elsewhere").spec(10*minute, 3, "3.5.30")
		},
		want: found{"main": "running WARNING: warning bucket/duplicate-tree", "kops-state/prod.example.com/elsewhere": "imminent CRITICAL: critical control/reset-imminent"},
		says: []string{"its control/ did not come along"}},
	{name: "copied store: the copy is what etcd-manager writes to, for two days",
		is: func(w *scene) {
			b := w.bucket("backups-eu")
			w.treeIn(w.fake.CreateBucket("old"), "prod/main").lives(100*day).stops(2*day).copiesTo(b, "prod/main", 2*day).ladder(2*day, minute)
			w.places = []string{"s3://backups-eu"}
		},
		want: found{"backups-eu/prod/main": "running OK: info snapshot/copied-store"}},
	{name: "copied store: nobody writes to the copy",
		is: func(w *scene) {
			b := w.bucket("backups-eu")
			w.treeIn(w.fake.CreateBucket("old"), "prod/main").lives(100*day).stops(2*day).copiesTo(b, "prod/main", 2*day)
			w.places = []string{"s3://backups-eu"}
		},
		want: found{"backups-eu/prod/main": "running CRITICAL: critical snapshot/stale, info snapshot/copied-store"},
		says: []string{"is 2d old"}},

	{name: "copied store: nobody writes to the copy, and the name of one snapshot lies in the future",
		is: func(w *scene) {
			b := w.bucket("backups-eu")
			s := w.treeIn(w.fake.CreateBucket("old"), "prod/main").lives(100 * day).stops(2 * day)
			s = s.copiesTo(b, "prod/main", 2*day)
			s.takesNamed(etcdmanager.FormatName(w.ago(-5*day), 1), 2*day, filledSnapshot)
			w.places = []string{"s3://backups-eu"}
		},
		want: found{"backups-eu/prod/main": "running CRITICAL: critical snapshot/stale, info snapshot/copied-store"},
		says: []string{"is 2d old"}},

	{name: "snapshots-only archive, and the configuration says what it is",
		is: func(w *scene) {
			w.treeIn(w.bucket("cold"), "prod/main").ladder(300*day, 200*day)
			w.config = "- url: s3://cold\n  role: archive\n"
		},
		want: found{"cold/prod/main": "archive, armed OK: info control/reset-armed"}},
	{name: "snapshots-only archive, and nobody has told backstop",
		is: func(w *scene) {
			w.treeIn(w.bucket("cold"), "prod/main").ladder(300*day, 200*day)
			w.places = []string{"s3://cold"}
		},
		want: found{"cold/prod/main": "armed CRITICAL: critical control/reset-armed"}},
	{name: "replication target: S3 replicates, and the configuration says what it is",
		is: func(w *scene) {
			w.prod().replicatesTo(w.bucket("replica-us"))
			w.config = "- url: s3://kops-state\n- url: s3://replica-us\n  role: replica\n"
		},
		want: found{"main": "running OK", "replica-us/" + mainRoot: "replica, running OK"}},
	{name: "replication target: deletions by version are not replicated, so that all snapshots of ten days are there",
		is: func(w *scene) {
			s := w.treeIn(w.bucket("replica-us"), mainRoot).born(400 * day)
			for a := 10 * day; a > 0; a -= 15 * minute {
				s.takes(a)
			}
			w.config = "- url: s3://replica-us\n  role: replica\n"
		},
		want: found{"replica-us/" + mainRoot: "replica, running OK"}},
	{name: "replication target: replication has stopped a month ago",
		is: func(w *scene) {
			w.prod().replicatesTo(w.bucket("replica-us")).stops(30 * day)
			w.config = "- url: s3://replica-us\n  role: replica\n"
		},
		want: found{"replica-us/" + mainRoot: "replica, running OK: info snapshot/stale"}},
	{name: "replication target: the source lost its control files, and replication brought the delete markers along",
		is: func(w *scene) {
			w.prod().replicatesTo(w.bucket("replica-us")).loses(hour, etcdmanager.CreatedPath, etcdmanager.SpecPath)
			w.config = "- url: s3://replica-us\n  role: replica\n"
		},
		want: found{"replica-us/" + mainRoot: "replica, armed OK: info control/reset-armed"}},
	{name: "replication target: kops says that a cluster writes there, whatever the configuration says",
		is: func(w *scene) {
			w.prod().stops(day)
			w.config = "- url: s3://kops-state\n  role: replica\n"
		},
		want: found{"main": "running CRITICAL: critical snapshot/stale, info audit/ignore"}},

	{name: "configured, and not there: a prefix in which nothing was ever written",
		is: func(w *scene) {
			w.prod()
			w.config = "- url: s3://kops-state/typo.example.com/backups/etcd/main\n"
		},
		want: found{"kops-state/typo.example.com/backups/etcd/main": "uninitialised CRITICAL: critical audit/store-vanished"}},
	{name: "configured, and not there: another program's objects are all that is left",
		is: func(w *scene) {
			w.state.Put("logs.example.com/backups/etcd/main/today.log", []byte("x"), w.when(hour))
			w.config = "- url: s3://kops-state/logs.example.com/backups/etcd/main\n"
		},
		want: found{"kops-state/logs.example.com/backups/etcd/main": "uninitialised CRITICAL: critical audit/store-vanished"}},
	{name: "configured, and not there: the bucket does not exist",
		is:   func(w *scene) { w.config = "- url: s3://gone/prod/main\n" },
		want: found{"gone/prod/main": "unknown CRITICAL: critical audit/store-vanished, unknown bucket/unversioned, unknown lifecycle/unseen, info audit/blind"}},
	{name: "configured, and not there: it was deleted, and nobody knows of a kops cluster",
		is: func(w *scene) {
			w.treeIn(w.bucket("backups-eu"), "prod/main").lives(100 * day).losesAll(2 * hour)
			w.config = "- url: s3://backups-eu/prod/main\n"
		},
		want: found{"backups-eu/prod/main": "armed CRITICAL: critical audit/store-vanished"}},
	{name: "asked for, and not there: nobody says that a store should be",
		is:   func(w *scene) { w.places = []string{"s3://kops-state/typo.example.com"} },
		want: found{"not audited: s3://kops-state/typo.example.com": "no-store"}},
}

// nightly is a configuration for a cluster that sleeps from eight in the evening
// until seven in the morning.
const nightly = "- url: s3://kops-state\n  windows:\n  - {cron: \"0 20 * * *\", for: 11h, reason: hibernated at night}\n"

// withStore gives main a place of its own.
func withStore(url string) func(c *clusterSpec) {
	return func(c *clusterSpec) { c.store = map[string]string{"main": url} }
}

// deleted is a cluster with main and events that `kops delete cluster` deleted,
// its documents and its stores: all at once, and without their old versions.
func (w *scene) deleted(name string, ago time.Duration) {
	w.kops(name, 300*day, withEvents)
	for _, etcd := range []string{"main", "events"} {
		w.tree(fmt.Sprintf("%s/backups/etcd/%s", name, etcd)).lives(300 * day).stops(ago)
	}
	for _, key := range w.state.Keys() {
		if strings.HasPrefix(key, name+"/") {
			w.state.Delete(key, storetest.WithTime(w.ago(ago)))
		}
	}
}

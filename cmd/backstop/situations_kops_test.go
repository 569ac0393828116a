package main

import (
	"backstop/store/storetest"
)

// What kops says, and what the spec asks for.
var kopsSays = []situation{
	{name: "scale 3→1 by the owner: kops asks for one member, and has written the spec",
		is:   func(w *scene) { w.prod(func(c *clusterSpec) { c.members = 1 }).spec(hour, 1, "3.5.30") },
		want: found{"main": "running OK: info control/spec-shrinks"},
		says: []string{"the cluster is being scaled down"}},
	{name: "scale 3→1 by accident: configure-cluster ran without a count, and kops asks for three",
		is:   func(w *scene) { w.prod().spec(hour, 1, "3.5.30") },
		want: found{"main": "running CRITICAL: critical control/spec-shrinks"},
		says: []string{"kops asks for 3", "etcd-manager-ctl configure-cluster` defaults to one member"}},
	{name: "scale 3→1 by accident: configure-cluster ran without anything, and asks for etcd 3.2.24 too",
		is:   func(w *scene) { w.prod().spec(hour, 1, "3.2.24") },
		want: found{"main": "running CRITICAL: critical control/spec-shrinks, info control/spec-mismatch"}},
	{name: "scale 3→1 by nobody knows whom: the backups are looked at without kops",
		is: func(w *scene) {
			w.treeIn(w.bucket("backups-eu"), "prod/main").lives(100*day).spec(hour, 1, "3.5.30")
			w.places = []string{"s3://backups-eu"}
		},
		want: found{"backups-eu/prod/main": "running WARNING: warning control/spec-shrinks"}},
	{name: "scale 1→3 by the owner, before the roll",
		is: func(w *scene) {
			s := w.cluster(400 * day)
			s.members = 1
			s.lives(400*day).spec(hour, 3, "3.5.30")
		},
		want: found{"main": "running OK: info control/spec-mismatch"}},
	{name: "the spec asks for no members",
		is:   func(w *scene) { w.prod().spec(hour, 0, "3.5.30") },
		want: found{"main": "running CRITICAL: critical control/spec-shrinks"}},
	{name: "the spec asks for a version that nobody knows",
		is:   func(w *scene) { w.prod().spec(hour, 3, "9.9.9") },
		want: found{"main": "running WARNING: warning control/spec-mismatch"}},

	{name: "2-year ladder with the kops field absent: 890 snapshots are as many as there should be",
		is: func(w *scene) {
			w.cluster(800*day, func(c *clusterSpec) { c.retention, c.hourly = 0, "" }).keepsAWeekOfHours().born(800*day).ladder(730*day, minute)
		},
		want: found{"main": "running OK"}},
	{name: "2-year ladder, and kops says 60 days: the cleanup does not clean up",
		is:   func(w *scene) { w.cluster(800*day).born(800*day).ladder(730*day, minute) },
		want: found{"main": "running WARNING: warning retention/cleanup-ineffective"}},
	{name: "2-year ladder, and nobody says how long it should be",
		is: func(w *scene) {
			w.treeIn(w.bucket("backups-eu"), "prod/main").born(800*day).ladder(730*day, minute)
			w.places = []string{"s3://backups-eu"}
		},
		want: found{"backups-eu/prod/main": "running OK"}},
	{name: "a snapshot each hour, as kops asks for, and the newest is two hours old",
		is: func(w *scene) {
			w.cluster(100*day, func(c *clusterSpec) { c.interval = "1h0m0s" }).lives(100 * day).stops(2 * hour)
		},
		want: found{"main": "running OK"}},

	{name: "shared store: kops gives main and events the same place",
		is: func(w *scene) {
			w.kops("prod.example.com", 400*day, withEvents, withStores("s3://backups-eu/prod", "s3://backups-eu/prod/"))
			w.treeIn(w.bucket("backups-eu"), "prod").lives(400 * day)
		},
		want: found{"backups-eu/prod": "running CRITICAL: critical control/shared-store"},
		says: []string{"prod.example.com/events"}},
	{name: "shared store: two clusters write to it, each with a leader of its own",
		is: func(w *scene) {
			w.kops("a.example.com", 400*day, withStore("s3://backups-eu/etcd"))
			w.kops("b.example.com", 300*day, withStore("s3://backups-eu/etcd"))
			s := w.treeIn(w.bucket("backups-eu"), "etcd").lives(400 * day)
			for a := 40 * minute; a > 0; a -= 4 * minute {
				s.takes(a + 30e9)
			}
		},
		want: found{"backups-eu/etcd": "running CRITICAL: critical control/shared-store, warning snapshot/too-frequent"}},
	{name: "kops and backups in different buckets: the state store alone is named, and the backups are found",
		is: func(w *scene) {
			w.kops("prod.example.com", 400*day, withEvents, withStores("s3://backups-eu/prod/main", "s3://backups-eu/prod/events"))
			b := w.bucket("backups-eu")
			w.treeIn(b, "prod/main").lives(400 * day)
			w.treeIn(b, "prod/events").lives(400 * day)
		},
		want: found{"backups-eu/prod/main": "running OK", "backups-eu/prod/events": "running OK"}},
	{name: "kops and backups in different buckets: backups-eu has the rule of the accident",
		is: func(w *scene) {
			w.kops("prod.example.com", 400*day, withStore("s3://backups-eu/prod/main"))
			b := w.bucket("backups-eu")
			b.SetLifecycle([]byte("<LifecycleConfiguration>" + expireAfter(500) + "</LifecycleConfiguration>"))
			w.treeIn(b, "prod/main").lives(400 * day)
		},
		want: found{"backups-eu/prod/main": "running WARNING: warning lifecycle/deletes-control"}},
	{name: "kops and backups in different buckets: we may not look into the other one",
		is: func(w *scene) {
			w.kops("prod.example.com", 400*day, withStore("s3://backups-eu/prod/main"))
			b := w.bucket("backups-eu")
			w.treeIn(b, "prod/main").lives(400 * day)
			b.Deny("s3:ListBucket", "s3:GetObject", "s3:GetBucketVersioning", "s3:GetLifecycleConfiguration", "s3:ListBucketVersions")
		},
		want: found{"backups-eu/prod/main": "unknown UNKNOWN: unknown bucket/unversioned, unknown control/unseen, unknown control/unseen, unknown control/unseen, unknown lifecycle/unseen, info audit/blind"}},
	{name: "kops and backups in different buckets: the other one does not exist",
		is: func(w *scene) {
			w.kops("prod.example.com", 400*day, withStore("s3://backups-eu/prod/main"))
		},
		want: found{"backups-eu/prod/main": "unknown CRITICAL: critical audit/store-vanished, unknown bucket/unversioned, unknown lifecycle/unseen, info audit/blind"}},
	{name: "kops names a store in which nothing was ever written",
		is:   func(w *scene) { w.cluster(400 * day) },
		want: found{"main": "armed CRITICAL: critical audit/store-vanished"}},
	{name: "kops names a place that is not S3",
		is: func(w *scene) {
			w.prod()
			w.kops("google.example.com", 400*day, withStore("gs://backups/google"))
		},
		want: found{"main": "running OK", "not audited: gs://backups/google": "unsupported"}},
	{name: "kops's documents of a cluster may not be read, and its store was found by its layout",
		is: func(w *scene) {
			w.prod()
			w.state.Put("prod.example.com/config", nil, w.when(day), storetest.SealedBy("AccessDenied"))
			w.state.Put("prod.example.com/cluster-completed.spec", nil, w.when(day), storetest.SealedBy("AccessDenied"))
		},
		want: found{"main": "running OK: info audit/blind", "not audited: s3://kops-state/prod.example.com": "denied"}},
	{name: "kops's documents of a cluster may not be read, and a store of an unknown name may be that cluster's",
		is: func(w *scene) {
			w.prod()
			w.kops("b.example.com", 400*day, withStore("s3://kops-state/elsewhere/main"))
			w.state.Put("b.example.com/config", nil, w.when(day), storetest.SealedBy("AccessDenied"))
			w.state.Put("b.example.com/cluster-completed.spec", nil, w.when(day), storetest.SealedBy("AccessDenied"))
			w.tree("elsewhere/main").lives(300 * day).stops(20 * day)
		},
		want: found{"main": "running OK", "kops-state/elsewhere/main": "running CRITICAL: critical snapshot/stale, info audit/blind",
			"not audited: s3://kops-state/b.example.com": "denied"}},
	{name: "events alone has stopped",
		is: func(w *scene) {
			w.prod(withEvents)
			w.tree("prod.example.com/backups/etcd/events").lives(400 * day).stops(day)
		},
		want: found{"main": "running OK", "events": "running CRITICAL: critical snapshot/stale"},
		says: []string{"than that of main"}},
	{name: "events alone is late",
		is: func(w *scene) {
			w.prod(withEvents)
			w.tree("prod.example.com/backups/etcd/events").lives(400 * day).stops(2 * hour)
		},
		want: found{"main": "running OK", "events": "running WARNING: warning snapshot/late"}},
	{name: "both etcds stopped at one time",
		is: func(w *scene) {
			w.prod(withEvents).stops(day)
			w.tree("prod.example.com/backups/etcd/events").lives(400 * day).stops(day)
		},
		want: found{"main": "running CRITICAL: critical snapshot/stale", "events": "running CRITICAL: critical snapshot/stale"}},

	{name: "a restore was queued a minute ago",
		is:   func(w *scene) { s := w.prod(); s.queues(minute, s.newest()) },
		want: found{"main": "running+restore-pending OK"}},
	{name: "a restore was forgotten in the queue a week ago",
		is:    func(w *scene) { s := w.prod(); s.queues(7*day, s.newest()) },
		want:  found{"main": "running+restore-pending CRITICAL: critical queue/pending-restore"},
		order: []string{"Do NOT restart etcd-manager", "delete-command"}},
	{name: "a restore of a snapshot that is not there was forgotten in the queue",
		is:    func(w *scene) { w.prod().queues(7*day, "2026-11-30T11:40:00Z-000099") },
		want:  found{"main": "running+restore-pending CRITICAL: critical queue/bad-restore"},
		order: []string{"Do NOT restart etcd-manager", "delete-command"}},
	{name: "two restores are queued, one of them of a snapshot that is not there",
		is: func(w *scene) {
			s := w.prod()
			s.queues(8*day, s.newest()).queues(7*day, "2026-11-30T11:40:00Z-000099")
		},
		want: found{"main": "running+restore-pending CRITICAL: critical queue/bad-restore, critical queue/pending-restore"}},
	{name: "a restore of a snapshot of etcd 3.4 is queued, for which kops has no programs any more",
		is: func(w *scene) {
			s := w.prod()
			old := *s
			old.version = "3.4.13"
			old.takesNamed("2026-10-01T00:14:00Z-000007", 60*day+12*hour, filledSnapshot)
			s.queues(minute, "2026-10-01T00:14:00Z-000007")
		},
		want: found{"main": "running+restore-pending CRITICAL: critical queue/bad-restore"},
		says: []string{"3.4.13"}},
	{name: "a command that asks for nothing",
		is:   func(w *scene) { w.prod().queuesBody(day, "{}") },
		want: found{"main": "running OK: info control/stray"}},
	{name: "a command that no etcd-manager understands",
		is:   func(w *scene) { w.prod().queuesBody(hour, `{"createNewCluster":{}}`) },
		want: found{"main": "running CRITICAL: critical queue/unparsable"}},
}

// keepsAWeekOfHours is what etcd-manager does by itself.
func (s *tree) keepsAWeekOfHours() *tree { s.hourly = 7 * day; return s }

// withStores gives main and events places of their own.
func withStores(main, events string) func(c *clusterSpec) {
	return func(c *clusterSpec) { c.store = map[string]string{"main": main, "events": events} }
}

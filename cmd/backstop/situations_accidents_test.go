package main

import (
	"strings"
	"time"

	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// repairOrder is the order in which an armed store is repaired, and imminentOrder
// that of one which is about to be reset: what wins time comes first.
var (
	repairOrder = []string{
		"Do NOT run kops update cluster --yes", "Save a snapshot from a live member", "lifecycle rule", "command queue",
		"Put etcd-cluster-created back FIRST", "Read etcd-cluster-created back", "Now put etcd-cluster-spec back", "Restart the etcd-manager container on the LEADER", "a new snapshot has appeared",
	}
	imminentOrder = []string{
		"Put etcd-cluster-created back FIRST", "Read etcd-cluster-created back",
		"Do NOT run kops update cluster --yes", "Save a snapshot from a live member", "lifecycle rule", "etcd-cluster-spec is there", "Restart the etcd-manager container on the LEADER", "a new snapshot has appeared",
	}
)

// Control files that were lost, what follows, and how it is repaired.
var accidents = []situation{
	{name: "the accident: a lifecycle rule hid both control files at midnight",
		is: func(w *scene) {
			w.lifecycle(expireAfter(400))
			w.prod().stops(12*hour).loses(12*hour, etcdmanager.CreatedPath, etcdmanager.SpecPath)
		},
		want:  found{"main": "armed CRITICAL: critical control/reset-armed, critical lifecycle/deletes-kops-state, critical retention/last-good-expiring"},
		says:  []string{"a lifecycle rule did it", "Set every lifecycle rule that covers this store's control/ to Disabled"},
		never: []string{"a person or a program"},
		order: repairOrder},
	{name: "the accident: kops update ran on the armed store, and the rule is still there",
		is: func(w *scene) {
			w.lifecycle(expireAfter(90))
			w.prod().stops(14*day+12*hour).loses(14*day+12*hour, etcdmanager.CreatedPath, etcdmanager.SpecPath).spec(time.Second, 3, "3.5.30")
		},
		want:  found{"main": "imminent CRITICAL: critical control/reset-imminent, critical lifecycle/deletes-kops-state, warning lifecycle/deletes-control"},
		order: imminentOrder},
	{name: "the accident: both files are gone for good, in a bucket that was never versioned",
		is: func(w *scene) {
			w.state.SetVersioning("")
			w.prod().stops(30*day).loses(30*day, etcdmanager.CreatedPath, etcdmanager.SpecPath)
		},
		want:  found{"main": "armed CRITICAL: critical control/reset-armed, warning bucket/unversioned"},
		says:  []string{"Its content is the time of the oldest snapshot"},
		order: repairOrder},
	{name: "the accident: everything is gone, in a bucket that was never versioned",
		is: func(w *scene) {
			w.state.SetVersioning("")
			w.prod().losesAll(30 * day)
		},
		want: found{"main": "armed CRITICAL: critical audit/store-vanished, warning bucket/unversioned"}},
	{name: "the accident: it happened, and the cluster was reset two hours ago",
		is: func(w *scene) {
			s := w.prod().stops(7*day).loses(7*day, etcdmanager.CreatedPath, etcdmanager.SpecPath)
			s.spec(2*hour+time.Second, 3, "3.5.30").specBy("etcd-manager", 2*hour, 3, "3.5.30").created(2*hour, 2*hour)
			s.takesOne(2*hour-time.Second, emptySnapshot).takesOne(hour, emptySnapshot).takes(45*minute, 30*minute, 15*minute, minute)
		},
		want:  found{"main": "running CRITICAL: critical control/reseeded, critical retention/last-good-expiring"},
		says:  []string{"data-trashcan", "the last snapshot from before is 2026-11-23T00:14:00Z-"},
		order: []string{"Do NOT delete volumes", "to another bucket now", "restore-backup"}},
	{name: "a person deleted created at noon",
		is:    func(w *scene) { w.prod().loses(time.Second, etcdmanager.CreatedPath) },
		want:  found{"main": "imminent CRITICAL: critical control/reset-imminent"},
		says:  []string{"not at midnight UTC: a person or a program did it"},
		never: []string{"a lifecycle rule did it"},
		order: imminentOrder},
	{name: "created is missing, and the spec is a pair of braces",
		is: func(w *scene) {
			w.prod().stops(hour).loses(hour, etcdmanager.CreatedPath).put(etcdmanager.SpecPath, []byte("{}"), hour)
		},
		want:  found{"main": "armed CRITICAL: critical control/reset-armed"},
		order: append([]string{"Do NOT repair etcd-cluster-spec"}, repairOrder...)},
	{name: "created is missing, and its only old version is archived",
		is: func(w *scene) {
			s := w.prod()
			s.b.Purge(s.key(etcdmanager.CreatedPath))
			s.put(etcdmanager.CreatedPath, etcdmanager.FormatCreated(w.ago(400*day)), 400*day, storetest.WithClass("GLACIER"))
			s.stops(hour).loses(hour, etcdmanager.CreatedPath, etcdmanager.SpecPath)
		},
		want:  found{"main": "armed CRITICAL: critical control/reset-armed"},
		says:  []string{"Its content is the time of the oldest snapshot"},
		order: repairOrder},
	{name: "armed, and a restore was queued a minute ago",
		is: func(w *scene) {
			s := w.prod().stops(hour).loses(hour, etcdmanager.CreatedPath, etcdmanager.SpecPath)
			s.queues(minute, s.newest())
		},
		want:  found{"main": "armed+restore-pending CRITICAL: critical control/reset-armed"},
		says:  []string{"Empty the command queue first (1 command)"},
		order: repairOrder},
	{name: "armed, and a restore was forgotten in the queue",
		is: func(w *scene) {
			s := w.prod().stops(hour).loses(hour, etcdmanager.CreatedPath, etcdmanager.SpecPath)
			s.queues(7*day, s.newest())
		},
		want:  found{"main": "armed+restore-pending CRITICAL: critical control/reset-armed, critical queue/pending-restore"},
		order: repairOrder},
	{name: "imminent, and a restore is queued",
		is: func(w *scene) {
			s := w.prod().loses(time.Second, etcdmanager.CreatedPath)
			s.queues(minute, s.newest())
		},
		want:  found{"main": "imminent+restore-pending CRITICAL: critical control/reset-imminent"},
		order: append([]string{"Empty the command queue first (1 command)"}, imminentOrder...)},
	{name: "imminent, but for a command that does not parse",
		is: func(w *scene) {
			w.prod().loses(time.Second, etcdmanager.CreatedPath).queuesBody(hour, "{")
		},
		want:  found{"main": "imminent CRITICAL: critical control/reset-imminent, critical queue/unparsable"},
		order: []string{"Put etcd-cluster-created back FIRST", "Empty the command queue first", "Restart the etcd-manager container on the LEADER"}},

	{name: "created is empty",
		is:    func(w *scene) { w.prod().stops(hour).put(etcdmanager.CreatedPath, nil, hour) },
		want:  found{"main": "blocked CRITICAL: critical control/blocked"},
		order: []string{"Do NOT run kops update cluster --yes", "Save a snapshot from a live member", "lifecycle rule", "command queue", "Write etcd-cluster-created with content", "Read etcd-cluster-created back", "Restart the etcd-manager container on the LEADER"}},
	{name: "created was moved to Glacier two weeks ago",
		is: func(w *scene) {
			s := w.prod().stops(14 * day)
			s.b.Purge(s.key(etcdmanager.CreatedPath))
			s.put(etcdmanager.CreatedPath, etcdmanager.FormatCreated(w.ago(400*day)), 400*day, storetest.WithClass("GLACIER"))
		},
		want: found{"main": "blocked CRITICAL: critical control/blocked"},
		says: []string{"thaw it"}},
	{name: "created is encrypted with a key that was disabled",
		is: func(w *scene) {
			s := w.prod().stops(hour)
			s.b.Purge(s.key(etcdmanager.CreatedPath))
			s.put(etcdmanager.CreatedPath, etcdmanager.FormatCreated(w.ago(400*day)), 400*day, storetest.SealedBy("KMS.DisabledException"))
		},
		want: found{"main": "blocked CRITICAL: critical control/blocked"}},
	{name: "spec is missing, and backups still run on what the leader remembers",
		is:    func(w *scene) { w.prod().loses(hour, etcdmanager.SpecPath) },
		want:  found{"main": "latent CRITICAL: critical control/spec-missing"},
		never: []string{"Backups have stopped"},
		order: []string{"Do NOT run kops update cluster --yes", "Save a snapshot from a live member", "lifecycle rule", "command queue", "Now put etcd-cluster-spec back", "Restart the etcd-manager container on the LEADER", "a new snapshot has appeared"}},
	{name: "spec is missing, and the leader has restarted since",
		is:   func(w *scene) { w.prod().stops(20*hour).loses(day, etcdmanager.SpecPath) },
		want: found{"main": "stuck CRITICAL: critical control/spec-missing"},
		says: []string{"Backups have stopped"}},
	{name: "spec holds a field that etcd-manager does not know",
		is: func(w *scene) {
			w.prod().put(etcdmanager.SpecPath, []byte(`{"memberCount": 3, "etcdVersion": "3.5.30", "owner": "ops"}`), hour)
		},
		want: found{"main": "latent CRITICAL: critical control/spec-missing"}},

	{name: "repaired: created was written by hand, with the time of the oldest snapshot",
		is:   func(w *scene) { w.repaired(hour, 91*day) },
		want: found{"main": "running WARNING: warning control/altered"}},
	{name: "repaired: created was written by hand, with the time of the oldest snapshot, two days ago",
		is:   func(w *scene) { w.repaired(2*day, 91*day) },
		want: found{"main": "running OK: info control/altered"}},
	{name: "repaired: created was written by hand, with the time of the repair",
		is:    func(w *scene) { w.repaired(hour, hour) },
		want:  found{"main": "running WARNING: warning control/reseeded"},
		never: []string{"data-trashcan"}},
	{name: "repaired: the good version of created was copied over itself",
		is:   func(w *scene) { w.repaired(hour, 400*day) },
		want: found{"main": "running WARNING: warning control/altered"}},
	{name: "repaired: both files are back, and the leader has not been restarted",
		is: func(w *scene) {
			w.repaired(hour, 400*day)
			w.tree(mainRoot).stops(7 * day)
		},
		want:  found{"main": "running CRITICAL: critical control/not-reread, warning control/altered"},
		order: []string{"Restart the etcd-manager container on the LEADER", "a new snapshot has appeared"}},
	{name: "repaired: cilium's etcd, whose snapshots are as small as those of an empty one",
		is: func(w *scene) {
			w.prod(withCilium)
			s := w.tree("prod.example.com/backups/etcd/cilium").born(400 * day)
			for a := 20 * day; a > 7*day; a -= day {
				s.takesOne(a, emptySnapshot)
			}
			s.loses(7*day, etcdmanager.CreatedPath, etcdmanager.SpecPath).created(20*day, hour).spec(59*minute, 3, "3.5.30")
			for a := 50 * minute; a > 0; a -= 15 * minute {
				s.takesOne(a, emptySnapshot)
			}
		},
		want: found{"main": "running OK", "cilium": "running WARNING: warning control/altered"}},
}

// repaired is a store that was armed for a week and to which both files came back,
// created with the time of that birth inside it.
func (w *scene) repaired(ago, birth time.Duration) {
	s := w.prod().stops(ago+7*day).loses(ago+7*day, etcdmanager.CreatedPath, etcdmanager.SpecPath)
	s.created(birth, ago).spec(ago-minute, 3, "3.5.30").ladder(ago-10*minute, minute)
}

// rule is a lifecycle rule in XML; a filter is a prefix, or XML.
func rule(id, filter, action string) string {
	if !strings.HasPrefix(filter, "<") {
		filter = "<Prefix>" + filter + "</Prefix>"
	}
	return "<Rule><ID>" + id + "</ID><Status>Enabled</Status><Filter>" + filter + "</Filter>" + action + "</Rule>"
}

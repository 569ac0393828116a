package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// A situation is a store as it comes about in life, judged by all the rules.
type situation struct {
	seen func(o *audit.Observation)
	at   time.Duration
	// state, restore, verdict and want are exact: want are all findings in the
	// order of the report, each as "severity rule".
	state   string
	restore bool // a restore is queued
	verdict audit.Verdict
	want    []string
	// says are words that must stand somewhere in the findings, never those
	// that must not.
	says, never []string
	// order are words of the first finding's steps, in the order in which the
	// steps must come.
	order []string
}

// repairOrder is the order in which an armed store is repaired.
var repairOrder = []string{
	"Do NOT run kops update cluster --yes", "Save a snapshot from a live member", "lifecycle rule", "command queue",
	"Put etcd-cluster-created back FIRST", "Read etcd-cluster-created back", "Now put etcd-cluster-spec back", "Restart the etcd-manager container on the LEADER", "a new snapshot has appeared",
}

// imminentOrder is that of a store that is about to be reset: what wins time
// comes first, and the queue is empty before the restart.
var imminentOrder = []string{
	"Put etcd-cluster-created back FIRST", "Read etcd-cluster-created back",
	"Do NOT run kops update cluster --yes", "Save a snapshot from a live member", "lifecycle rule", "etcd-cluster-spec is there", "Restart the etcd-manager container on the LEADER", "a new snapshot has appeared",
}

// suffixed are snapshots of a quarter of an hour apart, the last of a minute
// ago, with these suffixes.
func suffixed(suffixes ...int) func(o *audit.Observation) {
	var list []audit.Snapshot
	for i, n := range suffixes {
		at := noon.Add(-time.Minute - time.Duration(len(suffixes)-1-i)*15*time.Minute)
		s := snapshot(ofStore, at, 50_000)
		s.Name = etcdmanager.FormatName(at, n)
		list = append(list, s)
	}
	return snapshotsAre(list...)
}

// named makes the store that of another etcd of the cluster.
func named(etcd string) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Store.Etcd = etcd }
}

// afterReset is a store in a versioned bucket whose cluster was replaced two
// hours ago, after a week without control files.
var afterReset = all(
	bornAtTime(noon.Add(-2*time.Hour)),
	specIs(specGood, noon.Add(-2*time.Hour-time.Second)),
	snapshotsAre(taken(8*audit.Day, 50_000), taken(7*audit.Day, 50_000), taken(2*time.Hour-time.Second, 690), taken(time.Hour, 900), taken(time.Minute, 5500)),
	func(o *audit.Observation) {
		o.ControlVersions = audit.Is(slices.Concat(
			[]audit.Version{version(o.Created.Value, "v2", true)}, under(hidden(etcdmanager.CreatedPath, noon.Add(-7*audit.Day))),
			[]audit.Version{version(o.Spec.Value, "v2", true)}, under(hidden(etcdmanager.SpecPath, noon.Add(-7*audit.Day)))))
	},
)

// under are versions that are no longer the latest.
func under(list []audit.Version) []audit.Version {
	for i := range list {
		list[i].Latest = false
	}
	return list
}

// repaired is a store that was armed and to which both files came back an hour
// ago, created with the given time inside it.
func repaired(born time.Time) func(o *audit.Observation) {
	return all(
		createdIs(string(etcdmanager.FormatCreated(born)), noon.Add(-time.Hour)),
		specIs(specGood, noon.Add(-59*time.Minute)),
		snapshotsAre(taken(8*audit.Day, 50_000), taken(7*audit.Day, 50_000), taken(50*time.Minute, 50_000), taken(5*time.Minute, 50_000)),
		func(o *audit.Observation) {
			o.ControlVersions = audit.Is(slices.Concat(
				[]audit.Version{version(o.Created.Value, "v2", true)}, under(hidden(etcdmanager.CreatedPath, noon.Add(-7*audit.Day))),
				[]audit.Version{version(o.Spec.Value, "v2", true)}, under(hidden(etcdmanager.SpecPath, noon.Add(-7*audit.Day)))))
		},
	)
}

// copiedStore was copied to its place two days ago, and runs there since.
var copiedStore = all(
	snapshotsAre(storedLate(30*audit.Day, 28*audit.Day), storedLate(10*audit.Day, 8*audit.Day), storedLate(3*audit.Day, audit.Day), taken(20*time.Minute, 50_000), taken(5*time.Minute, 50_000)),
	createdIs(string(etcdmanager.FormatCreated(birth)), noon.Add(-2*audit.Day)),
	specIs(specGood, noon.Add(-2*audit.Day)),
)

var situations = map[string]situation{
	// Births.
	"a cluster is being created": {seen: conceived(5 * time.Minute),
		state: "bootstrapping", verdict: audit.OK, want: []string{"info control/never-initialised"}},
	"a cluster is being created, and kops update ran twice before the first boot": {
		seen:  all(conceived(time.Minute), versionsAre(latest(etcdmanager.SpecPath, "v2", noon.Add(-time.Minute)), old(etcdmanager.SpecPath, "v1", noon.Add(-40*time.Minute)))),
		state: "bootstrapping", verdict: audit.OK, want: []string{"info control/never-initialised"}},
	"a cluster was created a minute ago, and has no snapshot yet": {
		seen:  all(noSnapshots, bornAtTime(noon.Add(-time.Minute)), specIs(specGood, noon.Add(-2*time.Minute)), versionsAre(latest(etcdmanager.CreatedPath, "v1", noon.Add(-time.Minute)), latest(etcdmanager.SpecPath, "v2", noon.Add(-2*time.Minute)), old(etcdmanager.SpecPath, "v1", noon.Add(-20*time.Minute)))),
		state: "running", verdict: audit.OK},
	"a cluster was created a minute ago, and its first upload is under way": {
		seen:  all(bornAtTime(noon.Add(-time.Minute)), specIs(specGood, noon.Add(-2*time.Minute)), snapshotsAre(dataAged(2*time.Second))),
		state: "running", verdict: audit.OK},
	"a cluster of an hour has only empty snapshots": {
		seen:  all(bornAtTime(noon.Add(-time.Hour)), specIs(specGood, noon.Add(-time.Hour)), snapshotsAre(taken(time.Hour-time.Second, 690), taken(45*time.Minute, 700), taken(30*time.Minute, 700), taken(15*time.Minute, 700))),
		state: "running", verdict: audit.OK},
	"a cluster of two years never gave a snapshot": {
		seen:  all(bornAtTime(noon.Add(-730*audit.Day)), noSnapshots),
		state: "running", verdict: audit.VerdictCritical, want: []string{"critical snapshot/none"}},
	"a spec was written long ago, and no cluster came": {seen: conceived(30 * audit.Day),
		state: "uninitialised", verdict: audit.VerdictWarning, want: []string{"warning control/never-initialised"}},

	// Repairs.
	"repaired, with the time of the oldest snapshot": {seen: repaired(noon.Add(-8 * audit.Day)),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning control/altered"}},
	"repaired, with the time of the oldest snapshot, two days later": {
		seen: all(repaired(noon.Add(-8*audit.Day)), snapshotsAre(taken(8*audit.Day, 50_000), taken(7*audit.Day, 50_000), taken(50*time.Minute, 50_000), taken(5*time.Minute-2*audit.Day, 50_000))),
		at:   2 * audit.Day, state: "running", verdict: audit.OK, want: []string{"info control/altered"}},
	"repaired, with the time of the repair": {seen: repaired(noon.Add(-time.Hour)),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning control/reseeded"}, never: []string{"data-trashcan"}},
	"repaired by a copy of the good version": {seen: repaired(birth),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning control/altered"}},
	"repaired, and not read again": {
		seen:  all(repaired(birth), newestAt(7*audit.Day)),
		state: "running", verdict: audit.VerdictCritical, want: []string{"critical control/not-reread", "warning control/altered"},
		order: []string{"Restart the etcd-manager container on the LEADER", "a new snapshot has appeared"}},

	// The accident.
	"a lifecycle rule took both files at midnight": {
		seen:  all(loseBoth, newestAt(12*time.Hour), lifecycleRules(expireAll(400)), versionsAre(append(hidden(etcdmanager.CreatedPath, noon.Truncate(audit.Day)), hidden(etcdmanager.SpecPath, noon.Truncate(audit.Day))...)...)),
		state: "armed", verdict: audit.VerdictCritical, want: []string{"critical control/reset-armed", "critical retention/last-good-expiring"},
		says: []string{"a lifecycle rule did it", "Set every lifecycle rule that covers this store's control/ to Disabled"}, never: []string{"a person or a program"}, order: repairOrder},
	"a person took created at noon": {
		seen:  all(loseCreated, versionsAre(hidden(etcdmanager.CreatedPath, noon.Add(-time.Second))...)),
		state: "imminent", verdict: audit.VerdictCritical, want: []string{"critical control/reset-imminent"},
		says: []string{"not at midnight UTC: a person or a program did it"}, never: []string{"a lifecycle rule did it"}, order: imminentOrder},
	"the files are gone for good, in a bucket without versions": {
		seen:  all(unversioned, loseBoth, newestAt(30*audit.Day)),
		state: "armed", verdict: audit.VerdictCritical, want: []string{"critical control/reset-armed", "warning bucket/unversioned"},
		says: []string{"Its content is the time of the oldest snapshot"}, order: repairOrder},
	"kops update ran on an armed store, and the rule is still there": {
		seen:  all(loseCreated, newestAt(14*audit.Day), specIs(specGood, noon.Add(-time.Second)), lifecycleRules(expireAll(90)), versionsAre(append(hidden(etcdmanager.CreatedPath, noon.Add(-14*audit.Day).Truncate(audit.Day)), latest(etcdmanager.SpecPath, "v2", noon.Add(-time.Second)))...)),
		state: "imminent", verdict: audit.VerdictCritical, want: []string{"critical control/reset-imminent", "warning lifecycle/deletes-control"}, order: imminentOrder},
	"armed, with a restore in the queue": {seen: all(loseBoth, queued(newestName, time.Minute)),
		state: "armed", restore: true, verdict: audit.VerdictCritical, want: []string{"critical control/reset-armed"},
		says: []string{"Empty the command queue first (1 command)"}, order: repairOrder},
	"armed, with a forgotten restore in the queue": {seen: all(loseBoth, queued(newestName, 7*audit.Day)),
		state: "armed", restore: true, verdict: audit.VerdictCritical, want: []string{"critical control/reset-armed", "critical queue/pending-restore"}, order: repairOrder},
	"imminent, with a restore in the queue": {seen: all(loseCreated, queued(newestName, time.Minute)),
		state: "imminent", restore: true, verdict: audit.VerdictCritical, want: []string{"critical control/reset-imminent"},
		order: append([]string{"Empty the command queue first (1 command)"}, imminentOrder...)},
	"imminent, but for a command that does not parse": {seen: all(loseCreated, queuedBody("{", noon)),
		state: "imminent", verdict: audit.VerdictCritical, want: []string{"critical control/reset-imminent", "critical queue/unparsable"},
		order: []string{"Put etcd-cluster-created back FIRST", "Empty the command queue first", "Restart the etcd-manager container on the LEADER"}},
	"created is missing, and the spec is a pair of braces": {seen: all(loseCreated, specIs("{}", birth)),
		state: "armed", verdict: audit.VerdictCritical, want: []string{"critical control/reset-armed"},
		order: append([]string{"Do NOT repair etcd-cluster-spec"}, repairOrder...)},
	"created is missing, and the only old version of it is archived": {
		seen: all(loseBoth, func(o *audit.Observation) {
			list := hidden(etcdmanager.CreatedPath, noon.Add(-time.Hour))
			list[1].StorageClass = "GLACIER"
			o.ControlVersions = audit.Is(list)
		}),
		state: "armed", verdict: audit.VerdictCritical, want: []string{"critical control/reset-armed"},
		says: []string{"Its content is the time of the oldest snapshot"}, order: repairOrder},
	"created is empty": {seen: createdIs("", noon.Add(-time.Minute)),
		state: "blocked", verdict: audit.VerdictCritical, want: []string{"critical control/blocked"},
		order: []string{"Do NOT run kops update cluster --yes", "Save a snapshot from a live member", "lifecycle rule", "command queue", "Write etcd-cluster-created with content", "Read etcd-cluster-created back", "Restart the etcd-manager container on the LEADER"}},
	"created is archived": {seen: all(archiveCreated, newestAt(14*audit.Day)),
		state: "blocked", verdict: audit.VerdictCritical, want: []string{"critical control/blocked"}, says: []string{"thaw it"}},
	"spec is missing, and backups still run": {seen: loseSpec,
		state: "latent", verdict: audit.VerdictCritical, want: []string{"critical control/spec-missing"}, never: []string{"Backups have stopped"},
		order: []string{"Do NOT run kops update cluster --yes", "Save a snapshot from a live member", "lifecycle rule", "command queue", "Now put etcd-cluster-spec back", "Restart the etcd-manager container on the LEADER", "a new snapshot has appeared"}},
	"the cluster was reset two hours ago": {seen: afterReset,
		state: "running", verdict: audit.VerdictCritical, want: []string{"critical control/reseeded", "critical retention/last-good-expiring"},
		says: []string{"data-trashcan", "the last snapshot from before is 2026-11-23T12:00:00Z-000001"}, order: []string{"Do NOT delete volumes", "Copy 2026-11-23T12:00:00Z-000001 to another bucket now", "restore-backup"}},

	// What lifecycle rules will do.
	"90 days, and the spec is newer than created": {
		seen: all(lifecycleRules(expireAll(90)), bornAtTime(noon.Add(-80*audit.Day)), specIs(specGood, noon.Add(-10*audit.Day)), snapshotsAre(taken(80*audit.Day-time.Minute, 50_000), taken(time.Minute, 50_000)), func(o *audit.Observation) {
			o.ControlVersions = audit.Is([]audit.Version{version(o.Created.Value, "v1", true), version(o.Spec.Value, "v1", true)})
		}),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning lifecycle/deletes-control"},
		says: []string{"created goes first: reset with nobody touching it", "2026-12-11 00:00:00Z"}},
	"90 days, and both files are equally old": {seen: lifecycleRules(expireAll(90)),
		state: "running", verdict: audit.VerdictCritical, want: []string{"critical lifecycle/deletes-control"}, says: []string{"armed at best"}},
	"a rule for old versions alone": {
		seen:  lifecycleRules("<Rule><ID>old</ID><Status>Enabled</Status><Filter/><NoncurrentVersionExpiration><NoncurrentDays>30</NoncurrentDays></NoncurrentVersionExpiration></Rule>"),
		state: "running", verdict: audit.OK},
	"a rule for the prefix backups/, which no key of kops begins with": {
		seen:  lifecycleRules(lifecycleRule("b", prefixed("backups/"), "<Days>90</Days>")),
		state: "running", verdict: audit.OK},
	"a rule for the snapshots alone": {
		seen:  lifecycleRules(lifecycleRule("b", prefixed(mainRoot+"20"), "<Days>90</Days>")),
		state: "running", verdict: audit.OK, want: []string{"info lifecycle/cuts-ladder"}},
	"a rule for the snapshots alone, as long as kops's retention": {
		seen:  all(keeps90, lifecycleRules(lifecycleRule("b", prefixed(mainRoot+"20"), "<Days>90</Days>"))),
		state: "running", verdict: audit.OK},
	"versioning is suspended": {seen: suspended,
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning bucket/unversioned"}},

	// What looks odd and is well.
	"three members take turns, and their suffixes interleave": {seen: suffixed(41, 1, 42, 2, 7, 43, 3),
		state: "running", verdict: audit.OK},
	"the leader restarts each hour, and counts from one": {seen: suffixed(1, 2, 3, 4, 1, 2, 3, 4, 1),
		state: "running", verdict: audit.OK},
	"a rolling update forces a snapshot each minute": {
		seen:  snapshotsAre(taken(5*time.Minute, 50_000), taken(4*time.Minute, 50_000), taken(3*time.Minute, 50_000), taken(2*time.Minute, 50_000), taken(time.Minute, 50_000)),
		state: "running", verdict: audit.OK},
	"kops wrote a new version today, and the roll comes tomorrow": {
		seen: all(specIs(spec(3, "3.6.11"), noon.Add(-3*time.Hour)), func(o *audit.Observation) {
			o.ControlVersions.Value = append(o.ControlVersions.Value, old(etcdmanager.SpecPath, "v0", birth))
		}),
		state: "running", verdict: audit.OK, want: []string{"info control/spec-mismatch"}},
	"etcd-manager wrote the spec with two spaces": {seen: specIs("{\n  \"memberCount\":  3,\n  \"etcdVersion\":  \"3.5.30\"\n}", noon),
		state: "running", verdict: audit.OK},
	"the etcd of events is nearly empty": {
		seen:  all(named("events"), eachSnapshot(func(s *audit.Snapshot) { s.Data.Size = 700 })),
		state: "running", verdict: audit.OK},
	"the etcd of cilium is empty, and was repaired": {
		seen:  all(repaired(noon.Add(-8*audit.Day)), named("cilium"), eachSnapshot(func(s *audit.Snapshot) { s.Data.Size = 590 })),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning control/altered"}},
	"a namespace was deleted, and the snapshots shrank": {seen: sized(5_000_000, 5_000_000, 50_000, 3_000),
		state: "running", verdict: audit.OK},
	"an upload is under way": {
		seen:  snapshotsAre(taken(30*time.Minute, 50_000), taken(15*time.Minute, 50_000), dataAged(9*time.Minute)),
		state: "running", verdict: audit.OK},
	"the store was copied here, and runs": {seen: copiedStore,
		state: "running", verdict: audit.OK, want: []string{"info snapshot/copied-store"}},
	"the store was copied here, and stands still": {
		seen:  all(copiedStore, snapshotsAre(storedLate(30*audit.Day, 28*audit.Day), storedLate(10*audit.Day, 8*audit.Day))),
		state: "running", verdict: audit.VerdictCritical, want: []string{"critical snapshot/stale", "info snapshot/copied-store"}, says: []string{"is 10d old"}},
	"a name in the future does not make a copy fresh": {
		seen:  all(copiedStore, snapshotsAre(storedLate(30*audit.Day, 28*audit.Day), storedLate(10*audit.Day, 8*audit.Day), storedLate(-5*audit.Day, -7*audit.Day))),
		state: "running", verdict: audit.VerdictCritical, want: []string{"critical snapshot/stale", "info snapshot/copied-store"}, says: []string{"is 10d old"}},
	"the writer's clock is three days behind": {seen: snapshotsAre(storedLate(3*audit.Day+15*time.Minute, 3*audit.Day), storedLate(3*audit.Day, 3*audit.Day)),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning snapshot/writer-clock"}},
	"our clock is ten minutes behind": {seen: clockOff(10 * time.Minute),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning audit/clock-skew"}},
	"a restore was queued a minute ago": {seen: queued(earlier, time.Minute),
		state: "running", restore: true, verdict: audit.OK},

	// The spec.
	"memberCount is 0": {seen: specIs(spec(0, "3.5.30"), noon),
		state: "running", verdict: audit.VerdictCritical, want: []string{"critical control/spec-shrinks"}},
	"configure-cluster ran without a count": {seen: specIs(spec(1, "3.5.30"), noon),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning control/spec-shrinks"}},
	"configure-cluster ran without anything": {seen: specIs(spec(1, "3.2.24"), noon),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning control/spec-shrinks", "info control/spec-mismatch"}},
	"the spec asks for a version that nobody knows": {seen: specIs(spec(3, "9.9.9"), noon),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning control/spec-mismatch"}},

	// What kops says.
	"kops names the store, and agrees": {seen: kopsSays(nil),
		state: "running", verdict: audit.OK},
	"kops scales down, and wrote the spec": {seen: all(specIs(spec(1, "3.5.30"), noon), kopsSays(func(k *audit.Kops) { k.Members = 1 })),
		state: "running", verdict: audit.OK, want: []string{"info control/spec-shrinks"}},
	"configure-cluster ran, and kops knows better": {seen: all(specIs(spec(1, "3.2.24"), noon), kopsSays(nil)),
		state: "running", verdict: audit.VerdictCritical, want: []string{"critical control/spec-shrinks", "info control/spec-mismatch"}},
	"backupStore was moved a month ago, and here is the old tree": {seen: all(elsewhere, newestAt(30*audit.Day)),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning bucket/duplicate-tree"}, says: []string{"the newest snapshot is 30d old"}},
	"backupStore was moved, kops update ran, and control/ stayed behind": {
		seen:  all(loseCreated, noTrace, specIs(specGood, noon.Add(-time.Minute)), versionsAre(latest(etcdmanager.SpecPath, "v1", noon.Add(-time.Minute))), kopsSays(nil), beside("main", 10*time.Minute)),
		state: "imminent", verdict: audit.VerdictCritical, want: []string{"critical control/reset-imminent"}, says: []string{"its control/ did not come along"}},
	"the cluster was deleted last year": {seen: all(orphan, newestAt(300*audit.Day)),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning bucket/orphan-store"}},
	"a cluster was deleted, and one of its name is being made": {
		seen:  all(conceived(time.Minute), snapshotsAre(taken(31*audit.Day, 50_000), taken(30*audit.Day, 50_000)), kopsCreated(noon.Add(-10*time.Minute))),
		state: "bootstrapping", verdict: audit.OK, want: []string{"info control/never-initialised"}},
	"a cluster was deleted, and one of its name runs": {
		seen:  all(bornAtTime(noon.Add(-50*time.Minute)), specIs(specGood, noon.Add(-51*time.Minute)), snapshotsAre(taken(30*audit.Day, 50_000), taken(50*time.Minute-time.Second, 700), taken(5*time.Minute, 5000)), kopsCreated(noon.Add(-time.Hour))),
		state: "running", verdict: audit.OK},
	"an old cluster lost everything in an unversioned bucket": {
		seen:  all(loseBoth, noTrace, unversioned, kopsSays(nil)),
		state: "armed", verdict: audit.VerdictCritical, want: []string{"critical control/reset-armed", "warning bucket/unversioned"}},
	"kops names a store that is empty": {seen: all(vanishedStore, namedByKops, kopsSays(nil)),
		state: "armed", verdict: audit.VerdictCritical, want: []string{"critical audit/store-vanished"}},
	"the configuration names a store of a cluster that kops has no more": {seen: all(vanishedStore, orphan),
		state: "uninitialised", verdict: audit.VerdictWarning, want: []string{"warning audit/store-vanished"}},
	"main and events have one store": {seen: sharedWith("prod.example.com/events"),
		state: "running", verdict: audit.VerdictCritical, want: []string{"critical control/shared-store"}},
	"what kops says could not be read": {seen: unseen(audit.FactKops),
		state: "running", verdict: audit.OK, want: []string{"info audit/blind"}},

	// Snapshots and their retention.
	"events alone has stopped": {seen: all(named("events"), newestAt(audit.Day), beside("main", 5*time.Minute)),
		state: "running", verdict: audit.VerdictCritical, want: []string{"critical snapshot/stale"}, says: []string{"the newest snapshot of events is 23h older than that of main"}},
	"the cleanup may delete nothing": {seen: spaced(2000, 15*time.Minute),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning retention/cleanup-ineffective"}},
	"the ladder of a year": {seen: all(ladder(7*audit.Day, 365*audit.Day), bornAtTime(noon.Add(-366*audit.Day)), versionsAre(), kopsSays(func(k *audit.Kops) { k.Daily = 365 * audit.Day })),
		state: "running", verdict: audit.OK},
	"a bucket as AWS makes one, with versioning on": {
		seen: func(o *audit.Observation) {
			noLock(o)
			o.Bucket.Encryption = audit.Is("AES256")
		},
		state: "running", verdict: audit.OK, want: []string{"info bucket/hygiene"}},
	"a bucket behind a server that knows little": {
		seen:  all(behind("https://s3.example.org"), noLock, unseen(audit.FactPublicAccessBlock), unseen(audit.FactPublicPolicy), unseen(audit.FactEncryption)),
		state: "running", verdict: audit.OK, want: []string{"info audit/blind", "info bucket/hygiene"}},
	"the whole world may read the bucket": {seen: all(publicPolicy(true), noBlock),
		state: "running", verdict: audit.VerdictCritical, want: []string{"critical bucket/public", "info bucket/hygiene"}},
	"Object Lock holds snapshots for a month": {seen: all(spaced(2000, 15*time.Minute), lockedFor(30*audit.Day)),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning retention/writer-locked"}, says: []string{"2000 backups in this store"}},
	"a transition rule took the old ones": {seen: snapshotsAre(archivedOld, taken(5*time.Minute, 50_000)),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning snapshot/archived"}},
	"etcd 3.4 still runs": {seen: ranVersion("3.4.13", "3.4.13"),
		state: "running", verdict: audit.VerdictWarning, want: []string{"warning snapshot/unrestorable-version"}},
	"an old snapshot was overwritten last week": {seen: all(among(dataLate(30*audit.Day, 23*audit.Day)), bornAtTime(noon.Add(-41*audit.Day)), versionsAre()),
		state: "running", verdict: audit.VerdictCritical, want: []string{"critical snapshot/altered"}},

	// What we may not see.
	"we may list the store and nothing else of the bucket, and created is missing": {
		seen:  all(loseBoth, unseen(audit.FactControlVersions), unseen(audit.FactVersioning), unseen(audit.FactLifecycle)),
		state: "armed", verdict: audit.VerdictCritical, want: []string{"critical control/reset-armed", "unknown bucket/unversioned", "unknown lifecycle/unseen", "info audit/blind"}, order: repairOrder},
	"the key is refused to us, and not to etcd-manager": {seen: func(o *audit.Observation) { o.Created = denied[audit.Document]("kms:Decrypt") },
		state: "unknown", verdict: audit.VerdictUnknown, want: []string{"unknown control/unseen"}, says: []string{"Allow kms:Decrypt on the key"}},
	"the key is refused to us, and backups have stopped": {seen: all(newestAt(14*audit.Day), func(o *audit.Observation) { o.Created = denied[audit.Document]("kms:Decrypt") }),
		state: "unknown", verdict: audit.VerdictCritical, want: []string{"critical snapshot/stale", "unknown control/unseen"}},
	"created is missing, there are no snapshots, and old versions are refused to us": {
		seen:  all(conceived(time.Minute), unseen(audit.FactControlVersions)),
		state: "unknown", verdict: audit.VerdictUnknown, want: []string{"unknown control/unseen", "info audit/blind"}},
	"the provider does not know old versions": {seen: func(o *audit.Observation) {
		o.ControlVersions = audit.Unknown[[]audit.Version](audit.Why{Cause: audit.CauseUnsupported, Reason: "the provider does not support this call (HTTP 501)"})
	}, state: "running", verdict: audit.OK, want: []string{"info audit/blind"}},
	"the listing broke off, and spec is missing": {seen: all(loseSpec, unseen(audit.FactListing), unseen(audit.FactQueue), unseen(audit.FactNewestMeta)),
		state: "unknown", verdict: audit.VerdictCritical, want: []string{"critical control/spec-missing", "unknown control/unseen", "unknown control/unseen"}},

	// Stores that are not there.
	"the configuration names a store that is empty": {seen: vanishedStore,
		state: "uninitialised", verdict: audit.VerdictCritical, want: []string{"critical audit/store-vanished"}},
	"the configuration names a store that was deleted": {
		seen:  all(vanishedStore, versionsAre(append(hidden(etcdmanager.CreatedPath, noon), hidden(etcdmanager.SpecPath, noon)...)...)),
		state: "armed", verdict: audit.VerdictCritical, want: []string{"critical audit/store-vanished"}},
	"the configuration names a store with nothing but another program's objects": {seen: all(vanishedStore, strays(3)),
		state: "uninitialised", verdict: audit.VerdictCritical, want: []string{"critical audit/store-vanished"}},
	"the configuration names a bucket that is not there": {seen: all(namedByConfig, noBucket),
		state: "unknown", verdict: audit.VerdictCritical, want: []string{"critical audit/store-vanished", "unknown bucket/unversioned", "unknown lifecycle/unseen", "info audit/blind"}},
	"nobody says that the empty store should exist": {seen: all(vanishedStore, func(o *audit.Observation) { o.Store.NamedBy = "" }),
		state: "uninitialised", verdict: audit.VerdictWarning, want: []string{"warning control/never-initialised"}},

	// The queue.
	"a forgotten restore": {seen: queued(earlier, 7*audit.Day),
		state: "running", restore: true, verdict: audit.VerdictCritical, want: []string{"critical queue/pending-restore"}, order: []string{"Do NOT restart etcd-manager", "delete-command"}},
	"a forgotten restore of nothing": {seen: queued("2026-11-30T11:40:00Z-000002", 7*audit.Day),
		state: "running", restore: true, verdict: audit.VerdictCritical, want: []string{"critical queue/bad-restore"}, order: []string{"Do NOT restart etcd-manager", "delete-command"}},
	"two forgotten restores, one of nothing": {seen: all(queued(earlier, 8*audit.Day), queued("2026-11-30T11:40:00Z-000002", 7*audit.Day)),
		state: "running", restore: true, verdict: audit.VerdictCritical, want: []string{"critical queue/bad-restore", "critical queue/pending-restore"}},
	"a command that asks for nothing": {seen: queuedBody("{}", noon.Add(-audit.Day)),
		state: "running", verdict: audit.OK, want: []string{"info control/stray"}},
	"a command that no program writes": {seen: queuedBody(`{"createNewCluster":{}}`, noon.Add(-time.Hour)),
		state: "running", verdict: audit.VerdictCritical, want: []string{"critical queue/unparsable"}},
}

func TestSituations(t *testing.T) {
	for name, s := range situations {
		t.Run(name, func(t *testing.T) {
			o := healthy()
			s.seen(o)
			r := audit.Judge(Set, o, audit.DefaultPolicy(), noon.Add(s.at))
			if r.State.Name != s.state || r.State.RestorePending != s.restore {
				t.Errorf("state %s (restore pending %t), want %s (%t)", r.State.Name, r.State.RestorePending, s.state, s.restore)
			}
			if r.Verdict != s.verdict {
				t.Errorf("verdict %s, want %s", r.Verdict, s.verdict)
			}
			if got := rulesOf(r.Findings); !slices.Equal(got, s.want) {
				t.Errorf("findings %q, want %q\n%s", got, s.want, textOf(r.Findings))
			}
			text := textOf(r.Findings)
			for _, w := range s.says {
				if !strings.Contains(text, w) {
					t.Errorf("nothing says %q:\n%s", w, text)
				}
			}
			for _, w := range s.never {
				if strings.Contains(text, w) {
					t.Errorf("something says %q:\n%s", w, text)
				}
			}
			if len(s.order) > 0 && len(r.Findings) > 0 {
				if fault := outOfOrder(r.Findings[0].Do, s.order); fault != "" {
					t.Error(fault)
				}
			}
		})
	}
}

// rulesOf gives each finding as "severity rule".
func rulesOf(found []audit.Finding) []string {
	var list []string
	for _, f := range found {
		list = append(list, string(f.Severity)+" "+f.Rule)
	}
	return list
}

// outOfOrder says which words do not stand in the steps in their order, each in
// a step of its own.
func outOfOrder(steps, words []string) string {
	at := 0
	for _, w := range words {
		for at < len(steps) && !strings.Contains(steps[at], w) {
			at++
		}
		if at == len(steps) {
			return fmt.Sprintf("%q is not in its place in\n%s", w, strings.Join(steps, "\n"))
		}
		at++
	}
	return ""
}

// One cause makes one finding: the lesser one becomes its evidence.
func TestSupersession(t *testing.T) {
	lateAt, staleAt := newestAt(3*time.Hour), newestAt(14*audit.Day)
	for name, c := range map[string]struct {
		seen   func(o *audit.Observation)
		rule   string
		lesser []string
	}{
		"armed and late":             {all(lateAt, loseBoth), "control/reset-armed", []string{"snapshot/late"}},
		"armed and stale":            {all(staleAt, loseBoth), "control/reset-armed", []string{"snapshot/stale"}},
		"imminent and late":          {all(lateAt, loseCreated), "control/reset-imminent", []string{"snapshot/late"}},
		"imminent and stale":         {all(staleAt, loseCreated), "control/reset-imminent", []string{"snapshot/stale"}},
		"stuck and stale":            {all(staleAt, loseSpec), "control/spec-missing", []string{"snapshot/stale"}},
		"blocked and late":           {all(lateAt, createdIs("", birth)), "control/blocked", []string{"snapshot/late"}},
		"blocked and stale":          {all(staleAt, createdIs("", birth)), "control/blocked", []string{"snapshot/stale"}},
		"archived and stale":         {all(staleAt, archiveCreated), "control/blocked", []string{"snapshot/stale"}},
		"not read again":             {all(staleAt, bornAtTime(noon.Add(-14*audit.Day+time.Second)), specIs(specGood, noon.Add(-time.Hour)), createdIs(string(etcdmanager.FormatCreated(noon.Add(-14*audit.Day-4*time.Second))), noon.Add(-14*audit.Day+time.Second))), "control/not-reread", []string{"snapshot/stale"}},
		"reset, and created altered": {afterReset, "control/reseeded", []string{"control/altered"}},
		"events late, main is not":   {all(lateAt, named("events"), beside("main", 0)), "snapshot/late", []string{"snapshot/events-behind"}},
		"events stale, main is not":  {all(staleAt, named("events"), beside("main", 0)), "snapshot/stale", []string{"snapshot/events-behind"}},
		"locked, and not cleaned up": {all(spaced(2000, 15*time.Minute), lockedFor(30*audit.Day)), "retention/writer-locked", []string{"retention/cleanup-ineffective"}},
		"an old tree, late":          {all(elsewhere, lateAt), "bucket/duplicate-tree", []string{"snapshot/late"}},
		"an old tree, stale":         {all(elsewhere, staleAt), "bucket/duplicate-tree", []string{"snapshot/stale"}},
		"an old tree, without any":   {all(elsewhere, noSnapshots), "bucket/duplicate-tree", []string{"snapshot/none"}},
		"a restore of nothing":       {queued("nothing", audit.Day), "queue/bad-restore", []string{"queue/pending-restore"}},
		"vanished, and never there":  {vanishedStore, "audit/store-vanished", []string{"control/never-initialised"}},
		"vanished, and armed":        {all(vanishedStore, versionsAre(hidden(etcdmanager.CreatedPath, noon)...)), "audit/store-vanished", []string{"control/reset-armed"}},
		"vanished, with strays":      {all(vanishedStore, strays(1)), "audit/store-vanished", []string{"control/never-initialised", "control/stray"}},
		"vanished, and not known":    {all(vanishedStore, unseen(audit.FactControlVersions)), "audit/store-vanished", []string{"control/unseen"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := healthy()
			c.seen(o)
			alone := map[string]int{} // findings of each rule, unjudged
			for _, r := range All {
				alone[r.ID] = len(r.Check(o, audit.DefaultPolicy(), noon))
			}
			r := audit.Judge(Set, o, audit.DefaultPolicy(), noon)
			i := slices.IndexFunc(r.Findings, func(f audit.Finding) bool { return f.Rule == c.rule })
			if i < 0 {
				t.Fatalf("%s does not speak: %q", c.rule, rulesOf(r.Findings))
			}
			var evidence []string
			for _, e := range r.Findings[i].Evidence {
				evidence = append(evidence, e.Rule)
			}
			for _, lesser := range c.lesser {
				switch {
				case alone[lesser] == 0:
					t.Errorf("%s would not speak alone", lesser)
				case slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return f.Rule == lesser }):
					t.Errorf("%s speaks beside %s", lesser, c.rule)
				case !slices.Contains(evidence, lesser):
					t.Errorf("%s is not among the evidence of %s: %q", lesser, c.rule, evidence)
				}
			}
		})
	}
}

// A bad restore explains that its own command waits, and no other's.
func TestBadRestoreSupersedesItsOwnCommandAlone(t *testing.T) {
	o := healthy()
	all(queued(earlier, 8*audit.Day), queued("nothing", 7*audit.Day))(o)
	r := audit.Judge(Set, o, audit.DefaultPolicy(), noon)
	if got := rulesOf(r.Findings); !slices.Equal(got, []string{"critical queue/bad-restore", "critical queue/pending-restore"}) {
		t.Fatalf("findings %q", got)
	}
	if r.Findings[0].Key == r.Findings[1].Key || !strings.Contains(r.Findings[1].Message, earlier) {
		t.Errorf("pending-restore is left for %q: %s", r.Findings[1].Key, r.Findings[1].Message)
	}
}

// heralds are the rules that announce a state.
var heralds = map[string]string{
	"imminent": "control/reset-imminent", "armed": "control/reset-armed",
	"latent": "control/spec-missing", "stuck": "control/spec-missing", "blocked": "control/blocked",
	"bootstrapping": "control/never-initialised", "uninitialised": "control/never-initialised",
}

// In every combination of what can be seen of a store, its state and its
// findings say the same, and nothing is well of which a part was not seen.
func TestStateAndFindingsAgree(t *testing.T) {
	created := map[string]func(o *audit.Observation){
		"unseen": unseen(audit.FactCreated), "missing": loseCreated, "empty": createdIs("", birth), "archived": archiveCreated, "present": func(*audit.Observation) {},
	}
	spec := map[string]func(o *audit.Observation){
		"unseen": unseen(audit.FactSpec), "missing": loseSpec, "empty": specIs("", birth), "cut short": specIs("{", birth), "archived": archiveSpec,
		"braces": specIs("{}", birth), "good": func(*audit.Observation) {}, "good and young": specIs(specGood, noon.Add(-time.Minute)),
	}
	snapshots := map[string]func(o *audit.Observation){
		"unseen": unseen(audit.FactListing), "none": noSnapshots, "fresh": func(*audit.Observation) {}, "late": newestAt(3 * time.Hour), "stale": newestAt(14 * audit.Day),
	}
	versions := map[string]func(o *audit.Observation){
		"unseen": unseen(audit.FactControlVersions), "none": versionsAre(), "a marker": versionsAre(hidden(etcdmanager.CreatedPath, noon.Add(-time.Hour))...),
	}
	for c, changeCreated := range created {
		for s, changeSpec := range spec {
			for n, changeSnapshots := range snapshots {
				for v, changeVersions := range versions {
					o := healthy()
					all(changeCreated, changeSpec, changeSnapshots, changeVersions)(o)
					r := audit.Judge(Set, o, audit.DefaultPolicy(), noon)
					if fault := disagreement(r); fault != "" {
						t.Errorf("created %s, spec %s, snapshots %s, versions %s: state %s, verdict %s, %q: %s", c, s, n, v, r.State.Name, r.Verdict, rulesOf(r.Findings), fault)
					}
				}
			}
		}
	}
}

// disagreement says where the parts of a report contradict each other.
func disagreement(r audit.StoreReport) string {
	speaks := func(rule string) bool {
		return slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return f.Rule == rule })
	}
	herald := heralds[r.State.Name]
	for _, rule := range heralds {
		if rule != herald && speaks(rule) {
			// A missing spec is critical even where nobody knows whether
			// backups still run.
			if rule == "control/spec-missing" && r.State.Name == "unknown" {
				continue
			}
			return rule + " speaks in another state than its own"
		}
	}
	if herald != "" && !speaks(herald) {
		return herald + " is silent in its state"
	}
	switch r.State.Name {
	case "imminent", "armed", "latent", "stuck", "blocked":
		if r.Verdict != audit.VerdictCritical {
			return "the verdict is not CRITICAL"
		}
		if speaks("snapshot/stale") || r.State.Name != "latent" && speaks("snapshot/late") {
			return "the state explains the age of the snapshots"
		}
	case "unknown":
		if !slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return f.Severity == audit.Unsure }) {
			return "nothing says what was not seen"
		}
	case "uninitialised":
		if r.Verdict == audit.OK {
			return "the verdict is OK"
		}
	case "running", "bootstrapping":
	default:
		return "no such state"
	}
	if r.Verdict == audit.OK && !r.Checked() {
		return "the verdict is OK, and a necessary fact was not seen"
	}
	return ""
}

// storeWide are rules whose findings are about the store, and no one object.
var storeWide = []string{"lifecycle/cuts-ladder", "control/unseen", "snapshot/copied-store", "audit/store-vanished", "audit/clock-skew", "audit/blind", "audit/assumed", "audit/ignore", "bucket/orphan-store", "bucket/duplicate-tree"}

// Whatever a rule finds comes with its facts: the object, what was seen and what
// should be there, and what to do, of which "do not" comes first.
func TestFindingsAreWhole(t *testing.T) {
	told := map[string]bool{}
	for _, r := range All {
		for name, c := range allCases[r.ID].cases {
			o, p := healthy(), audit.DefaultPolicy()
			if c.seen != nil {
				c.seen(o)
			}
			if c.policy != nil {
				c.policy(&p)
			}
			p = p.For(o) // as Judge does
			for _, f := range r.Check(o, p, noon.Add(c.at)) {
				if fault := lacking(r, f); fault != "" && !told[fault] {
					told[fault] = true
					t.Errorf("%s, case %q: %s", r.ID, name, fault)
				}
			}
		}
	}
}

// lacking says what a finding lacks.
func lacking(r audit.Rule, f audit.Finding) string {
	switch {
	case f.Message == "" || strings.Contains(textOf([]audit.Finding{f}), "%!"):
		return fmt.Sprintf("the message is %q", f.Message)
	case f.Observed == "" || f.Expected == "":
		return fmt.Sprintf("observed %q, expected %q", f.Observed, f.Expected)
	case f.Key == "" && r.Scope != "bucket" && !slices.Contains(storeWide, r.ID):
		return "no object is named"
	case len(f.Do) == 0 && f.Severity != audit.Info:
		return "nothing is to be done"
	}
	// Where seconds count, what to do comes first.
	if r.ID == "control/reset-imminent" {
		return ""
	}
	for i, step := range f.Do {
		if i > 0 && isDoNot(step) && !isDoNot(f.Do[i-1]) {
			return fmt.Sprintf("%q comes after %q", step, f.Do[i-1])
		}
	}
	return ""
}

func isDoNot(step string) bool { return strings.HasPrefix(strings.ToLower(step), "do not ") }

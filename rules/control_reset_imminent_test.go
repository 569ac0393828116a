package rules

import (
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// loseCreatedWithoutSnapshots leaves the versions of control files as the only
// trace of an earlier cluster.
func loseCreatedWithoutSnapshots(versions ...audit.Version) func(o *audit.Observation) {
	return all(loseCreated, noSnapshots, versionsAre(versions...))
}

var controlResetImminentSuite = suite{ages: true, cases: cases{
	"created is missing, spec is good and there are snapshots": {is: "speaks", seen: loseCreated,
		want:  []string{"critical: within 10 s of having a quorum of peers"},
		never: []string{"hidden by delete marker", "was not seen", "the same etcd cluster"}, says: []string{"Put etcd-cluster-created back now, before anything else", "FIRST", "the newest snapshot is 2026-11-30T11:55:00Z-000001", "control/etcd-cluster-created"}},
	"kops does not tell when it created the cluster": {is: "speaks", seen: all(loseCreated, kopsCreated(time.Time{})), want: []string{"critical: starts a NEW, EMPTY cluster"}, never: []string{"kops created"}},
	"the delete marker hides nothing that could be brought back": {is: "speaks", seen: all(loseCreated, versionsAre(marker(ofStore.Key(etcdmanager.CreatedPath), noon))),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, says: []string{"control/etcd-cluster-created is hidden by delete marker"}, never: []string{"the last good version", "control/etcd-cluster-spec is hidden"}},
	"the marker of spec is no longer the latest": {is: "speaks", seen: all(loseCreated, versionsAre(append(hidden(etcdmanager.CreatedPath, noon), append([]audit.Version{latest(etcdmanager.SpecPath, "v2", noon)}, under(hidden(etcdmanager.SpecPath, noon))...)...)...)),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, never: []string{"control/etcd-cluster-spec is hidden"}},
	"events has snapshots, and another main has none": {is: "speaks", seen: all(loseCreated, beside("events", time.Hour), func(o *audit.Observation) {
		o.Siblings = append(o.Siblings, audit.Sibling{URL: "s3://other/main", Etcd: "main", Listed: true})
	}), want: []string{"critical: starts a NEW, EMPTY cluster"}, never: []string{"the same etcd cluster"}},
	"the snapshots are two weeks old": {is: "speaks", seen: all(newestAt(14*audit.Day), loseCreated),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, says: []string{"14d ago"}},
	"half a snapshot shows an earlier cluster too": {is: "speaks", seen: all(snapshotsAre(withoutMeta(taken(time.Hour, 50_000))), loseCreated),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, says: []string{"there is no complete snapshot"}},
	"nothing but a delete marker shows the earlier cluster": {is: "speaks",
		seen: loseCreatedWithoutSnapshots(hidden(etcdmanager.CreatedPath, noon.Add(-time.Hour))...),
		want: []string{"critical: starts a NEW, EMPTY cluster"},
		says: []string{"delete marker marker of 2026-11-30 11:00:00Z", "not at midnight UTC", "the last good version of control/etcd-cluster-created is v-good", "by copying its last good version"}},
	"the delete marker is of midnight": {is: "speaks",
		seen:  all(loseCreated, versionsAre(hidden(etcdmanager.CreatedPath, noon.Truncate(audit.Day))...)),
		want:  []string{"critical: starts a NEW, EMPTY cluster"},
		says:  []string{"midnight UTC exactly, as a lifecycle rule does it; no rule of the bucket does so now"},
		never: []string{"a person or a program did it"}},
	"nothing but an old version of created shows the earlier cluster": {is: "speaks",
		seen: loseCreatedWithoutSnapshots(old(etcdmanager.CreatedPath, "v1", noon.Add(-time.Minute))),
		want: []string{"critical: starts a NEW, EMPTY cluster"}},
	"a queue must be emptied first": {is: "speaks", seen: all(loseCreated, queued("2026-11-30T11:55:00Z-000001", time.Minute)),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, says: []string{"Empty the command queue first (1 command)"}},
	"the etcd version of the spec is one that nobody knows": {is: "speaks", seen: all(loseCreated, specIs(spec(3, "99.0.0"), birth)),
		want: []string{"critical: starts a NEW, EMPTY cluster"}},

	"nothing but kops shows the earlier cluster": {is: "speaks", seen: all(loseCreatedWithoutSnapshots(), kopsCreated(birth)),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, says: []string{"kops created the cluster prod.example.com at 2025-10-26 09:30:00Z"}},
	"backupStore was moved here, without control/": {is: "speaks", seen: all(loseCreatedWithoutSnapshots(), specIs(specGood, noon), beside("main", time.Hour)),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, says: []string{"s3://kops/prod.example.com/backups/etcd/main has snapshots of the same etcd cluster, the newest of 2026-11-30 11:00:00Z"}},

	"kops has had it for a second more than an hour":   {is: "boundary", seen: all(loseCreatedWithoutSnapshots(), kopsCreated(noon.Add(-time.Hour-time.Second))), want: []string{"critical: starts a NEW, EMPTY cluster"}},
	"kops has had it for an hour":                      {is: "boundary", seen: all(loseCreatedWithoutSnapshots(), kopsCreated(noon.Add(-time.Hour)))},
	"kops wrote the spec of an old cluster anew":       {is: "boundary", seen: all(loseCreatedWithoutSnapshots(), kopsCreated(birth), specIs(specGood, noon.Add(-time.Hour)))},
	"and an hour has passed since":                     {is: "boundary", seen: all(loseCreatedWithoutSnapshots(), kopsCreated(birth), specIs(specGood, noon.Add(-time.Hour-time.Second))), want: []string{"critical: starts a NEW, EMPTY cluster"}},
	"snapshots of a namesake":                          {is: "boundary", seen: all(loseCreated, versionsAre(), specIs(specGood, noon), kopsCreated(noon.Add(-time.Minute)))},
	"a namesake's, by name alone":                      {is: "boundary", seen: all(loseCreated, versionsAre(), specIs(specGood, noon), snapshotsAre(storedLate(time.Hour, 59*time.Minute)), kopsCreated(noon.Add(-5*time.Minute))), want: []string{"critical: starts a NEW, EMPTY cluster"}},
	"a namesake's, by S3's time alone":                 {is: "boundary", seen: all(loseCreated, versionsAre(), specIs(specGood, noon), snapshotsAre(storedLate(time.Minute, -time.Hour)), kopsCreated(noon.Add(-5*time.Minute))), want: []string{"critical: starts a NEW, EMPTY cluster"}},
	"one of them is the cluster's own":                 {is: "boundary", seen: all(loseCreated, versionsAre(), specIs(specGood, noon), kopsCreated(noon.Add(-5*time.Minute))), want: []string{"critical: starts a NEW, EMPTY cluster"}},
	"a delete marker of a namesake":                    {is: "boundary", seen: all(loseCreatedWithoutSnapshots(hidden(etcdmanager.CreatedPath, noon.Add(-time.Hour))...), specIs(specGood, noon), kopsCreated(noon.Add(-time.Hour+time.Second)))},
	"a delete marker of the cluster's first second":    {is: "boundary", seen: all(loseCreatedWithoutSnapshots(hidden(etcdmanager.CreatedPath, noon.Add(-time.Hour))...), specIs(specGood, noon), kopsCreated(noon.Add(-time.Hour))), want: []string{"critical: starts a NEW, EMPTY cluster"}},
	"a tree of a namesake":                             {is: "boundary", seen: all(loseCreatedWithoutSnapshots(), specIs(specGood, noon), beside("main", time.Hour), kopsCreated(noon.Add(-time.Minute)))},
	"a tree without snapshots":                         {is: "boundary", seen: all(loseCreatedWithoutSnapshots(), specIs(specGood, noon), func(o *audit.Observation) { o.Siblings = []audit.Sibling{{Etcd: "main", Listed: true, Control: true}} })},
	"the tree of another etcd":                         {is: "boundary", seen: all(loseCreatedWithoutSnapshots(), specIs(specGood, noon), beside("events", time.Hour))},
	"kops knows the cluster, and that it is elsewhere": {is: "boundary", seen: all(loseCreatedWithoutSnapshots(), moved("s3://other/x"))},
	"kops does not tell when":                          {is: "boundary", seen: all(loseCreatedWithoutSnapshots(), kopsCreated(time.Time{}))},

	"one member is enough":                      {is: "boundary", seen: all(loseCreated, specIs(spec(1, "3.5.30"), birth)), want: []string{"critical: starts a NEW, EMPTY cluster"}},
	"no member makes it armed":                  {is: "boundary", seen: all(loseCreated, specIs(spec(0, "3.5.30"), birth))},
	"a negative number of members too":          {is: "boundary", seen: all(loseCreated, specIs(`{"memberCount":-1,"etcdVersion":"3.5.30"}`, birth))},
	"one byte of created is enough not to be":   {is: "boundary", seen: createdIs("x", birth)},
	"an old spec of exactly an hour is birth's": {is: "boundary", seen: loseCreatedWithoutSnapshots(latest(etcdmanager.SpecPath, "v2", noon), old(etcdmanager.SpecPath, "v1", noon.Add(-time.Hour)))},
	"a second older it is an earlier cluster's": {is: "boundary", seen: loseCreatedWithoutSnapshots(latest(etcdmanager.SpecPath, "v2", noon), old(etcdmanager.SpecPath, "v1", noon.Add(-time.Hour-time.Second))),
		want: []string{"critical: starts a NEW, EMPTY cluster"}},

	"nothing is wrong":                    {is: "silent"},
	"a first cluster forms":               {is: "silent", seen: all(loseCreated, noTrace)},
	"both files are missing":              {is: "silent", seen: loseBoth},
	"spec is missing and created is not":  {is: "silent", seen: loseSpec},
	"created is there, and empty":         {is: "silent", seen: createdIs("", birth)},
	"created is there, and archived":      {is: "silent", seen: archiveCreated},
	"created is there, and spec archived": {is: "silent", seen: archiveSpec},
	"created is missing, spec archived":   {is: "silent", seen: all(loseCreated, archiveSpec)},

	"created was not seen":                           {is: "blind", seen: unseen(audit.FactCreated)},
	"spec was not seen":                              {is: "blind", seen: all(loseCreated, unseen(audit.FactSpec))},
	"neither snapshots nor versions were seen":       {is: "blind", seen: all(loseCreated, unseen(audit.FactListing), unseen(audit.FactControlVersions))},
	"no snapshots, and the versions were not seen":   {is: "blind", seen: all(loseCreated, noSnapshots, unseen(audit.FactControlVersions))},
	"the snapshots were not seen, and no version is": {is: "blind", seen: all(loseCreated, noTrace, unseen(audit.FactListing))},
	"the snapshots were not seen, but a delete marker was": {is: "blind", seen: all(loseCreated, unseen(audit.FactListing), versionsAre(hidden(etcdmanager.CreatedPath, noon)...)),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, says: []string{"the snapshots could not be listed"}},
	"the versions were not seen, but snapshots were": {is: "blind", seen: all(loseCreated, unseen(audit.FactControlVersions)),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, says: []string{"whether an old version of a control file can be brought back was not seen", "s3:ListBucketVersions"}},
	"what kops says was not seen": {is: "blind", seen: all(loseCreatedWithoutSnapshots(), kopsCreated(birth), unseen(audit.FactKops))},
	"the queue was not seen": {is: "blind", seen: all(loseCreated, unseen(audit.FactQueue)),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, says: []string{"Make sure that the command queue is empty"}},
	"the lifecycle rules were not seen": {is: "blind", seen: all(loseCreated, unseen(audit.FactLifecycle)),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, says: []string{"backstop could not see it"}},
}}

func TestControlResetImminent(t *testing.T) {
	controlResetImminentSuite.cases.run(t, controlResetImminent)
}

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
		want: []string{"critical: within 10 s of having a quorum of peers"},
		says: []string{"Put etcd-cluster-created back now, before anything else", "FIRST", "the newest snapshot is 2026-11-30T11:55:00Z-000001", "control/etcd-cluster-created"}},
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
		says:  []string{"midnight UTC exactly: a lifecycle rule did it"},
		never: []string{"a person or a program did it"}},
	"nothing but an old version of created shows the earlier cluster": {is: "speaks",
		seen: loseCreatedWithoutSnapshots(old(etcdmanager.CreatedPath, "v1", noon.Add(-time.Minute))),
		want: []string{"critical: starts a NEW, EMPTY cluster"}},
	"a queue must be emptied first": {is: "speaks", seen: all(loseCreated, queued("2026-11-30T11:55:00Z-000001", time.Minute)),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, says: []string{"Empty the command queue first (1 command)"}},
	"the etcd version of the spec is one that nobody knows": {is: "speaks", seen: all(loseCreated, specIs(spec(3, "99.0.0"), birth)),
		want: []string{"critical: starts a NEW, EMPTY cluster"}},

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
	"the queue was not seen": {is: "blind", seen: all(loseCreated, unseen(audit.FactQueue)),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, says: []string{"Make sure that the command queue is empty"}},
	"the lifecycle rules were not seen": {is: "blind", seen: all(loseCreated, unseen(audit.FactLifecycle)),
		want: []string{"critical: starts a NEW, EMPTY cluster"}, says: []string{"backstop could not see it"}},
}}

func TestControlResetImminent(t *testing.T) {
	controlResetImminentSuite.cases.run(t, controlResetImminent)
}

package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// reborn is a store whose created file is of two hours ago, over snapshots from
// before and after.
func reborn(list ...audit.Snapshot) func(o *audit.Observation) {
	return all(bornAtTime(noon.Add(-2*time.Hour)), snapshotsAre(list...))
}

const (
	emptied   = "critical: a NEW cluster was formed here at 2026-11-30 10:00:00Z, over the snapshots of an older one"
	perhaps   = "warning: etcd-cluster-created says that the cluster was formed at 2026-11-30 10:00:00Z, and there are snapshots since 2026-11-30 09:00:00Z"
	emptySize = 700 // as measured of an empty cluster
)

var controlReseededSuite = suite{
	limits: []limit{bytesLimit("emptySnapshotBytes", &emptySnapshotBytes), bytesLimit("smallestSnapshotBytes", &smallestSnapshotBytes), timeLimit("birthSlack", &birthSlack)},
	cases: cases{
		"the snapshots after a birth are empty, those before are not": {is: "speaks", seen: reborn(taken(4*time.Hour, 50_000), taken(3*time.Hour, 50_000), taken(time.Hour, emptySize)),
			want: []string{emptied + " (since 2026-11-30 08:00:00Z)"},
			says: []string{"2026-11-30T11:00:00Z-000001, taken after that, has 700 bytes", "the last snapshot from before is 2026-11-30T09:00:00Z-000001, 50000 bytes", "2026-11-30T09:00:00Z-000001 goes on 2026-12-07 09:00:00Z, in 6d: etcd-manager's cleanup (it keeps the earliest of each day) deletes it", "data-trashcan", "restore-backup 2026-11-30T09:00:00Z-000001", "Copy 2026-11-30T09:00:00Z-000001 to another bucket now", "1796032800000000000", "control/etcd-cluster-created"}},
		"the last snapshot before it that is whole and filled is the good one": {is: "speaks",
			seen: reborn(taken(5*time.Hour, 50_000), taken(4*time.Hour, 60_000), withoutMeta(taken(3*time.Hour, 50_000)), taken(2*time.Hour+time.Minute, emptySize), taken(time.Hour, emptySize)),
			want: []string{emptied}, says: []string{"the last snapshot from before is 2026-11-30T08:00:00Z-000001, 60000 bytes"}},
		"no whole snapshot is left of before": {is: "speaks", seen: reborn(withoutMeta(taken(3*time.Hour, 50_000)), taken(time.Hour, emptySize)),
			want: []string{emptied}, says: []string{"no complete snapshot from before is left", "data-trashcan"}, never: []string{"restore-backup"}},
		"halves without data are no witness, and no loss": {is: "speaks", seen: reborn(withoutData(taken(4*time.Hour, 0)), taken(3*time.Hour, 50_000), withoutData(taken(90*time.Minute, 0)), taken(time.Hour, emptySize)),
			want: []string{emptied}, says: []string{"2026-11-30T11:00:00Z-000001, taken after that, has 700 bytes", "the last snapshot from before is 2026-11-30T09:00:00Z-000001"}},
		"of small ones the newest from before is the good one": {is: "speaks", seen: reborn(taken(4*time.Hour, 690), taken(3*time.Hour, 680)),
			want: []string{"warning: formed at 2026-11-30 10:00:00Z"}, says: []string{"the last snapshot from before is 2026-11-30T09:00:00Z-000001, 680 bytes"}},
		"created was written by hand, with the time of the repair": {is: "speaks", seen: reborn(taken(3*time.Hour, 50_000), taken(time.Hour, 50_000)),
			want: []string{perhaps}, says: []string{"If you wrote etcd-cluster-created by hand, nothing is wrong"}, never: []string{"data-trashcan"}},
		"created was written by hand, and no snapshot has come yet": {is: "speaks", seen: reborn(taken(3*time.Hour, 50_000)), want: []string{perhaps}},
		"a broken upload after a repair is no empty cluster": {is: "speaks", seen: reborn(taken(3*time.Hour, 50_000), taken(time.Hour, 0), taken(time.Minute, 50_000)),
			want: []string{perhaps}, never: []string{"is gone from etcd"}},
		"the snapshots before are as small, as those of an etcd for cilium": {is: "speaks", seen: reborn(taken(3*time.Hour, emptySize), taken(time.Hour, emptySize)), want: []string{perhaps}},

		"the members after it are others": {is: "speaks", seen: all(bornAtTime(snapshotAt(3)), contents(nil, holds(1000, 85), nil, nil, holds(1100, 85, "x", "y"))),
			want: []string{"critical: a NEW cluster was formed here at 2026-11-30 11:10:00Z"}, says: []string{"2026-11-30T11:25:00Z-000001, taken after that, has other members (x, y) than 2026-11-30T10:40:00Z-000001, taken before it (a, b, c)"}},
		"the revision fell": {is: "speaks", seen: all(bornAtTime(snapshotAt(3)), contents(nil, holds(1000, 85), nil, nil, holds(40, 3, "a"))),
			want: []string{"critical: a NEW cluster"}, says: []string{"2026-11-30T11:25:00Z-000001 has revision 40 and 3 keys, 2026-11-30T10:40:00Z-000001 before it revision 1000 and 85 keys"}},
		"one member is the same": {is: "boundary", seen: all(bornAtTime(snapshotAt(3)), contents(nil, holds(1000, 85), nil, nil, holds(1000, 85, "x", "c"))),
			want: []string{"warning: etcd-cluster-created says"}},
		"the last good one is not a damaged one": {is: "speaks", seen: all(bornAtTime(snapshotAt(3)), contents(nil, holds(1000, 85), nil, nil, holds(40, 3)), func(o *audit.Observation) {
			o.Verification.Snapshots = append(o.Verification.Snapshots, examinedAs(o.Listing.Value.Snapshots[2], audit.Damaged, audit.Parsed))
		}), want: []string{"critical: a NEW cluster"}, says: []string{"the last snapshot from before is 2026-11-30T10:40:00Z-000001"}},

		"kops created the cluster in the second of the oldest": {is: "boundary", seen: all(reborn(taken(3*time.Hour, 50_000), taken(time.Hour, emptySize)), kopsCreated(noon.Add(-3*time.Hour))), want: []string{emptied}},
		"kops created the cluster a second later":              {is: "boundary", seen: all(reborn(taken(3*time.Hour, 50_000), taken(time.Hour, emptySize)), kopsCreated(noon.Add(-3*time.Hour+time.Second)))},
		"a snapshot of 2047 bytes is empty":                    {is: "boundary", seen: reborn(taken(3*time.Hour, 50_000), taken(time.Hour, 2047)), want: []string{emptied}},
		"one of 2048 bytes is not":                             {is: "boundary", seen: reborn(taken(3*time.Hour, 50_000), taken(time.Hour, 2048)), want: []string{perhaps}},
		"256 bytes are an empty cluster's":                     {is: "boundary", seen: reborn(taken(3*time.Hour, 50_000), taken(time.Hour, 256)), want: []string{emptied}},
		"255 bytes are no snapshot":                            {is: "boundary", seen: reborn(taken(3*time.Hour, 50_000), taken(time.Hour, 255)), want: []string{perhaps}},
		"2048 bytes before it are content":                     {is: "boundary", seen: reborn(taken(3*time.Hour, 2048), taken(time.Hour, emptySize)), want: []string{emptied}},
		"2047 bytes are none":                                  {is: "boundary", seen: reborn(taken(3*time.Hour, 2047), taken(time.Hour, emptySize)), want: []string{perhaps}},
		"the last of 2048 bytes is the good one":               {is: "boundary", seen: reborn(taken(4*time.Hour, 60_000), taken(3*time.Hour, 2048), taken(time.Hour, emptySize)), want: []string{emptied}, says: []string{"the last snapshot from before is 2026-11-30T09:00:00Z-000001, 2048 bytes"}},
		"and is it still before a smaller one":                 {is: "boundary", seen: reborn(taken(4*time.Hour, 2048), taken(3*time.Hour, 2047), taken(time.Hour, emptySize)), want: []string{emptied}, says: []string{"the last snapshot from before is 2026-11-30T08:00:00Z-000001, 2048 bytes"}},
		"of the second of the birth is after":                  {is: "boundary", seen: reborn(taken(3*time.Hour, 50_000), taken(2*time.Hour, emptySize)), want: []string{emptied}},
		"a minute before it is its own":                        {is: "boundary", seen: reborn(taken(2*time.Hour+time.Minute, 50_000), taken(time.Hour, emptySize))},
		"a second more is another's":                           {is: "boundary", seen: reborn(taken(2*time.Hour+time.Minute+time.Second, 50_000), taken(time.Hour, emptySize)), want: []string{emptied}},

		"nothing is wrong":                            {is: "silent"},
		"a cluster that is small from its birth":      {is: "silent", seen: eachSnapshot(func(s *audit.Snapshot) { s.Data.Size = emptySize })},
		"a cluster that lost its content":             {is: "silent", seen: snapshotsAre(taken(2*time.Hour, 50_000), taken(time.Hour, emptySize))},
		"repaired, with the time of the oldest":       {is: "silent", seen: func(o *audit.Observation) { bornAtTime(o.Listing.Value.Snapshots[0].Taken)(o) }},
		"created has no time in it":                   {is: "silent", seen: all(reborn(taken(3*time.Hour, 50_000), taken(time.Hour, emptySize)), createdIs("x", noon))},
		"created is missing":                          {is: "silent", seen: all(reborn(taken(3*time.Hour, 50_000), taken(time.Hour, emptySize)), loseCreated)},
		"created is archived":                         {is: "silent", seen: all(reborn(taken(3*time.Hour, 50_000), taken(time.Hour, emptySize)), archiveCreated)},
		"no snapshot at all":                          {is: "silent", seen: all(bornAtTime(noon.Add(-2*time.Hour)), noSnapshots)},
		"a directory with a name of another's making": {is: "silent", seen: reborn(audit.Snapshot{Name: "by-hand", Data: &audit.Object{Size: 50_000}, Meta: &audit.Object{}}, taken(time.Hour, emptySize))},

		"created was not seen":   {is: "blind", seen: all(reborn(taken(3*time.Hour, 50_000), taken(time.Hour, emptySize)), unseen(audit.FactCreated))},
		"the snapshots were not": {is: "blind", seen: all(reborn(taken(3*time.Hour, 50_000), taken(time.Hour, emptySize)), unseen(audit.FactListing))},
		"what kops says was not": {is: "blind", seen: all(reborn(taken(3*time.Hour, 50_000), taken(time.Hour, emptySize)), kopsCreated(noon.Add(-2*time.Hour-time.Minute)), unseen(audit.FactKops)), want: []string{emptied}},
		"the versions were not":  {is: "blind", seen: all(reborn(taken(3*time.Hour, 50_000), taken(time.Hour, emptySize)), unseen(audit.FactControlVersions)), want: []string{emptied}},
	},
}

func TestControlReseeded(t *testing.T) { controlReseededSuite.cases.run(t, controlReseeded) }

package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// barren is a cluster of the given age that never gave a snapshot.
func barren(age time.Duration) func(o *audit.Observation) {
	return all(bornAtTime(noon.Add(-age)), noSnapshots)
}

const never = "this store holds no complete snapshot"

var snapshotNoneSuite = suite{ages: true, cases: cases{
	"a cluster of a month": {is: "speaks", seen: barren(30 * audit.Day), want: []string{"critical: the cluster is 30d old and " + never}, never: []string{"older than the cluster"}, says: []string{"error during backup", "etcdctl snapshot save"}},
	"half snapshots are none": {is: "speaks", seen: all(barren(audit.Day), snapshotsAre(withoutMeta(taken(time.Hour, 50_000)), withoutData(taken(0, 50_000)))),
		want: []string{"critical: " + never}},
	"a directory that somebody made is none": {is: "speaks", seen: all(barren(audit.Day), snapshotsAre(byHand("before-upgrade"))), want: []string{"critical: " + never}},
	"a copy with names that are all yet to come": {is: "speaks", seen: all(barren(audit.Day), snapshotsAre(withoutMeta(storedLate(9*audit.Day, 9*audit.Day)), withoutMeta(storedLate(5*audit.Day, 5*audit.Day)), storedLate(-audit.Day, -audit.Day))),
		want: []string{"critical: the cluster is 24h old"}},
	"created tells no time, so S3's counts":           {is: "speaks", seen: all(barren(0), createdIs("x", noon.Add(-audit.Day))), want: []string{"critical: the cluster is 24h old"}},
	"created was repaired today, and tells its birth": {is: "speaks", seen: all(barren(0), rewritten(time.Minute)), want: []string{"critical: the cluster is 400d old"}},
	"created is empty, and old":                       {is: "speaks", seen: all(barren(0), createdIs("", noon.Add(-audit.Day))), want: []string{"critical: " + never}},

	"those that are there are a namesake's": {is: "speaks", seen: all(bornAtTime(noon.Add(-audit.Day)), snapshotsAre(taken(9*audit.Day, 50_000)), kopsCreated(noon.Add(-2*audit.Day))),
		want: []string{"critical: the cluster is 24h old and " + never}, says: []string{"2026-11-21T12:00:00Z-000001, of 2026-11-21 12:00:02Z, is older than the cluster, which kops created at 2026-11-28 12:00:00Z"}},

	"kops created the cluster at a time ahead, which says nothing": {is: "boundary", seen: kopsCreated(noon.Add(time.Hour + time.Second))},
	"kops created the cluster just now, by another clock": {is: "boundary", seen: all(bornAtTime(noon.Add(-audit.Day)), kopsCreated(noon.Add(time.Hour))),
		want: []string{"critical: the cluster is 24h old and " + never}},

	"an hour is time enough":                   {is: "boundary", seen: barren(time.Hour)},
	"a second more is too much":                {is: "boundary", seen: barren(time.Hour + time.Second), want: []string{"critical: " + never}},
	"two intervals are, where they are longer": {is: "boundary", seen: barren(4 * time.Hour), policy: func(p *audit.Policy) { p.Interval = 2 * time.Hour }},
	"and a second more is too much":            {is: "boundary", seen: barren(4*time.Hour + time.Second), policy: func(p *audit.Policy) { p.Interval = 2 * time.Hour }, want: []string{"critical: " + never}},
	"a short interval makes no haste":          {is: "boundary", seen: barren(time.Hour), policy: func(p *audit.Policy) { p.Interval = time.Minute }},
	"one whole snapshot is one":                {is: "boundary", seen: snapshotsAre(taken(100*audit.Day, 50_000))},

	"nothing is wrong":          {is: "silent"},
	"the cluster is gone":       {is: "silent", seen: all(barren(30*audit.Day), orphan)},
	"a cluster of five minutes": {is: "silent", seen: barren(5 * time.Minute)},
	"created is missing":        {is: "silent", seen: all(loseCreated, noSnapshots)},

	"the snapshots were not seen": {is: "blind", seen: all(barren(audit.Day), unseen(audit.FactListing))},
	"what kops says was not seen": {is: "blind", seen: all(barren(30*audit.Day), orphan, unseen(audit.FactKops)), want: []string{"critical: " + never}},
	"created was not seen":        {is: "blind", seen: all(noSnapshots, unseen(audit.FactCreated))},
}}

func TestSnapshotNone(t *testing.T) { snapshotNoneSuite.cases.run(t, snapshotNone) }

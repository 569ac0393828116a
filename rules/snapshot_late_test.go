package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

func every(interval time.Duration) func(p *audit.Policy) {
	return func(p *audit.Policy) { p.Interval = interval }
}

var snapshotLateSuite = suite{ages: true, cases: cases{
	"three hours old": {is: "speaks", seen: newestAt(3 * time.Hour), want: []string{"warning: the newest snapshot is 3h old; one is expected every 15m"},
		says: []string{"error during backup", "Critical after 6h", "2026-11-30T08:59:58Z-000001"}},
	"an interval of two hours": {is: "speaks", seen: newestAt(20 * time.Hour), policy: every(2 * time.Hour), want: []string{"warning: the newest snapshot is 20h old; one is expected every 2h"}},

	"an hour is not late":                    {is: "boundary", seen: newestAt(time.Hour)},
	"a second more is":                       {is: "boundary", seen: newestAt(time.Hour + time.Second), want: []string{"warning: the newest snapshot is 60m old"}},
	"six hours are still late":               {is: "boundary", seen: newestAt(6 * time.Hour), want: []string{"warning: the newest snapshot is 6h old"}},
	"a second more is stale, which is more":  {is: "boundary", seen: newestAt(6*time.Hour + time.Second)},
	"three intervals are not late":           {is: "boundary", seen: newestAt(6 * time.Hour), policy: every(2 * time.Hour)},
	"and a second is":                        {is: "boundary", seen: newestAt(6*time.Hour + time.Second), policy: every(2 * time.Hour), want: []string{"warning: 6h old"}},
	"twelve intervals are late":              {is: "boundary", seen: newestAt(24 * time.Hour), policy: every(2 * time.Hour), want: []string{"warning: 24h old"}},
	"and a second is stale":                  {is: "boundary", seen: newestAt(24*time.Hour + time.Second), policy: every(2 * time.Hour)},
	"an interval of a minute makes no haste": {is: "boundary", seen: newestAt(time.Hour), policy: every(time.Minute)},

	"the first second of a cluster is its own": {is: "boundary", seen: all(newestAt(3*time.Hour), kopsCreated(noon.Add(-3*time.Hour))), want: []string{"warning: 3h old"}},
	"the second before is a namesake's":        {is: "boundary", seen: all(newestAt(3*time.Hour), kopsCreated(noon.Add(-3*time.Hour+time.Second)))},
	"kops does not tell when it was created":   {is: "boundary", seen: all(newestAt(3*time.Hour), kopsCreated(time.Time{})), want: []string{"warning: 3h old"}},

	"fresh":                                      {is: "silent"},
	"no backups are expected":                    {is: "silent", seen: newestAt(3 * time.Hour), policy: asleep},
	"the cluster is gone":                        {is: "silent", seen: all(newestAt(3*time.Hour), orphan)},
	"kops's interval is two hours":               {is: "silent", seen: all(newestAt(6*time.Hour), kopsSays(func(k *audit.Kops) { k.Interval = 2 * time.Hour }))},
	"a cluster that keeps its backups elsewhere": {is: "speaks", seen: all(newestAt(3*time.Hour), moved("s3://other/x")), want: []string{"warning: 3h old"}},
	"stale":       {is: "silent", seen: newestAt(14 * audit.Day)},
	"none at all": {is: "silent", seen: noSnapshots},
	"the writer's clock is an hour slow, S3's is not": {is: "silent", seen: snapshotsAre(storedLate(3*time.Hour, 3*time.Hour))},
	"the writer's clock is fast":                      {is: "speaks", seen: snapshotsAre(storedLate(-time.Hour, -3*time.Hour)), want: []string{"warning: 2h old"}},

	"the snapshots were not seen":  {is: "blind", seen: all(newestAt(3*time.Hour), unseen(audit.FactListing))},
	"what kops says was not seen":  {is: "blind", seen: all(newestAt(3*time.Hour), orphan, unseen(audit.FactKops)), want: []string{"warning: 3h old"}},
	"the newest meta was not seen": {is: "blind", seen: all(newestAt(3*time.Hour), unseen(audit.FactNewestMeta)), want: []string{"warning: the newest snapshot is 3h old"}},
}}

func TestSnapshotLate(t *testing.T) { snapshotLateSuite.cases.run(t, snapshotLate) }

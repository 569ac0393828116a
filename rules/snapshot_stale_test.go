package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

var snapshotStaleSuite = suite{ages: true, cases: cases{
	"fresh":                                         {is: "silent"},
	"exactly six hours old":                         {is: "boundary", seen: newestAt(6 * time.Hour)},
	"a second older":                                {is: "boundary", seen: newestAt(6*time.Hour + time.Second), want: []string{"critical: the newest snapshot is 6h old"}},
	"two weeks old":                                 {is: "speaks", seen: newestAt(14 * audit.Day), want: []string{"critical: 14d old; one is expected every 15m"}},
	"a long interval waits longer":                  {is: "silent", seen: newestAt(20 * time.Hour), policy: every(2 * time.Hour)},
	"a short one not shorter":                       {is: "silent", seen: newestAt(5 * time.Hour), policy: every(time.Minute)},
	"twelve long intervals":                         {is: "boundary", seen: newestAt(24 * time.Hour), policy: every(2 * time.Hour)},
	"and a second":                                  {is: "boundary", seen: newestAt(24*time.Hour + time.Second), policy: every(2 * time.Hour), want: []string{"critical: 24h old; one is expected every 2h"}},
	"the first second of a cluster is its own":      {is: "boundary", seen: all(newestAt(14*audit.Day), kopsCreated(noon.Add(-14*audit.Day))), want: []string{"critical: 14d old"}},
	"the second before is a namesake's":             {is: "boundary", seen: all(newestAt(14*audit.Day), kopsCreated(noon.Add(-14*audit.Day+time.Second)))},
	"no backups are expected":                       {is: "silent", seen: newestAt(7 * time.Hour), policy: asleep},
	"the cluster is gone":                           {is: "silent", seen: all(newestAt(14*audit.Day), orphan)},
	"what kops says was not seen":                   {is: "blind", seen: all(newestAt(14*audit.Day), orphan, unseen(audit.FactKops)), want: []string{"critical: 14d old"}},
	"kops's interval is two hours":                  {is: "silent", seen: all(newestAt(24*time.Hour), kopsSays(func(k *audit.Kops) { k.Interval = 2 * time.Hour }))},
	"none at all is another rule's":                 {is: "silent", seen: noSnapshots},
	"a newer one is half there":                     {is: "speaks", seen: snapshotsAre(taken(audit.Day, 50_000), withoutMeta(taken(0, 50_000))), want: []string{"critical: the newest snapshot is 23h old"}, says: []string{"2026-11-29T12:00:00Z-000001"}},
	"a newer one is a directory that somebody made": {is: "speaks", seen: snapshotsAre(taken(audit.Day, 50_000), byHand("before-upgrade")), want: []string{"critical: the newest snapshot is 23h old"}},
	"the meta was copied over itself today":         {is: "speaks", seen: snapshotsAre(func() audit.Snapshot { s := taken(audit.Day, 50_000); s.Meta.LastModified = noon; return s }()), want: []string{"critical: 23h old"}},
	"the writer's clock is days ahead":              {is: "speaks", seen: snapshotsAre(storedLate(-3*audit.Day, -4*audit.Day)), want: []string{"critical: 24h old"}},
	"the writer's clock is days behind":             {is: "silent", seen: snapshotsAre(storedLate(3*audit.Day+15*time.Minute, 3*audit.Day), storedLate(3*audit.Day, 3*audit.Day))},
	"a copy of today is as old as its names":        {is: "speaks", seen: snapshotsAre(storedLate(14*audit.Day, 14*audit.Day), storedLate(3*audit.Day, 3*audit.Day)), want: []string{"critical: the newest snapshot is 3d old"}},
	"not listed":                                    {is: "blind", seen: func(o *audit.Observation) { o.Listing = denied[audit.Listing]("s3:ListBucket") }},
}}

func TestSnapshotStale(t *testing.T) { snapshotStaleSuite.cases.run(t, snapshotStale) }

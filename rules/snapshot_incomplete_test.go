package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// dataAged is data without meta that S3 dates so long ago.
func dataAged(age time.Duration) audit.Snapshot {
	s := withoutMeta(taken(age, 50_000))
	s.Data.LastModified = noon.Add(-age)
	return s
}

var snapshotIncompleteSuite = suite{ages: true, limits: []limit{timeLimit("uploadTime", &uploadTime)}, cases: cases{
	"data without meta": {is: "speaks", seen: snapshotsAre(withoutMeta(taken(audit.Day, 50_000)), taken(0, 50_000)),
		want: []string{"warning: 1 snapshot has data and no _etcd_backup.meta"}, says: []string{"2026-11-29T12:00:00Z-000001", "The upload broke off"}},
	"meta without data": {is: "speaks", seen: snapshotsAre(withoutData(taken(audit.Day, 50_000)), taken(0, 50_000)),
		want: []string{"warning: 1 snapshot has an _etcd_backup.meta and no data"}, says: []string{"2026-11-29T12:00:00Z-000001", "Do NOT restore it"}},
	"some of each": {is: "speaks", seen: snapshotsAre(withoutData(taken(3*audit.Day, 50_000)), withoutMeta(taken(2*audit.Day, 50_000)), withoutMeta(taken(audit.Day, 50_000)), taken(0, 50_000)),
		want: []string{"warning: 2 snapshots have data and no", "warning: 1 snapshot has an _etcd_backup.meta and no data"}},

	"ten minutes are an upload":          {is: "boundary", seen: snapshotsAre(dataAged(10*time.Minute), taken(0, 50_000))},
	"a second more is none":              {is: "boundary", seen: snapshotsAre(dataAged(10*time.Minute+time.Second), taken(0, 50_000)), want: []string{"warning: 1 snapshot has data and no"}},
	"it is S3's time that counts":        {is: "boundary", seen: snapshotsAre(withoutMeta(storedLate(time.Hour, 55*time.Minute)), taken(0, 50_000))},
	"meta without data has no such time": {is: "boundary", seen: snapshotsAre(taken(time.Minute, 50_000), withoutData(taken(0, 50_000))), want: []string{"warning: 1 snapshot has an _etcd_backup.meta and no data"}},
	"five are named": {is: "boundary", seen: eachSnapshot(func(s *audit.Snapshot) {
		if s.Taken.Before(noon.Add(-30 * time.Minute)) {
			s.Data = nil
		}
	}), want: []string{"warning: 5 snapshots have an"}, says: []string{"2026-11-30T11:25:00Z-000001"}, never: []string{"…"}},
	"the sixth is not": {is: "boundary", seen: eachSnapshot(func(s *audit.Snapshot) {
		if s.Taken.Before(noon.Add(-15 * time.Minute)) {
			s.Data = nil
		}
	}), want: []string{"warning: 6 snapshots have an"}, says: []string{"2026-11-30T11:25:00Z-000001, …"}, never: []string{"11:40:00Z"}},

	"nothing is wrong":       {is: "silent"},
	"an upload is under way": {is: "silent", seen: snapshotsAre(taken(15*time.Minute, 50_000), dataAged(5*time.Second))},
	"no snapshots":           {is: "silent", seen: noSnapshots},

	"the snapshots were not seen": {is: "blind", seen: unseen(audit.FactListing)},
}}

func TestSnapshotIncomplete(t *testing.T) { snapshotIncompleteSuite.cases.run(t, snapshotIncomplete) }

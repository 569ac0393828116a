package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// inClass puts the data of a snapshot into a storage class.
func inClass(class string, s audit.Snapshot) audit.Snapshot {
	s.Data.StorageClass = class
	return s
}

func metaInClass(class string, s audit.Snapshot) audit.Snapshot {
	s.Meta.StorageClass = class
	return s
}

var (
	archivedOld    = inClass("GLACIER", taken(30*audit.Day, 50_000))
	archivedNewest = inClass("DEEP_ARCHIVE", taken(5*time.Minute, 50_000))
)

var snapshotArchivedSuite = suite{cases: cases{
	"the newest": {is: "speaks", seen: snapshotsAre(taken(20*time.Minute, 50_000), archivedNewest),
		want: []string{"critical: the newest snapshot, 2026-11-30T11:55:00Z-000001, lies in storage class DEEP_ARCHIVE and cannot be read before it is thawed, which takes up to two days; the newest that can be read is 2026-11-30T11:40:00Z-000001"},
		says: []string{"Do NOT queue a restore", "aws s3api restore-object", "transition"}},
	"all of them": {is: "speaks", seen: snapshotsAre(archivedOld, inClass("GLACIER", taken(20*time.Minute, 50_000))),
		want: []string{"critical: lies in storage class GLACIER and cannot be read before it is thawed, which takes up to two days; no other can be read"},
		says: []string{"2026-10-31T12:00:00Z-000001, 2026-11-30T11:40:00Z-000001"}},
	"old ones": {is: "speaks", seen: snapshotsAre(archivedOld, inClass("DEEP_ARCHIVE", taken(20*audit.Day, 50_000)), taken(5*time.Minute, 50_000)),
		want: []string{"warning: 2 snapshots of this store, not the newest, in an archive class"}, says: []string{"2026-10-31T12:00:00Z-000001, 2026-11-10T12:00:00Z-000001", "ignore this rule"}},
	"old ones and the newest": {is: "speaks", seen: snapshotsAre(archivedOld, taken(20*time.Minute, 50_000), archivedNewest), want: []string{"critical: the newest snapshot", "warning: 1 snapshot of this store"}},
	"the meta alone":          {is: "speaks", seen: snapshotsAre(taken(20*time.Minute, 50_000), metaInClass("GLACIER", taken(5*time.Minute, 50_000))), want: []string{"critical: lies in storage class GLACIER"}},

	"an archive class that is read at once": {is: "boundary", seen: snapshotsAre(inClass("GLACIER_IR", taken(5*time.Minute, 50_000)))},
	"infrequent access is no archive":       {is: "boundary", seen: snapshotsAre(inClass("STANDARD_IA", taken(20*time.Minute, 50_000)), inClass("ONEZONE_IA", taken(5*time.Minute, 50_000)))},
	"Intelligent-Tiering cannot be told":    {is: "boundary", seen: snapshotsAre(inClass("INTELLIGENT_TIERING", taken(5*time.Minute, 50_000)))},
	"a half is no snapshot":                 {is: "boundary", seen: snapshotsAre(withoutMeta(inClass("GLACIER", taken(20*time.Minute, 50_000))), taken(5*time.Minute, 50_000))},
	"what has no date is no snapshot": {is: "boundary", seen: func(o *audit.Observation) {
		s := inClass("GLACIER", taken(20*time.Minute, 50_000))
		s.Name, s.Taken = "zz", time.Time{}
		o.Listing.Value.Snapshots = append(o.Listing.Value.Snapshots, s)
	}},

	"five are named": {is: "boundary", seen: all(eachSnapshot(func(s *audit.Snapshot) {
		if s.Taken.Before(noon.Add(-30 * time.Minute)) {
			s.Data.StorageClass = "GLACIER"
		}
	})), want: []string{"warning: 5 snapshots of this store"}, never: []string{"…"}},
	"the sixth is not": {is: "boundary", seen: all(eachSnapshot(func(s *audit.Snapshot) {
		if s.Taken.Before(noon.Add(-15 * time.Minute)) {
			s.Data.StorageClass = "GLACIER"
		}
	})), want: []string{"warning: 6 snapshots of this store"}, says: []string{", …"}, never: []string{"11:40:00Z"}},
	"nothing is wrong":       {is: "silent"},
	"there are no snapshots": {is: "silent", seen: noSnapshots},

	"the listing was not seen": {is: "blind", seen: all(snapshotsAre(archivedNewest), unseen(audit.FactListing))},
}}

func TestSnapshotArchived(t *testing.T) { snapshotArchivedSuite.cases.run(t, snapshotArchived) }

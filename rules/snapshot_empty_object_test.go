package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// sized are snapshots of an hour apart, of the given sizes, the last the newest.
func sized(sizes ...int64) func(o *audit.Observation) {
	var list []audit.Snapshot
	for i, n := range sizes {
		list = append(list, taken(time.Duration(len(sizes)-1-i)*time.Hour, n))
	}
	return snapshotsAre(list...)
}

var snapshotEmptyObjectSuite = suite{limits: []limit{bytesLimit("smallestSnapshotBytes", &smallestSnapshotBytes)}, cases: cases{
	"the newest has no bytes": {is: "speaks", seen: sized(50_000, 0), want: []string{"critical: the newest snapshot has 0 bytes, which is less than any snapshot has: it cannot be restored"},
		says: []string{"2026-11-30T12:00:00Z-000001/etcd.backup.gz", "Save a snapshot by hand now", "at least 256 bytes"}},
	"an older one has no bytes": {is: "speaks", seen: sized(0, 50_000), want: []string{"warning: 1 snapshot, not the newest, too small to be restored"}, says: []string{"2026-11-30T11:00:00Z-000001/etcd.backup.gz"}},
	"both":                      {is: "speaks", seen: sized(0, 20, 50_000, 20), want: []string{"critical: the newest snapshot has 20 bytes", "warning: 2 snapshots, not the newest"}},
	"the newest by S3's clock, not by name": {is: "speaks", seen: snapshotsAre(func() audit.Snapshot { s := storedLate(time.Hour, time.Hour); s.Data.Size = 0; return s }(), storedLate(0, -20*time.Minute)),
		want: []string{"critical: the newest snapshot has 0 bytes"}},

	"one byte less than a snapshot": {is: "boundary", seen: sized(50_000, 255), want: []string{"critical: the newest snapshot has 255 bytes"}},
	"exactly as many":               {is: "boundary", seen: sized(50_000, 256)},
	"an older one with one less":    {is: "boundary", seen: sized(255, 50_000), want: []string{"warning: 1 snapshot, not the newest"}},
	"an older one with as many":     {is: "boundary", seen: sized(256, 50_000)},
	"five are named":                {is: "boundary", seen: sized(0, 0, 0, 0, 0, 50_000), want: []string{"warning: 5 snapshots"}, says: []string{"11:00:00Z"}, never: []string{"…"}},
	"the sixth is not":              {is: "boundary", seen: sized(0, 0, 0, 0, 0, 0, 50_000), want: []string{"warning: 6 snapshots"}, says: []string{"…"}, never: []string{"11:00:00Z"}},

	"nothing is wrong":           {is: "silent"},
	"an empty cluster's":         {is: "silent", seen: sized(590, 590)},
	"no snapshots":               {is: "silent", seen: noSnapshots},
	"the newest is without data": {is: "silent", seen: snapshotsAre(taken(time.Hour, 50_000), withoutData(taken(0, 0)))},

	"the snapshots were not seen": {is: "blind", seen: all(sized(0), unseen(audit.FactListing))},
}}

func TestSnapshotEmptyObject(t *testing.T) {
	snapshotEmptyObjectSuite.cases.run(t, snapshotEmptyObject)
}

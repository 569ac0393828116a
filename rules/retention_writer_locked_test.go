package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

func lockedFor(d time.Duration) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Bucket.ObjectLock = audit.Is(audit.ObjectLock{Mode: "GOVERNANCE", Retention: d})
	}
}

var retentionWriterLockedSuite = suite{limits: []limit{timeLimit("cleanupFrom", &cleanupFrom)}, cases: cases{
	"two weeks": {is: "speaks", seen: lockedFor(14 * audit.Day),
		want: []string{"warning: Object Lock keeps every new version in this bucket for 14d (GOVERNANCE), and etcd-manager's cleanup deletes snapshots from the age of an hour on"},
		says: []string{"up to 1344 snapshots pile up", "legal hold", "Do NOT add a lifecycle rule"}},
	"a day is the shortest that S3 has": {is: "speaks", seen: lockedFor(audit.Day), want: []string{"warning: for 24h"}},

	"an hour is the cleanup's":       {is: "boundary", seen: lockedFor(time.Hour)},
	"a second more is not":           {is: "boundary", seen: lockedFor(time.Hour + time.Second), want: []string{"warning: Object Lock keeps"}},
	"no retention locks nothing":     {is: "boundary", seen: lockedFor(0)},
	"no interval, no number":         {is: "boundary", policy: every(0), seen: lockedFor(audit.Day), want: []string{"warning: Object Lock keeps"}, never: []string{"pile up"}},
	"half a snapshot is nothing yet": {is: "boundary", seen: all(lockedFor(audit.Day), snapshotsAre(withoutMeta(taken(0, 50_000))))},

	"nothing is wrong":     {is: "silent"},
	"no lock":              {is: "silent", seen: noLock},
	"no snapshots yet":     {is: "silent", seen: all(lockedFor(audit.Day), noSnapshots)},
	"an archive is locked": {is: "silent", seen: lockedFor(365 * audit.Day), policy: func(p *audit.Policy) { p.Role = audit.Archive }},

	"the lock was not seen":    {is: "blind", seen: unseen(audit.FactObjectLock)},
	"the listing was not seen": {is: "blind", seen: all(lockedFor(audit.Day), unseen(audit.FactListing))},
}}

func TestRetentionWriterLocked(t *testing.T) {
	retentionWriterLockedSuite.cases.run(t, retentionWriterLocked)
}

package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// asked says what the run was to read.
func asked(what string) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Verification.Asked = what }
}

func left(n int, why string) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Verification.Left, o.Verification.LeftWhy = n, why }
}

func within(d time.Duration) func(p *audit.Policy) {
	return func(p *audit.Policy) { p.RestorableWithin = d }
}

var snapshotUnverifiedSuite = suite{ages: true, cases: cases{
	"the newest could not be read": {is: "speaks", seen: verified("", "", "", "", "", "", audit.Unverified),
		want: []string{"unknown: the newest snapshot, 2026-11-30T11:55:00Z-000001, was to be read to its end and was not"},
		says: []string{"too-big: it needs more memory than it may have", "--max-memory"}},
	"the time was up": {is: "speaks", seen: all(asked("newest"), left(1, "the time for it was up (--max-duration)")),
		want: []string{"unknown: the newest snapshot"}, says: []string{"1 snapshot not read: the time for it was up"}},
	"an older one is known to restore": {is: "speaks", seen: verified("", "", "", "", "", audit.Intact, audit.Unverified), want: []string{"info: the newest snapshot"}},
	"older ones could not be read": {is: "speaks", seen: verified(audit.Unverified, audit.Intact, "", "", "", "", audit.Intact),
		want: []string{"info: 1 snapshot of this store could not be verified"}},
	"some are left": {is: "speaks", seen: all(verified("", "", "", "", "", "", audit.Intact), left(5, "it was interrupted")),
		want: []string{"info: 5 snapshots of this store could not be verified"}, says: []string{"5 snapshots not read: it was interrupted"}},
	"remembered": {is: "speaks", seen: all(verified(audit.Unverified), asked(""), each(remembered)), want: []string{"info: 1 snapshot"}},

	"nobody verifies":          {is: "silent"},
	"all are intact":           {is: "silent", seen: verified(audit.Intact, audit.Intact, audit.Intact, audit.Intact, audit.Intact, audit.Intact, audit.Intact)},
	"the newest is damaged":    {is: "silent", seen: verified("", "", "", "", "", "", audit.Damaged)},
	"the newest is archived":   {is: "silent", seen: all(asked("newest"), func(o *audit.Observation) { o.Listing.Value.Snapshots[6].Data.StorageClass = "GLACIER" })},
	"without any snapshot":     {is: "silent", seen: all(asked("newest"), noSnapshots)},
	"within the limit of age":  {is: "boundary", policy: within(20*time.Minute - 2*time.Second), seen: verified("", "", "", "", "", audit.Intact, audit.Unverified), want: []string{"info: the newest snapshot"}},
	"a second older":           {is: "boundary", policy: within(20*time.Minute - 3*time.Second), seen: verified("", "", "", "", "", audit.Intact, audit.Unverified), want: []string{"unknown: the newest snapshot"}},
	"a policy without a limit": {is: "boundary", policy: within(0), seen: verified("", "", "", "", "", audit.Intact, audit.Unverified), want: []string{"info: the newest snapshot"}},

	"no listing": {is: "blind", seen: all(asked("newest"), unseen(audit.FactListing))},
}}

func TestSnapshotUnverified(t *testing.T) { snapshotUnverifiedSuite.cases.run(t, snapshotUnverified) }

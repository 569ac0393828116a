package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// rememberedSince says for how long the ledger has known the store.
func rememberedSince(age time.Duration) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Verification.Remembers = true
		o.Memory = &audit.Memory{Since: noon.Add(-age), Last: noon.Add(-time.Hour)}
	}
}

var snapshotNewestRestorableOldSuite = suite{ages: true, cases: cases{
	"the newest are damaged": {is: "speaks", policy: within(time.Hour), seen: verified("", audit.Intact, "", "", audit.Damaged, audit.Damaged),
		want: []string{"critical: the newest snapshot that is known to restore, 2026-11-30T10:40:00Z-000001, is 79m old, and of the newer ones that were looked into 2 snapshots are damaged"},
		says: []string{"2026-11-30T11:25:00Z-000001, 2026-11-30T11:40:00Z-000001", "within 60m"}},
	"all that were read are damaged": {is: "speaks", seen: verified(audit.Damaged, "", audit.Damaged),
		want: []string{"critical: none of its snapshots is known to restore"}},
	"none newer was read": {is: "speaks", policy: within(time.Hour), seen: verified("", audit.Intact), want: []string{"warning: the newest snapshot that is known to restore, 2026-11-30T10:40:00Z-000001, is 79m old, and none newer was read"}},
	"none was ever read, for two days": {is: "speaks", seen: all(asked("newest"), rememberedSince(2*audit.Day)),
		want: []string{"warning: none of its snapshots is known to restore, and none newer"}},

	"the newest is intact":          {is: "silent", seen: verified("", "", "", "", "", "", audit.Intact)},
	"the newest is old, and intact": {is: "silent", policy: within(time.Minute), seen: verified("", "", "", "", "", "", audit.Intact)},
	"the newest itself is damaged":  {is: "silent", policy: within(time.Hour), seen: verified("", audit.Intact, "", "", "", audit.Damaged, audit.Damaged)},
	"nobody verifies":               {is: "silent", seen: rememberedSince(9 * audit.Day)},
	"the first run had no time":     {is: "silent", seen: asked("newest")},
	"an archive":                    {is: "silent", policy: func(p *audit.Policy) { p.RestorableWithin, p.Role = time.Hour, audit.Archive }, seen: verified("", audit.Intact)},
	"no snapshot at all":            {is: "silent", seen: all(asked("newest"), noSnapshots)},

	"just in time":      {is: "boundary", policy: within(80*time.Minute - 2*time.Second), seen: verified("", audit.Intact)},
	"a second too late": {is: "boundary", policy: within(80*time.Minute - 3*time.Second), seen: verified("", audit.Intact), want: []string{"warning: "}},
	"a day of memory":   {is: "boundary", seen: all(asked("newest"), rememberedSince(audit.Day))},
	"a second more":     {is: "boundary", seen: all(asked("newest"), rememberedSince(audit.Day+time.Second)), want: []string{"warning: none"}},

	"no listing": {is: "blind", seen: all(verified(audit.Damaged), unseen(audit.FactListing))},
}}

func TestSnapshotNewestRestorableOld(t *testing.T) {
	snapshotNewestRestorableOldSuite.cases.run(t, snapshotNewestRestorableOld)
}

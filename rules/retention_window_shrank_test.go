package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// reached says how far the snapshots reached back, a day before noon.
func reached(length time.Duration) func(o *audit.Observation) {
	return memory(func(m *audit.Memory) {
		m.Window = audit.Reach{Length: length, Oldest: "2026-01-01T00:00:00Z-000001", At: noon.Add(-audit.Day)}
	})
}

// oldestAge gives the store one snapshot of this age.
func oldestAge(age time.Duration) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Listing.Value.Snapshots = []audit.Snapshot{snapshot(o.Store, noon.Add(-age-2*time.Second), 50_000)}
	}
}

var retentionWindowShrankSuite = suite{ages: true, limits: []limit{timeLimit("shrunkFloor", &shrunkFloor), numberLimit("shrunkPercent", &shrunkPercent)}, cases: cases{
	"from 60 days to 7": {is: "speaks", seen: all(oldestAge(7*audit.Day), reached(60*audit.Day)),
		want: []string{"warning: they reach back 7d, to 2026-11-23T11:59:58Z-000001; at 2026-11-29 12:00:00Z they reached back 60d, to 2026-01-01T00:00:00Z-000001"},
		says: []string{"list-object-versions", "lifecycle/changed"}},
	"to nothing": {is: "speaks", seen: all(noSnapshots, reached(60*audit.Day)), want: []string{"warning: no snapshot is left; at "}},

	"it grew":                {is: "silent", seen: all(oldestAge(61*audit.Day), reached(60*audit.Day))},
	"without a ledger":       {is: "silent", seen: oldestAge(time.Hour)},
	"never any snapshot":     {is: "silent", seen: all(noSnapshots, reached(0))},
	"a tenth":                {is: "boundary", seen: all(oldestAge(54*audit.Day), reached(60*audit.Day))},
	"a second more":          {is: "boundary", seen: all(oldestAge(54*audit.Day-time.Second), reached(60*audit.Day)), want: []string{"warning: "}},
	"more than a tenth":      {is: "boundary", seen: all(oldestAge(53*audit.Day), reached(60*audit.Day)), want: []string{"warning: "}},
	"a day of two":           {is: "boundary", seen: all(oldestAge(audit.Day), reached(2*audit.Day))},
	"a day of two, a second": {is: "boundary", seen: all(oldestAge(audit.Day-time.Second), reached(2*audit.Day)), want: []string{"warning: "}},

	"no listing": {is: "blind", seen: all(reached(60*audit.Day), unseen(audit.FactListing))},
}}

func TestRetentionWindowShrank(t *testing.T) {
	retentionWindowShrankSuite.cases.run(t, retentionWindowShrank)
}

package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

var snapshotRestoredSuite = suite{ages: true, limits: []limit{numberLimit("keptPercent", &keptPercent), timeLimit("restoredNews", &restoredNews)}, cases: cases{
	"an hour ago": {is: "speaks", seen: contents(holds(900, 80), holds(1000, 85), holds(950, 82)),
		want: []string{"warning: between 2026-11-30T10:40:00Z-000001 and 2026-11-30T10:55:00Z-000001 the revision fell from 1000 to 950 and the keys stayed"},
		says: []string{"has revision 950 and 82 keys", "nothing is to be done", "queue"}},
	"two days ago": {is: "speaks", at: 2 * audit.Day, seen: contents(holds(1000, 85), holds(950, 82)), want: []string{"info: between 2026-11-30T10:25:00Z-000001"}},

	"the revision rises": {is: "silent", seen: contents(holds(900, 80), holds(1000, 85), holds(1100, 40))},
	"a reset":            {is: "silent", seen: contents(holds(1000, 85), holds(90, 0))},
	"nothing was opened": {is: "silent"},

	"half of the keys are there": {is: "boundary", seen: contents(holds(1000, 100), holds(90, 50)), want: []string{"warning: "}},
	"one key less":               {is: "boundary", seen: contents(holds(1000, 100), holds(90, 49))},
	"a day":                      {is: "boundary", at: -80*time.Minute + 2*time.Second + audit.Day, seen: contents(holds(1000, 85), holds(950, 82)), want: []string{"warning: "}},
	"a second more":              {is: "boundary", at: -80*time.Minute + 3*time.Second + audit.Day, seen: contents(holds(1000, 85), holds(950, 82)), want: []string{"info: "}},

	"no listing": {is: "blind", seen: all(contents(holds(1000, 85), holds(950, 82)), unseen(audit.FactListing))},
}}

func TestSnapshotRestored(t *testing.T) { snapshotRestoredSuite.cases.run(t, snapshotRestored) }

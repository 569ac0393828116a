package rules

import (
	"strconv"
	"testing"

	"backstop/audit"
)

func ackReset(p *audit.Policy) {
	p.Acknowledged = []audit.Acknowledgement{{Rule: "control/reseeded", Event: strconv.FormatInt(snapshotAt(2).UnixNano(), 10), Reason: "a rebuild"}}
}

const resetHere = "critical: between 2026-11-30T10:40:00Z-000001 and 2026-11-30T10:55:00Z-000001 the cluster was replaced by another: its revision fell from 1000 to 90, and of 85 keys "

var snapshotResetDetectedSuite = suite{limits: []limit{numberLimit("keptPercent", &keptPercent)}, cases: cases{
	"an empty cluster took its place": {is: "speaks", seen: contents(holds(900, 80), holds(1000, 85), holds(90, 0), holds(95, 4)),
		want:  []string{resetHere + "0 are left"},
		says:  []string{"2026-11-30T10:55:00Z-000001 has revision 90 and 0 keys, 2026-11-30T10:40:00Z-000001 before it revision 1000 and 85 keys", "Do NOT delete volumes", "restore-backup 2026-11-30T10:40:00Z-000001", "Copy 2026-11-30T10:40:00Z-000001", `event: "2026-11-30T10:55:00Z-000001"`, "deletes it"},
		never: []string{"its members"}},
	"with other members":            {is: "speaks", seen: contents(nil, holds(1000, 85), holds(90, 4, "x")), want: []string{resetHere}, says: []string{"its members (x) are none of those before (a, b, c)"}},
	"others between were not read":  {is: "speaks", seen: contents(holds(1000, 85), nil, nil, holds(90, 4)), want: []string{"critical: between 2026-11-30T10:25:00Z-000001 and 2026-11-30T11:10:00Z-000001"}},
	"twice":                         {is: "speaks", seen: contents(holds(1000, 85), holds(90, 4), holds(2000, 85), holds(5, 1)), want: []string{"critical: ", "critical: "}},
	"another event is acknowledged": {is: "speaks", policy: ackReset, seen: all(bornAtTime(snapshotAt(2)), contents(holds(2000, 90), holds(1000, 10), holds(1001, 10))), want: []string{"critical: between 2026-11-30T10:25:00Z-000001"}},

	"the revision rises":         {is: "silent", seen: contents(holds(900, 80), holds(1000, 85), holds(1001, 3))},
	"the keys stay":              {is: "silent", seen: contents(holds(1000, 85), holds(900, 80))},
	"nothing was opened":         {is: "silent"},
	"the reset is acknowledged":  {is: "silent", policy: ackReset, seen: all(bornAtTime(snapshotAt(2)), contents(nil, holds(1000, 85), holds(90, 0)))},
	"half of the keys are there": {is: "boundary", seen: contents(nil, holds(1000, 100), holds(90, 50))},
	"one key less":               {is: "boundary", seen: contents(nil, holds(1000, 100), holds(90, 49)), want: []string{"critical: "}},
	"the same revision":          {is: "boundary", seen: contents(nil, holds(1000, 100), holds(1000, 1))},
	"one below it":               {is: "boundary", seen: contents(nil, holds(1000, 100), holds(999, 1)), want: []string{"critical: "}},
	"of a namesake":              {is: "boundary", seen: all(contents(nil, holds(1000, 100), holds(90, 1)), kopsCreated(snapshotAt(2)))},

	"no listing": {is: "blind", seen: all(contents(holds(1000, 85), holds(90, 4)), unseen(audit.FactListing))},
}}

func TestSnapshotResetDetected(t *testing.T) {
	snapshotResetDetectedSuite.cases.run(t, snapshotResetDetected)
}

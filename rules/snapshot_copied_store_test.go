package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

const copied = "info: this store was copied: their ages are taken from the names"

var snapshotCopiedStoreSuite = suite{cases: cases{
	"everything is of today, the names are of last week": {is: "speaks", seen: snapshotsAre(storedLate(9*audit.Day, 9*audit.Day), storedLate(8*audit.Day, 8*audit.Day), storedLate(7*audit.Day, 7*audit.Day)),
		want: []string{copied}},
	"the old ones were copied, and it runs since": {is: "speaks", seen: snapshotsAre(storedLate(9*audit.Day, 2*audit.Day), storedLate(8*audit.Day, audit.Day), taken(time.Minute, 50_000)), want: []string{copied}},

	"they differ by an hour, as a slow clock's may":  {is: "boundary", seen: snapshotsAre(storedLate(9*audit.Day, 3*time.Hour), storedLate(8*audit.Day, 2*time.Hour))},
	"they differ by a second more":                   {is: "boundary", seen: snapshotsAre(storedLate(9*audit.Day, 3*time.Hour+time.Second), storedLate(8*audit.Day, 2*time.Hour)), want: []string{copied}},
	"stored an hour after its name is a long upload": {is: "boundary", seen: snapshotsAre(storedLate(9*audit.Day, 4*time.Hour), storedLate(8*audit.Day, time.Hour))},
	"stored a second later is not":                   {is: "boundary", seen: snapshotsAre(storedLate(9*audit.Day, 4*time.Hour), storedLate(8*audit.Day, time.Hour+time.Second)), want: []string{copied}},
	"one alone was rewritten":                        {is: "boundary", seen: snapshotsAre(storedLate(9*audit.Day, 9*audit.Day), taken(8*audit.Day, 50_000), taken(0, 50_000))},

	"nothing is wrong":           {is: "silent"},
	"the writer's clock is slow": {is: "silent", seen: snapshotsAre(storedLate(9*audit.Day, 3*audit.Day), storedLate(8*audit.Day, 3*audit.Day))},
	"names that are no times":    {is: "silent", seen: snapshotsAre(byHand("a"), byHand("b"), taken(0, 50_000))},
	"no snapshots":               {is: "silent", seen: noSnapshots},

	"the snapshots were not seen": {is: "blind", seen: unseen(audit.FactListing)},
}}

func TestSnapshotCopiedStore(t *testing.T) {
	snapshotCopiedStoreSuite.cases.run(t, snapshotCopiedStore)
}

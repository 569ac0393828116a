package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// storedAt is a snapshot that S3 dates so long ago, with a name so much later;
// negative, earlier.
func storedAt(age, ahead time.Duration) func(o *audit.Observation) {
	return snapshotsAre(storedLate(age-ahead, -ahead))
}

var snapshotWriterClockSuite = suite{ages: true, limits: []limit{timeLimit("writerAhead", &writerAhead), timeLimit("writerBehind", &writerBehind), timeLimit("sameClock", &sameClock)}, cases: cases{
	"a day ahead": {is: "speaks", seen: storedAt(time.Minute, audit.Day), want: []string{"warning: a clock that is 24h ahead of S3's"},
		says: []string{"named 2026-12-01T11:59:00Z-000001, written 2026-11-30 11:59:00Z", "chronyd"}},
	"a day behind": {is: "speaks", seen: storedAt(time.Minute, -audit.Day), want: []string{"warning: a clock that is 24h behind S3's"}},

	"one node of three is behind": {is: "speaks", seen: snapshotsAre(storedLate(3*time.Hour+46*time.Minute, 3*time.Hour), storedLate(3*time.Hour+time.Minute, 3*time.Hour), taken(15*time.Minute, 50_000), taken(0, 50_000)),
		want: []string{"warning: a node that wrote others than the newest snapshot has a clock that is 3h behind S3's"}, says: []string{"written 2026-11-30 11:59:00Z"}},
	"ten minutes apart is one clock": {is: "boundary", seen: snapshotsAre(storedLate(3*time.Hour, 2*time.Hour), storedLate(3*time.Hour+20*time.Minute, 2*time.Hour+10*time.Minute), taken(0, 50_000)), want: []string{"warning: a node that wrote others"}},
	"a second more is none":          {is: "boundary", seen: snapshotsAre(storedLate(3*time.Hour, 2*time.Hour), storedLate(3*time.Hour+20*time.Minute, 2*time.Hour+10*time.Minute+time.Second), taken(0, 50_000))},
	"both must be fresh":             {is: "boundary", seen: snapshotsAre(storedLate(9*time.Hour, 3*time.Hour), storedLate(8*time.Hour, 3*time.Hour), taken(0, 50_000)), want: []string{"warning: a node that wrote others"}},
	"and one of them is not":         {is: "boundary", seen: snapshotsAre(storedLate(9*time.Hour+time.Second, 3*time.Hour), storedLate(8*time.Hour, 3*time.Hour), taken(0, 50_000))},
	"a meta alone is no snapshot":    {is: "boundary", seen: snapshotsAre(withoutData(storedLate(4*time.Hour, 3*time.Hour)), storedLate(3*time.Hour+time.Minute, 3*time.Hour), taken(0, 50_000))},

	"five minutes ahead":           {is: "boundary", seen: storedAt(time.Hour, 5*time.Minute)},
	"a second more":                {is: "boundary", seen: storedAt(time.Hour, 5*time.Minute+time.Second), want: []string{"warning: 5m ahead"}},
	"half an hour behind":          {is: "boundary", seen: storedAt(time.Hour, -30*time.Minute)},
	"a second more behind":         {is: "boundary", seen: storedAt(time.Hour, -30*time.Minute-time.Second), want: []string{"warning: 30m behind"}},
	"six hours old is still fresh": {is: "boundary", seen: storedAt(6*time.Hour, time.Hour), want: []string{"warning: 60m ahead"}},
	"a second older tells nothing": {is: "boundary", seen: storedAt(6*time.Hour+time.Second, time.Hour)},

	"nothing is wrong":        {is: "silent"},
	"an upload of 20 minutes": {is: "silent", seen: storedAt(time.Minute, -20*time.Minute)},
	"backups have stopped":    {is: "silent", seen: storedAt(14*audit.Day, time.Hour)},
	"the store is a copy":     {is: "silent", seen: snapshotsAre(storedLate(5*time.Hour, 4*time.Hour), storedLate(2*time.Hour, time.Hour+time.Minute))},
	"an older one was off":    {is: "silent", seen: snapshotsAre(storedLate(time.Hour, -time.Hour), taken(0, 50_000))},
	"no snapshots":            {is: "silent", seen: noSnapshots},

	"the snapshots were not seen": {is: "blind", seen: all(storedAt(time.Minute, audit.Day), unseen(audit.FactListing))},
}}

func TestSnapshotWriterClock(t *testing.T) {
	snapshotWriterClockSuite.cases.run(t, snapshotWriterClock)
}

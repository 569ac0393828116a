package rules

import (
	"slices"
	"testing"
	"time"

	"backstop/audit"
)

// spaced are n snapshots, one every so often, the newest of five minutes ago.
func spaced(n int, every time.Duration) func(o *audit.Observation) {
	var list []audit.Snapshot
	for i := n - 1; i >= 0; i-- {
		list = append(list, taken(5*time.Minute+time.Duration(i)*every, 50_000))
	}
	return snapshotsAre(list...)
}

// atClock are snapshots with these times of the day in their names, and one of
// five minutes ago. A cleanup has run since 10:30.
func atClock(clocks ...string) func(o *audit.Observation) {
	var list []audit.Snapshot
	for _, c := range clocks {
		at, err := time.Parse("2006-01-02 15:04:05", "2026-11-30 "+c)
		if err != nil {
			panic(err)
		}
		list = append(list, snapshot(ofStore, at, 50_000))
	}
	return snapshotsAre(append(list, taken(5*time.Minute, 50_000))...)
}

// ladder is what etcd-manager leaves of a backup every 15 minutes.
func ladder(hourly, daily time.Duration) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		var list []audit.Snapshot
		for at := noon.Add(-daily).Truncate(audit.Day).Add(audit.Day); at.Before(noon.Add(-hourly)); at = at.Add(audit.Day) {
			list = append(list, snapshot(ofStore, at.Add(4*time.Minute), 50_000))
		}
		for at := noon.Add(-hourly).Truncate(time.Hour).Add(time.Hour); at.Before(noon.Add(-time.Hour)); at = at.Add(time.Hour) {
			list = append(list, snapshot(ofStore, at.Add(4*time.Minute), 50_000))
		}
		for age := 50 * time.Minute; age > 0; age -= 15 * time.Minute {
			list = append(list, taken(age, 50_000))
		}
		snapshotsAre(list...)(o)
	}
}

func keepGiven(p *audit.Policy) {
	p.KeepHourly, p.KeepDaily = 2*audit.Day, 30*audit.Day
	p.Given.KeepHourly, p.Given.KeepDaily = true, true
}

func ladderOfKops(hourly, daily time.Duration) func(o *audit.Observation) {
	return kopsSays(func(k *audit.Kops) { k.Hourly, k.Daily = hourly, daily })
}

var retentionCleanupIneffectiveSuite = suite{limits: []limit{countLimit("cleanupSlack", &cleanupSlack), timeLimit("cleanupGrace", &cleanupGrace)}, cases: cases{
	"nothing is ever deleted": {is: "speaks", seen: spaced(400, 15*time.Minute),
		want: []string{"warning: 400 backups in this store, of which etcd-manager's cleanup should have deleted 292 (however long it is told to keep them, it leaves one of each hour); the oldest of them is 2026-11-26T08:25:00Z-000001"},
		says: []string{"s3:DeleteObjectVersion", "Do NOT add a lifecycle rule", "Nothing is logged"}, never: []string{"MFA"}},
	"because it takes a second factor": {is: "speaks", seen: all(spaced(400, 15*time.Minute), func(o *audit.Observation) { o.Bucket.MFADelete = true }), want: []string{"warning: 400 backups"}, says: []string{"MFA delete is on"}},
	"hourly ones, as kops's ladder has them no more": {is: "speaks", seen: all(spaced(400, time.Hour), ladderOfKops(7*audit.Day, 90*audit.Day)),
		want: []string{"warning: it keeps one of each hour for 7d and one of each day for 90d, as kops configures it"}},
	"daily ones that are too old":   {is: "speaks", seen: all(spaced(100, audit.Day), ladderOfKops(7*audit.Day, 90*audit.Day)), want: []string{"warning: 100 backups in this store, of which etcd-manager's cleanup should have deleted 9"}},
	"as the owner says":             {is: "speaks", seen: spaced(60, audit.Day), policy: keepGiven, want: []string{"warning: should have deleted 29 (it keeps one of each hour for 2d and one of each day for 30d, as the configuration says)"}},
	"kops is nearer than the owner": {is: "speaks", seen: all(spaced(100, audit.Day), ladderOfKops(7*audit.Day, 90*audit.Day)), policy: keepGiven, want: []string{"warning: should have deleted 9 (it keeps one of each hour for 7d"}},

	"kops gives the hours alone":        {is: "speaks", seen: all(spaced(100, audit.Day), ladderOfKops(7*audit.Day, 0)), want: []string{"warning: it keeps one of each hour for 7d"}, says: []string{"as kops configures it"}},
	"kops gives the days alone":         {is: "speaks", seen: all(spaced(100, audit.Day), ladderOfKops(0, 90*audit.Day)), want: []string{"warning: one of each day for 90d"}, says: []string{"as kops configures it"}},
	"the owner gives the days alone":    {is: "speaks", seen: spaced(60, audit.Day), policy: func(p *audit.Policy) { p.KeepDaily, p.Given.KeepDaily = 30*audit.Day, true }, want: []string{"warning: one of each day for 30d, as the configuration says"}},
	"the owner gives the hours alone":   {is: "speaks", seen: spaced(400, time.Hour), policy: func(p *audit.Policy) { p.KeepHourly, p.Given.KeepHourly = 2*audit.Day, true }, want: []string{"warning: one of each hour for 2d"}, says: []string{"as the configuration says"}},
	"three may be left over":            {is: "boundary", seen: atClock("09:00:00", "09:10:00", "09:20:00", "09:25:00", "09:30:01")},
	"four are too many":                 {is: "boundary", seen: atClock("09:00:00", "09:10:00", "09:20:00", "09:25:00", "09:30:00"), want: []string{"warning: should have deleted 4"}},
	"a longer interval gives more time": {is: "boundary", policy: every(15*time.Minute + time.Second), seen: atClock("09:00:00", "09:10:00", "09:20:00", "09:25:00", "09:30:00")},
	"halves without meta are not looked at": {is: "boundary", seen: all(spaced(400, 15*time.Minute), func(o *audit.Observation) {
		for i := range o.Listing.Value.Snapshots[:399] {
			o.Listing.Value.Snapshots[i].Meta = nil
		}
	})},
	"two years is what nobody configured": {is: "boundary", seen: all(spaced(700, audit.Day), ladderOfKops(7*audit.Day, 730*audit.Day))},

	"nothing is wrong":                          {is: "silent"},
	"the ladder of kops":                        {is: "silent", seen: all(ladder(7*audit.Day, 90*audit.Day), ladderOfKops(7*audit.Day, 90*audit.Day))},
	"the ladder of etcd-manager":                {is: "silent", seen: ladder(7*audit.Day, 730*audit.Day)},
	"hourly ones, and nobody says for how long": {is: "silent", seen: spaced(3000, time.Hour)},
	"daily ones, and nobody says so":            {is: "silent", seen: spaced(1500, audit.Day)},
	"kops knows no such store":                  {is: "silent", seen: all(spaced(100, audit.Day), orphan)},
	"kops gives no retention":                   {is: "silent", seen: all(spaced(100, audit.Day), ladderOfKops(0, 0))},
	"a store that stands still": {is: "silent", seen: func(o *audit.Observation) {
		spaced(8, 15*time.Minute)(o)
		list := slices.Clone(o.Listing.Value.Snapshots)
		for i := range list {
			list[i] = snapshot(ofStore, list[i].Taken.Add(-400*audit.Day), 50_000)
		}
		snapshotsAre(list...)(o)
	}},
	"there are no snapshots":   {is: "silent", seen: noSnapshots},
	"a replica has no cleanup": {is: "silent", seen: spaced(400, 15*time.Minute), policy: func(p *audit.Policy) { p.Role = audit.Replica }},

	"the listing was not seen":    {is: "blind", seen: all(spaced(400, 15*time.Minute), unseen(audit.FactListing))},
	"what kops says was not seen": {is: "blind", seen: all(spaced(100, audit.Day), ladderOfKops(7*audit.Day, 90*audit.Day), unseen(audit.FactKops))},
}}

func TestRetentionCleanupIneffective(t *testing.T) {
	retentionCleanupIneffectiveSuite.cases.run(t, retentionCleanupIneffective)
}

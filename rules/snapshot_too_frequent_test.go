package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// inLastHour are so many snapshots, a minute apart, of which S3 dates the oldest
// at the given age.
func inLastHour(n int, oldest time.Duration) func(o *audit.Observation) {
	var list []audit.Snapshot
	for i := range n {
		list = append(list, taken(oldest+2*time.Second-time.Duration(i)*time.Minute, 50_000))
	}
	return snapshotsAre(list...)
}

var snapshotTooFrequentSuite = suite{ages: true, limits: []limit{countLimit("tooManyTimes", &tooManyTimes), countLimit("fewestExpected", &fewestExpected)}, cases: cases{
	"a retry loop": {is: "speaks", seen: inLastHour(50, 50*time.Minute),
		want: []string{"warning: 50 snapshots were written in the last hour, and one is expected every 15m: two etcd-managers write to this store, or one tries again and again"},
		says: []string{"at most 12", "Do NOT delete snapshots by hand", "control/shared-store", "2026-11-30T11:58:58Z-000001"}},
	"of some only the data arrived": {is: "speaks", seen: all(inLastHour(20, 50*time.Minute), eachSnapshot(func(s *audit.Snapshot) { s.Meta = nil })), want: []string{"warning: 20 snapshots"}},
	"a copied store that runs, by names": {is: "speaks", seen: func(o *audit.Observation) {
		inLastHour(13, 50*time.Minute)(o)
		o.Listing.Value.Snapshots = append([]audit.Snapshot{storedLate(30*audit.Day, 28*audit.Day), storedLate(10*audit.Day, 8*audit.Day)}, o.Listing.Value.Snapshots...)
	}, want: []string{"warning: 13 snapshots"}},

	"three times the number": {is: "boundary", seen: inLastHour(12, 50*time.Minute)},
	"one more":               {is: "boundary", seen: inLastHour(13, 50*time.Minute), want: []string{"warning: 13 snapshots"}},
	"one more, of which one is nearly an hour old": {is: "boundary", seen: inLastHour(13, time.Hour-time.Second), want: []string{"warning: 13 snapshots"}},
	"one more, of which one is an hour old":        {is: "boundary", seen: inLastHour(13, time.Hour)},
	"an interval of an hour expects no less":       {is: "boundary", policy: every(time.Hour), seen: inLastHour(12, 50*time.Minute)},
	"and no more":                                  {is: "boundary", policy: every(time.Hour), seen: inLastHour(13, 50*time.Minute), want: []string{"warning: 13 snapshots were written in the last hour, and one is expected every 60m"}},
	"a shorter interval expects more":              {is: "boundary", policy: every(11 * time.Minute), seen: inLastHour(18, 50*time.Minute)},
	"and not more than that":                       {is: "boundary", policy: every(11 * time.Minute), seen: inLastHour(19, 50*time.Minute), want: []string{"warning: 19 snapshots"}},
	"no interval is no interval":                   {is: "boundary", policy: every(0), seen: inLastHour(12, 50*time.Minute)},

	"nothing is wrong":        {is: "silent"},
	"a rolling update":        {is: "silent", seen: inLastHour(9, 50*time.Minute)},
	"long ago":                {is: "silent", seen: inLastHour(59, audit.Day)},
	"names that are no times": {is: "silent", seen: all(inLastHour(50, 50*time.Minute), eachSnapshot(func(s *audit.Snapshot) { s.Taken = time.Time{} }))},
	"a store that was just copied": {is: "silent", seen: func(o *audit.Observation) {
		o.Listing.Value.Snapshots = nil
		for i := range 60 {
			o.Listing.Value.Snapshots = append(o.Listing.Value.Snapshots, storedLate(time.Duration(i+2)*audit.Day, time.Duration(i+2)*audit.Day-10*time.Minute))
		}
	}},
	"names in the future of a copied store": {is: "silent", seen: func(o *audit.Observation) {
		o.Listing.Value.Snapshots = []audit.Snapshot{storedLate(30*audit.Day, 28*audit.Day), storedLate(10*audit.Day, 8*audit.Day)}
		for i := range 20 {
			o.Listing.Value.Snapshots = append(o.Listing.Value.Snapshots, taken(-time.Duration(i+1)*time.Minute, 50_000))
		}
	}},

	"the listing was not seen": {is: "blind", seen: all(inLastHour(50, 50*time.Minute), unseen(audit.FactListing))},
}}

func TestSnapshotTooFrequent(t *testing.T) {
	snapshotTooFrequentSuite.cases.run(t, snapshotTooFrequent)
}

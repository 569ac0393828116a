package rules

import (
	"fmt"
	"testing"

	"backstop/audit"
)

// strays puts n objects into the listing that etcd-manager would not write, of
// which it keeps as many as an observation does.
func strays(n int) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Listing.Value.StrayCount = n
		for i := range min(n, audit.StrayLimit) {
			o.Listing.Value.Strays = append(o.Listing.Value.Strays, audit.Object{Key: o.Store.Key(fmt.Sprintf("stray-%d", i+1))})
		}
	}
}

// byHand is a directory with both files and a name that is not a time.
func byHand(name string) audit.Snapshot {
	s := taken(0, 50_000)
	s.Name, s.Taken = name, audit.Snapshot{}.Taken
	return s
}

var controlStraySuite = suite{cases: cases{
	"an object of another program": {is: "speaks", seen: strays(1), want: []string{"info: 1 object in this store that etcd-manager would not write"},
		says: []string{"prod.example.com/backups/etcd/main/stray-1"}},
	"a thousand of them": {is: "speaks", seen: strays(1000), want: []string{"info: 1000 objects in this store"}, says: []string{"stray-5, …"}, never: []string{"stray-6"}},
	"a directory with a name that is not a time": {is: "speaks", seen: func(o *audit.Observation) {
		o.Listing.Value.Snapshots = append(o.Listing.Value.Snapshots, byHand("before-upgrade"))
	}, want: []string{"info: 1 object in this store"}, says: []string{"main/before-upgrade/"}},
	"a command that asks for nothing": {is: "speaks", seen: queuedBody("{}", noon), want: []string{"info: 1 object in this store"}, says: []string{"control/2026-11-30T12:00:00Z-000000/_command.json"}},
	"all three kinds": {is: "speaks", seen: all(strays(2), queuedBody("{}", noon), func(o *audit.Observation) {
		o.Listing.Value.Snapshots = append(o.Listing.Value.Snapshots, byHand("before-upgrade"))
	}), want: []string{"info: 4 objects in this store"}},

	"five are named":   {is: "boundary", seen: strays(5), want: []string{"info: 5 objects in this store"}, says: []string{"stray-5"}, never: []string{"…"}},
	"the sixth is not": {is: "boundary", seen: strays(6), want: []string{"info: 6 objects in this store"}, says: []string{"stray-5, …"}, never: []string{"stray-6"}},
	"a name without suffix": {is: "boundary", seen: func(o *audit.Observation) {
		s := taken(0, 50_000)
		s.Name = "2026-11-30T12:00:00Z"
		o.Listing.Value.Snapshots = append(o.Listing.Value.Snapshots, s)
	}},

	"nothing is wrong":                  {is: "silent"},
	"a command that asks for a restore": {is: "silent", seen: queued("x", 0)},
	"a command that does not parse":     {is: "silent", seen: queuedBody("{", noon)},

	"nothing was listed":     {is: "blind", seen: unseen(audit.FactListing)},
	"the queue was not seen": {is: "blind", seen: all(strays(1), unseen(audit.FactQueue)), want: []string{"info: 1 object in this store"}},
	"a command was not seen": {is: "blind", seen: func(o *audit.Observation) {
		o.Queue = audit.Is([]audit.Command{{Body: denied[audit.Document]("s3:GetObject")}})
	}},
}}

func TestControlStray(t *testing.T) { controlStraySuite.cases.run(t, controlStray) }

package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// beside puts another store of the cluster beside this one, whose newest snapshot
// is so old.
func beside(etcd string, age time.Duration) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Siblings = append(o.Siblings, audit.Sibling{URL: "s3://kops/prod.example.com/backups/etcd/" + etcd, Etcd: etcd, Listed: true, Control: true, Newest: noon.Add(-age)})
	}
}

// asleep is a policy whose window began an hour ago.
func asleep(p *audit.Policy) {
	p.Windows = []audit.Window{{Cron: "0 11 * * *", For: 8 * time.Hour, Reason: "night", Began: noon.Add(-time.Hour)}}
}

var snapshotEventsBehindSuite = suite{cases: cases{
	"events is behind": {is: "speaks", seen: all(named("events"), newestAt(3*time.Hour), beside("main", 5*time.Minute)),
		want: []string{"warning: the newest snapshot of events is 2h older than that of main (2026-11-30 11:55:00Z): a restore of both would bring the cluster back with data of two times"},
		says: []string{"look at etcd-manager-events", "choose for main a snapshot of about 2026-11-30 09:00:00Z"}},
	"main is behind":            {is: "speaks", seen: all(newestAt(3*time.Hour), beside("events", 5*time.Minute)), want: []string{"warning: the newest snapshot of main is 2h older than that of events"}},
	"the fresher of two counts": {is: "speaks", seen: all(newestAt(3*time.Hour), beside("events", 5*time.Minute), beside("events", 30*audit.Day)), want: []string{"warning: is 2h older"}},

	"an hour apart":         {is: "boundary", seen: all(newestAt(2*time.Hour), beside("events", time.Hour))},
	"and a second":          {is: "boundary", seen: all(newestAt(2*time.Hour+time.Second), beside("events", time.Hour)), want: []string{"warning: is 60m older"}},
	"three intervals apart": {is: "boundary", policy: every(time.Hour), seen: all(newestAt(4*time.Hour), beside("events", time.Hour))},
	"and a second more":     {is: "boundary", policy: every(time.Hour), seen: all(newestAt(4*time.Hour+time.Second), beside("events", time.Hour)), want: []string{"warning: is 3h older"}},

	"cilium's has a time of its own": {is: "silent", seen: all(named("cilium"), newestAt(3*time.Hour), beside("main", 5*time.Minute), beside("events", 5*time.Minute))},
	"nothing waits for cilium's":     {is: "silent", seen: all(newestAt(3*time.Hour), beside("cilium", 5*time.Minute))},
	"nor does events":                {is: "silent", seen: all(named("events"), newestAt(3*time.Hour), beside("cilium", 5*time.Minute))},
	"nothing is wrong":               {is: "silent", seen: beside("events", 5*time.Minute)},
	"it is the other that is behind": {is: "silent", seen: beside("events", audit.Day)},
	"both stand still":               {is: "silent", seen: all(newestAt(audit.Day), beside("events", audit.Day))},
	"the other has no snapshot":      {is: "silent", seen: all(newestAt(audit.Day), func(o *audit.Observation) { o.Siblings = []audit.Sibling{{Etcd: "events", Listed: true}} })},
	"this one has none":              {is: "silent", seen: all(noSnapshots, beside("events", 0))},
	"cilium is another matter":       {is: "silent", seen: all(newestAt(audit.Day), beside("cilium", 0))},
	"and so are two of one name":     {is: "silent", seen: all(newestAt(audit.Day), beside("main", 0))},
	"there is no other":              {is: "silent", seen: newestAt(audit.Day)},
	"no backups are expected":        {is: "silent", seen: all(newestAt(3*time.Hour), beside("events", 5*time.Minute)), policy: asleep},
	"the cluster is gone":            {is: "silent", seen: all(newestAt(3*time.Hour), beside("events", 5*time.Minute), orphan)},

	"the listing was not seen":    {is: "blind", seen: all(newestAt(3*time.Hour), beside("events", 0), unseen(audit.FactListing))},
	"the other's was not seen":    {is: "blind", seen: all(newestAt(3*time.Hour), func(o *audit.Observation) { o.Siblings = []audit.Sibling{{Etcd: "events", Newest: noon}} })},
	"what kops says was not seen": {is: "blind", seen: all(newestAt(3*time.Hour), beside("events", 5*time.Minute), orphan, unseen(audit.FactKops)), want: []string{"warning: is 2h older"}},
}}

func TestSnapshotEventsBehind(t *testing.T) {
	snapshotEventsBehindSuite.cases.run(t, snapshotEventsBehind)
}

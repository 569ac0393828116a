package rules

import (
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// putBack writes both control files anew.
func putBack(created, spec time.Time) func(o *audit.Observation) {
	return all(createdIs(string(etcdmanager.FormatCreated(birth)), created), specIs(specGood, spec))
}

var specGood = spec(3, "3.5.30")

const reread = "critical: both control files were put back after the newest snapshot, and no snapshot has come since"

var controlNotRereadSuite = suite{ages: true, cases: cases{
	"repaired an hour ago, and still no backups": {is: "speaks", seen: all(newestAt(14*audit.Day), putBack(noon.Add(-time.Hour), noon.Add(-50*time.Minute))),
		want: []string{reread}, says: []string{"Restart the etcd-manager container on the LEADER", "created 2026-11-30 11:00:00Z, spec 2026-11-30 11:10:00Z", "14d ago", "a new snapshot has appeared"}},

	"six hours without a snapshot are not stale": {is: "boundary", seen: all(newestAt(6*time.Hour), putBack(noon.Add(-time.Hour), noon.Add(-time.Hour)))},
	"a second more is":                           {is: "boundary", seen: all(newestAt(6*time.Hour+time.Second), putBack(noon.Add(-time.Hour), noon.Add(-time.Hour))), want: []string{reread}},
	"created is as old as the newest snapshot":   {is: "boundary", seen: all(newestAt(7*time.Hour), putBack(noon.Add(-7*time.Hour), noon.Add(-time.Hour)))},
	"created is a second newer":                  {is: "boundary", seen: all(newestAt(7*time.Hour), putBack(noon.Add(-7*time.Hour+time.Second), noon.Add(-time.Hour))), want: []string{reread}},
	"spec is as old as the newest snapshot":      {is: "boundary", seen: all(newestAt(7*time.Hour), putBack(noon.Add(-time.Hour), noon.Add(-7*time.Hour)))},
	"spec is a second newer":                     {is: "boundary", seen: all(newestAt(7*time.Hour), putBack(noon.Add(-time.Hour), noon.Add(-7*time.Hour+time.Second))), want: []string{reread}},

	"nothing is wrong":                      {is: "silent"},
	"repaired, and backups came":            {is: "silent", seen: putBack(noon.Add(-time.Hour), noon.Add(-time.Hour))},
	"stale for another reason":              {is: "silent", seen: newestAt(14 * audit.Day)},
	"kops wrote the spec while it is stale": {is: "silent", seen: all(newestAt(14*audit.Day), putBack(birth, noon.Add(-time.Hour)))},
	"created alone is back":                 {is: "silent", seen: all(newestAt(14*audit.Day), putBack(noon.Add(-time.Hour), birth), loseSpec)},
	"spec is back, and bad":                 {is: "silent", seen: all(newestAt(14*audit.Day), putBack(noon.Add(-time.Hour), birth), specIs("{", noon))},
	"spec alone is back":                    {is: "silent", seen: all(newestAt(14*audit.Day), putBack(birth, noon.Add(-time.Hour)), loseCreated)},
	"a copied store is young everywhere":    {is: "silent", seen: all(snapshotsAre(storedLate(30*audit.Day, 28*audit.Day), storedLate(14*audit.Day, 12*audit.Day)), putBack(noon.Add(-time.Hour), noon.Add(-time.Hour)))},
	"no snapshot at all":                    {is: "silent", seen: all(noSnapshots, putBack(noon.Add(-time.Hour), noon.Add(-time.Hour)))},

	"the snapshots were not seen": {is: "blind", seen: all(newestAt(14*audit.Day), putBack(noon, noon), unseen(audit.FactListing))},
	"created was not seen":        {is: "blind", seen: all(newestAt(14*audit.Day), putBack(noon, noon), unseen(audit.FactCreated))},
	"spec was not seen":           {is: "blind", seen: all(newestAt(14*audit.Day), putBack(noon, noon), unseen(audit.FactSpec))},
}}

func TestControlNotReread(t *testing.T) { controlNotRereadSuite.cases.run(t, controlNotReread) }

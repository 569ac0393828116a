package rules

import (
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// conceived is a store for which kops has written the spec, and in which no
// cluster has been made yet.
func conceived(age time.Duration) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		all(loseCreated, noSnapshots, specIs(spec(3, "3.5.30"), noon.Add(-age)))(o)
		o.ControlVersions = audit.Is([]audit.Version{version(o.Spec.Value, "v-spec", true)})
		o.Listing.Value.Control = []audit.Object{o.Spec.Value.Object}
	}
}

var controlNeverInitialisedSuite = suite{ages: true, cases: cases{
	"spec was written five minutes ago": {is: "speaks", seen: conceived(5 * time.Minute),
		want: []string{"info: a first cluster is forming: etcd-cluster-spec was written 5m ago, and nothing shows an earlier cluster"}},
	"kops update ran twice before the first boot": {is: "speaks",
		seen: all(conceived(5*time.Minute), versionsAre(latest(etcdmanager.SpecPath, "v2", noon.Add(-5*time.Minute)), old(etcdmanager.SpecPath, "v1", noon.Add(-25*time.Minute)))),
		want: []string{"info: a first cluster is forming"}},
	"spec was written long ago": {is: "speaks", seen: conceived(30 * audit.Day),
		want: []string{"warning: This is not the alarm of a reset"}, says: []string{"spec good", "backupStore"}},
	"nothing at all is there": {is: "speaks", seen: all(loseBoth, noTrace), want: []string{"warning: no cluster has ever been created here"}, never: []string{"no snapshots but"}, says: []string{"spec missing"}},
	"spec is without members": {is: "speaks", seen: all(conceived(time.Minute), specIs("{}", noon)), never: []string{"spec good"}, want: []string{"warning: no cluster has ever been created here"}},
	"spec does not parse":     {is: "speaks", seen: all(conceived(time.Minute), specIs("{", noon)), want: []string{"warning: no cluster has ever been created here"}},
	"the bucket keeps no old versions": {is: "speaks", seen: all(conceived(time.Minute), func(o *audit.Observation) { o.ControlVersions = audit.None[[]audit.Version]() }),
		want: []string{"info: a first cluster is forming"}},

	"a namesake left its snapshots": {is: "speaks", seen: all(loseCreated, versionsAre(), specIs(specGood, noon.Add(-time.Minute)), kopsCreated(noon.Add(-2*time.Minute))),
		want: []string{"info: a first cluster is forming"}, says: []string{"no snapshots but 7 from before 2026-11-30 11:58:00Z, when kops created the cluster"}},
	"kops made the cluster just now":                         {is: "speaks", seen: all(conceived(time.Minute), kopsCreated(noon.Add(-time.Minute))), want: []string{"info: a first cluster is forming"}, says: []string{"spec alone, no snapshots"}},
	"a cluster that kops described long ago is made at last": {is: "speaks", seen: all(conceived(time.Hour), kopsCreated(birth)), want: []string{"info: a first cluster is forming"}},

	"a spec of one member is good": {is: "boundary", seen: all(conceived(30*audit.Day), specIs(spec(1, "3.5.30"), noon.Add(-30*audit.Day))), want: []string{"warning: no cluster has ever been created here"}, says: []string{"spec good"}},
	"exactly an hour is a birth":   {is: "boundary", seen: conceived(time.Hour), want: []string{"info: a first cluster is forming"}},
	"a second more is none":        {is: "boundary", seen: conceived(time.Hour + time.Second), want: []string{"warning: no cluster has ever been created here"}},
	"S3's clock is 30 s before us": {is: "boundary", seen: conceived(-30 * time.Second), want: []string{"info: a first cluster is forming"}, never: []string{"-30s"}},

	"nothing is wrong":                 {is: "silent"},
	"the configuration names it":       {is: "silent", seen: vanishedStore},
	"it was deleted with its cluster":  {is: "silent", seen: all(deletedIn(noon.Add(-time.Hour)), nothingLeft)},
	"an old cluster's spec is old":     {is: "silent", seen: all(conceived(time.Hour+time.Second), kopsCreated(birth))},
	"a reset is about to come":         {is: "silent", seen: loseCreated},
	"armed":                            {is: "silent", seen: loseBoth},
	"created is empty":                 {is: "silent", seen: all(noTrace, createdIs("", birth))},
	"a delete marker shows an earlier": {is: "silent", seen: all(conceived(time.Minute), versionsAre(hidden(etcdmanager.CreatedPath, noon)...))},

	"created was not seen":   {is: "blind", seen: all(conceived(time.Minute), unseen(audit.FactCreated))},
	"spec was not seen":      {is: "blind", seen: all(conceived(time.Minute), unseen(audit.FactSpec))},
	"the snapshots were not": {is: "blind", seen: all(conceived(time.Minute), unseen(audit.FactListing))},
	"what kops says was not": {is: "blind", seen: all(loseCreated, versionsAre(), specIs(specGood, noon.Add(-time.Minute)), kopsCreated(noon.Add(-2*time.Minute)), unseen(audit.FactKops))},
	"the versions were not":  {is: "blind", seen: all(conceived(time.Minute), unseen(audit.FactControlVersions))},
}}

func TestControlNeverInitialised(t *testing.T) {
	controlNeverInitialisedSuite.cases.run(t, controlNeverInitialised)
}

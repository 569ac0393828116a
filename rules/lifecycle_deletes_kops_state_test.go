package rules

import (
	"testing"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
)

// stateAged gives the kops cluster files that were written so long ago.
func stateAged(age time.Duration) func(o *audit.Observation) {
	return kopsSays(func(k *audit.Kops) {
		at := noon.Add(-age)
		k.Files = audit.Is([]audit.Object{
			{Key: "prod.example.com/config", Size: 4000, LastModified: noon.Add(-time.Hour)},
			{Key: "prod.example.com/pki/private/kubernetes-ca/keyset.yaml", Size: 5000, LastModified: at},
			{Key: "prod.example.com/secrets/admin", Size: 60, LastModified: at},
		})
	})
}

// stateElsewhere puts the state store into a bucket of its own, with these rules.
func stateElsewhere(rules string) func(o *audit.Observation) {
	return all(stateAged(400*audit.Day), func(o *audit.Observation) {
		k := o.Kops.Value
		k.StateStore = "s3://kops-state"
		other := o.Bucket
		other.Name, other.Lifecycle = "kops-state", audit.Is(audit.Document{Body: []byte("<LifecycleConfiguration>" + rules + "</LifecycleConfiguration>")})
		k.Bucket = &other
		o.Kops = audit.Is(k)
	})
}

// stateRule expires what is below pki/.
func stateRule(days string) string {
	return lifecycleRule("tidy", prefixed("prod.example.com/pki/"), "<Days>"+days+"</Days>")
}

var lifecycleDeletesKopsStateSuite = suite{ages: true, cases: cases{
	"everything, after 90 days, and the control files are gone": {is: "speaks", seen: all(loseBoth, stateAged(400*audit.Day), lifecycleRules(expireAll(90))),
		want: []string{`critical: lifecycle rule "prune" hides prod.example.com/pki/private/kubernetes-ca/keyset.yaml of the kops cluster prod.example.com at any moment (due since 2026-01-25 00:00:00Z), and 2 other files`},
		says: []string{"without its private keys nobody can rebuild it", "3 of 3 files matched", "Save a copy of s3://kops, pki/ first."}},
	"pki alone, in a week": {is: "speaks", seen: all(stateAged(83*audit.Day), lifecycleRules(stateRule("90"))), want: []string{"critical: keyset.yaml of the kops cluster prod.example.com on 2026-12-08 00:00:00Z, in 7d."}, at: 12 * time.Hour, never: []string{"other files"}},
	"to an archive":        {is: "speaks", seen: all(loseBoth, stateAged(400*audit.Day), sizeDefault(lifecycle.VariesByClass), lifecycleRules(transitionRule(90, "GLACIER", ""))), want: []string{`critical: lifecycle rule "cold" moves to GLACIER prod.example.com/pki`}},
	"secrets first": {is: "speaks", seen: all(stateAged(400*audit.Day), unversioned, lifecycleRules(lifecycleRule("s", prefixed("prod.example.com/secrets/"), "<Days>90</Days>"))),
		want: []string{"critical: deletes prod.example.com/secrets/admin"}, says: []string{"Save a copy of s3://kops."}, never: []string{"pki/ first"}},
	"in a bucket of its own": {is: "speaks", seen: stateElsewhere(expireAll(90)), want: []string{"critical: pki/private"}, says: []string{"s3://kops-state"}},
	"a replica, of whose control files nothing is told": {is: "speaks", seen: all(stateAged(400*audit.Day), func(o *audit.Observation) { o.Kops.Value.Known = false }, lifecycleRules(expireAll(90))),
		policy: func(p *audit.Policy) { p.Role = audit.Replica }, want: []string{"critical: pki"}},
	"the control files are ignored, and kops's are not": {is: "speaks", seen: all(stateAged(400*audit.Day), lifecycleRules(expireAll(90))),
		policy: func(p *audit.Policy) {
			p.Ignore = []audit.Ignore{{Rule: "lifecycle/deletes-control", Until: noon.Add(time.Hour), Reason: "known"}}
		}, want: []string{"critical: pki"}},
	"kops's go within a week, the control files later": {is: "speaks", seen: all(stateAged(88*audit.Day), aged(10*audit.Day, 10*audit.Day), lifecycleRules(expireAll(90))), want: []string{"critical: pki"}},
	"by another rule than the control files":           {is: "speaks", seen: all(stateAged(400*audit.Day), lifecycleRules(stateRule("90")+lifecycleRule("c", prefixed(mainRoot+"control/"), "<Days>90</Days>"))), want: []string{`critical: lifecycle rule "tidy"`}},
	"versioning was not seen":                          {is: "speaks", seen: all(loseBoth, stateAged(400*audit.Day), lifecycleRules(expireAll(90)), unseen(audit.FactVersioning)), want: []string{"critical: pki"}, says: []string{"assuming the worse: versioning unknown"}},

	"in seven days":              {is: "boundary", seen: all(stateAged(83*audit.Day), lifecycleRules(stateRule("90"))), at: 12 * time.Hour, want: []string{"critical: in 7d"}},
	"in a second more":           {is: "boundary", seen: all(stateAged(83*audit.Day), lifecycleRules(stateRule("90"))), at: 12*time.Hour - time.Second, want: []string{"warning: in 7d"}},
	"in two years":               {is: "boundary", seen: all(stateAged(0), lifecycleRules(stateRule("731"))), at: 36 * time.Hour, want: []string{"warning: in 730d"}},
	"in a second more than that": {is: "boundary", seen: all(stateAged(0), lifecycleRules(stateRule("731"))), at: 36*time.Hour - time.Second},

	"no rules":                              {is: "silent", seen: stateAged(400 * audit.Day)},
	"the snapshots alone":                   {is: "silent", seen: all(stateAged(400*audit.Day), lifecycleRules(snapshotsOnly(90)))},
	"the other bucket's rules are not ours": {is: "silent", seen: all(stateElsewhere(""), lifecycleRules(expireAll(90)))},
	"no state store was looked at":          {is: "silent", seen: lifecycleRules(expireAll(90))},

	"the rules were not seen": {is: "blind", seen: all(stateAged(400*audit.Day), unseen(audit.FactLifecycle))},
	"kops was not seen":       {is: "blind", seen: all(lifecycleRules(expireAll(90)), unseen(audit.FactKops))},
	"its files were not seen": {is: "blind", seen: all(stateAged(400*audit.Day), lifecycleRules(expireAll(90)), unseen(audit.FactKopsState))},
}}

func TestLifecycleDeletesKopsState(t *testing.T) {
	lifecycleDeletesKopsStateSuite.cases.run(t, lifecycleDeletesKopsState)
}

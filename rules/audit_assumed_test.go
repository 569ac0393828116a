package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// cannotTell makes facts of the bucket ones that the provider cannot tell.
func cannotTell(o *audit.Observation) {
	why := audit.Why{Cause: audit.CauseUnsupported, Reason: "the provider does not know the call (HTTP 501 NotImplemented)"}
	o.Bucket.Lifecycle, o.Bucket.Versioning = audit.Unknown[audit.Document](why), audit.Unknown[string](why)
}

// assumed adds an assumption that ends so long after noon.
func assumed(fact audit.FactName, value string, ends time.Duration) func(p *audit.Policy) {
	return func(p *audit.Policy) {
		p.Assume = append(p.Assume, audit.Assumption{Fact: fact, Value: value, Until: noon.Add(ends), Reason: "console checked"})
	}
}

// policies makes several changes.
func policies(changes ...func(p *audit.Policy)) func(p *audit.Policy) {
	return func(p *audit.Policy) {
		for _, c := range changes {
			c(p)
		}
	}
}

var auditAssumedSuite = suite{ages: true, cases: cases{
	"lifecycle": {is: "speaks", seen: cannotTell, policy: assumed(audit.FactLifecycle, "none", 180*audit.Day+12*time.Hour),
		want: []string{`info: lifecycle was not seen and is assumed by configuration to be "none" until 2027-05-30: console checked. The verdict rests on that.`}, says: []string{"HTTP 501 NotImplemented"}},
	"both, in the order of the configuration": {is: "speaks", seen: cannotTell, policy: policies(assumed(audit.FactVersioning, "off", audit.Day), assumed(audit.FactLifecycle, "none", audit.Day)),
		want: []string{`info: versioning was not seen and is assumed by configuration to be "off"`, `info: lifecycle was not seen and is assumed`}},

	"a second before its end": {is: "boundary", seen: cannotTell, policy: assumed(audit.FactLifecycle, "none", time.Second), want: []string{"info: lifecycle"}},
	"its end":                 {is: "boundary", seen: cannotTell, policy: assumed(audit.FactLifecycle, "none", 0)},

	"nothing is assumed":           {is: "silent", seen: cannotTell},
	"it was seen":                  {is: "silent", policy: assumed(audit.FactLifecycle, "none", audit.Day)},
	"it was seen to be otherwise":  {is: "silent", seen: lifecycleRules(expireAll(30)), policy: assumed(audit.FactLifecycle, "none", audit.Day)},
	"it ended":                     {is: "silent", seen: cannotTell, policy: assumed(audit.FactLifecycle, "none", -audit.Day)},
	"a refusal is not assumed":     {is: "blind", seen: unseen(audit.FactLifecycle), policy: assumed(audit.FactLifecycle, "none", audit.Day)},
	"another fact was not seen":    {is: "blind", seen: unseen(audit.FactListing), policy: assumed(audit.FactLifecycle, "none", audit.Day)},
	"seen already as it is judged": {is: "speaks", seen: assumedLifecycle, policy: assumed(audit.FactLifecycle, "none", audit.Day), want: []string{"info: lifecycle was not seen"}, says: []string{"HTTP 501"}},
}}

// assumedLifecycle is the observation as audit.Judge hands it to the rules.
func assumedLifecycle(o *audit.Observation) {
	cannotTell(o)
	p := audit.DefaultPolicy()
	assumed(audit.FactLifecycle, "none", audit.Day)(&p)
	*o = *p.Assuming(o, noon)
}

func TestAuditAssumed(t *testing.T) { auditAssumedSuite.cases.run(t, auditAssumed) }

// count counts the findings of a rule.
func count(r audit.StoreReport, rule string) (n int) {
	for _, f := range r.Findings {
		if f.Rule == rule {
			n++
		}
	}
	return n
}

// An assumption makes a store of a provider that cannot tell one that can be OK,
// and the report says by whose word.
func TestAssumedStoreIsOK(t *testing.T) {
	o, p := healthy(), audit.DefaultPolicy()
	cannotTell(o)
	if r := audit.Judge(Set, o, p, noon); r.Verdict != audit.VerdictUnknown {
		t.Errorf("without an assumption: %s", r.Verdict)
	}
	policies(assumed(audit.FactLifecycle, "none", time.Minute), assumed(audit.FactVersioning, "enabled", time.Minute))(&p)
	r := audit.Judge(Set, o, p, noon)
	if r.Verdict != audit.OK || !r.Checked() || count(r, auditAssumed.ID) != 2 || count(r, lifecycleUnseen.ID)+count(r, bucketUnversioned.ID) != 0 {
		t.Errorf("verdict %s, %+v", r.Verdict, r.Findings)
	}
	if r := audit.Judge(Set, o, p, noon.Add(time.Minute)); r.Verdict != audit.VerdictUnknown {
		t.Errorf("after its end: %s", r.Verdict)
	}
}

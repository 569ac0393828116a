package rules

import (
	"time"

	"backstop/audit"
)

var auditAssumed = audit.Rule{
	ID:         "audit/assumed",
	Title:      "a fact that was not seen is taken to be as the configuration says",
	Severities: onlyInfo,
	Needs:      []audit.FactName{audit.FactVersioning, audit.FactLifecycle},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		var found []audit.Finding
		for _, a := range p.Assume {
			if a.Standing(o, now) != audit.InForce {
				continue
			}
			why := whyNotSeen(o, a.Fact)
			f := audit.Found(audit.Info, "%s was not seen and is assumed by configuration to be %q until %s: %s. The verdict rests on that.",
				a.Fact, a.Value, audit.Until(a.Until), a.Reason).
				Saw("unseen: "+string(a.Fact), "an answer").
				Because("%s", why.Reason)
			found = append(found, f)
		}
		return found
	},
}

// whyNotSeen is why a fact that may be assumed was not seen, be it assumed in
// the observation already or not yet.
func whyNotSeen(o *audit.Observation, fact audit.FactName) audit.Why {
	switch {
	case fact == audit.FactLifecycle && o.Bucket.Lifecycle.Why != nil:
		return *o.Bucket.Lifecycle.Why
	case fact == audit.FactVersioning && o.Bucket.Versioning.Why != nil:
		return *o.Bucket.Versioning.Why
	}
	why, _ := o.Unseen(fact)
	return why
}

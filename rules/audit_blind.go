package rules

import (
	"slices"
	"strings"
	"time"

	"backstop/audit"
)

var auditBlind = audit.Rule{
	ID:         "audit/blind",
	Title:      "some rules could not look at what they need",
	Severities: onlyInfo,
	AnyLayout:  true,
	Check:      checkBlind,
}

// checkBlind speaks of the facts that are not necessary; of those that are,
// other rules speak, at the severity "unknown".
func checkBlind(o *audit.Observation, _ audit.Policy, _ time.Time) []audit.Finding {
	var facts, permissions []string
	blind := map[string]bool{}
	var rules []string
	var f audit.Finding
	for _, fact := range audit.Facts {
		why, not := o.Unseen(fact)
		if !not || fact.NecessaryIn(o.Store.Layout) || o.Store.Layout != "" && !needed(fact, o.Store.Layout) {
			continue
		}
		facts = append(facts, string(fact))
		if why.Permission != "" && !slices.Contains(permissions, why.Permission) {
			permissions = append(permissions, why.Permission)
		}
		f = f.Because("%s: %s", fact, why)
		for _, r := range looking {
			if !r.Judges(o.Store.Layout) {
				continue
			}
			for _, need := range r.Needs {
				if need == fact && !blind[r.ID] {
					blind[r.ID] = true
					rules = append(rules, r.ID)
				}
			}
		}
	}
	if len(facts) == 0 {
		return nil
	}
	f.Severity = audit.Info
	f.Message = "not seen: " + strings.Join(facts, ", ")
	if len(rules) > 0 {
		f.Message += "; wholly or partly blind: " + strings.Join(rules, ", ")
	}
	f = f.Saw("unseen: "+strings.Join(facts, ", "), "an answer")
	if len(permissions) > 0 {
		f = f.Todo("Allow " + strings.Join(permissions, ", ") + " to the identity that backstop runs as.")
	}
	return []audit.Finding{f}
}

// needed reports whether some rule that judges stores of the layout needs the fact.
func needed(fact audit.FactName, l audit.Layout) bool {
	return slices.ContainsFunc(looking, func(r audit.Rule) bool { return r.Judges(l) && slices.Contains(r.Needs, fact) })
}

package audit

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Verdict is the outcome for a store or for a run.
type Verdict string

// The verdicts, from the best to the worst.
const (
	OK              Verdict = "OK"
	VerdictWarning  Verdict = "WARNING"
	VerdictUnknown  Verdict = "UNKNOWN"
	VerdictCritical Verdict = "CRITICAL"
)

func (v Verdict) rank() int {
	return slices.Index([]Verdict{OK, VerdictWarning, VerdictUnknown, VerdictCritical}, v)
}

// Worse reports whether v is worse than w.
func (v Verdict) Worse(w Verdict) bool { return v.rank() > w.rank() }

// A Ruleset is what Judge judges by.
type Ruleset struct {
	Rules []Rule
	// State names the state of the store: the first word of its line, and the
	// metric's label. It is a function, and not part of this package, because
	// it is etcd-manager's model that knows.
	State func(o *Observation, p Policy, now time.Time) StoreState
	// Control says what is to say of the two control files. It is a function
	// for the same reason: it is the lifecycle evaluator that knows. It may be
	// nil.
	Control func(o *Observation, now time.Time) []ControlFile
}

// StoreState is the state that etcd-manager's model gives to a store.
type StoreState struct {
	Name           string `json:"name"`            // running, armed, …
	RestorePending bool   `json:"restore_pending"` // a restore command is queued
}

// A StoreReport is all that is to say of one store.
type StoreReport struct {
	Store   Store      `json:"store"`
	Verdict Verdict    `json:"verdict"`
	State   StoreState `json:"state"`
	// Role is what the store is for; empty for a live one.
	Role Role `json:"role,omitempty"`
	// Judged is the time that the store was judged at.
	Judged time.Time `json:"judged"`
	// Observed is when the look at the store ended.
	Observed time.Time `json:"observed"`
	Measures
	// Findings are sorted, the most urgent first.
	Findings []Finding `json:"findings"`
	// Unseen are the facts that were not seen, with the reason.
	Unseen []UnseenFact `json:"unseen,omitempty"`
	Usage  Usage        `json:"usage"`
}

// An UnseenFact is a fact that was not seen, and why.
type UnseenFact struct {
	Fact      FactName `json:"fact"`
	Necessary bool     `json:"necessary"`
	Why
}

// Checked reports whether every necessary fact of the store was seen.
func (r StoreReport) Checked() bool {
	for _, u := range r.Unseen {
		if u.Necessary {
			return false
		}
	}
	return true
}

// Judge applies the rules to one observation. It cannot fail: what could not
// be seen is in the observation, and becomes part of the report.
//
// A rule that panics is a defect of backstop, and must not be mistaken for a
// rule that found nothing, so Judge does not recover.
func Judge(set Ruleset, o *Observation, p Policy, now time.Time) StoreReport {
	p = p.For(o)
	o = p.Assuming(o, now)
	r := StoreReport{
		Store: o.Store, Judged: now, Observed: o.Ended, Usage: o.Usage,
		State:    set.State(o, p, now),
		Measures: o.measure(set, p, now),
		Findings: []Finding{},
	}
	if role := p.RoleOf(o); role != Live {
		r.Role = role
	}
	r.Findings = append(r.Findings, supersede(set.Rules, p.soften(Check(set.Rules, o, p, now), o, now))...)
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(-cmp.Compare(a.Severity.rank(), b.Severity.rank()), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Key, b.Key))
	})
	for _, name := range Facts {
		if why, not := o.Unseen(name); not && asked(set.Rules, name, o.Store.Layout) {
			r.Unseen = append(r.Unseen, UnseenFact{Fact: name, Necessary: name.NecessaryIn(o.Store.Layout), Why: why})
		}
	}
	r.Verdict = verdict(r)
	return r
}

// asked reports whether a fact matters for a store of the layout. Of etcd-manager's
// every fact does.
func asked(rules []Rule, name FactName, l Layout) bool {
	return l == "" || name.NecessaryIn(l) || slices.ContainsFunc(rules, func(r Rule) bool { return r.Judges(l) && slices.Contains(r.Needs, name) })
}

// Check gives what the rules find, each for itself.
func Check(rules []Rule, o *Observation, p Policy, now time.Time) []Finding {
	var found []Finding
	for _, rule := range rules {
		if !rule.Judges(o.Store.Layout) {
			continue
		}
		for _, f := range rule.Check(o, p, now) {
			if !rule.May(f.Severity) {
				panic(fmt.Sprintf("audit: rule %s gave the undeclared severity %q", rule.ID, f.Severity))
			}
			f.Rule, f.Store, f.Scope = rule.ID, o.Store.URL, rule.Scope
			found = append(found, f)
		}
	}
	return found
}

// verdict is the worst of what was found and of what was not seen. It looks at
// the facts themselves, so that a rule which forgot to speak of an unseen one
// cannot make the store OK.
func verdict(r StoreReport) Verdict {
	v := OK
	if !r.Checked() {
		v = VerdictUnknown
	}
	for _, f := range r.Findings {
		if w := f.Severity.verdict(); w.Worse(v) {
			v = w
		}
	}
	return v
}

func (s Severity) verdict() Verdict {
	switch s {
	case Critical:
		return VerdictCritical
	case Unsure:
		return VerdictUnknown
	case Warning:
		return VerdictWarning
	}
	return OK
}

// supersede turns findings that another rule explains into its evidence. One that
// is ignored explains nothing away that is worse: what is ignored is that one
// rule. An event that is acknowledged is known with all that comes of it.
func supersede(rules []Rule, found []Finding) []Finding {
	gone := make([]bool, len(found))
	for _, rule := range rules {
		for _, s := range rule.Supersedes {
			for i := range found {
				if found[i].Rule != rule.ID {
					continue
				}
				for j := range found {
					if found[j].Rule != s.Rule || gone[j] || s.SameKey && found[j].Key != found[i].Key ||
						found[i].Was != "" && !found[i].acknowledged && found[j].Severity.Worse(found[i].Severity) {
						continue
					}
					gone[j] = true
					found[i].Evidence = append(found[i].Evidence, Evidence{Rule: s.Rule, Message: found[j].Message})
				}
			}
		}
	}
	kept := found[:0]
	for i, f := range found {
		if !gone[i] {
			kept = append(kept, f)
		}
	}
	return kept
}

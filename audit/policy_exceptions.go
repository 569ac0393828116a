package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Exceptions are what the owner of a store has looked at and decided. They make
// information of findings, never silence, and each says why. None of them makes
// information of what was not seen.
type Exceptions struct {
	Assume       []Assumption      `json:"assume,omitempty"`
	Acknowledged []Acknowledgement `json:"acknowledged,omitempty"`
	Ignore       []Ignore          `json:"ignore,omitempty"`
	// Elsewhere names the exceptions, as [ExceptionName] does, that another
	// store of the same entry answers for: here they may be without effect.
	Elsewhere []string `json:"elsewhere,omitempty"`
}

// An Assumption stands in for a provider that cannot tell a fact. It never
// stands against a fact that was seen, nor for one that was merely refused.
type Assumption struct {
	Fact   FactName  `json:"fact"`
	Value  string    `json:"value"`
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"`
}

// AssumableValues are the facts that can be assumed, and as what.
var AssumableValues = map[FactName][]string{
	FactLifecycle:  {"none"},
	FactVersioning: {"enabled", "suspended", "off"},
}

// An Acknowledgement says that one event is known. It has no end: the next event
// of the kind is another one.
type Acknowledgement struct {
	Rule   string `json:"rule"`
	Event  string `json:"event"`
	Reason string `json:"reason"`
}

// An Ignore makes information of a rule's findings, for a time.
type Ignore struct {
	Rule   string    `json:"rule"`
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"`
}

// ExceptionName names an exception as its place below a store in the
// configuration: ignore[0].
func ExceptionName(kind string, i int) string { return fmt.Sprintf("%s[%d]", kind, i) }

// Any reports whether there is any exception.
func (e Exceptions) Any() bool {
	return len(e.Assume) > 0 || len(e.Acknowledged) > 0 || len(e.Ignore) > 0
}

// Names names every exception, as [ExceptionName] does.
func (e Exceptions) Names() []string {
	var names []string
	for _, kind := range []struct {
		name string
		n    int
	}{{"assume", len(e.Assume)}, {"acknowledged", len(e.Acknowledged)}, {"ignore", len(e.Ignore)}} {
		for i := range kind.n {
			names = append(names, ExceptionName(kind.name, i))
		}
	}
	return names
}

// AnsweredElsewhere reports whether another store answers for an exception.
func (e Exceptions) AnsweredElsewhere(name string) bool { return slices.Contains(e.Elsewhere, name) }

// cannotTell are the causes for which a provider can be said not to be able to
// tell a fact. Permissions, networks and patience are mended, not assumed.
var cannotTell = []Cause{CauseUnsupported, CauseForeign, CauseMalformed, CauseNotRecorded}

// A Standing says what has become of an exception.
type Standing string

// The standings of an exception.
const (
	InForce  Standing = "in force"
	Expired  Standing = "expired"
	Unused   Standing = "unused"         // there is nothing that it is about
	Wrong    Standing = "wrong"          // what was seen says otherwise
	Unfit    Standing = "unfit"          // the fact could have been told
	CantTell Standing = "cannot be told" // the rule could not look
)

// Standing says what has become of an assumption.
func (a Assumption) Standing(o *Observation, now time.Time) Standing {
	var seen, agrees, assumed bool
	switch a.Fact {
	case FactLifecycle:
		f := o.Bucket.Lifecycle
		seen, agrees, assumed = f.Seen(), f.State == Unset, f.Assumed
	case FactVersioning:
		f := o.Bucket.Versioning
		seen, agrees, assumed = f.Seen(), versioningWord(f) == a.Value, f.Assumed
	default:
		return Unused
	}
	why, _ := o.Unseen(a.Fact)
	switch {
	case !now.Before(a.Until):
		return Expired
	case assumed && agrees:
		return InForce
	case seen && agrees:
		return Unused
	case seen:
		return Wrong
	case !slices.Contains(cannotTell, why.Cause):
		return Unfit
	}
	return InForce
}

// versioningWord is a fact as an assumption would put it.
func versioningWord(f Fact[string]) string {
	if f.State == Unset {
		return "off"
	}
	return strings.ToLower(f.Value)
}

// Assuming gives the observation with the facts that the policy assumes. It does
// not change o.
func (p Policy) Assuming(o *Observation, now time.Time) *Observation {
	for _, a := range p.Assume {
		if a.Standing(o, now) != InForce {
			continue
		}
		changed := *o
		switch a.Fact {
		case FactLifecycle:
			assume(&changed.Bucket.Lifecycle, Unset, Document{})
		case FactVersioning:
			switch a.Value {
			case "enabled":
				assume(&changed.Bucket.Versioning, Set, "Enabled")
			case "suspended":
				assume(&changed.Bucket.Versioning, Set, "Suspended")
			case "off":
				assume(&changed.Bucket.Versioning, Unset, "")
				// A bucket that never had versions has no old ones.
				if why, not := o.Unseen(FactControlVersions); not && slices.Contains(cannotTell, why.Cause) {
					assume(&changed.ControlVersions, Unset, nil)
				}
				if why, not := o.Unseen(FactVersions); not && slices.Contains(cannotTell, why.Cause) {
					assume(&changed.Versions, Unset, Versions{})
				}
			}
		}
		o = &changed
	}
	return o
}

// assume sets a fact that was not seen, and keeps why it was not.
func assume[T any](f *Fact[T], state State, value T) {
	if f.Assumed {
		return
	}
	why := f.WhyUnseen()
	*f = Fact[T]{State: state, Value: value, Assumed: true, Why: &why}
}

// Standing says what has become of an exception, by what the rule found before
// anything was made information of. rules are all rules.
func (i Ignore) Standing(rules []Rule, found []Finding, o *Observation, now time.Time) Standing {
	if !now.Before(i.Until) {
		return Expired
	}
	return standing(rules, found, o, i.Rule, func(Finding) bool { return true })
}

// Standing says what has become of an acknowledgement.
func (a Acknowledgement) Standing(rules []Rule, found []Finding, o *Observation) Standing {
	return standing(rules, found, o, a.Rule, func(f Finding) bool { return f.Event == a.Event })
}

func standing(rules []Rule, found []Finding, o *Observation, id string, about func(Finding) bool) Standing {
	s := Unused
	for _, f := range found {
		switch {
		case f.Rule != id:
		case f.Severity == Unsure:
			s = CantTell
		case f.Severity != Info && about(f):
			return InForce
		}
	}
	for _, r := range rules {
		for _, n := range r.Needs {
			if _, not := o.Unseen(n); not && r.ID == id {
				return CantTell
			}
		}
	}
	return s
}

// ofNoConsequence are the rules that speak of what only a live store does. In a
// replica or an archive nobody reads the control files, and nothing is written
// by the interval.
func ofNoConsequence(rule string) bool {
	switch rule {
	case "snapshot/none", "snapshot/late", "snapshot/stale", "snapshot/events-behind", "snapshot/writer-clock", "snapshot/too-frequent",
		"lifecycle/deletes-control", "lifecycle/archives-control", "bucket/duplicate-tree", "bucket/orphan-store":
		return true
	}
	return strings.HasPrefix(rule, "control/") || strings.HasPrefix(rule, "queue/")
}

// soften makes information of what the policy says is of no consequence, is
// known, or is ignored. The finding stays, and says who says so.
func (p Policy) soften(found []Finding, o *Observation, now time.Time) []Finding {
	for i, f := range found {
		if f.Severity == Info || f.Severity == Unsure {
			continue
		}
		why, known, ok := p.excused(f, o, now)
		if !ok {
			continue
		}
		f.Was, f.Severity, f.acknowledged = f.Severity, Info, known
		f.Message = why + ": " + f.Message
		f.Do = nil // it is known; the rule's page has the rest
		found[i] = f
	}
	return found
}

// excused says why a finding is no more than information; known says that its
// event is acknowledged.
func (p Policy) excused(f Finding, o *Observation, now time.Time) (why string, known, ok bool) {
	if role := p.RoleOf(o); role != Live && ofNoConsequence(f.Rule) {
		return "of no consequence in a store that is configured as " + string(role), false, true
	}
	for _, a := range p.Acknowledged {
		if a.Rule == f.Rule && a.Event == f.Event && a.Event != "" {
			return "acknowledged (" + a.Reason + ")", true, true
		}
	}
	for _, i := range p.Ignore {
		if i.Rule == f.Rule && now.Before(i.Until) {
			return "ignored until " + Until(i.Until) + " (" + i.Reason + ")", false, true
		}
	}
	return "", false, false
}

// Until writes the end of an exception: a date, where it is one.
func Until(t time.Time) string {
	if t = t.UTC(); t.Truncate(Day).Equal(t) {
		return t.Format(time.DateOnly)
	}
	return Stamp(t)
}

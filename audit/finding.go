package audit

import "fmt"

// A Severity says how soon someone must act.
type Severity string

// The severities, from the least to the most urgent. The verdict of a store is
// its most urgent one, where Info counts as nothing.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Unsure   Severity = "unknown" // could not be looked at
	Critical Severity = "critical"
)

// rank orders severities: UNKNOWN lies between WARNING and CRITICAL, because
// not knowing is worse than a blemish and better than a disaster.
func (s Severity) rank() int {
	switch s {
	case Info:
		return 0
	case Warning:
		return 1
	case Unsure:
		return 2
	case Critical:
		return 3
	}
	return -1
}

// Worse reports whether s is more urgent than t.
func (s Severity) Worse(t Severity) bool { return s.rank() > t.rank() }

// A Finding is one place where a store is not as its policy expects, or where
// that could not be seen.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// Was is the severity that the rule gave, where the owner's policy makes
	// information of the finding.
	Was Severity `json:"was,omitempty"`
	// acknowledged says that it was made information of because its event is
	// known, and not because the rule is to be quiet.
	acknowledged bool

	Store string `json:"store"`
	// Scope is "bucket" for what concerns the whole bucket and so stands in
	// the report of each of its stores; else empty.
	Scope string `json:"scope,omitempty"`
	// Key and VersionID name the object, where one object is concerned.
	Key       string `json:"key,omitempty"`
	VersionID string `json:"version_id,omitempty"`
	// Message says what is wrong in a sentence for a tired person.
	Message  string `json:"message"`
	Observed string `json:"observed,omitempty"`
	Expected string `json:"expected,omitempty"`
	// Do is what to do now, in order; what not to do comes first.
	Do []string `json:"do,omitempty"`
	// Event tells one event from the next of the same kind, as for
	// acknowledging it: for control/reseeded the created timestamp.
	Event string `json:"event,omitempty"`
	// Evidence holds what else was seen of the same cause, findings of lesser
	// rules among it.
	Evidence []Evidence `json:"evidence,omitempty"`
}

// Evidence supports a Finding.
type Evidence struct {
	// Rule is the rule that would have spoken alone; empty for a plain fact.
	Rule    string `json:"rule,omitempty"`
	Message string `json:"message"`
}

// Found begins a Finding of the given severity. Judge adds rule and store.
func Found(s Severity, format string, args ...any) Finding {
	return Finding{Severity: s, Message: fmt.Sprintf(format, args...)}
}

// About names the object that the finding concerns.
func (f Finding) About(key string) Finding { f.Key = key; return f }

// Saw adds what was observed and what was expected.
func (f Finding) Saw(observed, expected string) Finding {
	f.Observed, f.Expected = observed, expected
	return f
}

// Todo adds what to do now, in order.
func (f Finding) Todo(steps ...string) Finding {
	f.Do = append(f.Do[:len(f.Do):len(f.Do)], steps...)
	return f
}

// Because adds a fact that supports the finding.
func (f Finding) Because(format string, args ...any) Finding {
	f.Evidence = append(f.Evidence[:len(f.Evidence):len(f.Evidence)], Evidence{Message: fmt.Sprintf(format, args...)})
	return f
}

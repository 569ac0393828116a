package notify

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"backstop/alerts"
	"backstop/audit"
	"backstop/audit/report"
)

// A Round is one report to tell of.
type Round struct {
	Report audit.Report
	// Rules are all rules: which facts each needs.
	Rules []audit.Rule
	// Scope says what the report is about (see alerts.ScopeOf): what lies outside
	// it stands.
	Scope alerts.Scope
	Now   time.Time
	// Runbooks is the base of the pages' URLs.
	Runbooks string
	// Only is the label of the one store that was looked at since the round before;
	// empty for all. What was not looked at again has not lasted for another round.
	Only string
	// Forgetful says that the state is not kept from round to round. What was not
	// seen is then told at once.
	Forgetful bool
}

// A State is what is so, and what each channel was told of it. Its zero value is
// that of a beginning.
type State struct {
	Schema int `json:"schema"`
	// Open are the alerts that are so, by id.
	Open map[string]Alert `json:"open"`
	// Told are the alerts that each channel, by its name, was told of last, and
	// was not told to be over.
	Told map[string]map[string]Alert `json:"told"`
}

// StateSchema is the version of the JSON form of a State.
const StateSchema = 1

// ParseState reads a state that was written as JSON.
func ParseState(body []byte) (State, error) {
	var s State
	if err := json.Unmarshal(body, &s); err != nil {
		return State{}, fmt.Errorf("it is not a state of backstop's: %w", err)
	}
	if s.Schema != StateSchema {
		return State{}, fmt.Errorf("it has schema %d, and this backstop reads %d", s.Schema, StateSchema)
	}
	return s, nil
}

// Marshal writes a state as JSON, for [ParseState].
func (s State) Marshal() ([]byte, error) {
	s.Schema = StateSchema
	return json.MarshalIndent(s, "", " ")
}

// next gives what is so after a round. An alert ends when its store was looked at
// and its rule could look, or when its store is there no longer. What could not be
// looked at stands.
func (s State) next(r Round) State {
	open := map[string]Alert{}
	for _, a := range found(r) {
		if old, ok := s.Open[a.ID]; ok {
			a.Since, a.Rounds = old.Since, old.Rounds
			if r.Only == "" || r.Only == a.Store {
				a.Rounds++
			}
		}
		a.Blind = r.unseen(a)
		open[a.ID] = a
	}
	for id, a := range s.Open {
		if _, so := open[id]; !so && r.stands(a) {
			open[id] = a
		}
	}
	return State{Schema: StateSchema, Open: open, Told: s.Told}
}

// stands reports whether an alert that the report does not have is not over.
func (r Round) stands(a Alert) bool {
	stores := r.storesOf(a)
	if len(stores) == 0 {
		return !r.Scope.Holds(a.Store)
	}
	// What its rule did without when it last spoke does not keep it from speaking.
	return slices.ContainsFunc(r.unseen(a), func(f audit.FactName) bool { return !slices.Contains(a.Blind, f) })
}

// unseen are the facts that an alert's rule needs and that were not seen.
func (r Round) unseen(a Alert) []audit.FactName {
	var not []audit.FactName
	for _, need := range r.needs(a.Rule) {
		for _, s := range r.storesOf(a) {
			if slices.ContainsFunc(s.Unseen, func(u audit.UnseenFact) bool { return u.Fact == need }) && !slices.Contains(not, need) {
				not = append(not, need)
			}
		}
	}
	return not
}

// storesOf are the stores of the report that an alert is about: one, or those of a
// bucket.
func (r Round) storesOf(a Alert) []audit.StoreReport {
	var of []audit.StoreReport
	for _, s := range r.Report.Stores {
		if report.Printable(alerts.Label(s.Store)) == a.Store || report.Printable(alerts.BucketLabel(s.Store)) == a.Store {
			of = append(of, s)
		}
	}
	return of
}

func (r Round) needs(rule string) []audit.FactName {
	for _, known := range r.Rules {
		if known.ID == rule {
			return known.Needs
		}
	}
	return nil
}

// over says why an alert is no longer so.
func (r Round) over(a Alert) string {
	stores := r.storesOf(a)
	if len(stores) == 0 && a.Name != nameUnaudited {
		return "the store is no longer found"
	}
	for _, s := range stores {
		if slices.ContainsFunc(s.Findings, func(f audit.Finding) bool { return f.Rule == a.Rule && f.Was != "" }) {
			return "the configuration makes information of it"
		}
	}
	return "it is no longer so"
}

// A Batch is what one channel is to be told.
type Batch struct {
	Now time.Time `json:"now"`
	// New are alerts that it was not told of yet, or of which the severity has
	// changed; Over are those that it was told of and that are no longer so.
	New  []Alert `json:"new"`
	Over []Alert `json:"over"`
	// Open are all that are so.
	Open []Alert `json:"open"`
	// Changed are what New had been told as before, where the severity has
	// changed.
	Changed []Alert `json:"-"`
}

// batch compares what is so with what a channel was told.
func (s State) batch(c Channel, r Round) Batch {
	b := Batch{Now: r.Now, New: []Alert{}, Over: []Alert{}, Open: []Alert{}}
	told := s.Told[c.Name]
	for _, a := range sorted(s.Open) {
		before, was := told[a.ID]
		// A fact that was not seen once may be seen the next time.
		if !c.wants(a) || !was && a.Verdict == string(audit.Unsure) && a.Rounds < 2 && !r.Forgetful {
			continue
		}
		b.Open = append(b.Open, a)
		switch {
		case !was:
			b.New = append(b.New, a)
		case before.Verdict != a.Verdict:
			b.New, b.Changed = append(b.New, a), append(b.Changed, before)
		}
	}
	for _, a := range sorted(told) {
		if now, so := s.Open[a.ID]; so && c.wants(now) {
			continue
		} else if so {
			a.Over = "it is only a " + now.Verdict + " now"
		} else {
			a.Over = r.over(a)
		}
		b.Over = append(b.Over, a)
	}
	return b
}

// sorted gives alerts the worst first.
func sorted(m map[string]Alert) []Alert {
	return slices.SortedFunc(maps.Values(m), compare)
}

package suggest

import (
	"fmt"
	"slices"
	"strings"

	"backstop/audit"
	"backstop/rules"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
)

// ever is further than anybody plans.
const ever = 100 * 365 * audit.Day

// provenBy are the rules of an audit that must be silent, however far ahead.
var provenBy = []string{
	"lifecycle/unseen", "lifecycle/deletes-control", "lifecycle/archives-control", "lifecycle/cuts-ladder",
	"lifecycle/splits-pair", "lifecycle/undo-window-short", "lifecycle/deletes-kops-state",
}

// prove shows that a configuration takes nothing that is needed from any store, or
// says what it takes. It is judged by the bytes that are printed of it.
func (m *maker) prove(c lifecycle.Configuration) error {
	body, err := c.JSON()
	if err != nil {
		return err
	}
	printed, err := lifecycle.Parse(body)
	if err != nil {
		return err
	}
	for _, s := range m.stores {
		if problems := printed.ValidateFor(forecast.BucketOf(s.Observation)); len(problems) > 0 {
			return fmt.Errorf("S3 would refuse it: %s", problems[0].Message)
		}
		if err := s.spared(concerning(printed, s.Observation)); err != nil {
			return err
		}
	}
	return nil
}

// concerning leaves the rules that can match a key of the store, or of kops's own
// files: of the others no object there knows.
func concerning(c lifecycle.Configuration, o *audit.Observation) lifecycle.Configuration {
	keys := []string{o.Store.Key("")}
	for _, file := range o.Kops.Value.Files.Value {
		keys = append(keys, file.Key)
	}
	some := lifecycle.Configuration{Rules: []lifecycle.Rule{}}
	for _, r := range c.Rules {
		prefix := ""
		if p := r.Scope().Prefix; p != nil {
			prefix = *p
		}
		if strings.HasPrefix(prefix, keys[0]) || slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, prefix) }) {
			some.Rules = append(some.Rules, r)
		}
	}
	return some
}

// spared shows it for one store. A PUT that does not say selects the first transition
// size default; who passes the other along has small objects moved, too.
func (s Store) spared(c lifecycle.Configuration) error {
	if len(c.Rules) == 0 {
		return nil
	}
	body, err := c.JSON()
	if err != nil {
		return err
	}
	modes := []string{lifecycle.AllClasses128K}
	if slices.ContainsFunc(c.Rules, func(r lifecycle.Rule) bool { return len(r.Transitions)+len(r.NoncurrentTransitions) > 0 }) {
		modes = append(modes, lifecycle.VariesByClass)
	}
	for _, mode := range modes {
		if err := s.unharmed(body, mode); err != nil {
			return err
		}
	}
	return nil
}

// unharmed shows it for one store, under one transition size default.
func (s Store) unharmed(body []byte, sizeDefault string) error {
	o := *s.Observation
	o.Bucket.Lifecycle, o.Bucket.TransitionSizeDefault = audit.Is(audit.Document{Body: body}), sizeDefault
	p := s.Policy.For(&o)
	p.HorizonCritical, p.HorizonWarning = ever, ever
	p.Exceptions = audit.Exceptions{}
	for _, id := range provenBy {
		// The rules of another bucket are not ours to suggest.
		if id == "lifecycle/deletes-kops-state" && o.Kops.Value.Bucket != nil {
			continue
		}
		rule, ok := rules.Named(id)
		if !ok {
			panic("suggest: there is no rule " + id)
		}
		if found := audit.Check([]audit.Rule{rule}, &o, p, s.Now); len(found) > 0 {
			return fmt.Errorf("%s: %s", id, found[0].Message)
		}
	}
	return forecastHarm(rules.Forecast(&o, p, s.Now, forecast.Within, nil))
}

// forecastHarm says what of a timeline lifecycle does to what is needed.
func forecastHarm(t forecast.Timeline) error {
	for _, c := range t.Control {
		if !c.Gone.IsZero() {
			return fmt.Errorf("forecast: rule %q %s %s on %s", c.Rule, c.Action, c.Path, audit.Stamp(c.Gone))
		}
	}
	for _, e := range t.Events {
		if e.Actor == forecast.ByLifecycle && e.Severity != audit.Info {
			return fmt.Errorf("forecast: on %s %s", forecast.Minute(e.At), e.Describe())
		}
	}
	return nil
}

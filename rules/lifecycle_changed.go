package rules

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
)

// changedNews is for how long a change of what people configure is told.
var changedNews = 7 * audit.Day

var lifecycleChanged = audit.Rule{
	ID:         "lifecycle/changed",
	Title:      "the bucket's lifecycle rules were changed",
	Severities: onlyInfo,
	Scope:      "bucket",
	Needs:      []audit.FactName{audit.FactLifecycle},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if o.Memory == nil {
			return nil
		}
		c, ok := changeOf(o.Bucket.Lifecycle, o.Memory.Lifecycle, now, changedNews)
		if !ok || sameRules(c.before, c.after) {
			return nil
		}
		return []audit.Finding{audit.Found(audit.Info, "the bucket's lifecycle rules are not those that they were: %s. Seen at %s", rulesDiffer(c.before, c.after), stamp(c.seen)).
			Saw(namesOf(c.after), namesOf(c.before)).
			Todo("See what follows with `backstop forecast`; lifecycle/deletes-control and its like speak where something does.",
				"`backstop lint` says so before the change is applied.")}
	},
}

// sameRules compares what is configured, and not how a server writes it.
func sameRules(a, b audit.Record) bool {
	if a.Missing || b.Missing {
		return a.Missing == b.Missing
	}
	x, err1 := lifecycle.Parse(a.Body)
	y, err2 := lifecycle.Parse(b.Body)
	if err1 != nil || err2 != nil {
		return string(a.Body) == string(b.Body)
	}
	return reflect.DeepEqual(x.Rules, y.Rules)
}

// namesOf names the rules of a configuration.
func namesOf(r audit.Record) string {
	if r.Missing {
		return "no rules"
	}
	c, err := lifecycle.Parse(r.Body)
	if err != nil {
		return "a configuration that cannot be read"
	}
	return fmt.Sprintf("%s: %s", plural(len(c.Rules), "rule"), few(ruleNames(c)))
}

func ruleNames(c lifecycle.Configuration) []string {
	var names []string
	for _, r := range c.Rules {
		names = append(names, fmt.Sprintf("%q", r.ID))
	}
	return names
}

// rulesDiffer says which rules came, went and changed.
func rulesDiffer(before, after audit.Record) string {
	a, err1 := lifecycle.Parse(before.Body)
	b, err2 := lifecycle.Parse(after.Body)
	if err1 != nil && !before.Missing || err2 != nil && !after.Missing {
		return "one of the two cannot be read"
	}
	var parts []string
	tell := func(what string, names []string) {
		if len(names) > 0 {
			parts = append(parts, few(names)+" "+what)
		}
	}
	in := func(c lifecycle.Configuration, r lifecycle.Rule) (same, there bool) {
		for _, other := range c.Rules {
			if other.ID == r.ID {
				return reflect.DeepEqual(other, r), true
			}
		}
		return false, false
	}
	var came, went, changed []string
	for _, r := range b.Rules {
		switch same, there := in(a, r); {
		case !there:
			came = append(came, fmt.Sprintf("%q", r.ID))
		case !same:
			changed = append(changed, fmt.Sprintf("%q", r.ID))
		}
	}
	for _, r := range a.Rules {
		if _, there := in(b, r); !there {
			went = append(went, fmt.Sprintf("%q", r.ID))
		}
	}
	tell("came", came)
	tell("went", went)
	tell("changed", changed)
	if len(parts) == 0 {
		return "their order changed"
	}
	return strings.Join(parts, "; ")
}

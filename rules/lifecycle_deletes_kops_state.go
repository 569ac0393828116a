package rules

import (
	"fmt"
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
)

var lifecycleDeletesKopsState = audit.Rule{
	ID:         "lifecycle/deletes-kops-state",
	Title:      "a lifecycle rule will delete what kops knows of the cluster",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	Scope:      "bucket",
	Needs:      []audit.FactName{audit.FactLifecycle, audit.FactVersioning, audit.FactKops, audit.FactKopsState},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		k, ok := keepingOf(besideState(o), now)
		if !ok {
			return nil
		}
		var first lifecycle.Event
		n := 0
		for _, file := range o.Kops.Value.Files.Value {
			e, ok := k.taken(file)
			if !ok {
				continue
			}
			if n == 0 || e.At.Before(first.At) {
				first = e
			}
			n++
		}
		ahead := first.At.Sub(now)
		severity := audit.Critical
		switch {
		case n == 0 || ahead > p.HorizonWarning:
			return nil
		case ahead > p.HorizonCritical:
			severity = audit.Warning
		}
		return []audit.Finding{stateGoes(o, first, n, severity, now)}
	},
}

// besideState is the observation with the facts of the bucket that the state store
// is in.
func besideState(o *audit.Observation) *audit.Observation {
	if o.Kops.Value.Bucket == nil {
		return o
	}
	beside := *o
	beside.Bucket = *o.Kops.Value.Bucket
	return &beside
}

func stateGoes(o *audit.Observation, e lifecycle.Event, n int, s audit.Severity, now time.Time) audit.Finding {
	k := o.Kops.Value
	others := ""
	if n > 1 {
		others = fmt.Sprintf(", and %d other files of the cluster later or then", n-1)
	}
	f := audit.Found(s, "lifecycle rule %q %s %s of the kops cluster %s %s%s. Without its state kops can neither update nor roll the cluster, and without its private keys nobody can rebuild it", e.Rule, does(e), e.Key, k.Cluster, dated(e, now), others).
		About(e.Key).
		Saw(fmt.Sprintf("%d of %s matched, the first %s", n, plural(len(k.Files.Value), "file"), dated(e, now)), "no enabled rule that deletes, hides or archives files of kops's state").
		Todo(fmt.Sprintf("Disable rule %q, or narrow its prefix: nothing in a state store ages. Prefixes match the whole key from its beginning.", e.Rule))
	if strings.Contains(e.Key, "/pki/") {
		f = f.Todo("Save a copy of " + k.StateStore + ", pki/ first.")
	} else {
		f = f.Todo("Save a copy of " + k.StateStore + ".")
	}
	if u := unsureOf(e); u != "" {
		f = f.Because("assuming the worse: %s", u)
	}
	return f
}

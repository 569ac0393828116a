package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

var lifecycleDeletesKopsState = audit.Rule{
	ID:         "lifecycle/deletes-kops-state",
	Title:      "a lifecycle rule will delete what kops knows of the cluster",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	Scope:      "bucket",
	Needs:      []audit.FactName{audit.FactLifecycle, audit.FactVersioning, audit.FactKops, audit.FactKopsState},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		first, n := stateTaken(o, now)
		severity, near := dueSeverity(p, first.At.Sub(now))
		if n == 0 || !near || toldWithControl(o, p, first, severity, now) {
			return nil
		}
		return []audit.Finding{stateGoes(o, first, n, severity, now)}
	},
}

// stateTaken gives the first event that takes one of the cluster's files away from
// readers, and how many of them some event takes.
func stateTaken(o *audit.Observation, now time.Time) (first lifecycle.Event, n int) {
	k, ok := keepingOf(besideState(o), now)
	if !ok {
		return first, 0
	}
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
	return first, n
}

// dueSeverity is that of a loss so far ahead; near is false beyond the owner's
// horizon.
func dueSeverity(p audit.Policy, ahead time.Duration) (s audit.Severity, near bool) {
	if ahead <= p.HorizonCritical {
		return audit.Critical, true
	}
	return audit.Warning, ahead <= p.HorizonWarning
}

// toldWithControl reports whether lifecycle/deletes-control or -archives-control
// speaks of the same lifecycle rule, and no less urgently: one rule, and one thing to
// do. Then its finding tells of kops's files too.
func toldWithControl(o *audit.Observation, p audit.Policy, e lifecycle.Event, s audit.Severity, now time.Time) bool {
	if o.Kops.Value.Bucket != nil || p.RoleOf(o) != audit.Live {
		return false
	}
	for path, doc := range map[string]audit.Fact[audit.Document]{etcdmanager.CreatedPath: o.Created, etcdmanager.SpecPath: o.Spec} {
		rule, at, teller := "", time.Time{}, "lifecycle/deletes-control"
		if d, ok := deletion(o, doc, path, now); ok {
			rule, at = d.rule, d.at
		} else if a, ok := archival(o, doc, now, ""); ok {
			rule, at, teller = a.Rule, a.At, "lifecycle/archives-control"
		}
		told, near := dueSeverity(p, at.Sub(now))
		ignored := slices.ContainsFunc(p.Ignore, func(i audit.Ignore) bool { return i.Rule == teller && now.Before(i.Until) })
		if rule == e.Rule && near && !s.Worse(told) && !ignored {
			return true
		}
	}
	return false
}

// kopsFilesToo says that a lifecycle rule takes files of kops besides the control
// file; empty where it does not.
func kopsFilesToo(o *audit.Observation, rule string, now time.Time) string {
	e, n := stateTaken(o, now)
	if n == 0 || e.Rule != rule || o.Kops.Value.Bucket != nil {
		return ""
	}
	return fmt.Sprintf("the same rule takes %s of kops's own state of the cluster, the first, %s, %s", plural(n, "file"), e.Key, dated(e, now))
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
		others = ", and " + plural(n-1, "other file") + " of the cluster then or later"
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

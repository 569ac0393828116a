package rules

import (
	"time"

	"backstop/audit"
)

var snapshotEventsBehind = audit.Rule{
	ID:         "snapshot/events-behind",
	Title:      "main and events of a cluster have snapshots of different times",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactListing, audit.FactKops},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		s, at, _, ok := newest(o, now)
		if !ok || p.Resting(now) || orphaned(o) {
			return nil
		}
		var ahead audit.Sibling
		for _, other := range o.Siblings {
			if areMainAndEvents(o.Store.Etcd, other.Etcd) && other.Listed && other.Newest.After(ahead.Newest) {
				ahead = other
			}
		}
		behind := ahead.Newest.Sub(at)
		if ahead.Newest.IsZero() || behind <= p.LateAfter() {
			return nil
		}
		return []audit.Finding{audit.Found(audit.Warning,
			"the newest snapshot of %s is %s older than that of %s (%s): a restore of both would bring the cluster back with data of two times, and what backs up %s works", o.Store.Etcd, span(behind), ahead.Etcd, stamp(ahead.Newest), ahead.Etcd).
			About(o.Store.Key(s.Name)).
			Saw(o.Store.Etcd+" "+stamp(at)+", "+ahead.Etcd+" "+stamp(ahead.Newest), "within "+span(p.LateAfter())+" of each other").
			Todo("The bucket and the node's role are good, or "+ahead.Etcd+" would be late too: look at etcd-manager-"+o.Store.Etcd+" on the control plane alone.",
				"To restore now, choose for "+ahead.Etcd+" a snapshot of about "+stamp(at)+".")}
	},
}

func areMainAndEvents(a, b string) bool {
	return a == "main" && b == "events" || a == "events" && b == "main"
}

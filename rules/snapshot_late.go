package rules

import (
	"time"

	"backstop/audit"
)

var snapshotLate = audit.Rule{
	ID:         "snapshot/late",
	Title:      "the newest snapshot is late",
	Severities: onlyWarning,
	Supersedes: []audit.Superseded{{Rule: "snapshot/events-behind"}},
	Needs:      []audit.FactName{audit.FactListing, audit.FactKops},
	AnyLayout:  true,
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		s, at, age, ok := newestOwn(o, now)
		if !ok || age <= p.LateAfter() || age > p.StaleAfter() || p.Resting(now) || orphaned(o) {
			return nil
		}
		f := tooOld(audit.Warning, o, s, at, age, p.LateAfter(), p)
		if o.Store.Layout == audit.LayoutCharm {
			return []audit.Finding{f.Todo(takeOne...)}
		}
		return []audit.Finding{f.
			Todo("Read etcd-manager's log on the leader: `error during backup` names the cause. Critical after " + span(p.StaleAfter()) + ".")}
	},
}

package rules

import (
	"time"

	"backstop/audit"
)

var snapshotLate = audit.Rule{
	ID:         "snapshot/late",
	Title:      "the newest snapshot is late",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactListing},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		s, at, age, ok := newest(o, now)
		if !ok || age <= p.LateAfter() || age > p.StaleAfter() {
			return nil
		}
		return []audit.Finding{tooOld(audit.Warning, o, s, at, age, p.LateAfter(), p).
			Todo("Read etcd-manager's log on the leader: `error during backup` names the cause. Critical after " + span(p.StaleAfter()) + ".")}
	},
}

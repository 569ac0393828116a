package rules

import (
	"time"

	"backstop/audit"
)

var snapshotStale = audit.Rule{
	ID:         "snapshot/stale",
	Title:      "backups have stopped",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactListing, audit.FactKops},
	Supersedes: []audit.Superseded{{Rule: "snapshot/late"}, {Rule: "snapshot/events-behind"}},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		s, at, age, ok := newestOwn(o, now)
		if !ok || age <= p.StaleAfter() || p.Resting(now) || orphaned(o) {
			return nil
		}
		return []audit.Finding{tooOld(audit.Critical, o, s, at, age, p.StaleAfter(), p).
			Todo("Read etcd-manager's log on the leader (/var/log/etcd.log, /var/log/etcd-events.log): `error during backup` names the cause.",
				"Check that the cluster is meant to run: a deleted or hibernated one takes no backups.",
				"Save a snapshot by hand until it is mended: etcdctl snapshot save.")}
	},
}

// tooOld is the finding of late and stale.
func tooOld(severity audit.Severity, o *audit.Observation, s audit.Snapshot, at time.Time, age, limit time.Duration, p audit.Policy) audit.Finding {
	return audit.Found(severity, "the newest snapshot is %s old; one is expected every %s", span(age), span(p.Interval)).
		About(o.Store.Key(s.Name)).
		Saw(s.Name+", written "+stamp(at), "one younger than "+span(limit))
}

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
	AnyLayout:  true,
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		s, at, age, ok := newestOwn(o, now)
		if !ok || age <= p.StaleAfter() || p.Resting(now) || orphaned(o) {
			return nil
		}
		f := tooOld(audit.Critical, o, s, at, age, p.StaleAfter(), p)
		if o.Store.Layout == audit.LayoutCharm {
			return []audit.Finding{f.Todo(takeOne...)}
		}
		return []audit.Finding{f.
			Todo("Read etcd-manager's log on the leader (/var/log/etcd.log, /var/log/etcd-events.log): `error during backup` names the cause.",
				"Check that the cluster is meant to run: a deleted or hibernated one takes no backups.",
				"Save a snapshot by hand until it is mended: etcdctl snapshot save.")}
	},
}

// takeOne is what to do where the charm's snapshots stay away.
var takeOne = []string{
	"Take one: juju run etcd/leader snapshot keys-version=v3, or etcdctl snapshot save, copy it off the unit, and verify it: backstop verify FILE.",
	"The charm takes none by itself: look at what is to run the action, and say how often that is with the interval in the configuration.",
}

// tooOld is the finding of late and stale.
func tooOld(severity audit.Severity, o *audit.Observation, s audit.Snapshot, at time.Time, age, limit time.Duration, p audit.Policy) audit.Finding {
	return audit.Found(severity, "the newest snapshot is %s old; one is expected every %s", span(age), span(p.Interval)).
		About(o.Store.Key(s.Name)).
		Saw(s.Name+", written "+stamp(at), "one younger than "+span(limit))
}

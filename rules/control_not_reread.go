package rules

import (
	"time"

	"backstop/audit"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

var controlNotReread = audit.Rule{
	ID:         "control/not-reread",
	Title:      "the control files are back, and etcd-manager has not read them again",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactSpec},
	Supersedes: []audit.Superseded{{Rule: "snapshot/late"}, {Rule: "snapshot/stale"}},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		_, at, age, ok := newest(o, now)
		// In a copied store LastModified is the time of the copy.
		if !ok || age <= p.StaleAfter() || o.Listing.Value.Copied() || stateOf(o, p, now) != etcdmanager.Running {
			return nil
		}
		created, spec := o.Created.Value.LastModified, o.Spec.Value.LastModified
		if !created.After(at) || !spec.After(at) {
			return nil
		}
		steps := recovery.Repair(o, etcdmanager.Stuck)
		return []audit.Finding{audit.Found(audit.Critical,
			"both control files were put back after the newest snapshot, and no snapshot has come since: etcd-manager reads them again only when its leader changes. Restart the etcd-manager container on the leader.").
			About(o.Store.Key(etcdmanager.SpecPath)).
			Saw("created "+stamp(created)+", spec "+stamp(spec)+"; "+lastSnapshot(o, now), "a snapshot within two intervals of the repair").
			Todo(recovery.Titles(steps[len(steps)-2:])...)}
	},
}

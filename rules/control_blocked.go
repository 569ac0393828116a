package rules

import (
	"time"

	"backstop/audit"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

var controlBlocked = audit.Rule{
	ID:         "control/blocked",
	Title:      "etcd-manager cannot read etcd-cluster-created, and does nothing",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactCreated},
	Supersedes: []audit.Superseded{{Rule: "snapshot/late"}, {Rule: "snapshot/stale"}},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if stateOf(o, p, now) != etcdmanager.Blocked {
			return nil
		}
		fault := "empty (0 bytes)"
		if o.Created.Value.Unreadable != "" {
			fault = "unreadable for everyone (" + o.Created.Value.Unreadable + ")"
		}
		f := audit.Found(audit.Critical,
			"etcd-cluster-created is %s. Every cycle of etcd-manager ends with an error before it does anything: no backups, no replacement of a lost member, no upgrade. (No reset either.)", fault).
			About(o.Store.Key(etcdmanager.CreatedPath)).
			Saw(lastSnapshot(o, now), "a readable file of any content").
			Todo(recovery.Titles(recovery.Repair(o, etcdmanager.Blocked))...)
		return []audit.Finding{withTraces(f, o)}
	},
}

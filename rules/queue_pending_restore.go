package rules

import (
	"time"

	"backstop/audit"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

// restoreGrace is how long a restore may be queued before it counts as
// forgotten: the restart that starts it is part of the procedure.
var restoreGrace = 30 * time.Minute

var queuePendingRestore = audit.Rule{
	ID:         "queue/pending-restore",
	Title:      "a queued restore waits for the next restart of the leader",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactQueue},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		var found []audit.Finding
		for _, c := range o.Queue.Value {
			cmd, err := etcdmanager.ParseCommand(c.Body.Value.Body)
			if err != nil || cmd.Restore == nil || now.Sub(c.Object.LastModified) <= restoreGrace {
				continue
			}
			f := audit.Found(audit.Critical,
				"a restore of %s has been queued for %s. It runs when etcd-manager's leader next restarts, as in the next rolling update, however old it is: the live cluster is stopped%s.",
				cmd.Restore.Backup, span(now.Sub(c.Object.LastModified)), rollback(cmd.Restore.Backup, now)).
				About(c.Object.Key).
				Saw("queued "+stamp(c.Object.LastModified), "an empty queue, but during a restore").
				Todo("Do NOT restart etcd-manager, and do NOT roll the control plane.",
					"If the restore is not meant, remove it: "+recovery.DropCommand(o, c.Object.Key, cmd.Restore.Backup))
			if stateOf(o, p, now) == etcdmanager.Running {
				f = f.Todo("If it is meant, restart etcd-manager on the leader now, for main and events together.")
			}
			if cmd.Restore.ClusterSpec != nil {
				f = f.Because("it also writes the spec anew: memberCount %d, etcdVersion %s", cmd.Restore.ClusterSpec.MemberCount, cmd.Restore.ClusterSpec.EtcdVersion)
			}
			if cmd.Restore.ClusterSpec == nil {
				f = f.Because("it names no cluster spec, for which etcd-manager refuses it; it then neither restores nor backs up")
			}
			found = append(found, f)
		}
		return found
	},
}

// rollback says how far back a restore of the named snapshot would go.
func rollback(name string, now time.Time) string {
	taken, ok := etcdmanager.ParseName(name)
	if !ok || taken.After(now) {
		return ", and set back to that snapshot"
	}
	return ", and set back by " + span(now.Sub(taken)) + ", to " + stamp(taken)
}

package rules

import (
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

var queueUnparsable = audit.Rule{
	ID:         "queue/unparsable",
	Title:      "a queued command does not parse, and fails every refresh of the control store",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactQueue},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		var found []audit.Finding
		for _, c := range o.Queue.Value {
			if !c.Body.IsSet() {
				continue
			}
			fault := c.Body.Value.Unreadable
			if fault == "" {
				_, err := etcdmanager.ParseCommand(c.Body.Value.Body)
				if err == nil {
					continue
				}
				fault = err.Error()
			}
			do := []string{
				"Do NOT restart etcd-manager or roll the control plane before the object is gone.",
				"Do NOT use etcd-manager-ctl delete-command for it: it goes by the backup's name, and crashes on a command without one.",
				"Delete the object.",
			}
			if o.Created.State == audit.Unset {
				do[2] = "Do NOT delete the object before etcd-cluster-created is back: while that is missing, this command is what keeps etcd-manager from making a new cluster."
				do = append(do, "Put etcd-cluster-created back, then delete the object; `backstop plan` has the whole order.")
			}
			found = append(found, audit.Found(audit.Critical,
				"a queued command cannot be read by etcd-manager: from the next change of leader on, no member becomes leader, and backups and repairs stop").
				About(c.Object.Key).
				Saw(fault, "a command as etcd-manager-ctl writes it").
				Todo(do...))
		}
		return found
	},
}

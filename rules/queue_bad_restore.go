package rules

import (
	"time"

	"backstop/audit"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

var queueBadRestore = audit.Rule{
	ID:         "queue/bad-restore",
	Title:      "a queued restore names a backup that cannot be restored",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactQueue, audit.FactListing, audit.FactRestoreMeta, audit.FactSpec, audit.FactHead},
	Supersedes: []audit.Superseded{{Rule: "queue/pending-restore", SameKey: true}},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if !o.Listing.IsSet() {
			return nil
		}
		bodies := make([][]byte, len(o.Queue.Value))
		for i, c := range o.Queue.Value {
			bodies[i] = c.Body.Value.Body
		}
		next, _ := etcdmanager.NextRestore(bodies)
		var found []audit.Finding
		for i, c := range o.Queue.Value {
			cmd, err := etcdmanager.ParseCommand(bodies[i])
			if err != nil || cmd.Restore == nil {
				continue
			}
			fault := targetFault(o, cmd.Restore.Backup, i == next)
			if fault == "" {
				continue
			}
			found = append(found, audit.Found(audit.Critical,
				"the queued restore of %q cannot succeed: %s. When etcd-manager's leader next restarts, it stops the live cluster and puts its data aside BEFORE it looks for the backup, fails, and does so again every 10 to 20 s.",
				cmd.Restore.Backup, fault).
				About(c.Object.Key).
				Saw(fault, "a complete backup of a version that can be restored").
				Todo("Do NOT restart etcd-manager, and do NOT roll the control plane.",
					"Remove the command: "+recovery.DropCommand(o, c.Object.Key, cmd.Restore.Backup),
					"If etcd-manager already loops, remove the command first and then restart etcd-manager: the queue is cached. The old data lies in data-trashcan/ on each control-plane node."))
		}
		return found
	},
}

// versionFault says why a backup of this version of etcd cannot be restored. That
// kops has no programs for it counts only where the spec asks for another minor
// version: what the cluster runs on is there now.
func versionFault(o *audit.Observation, version string) string {
	if _, why, ok := etcdmanager.Restorable(version); !ok {
		return "it was taken by etcd " + orNone(version) + ": " + why
	}
	if same, known := specFamily(o, version); known && !same {
		if why := unrestorable(version); why != "" {
			return "it was taken by etcd " + version + ": " + why
		}
	}
	return ""
}

// targetFault says why a backup cannot be restored; empty when nothing speaks
// against it. etcd-manager looks for it directly below the store's root, and
// needs both halves.
func targetFault(o *audit.Observation, name string, metaRead bool) string {
	for _, s := range o.Listing.Value.Snapshots {
		switch {
		case s.Name != name:
			continue
		case s.Meta == nil:
			return "it has data and no meta file, so that etcd-manager does not take it for a backup"
		case s.Data == nil:
			return "it has a meta file and no data"
		case s.Data.Archived():
			return "its data is archived in storage class " + s.Data.StorageClass + " and cannot be read"
		case s.Data.Size < smallestSnapshotBytes:
			return "its data has " + plural(int(s.Data.Size), "byte") + ", which is less than any snapshot has"
		}
		if e, _ := o.Of(s); e.Condition == audit.Damaged {
			return "it is damaged (" + e.Reason + "; " + howRead(e) + ")"
		}
		switch {
		case !metaRead || !o.RestoreMeta.IsSet():
			return ""
		}
		meta, err := etcdmanager.ParseMeta(o.RestoreMeta.Value.Body)
		if err != nil {
			return "its meta file does not parse (" + err.Error() + ")"
		}
		return versionFault(o, meta.EtcdVersion)
	}
	return "there is no such backup in the store"
}

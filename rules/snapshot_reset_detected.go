package rules

import (
	"time"

	"backstop/audit"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

var snapshotResetDetected = audit.Rule{
	ID:         "snapshot/reset-detected",
	Title:      "the revision fell and most keys are gone between two snapshots: the cluster was reset",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactListing, audit.FactKops, audit.FactCreated, audit.FactLifecycle, audit.FactVersioning, audit.FactControlVersions, audit.FactObjectLock},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		born, known := etcdmanager.CreatedTimestamp(o.Created.Value.Body)
		var found []audit.Finding
		for _, d := range drops(o, now) {
			if !d.collapsed() {
				continue // snapshot/restored
			}
			if known && acknowledgedReset(p, born) && d.before.Snapshot.Taken.Before(born) && !d.after.Snapshot.Taken.Before(born.Truncate(time.Second)) {
				continue // the same event
			}
			good := d.before.Snapshot
			f := audit.Found(audit.Critical, "between %s and %s the cluster was replaced by another: its revision fell from %d to %d, and of %s %d are left",
				good.Name, d.after.Snapshot.Name, d.before.Content.Revision, d.after.Content.Revision, plural(int(d.before.Content.Keys), "key"), d.after.Content.Keys).
				About(d.after.Key).
				Saw(d.tells(), "a revision that rises").
				Because("the last snapshot from before is %s; %s", good.Name, endOf(o, p, now, good))
			if strangers(d.before.Content, d.after.Content) {
				f = f.Because("its members (%s) are none of those before (%s)", few(d.after.Content.Members), few(d.before.Content.Members))
			}
			f.Event = d.after.Snapshot.Name
			found = append(found, f.Todo(
				"Do NOT delete volumes or terminate control-plane nodes: the old data may lie in data-trashcan/ beside etcd's data directory on each of them.",
				"Copy "+good.Name+" to another bucket now: etcd-manager's cleanup keeps only the earliest snapshot of each hour.",
				"If the cluster should be what it was, restore that snapshot: etcd-manager-ctl -backup-store="+recovery.Quote(o.Store.URL)+" restore-backup "+recovery.Quote(good.Name)+", and restart etcd-manager on the leader. `backstop plan` has the whole order.",
				"If the new cluster was meant, acknowledge this one event below the store in backstop's configuration: acknowledged: [{rule: snapshot/reset-detected, event: \""+f.Event+"\", reason: …}]"))
		}
		return found
	},
}

package rules

import (
	"time"

	"backstop/audit"
)

var auditStoreVanished = audit.Rule{
	ID:         "audit/store-vanished",
	Title:      "a store that should exist is not there",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactQueue, audit.FactKops},
	Supersedes: []audit.Superseded{
		{Rule: "control/reset-imminent"}, {Rule: "control/reset-armed"}, {Rule: "control/spec-missing"}, {Rule: "control/blocked"},
		{Rule: "control/unseen"}, {Rule: "control/stray"}, {Rule: "bucket/orphan-store"},
	},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if o.Store.NamedBy == "" || !vanished(o) {
			return nil
		}
		who := "the " + o.Store.NamedBy
		if o.Store.NamedBy == "kops" {
			who = "kops"
		}
		const nothing = "names this store, and nothing of it is there: no control file, no snapshot, no command"
		if orphaned(o) {
			return []audit.Finding{withTraces(audit.Found(audit.Warning,
				"%s %s. The kops state store %s knows no such cluster either", who, nothing, o.Kops.Value.StateStore).
				Saw("an empty listing", "a backup store").
				Todo("If the cluster was deleted on purpose, take the store out of the configuration.",
					"If it still runs, do NOT run kops update cluster --yes, and save a snapshot from it now (etcdctl snapshot save): both its description and its backups are gone."), o)}
		}
		f := audit.Found(audit.Critical, "%s %s", who, nothing).
			Saw("an empty listing", "a backup store").
			Todo("Check the URL, and backupStore in `kops get cluster -o yaml`: the store may have moved.",
				"If it did not move, it was deleted: do NOT run kops update cluster --yes. The live etcd still holds everything; save a snapshot from it now (etcdctl snapshot save).")
		if o.Store.NamedBy == "kops" {
			f = f.Todo("If the cluster is being created right now, audit again in a quarter of an hour.")
		} else {
			f = f.Todo("If the cluster is gone for good, take the store out of the configuration.")
		}
		return []audit.Finding{withTraces(f, o)}
	},
}

// vanished reports whether the store was seen, and nothing of a store is there.
func vanished(o *audit.Observation) bool {
	if o.Bucket.Versioning.Why != nil && o.Bucket.Versioning.Why.Cause == audit.CauseNoBucket {
		return true
	}
	return o.Listing.IsSet() && len(o.Listing.Value.Snapshots) == 0 &&
		o.Created.State == audit.Unset && o.Spec.State == audit.Unset && o.Queue.Seen() && len(o.Queue.Value) == 0
}

package rules

import (
	"time"

	"backstop/audit"
)

var auditStoreVanished = audit.Rule{
	ID:         "audit/store-vanished",
	Title:      "a store that should exist is not there",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactQueue},
	Supersedes: []audit.Superseded{
		{Rule: "control/reset-imminent"}, {Rule: "control/reset-armed"}, {Rule: "control/spec-missing"}, {Rule: "control/blocked"},
		{Rule: "control/never-initialised"}, {Rule: "control/unseen"}, {Rule: "control/stray"},
	},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if o.Store.NamedBy == "" || !vanished(o) {
			return nil
		}
		return []audit.Finding{withTraces(audit.Found(audit.Critical,
			"the %s names this store, and nothing of it is there: no control file, no snapshot, no command", o.Store.NamedBy).
			Saw("an empty listing", "a backup store").
			Todo("Check the URL, and backupStore in `kops get cluster -o yaml`: the store may have moved.",
				"If it did not move, it was deleted: do NOT run kops update cluster --yes. The live etcd still holds everything; save a snapshot from it now (etcdctl snapshot save).",
				"If the cluster is gone for good, take the store out of the configuration."), o)}
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

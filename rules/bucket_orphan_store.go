package rules

import (
	"time"

	"backstop/audit"
)

var bucketOrphanStore = audit.Rule{
	ID:         "bucket/orphan-store",
	Title:      "kops knows no cluster that this store could belong to",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactKops, audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactQueue, audit.FactControlVersions, audit.FactLifecycle},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		switch {
		case !orphaned(o):
			return nil
		case deletedCluster(o):
			return []audit.Finding{withTraces(deletedWithItsCluster(o), o)}
		case vanished(o):
			return nil
		}
		return []audit.Finding{audit.Found(audit.Warning,
			"the kops state store %s does not list %s: %s, or is described elsewhere. The age of its snapshots is therefore not judged; %s", o.Kops.Value.StateStore, clusterOf(o), wasDeleted(o), lastSnapshot(o, now)).
			Saw("no such cluster in "+o.Kops.Value.StateStore, "a cluster that names this store").
			Todo("Does the cluster still run? Then its description is missing from kops: do NOT let anything recreate it before control/ is known to be whole, and find out who deleted it.",
				"If it is gone for good, keep the last snapshot for as long as you must, and delete the store, or name it in the configuration with the role archive.")}
	},
}

// deletedWithItsCluster speaks of a store of which nothing is left but old
// versions.
func deletedWithItsCluster(o *audit.Observation) audit.Finding {
	return audit.Found(audit.Warning,
		"all of this store was deleted, and the kops state store %s does not list %s: %s. Nothing is left of its backups but old versions", o.Kops.Value.StateStore, clusterOf(o), wasDeleted(o)).
		Saw("an empty listing, and no such cluster in "+o.Kops.Value.StateStore, "a store and its cluster").
		Todo("If the cluster was deleted on purpose, nothing is to be done. Old versions that nobody wants are removed by a lifecycle rule for noncurrent versions.",
			"If it still runs, do NOT run kops update cluster --yes, and save a snapshot from it now (etcdctl snapshot save): both its description and its backups are gone.")
}

func clusterOf(o *audit.Observation) string {
	if o.Store.Cluster != "" {
		return "the cluster " + o.Store.Cluster
	}
	return "this store's cluster"
}

func wasDeleted(o *audit.Observation) string {
	if at := o.Kops.Value.Deleted; !at.IsZero() {
		return "its documents there were deleted at " + stamp(at)
	}
	return "it was deleted"
}

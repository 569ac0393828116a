package rules

import (
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

var controlNeverInitialised = audit.Rule{
	ID:         "control/never-initialised",
	Title:      "no cluster has been created in this store yet",
	Severities: []audit.Severity{audit.Warning, audit.Info},
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactControlVersions, audit.FactKops, audit.FactQueue},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if o.Store.NamedBy != "" && vanished(o) || deletedCluster(o) {
			return nil // audit/store-vanished and bucket/orphan-store speak
		}
		switch stateOf(o, p, now) {
		case etcdmanager.Bootstrapping:
			return []audit.Finding{audit.Found(audit.Info,
				"a first cluster is forming: etcd-cluster-spec was written %s ago, and nothing shows an earlier cluster", span(max(0, now.Sub(o.Spec.Value.LastModified)))).
				About(o.Store.Key(etcdmanager.CreatedPath)).
				Saw("spec alone, "+ownSnapshots(o), "etcd-cluster-created within an hour")}
		case etcdmanager.Uninitialised:
			return []audit.Finding{audit.Found(audit.Warning,
				"no cluster has ever been created here: etcd-cluster-created is missing, and nothing shows an earlier cluster. This is not the alarm of a reset, as there is nothing to lose.").
				About(o.Store.Key(etcdmanager.CreatedPath)).
				Saw("created missing, spec "+specFault(o)+", "+ownSnapshots(o), "both control files and snapshots").
				Todo("If the cluster runs, it keeps its backups elsewhere, or cannot write here: compare backupStore in `kops get cluster -o yaml`, and look for AccessDenied in etcd-manager's log.",
					"If no cluster is meant to be here, delete what is left of the store, or stop auditing it.")}
		}
		return nil
	},
}

// ownSnapshots says that a store has none of the cluster's own.
func ownSnapshots(o *audit.Observation) string {
	if n := len(o.Listing.Value.Snapshots); n > 0 {
		return "no snapshots but " + itoa(n) + " from before " + stamp(o.Kops.Value.Created) + ", when kops created the cluster"
	}
	return "no snapshots"
}

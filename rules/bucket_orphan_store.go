package rules

import (
	"time"

	"backstop/audit"
)

var bucketOrphanStore = audit.Rule{
	ID:         "bucket/orphan-store",
	Title:      "kops knows no cluster that this store could belong to",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactKops, audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactQueue},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if !orphaned(o) || vanished(o) {
			return nil
		}
		whose := "this store's cluster"
		if o.Store.Cluster != "" {
			whose = "the cluster " + o.Store.Cluster
		}
		return []audit.Finding{audit.Found(audit.Warning,
			"the kops state store %s does not list %s: it was deleted, or is described elsewhere. The age of its snapshots is therefore not judged; %s", o.Kops.Value.StateStore, whose, lastSnapshot(o, now)).
			Saw("no such cluster in "+o.Kops.Value.StateStore, "a cluster that names this store").
			Todo("Does the cluster still run? Then its description is missing from kops: do NOT let anything recreate it before control/ is known to be whole, and find out who deleted it.",
				"If it is gone for good, keep the last snapshot for as long as you must, and delete the store, or name it in the configuration with the role archive.")}
	},
}

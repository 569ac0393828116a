package rules

import (
	"strings"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

var controlSharedStore = audit.Rule{
	ID:         "control/shared-store",
	Title:      "two etcd clusters have one backup store",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactKops},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		k := o.Kops.Value
		if !o.Kops.IsSet() || len(k.SharedWith) == 0 {
			return nil
		}
		own, others := k.Cluster+"/"+k.Etcd, strings.Join(k.SharedWith, ", ")
		return []audit.Finding{audit.Found(audit.Critical,
			"kops gives this store to %s and to %s: they read one spec and one command queue, a restore takes whichever snapshot is newest, of either, and each cleans up the other's", own, others).
			About(o.Store.Key(etcdmanager.ControlDir)+"/").
			Saw("backupStore of "+own+" and of "+others, "a store for each etcd cluster").
			Todo("Do NOT restore from this store, and do NOT roll the control plane of either cluster: nothing in a snapshot's name tells whose it is.",
				"Save a snapshot of each etcd by hand now (etcdctl snapshot save).",
				"Give one of them a store of its own: copy this store's control/ to the new place FIRST, with the right spec in it, then change backupStore. A new place without etcd-cluster-created resets the cluster.")}
	},
}

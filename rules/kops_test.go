package rules

import (
	"time"

	"backstop/audit"
)

// What kops may say of the healthy store.

// kopsSays lets kops name the store, three members and version 3.5.30, with more
// of its words.
func kopsSays(more func(k *audit.Kops)) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		k := audit.Kops{StateStore: "s3://kops", Known: true, ClusterKnown: true, Cluster: "prod.example.com", Etcd: o.Store.Etcd,
			Members: 3, Version: "3.5.30", Created: birth.Add(-time.Hour), Hourly: 7 * audit.Day, Daily: 90 * audit.Day, Files: audit.Is([]audit.Object{})}
		if more != nil {
			more(&k)
		}
		o.Kops = audit.Is(k)
	}
}

// kopsCreated lets kops say when the cluster was created.
func kopsCreated(at time.Time) func(o *audit.Observation) {
	return kopsSays(func(k *audit.Kops) { k.Created = at })
}

// orphan is a store of a cluster that kops does not know.
func orphan(o *audit.Observation) {
	o.Kops = audit.Is(audit.Kops{StateStore: "s3://kops"})
}

// moved is a store of a cluster that keeps its backups elsewhere.
func moved(to string) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Kops = audit.Is(audit.Kops{StateStore: "s3://kops", ClusterKnown: true, Cluster: "prod.example.com", Etcd: "main", Elsewhere: to})
	}
}

func namedByKops(o *audit.Observation) { o.Store.NamedBy = "kops" }

// countLimit makes a limit of a threshold that counts.
func countLimit(name string, v *int64) limit { return bytesLimit(name, v) }

package rules

import (
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// emptyFor is how long after its birth a cluster may be without Kubernetes's
// objects.
var emptyFor = time.Hour

var snapshotNoKubernetesKeys = audit.Rule{
	ID:         "snapshot/no-kubernetes-keys",
	Title:      "the newest verified snapshot holds nothing of Kubernetes",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactKops},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		all := provenOf(o, now)
		if !isMain(o) || len(all) == 0 {
			return nil
		}
		last := all[len(all)-1]
		if last.Content.KubernetesKeys > 0 {
			return nil
		}
		born, ok := etcdmanager.CreatedTimestamp(o.Created.Value.Body)
		if ok && o.Created.IsSet() && last.Snapshot.Taken.Sub(born) <= emptyFor {
			return nil // it is being born; or a reset, which has rules of its own
		}
		f := audit.Found(audit.Critical, "%s, the newest snapshot of main that was read to its end, holds no key below /registry/: a restore of it gives a cluster without any object", last.Snapshot.Name).
			About(last.Key).
			Saw(plural(int(last.Content.Keys), "key")+", none of Kubernetes", "keys below /registry/").
			Todo("Do NOT restore it.",
				"See whether the cluster has its objects (kubectl get ns). If it has, save a snapshot by hand on a member of main (etcdctl snapshot save), and check it with `backstop verify FILE`.",
				"If it has not, it was replaced by an empty one: see control/reseeded and `backstop plan`.",
				"If the API server keeps its keys elsewhere (--etcd-prefix), or this is no etcd of Kubernetes, ignore this rule for this store.")
		for _, s := range all {
			if s.Content.KubernetesKeys > 0 {
				f = f.Because("%s still held %s of Kubernetes", s.Snapshot.Name, plural(int(s.Content.KubernetesKeys), "key"))
				break
			}
		}
		return []audit.Finding{f}
	},
}

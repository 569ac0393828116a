package rules

import (
	"strings"
	"time"

	"backstop/audit"
)

var bucketDuplicateTree = audit.Rule{
	ID:         "bucket/duplicate-tree",
	Title:      "kops's cluster keeps its backups elsewhere, and this tree is still here",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactKops, audit.FactListing, audit.FactCreated, audit.FactSpec},
	Supersedes: []audit.Superseded{{Rule: "snapshot/none"}, {Rule: "snapshot/late"}, {Rule: "snapshot/stale"}},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		k := o.Kops.Value
		if !o.Kops.IsSet() || !k.ClusterKnown || k.Known || isHere(o, k.Elsewhere) {
			return nil
		}
		if len(o.Listing.Value.Snapshots) == 0 && !o.Created.IsSet() && !o.Spec.IsSet() {
			return nil
		}
		where := "has no etcd cluster " + o.Store.Etcd + " any more"
		if k.Elsewhere != "" {
			where = "keeps its backups at " + k.Elsewhere
		}
		return []audit.Finding{audit.Found(audit.Warning,
			"the kops cluster %s %s, and here is a tree of its etcd too: whoever restores may take the wrong one; %s", k.Cluster, where, lastSnapshot(o, now)).
			Saw("control files or snapshots here", "one tree, where kops says").
			Todo("Are new snapshots still written here? Then the control plane runs with the old backupStore: do NOT roll it before the new place has both control files, or etcd is reset.",
				"Look that the other place is audited and has fresh snapshots.",
				"Then keep this tree for as long as its snapshots are wanted (name it in the configuration with the role archive), and delete it.")}
	},
}

// isHere reports whether a backup store's URL, as kops spells it, is that of the
// observed store. In a copy of a bucket only the key can be compared.
func isHere(o *audit.Observation, url string) bool {
	_, place, ok := strings.Cut(url, "://")
	bucket, prefix, _ := strings.Cut(place, "/")
	copied := !strings.HasPrefix(o.Store.URL, "s3://")
	return ok && strings.Trim(prefix, "/") == o.Store.Prefix && (copied || bucket == o.Store.Bucket)
}

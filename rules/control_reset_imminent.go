package rules

import (
	"fmt"
	"time"

	"backstop/audit"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

var controlResetImminent = audit.Rule{
	ID:         "control/reset-imminent",
	Title:      "etcd-manager is about to replace this cluster with an empty one",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactControlVersions, audit.FactKops},
	Supersedes: []audit.Superseded{{Rule: "snapshot/late"}, {Rule: "snapshot/stale"}},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if stateOf(o, p, now) != etcdmanager.Imminent {
			return nil
		}
		f := audit.Found(audit.Critical,
			"etcd-cluster-created is missing and etcd-cluster-spec is there: within 10 s of having a quorum of peers, etcd-manager stops etcd and starts a NEW, EMPTY cluster; Kubernetes then deletes every workload. Put etcd-cluster-created back now, before anything else.").
			About(o.Store.Key(etcdmanager.CreatedPath)).
			Saw("created missing, spec written "+stamp(o.Spec.Value.LastModified), "both control files").
			Todo(recovery.Titles(recovery.Repair(o, etcdmanager.Imminent))...).
			Because("%s", lastSnapshot(o, now))
		return []audit.Finding{withTraces(withKops(f, o), o)}
	},
}

// withKops adds what is known from outside the store of the cluster that would be
// lost: when kops created it, and where else it has snapshots.
func withKops(f audit.Finding, o *audit.Observation) audit.Finding {
	if k := o.Kops.Value; o.Kops.IsSet() && k.Known && !k.Created.IsZero() {
		f = f.Because("kops created the cluster %s at %s", k.Cluster, stamp(k.Created))
	}
	for _, other := range o.Siblings {
		if other.Etcd == o.Store.Etcd && !other.Newest.IsZero() {
			f = f.Because("%s has snapshots of the same etcd cluster, the newest of %s: if backupStore was moved here, its control/ did not come along", other.URL, stamp(other.Newest))
		}
	}
	return f
}

// withTraces adds what versions and delete markers tell of missing control
// files: who removed them, and what can be brought back.
func withTraces(f audit.Finding, o *audit.Observation) audit.Finding {
	for _, path := range []string{etcdmanager.CreatedPath, etcdmanager.SpecPath} {
		for _, v := range o.ControlVersions.Value {
			if v.Key != o.Store.Key(path) || !v.Marker || !v.Latest {
				continue
			}
			f = f.Because("%s is hidden by delete marker %s of %s (%s)", path, v.VersionID, stamp(v.LastModified), whoHid(o, v))
			if good, ok := recovery.GoodVersion(o, path); ok {
				f = f.Because("the last good version of %s is %s, %d bytes, written %s", path, good.VersionID, good.Size, stamp(good.LastModified))
			}
		}
	}
	if why, not := o.Unseen(audit.FactControlVersions); not {
		f = f.Because("whether an old version of a control file can be brought back was not seen: %s", why)
	}
	return f
}

// whoHid guesses from its time who made a delete marker. S3 dates what lifecycle
// does to midnight UTC; but so may be, by chance or on other servers, what somebody
// else did, and a rule that did it may be gone.
func whoHid(o *audit.Observation, v audit.Version) string {
	if !atMidnight(v.LastModified) {
		return "not at midnight UTC: a person or a program did it, or a provider's lifecycle with times of its own"
	}
	k, some := keepingOf(o, v.LastModified)
	if some {
		if e, removed := k.taken(audit.Object{Key: v.Key, Size: controlSize, LastModified: v.LastModified}); removed {
			return fmt.Sprintf("midnight UTC exactly: a lifecycle rule did it; rule %q does so now", e.Rule)
		}
	}
	if some || o.Bucket.Lifecycle.State == audit.Unset {
		return "midnight UTC exactly, as a lifecycle rule does it; no rule of the bucket does so now"
	}
	return "midnight UTC exactly: a lifecycle rule did it"
}

// controlSize is about the size of a control file in bytes, as some rules ask for it.
const controlSize = 40

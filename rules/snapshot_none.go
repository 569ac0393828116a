package rules

import (
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

var snapshotNone = audit.Rule{
	ID:         "snapshot/none",
	Title:      "the store holds no complete snapshot at all",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactKops},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		_, _, _, ok := newestOwn(o, now)
		if !o.Listing.IsSet() || !o.Created.IsSet() || ok || orphaned(o) {
			return nil
		}
		age := now.Sub(bornAt(o))
		if age <= p.FirstSnapshotWithin() {
			return nil
		}
		f := audit.Found(audit.Critical,
			"the cluster is %s old and this store holds no complete snapshot: if etcd is lost, everything is lost", span(age)).
			About(o.Store.Key(etcdmanager.CreatedPath)).
			Saw("no complete snapshot", "one within "+span(p.FirstSnapshotWithin())+" of the cluster's birth, then one every "+span(p.Interval)).
			Todo("Read etcd-manager's log on the leader (/var/log/etcd.log): `error during backup` names the cause, most often AccessDenied on the bucket or a missing SSE header.",
				"Save a snapshot by hand until it is mended: etcdctl snapshot save.")
		if s, at, _, older := newest(o, now); older {
			f = f.Because("%s, of %s, is older than the cluster, which kops created at %s, and so is taken for one of an earlier cluster of its name", s.Name, stamp(at), stamp(o.Kops.Value.Created))
		}
		return []audit.Finding{f}
	},
}

// bornAt is when the cluster was created: the time inside the created file, or
// where it has none, when the file was written.
func bornAt(o *audit.Observation) time.Time {
	if born, ok := etcdmanager.CreatedTimestamp(o.Created.Value.Body); ok {
		return born
	}
	return o.Created.Value.LastModified
}

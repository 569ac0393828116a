package rules

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

// emptySnapshotBytes is below what a snapshot with content has, gzipped: those
// of an empty cluster measured 590 to 860 bytes, one of 85 small keys 5.5 KB.
var emptySnapshotBytes int64 = 2 << 10

// birthSlack is by how much the oldest snapshot's name may lie before the
// cluster's birth without meaning anything: in a cluster of several members the
// two are written by different clocks.
var birthSlack = time.Minute

var controlReseeded = audit.Rule{
	ID:         "control/reseeded",
	Title:      "a new cluster was formed over an older one's snapshots",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	Needs:      []audit.FactName{audit.FactCreated, audit.FactListing, audit.FactKops},
	Supersedes: []audit.Superseded{{Rule: "control/altered"}},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		born, ok := etcdmanager.CreatedTimestamp(o.Created.Value.Body)
		if !ok || !o.Created.IsSet() || !o.Listing.IsSet() {
			return nil
		}
		before, after := ofOldCluster(o, born, now)
		if len(before) == 0 || !before[0].Taken.Before(born.Add(-birthSlack)) {
			return nil
		}
		witness, emptied := emptyWitness(before, after)
		var f audit.Finding
		if emptied {
			f = audit.Found(audit.Critical,
				"a NEW cluster was formed here at %s, over the snapshots of an older one (since %s), and what it backs up is empty: the old cluster's data is gone from etcd", stamp(born), stamp(before[0].Taken)).
				Because("%s, taken after that, has %d bytes, as a snapshot of an empty cluster has", witness.Name, witness.Data.Size)
		} else {
			f = audit.Found(audit.Warning,
				"etcd-cluster-created says that the cluster was formed at %s, and there are snapshots since %s. Either the file was written by hand after it was lost, or a new cluster replaced the old one and the traces have been thinned out.", stamp(born), stamp(before[0].Taken))
		}
		good, none := lastGood(before)
		f.Event = strconv.FormatInt(born.UnixNano(), 10)
		f = f.About(o.Store.Key(etcdmanager.CreatedPath)).
			Saw("created "+stamp(born)+", oldest snapshot "+before[0].Name, "created no later than the oldest snapshot")
		if none {
			return []audit.Finding{f.Because("no complete snapshot from before is left").
				Todo("Do NOT delete volumes or terminate control-plane nodes: the old data may lie in data-trashcan/ beside etcd's data directory on each of them (under kops /mnt/master-VOLUME/data-trashcan/).",
					"Compare the cluster's age with `kubectl get ns kube-system -o yaml`; if it is new, look for old versions of the snapshots in the bucket.")}
		}
		f = f.Because("the last snapshot from before is %s, %d bytes", good.Name, good.Data.Size)
		if emptied {
			f = f.Because("%s", endOf(o, p, now, good)).Todo(
				"Do NOT delete volumes or terminate control-plane nodes: the old data lies in data-trashcan/ beside etcd's data directory on each of them (under kops /mnt/master-VOLUME/data-trashcan/).",
				"Copy "+good.Name+" to another bucket now: etcd-manager's cleanup, which runs each hour, keeps only the earliest snapshot of each hour and may delete it.",
				"Stop what writes to the new cluster, then restore that snapshot: etcd-manager-ctl -backup-store="+recovery.Quote(o.Store.URL)+" restore-backup "+recovery.Quote(good.Name)+", and restart etcd-manager on the leader. Do the same for the cluster's other etcd (events) with a snapshot of the same time.")
		} else {
			f = f.Todo("If you wrote etcd-cluster-created by hand, nothing is wrong.",
				"Else compare the cluster's age with `kubectl get ns kube-system -o yaml`.")
		}
		return []audit.Finding{f.Todo("If the new cluster was meant, acknowledge this one event below the store in backstop's configuration: acknowledged: [{rule: control/reseeded, event: " + f.Event + ", reason: …}]")}
	},
}

// endOf says when a snapshot goes, and by what.
func endOf(o *audit.Observation, p audit.Policy, now time.Time, s audit.Snapshot) string {
	for _, e := range forecast.Ends(Foresee(o, p, now, 0, nil)) {
		if e.Snapshot.Name == s.Name && !e.At.IsZero() {
			return fmt.Sprintf("%s goes %s: %s %s it", s.Name, endDated(e.At, now), e.Who(), e.Action)
		}
	}
	return "nothing is foreseen that deletes " + s.Name
}

// ofOldCluster divides the snapshots by the birth of the cluster, and leaves out
// those of a namesake: a cluster that kops has created since is another one.
func ofOldCluster(o *audit.Observation, born, now time.Time) (before, after []audit.Snapshot) {
	before, after = aroundBirth(o.Listing.Value, born)
	return slices.DeleteFunc(before, func(s audit.Snapshot) bool { return ofNamesake(o, s.Taken, now) }), after
}

// aroundBirth divides the snapshots by the birth of the cluster that etcd-manager
// knows. Names have whole seconds, so a snapshot of the same second is after.
func aroundBirth(l audit.Listing, born time.Time) (before, after []audit.Snapshot) {
	born = born.Truncate(time.Second)
	for _, s := range l.Snapshots {
		switch {
		case s.Taken.IsZero():
		case s.Taken.Before(born):
			before = append(before, s)
		default:
			after = append(after, s)
		}
	}
	return before, after
}

// emptyWitness finds an empty snapshot (an upload that failed is none) after the birth, if there were others
// before it: where the old cluster's snapshots are as small, as those of a
// cilium etcd can be, an empty one says nothing.
func emptyWitness(before, after []audit.Snapshot) (audit.Snapshot, bool) {
	filled := false
	for _, s := range before {
		filled = filled || s.Data != nil && s.Data.Size >= emptySnapshotBytes
	}
	if !filled {
		return audit.Snapshot{}, false
	}
	for _, s := range after {
		if s.Data != nil && s.Data.Size < emptySnapshotBytes && s.Data.Size >= smallestSnapshotBytes {
			return s, true
		}
	}
	return audit.Snapshot{}, false
}

// lastGood is the newest complete snapshot that is not empty, or, where all are,
// the newest complete one.
func lastGood(before []audit.Snapshot) (good audit.Snapshot, none bool) {
	none = true
	for _, s := range before {
		filled := s.Complete() && s.Data.Size >= emptySnapshotBytes
		if filled || s.Complete() && (none || good.Data.Size < emptySnapshotBytes) {
			good, none = s, false
		}
	}
	return good, none
}

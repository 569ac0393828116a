package rules

import (
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// StateOf gives the state of a store, and the flag that a restore is queued.
func StateOf(o *audit.Observation, p audit.Policy, now time.Time) audit.StoreState {
	if o.Store.Layout != "" {
		return audit.StoreState{Name: string(o.Store.Layout)} // no model knows its writer
	}
	return audit.StoreState{Name: string(stateOf(o, p, now)), RestorePending: restoreQueued(o)}
}

// youngFor is how long a cluster may take to form for the first time.
const youngFor = time.Hour

func stateOf(o *audit.Observation, p audit.Policy, now time.Time) etcdmanager.State {
	w := world(o, now)
	young := o.Spec.IsSet() && now.Sub(o.Spec.Value.LastModified) <= youngFor
	s := etcdmanager.ClassifyState(w, fresh(o, p, now), young)
	switch s {
	case etcdmanager.Running, etcdmanager.Bootstrapping, etcdmanager.Uninitialised, etcdmanager.Latent, etcdmanager.Stuck:
		// Nothing good is said of a store that was not listed, and without its
		// snapshots nobody can tell latent from stuck.
		if !o.Listing.Seen() {
			return etcdmanager.Unknown
		}
	}
	return s
}

// world is what the observation shows of what decides a store's state. The queue
// does not: it has rules of its own.
func world(o *audit.Observation, now time.Time) etcdmanager.World {
	w := etcdmanager.World{
		Created:  presence(o.Created),
		Spec:     presence(o.Spec),
		Evidence: evidence(o, now),
	}
	if spec, err := etcdmanager.ParseSpec(o.Spec.Value.Body); err == nil {
		w.Quality = etcdmanager.NoMembers
		if spec.MemberCount >= 1 {
			w.Quality = etcdmanager.WithMembers
		}
	}
	return w
}

func presence(f audit.Fact[audit.Document]) etcdmanager.Presence {
	switch {
	case !f.Seen():
		return etcdmanager.NotSeen
	case !f.IsSet():
		return etcdmanager.Missing
	case f.Value.Unreadable != "":
		return etcdmanager.Unreadable
	case len(f.Value.Body) == 0:
		return etcdmanager.Empty
	}
	return etcdmanager.Present
}

// evidence tells whether an earlier cluster has lived in the store: a snapshot,
// an old version or a delete marker of a control file, a tree of the same etcd
// cluster elsewhere that has snapshots, or a cluster that kops has had for longer
// than a first formation takes.
func evidence(o *audit.Observation, now time.Time) etcdmanager.Evidence {
	if deletedCluster(o) {
		return etcdmanager.EvidenceNone
	}
	for _, s := range o.Listing.Value.Snapshots {
		if !ofNamesake(o, s.Taken, now) || !ofNamesake(o, s.Stored(), now) {
			return etcdmanager.EvidenceFound
		}
	}
	for _, v := range o.ControlVersions.Value {
		if isTrace(o, v, now) && !ofNamesake(o, v.LastModified, now) {
			return etcdmanager.EvidenceFound
		}
	}
	for _, other := range o.Siblings {
		if other.Etcd == o.Store.Etcd && !other.Newest.IsZero() && !ofNamesake(o, other.Newest, now) {
			return etcdmanager.EvidenceFound
		}
	}
	if isOldInKops(o, now) {
		return etcdmanager.EvidenceFound
	}
	if !o.Listing.Seen() || !o.ControlVersions.Seen() {
		return etcdmanager.EvidenceUnknown
	}
	return etcdmanager.EvidenceNone
}

// ofNamesake reports whether something of that time was left by an earlier
// cluster of the same name, because kops has created the cluster since. A creation
// that lies ahead by more than clocks are apart says nothing.
func ofNamesake(o *audit.Observation, at, now time.Time) bool {
	return o.Kops.IsSet() && at.Before(o.Kops.Value.Created) && !o.Kops.Value.Created.After(now.Add(time.Hour))
}

// isOldInKops reports whether kops has known the cluster for longer than its
// first formation may take, so that there must have been an etcd before. A spec
// that was just written is left out of it: kops writes one when a cluster that
// was described long ago is made at last, and when an etcd cluster is added to
// an old one; and where it was written over an old cluster's empty store, the
// reset is done within seconds, whatever is said of it.
func isOldInKops(o *audit.Observation, now time.Time) bool {
	k := o.Kops.Value
	if !o.Kops.IsSet() || !k.Known || k.Created.IsZero() || now.Sub(k.Created) <= youngFor {
		return false
	}
	return o.Spec.Seen() && (!o.Spec.IsSet() || now.Sub(o.Spec.Value.LastModified) > youngFor)
}

// orphaned reports whether a kops state store was read and knows no such cluster,
// so that nobody is expected to write to the store.
func orphaned(o *audit.Observation) bool {
	return o.Kops.IsSet() && !o.Kops.Value.ClusterKnown
}

// deletedCluster reports whether the store is what is left of a cluster that was
// deleted with it: kops lists it no more, nothing of the store is there but old
// versions, and it was no lifecycle rule that hid them, which on AWS does so at
// midnight. Such a store cannot be reset: there is no cluster, and nobody who would
// write a spec.
func deletedCluster(o *audit.Observation) bool {
	ruled := o.Store.Endpoint != "" && o.Bucket.Lifecycle.State != audit.Unset
	if !orphaned(o) || !vanished(o) || ruled {
		return false
	}
	if at := o.Kops.Value.Deleted; !at.IsZero() {
		return !atMidnight(at)
	}
	hidden := false
	for _, v := range o.ControlVersions.Value {
		if v.Marker && v.Latest {
			hidden = true
			if atMidnight(v.LastModified) {
				return false
			}
		}
	}
	return hidden
}

// atMidnight reports whether a time is exactly a midnight in UTC, as S3's
// lifecycle dates what it does.
func atMidnight(t time.Time) bool { return t.Truncate(audit.Day).Equal(t) }

// isTrace reports whether a version of a control file was left by an earlier
// cluster. A spec less than an hour old is left out, be it overwritten or
// deleted: kops writes the spec of a new cluster once for each `kops update`, and
// the first boot may come after the second.
func isTrace(o *audit.Observation, v audit.Version, now time.Time) bool {
	old := v.Marker || !v.Latest
	switch v.Key {
	case o.Store.Key(etcdmanager.CreatedPath):
		return old
	case o.Store.Key(etcdmanager.SpecPath):
		return old && now.Sub(v.LastModified) > youngFor
	}
	return false
}

// newest gives the newest complete snapshot, when it was written, and its age.
func newest(o *audit.Observation, now time.Time) (s audit.Snapshot, at time.Time, age time.Duration, ok bool) {
	s, at, ok = o.Listing.Value.Newest(now)
	return s, at, now.Sub(at), ok
}

// newestOwn is the newest complete snapshot, if it is not one of an earlier
// cluster of the same name.
func newestOwn(o *audit.Observation, now time.Time) (s audit.Snapshot, at time.Time, age time.Duration, ok bool) {
	s, at, age, ok = newest(o, now)
	return s, at, age, ok && !ofNamesake(o, at, now)
}

// fresh reports whether backups are recent enough that they still run. A store
// without any counts from the birth of the cluster.
func fresh(o *audit.Observation, p audit.Policy, now time.Time) bool {
	if _, _, age, ok := newestOwn(o, now); ok {
		return age <= p.StaleAfter()
	}
	return o.Created.IsSet() && now.Sub(o.Created.Value.LastModified) <= p.StaleAfter()
}

func restoreQueued(o *audit.Observation) bool {
	for _, c := range o.Queue.Value {
		if cmd, err := etcdmanager.ParseCommand(c.Body.Value.Body); err == nil && cmd.Restore != nil {
			return true
		}
	}
	return false
}

// lastSnapshot says when the newest snapshot was written, for sentences.
func lastSnapshot(o *audit.Observation, now time.Time) string {
	if !o.Listing.Seen() {
		return "the snapshots could not be listed"
	}
	s, at, age, ok := newest(o, now)
	if !ok {
		return "there is no complete snapshot"
	}
	return "the newest snapshot is " + s.Name + ", written " + stamp(at) + ", " + span(max(0, age)) + " ago"
}

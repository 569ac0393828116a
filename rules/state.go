package rules

import (
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// StateOf gives the state of a store, and the flag that a restore is queued.
func StateOf(o *audit.Observation, p audit.Policy, now time.Time) audit.StoreState {
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

// world is what the observation shows of what etcd-manager finds.
func world(o *audit.Observation, now time.Time) etcdmanager.World {
	w := etcdmanager.World{
		Created:       presence(o.Created),
		Spec:          presence(o.Spec),
		Evidence:      evidence(o, now),
		RestoreQueued: restoreQueued(o),
	}
	if spec, err := etcdmanager.ParseSpec(o.Spec.Value.Body); err == nil {
		w.Quality = etcdmanager.NoMembers
		if spec.MemberCount >= 1 {
			w.Quality = etcdmanager.WithMembers
		}
	}
	for _, c := range o.Queue.Value {
		if c.Body.IsSet() {
			_, err := etcdmanager.ParseCommand(c.Body.Value.Body)
			w.QueueBad = w.QueueBad || err != nil
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
// or an old version or a delete marker of a control file.
func evidence(o *audit.Observation, now time.Time) etcdmanager.Evidence {
	if len(o.Listing.Value.Snapshots) > 0 {
		return etcdmanager.EvidenceFound
	}
	for _, v := range o.ControlVersions.Value {
		if isTrace(v, o.Store.Key(etcdmanager.SpecPath), now) {
			return etcdmanager.EvidenceFound
		}
	}
	if !o.Listing.Seen() || !o.ControlVersions.Seen() {
		return etcdmanager.EvidenceUnknown
	}
	return etcdmanager.EvidenceNone
}

// isTrace reports whether a version was left by an earlier cluster. An old
// version of the spec less than an hour old is left out: kops writes the spec of
// a new cluster once for each `kops update`, and the first boot may come after
// the second.
func isTrace(v audit.Version, spec string, now time.Time) bool {
	if v.Marker {
		return true
	}
	return !v.Latest && (v.Key != spec || now.Sub(v.LastModified) > youngFor)
}

// newest gives the newest complete snapshot, when it was written, and its age.
func newest(o *audit.Observation, now time.Time) (s audit.Snapshot, at time.Time, age time.Duration, ok bool) {
	s, at, ok = o.Listing.Value.Newest(now)
	return s, at, now.Sub(at), ok
}

// fresh reports whether backups are recent enough that they still run. A store
// without any counts from the birth of the cluster.
func fresh(o *audit.Observation, p audit.Policy, now time.Time) bool {
	if _, _, age, ok := newest(o, now); ok {
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
	return "the newest snapshot is " + s.Name + ", written " + stamp(at) + ", " + span(age) + " ago"
}

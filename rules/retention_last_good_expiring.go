package rules

import (
	"slices"
	"strconv"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/store/etcdmanager"
)

var retentionLastGoodExpiring = audit.Rule{
	ID:         "retention/last-good-expiring",
	Title:      "the last good snapshot will be deleted",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactLifecycle, audit.FactVersioning, audit.FactKops, audit.FactControlVersions, audit.FactObjectLock},
	Supersedes: []audit.Superseded{{Rule: "lifecycle/cuts-ladder"}},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if p.RoleOf(o) != audit.Live || !o.Listing.Seen() {
			return nil
		}
		of, why := lastGoodOf(o, p, now)
		if why == "" {
			return nil
		}
		good := goodEnds(o, p, now, of)
		if len(good) == 0 {
			return nil
		}
		newest, last := good[len(good)-1], lastToEnd(good)
		if newest.At.IsZero() || newest.At.Sub(now) > p.HorizonWarning {
			return nil
		}
		f := audit.Found(audit.Critical, "%s: the last good snapshot is %s, and %s %s it %s", why, newest.Snapshot.Name, newest.Who(), newest.Action, endDated(newest.At, now)).
			About(newest.Snapshot.Data.Key).
			Saw(newest.Snapshot.Name+" ends on "+stamp(newest.At), "the last good snapshot kept until the cluster is well").
			Todo("Copy "+newest.Snapshot.Name+" to another bucket now, both of its objects, and read them back there.",
				"Then see `backstop plan` for what to do about the store, and `backstop forecast` for what goes when.")
		if born, ok := etcdmanager.CreatedTimestamp(o.Created.Value.Body); ok && of != nil {
			f.Event = strconv.FormatInt(born.UnixNano(), 10)
		}
		for _, e := range good[max(0, len(good)-3) : len(good)-1] {
			if e.At.Before(last.At) || last.At.IsZero() && !e.At.IsZero() {
				f = f.Because("%s goes %s: %s %s it", e.Snapshot.Name, endDated(e.At, now), e.Who(), e.Action)
			}
		}
		switch {
		case last.At.IsZero():
			f = f.Because("the last of %s that are good does not go, as far as can be foretold: %s", plural(len(good), "snapshot"), last.Snapshot.Name)
		case last.Snapshot.Name == newest.Snapshot.Name:
		default:
			f = f.Because("of %s that are good the last one, %s, goes %s: %s %s it", plural(len(good), "snapshot"), last.Snapshot.Name, endDated(last.At, now), last.Who(), last.Action)
		}
		return []audit.Finding{f}
	},
}

// lastGoodOf says which snapshots hold what the store is there for, and why no good
// one will follow: after a reset those from before it (of is what keeps them), and
// while no backups are taken all of them. why is empty where good ones follow.
func lastGoodOf(o *audit.Observation, p audit.Policy, now time.Time) (of func(audit.Snapshot) bool, why string) {
	switch stateOf(o, p, now) {
	case etcdmanager.Armed, etcdmanager.Stuck, etcdmanager.Blocked:
		return nil, "backups have stopped"
	}
	born, before, ok := replacedAt(o, now)
	if !ok || acknowledgedReset(p, born) {
		return nil, ""
	}
	return func(s audit.Snapshot) bool {
		return slices.ContainsFunc(before, func(b audit.Snapshot) bool { return b.Name == s.Name })
	}, "a new, empty cluster was formed at " + stamp(born)
}

// replacedAt reports whether a new, empty cluster took the place of an older one
// (control/reseeded, with a witness): when, and the snapshots from before.
func replacedAt(o *audit.Observation, now time.Time) (born time.Time, before []audit.Snapshot, ok bool) {
	born, ok = etcdmanager.CreatedTimestamp(o.Created.Value.Body)
	if !ok || !o.Created.IsSet() || !o.Listing.IsSet() {
		return born, nil, false
	}
	before, after := ofOldCluster(o, born, now)
	_, ok = emptyWitness(before, after)
	return born, before, ok && before[0].Taken.Before(born.Add(-birthSlack))
}

// acknowledgedReset reports whether the owner knows of the reset, as of a rebuild
// that was planned.
func acknowledgedReset(p audit.Policy, born time.Time) bool {
	return slices.ContainsFunc(p.Acknowledged, func(a audit.Acknowledgement) bool {
		return a.Rule == "control/reseeded" && a.Event == strconv.FormatInt(born.UnixNano(), 10)
	})
}

// goodEnds says when the good snapshots end, in the order of their names: complete,
// readable and not empty, and of those that of keeps.
func goodEnds(o *audit.Observation, p audit.Policy, now time.Time, of func(audit.Snapshot) bool) []forecast.End {
	in := Foresee(o, p, now, p.HorizonWarning, nil)
	return slices.DeleteFunc(forecast.Ends(in), func(e forecast.End) bool {
		s := e.Snapshot
		return !s.Complete() || s.Taken.IsZero() || s.Data.Archived() || s.Meta.Archived() || s.Data.Size < emptySnapshotBytes || of != nil && !of(s)
	})
}

// lastToEnd is the one that is there for the longest time.
func lastToEnd(ends []forecast.End) forecast.End {
	last := ends[0]
	for _, e := range ends {
		if !last.At.IsZero() && (e.At.IsZero() || !e.At.Before(last.At)) {
			last = e
		}
	}
	return last
}

func endDated(at, now time.Time) string {
	if !at.After(now) {
		return "at any moment"
	}
	return "on " + stamp(at) + ", in " + span(at.Sub(now))
}

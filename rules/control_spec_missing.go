package rules

import (
	"time"

	"backstop/audit"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

var controlSpecMissing = audit.Rule{
	ID:         "control/spec-missing",
	Title:      "etcd-manager's cluster spec is missing or bad",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactSpec},
	Supersedes: []audit.Superseded{{Rule: "snapshot/late"}, {Rule: "snapshot/stale"}},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		state := stateOf(o, p, now)
		observed := "state " + string(state) + "; " + lastSnapshot(o, now)
		var what string
		switch {
		case state == etcdmanager.Unknown && !o.Listing.Seen() && specIsBad(o):
			what = "Whether backups still run, from the spec that the leader has cached, cannot be told, because the snapshots were not seen."
			state = etcdmanager.Stuck // for the order of repair, which is the same
		case state == etcdmanager.Latent:
			what = "Backups still run from the spec that the leader has cached. They stop when the leader changes, which the next rolling update does."
		case state == etcdmanager.Stuck:
			what = "Backups have stopped. Writing the spec back does not help until etcd-manager on the leader is restarted."
		default:
			return nil
		}
		f := audit.Found(audit.Critical, "etcd-cluster-spec is %s. %s", specFault(o), what).
			About(o.Store.Key(etcdmanager.SpecPath)).
			Saw(observed, "a spec with memberCount and etcdVersion").
			Todo(recovery.Titles(recovery.Repair(o, state))...)
		return []audit.Finding{withTraces(f, o)}
	},
}

// specIsBad reports whether created is there and the spec was seen to be no good.
func specIsBad(o *audit.Observation) bool {
	_, err := etcdmanager.ParseSpec(o.Spec.Value.Body)
	return presence(o.Created) == etcdmanager.Present && o.Spec.Seen() && (presence(o.Spec) != etcdmanager.Present || err != nil)
}

// specFault says what is wrong with the spec.
func specFault(o *audit.Observation) string {
	switch {
	case !o.Spec.IsSet():
		return "missing"
	case o.Spec.Value.Unreadable != "":
		return "unreadable for everyone (" + o.Spec.Value.Unreadable + ")"
	case len(o.Spec.Value.Body) == 0:
		return "empty"
	}
	spec, err := etcdmanager.ParseSpec(o.Spec.Value.Body)
	switch {
	case err == nil && spec.MemberCount < 1:
		return "without members, so that etcd-manager makes no cluster from it"
	case err == nil:
		return "good"
	}
	return "not one that etcd-manager can parse (" + err.Error() + ")"
}

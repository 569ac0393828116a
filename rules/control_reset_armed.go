package rules

import (
	"time"

	"backstop/audit"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

var controlResetArmed = audit.Rule{
	ID:         "control/reset-armed",
	Title:      "backups have stopped, and the next write of the spec resets the cluster",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactControlVersions, audit.FactKops, audit.FactQueue},
	Supersedes: []audit.Superseded{{Rule: "snapshot/late"}, {Rule: "snapshot/stale"}},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if stateOf(o, p, now) != etcdmanager.Armed {
			return nil
		}
		spec, do := "etcd-cluster-spec is missing too", []string{}
		if o.Spec.IsSet() {
			spec = "etcd-cluster-spec is there but bad"
			do = append(do, "Do NOT repair etcd-cluster-spec before etcd-cluster-created is back: a good spec alone is what resets the cluster.")
		}
		f := audit.Found(audit.Critical,
			"etcd-cluster-created is missing, and %s. The cluster still serves, but takes no backups, and the next `kops update cluster --yes`, `terraform apply` or `etcd-manager-ctl configure-cluster` makes etcd-manager replace it with a NEW, EMPTY cluster.", spec).
			About(o.Store.Key(etcdmanager.CreatedPath)).
			Saw("created missing; "+lastSnapshot(o, now), "both control files").
			Todo(do...).
			Todo(recovery.Titles(recovery.Repair(o, etcdmanager.Armed))...).
			Because("%s", costOfReset(o, now))
		if o.Spec.IsSet() && o.Spec.Value.Unreadable == "" {
			if _, err := etcdmanager.ParseSpec(o.Spec.Value.Body); err != nil {
				f = f.Because("etcd-cluster-spec: %v", err)
			}
		}
		return []audit.Finding{withTraces(withKops(f, o), o)}
	},
}

// costOfReset says what a reset now would cost beyond the live data. The first
// empty backup after it runs etcd-manager's cleanup at once, which keeps the
// earliest snapshot of each hour, after seven days of each day, and nothing
// beyond the daily retention (pkg/backupcontroller/cleanup.go).
func costOfReset(o *audit.Observation, now time.Time) string {
	_, at, age, ok := newest(o, now)
	since := "armed since about " + stamp(at)
	if hidden := createdHidden(o); hidden.After(at) {
		since = "armed since " + stamp(hidden)
	}
	daily, whose := 90*audit.Day, "90 days under kops"
	if k := o.Kops.Value; o.Kops.IsSet() && k.Known && k.Daily > 0 {
		daily, whose = k.Daily, span(k.Daily)+", as kops configures it"
	}
	switch {
	case !o.Listing.Seen():
		return "what a reset now would cost cannot be told: the snapshots were not seen"
	case !ok:
		return "a reset now would lose everything: there is no complete snapshot to restore"
	case age > daily:
		return since + ": the first backup after a reset runs the cleanup, which would delete every good snapshot that is older than the daily retention (" + whose + ")"
	case age > 7*audit.Day:
		return since + ": the first backup after a reset runs the cleanup, which keeps the earliest snapshot of each day, so that up to 24 h before the last backup would be lost besides"
	case age > time.Hour:
		return since + ": the first backup after a reset runs the cleanup, which keeps the earliest snapshot of each hour, so that up to 45 min before the last backup would be lost besides"
	}
	return "the last backup was taken " + stamp(at)
}

// createdHidden is when the delete marker over etcd-cluster-created was made; zero
// where none is seen.
func createdHidden(o *audit.Observation) time.Time {
	for _, v := range o.ControlVersions.Value {
		if v.Key == o.Store.Key(etcdmanager.CreatedPath) && v.Latest && v.Marker {
			return v.LastModified
		}
	}
	return time.Time{}
}

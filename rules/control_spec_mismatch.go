package rules

import (
	"fmt"
	"strconv"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// pendingFor is how long a changed spec may wait for the rolling update that
// carries it out.
const pendingFor = 7 * audit.Day

var controlSpecMismatch = audit.Rule{
	ID:         "control/spec-mismatch",
	Title:      "the spec and the newest snapshot disagree on version or members",
	Severities: []audit.Severity{audit.Warning, audit.Info},
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactNewestMeta},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if stateOf(o, p, now) != etcdmanager.Running {
			return nil
		}
		spec, err := etcdmanager.ParseSpec(o.Spec.Value.Body)
		if err != nil {
			return nil
		}
		at := o.Spec.Value.LastModified
		wants, ok := etcdmanager.ParseVersion(spec.EtcdVersion)
		if !ok || wants.Major != 3 {
			return []audit.Finding{mismatch(o, audit.Warning, "etcd-cluster-spec asks for etcd %q, which etcd-manager does not know: it takes backups, and does nothing else", spec.EtcdVersion)}
		}
		meta, err := etcdmanager.ParseMeta(o.NewestMeta.Value.Body)
		if err != nil || !o.NewestMeta.IsSet() {
			return nil
		}
		severity, since := audit.Info, "pending since "+stamp(at)
		if now.Sub(at) > pendingFor {
			severity, since = audit.Warning, "pending since "+stamp(at)+", "+span(now.Sub(at))
		}
		var found []audit.Finding
		if runs, ok := etcdmanager.ParseVersion(meta.EtcdVersion); ok && (runs.Major != wants.Major || runs.Minor != wants.Minor) {
			found = append(found, mismatch(o, severity, "etcd-cluster-spec asks for etcd %s, and the newest snapshot was taken by etcd %s (%s)", spec.EtcdVersion, meta.EtcdVersion, since))
		}
		// Fewer members than before is control/spec-shrinks.
		if had, ok := membersOfMeta(o); ok && spec.MemberCount > had {
			found = append(found, mismatch(o, severity, "etcd-cluster-spec asks for %s, and the newest snapshot was taken with %d (%s)", plural(int(spec.MemberCount), "member"), had, since))
		}
		return found
	},
}

func mismatch(o *audit.Observation, s audit.Severity, format string, args ...any) audit.Finding {
	return audit.Found(s, format, args...).
		About(o.Store.Key(etcdmanager.SpecPath)).
		Saw(fmt.Sprintf("spec written %s", stamp(o.Spec.Value.LastModified)), "the cluster as the spec has it").
		Todo("If an upgrade or a change of size is under way, finish it: `kops rolling-update cluster` restarts the leader, which reads the spec.",
			"Else find out who wrote the spec, and compare it with `kops get cluster -o yaml`.")
}

func itoa[T int | int32 | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

package rules

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// pendingFor is how long a changed spec may wait for the rolling update that
// carries it out.
const pendingFor = 7 * audit.Day

var controlSpecMismatch = audit.Rule{
	ID:         "control/spec-mismatch",
	Title:      "the spec disagrees with the newest snapshot, or with kops, on version or members",
	Severities: []audit.Severity{audit.Warning, audit.Info},
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactNewestMeta, audit.FactKops},
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
		severity, since := audit.Info, "pending since "+stamp(at)
		if now.Sub(at) > pendingFor {
			severity, since = audit.Warning, "pending since "+stamp(at)+", "+span(now.Sub(at))
		}
		var found []audit.Finding
		if others := otherVersions(o, wants); len(others) > 0 {
			found = append(found, mismatch(o, severity, "etcd-cluster-spec asks for etcd %s, and %s (%s)", spec.EtcdVersion, strings.Join(others, ", and "), since))
		}
		if others := otherMembers(o, spec.MemberCount); len(others) > 0 {
			found = append(found, mismatch(o, severity, "etcd-cluster-spec asks for %s, and %s (%s)", plural(int(spec.MemberCount), "member"), strings.Join(others, ", and "), since))
		}
		return found
	},
}

// otherVersions says who has another major or minor version of etcd than the
// spec asks for.
func otherVersions(o *audit.Observation, wants etcdmanager.Version) []string {
	var others []string
	differs := func(version string) bool {
		v, ok := etcdmanager.ParseVersion(version)
		return ok && (v.Major != wants.Major || v.Minor != wants.Minor)
	}
	if meta, err := etcdmanager.ParseMeta(o.NewestMeta.Value.Body); err == nil && o.NewestMeta.IsSet() && differs(meta.EtcdVersion) {
		others = append(others, "the newest snapshot was taken by etcd "+meta.EtcdVersion)
	}
	if k := o.Kops.Value; o.Kops.IsSet() && k.Known && differs(k.Version) {
		others = append(others, "kops asks for "+k.Version)
	}
	return others
}

// otherMembers says who has fewer members than the spec asks for. That the spec
// asks for fewer is control/spec-shrinks.
func otherMembers(o *audit.Observation, wants int32) []string {
	var others []string
	if had, ok := membersOfMeta(o); ok && wants > had {
		others = append(others, "the newest snapshot was taken with "+itoa(had))
	}
	if asked, ok := membersOfKops(o); ok && wants > asked {
		others = append(others, "kops asks for "+itoa(asked))
	}
	return others
}

func mismatch(o *audit.Observation, s audit.Severity, format string, args ...any) audit.Finding {
	return audit.Found(s, format, args...).
		About(o.Store.Key(etcdmanager.SpecPath)).
		Saw(fmt.Sprintf("spec written %s", stamp(o.Spec.Value.LastModified)), "the cluster as the spec has it").
		Todo("If an upgrade or a change of size is under way, finish it: `kops rolling-update cluster` restarts the leader, which reads the spec.",
			"Else find out who wrote the spec, and compare it with `kops get cluster -o yaml`.")
}

func itoa[T int | int32 | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

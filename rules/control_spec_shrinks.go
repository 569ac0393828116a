package rules

import (
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

var controlSpecShrinks = audit.Rule{
	ID:         "control/spec-shrinks",
	Title:      "the spec asks for fewer members than the cluster has",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	Needs:      []audit.FactName{audit.FactSpec, audit.FactCreated, audit.FactNewestMeta},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		spec, err := etcdmanager.ParseSpec(o.Spec.Value.Body)
		if err != nil || presence(o.Created) != etcdmanager.Present || presence(o.Spec) != etcdmanager.Present {
			return nil
		}
		had, known := membersOfMeta(o)
		var f audit.Finding
		switch {
		case spec.MemberCount < 1:
			f = audit.Found(audit.Critical, "etcd-cluster-spec has memberCount %d: at the next change of leader etcd-manager removes members from the cluster", spec.MemberCount)
		case known && spec.MemberCount < had:
			f = audit.Found(audit.Warning, "etcd-cluster-spec has memberCount %d, and the cluster had %d when the newest snapshot was taken: at the next change of leader etcd-manager removes members down to that number", spec.MemberCount, had)
		default:
			return nil
		}
		expected := "memberCount as kops has it"
		if known {
			expected = plural(int(had), "member") + ", as in the newest snapshot's meta"
		}
		return []audit.Finding{f.About(o.Store.Key(etcdmanager.SpecPath)).
			Saw("memberCount "+itoa(spec.MemberCount)+", written "+stamp(o.Spec.Value.LastModified), expected).
			Todo("Unless you are scaling down, do NOT restart etcd-manager and do NOT roll the control plane.",
				"Put the right memberCount into etcd-cluster-spec: `kops update cluster --yes` does, from the members in the cluster spec.",
				"`etcd-manager-ctl configure-cluster` defaults to one member: always give it -member-count.").
			Because("observed on the running program: three members became one within 30 s")}
	},
}

// membersOfMeta is the memberCount that was in force at the newest snapshot.
func membersOfMeta(o *audit.Observation) (int32, bool) {
	meta, err := etcdmanager.ParseMeta(o.NewestMeta.Value.Body)
	if err != nil || meta.ClusterSpec == nil || meta.ClusterSpec.MemberCount < 1 {
		return 0, false
	}
	return meta.ClusterSpec.MemberCount, true
}

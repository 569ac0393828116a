package rules

import (
	"math"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

var controlSpecShrinks = audit.Rule{
	ID:         "control/spec-shrinks",
	Title:      "the spec asks for fewer members than the cluster has",
	Severities: []audit.Severity{audit.Critical, audit.Warning, audit.Info},
	Needs:      []audit.FactName{audit.FactSpec, audit.FactCreated, audit.FactNewestMeta, audit.FactKops},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		spec, err := etcdmanager.ParseSpec(o.Spec.Value.Body)
		if err != nil || presence(o.Created) != etcdmanager.Present || presence(o.Spec) != etcdmanager.Present {
			return nil
		}
		had, known := membersOfMeta(o)
		asked, told := membersOfKops(o)
		const removes = "at the next change of leader etcd-manager removes members"
		var f audit.Finding
		switch {
		case spec.MemberCount < 1:
			f = audit.Found(audit.Critical, "etcd-cluster-spec has memberCount %d: %s from the cluster", spec.MemberCount, removes)
		case told && spec.MemberCount < asked:
			f = audit.Found(audit.Critical, "etcd-cluster-spec has memberCount %d, and kops asks for %d: %s down to that number, which kops does not want", spec.MemberCount, asked, removes)
		case known && spec.MemberCount < had && told:
			f = audit.Found(audit.Info, "the cluster is being scaled down: etcd-cluster-spec has memberCount %d, kops asks for %d, and the cluster had %d when the newest snapshot was taken; %s down to that number", spec.MemberCount, asked, had, removes)
		case known && spec.MemberCount < had:
			f = audit.Found(audit.Warning, "etcd-cluster-spec has memberCount %d, and the cluster had %d when the newest snapshot was taken: %s down to that number", spec.MemberCount, had, removes)
		default:
			return nil
		}
		expected := "memberCount as kops has it"
		switch {
		case told:
			expected = plural(int(asked), "member") + ", as kops asks for"
		case known:
			expected = plural(int(had), "member") + ", as in the newest snapshot's meta"
		}
		f = f.About(o.Store.Key(etcdmanager.SpecPath)).
			Saw("memberCount "+itoa(spec.MemberCount)+", written "+stamp(o.Spec.Value.LastModified), expected).
			Because("observed on the running program: three members became one within 30 s")
		if f.Severity == audit.Info {
			return []audit.Finding{f}
		}
		return []audit.Finding{f.
			Todo("Unless you are scaling down, do NOT restart etcd-manager and do NOT roll the control plane.",
				"Put the right memberCount into etcd-cluster-spec: `kops update cluster --yes` does, from the members in the cluster spec.",
				"`etcd-manager-ctl configure-cluster` defaults to one member: always give it -member-count.")}
	},
}

// membersOfKops is the memberCount that kops asks for.
func membersOfKops(o *audit.Observation) (int32, bool) {
	k := o.Kops.Value
	if !o.Kops.IsSet() || !k.Known || k.Members < 1 {
		return 0, false
	}
	return int32(min(k.Members, math.MaxInt32)), true
}

// membersOfMeta is the memberCount that was in force at the newest snapshot.
func membersOfMeta(o *audit.Observation) (int32, bool) {
	meta, err := etcdmanager.ParseMeta(o.NewestMeta.Value.Body)
	if err != nil || meta.ClusterSpec == nil || meta.ClusterSpec.MemberCount < 1 {
		return 0, false
	}
	return meta.ClusterSpec.MemberCount, true
}

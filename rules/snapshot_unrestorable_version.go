package rules

import (
	"fmt"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// kops mounts the programs of these minor versions of etcd 3 into etcd-manager,
// and of no other (kops, pkg/model/components/etcdmanager/options.go).
var (
	oldestMounted int64 = 5
	newestMounted int64 = 7
)

var snapshotUnrestorableVersion = audit.Rule{
	ID:         "snapshot/unrestorable-version",
	Title:      "the newest snapshot is of an etcd version that cannot be restored",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	Needs:      []audit.FactName{audit.FactListing, audit.FactNewestMeta, audit.FactSpec},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		meta, err := etcdmanager.ParseMeta(o.NewestMeta.Value.Body)
		if err != nil || !o.NewestMeta.IsSet() {
			return nil
		}
		same, known := specFamily(o, meta.EtcdVersion)
		why := unrestorable(meta.EtcdVersion)
		newer := isNewer(meta.EtcdVersion)
		if why == "" || newer && same {
			return nil // a kops newer than this program mounts it
		}
		severity, told := audit.Critical, "another version than the spec's"
		switch {
		case same:
			severity, told = audit.Warning, "as the spec asks, so the programs are there now; a newer kops will not have them"
		case !known:
			severity, told = audit.Warning, "what the spec asks for is not known"
		}
		s, _, _, _ := newest(o, now)
		return []audit.Finding{audit.Found(severity,
			"the newest snapshot was taken by etcd %s, and cannot be restored: %s. etcd-manager finds out when it has already stopped the live cluster", orNone(meta.EtcdVersion), why).
			About(o.Store.Key(s.Name, etcdmanager.MetaFile)).
			Saw("etcdVersion "+orNone(meta.EtcdVersion)+", "+told, fmt.Sprintf("etcd 3.%d to 3.%d", oldestMounted, newestMounted)).
			Todo("Do NOT queue a restore of it with this etcd-manager.",
				"Save a snapshot by hand too (etcdctl snapshot save), and keep an etcdctl or etcdutl of the same minor version beside it: with them it can be restored by hand.",
				"Finish the upgrade of etcd, so that snapshots of a version that can be restored come.")}
	},
}

// unrestorable says why etcd-manager under kops cannot restore a backup of this
// version; empty when it can.
func unrestorable(version string) string {
	with, why, ok := etcdmanager.Restorable(version)
	if !ok {
		return why
	}
	v, ok := etcdmanager.ParseVersion(with)
	if !ok || int64(v.Minor) < oldestMounted || int64(v.Minor) > newestMounted {
		return fmt.Sprintf("etcd-manager restores it with etcd %s, and kops gives it the programs of 3.%d to 3.%d alone", with, oldestMounted, newestMounted)
	}
	return ""
}

// isNewer reports whether a version is of a minor that came after those that this
// program knows.
func isNewer(version string) bool {
	with, _, ok := etcdmanager.Restorable(version)
	v, exact := etcdmanager.ParseVersion(with)
	return ok && exact && int64(v.Minor) > newestMounted
}

// specFamily reports whether the spec asks for the major and minor version that
// is given; known is false where it cannot be told.
func specFamily(o *audit.Observation, version string) (same, known bool) {
	spec, err := etcdmanager.ParseSpec(o.Spec.Value.Body)
	if err != nil || !o.Spec.IsSet() {
		return false, false
	}
	wants, ok := etcdmanager.ParseVersion(spec.EtcdVersion)
	if !ok {
		return spec.EtcdVersion != "" && spec.EtcdVersion == version, spec.EtcdVersion != ""
	}
	has, ok := etcdmanager.ParseVersion(version)
	return ok && has.Major == wants.Major && has.Minor == wants.Minor, true
}

func orNone(version string) string {
	if version == "" {
		return "no version"
	}
	return version
}

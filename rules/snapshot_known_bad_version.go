package rules

import (
	"slices"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// badVersions are releases of etcd of which a member's data can differ from the
// others' without a word: 3.5.0 to 3.5.2 after a crash, 3.5.5 and 3.4.21 because
// the revision at which a member stands can be saved too early.
var badVersions = []etcdmanager.Version{
	{Major: 3, Minor: 5, Patch: 0}, {Major: 3, Minor: 5, Patch: 1}, {Major: 3, Minor: 5, Patch: 2},
	{Major: 3, Minor: 5, Patch: 5}, {Major: 3, Minor: 4, Patch: 21},
}

var snapshotKnownBadVersion = audit.Rule{
	ID:         "snapshot/known-bad-version",
	Title:      "the newest snapshot is of an etcd release that can lose consistency",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactListing, audit.FactNewestMeta},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		meta, err := etcdmanager.ParseMeta(o.NewestMeta.Value.Body)
		if err != nil || !o.NewestMeta.IsSet() {
			return nil
		}
		v, ok := etcdmanager.ParseVersion(meta.EtcdVersion)
		if !ok || !slices.Contains(badVersions, v) {
			return nil
		}
		s, _, _, _ := newest(o, now)
		return []audit.Finding{audit.Found(audit.Warning,
			"the newest snapshot was taken by etcd %s, a release with which members can silently hold different data; a snapshot is of one member", meta.EtcdVersion).
			About(o.Store.Key(s.Name, etcdmanager.MetaFile)).
			Saw("etcdVersion "+meta.EtcdVersion, "a release without that defect").
			Todo("Compare the members: `etcdctl endpoint hashkv --cluster` at one revision; where they differ, find out which is right before anything is restored.",
				"Upgrade etcd within its minor version (etcdClusters[].version in the kops cluster, or a newer kops).",
				"Keep a snapshot from before that release, if there is one.")}
	},
}

package rules

import (
	"fmt"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
)

// Old versions are far more than what is current beyond noncurrentTimes the bytes
// of it. Below noncurrentFloor nobody notices them.
var (
	noncurrentTimes int64 = 3
	noncurrentFloor int64 = 1 << 30
)

var retentionNoncurrentGrowth = audit.Rule{
	ID:         "retention/noncurrent-growth",
	Title:      "old versions pile up, and nothing removes them",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactVersions, audit.FactListing, audit.FactLifecycle},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		v, current := o.Versions.Value, o.Listing.Value.Bytes
		if !o.Versions.IsSet() || !o.Listing.IsSet() || v.NoncurrentBytes < noncurrentFloor || v.NoncurrentBytes <= noncurrentTimes*current || removesNoncurrent(o) {
			return nil
		}
		least := ""
		if v.More {
			least = "at least "
		}
		unbounded := "no lifecycle rule removes them"
		if !o.Bucket.Lifecycle.Seen() {
			unbounded = "whether a lifecycle rule removes them was not seen"
		}
		return []audit.Finding{audit.Found(audit.Warning,
			"%s%s of snapshots and other objects here hold %s, and what is current holds %s: %s", least, plural(v.Noncurrent, "old version"), size(v.NoncurrentBytes), size(current), unbounded).
			About(o.Store.Key("")).
			Saw(fmt.Sprintf("%s%d bytes in old versions, %d in current objects", least, v.NoncurrentBytes, current), fmt.Sprintf("old versions at most %d times as large as what is current", noncurrentTimes)).
			Because("etcd-manager's own cleanup deletes all versions of a snapshot, so these were left by something else: a lifecycle rule that expires objects, a person, or an etcd-manager from before May 2020").
			Todo("Do NOT add a rule with an Expiration: one that covers this store hides the control files. A rule with NoncurrentVersionExpiration alone touches nothing that is current.",
				"Give it 30 days or more: until then a control file that was deleted by mistake can be brought back.")}
	},
}

// removesNoncurrent reports whether an enabled lifecycle rule will remove old
// versions of this store's snapshots, however long it takes.
func removesNoncurrent(o *audit.Observation) bool {
	config, err := lifecycle.Parse(o.Bucket.Lifecycle.Value.Body)
	if err != nil || !o.Bucket.Lifecycle.IsSet() {
		return false
	}
	for _, s := range o.Listing.Value.Snapshots {
		if s.Data == nil {
			continue
		}
		old := lifecycle.Version{Key: s.Data.Key, Size: s.Data.Size, LastModified: s.Data.LastModified}
		for _, r := range config.Rules {
			if n := r.NoncurrentExpiration; n != nil && n.NoncurrentDays != nil && r.Enabled() && r.Matches(old) != lifecycle.No {
				return true
			}
		}
		return false
	}
	return false
}

// size writes a number of bytes for people.
func size(n int64) string {
	const k = 1 << 10
	unit := 0
	f := float64(n)
	for f >= k && unit < 4 {
		f /= k
		unit++
	}
	if unit == 0 {
		return plural(int(n), "byte")
	}
	return fmt.Sprintf("%.1f %s", f, []string{"", "KiB", "MiB", "GiB", "TiB"}[unit])
}

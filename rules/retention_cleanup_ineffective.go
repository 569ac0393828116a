package rules

import (
	"math"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// etcd-manager cleans up after a backup, once an hour. cleanupGrace is for how
// long before the newest backup a cleanup may lie back besides the interval, and
// cleanupSlack is how many snapshots may be left over, as of clocks that differ.
var (
	cleanupGrace       = 70 * time.Minute
	cleanupSlack int64 = 3
)

var retentionCleanupIneffective = audit.Rule{
	ID:         "retention/cleanup-ineffective",
	Title:      "etcd-manager's cleanup leaves snapshots that it should delete",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactListing, audit.FactKops},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		last, _, _, ok := newest(o, now)
		if !ok || p.RoleOf(o) != audit.Live {
			return nil
		}
		var names []string
		for _, s := range o.Listing.Value.Snapshots {
			if s.Meta != nil {
				names = append(names, s.Name)
			}
		}
		ladder, by := ladderOf(o, p)
		// The cleanup that followed one of the backups since then has deleted
		// all of these, if it works. A store that stands still has no cleanup.
		left := etcdmanager.Thin(names, last.Taken.Add(-cleanupGrace-p.Interval), ladder)
		if int64(len(left)) <= cleanupSlack {
			return nil
		}
		f := audit.Found(audit.Warning,
			"%s in this store, of which etcd-manager's cleanup should have deleted %d (%s); the oldest of them is %s", plural(len(names), "backup"), len(left), by, left[0]).
			About(o.Store.Key(left[0])).
			Saw(plural(len(names), "backup")+", the oldest left over "+left[0], plural(len(names)-len(left), "backup")+" and those of the last hours").
			Todo("Do NOT add a lifecycle rule to clean up instead: one that covers this store deletes the control files too.",
				"Look whether etcd-manager's role may s3:ListBucketVersions, s3:DeleteObject and s3:DeleteObjectVersion here, and at its log for `error during backup cleanup`. Nothing is logged where S3 refuses single objects.",
				"Where the retention was made shorter lately, the control plane must be rolled before etcd-manager knows; then this passes by itself within an hour.")
		if o.Bucket.MFADelete {
			f = f.Because("MFA delete is on: without a code from the root user's device no version can be deleted, so the cleanup cannot work in this bucket")
		}
		return []audit.Finding{f}
	},
}

// forEver is longer than any retention.
const forEver = time.Duration(math.MaxInt64)

// ladderOf gives what etcd-manager is known to keep: as kops configures it, or as
// the owner says; and in words by whose word. Where nobody says, it is what no
// configuration can exceed: the earliest backup of each hour, for ever.
func ladderOf(o *audit.Observation, p audit.Policy) (ladder etcdmanager.Retention, by string) {
	k := o.Kops.Value
	switch {
	case o.Kops.IsSet() && k.Known && (k.Hourly != 0 || k.Daily != 0):
		return etcdmanager.Retention{Hourly: k.Hourly, Daily: k.Daily}, "it keeps one of each hour for " + span(k.Hourly) + " and one of each day for " + span(k.Daily) + ", as kops configures it"
	case p.Given.KeepHourly || p.Given.KeepDaily:
		return etcdmanager.Retention{Hourly: p.KeepHourly, Daily: p.KeepDaily}, "it keeps one of each hour for " + span(p.KeepHourly) + " and one of each day for " + span(p.KeepDaily) + ", as the configuration says"
	}
	return etcdmanager.Retention{Hourly: forEver, Daily: forEver}, "however long it is told to keep them, it leaves one of each hour"
}

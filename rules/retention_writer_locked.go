package rules

import (
	"fmt"
	"time"

	"backstop/audit"
)

// cleanupFrom is the age from which etcd-manager's cleanup deletes backups: what
// is younger it keeps.
var cleanupFrom = time.Hour

var retentionWriterLocked = audit.Rule{
	ID:         "retention/writer-locked",
	Title:      "Object Lock keeps etcd-manager's cleanup from deleting",
	Severities: onlyWarning,
	Scope:      "bucket",
	Needs:      []audit.FactName{audit.FactObjectLock, audit.FactListing},
	Supersedes: []audit.Superseded{{Rule: "retention/cleanup-ineffective"}},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		lock := o.Bucket.ObjectLock
		if !lock.IsSet() || lock.Value.Retention <= cleanupFrom || p.RoleOf(o) != audit.Live || o.Listing.Value.CompleteSnapshots() == 0 {
			return nil
		}
		observed := lock.Value.Mode + " for " + span(lock.Value.Retention)
		if p.Interval > 0 {
			observed += fmt.Sprintf(", so that up to %d snapshots pile up", int64(lock.Value.Retention/p.Interval))
		}
		return []audit.Finding{audit.Found(audit.Warning,
			"Object Lock keeps every new version in this bucket for %s (%s), and etcd-manager's cleanup deletes snapshots from the age of an hour on: S3 refuses, nothing is logged, and the same snapshots are tried again every hour until the lock ends", span(lock.Value.Retention), lock.Value.Mode).
			Saw(observed, "Object Lock without a default retention").
			Todo("Do NOT add a lifecycle rule to clean up: one that covers the stores takes the control files.",
				"Take the default retention off the bucket (what is locked already stays so), and protect what matters by itself: a legal hold on the version of each etcd-cluster-created, and copies of snapshots in a bucket of their own that is locked.",
				"Or accept it: the cleanup deletes what it could not as soon as the lock ends. Then ignore this rule, with a reason.")}
	},
}

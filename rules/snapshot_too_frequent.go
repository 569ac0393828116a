package rules

import (
	"time"

	"backstop/audit"
)

// More than tooManyTimes the expected number of snapshots in an hour are too
// many. No fewer than fewestExpected are expected, whatever the interval: each
// step of a rolling update forces one.
var (
	tooManyTimes   int64 = 3
	fewestExpected int64 = 4
)

var snapshotTooFrequent = audit.Rule{
	ID:         "snapshot/too-frequent",
	Title:      "far more snapshots are written than one etcd-manager writes",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactListing},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		var n int64
		var last audit.Snapshot
		copied := o.Listing.Value.Copied()
		for _, s := range o.Listing.Value.Snapshots {
			if age, ok := ageOf(s, copied, now); ok && age < time.Hour {
				n++
				last = s
			}
		}
		expected := fewestExpected
		if p.Interval > 0 {
			expected = max(expected, int64((time.Hour+p.Interval-1)/p.Interval))
		}
		if n <= tooManyTimes*expected {
			return nil
		}
		return []audit.Finding{audit.Found(audit.Warning,
			"%d snapshots were written in the last hour, and one is expected every %s: two etcd-managers write to this store, or one tries again and again", n, span(p.Interval)).
			About(o.Store.Key(last.Name)).
			Saw(plural(int(n), "snapshot")+" in the last hour", "at most "+itoa(tooManyTimes*expected)).
			Todo("Do NOT delete snapshots by hand: if two clusters write here, theirs are mixed, and nothing in the names tells them apart.",
				"Look at etcd-manager's log on every control-plane node for `took backup` and `error during backup`. During a rolling update or a repair this passes by itself.",
				"If another cluster has the same backupStore, give it one of its own: see control/shared-store.")}
	},
}

// ageOf is the age of a snapshot by S3's clock, or in a copied store by its name;
// ok is false for one that does not count, because its name is no time or, in a
// copied store, lies in the future.
func ageOf(s audit.Snapshot, copied bool, now time.Time) (age time.Duration, ok bool) {
	if s.Taken.IsZero() {
		return 0, false
	}
	if copied {
		return now.Sub(s.Taken), !s.Taken.After(now)
	}
	return now.Sub(s.Stored()), true
}

package rules

import (
	"time"

	"backstop/audit"
)

// A window shrank where more than shrunkPercent of it is gone, and more than
// shrunkFloor.
var (
	shrunkPercent int64 = 10
	shrunkFloor         = 24 * time.Hour
)

var retentionWindowShrank = audit.Rule{
	ID:         "retention/window-shrank",
	Title:      "the snapshots reach back less far than they did",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactListing},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if o.Memory == nil || !o.Listing.IsSet() {
			return nil
		}
		was := o.Memory.Window
		var length time.Duration
		oldest, at, ok := o.Listing.Value.Oldest()
		if ok {
			length = now.Sub(at)
		}
		lost := was.Length - length
		if lost <= shrunkFloor || int64(lost/time.Second)*100 <= int64(was.Length/time.Second)*shrunkPercent {
			return nil
		}
		is := "no snapshot is left"
		key := o.Store.Prefix
		if ok {
			is, key = "they reach back "+span(length)+", to "+oldest.Name, o.Store.Key(oldest.Name)
		}
		return []audit.Finding{audit.Found(audit.Warning, "%s; at %s they reached back %s, to %s: older snapshots were deleted than the ladder had let go", is, stamp(was.At), span(was.Length), was.Oldest).
			About(key).
			Saw(is, "as far as before, "+span(was.Length)).
			Todo("If the retention was shortened on purpose, nothing is to be done; the finding ends after 30 days.",
				"Else find out what deletes them: a new lifecycle rule (lifecycle/changed, lifecycle/cuts-ladder), or somebody with s3:DeleteObject.",
				"In a versioned bucket the old versions may still be there: aws s3api list-object-versions --bucket "+o.Store.Bucket+" --prefix "+o.Store.Key(was.Oldest))}
	},
}

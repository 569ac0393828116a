package rules

import (
	"fmt"
	"time"

	"backstop/audit"
)

var snapshotUnverified = audit.Rule{
	ID:         "snapshot/unverified",
	Title:      "snapshots that were to be verified were not",
	Severities: []audit.Severity{audit.Unsure, audit.Info},
	Needs:      []audit.FactName{audit.FactListing},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		last, _, _, ok := newest(o, now)
		if !verifies(o) || !ok {
			return nil
		}
		var names, whys []string
		worst := audit.Info
		for _, s := range o.Listing.Value.Snapshots {
			e, _ := o.Of(s)
			if !s.Complete() || s.Taken.IsZero() || e.Condition != audit.Unverified || !e.Depth.Reaches(audit.Headed) && s.Data.Archived() {
				continue
			}
			names, whys = append(names, s.Name), append(whys, e.Name+": "+e.Cause+": "+e.Reason)
		}
		known, _ := o.Of(last)
		unread := o.Verification.Asked != "" && !known.Depth.Reaches(audit.Parsed) && !last.Data.Archived()
		if unread && !provenWithin(o, p, now) {
			worst = audit.Unsure
		}
		left := o.Verification.Left
		if len(names) == 0 && left == 0 && worst == audit.Info {
			return nil
		}
		what := plural(len(names)+left, "snapshot") + " of this store could not be verified"
		if unread {
			what = "the newest snapshot, " + last.Name + ", was to be read to its end and was not: nobody knows whether it would restore"
		}
		f := audit.Found(worst, "%s", what).
			Saw(few(names)+notRead(len(names), left), "each read to its end").
			Todo("See what `backstop verify` says of one: too-big needs a higher --max-memory, denied needs s3:GetObject and, for objects encrypted with a key of KMS, kms:Decrypt.",
				"Where the time was up, give --max-duration more, or a --ledger so that the next run goes on.")
		switch {
		case unread:
			f = f.About(last.Data.Key)
		case len(names) > 0:
			f = f.About(o.Store.Key(names[0]))
		default:
			f = f.About(o.Store.Prefix)
		}
		for _, why := range whys[:min(len(whys), strayNames)] {
			f = f.Because("%s", why)
		}
		if left > 0 {
			f = f.Because("%s not read: %s", plural(left, "snapshot"), o.Verification.LeftWhy)
		}
		return []audit.Finding{f}
	},
}

func notRead(named, left int) string {
	if left == 0 {
		return ""
	}
	if named == 0 {
		return plural(left, "snapshot") + " not read"
	}
	return fmt.Sprintf(", and %d not read", left)
}

// verifies reports whether snapshots of this store are read to their end: by this
// run, or by those that write its ledger.
func verifies(o *audit.Observation) bool {
	return o.Listing.IsSet() && o.Store.Layout != audit.LayoutCharm && (o.Verification.Asked != "" || len(o.Verification.Snapshots) > 0)
}

// provenWithin reports whether a snapshot is known to restore that is not older than
// the policy asks for.
func provenWithin(o *audit.Observation, p audit.Policy, now time.Time) bool {
	_, at, ok := o.NewestRestorable(now)
	return ok && now.Sub(at) <= restorableWithin(p)
}

// restorableWithin is the policy's limit; an old recording has none.
func restorableWithin(p audit.Policy) time.Duration {
	if p.RestorableWithin <= 0 {
		return audit.DefaultPolicy().RestorableWithin
	}
	return p.RestorableWithin
}

package rules

import (
	"time"

	"backstop/audit"
)

var snapshotNewestRestorableOld = audit.Rule{
	ID:         "snapshot/newest-restorable-old",
	Title:      "the newest snapshot that is known to restore is old",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	Needs:      []audit.FactName{audit.FactListing},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		last, _, _, ok := newestOwn(o, now)
		if !verifies(o) || !ok || p.RoleOf(o) == audit.Archive {
			return nil
		}
		good, at, proven := o.NewestRestorable(now)
		limit := restorableWithin(p)
		if proven && (now.Sub(at) <= limit || good.Name == last.Name) {
			return nil // snapshot/late and stale speak of a newest one that is old
		}
		if e, _ := o.Of(last); e.Condition == audit.Damaged {
			return nil // snapshot/damaged says so, and which one is the newest good one
		}
		var failed []string
		for _, e := range damaged(o) {
			if !proven || e.Name > good.Name {
				failed = append(failed, e.Name)
			}
		}
		since := "none of its snapshots is known to restore"
		if proven {
			since = "the newest snapshot that is known to restore, " + good.Name + ", is " + span(now.Sub(at)) + " old"
		}
		switch {
		case len(failed) > 0:
			return []audit.Finding{audit.Found(audit.Critical, "%s, and of the newer ones that were looked into %s", since, areDamaged(len(failed))).
				About(o.Store.Key(failed[len(failed)-1])).
				Saw("damaged: "+few(failed), "a snapshot within "+span(limit)+" that was read to its end and would restore").
				Todo("Save a snapshot by hand now (etcdctl snapshot save), check it with `backstop verify FILE`, and copy it away.",
					"Find the newest good one: `backstop audit --verify new --ledger FILE` reads all that nobody has read.",
					"Then see to what damages them: snapshot/damaged says what and where.")}
		case proven || o.Verification.Remembers:
			if !proven && !givenTime(o, p, now) {
				return nil
			}
			return []audit.Finding{audit.Found(audit.Warning, "%s, and none newer was read to its end", since).
				About(o.Store.Key(last.Name)).
				Saw(since, "a snapshot within "+span(limit)+" that was read to its end and would restore").
				Todo("Verify the newest one: `backstop audit --verify newest` with the same --ledger; see why it is not done on schedule (snapshot/unverified, the auditor's log).")}
		}
		return nil
	},
}

// givenTime reports whether a ledger has known the store for as long as a snapshot
// may go unverified.
func givenTime(o *audit.Observation, p audit.Policy, now time.Time) bool {
	return o.Memory != nil && now.Sub(o.Memory.Since) > restorableWithin(p)
}

func areDamaged(n int) string {
	if n == 1 {
		return "1 is damaged"
	}
	return plural(n, "snapshot") + " are damaged"
}

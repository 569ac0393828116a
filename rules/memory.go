package rules

import (
	"time"

	"backstop/audit"
)

// A change is what a document was, as far as the ledger knows, and what it is.
type change struct {
	before, after audit.Record
	seen          time.Time // when it was seen to be another
}

// changeOf gives the last change of a document, if it was seen no longer ago than
// that.
func changeOf(doc audit.Fact[audit.Document], noted audit.Noted, now time.Time, within time.Duration) (change, bool) {
	r, ok := audit.RecordOf(doc)
	if !ok || !noted.Seen {
		return change{}, false
	}
	n := noted.After(r, now)
	return change{n.Before, n.Now, n.Changed}, !n.Changed.IsZero() && now.Sub(n.Changed) <= within
}

// lastLook says when the store was seen before.
func lastLook(o *audit.Observation) string { return stamp(o.Memory.Last) }

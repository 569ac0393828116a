package rules

import (
	"time"

	"backstop/audit"
)

var snapshotCopiedStore = audit.Rule{
	ID:         "snapshot/copied-store",
	Title:      "the store is a copy; ages are taken from names",
	Severities: onlyInfo,
	Needs:      []audit.FactName{audit.FactListing},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if !o.Listing.Value.Copied() {
			return nil
		}
		return []audit.Finding{audit.Found(audit.Info,
			"S3 dates many snapshots long after the time in their names, so this store was copied: their ages are taken from the names, and lifecycle rules counted anew from the copy").
			Saw("LastModified long after the names, by different amounts", "LastModified within minutes of the names")}
	},
}

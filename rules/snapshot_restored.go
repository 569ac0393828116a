package rules

import (
	"time"

	"backstop/audit"
)

// restoredNews is how long a restore is news.
var restoredNews = 24 * time.Hour

var snapshotRestored = audit.Rule{
	ID:         "snapshot/restored",
	Title:      "the revision fell and the keys stayed: an older snapshot was restored",
	Severities: []audit.Severity{audit.Warning, audit.Info},
	Needs:      []audit.FactName{audit.FactListing, audit.FactKops},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		var found []audit.Finding
		for _, d := range drops(o, now) {
			if d.collapsed() {
				continue // snapshot/reset-detected
			}
			severity := audit.Info
			if news(d.after.Snapshot.Stored(), now) {
				severity = audit.Warning
			}
			f := audit.Found(severity, "between %s and %s the revision fell from %d to %d and the keys stayed: an older snapshot was restored, and what was written after it is gone",
				d.before.Snapshot.Name, d.after.Snapshot.Name, d.before.Content.Revision, d.after.Content.Revision).
				About(d.after.Key).
				Saw(d.tells(), "a revision that rises").
				Todo("If somebody restored a backup, nothing is to be done; the finding becomes information after a day.",
					"Else find out who queued the restore: a command in the queue runs when etcd-manager's leader next restarts, however old it is.",
					"Controllers that remember a resourceVersion may be confused: restart the API servers, and then kube-controller-manager, if they were not.")
			f.Event = d.after.Snapshot.Name
			found = append(found, f)
		}
		return found
	},
}

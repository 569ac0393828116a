package rules

import (
	"strings"
	"time"

	"backstop/audit"
)

var snapshotArchived = audit.Rule{
	ID:         "snapshot/archived",
	Title:      "a snapshot lies in an archive class, and must be thawed before it can be restored",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	Needs:      []audit.FactName{audit.FactListing},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		var older, last []string // names, by whether a readable one is newer
		class, readable := "", ""
		for _, s := range o.Listing.Value.Snapshots {
			if !s.Complete() || s.Taken.IsZero() {
				continue
			}
			switch c := archiveOf(s); {
			case c != "":
				class, last = c, append(last, s.Name)
			default:
				readable, older, last = s.Name, append(older, last...), nil
			}
		}
		var found []audit.Finding
		if len(last) > 0 {
			instead := "no other can be read"
			if readable != "" {
				instead = "the newest that can be read is " + readable
			}
			found = append(found, audit.Found(audit.Critical,
				"the newest snapshot, %s, lies in storage class %s and cannot be read before it is thawed, which takes up to two days; %s. etcd-manager finds out when it has already stopped the live cluster", last[len(last)-1], class, instead).
				About(o.Store.Key(last[len(last)-1])).
				Saw(few(last), "the newest snapshot in a class that can be read at once").
				Todo("Do NOT queue a restore of such a snapshot before it is thawed and read back.",
					"Save a snapshot by hand now (etcdctl snapshot save), and find the lifecycle rule with a transition that covers this store: it must leave out snapshots that a restore would need.",
					"To thaw one: aws s3api restore-object, for both of its objects; then copy it over itself to a class that stays readable."))
		}
		if len(older) > 0 {
			found = append(found, audit.Found(audit.Warning,
				"%s of this store, not the newest, in an archive class: a restore of one must wait until it is thawed, which takes up to two days", plural(len(older), "snapshot")).
				About(o.Store.Key(older[0])).
				Saw(few(older), "classes that can be read at once").
				Todo("Do NOT queue a restore of one before it is thawed and read back: etcd-manager stops the live cluster first.",
					"If they were archived on purpose, ignore this rule for this store. Else change the transition rule that moves them; it may reach the control files too."))
		}
		return found
	},
}

// archiveOf gives the archive class of either half of a snapshot; empty when both
// can be read at once.
func archiveOf(s audit.Snapshot) string {
	for _, half := range []*audit.Object{s.Data, s.Meta} {
		if half != nil && half.Archived() {
			return half.StorageClass
		}
	}
	return ""
}

// few writes the first names of a list, and that there are more.
func few(names []string) string {
	if len(names) > strayNames {
		return strings.Join(names[:strayNames], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

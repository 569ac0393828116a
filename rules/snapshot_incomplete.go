package rules

import (
	"strings"
	"time"

	"backstop/audit"
)

// uploadTime is a variable so that a mutation can move it.
var uploadTime = audit.UploadTime

var snapshotIncomplete = audit.Rule{
	ID:         "snapshot/incomplete",
	Title:      "a snapshot lacks its data or its meta file",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactListing},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		var noMeta, noData []string
		for _, s := range o.Listing.Value.Snapshots {
			switch {
			case s.Complete():
			case s.Data == nil:
				noData = append(noData, s.Name)
			case now.Sub(s.Data.LastModified) > uploadTime:
				noMeta = append(noMeta, s.Name)
			}
		}
		var found []audit.Finding
		if len(noMeta) > 0 {
			found = append(found, incomplete(o, noMeta,
				"data and no _etcd_backup.meta: etcd-manager does not see it, so it can be neither restored nor cleaned up",
				"The upload broke off. If it is the only backup of its time, a meta file written by hand makes it restorable; else delete it."))
		}
		if len(noData) > 0 {
			found = append(found, incomplete(o, noData,
				"an _etcd_backup.meta and no data: etcd-manager lists it as a backup, and a restore of it stops the live cluster and then fails",
				"Do NOT restore it. Delete its meta file, and find out what deleted the data: a lifecycle rule with a size or tag filter splits the pair."))
		}
		return found
	},
}

func incomplete(o *audit.Observation, names []string, what, do string) audit.Finding {
	shown := names
	more := ""
	if len(shown) > strayNames {
		shown, more = shown[:strayNames], ", …"
	}
	have := "has "
	if len(names) > 1 {
		have = "have "
	}
	return audit.Found(audit.Warning, "%s %s", plural(len(names), "snapshot"), have+what).
		About(o.Store.Key(names[0])).
		Saw(strings.Join(shown, ", ")+more, "etcd.backup.gz and _etcd_backup.meta in each").
		Todo(do)
}

package rules

import (
	"strings"
	"time"

	"backstop/audit"
)

// smallestSnapshotBytes is below what any gzipped snapshot has: the pages of an
// empty etcd 3.4 to 3.6 with their checksum measured 590 bytes and more, and of
// these the checksum and the gzip frame alone are 50 that do not compress.
var smallestSnapshotBytes int64 = 256

var snapshotEmptyObject = audit.Rule{
	ID:         "snapshot/empty-object",
	Title:      "a snapshot is too small to be one",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	Needs:      []audit.FactName{audit.FactListing},
	AnyLayout:  true,
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		last, _, _, _ := newest(o, now)
		var older []string
		var found []audit.Finding
		for _, s := range o.Listing.Value.Snapshots {
			switch {
			case s.Data == nil || s.Data.Size >= smallestSnapshotBytes:
			case s.Name == last.Name:
				do := []string{"Save a snapshot by hand now: etcdctl snapshot save.",
					"Read etcd-manager's log on the leader, and look at the disk that it writes its temporary file to."}
				if o.Store.Layout == audit.LayoutCharm {
					do = takeOne
				}
				found = append(found, audit.Found(audit.Critical,
					"the newest snapshot has %d bytes, which is less than any snapshot has: it cannot be restored", s.Data.Size).
					About(s.Data.Key).
					Saw(plural(int(s.Data.Size), "byte"), "at least "+plural(int(smallestSnapshotBytes), "byte")).
					Todo(do...))
			default:
				older = append(older, s.Data.Key)
			}
		}
		if len(older) > 0 {
			shown, more := older, ""
			if len(shown) > strayNames {
				shown, more = shown[:strayNames], ", …"
			}
			found = append(found, audit.Found(audit.Warning,
				"%s, not the newest, too small to be restored", plural(len(older), "snapshot")).
				About(older[0]).
				Saw(strings.Join(shown, ", ")+more, "at least "+plural(int(smallestSnapshotBytes), "byte")).
				Todo("Do not restore them. Find out what wrote them."))
		}
		return found
	},
}

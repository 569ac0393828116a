package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"backstop/audit"
)

// A resource collapsed where it had at least collapseFrom keys and has at most
// collapseLeft in a hundred of them left. It is told for collapseNews.
var (
	collapseFrom int64 = 20
	collapseLeft int64 = 20
	collapseNews       = 7 * audit.Day
)

// fleeting are resources whose numbers fall in an ordinary night: what follows
// nodes and running things.
var fleeting = []string{"events", "events.k8s.io/events", "leases", "masterleases", "minions", "pods", "csinodes", "endpointslices", "jobs", "volumeattachments", "certificatesigningrequests"}

var snapshotKeyCollapse = audit.Rule{
	ID:         "snapshot/key-collapse",
	Title:      "a Kubernetes resource lost most of its objects",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactListing, audit.FactKops},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if !isMain(o) {
			return nil
		}
		all := provenOf(o, now)
		var found []audit.Finding
		for i := 1; i < len(all); i++ {
			before, after := all[i-1], all[i]
			if after.Content.Revision < before.Content.Revision || now.Sub(after.Snapshot.Stored()) > collapseNews {
				continue // that is a reset or a restore; or it is told no more
			}
			lost := collapsedResources(before.Content, after.Content)
			if len(lost) == 0 {
				continue
			}
			f := audit.Found(audit.Warning, "between %s and %s most objects of %s were deleted: %s", before.Snapshot.Name, after.Snapshot.Name, plural(len(lost), "resource"), strings.Join(lost[:min(len(lost), strayNames)], ", ")).
				About(after.Key).
				Saw(strings.Join(lost, ", "), fmt.Sprintf("more than %d in a hundred left", collapseLeft)).
				Todo("If that was meant, nothing is to be done; the finding ends after "+span(collapseNews)+".",
					"Else do NOT restore etcd for it: a restore rolls everything back. Take the objects from "+before.Snapshot.Name+" (restore it on a scratch etcd), and find out who deleted them: the API server's audit log.",
					"Copy that snapshot away: etcd-manager's cleanup thins it like all others.")
			f.Event = after.Snapshot.Name
			found = append(found, f)
		}
		return found
	},
}

// collapsedResources says of which resources most is gone.
func collapsedResources(before, after *audit.Content) []string {
	var lost []string
	for _, r := range before.Resources {
		left := after.Count(r.Name)
		if r.Keys < collapseFrom || slices.Contains(fleeting, r.Name) || left*100 > r.Keys*collapseLeft {
			continue
		}
		lost = append(lost, fmt.Sprintf("%s from %d to %d", r.Name, r.Keys, left))
	}
	return lost
}

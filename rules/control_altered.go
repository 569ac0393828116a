package rules

import (
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// The time inside etcd-cluster-created and S3's own may differ by alteredAfter;
// a rewrite is news for alteredNews.
var (
	alteredAfter = 10 * time.Minute
	alteredNews  = 24 * time.Hour
)

var controlAltered = audit.Rule{
	ID:         "control/altered",
	Title:      "etcd-cluster-created was written again, which etcd-manager never does",
	Severities: []audit.Severity{audit.Warning, audit.Info},
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactControlVersions, audit.FactKops},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if presence(o.Created) != etcdmanager.Present {
			return nil // control/blocked speaks of one that is empty, or that nobody can read
		}
		key := o.Store.Key(etcdmanager.CreatedPath)
		written := o.Created.Value.LastModified
		var observed string
		born, ok := etcdmanager.CreatedTimestamp(o.Created.Value.Body)
		switch versions := contentVersions(o, key, now); {
		case versions > 1:
			observed = plural(versions, "version")
		case ok && written.Sub(born).Abs() > alteredAfter && o.Listing.Seen() && !o.Listing.Value.Copied():
			observed = "it says " + stamp(born) + " and was written " + stamp(written)
		case !ok:
			observed = "its content is not one that etcd-manager writes"
		default:
			return nil
		}
		severity := audit.Info
		if now.Sub(written) <= alteredNews {
			severity = audit.Warning
		}
		return []audit.Finding{audit.Found(severity,
			"etcd-cluster-created was written again or restored, the last time at %s; etcd-manager writes it once, at the cluster's birth, and never again", stamp(written)).
			About(key).
			Saw(observed, "one version, written when the cluster was born").
			Todo("If this was a repair, nothing is to be done; the finding becomes information after a day.",
				"Else find out who or what writes to control/: the same hand can delete it.")}
	},
}

// contentVersions counts the versions of a key that are not delete markers, nor
// of an earlier cluster of the same name.
func contentVersions(o *audit.Observation, key string, now time.Time) int {
	n := 0
	for _, v := range o.ControlVersions.Value {
		if v.Key == key && !v.Marker && !ofNamesake(o, v.LastModified, now) {
			n++
		}
	}
	return n
}

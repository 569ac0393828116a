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
	Title:      "etcd-cluster-created was written again, which etcd-manager never does, or the spec changed",
	Severities: []audit.Severity{audit.Critical, audit.Warning, audit.Info},
	Needs:      []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactControlVersions, audit.FactKops},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		return append(alteredCreated(o, now), alteredSpec(o, now)...)
	},
}

// alteredSpec tells of another spec than the ledger knows: by what it says, because
// etcd-manager and kops write the same in different ways.
func alteredSpec(o *audit.Observation, now time.Time) []audit.Finding {
	if o.Memory == nil {
		return nil
	}
	c, ok := changeOf(o.Spec, o.Memory.Spec, now, changedNews)
	before, err1 := etcdmanager.ParseSpec(c.before.Body)
	after, err2 := etcdmanager.ParseSpec(c.after.Body)
	if !ok || err1 != nil || err2 != nil || before == after || c.before.Missing || c.after.Missing {
		return nil // control/spec-missing speaks of one that is missing or bad
	}
	tell := func(s etcdmanager.ClusterSpec) string {
		return plural(int(s.MemberCount), "member") + ", etcd " + orNone(s.EtcdVersion)
	}
	return []audit.Finding{audit.Found(audit.Info, "etcd-cluster-spec was changed: it asked for %s, and asks for %s. Seen at %s", tell(before), tell(after), stamp(c.seen)).
		About(o.Store.Key(etcdmanager.SpecPath)).
		Saw(tell(after), tell(before)).
		Todo("If `kops update cluster` or etcd-manager-ctl was to do that, nothing is to be done; it takes effect when the leader next changes.",
			"Else see control/spec-shrinks and control/spec-mismatch for what follows.")}
}

// changedCreated speaks where the ledger knows another content.
func changedCreated(o *audit.Observation, now time.Time) []audit.Finding {
	if o.Memory == nil {
		return nil
	}
	c, ok := changeOf(o.Created, o.Memory.Created, now, alteredNews)
	if !ok || c.before.Missing || c.after.Missing || len(c.before.Body) == 0 || string(c.before.Body) == string(c.after.Body) {
		return nil
	}
	tell := func(r audit.Record) string {
		if born, ok := etcdmanager.CreatedTimestamp(r.Body); ok {
			return "a cluster of " + stamp(born)
		}
		return "a content that etcd-manager does not write"
	}
	f := audit.Found(audit.Critical, "etcd-cluster-created holds another content than before: it told of %s, and tells of %s. etcd-manager writes it once, when it forms a cluster: a new cluster was formed here, or somebody writes to control/", tell(c.before), tell(c.after)).
		About(o.Store.Key(etcdmanager.CreatedPath)).
		Saw(tell(c.after), tell(c.before)).
		Because("seen at %s; the store was seen before at %s", stamp(c.seen), lastLook(o)).
		Todo("Do NOT delete volumes or terminate control-plane nodes before it is known what happened.",
			"See whether the cluster is the old one: `kubectl get ns kube-system -o yaml` tells its age; control/reseeded speaks once snapshots show a new one.",
			"If you wrote the file by hand, nothing is wrong; the finding ends after a day.",
			"Else find out who or what writes to control/: the same hand can delete it.")
	f.VersionID = c.after.VersionID
	return []audit.Finding{f}
}

// alteredCreated speaks of etcd-cluster-created.
func alteredCreated(o *audit.Observation, now time.Time) []audit.Finding {
	if presence(o.Created) != etcdmanager.Present {
		return nil // control/blocked speaks of one that is empty, or that nobody can read
	}
	if found := changedCreated(o, now); len(found) > 0 {
		return found
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

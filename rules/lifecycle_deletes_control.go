package rules

import (
	"cmp"
	"fmt"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

var lifecycleDeletesControl = audit.Rule{
	ID:         "lifecycle/deletes-control",
	Title:      "a lifecycle rule will delete etcd-manager's control files",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	Needs:      []audit.FactName{audit.FactLifecycle, audit.FactVersioning, audit.FactCreated, audit.FactSpec, audit.FactTags},
	Supersedes: []audit.Superseded{{Rule: "lifecycle/cuts-ladder"}},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		created, hasCreated := deletion(o, o.Created, etcdmanager.CreatedPath, now)
		spec, hasSpec := deletion(o, o.Spec, etcdmanager.SpecPath, now)
		if !hasCreated && !hasSpec {
			return nil
		}
		first := created
		if !hasCreated || hasSpec && spec.at.Before(created.at) {
			first = spec
		}
		ahead := first.at.Sub(now)
		severity := audit.Critical
		switch {
		case ahead > p.HorizonWarning:
			return nil
		case ahead > p.HorizonCritical:
			severity = audit.Warning
		}
		f := audit.Found(severity, "%s%s. %s", foretold(first, now), doubt(first), outcome(o, created, spec, hasCreated, hasSpec, now)).
			About(o.Store.Key(first.path)).
			Saw(first.String(), "no enabled rule that matches a control file").
			Todo("Do NOT run kops update cluster --yes or terraform apply once a control file is gone.",
				fmt.Sprintf("Disable rule %q, or narrow its prefix so that it does not match control/. A longer or narrower second rule protects nothing: the shortest rule that matches wins. The only prefix that separates the snapshots from control/ is their year: %q.", first.rule, o.Store.Key("20")),
				"Read the configuration back, and run backstop again: it takes minutes to take effect.",
				"To win time, restart the clock of both files: download each and upload it again, unchanged, etcd-cluster-created FIRST. Stop if created is gone by then: uploading the spec alone is what resets the cluster. (S3 refuses to copy an object onto itself.)")
		if hasCreated {
			f = f.Because("etcd-cluster-created: %s", created)
		}
		if hasSpec {
			f = f.Because("etcd-cluster-spec: %s", spec)
		}
		if also := kopsFilesToo(o, first.rule, now); also != "" {
			f = f.Because("%s", also)
		}
		if !first.at.After(now) {
			f = f.Because("overdue: S3 runs lifecycle rules late, by hours or days; that the file is still there does not mean that it is safe")
		}
		return []audit.Finding{f}
	},
}

// A death is the deletion of a control file that lifecycle rules will make.
type death struct {
	path   string
	at     time.Time
	rule   string
	hides  bool   // a delete marker: the content can be brought back
	unsure string // what was not known, and was read in the harmful way
	told   bool   // by S3's x-amz-expiration header alone
}

func (d death) String() string {
	what := "deleted for good"
	if d.hides {
		what = "hidden by a delete marker"
	}
	s := fmt.Sprintf("%s on %s by rule %q", what, stamp(d.at), d.rule)
	if d.told {
		s += " (as S3's x-amz-expiration header says; the rules themselves were not seen)"
	}
	return s + doubt(d)
}

// foretold says what happens first, and when.
func foretold(d death, now time.Time) string {
	name := d.path[len(etcdmanager.ControlDir)+1:]
	verb := "delete"
	if d.hides {
		verb = "hide"
	}
	if !d.at.After(now) {
		return fmt.Sprintf("lifecycle rule %q is due since %s to %s %s, and may do so at any moment", d.rule, stamp(d.at), verb, name)
	}
	return fmt.Sprintf("lifecycle rule %q will %s %s on %s, in %s", d.rule, verb, name, stamp(d.at), span(d.at.Sub(now)))
}

// doubt says in the sentence itself what was not known and read in the harmful way.
func doubt(d death) string {
	if d.unsure == "" {
		return ""
	}
	return " (assuming the worse: " + d.unsure + ")"
}

// outcome says which state the deletions lead to, and what follows.
func outcome(o *audit.Observation, created, spec death, hasCreated, hasSpec bool, now time.Time) string {
	const reset = "etcd-manager then makes a NEW, EMPTY cluster within seconds, with nobody touching it"
	noReturn := func(t time.Time) string { return " Point of no return: " + stamp(t) + "." }
	together := hasCreated && hasSpec && forecast.OneRun(created.at, spec.at, now)
	switch {
	case o.Created.State == audit.Unset:
		return "etcd-cluster-created is missing already."
	case !o.Created.Seen():
		return "etcd-cluster-created was not seen, so what follows cannot be told."
	case hasCreated && !o.Spec.Seen():
		return "etcd-cluster-spec was not seen: if it is there and good, then created going means that " + reset + "." + noReturn(created.at)
	case hasCreated && (!hasSpec || created.at.Before(spec.at)) && o.Spec.IsSet() && !specCreates(o):
		return "The spec is " + specFault(o) + ", so that the store is then armed: backups stop, and whoever writes a good spec resets the cluster." + noReturn(created.at)
	case together:
		return forecast.Together(created.at, spec.at) + ": backups stop, the store is armed at best, and the next `kops update cluster --yes` resets the cluster. Reset possible at once: if S3 removes created more than 10 s before spec, " + reset + "." + noReturn(created.at)
	case hasCreated && (!hasSpec || created.at.Before(spec.at)) && o.Spec.IsSet():
		left := "etcd-cluster-spec stays"
		if hasSpec {
			left = "etcd-cluster-spec stays until " + stamp(spec.at)
		}
		return "created goes first: reset with nobody touching it. " + left + ", and " + reset + "." + noReturn(created.at)
	case hasCreated && !hasSpec:
		return "The spec is missing already: the store is then armed, and the next `kops update cluster --yes` resets the cluster." + noReturn(created.at)
	case hasCreated:
		return "spec goes first: backups stop when the leader changes. When created follows on " + stamp(created.at) + ", the store is armed, and the next `kops update cluster --yes` resets the cluster." + noReturn(created.at)
	}
	return "etcd-cluster-created stays: backups stop when the leader next changes, and the store is then stuck."
}

// specCreates reports whether etcd-manager would make a cluster from the spec.
func specCreates(o *audit.Observation) bool {
	spec, err := etcdmanager.ParseSpec(o.Spec.Value.Body)
	return err == nil && spec.MemberCount >= 1
}

// deletion gives the first event that takes a control file away from readers.
func deletion(o *audit.Observation, f audit.Fact[audit.Document], path string, now time.Time) (death, bool) {
	if !f.IsSet() {
		return death{}, false
	}
	if !o.Bucket.Lifecycle.Seen() {
		return toldByHeader(f.Value, path, o)
	}
	events, err := controlEvents(o, f.Value, now, "")
	if err != nil {
		return toldByHeader(f.Value, path, o) // lifecycle/unseen speaks too
	}
	for _, e := range events {
		if e.Kind == lifecycle.Expire || e.Kind == lifecycle.Hide {
			return death{path: path, at: e.At, rule: e.Rule, hides: e.Kind == lifecycle.Hide, unsure: unsureOf(e)}, true
		}
	}
	return death{}, false
}

// controlEvents is what the bucket's rules will do to a control file. sizeDefault
// stands in for what the server says of small objects; empty takes its word.
//
// What happens to the current version does not depend on those below it, so it is
// followed alone.
func controlEvents(o *audit.Observation, d audit.Document, now time.Time, sizeDefault string) ([]lifecycle.Event, error) {
	if !o.Bucket.Lifecycle.IsSet() {
		return nil, nil
	}
	config, err := forecast.ConfigurationOf(o)
	if err != nil {
		return nil, err
	}
	config.DefaultMinimumSize = cmp.Or(sizeDefault, config.DefaultMinimumSize)
	return config.Timeline(forecast.BucketOf(o), []lifecycle.Version{forecast.VersionOf(d)}, now), nil
}

// unsureOf leaves out what other findings speak of: that the provider is not AWS
// is no reason to doubt a plain age rule.
func unsureOf(e lifecycle.Event) string {
	if e.Unsure == "provider unverified" {
		return ""
	}
	return e.Unsure
}

// toldByHeader is S3's own word for it, where the rules were not seen.
func toldByHeader(d audit.Document, path string, o *audit.Observation) (death, bool) {
	at, rule, ok := lifecycle.ParseExpirationHeader(d.Expiration)
	v := o.Bucket.Versioning
	// Ceph's header is wrong in versioned buckets: it speaks of rules for
	// noncurrent versions there (measured on RGW 16.2.15).
	if !ok || o.Store.Endpoint != "" && v.State != audit.Unset {
		return death{}, false
	}
	return death{path: path, at: at, rule: rule, hides: v.IsSet() && v.Value == "Enabled", told: true}, true
}

package rules

import (
	"fmt"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

var lifecycleArchivesControl = audit.Rule{
	ID:         "lifecycle/archives-control",
	Title:      "a lifecycle rule will move etcd-manager's control files to a class that nobody can read",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	Needs:      []audit.FactName{audit.FactLifecycle, audit.FactCreated, audit.FactSpec, audit.FactTags},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		var found []audit.Finding
		for _, f := range []struct {
			path string
			doc  audit.Fact[audit.Document]
			then string
		}{
			{etcdmanager.CreatedPath, o.Created, "Every cycle of etcd-manager then ends with an error: no backups, no replacement of a lost member."},
			{etcdmanager.SpecPath, o.Spec, "Backups then stop when the leader next changes."},
		} {
			if e, ok := archival(o, f.doc, now, ""); ok {
				found = append(found, movedAway(o, p, now, f.path, e, f.then)...)
			} else if e, ok := archival(o, f.doc, now, lifecycle.VariesByClass); ok {
				found = append(found, onlyBySize(o, p, now, f.path, e)...)
			}
		}
		return found
	},
}

// archival gives the event that makes a control file unreadable, if that comes
// before it is deleted.
func archival(o *audit.Observation, f audit.Fact[audit.Document], now time.Time, sizeDefault string) (lifecycle.Event, bool) {
	if !f.IsSet() {
		return lifecycle.Event{}, false
	}
	events, _ := controlEvents(o, f.Value, now, sizeDefault) // lifecycle/unseen speaks of what cannot be parsed
	for _, e := range events {
		switch {
		case e.Kind == lifecycle.Expire || e.Kind == lifecycle.Hide:
			return lifecycle.Event{}, false // lifecycle/deletes-control speaks
		case e.Kind == lifecycle.Transition && e.Reader == lifecycle.Archived:
			return e, true
		}
	}
	return lifecycle.Event{}, false
}

func movedAway(o *audit.Observation, p audit.Policy, now time.Time, path string, e lifecycle.Event, then string) []audit.Finding {
	severity, when := audit.Critical, "is due since "+stamp(e.At)+" to move"
	if ahead := e.At.Sub(now); ahead > 0 {
		when = "will on " + stamp(e.At) + ", in " + span(ahead) + ", move"
		switch {
		case ahead > p.HorizonWarning:
			return nil
		case ahead > p.HorizonCritical:
			severity = audit.Warning
		}
	}
	observed := fmt.Sprintf("moved to %s on %s by rule %q", e.Class, stamp(e.At), e.Rule)
	if unsure := unsureOf(e); unsure != "" {
		observed += " (assuming the worse: " + unsure + ")"
	}
	f := audit.Found(severity, "lifecycle rule %q %s %s to storage class %s, which nobody can read before it is thawed. %s", e.Rule, when, path, e.Class, then).
		About(o.Store.Key(path)).
		Saw(observed, "no transition to an archive class that matches a control file").
		Todo(fmt.Sprintf("Disable rule %q, or narrow its prefix so that it does not match control/. The only prefix that separates the snapshots from control/ is their year: %q.", e.Rule, o.Store.Key("20")),
			"Once it is moved, do NOT rely on a thaw: it ends, and the file is unreadable again. Upload the file anew instead.",
			"Read the configuration back, and run backstop again.")
	if also := kopsFilesToo(o, e.Rule, now); also != "" {
		f = f.Because("%s", also)
	}
	return []audit.Finding{f}
}

// onlyBySize speaks of control files that S3 leaves where they are for nothing but
// their size: the next change of the configuration may end that.
func onlyBySize(o *audit.Observation, p audit.Policy, now time.Time, path string, e lifecycle.Event) []audit.Finding {
	if e.At.Sub(now) > p.HorizonWarning {
		return nil
	}
	return []audit.Finding{audit.Found(audit.Warning, "nothing but S3's default for small objects keeps lifecycle rule %q from moving %s to storage class %s: a size filter in the rule, or the other default, ends that", e.Rule, path, e.Class).
		About(o.Store.Key(path)).
		Saw("the transition size default "+lifecycle.AllClasses128K, "no transition to an archive class that matches a control file").
		Todo(fmt.Sprintf("Narrow the prefix of rule %q so that it does not match control/, as %q does.", e.Rule, o.Store.Key("20")))}
}

package lint

import (
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
)

// A fate is the first event that takes an object from its readers.
type fate struct {
	lifecycle.Event
	target target
	// undated says that the age or the date is known only when the code is applied.
	undated bool
}

// taken follows a target under a configuration until something takes it from its
// readers: it is deleted, hidden, or moved to an archive class. What happens to a
// current version does not depend on those below it, so it is followed alone.
func taken(c lifecycle.Configuration, b lifecycle.Bucket, t target) (fate, bool) {
	for _, e := range c.Timeline(b, []lifecycle.Version{t.version}, t.store.Now) {
		if gone(e) || archived(e) {
			return fate{Event: e, target: t}, true
		}
	}
	return fate{}, false
}

// gone reports whether an event leaves no object for readers.
func gone(e lifecycle.Event) bool { return e.Kind == lifecycle.Expire || e.Kind == lifecycle.Hide }

// archived reports whether an event moves an object where nobody can read it.
func archived(e lifecycle.Event) bool {
	return e.Kind == lifecycle.Transition && e.Reader == lifecycle.Archived
}

// alone is a configuration with one of its rules, so that no other gets there
// first.
func alone(c lifecycle.Configuration, i int) lifecycle.Configuration {
	return lifecycle.Configuration{Rules: c.Rules[i : i+1 : i+1], DefaultMinimumSize: c.DefaultMinimumSize}
}

// certain are doubts of the evaluator that leave no doubt about the harm: only
// about when, or whether it can be undone.
var certain = map[string]bool{"provider unverified": true, "versioning unknown": true, "modification time missing": true}

// doubtOf gives what makes an event unsure; empty where it is sure.
func doubtOf(e lifecycle.Event) string {
	var all []string
	for _, d := range strings.Split(e.Unsure, "; ") {
		if d != "" && !certain[d] {
			all = append(all, d)
		}
	}
	return strings.Join(all, "; ")
}

// verb says what an event does to an object.
func verb(e lifecycle.Event) string {
	switch e.Kind {
	case lifecycle.Hide:
		return "hide"
	case lifecycle.Transition:
		return "archive"
	}
	return "delete"
}

// what says what becomes of an object.
func what(e lifecycle.Event) string {
	switch e.Kind {
	case lifecycle.Hide:
		return "hidden by a delete marker"
	case lifecycle.Transition:
		return "moved to " + e.Class + ", where nobody can read it"
	}
	return "deleted for good"
}

// when says when an event happens: a date for an object that is there, a length
// of time for one that is still to be written.
func (f fate) when() string {
	now := f.target.store.Now
	switch ahead := f.At.Sub(now); {
	case f.undated:
		return "at a time that is known only when the code is applied"
	case !f.target.seen:
		return span(max(0, ahead)) + " after it is written"
	case ahead <= 0:
		return "at once, when the configuration is written (due since " + stamp(f.At) + ")"
	default:
		return "on " + stamp(f.At) + ", in " + span(ahead)
	}
}

// exported gives a fate as reports have it.
func (f fate) exported() audit.Fate {
	return audit.Fate{What: what(f.Event), At: f.At, Rule: f.Rule, Unsure: doubtOf(f.Event)}
}

// earliest gives the fate that comes first.
func earliest(all []fate) fate {
	first := all[0]
	for _, f := range all[1:] {
		if f.At.Before(first.At) {
			first = f
		}
	}
	return first
}

// due reports whether a rule alone would take a target at once.
func due(c lifecycle.Configuration, b lifecycle.Bucket, t target, now time.Time) bool {
	e, ok := c.Next(b, []lifecycle.Version{t.version}, 0, now)
	return ok && t.seen && !e.At.After(now) && (gone(e) || archived(e))
}

package rules

import (
	"fmt"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

// undoShortest is how long a control file that was deleted should be there to be
// brought back: holidays, and the time until somebody looks.
var undoShortest = 30 * audit.Day

var lifecycleUndoWindowShort = audit.Rule{
	ID:         "lifecycle/undo-window-short",
	Title:      "a control file that is deleted can be brought back for a short time only",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactLifecycle, audit.FactVersioning, audit.FactCreated, audit.FactSpec, audit.FactTags},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		v := o.Bucket.Versioning
		k, ok := keepingOf(o, now)
		if !ok || !v.IsSet() || v.Value != "Enabled" {
			return nil
		}
		var found []audit.Finding
		for _, doc := range []audit.Fact[audit.Document]{o.Created, o.Spec} {
			e, ok := k.destroyed(doc)
			if window := e.At.Sub(now); !ok || window >= undoShortest || len(found) > 0 {
				continue
			}
			found = append(found, shortWindow(o, e, e.At.Sub(now)))
		}
		return found
	},
}

// destroyed says what would destroy the content of a control file that somebody
// deleted now. ok is false where nothing would, or there is no such file.
func (k keeping) destroyed(doc audit.Fact[audit.Document]) (lifecycle.Event, bool) {
	if !doc.IsSet() {
		return lifecycle.Event{}, false
	}
	content := forecast.VersionOf(doc.Value)
	marker := lifecycle.Version{Key: content.Key, VersionID: "marker", LastModified: k.now, DeleteMarker: true, TagsKnown: true}
	for _, e := range k.config.Timeline(k.bucket, []lifecycle.Version{marker, content}, k.now) {
		if e.AllVersions || e.Kind == lifecycle.DestroyNoncurrent && e.VersionID == content.VersionID {
			return e, true
		}
	}
	return lifecycle.Event{}, false
}

func shortWindow(o *audit.Observation, e lifecycle.Event, window time.Duration) audit.Finding {
	unsure := ""
	if u := unsureOf(e); u != "" {
		unsure = " (assuming the worse: " + u + ")"
	}
	return audit.Found(audit.Warning, "if a control file were deleted now, lifecycle rule %q would destroy its content in %s%s: until then the old version can be copied back, and afterwards it can only be written by hand", e.Rule, span(window), unsure).
		About(o.Store.Key(etcdmanager.ControlDir)+"/").
		Saw(span(window), "at least "+span(undoShortest)).
		Todo(fmt.Sprintf("Set NoncurrentDays of rule %q to 30 or more, at least for what lies below %s. Versions of control files have 40 to 300 bytes, and cost nothing.", e.Rule, o.Store.Key(etcdmanager.ControlDir)+"/"))
}

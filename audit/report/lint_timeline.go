package report

import (
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
)

// FutureOf tells a timeline as a lint report does: what lifecycle rules and
// etcd-manager's control loop do. What its cleanup does to snapshots, it does with
// any rules.
func FutureOf(t forecast.Timeline) audit.Fact[audit.Future] {
	for _, g := range t.Gaps {
		if g.Necessary {
			return audit.Unknown[audit.Future](audit.Why{Cause: audit.CauseOther, Reason: string(g.Fact) + " was not seen: " + g.Reason})
		}
	}
	f := audit.Future{Until: t.To, Steps: []audit.LintStep{}, NoReturn: t.NoReturn, Reset: t.Reset, Final: t.FinalWindow.String()}
	for _, e := range lines(t) {
		if e.Actor == forecast.ByRetention {
			continue
		}
		s := audit.LintStep{At: e.At, Overdue: e.Overdue, What: e.Describe() + later(e), State: stateAt(t, e.State, e.At), Meaning: e.Meaning, Severity: e.Severity}
		if e.Unsure != "" {
			s.What += " (assuming the worse: " + e.Unsure + ")"
		}
		f.Steps = append(f.Steps, s)
	}
	return audit.Is(f)
}

// stepDate is the date of a step for people.
func stepDate(s audit.LintStep) string {
	if s.Overdue {
		return "any moment, due since " + forecast.Minute(s.At)
	}
	return forecast.Minute(s.At)
}

// ending says what is left at the end.
func ending(f audit.Future) string {
	return "on " + f.Until.UTC().Format(time.DateOnly) + " restorable: " + f.Final
}

// futureWords says what becomes of a store in a line for each step.
func futureWords(f audit.Fact[audit.Future]) []string {
	if !f.IsSet() {
		return []string{"not known: " + f.WhyUnseen().Reason}
	}
	var all []string
	for _, s := range f.Value.Steps {
		line := stepDate(s) + "  " + s.What + "; state " + s.State
		if s.Severity != audit.Info {
			line = strings.ToUpper(string(s.Severity)) + " " + line
		}
		if s.Meaning != "" {
			line += ". " + s.Meaning
		}
		all = append(all, line)
	}
	if len(all) == 0 {
		all = []string{"no lifecycle rule takes anything"}
	}
	return append(all, ending(f.Value))
}

// sameFuture reports whether a change changes nothing.
func sameFuture(t audit.LintTimeline) bool {
	return strings.Join(futureWords(t.Before), "\n") == strings.Join(futureWords(t.After), "\n")
}

// mostTimelines bounds how many are shown to people; JSON has all.
const mostTimelines = 20

// shownFutures are the timelines that are shown, and a word on those that are not.
func shownFutures(r audit.LintReport) (shown []audit.LintTimeline, more string) {
	n := min(len(r.Timelines), mostTimelines)
	if left := len(r.Timelines) - n; left > 0 {
		more = "And " + audit.Plural(left, "timeline") + " more, which -o json has."
	}
	if r.Unfollowed > 0 {
		more = strings.TrimSpace(more + " Not followed: " + audit.Plural(r.Unfollowed, "store") + " more.")
	}
	return r.Timelines[:n], more
}

// timelineOf names a timeline.
func timelineOf(t audit.LintTimeline) string {
	s := t.Source
	if s == "" {
		s = t.File
	}
	if t.Assumes {
		s += ", with what is not known read in the worst way"
	}
	return s
}

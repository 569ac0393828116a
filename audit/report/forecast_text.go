package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"backstop/audit"
	"backstop/rules/forecast"
)

// ForecastText writes timelines for a person on call: for each store what matters
// first, then what happens when, with the state and what can be restored after
// it, then what was not seen, and as the last line the verdict.
func ForecastText(w io.Writer, f Forecast, o Options) error {
	t := &text{w: bufio.NewWriter(w), Options: o}
	for _, s := range shownTimelines(f, o) {
		t.timeline(s)
	}
	for _, p := range f.Problems {
		t.problem(p)
	}
	t.line("%s: %s", t.colored(f.Verdict, string(f.Verdict)), Printable(forecastSummary(f)))
	return t.w.Flush()
}

func (t *text) timeline(s forecast.Timeline) {
	t.line("%s  %s  %s", t.colored(s.Verdict, fmt.Sprintf("%-13s", s.State)), t.colored(s.Verdict, fmt.Sprintf("%-8s", s.Verdict)), Printable(s.Store.URL))
	t.gaps(s, true)
	for _, h := range headline(s) {
		t.prose("  ", "  ", Printable(h))
	}
	t.prose("  ", "  ", "restorable now: "+s.Window.String())
	t.line("")
	for _, e := range lines(s) {
		t.event(s, e)
	}
	if a := s.At; a != nil {
		t.prose("  ", "    ", "on "+forecast.Minute(a.At)+": "+stateAt(s, a.State, a.At)+"; "+then(forecast.Event{Window: a.Window, IfReset: a.IfReset}))
	}
	t.prose("  ", "    ", "until "+forecast.Minute(s.To)+": "+stateAt(s, s.FinalState, s.To)+"; restorable then: "+s.FinalWindow.String())
	t.gaps(s, false)
	for _, a := range s.Assumes {
		t.prose("  assumed: ", "    ", Printable(a))
	}
	t.line("")
}

// gaps says what was not seen: first what the timeline cannot do without.
func (t *text) gaps(s forecast.Timeline, necessary bool) {
	for _, g := range s.Gaps {
		if g.Necessary != necessary {
			continue
		}
		head := "  not known  "
		if necessary {
			head = "  " + t.colored(audit.VerdictUnknown, "NOT KNOWN") + "  "
		}
		t.prose(head, "    ", string(g.Fact)+": "+Printable(g.Reason)+". "+g.Means)
	}
}

// event writes one line of a timeline, and below it what follows.
func (t *text) event(s forecast.Timeline, e forecast.Event) {
	head := "  " + when(e, s.From)
	if e.Severity != audit.Info {
		head += "  " + strings.TrimSpace(t.severity(e.Severity))
	}
	t.prose(head+"  ", "      ", Printable(e.Describe()+later(e)))
	if e.Unsure != "" {
		t.prose("      ", "      ", "assuming the worse: "+Printable(e.Unsure))
	}
	if e.Meaning != "" {
		t.prose("      ", "      ", arrow(e)+Printable(e.Meaning))
	}
	t.prose("      ", "      ", then(e))
}

// arrow names the state that an event leads to, where it decides it.
func arrow(e forecast.Event) string {
	switch {
	case e.Action == forecast.Resets:
		return "-> " + string(e.State) + asNew + ". "
	case len(e.Paths) > 0 || e.Actor == forecast.ByEtcdManager:
		return "-> " + string(e.State) + ". "
	}
	return "-> "
}

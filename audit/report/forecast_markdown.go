package report

import (
	"bufio"
	"io"
	"strings"

	"backstop/audit"
	"backstop/rules/forecast"
)

// ForecastMarkdown writes timelines for a ticket or for a comment in CI: a table
// of the events of each store, the worst store first.
func ForecastMarkdown(w io.Writer, f Forecast, o Options) error {
	m := &markdown{w: bufio.NewWriter(w)}
	m.line("# %s: %s", f.Verdict, escaped(forecastSummary(f)))
	for _, s := range shownTimelines(f, o) {
		m.timeline(s)
	}
	if n := len(f.Stores) - len(shownTimelines(f, o)); n > 0 {
		m.paragraph("Not shown: " + audit.Plural(n, "store") + " with the verdict OK.")
	}
	for i, p := range f.Problems {
		if i == 0 {
			m.line("\n## Not looked at")
		}
		m.line("\n### %s\n", code(p.Target))
		m.line("%s", escaped(p.Message))
		if p.Do != "" {
			m.todo([]string{p.Do})
		}
	}
	return m.w.Flush()
}

func (m *markdown) timeline(s forecast.Timeline) {
	m.line("\n## %s: %s", s.Verdict, code(s.Store.URL))
	m.line("")
	for _, g := range s.Gaps {
		if g.Necessary {
			m.line("- NOT KNOWN: %s: %s", code(string(g.Fact)), escaped(g.Reason+". "+g.Means))
		}
	}
	for _, h := range headline(s) {
		m.line("- %s", escaped(h))
	}
	m.line("- Now %s; restorable: %s", s.State, escaped(s.Window.String()))
	m.line("\n| When | What | State then | Restorable then |")
	m.line("| --- | --- | --- | --- |")
	for _, e := range lines(s) {
		m.line("| %s | %s | %s | %s |", escaped(when(e, s.From)+later(e)), escaped(strings.TrimSpace(marked(e)+e.Describe()+". "+e.Meaning)), stateAt(s, e.State, e.At), escaped(left(e.Window, e.IfReset)))
	}
	if a := s.At; a != nil {
		m.line("| %s | the time that was asked about | %s | %s |", escaped(forecast.Minute(a.At)), stateAt(s, a.State, a.At), escaped(left(a.Window, a.IfReset)))
	}
	m.line("| %s | the end of this forecast | %s | %s |", escaped(forecast.Minute(s.To)), stateAt(s, s.FinalState, s.To), escaped(s.FinalWindow.String()))
	var notes []string
	for _, g := range s.Gaps {
		if g.Necessary {
			continue
		}
		notes = append(notes, "Not known: "+code(string(g.Fact))+": "+escaped(g.Reason+". "+g.Means))
	}
	for _, a := range s.Assumes {
		notes = append(notes, "Assumed: "+escaped(a))
	}
	m.line("")
	for _, n := range notes {
		m.line("- %s", n)
	}
}

// marked begins what is not mere information with its severity.
func marked(e forecast.Event) string {
	if e.Severity == audit.Info {
		return ""
	}
	return strings.ToUpper(string(e.Severity)) + ": "
}

func left(w forecast.Window, ifReset *forecast.Window) string {
	s := w.String()
	if ifReset != nil && *ifReset != w {
		s += "; after a reset: " + ifReset.String()
	}
	return s
}

package report

import (
	"bufio"
	"io"
	"strings"

	"backstop/audit"
)

// mostEffects bounds the table of control files, so that the comment stays one
// that a forge takes.
const mostEffects = 50

// LintMarkdown writes a lint report as the comment on a pull request: the verdict,
// what each rule would touch, what becomes of the control files, and the
// findings. It has no HTML and no links, as Markdown has none.
func LintMarkdown(w io.Writer, r audit.LintReport, o LintOptions) error {
	m := &markdown{w: bufio.NewWriter(w)}
	m.line("# %s: %s", r.Verdict, escaped(lintSummary(r)))
	m.paragraph("Judged as of " + audit.Stamp(r.Judged) + ".")
	m.blast(r)
	m.effects(r)
	m.lintTimelines(r)
	m.lintFindings(r, o)
	for i, p := range r.Problems {
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

// blast writes the blast radius of each rule.
func (m *markdown) blast(r audit.LintReport) {
	first := true
	for _, f := range r.Files {
		for _, c := range f.Configurations {
			for _, rule := range c.Radius {
				if first {
					m.line("\n## Blast radius")
					m.line("\n| Rule | Prefix | Does | Matches | Due at once | Where |")
					m.line("| --- | --- | --- | --- | ---: | --- |")
					first = false
				}
				source, _ := heading(f, c)
				does := rule.Action
				if rule.Conditions != "" {
					does += " (" + rule.Conditions + ")"
				}
				m.line("| %s | %s | %s | %s | %d | %s |", code(rule.Rule), quoted(rule.Prefix), escaped(does), escaped(rule.Reach()), rule.DueAtOnce, code(source))
			}
		}
	}
}

// quoted writes a prefix as code, of which an empty one would show nothing.
func quoted(s string) string {
	if s == "" {
		return "(every key)"
	}
	return code(s)
}

// effects writes what becomes of the control files, now and then.
func (m *markdown) effects(r audit.LintReport) {
	rows := 0
	for _, f := range r.Files {
		for _, c := range f.Configurations {
			for _, e := range c.Effects {
				if !e.After.IsSet() && !e.Before.IsSet() {
					continue
				}
				if rows++; rows > mostEffects {
					continue
				}
				if rows == 1 {
					m.line("\n## Control files")
					m.line("\n| File | Now | Then |")
					m.line("| --- | --- | --- |")
				}
				m.line("| %s | %s | %s |", code(e.Key), escaped(fate(e.Before)), escaped(fate(e.After)))
			}
		}
	}
	if rows > mostEffects {
		m.paragraph("And " + audit.Plural(rows-mostEffects, "file") + " more; -o json has them all.")
	}
}

// lintTimelines writes what becomes of each store, now and then.
func (m *markdown) lintTimelines(r audit.LintReport) {
	futures, more := shownFutures(r)
	for i, t := range futures {
		if i == 0 {
			m.line("\n## Timelines")
		}
		m.line("\n### %s\n", code(t.Store))
		if sameFuture(t) {
			m.line("%s makes no difference to it.\n", code(timelineOf(t)))
		} else {
			for _, s := range futureWords(t.Before) {
				m.line("- Now: %s", escaped(s))
			}
		}
		for _, s := range futureWords(t.After) {
			m.line("- Then: %s", escaped(s))
		}
		if t.Assumes {
			m.paragraph("What is not known of the change is read in the worst way.")
		}
	}
	if more != "" {
		m.paragraph(more)
	}
}

// lintFindings writes the findings. Information is told in a line each.
func (m *markdown) lintFindings(r audit.LintReport, o LintOptions) {
	var infos []audit.LintFinding
	for i, f := range r.Findings {
		if f.Severity == audit.Info {
			infos = append(infos, f)
			continue
		}
		if i == 0 {
			m.line("\n## Findings")
		}
		m.finding(placed(f))
	}
	if o.Quiet || len(infos) == 0 {
		return
	}
	m.line("\n## Information\n")
	for _, f := range infos {
		m.line("- %s %s%s", code(f.Rule), escaped(f.Message), spaced(place(f)))
	}
}

// placed puts the place of a finding where an object's key stands.
func placed(f audit.LintFinding) audit.Finding {
	out := f.Finding
	out.Key = place(f)
	out.VersionID = ""
	return out
}

func spaced(s string) string {
	if s == "" {
		return ""
	}
	return " (" + code(strings.ReplaceAll(s, "  ", " ")) + ")"
}

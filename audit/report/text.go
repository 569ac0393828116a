package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"backstop/audit"
)

// Text writes the report for a person on call: the worst store first, a line to
// each store that begins with its state, below it what was found and what to do,
// and as the last line the verdict.
func Text(w io.Writer, r audit.Report, o Options) error {
	t := &text{w: bufio.NewWriter(w), Options: o}
	for _, s := range shown(r, o) {
		t.store(s)
	}
	for _, b := range buckets(r.Stores) {
		t.line("bucket         %s", Printable(b.name))
		for _, f := range b.findings {
			t.finding(f)
		}
	}
	for _, p := range r.Problems {
		t.problem(p)
	}
	t.line("%s: %s", t.colored(r.Verdict, string(r.Verdict)), summary(r)) // the line that a hurried reader looks at
	return t.w.Flush()
}

type text struct {
	w *bufio.Writer
	Options
}

func (t *text) line(format string, args ...any) {
	fmt.Fprintf(t.w, format+"\n", args...)
}

// store writes one store. The first word is its state.
func (t *text) store(s audit.StoreReport) {
	t.line("%s  %s  %s%s  %s", t.colored(s.Verdict, fmt.Sprintf("%-13s", stateName(s))), t.colored(s.Verdict, fmt.Sprintf("%-8s", s.Verdict)), Printable(s.Store.URL), role(s), snapshots(s))
	for _, f := range ofStore(s.Findings) {
		t.finding(f)
	}
}

func (t *text) finding(f audit.Finding) {
	t.line("  %s %s%s", t.severity(f.Severity), f.Rule, subject(f))
	t.prose("    ", "    ", Printable(f.Message))
	if f.Observed != "" {
		t.prose("    seen:     ", "              ", Printable(f.Observed))
	}
	if f.Expected != "" {
		t.prose("    expected: ", "              ", Printable(f.Expected))
	}
	for _, e := range f.Evidence {
		also := Printable(e.Message)
		if e.Rule != "" {
			also = e.Rule + ": " + also
		}
		t.prose("    also:     ", "              ", also)
	}
	for i, d := range f.Do {
		t.prose(fmt.Sprintf("    do %d. ", i+1), "          ", Printable(d))
	}
}

func subject(f audit.Finding) string {
	if f.Key == "" {
		return ""
	}
	s := "  " + Printable(f.Key)
	if f.VersionID != "" {
		s += " version " + Printable(f.VersionID)
	}
	return s
}

func (t *text) problem(p audit.Problem) {
	t.line("%s  %s", t.colored(audit.VerdictUnknown, "not audited  "), Printable(p.Target))
	t.prose("    ", "    ", Printable(p.Message))
	if p.Do != "" {
		t.prose("    do 1. ", "          ", Printable(p.Do))
	}
}

// prose writes text wrapped at the width, with an indent of its own for the
// first line.
func (t *text) prose(first, rest, s string) {
	if t.Width < 40 {
		t.line("%s%s", first, s)
		return
	}
	line := first
	empty := true
	for _, word := range strings.Fields(s) {
		if !empty && len(line)+1+len(word) > t.Width {
			t.line("%s", line)
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	t.line("%s", line)
}

func (t *text) severity(s audit.Severity) string {
	return t.colored(verdictOf[s], fmt.Sprintf("%-8s", strings.ToUpper(string(s))))
}

var verdictOf = map[audit.Severity]audit.Verdict{
	audit.Critical: audit.VerdictCritical, audit.Unsure: audit.VerdictUnknown,
	audit.Warning: audit.VerdictWarning, audit.Info: audit.OK,
}

// colors are the terminal's own sixteen, so that a theme can make them legible.
var colors = map[audit.Verdict]string{
	audit.VerdictCritical: "1;31", audit.VerdictUnknown: "1;35", audit.VerdictWarning: "33", audit.OK: "32",
}

func (t *text) colored(v audit.Verdict, s string) string {
	if !t.Color {
		return s
	}
	return "\x1b[" + colors[v] + "m" + s + "\x1b[0m"
}

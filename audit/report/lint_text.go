package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"backstop/audit"
)

// LintText writes a lint report for a person: what each file holds and what it
// touches, then the findings, the most urgent first, and as the last line the
// verdict.
func LintText(w io.Writer, r audit.LintReport, o LintOptions) error {
	t := &text{w: bufio.NewWriter(w), Options: o.Options}
	for _, f := range r.Files {
		t.lintFile(f)
	}
	for _, f := range r.Findings {
		if o.Quiet && f.Severity == audit.Info {
			continue
		}
		t.lintFinding(f)
	}
	futures, more := shownFutures(r)
	for _, l := range futures {
		t.lintTimeline(l)
	}
	if more != "" {
		t.line("%s", more)
	}
	for _, s := range r.Stores {
		t.lintStore(s)
	}
	for _, p := range r.Problems {
		t.unlooked(p)
	}
	t.line("%s: %s", t.colored(r.Verdict, string(r.Verdict)), lintSummary(r))
	return t.w.Flush()
}

func (t *text) lintFile(f audit.LintFile) {
	t.line("%s  %s: %s, %s of backup stores", Printable(f.Name), f.Format, audit.Plural(len(f.Configurations), "lifecycle configuration"), audit.Plural(f.Objects, "object"))
	for _, c := range f.Configurations {
		source, _ := heading(f, c)
		t.line("  %s  %s, %s, %s, %s", Printable(source), Printable(bucketWords(c)), c.Change, audit.Plural(c.Rules, "rule"), judged(c))
		for _, r := range c.Radius {
			t.prose("    ", "      ", Printable(radiusLine(r)))
		}
	}
}

// radiusLine says what a rule does, and to how much.
func radiusLine(r audit.Radius) string {
	s := fmt.Sprintf("rule `%s`, prefix `%s`", r.Rule, r.Prefix)
	if r.Conditions != "" {
		s += " and " + r.Conditions
	}
	s += fmt.Sprintf(", %s: %s", r.Reach(), r.Action)
	if r.DueAtOnce > 0 {
		s += fmt.Sprintf("; %s due at once", audit.Plural(r.DueAtOnce, "object"))
	}
	return s
}

func (t *text) lintFinding(f audit.LintFinding) {
	t.line("%s", strings.TrimRight(fmt.Sprintf("%s %s  %s", t.severity(f.Severity), f.Rule, Printable(place(f))), " "))
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

// lintTimeline tells what becomes of a store now and then.
func (t *text) lintTimeline(l audit.LintTimeline) {
	t.line("timeline  %s  %s", Printable(l.Store), Printable(timelineOf(l)))
	if sameFuture(l) {
		t.prose("  as now  ", "          ", "the change makes no difference to it")
	} else {
		for _, s := range futureWords(l.Before) {
			t.prose("  now   ", "        ", Printable(s))
		}
	}
	for _, s := range futureWords(l.After) {
		t.prose("  then  ", "        ", Printable(s))
	}
}

// unlooked tells of a place that gave no store.
func (t *text) unlooked(p audit.Problem) {
	t.line("%s  %s", t.colored(audit.VerdictUnknown, "not looked at"), Printable(p.Target))
	t.prose("    ", "    ", Printable(p.Message))
	if p.Do != "" {
		t.prose("    do 1. ", "          ", Printable(p.Do))
	}
}

func (t *text) lintStore(s audit.LintStore) {
	if !s.Looked {
		t.line("store  %s  not looked at: represented by its prefix", Printable(s.URL))
		return
	}
	t.line("store  %s  %s, %s", Printable(s.URL), s.State, audit.Plural(s.Snapshots, "snapshot"))
}

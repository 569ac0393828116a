package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"backstop/audit"
)

// Text writes the report for a person on call: the worst store first, a line to
// each store that begins with its state, below it what was found and what to do,
// and as the last line the verdict.
func Text(w io.Writer, r audit.Report, o Options) error {
	t := &text{w: bufio.NewWriter(w), Options: o}
	for _, s := range r.Stores {
		t.store(s)
	}
	t.buckets(r.Stores)
	for _, p := range r.Problems {
		t.problem(p)
	}
	t.last(r)
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
	own := ofStore(s.Findings)
	if t.Quiet && s.Verdict == audit.OK {
		return
	}
	state := s.State.Name
	if s.State.RestorePending {
		state += "+restore-pending"
	}
	t.line("%s  %s  %s  %s", t.colored(s.Verdict, fmt.Sprintf("%-13s", state)), t.colored(s.Verdict, fmt.Sprintf("%-8s", s.Verdict)), Printable(s.Store.URL), snapshots(s))
	for _, f := range own {
		t.finding(f)
	}
}

// snapshots says how many there are, and how old the newest is.
func snapshots(s audit.StoreReport) string {
	for _, u := range s.Unseen {
		if u.Fact == audit.FactListing {
			return "snapshots not seen"
		}
	}
	if s.Newest == nil {
		return "no snapshots"
	}
	return fmt.Sprintf("%s, newest %s (%s ago)", audit.Plural(s.Snapshots, "snapshot"), audit.Stamp(s.Newest.At), audit.Span(s.Judged.Sub(s.Newest.At)))
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

// buckets writes what concerns a whole bucket once, and not under each of its
// stores.
func (t *text) buckets(stores []audit.StoreReport) {
	type key struct{ bucket, rule, message string }
	seen := map[key]int{}
	var order []key
	first := map[key]audit.Finding{}
	for _, s := range stores {
		for _, f := range s.Findings {
			if f.Scope != "bucket" {
				continue
			}
			k := key{s.Store.Bucket, f.Rule, f.Message}
			if seen[k]++; seen[k] == 1 {
				order = append(order, k)
				first[k] = f
			}
		}
	}
	slices.SortStableFunc(order, func(a, b key) int { return cmp.Compare(a.bucket, b.bucket) })
	last := ""
	for i, k := range order {
		if i == 0 || k.bucket != last {
			t.line("bucket         %s", Printable(k.bucket))
			last = k.bucket
		}
		f := first[k]
		if seen[k] > 1 {
			f.Message += fmt.Sprintf(" (concerns %d stores)", seen[k])
		}
		t.finding(f)
	}
}

func ofStore(found []audit.Finding) []audit.Finding {
	var own []audit.Finding
	for _, f := range found {
		if f.Scope != "bucket" {
			own = append(own, f)
		}
	}
	return own
}

func (t *text) problem(p audit.Problem) {
	t.line("%s  %s", t.colored(audit.VerdictUnknown, "not audited  "), Printable(p.Target))
	t.prose("    ", "    ", Printable(p.Message))
	if p.Do != "" {
		t.prose("    do 1. ", "          ", Printable(p.Do))
	}
}

// last writes the line that a hurried reader looks at.
func (t *text) last(r audit.Report) {
	var counts []string
	for _, s := range []audit.Severity{audit.Critical, audit.Unsure, audit.Warning, audit.Info} {
		n := 0
		for _, st := range r.Stores {
			for _, f := range st.Findings {
				if f.Severity == s {
					n++
				}
			}
		}
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	found := "nothing found"
	if len(counts) > 0 {
		found = "found " + strings.Join(counts, ", ")
	}
	t.line("%s: %s; checked %d of %s", t.colored(r.Verdict, string(r.Verdict)), found, r.Checked, audit.Plural(r.Total, "store"))
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

package main

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/rules/preflight"
	"backstop/store/charm"
)

// tellPreflight writes a report for people: the verdict first.
func (p *program) tellPreflight(r preflight.Report, o *options) error {
	color, width := p.terminal(o)
	w := &pageWriter{width: 110}
	if width > 40 {
		w.width = min(width, 130)
	}
	w.line(0, headline(r, color))
	for _, u := range r.Units {
		w.unit(u)
	}
	for _, f := range r.Findings {
		w.finding(f)
	}
	w.snapshots(r.Snapshots)
	w.list("Not seen:", r.Unseen)
	w.steps(r.Do)
	w.list("Not checked, and so without a part in the verdict:", notChecked(r.NotChecked))
	w.list("Not looked at, and so without a part in the verdict:", r.NotLookedAt)
	_, err := p.stdout.Write(w.Bytes())
	return err
}

// notChecked says in a line what the predicates lack that lack the same.
func notChecked(all []preflight.NotChecked) []string {
	var lines, needs []string
	for _, n := range all {
		if slices.Contains(needs, n.Needs) {
			continue
		}
		needs = append(needs, n.Needs)
		var titles []string
		for _, m := range all {
			if m.Needs == n.Needs {
				titles = append(titles, m.ID+" ("+m.Title+")")
			}
		}
		lines = append(lines, n.Needs+": "+strings.Join(titles, ", "))
	}
	return lines
}

// headline is the verdict in one line.
func headline(r preflight.Report, color bool) string {
	var names []string
	for _, u := range r.Units {
		if r.Verdict != preflight.Safe || u.Start.Outcome != preflight.NoIdea {
			names = append(names, u.Unit)
		}
	}
	of := ""
	if len(names) > 0 {
		of = " (" + strings.Join(names, ", ") + ")"
	}
	word, paint := string(r.Verdict), map[preflight.Verdict]string{preflight.Safe: "\x1b[32m", preflight.NotSafe: "\x1b[31m", preflight.CannotTell: "\x1b[35m"}[r.Verdict]
	if color {
		word = paint + word + "\x1b[0m"
	}
	switch r.Verdict {
	case preflight.Safe:
		return word + " to upgrade the etcd charm or refresh its snap, by the checks below" + of
	case preflight.NotSafe:
		return word + " to upgrade the etcd charm or refresh its snap" + of
	}
	return word + " whether the etcd charm can be upgraded: do not, before what is missing was seen" + of
}

// A pageWriter writes lines of a width.
type pageWriter struct {
	bytes.Buffer
	width int
}

// line writes text, and what does not fit into the next lines.
func (w *pageWriter) line(indent int, text string) {
	space := strings.Repeat(" ", indent)
	at := 0
	for i, word := range strings.Fields(printable(text)) {
		switch n := len([]rune(word)); {
		case i == 0:
			w.WriteString(space)
			at = indent
		case at+1+n > w.width:
			w.WriteString("\n" + space)
			at = indent
		default:
			w.WriteByte(' ')
			at++
		}
		w.WriteString(word)
		at += len([]rune(word))
	}
	w.WriteByte('\n')
}

// printable is report.Printable that leaves the colors of this program alone.
func printable(s string) string {
	if strings.HasPrefix(s, "\x1b[") {
		head, rest, _ := strings.Cut(s, "\x1b[0m")
		return head + "\x1b[0m" + report.Printable(rest)
	}
	return report.Printable(s)
}

func (w *pageWriter) unit(u preflight.UnitReport) {
	w.WriteByte('\n')
	by := map[charm.Writer]string{charm.WroteTemplate: "written by the charm", charm.WroteMigration: "written by the migration from etcd 2.3", charm.WroteUnknown: "written by somebody else than the charm's template"}[u.Writer]
	w.line(0, fmt.Sprintf("%s  %s, %s", u.Unit, u.File, by))
	outcome := map[preflight.Outcome]string{preflight.WithData: "with its data", preflight.Empty: "EMPTY", preflight.Refuses: "FAILS", preflight.Joins: "WITHOUT ITS DATA, or fails", preflight.NoIdea: "not known"}[u.Start.Outcome]
	w.line(2, "next start  "+outcome+": "+u.Start.Why)
	for _, d := range u.Dirs {
		at := d.Path
		if !path.IsAbs(at) {
			at = path.Join(charm.CurrentDir, at)
		}
		w.line(2, "has  "+at+": "+preflight.Describe(d))
	}
}

func (w *pageWriter) finding(f preflight.Finding) {
	w.WriteByte('\n')
	about := f.Unit
	if f.Snapshot != "" {
		about = f.Snapshot
	}
	head := fmt.Sprintf("%-8s %-4s %s", strings.ToUpper(string(f.Severity)), f.ID, f.Title)
	if about != "" {
		head += " (" + about + ")"
	}
	if f.Blocks && f.Severity != audit.Critical {
		head += ", which makes an upgrade unsafe"
	}
	w.line(0, head)
	w.line(4, f.Message)
}

func (w *pageWriter) snapshots(all []preflight.SnapshotReport) {
	if len(all) == 0 {
		return
	}
	w.WriteString("\nSnapshots, the oldest first:\n")
	for _, s := range all {
		word := "not valid"
		if s.Valid {
			word = "valid"
		}
		w.line(2, fmt.Sprintf("%s  %s, %s: %s", s.File, s.Format, word, s.Says))
	}
}

func (w *pageWriter) list(head string, all []string) {
	if len(all) == 0 {
		return
	}
	w.WriteString("\n" + head + "\n")
	for _, s := range all {
		w.line(2, s)
	}
}

func (w *pageWriter) steps(all []string) {
	if len(all) == 0 {
		return
	}
	w.WriteString("\nWhat to do, in order:\n")
	for i, s := range all {
		w.line(2, fmt.Sprintf("%d. %s", i+1, s))
	}
}

package report

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"backstop/audit"
)

// Limits of who carries a plug-in's output. NRPE before version 3 cuts after
// 1024 bytes, within which the first line with its performance data has to end;
// Nagios cuts after 8192.
const (
	nagiosName  = 72   // bytes of a store's name in the first line
	nagiosKey   = 200  // bytes of an object's name
	nagiosLine  = 1000 // bytes of any further line, so that no name keeps the others out
	nagiosLimit = 8000 // bytes in all
)

// Nagios writes what a Nagios plug-in prints, for whatever understands that:
// Nagios, Icinga, Naemon, Centreon, Checkmk, Zabbix. The status word is the
// verdict. The first line is short and ends with the performance data; the lines
// after it are the stores and what was found, the worst first, as far as they
// are carried. What to do is too long for it.
func Nagios(w io.Writer, r audit.Report, o Options) error {
	head := "BACKSTOP " + string(r.Verdict) + ": " + worst(r) + summary(r) + " | " + perfdata(r) + "\n"
	const rest = "(%s left out, for length)\n"
	room := nagiosLimit - len(head) - len(rest) - 20
	var b strings.Builder
	b.WriteString(head)
	lines := nagiosLines(r, o)
	for i, line := range lines {
		if room -= len(line) + 1; room < 0 {
			fmt.Fprintf(&b, rest, audit.Plural(len(lines)-i, "line"))
			break
		}
		b.WriteString(line + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// worst names the store to look at first: a pager may show no more.
func worst(r audit.Report) string {
	if len(r.Stores) == 0 || r.Stores[0].Verdict == audit.OK {
		return ""
	}
	s := r.Stores[0]
	return plain(stateName(s)) + " " + cut(plain(s.Store.URL), nagiosName) + "; "
}

// cut shortens text to a number of bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "..."
}

// nagiosLines are the lines of the long output.
func nagiosLines(r audit.Report, o Options) []string {
	var lines []string
	add := func(format string, args ...any) {
		lines = append(lines, cut(plain(fmt.Sprintf(format, args...)), nagiosLine))
	}
	finding := func(f audit.Finding) {
		s := fmt.Sprintf("- %s %s", strings.ToUpper(string(f.Severity)), f.Rule)
		if f.Key != "" {
			s += " " + cut(plain(f.Key), nagiosKey)
		}
		if f.VersionID != "" {
			s += " version " + cut(plain(f.VersionID), nagiosKey)
		}
		add("%s: %s", s, f.Message)
	}
	for _, s := range shown(r, o) {
		add("%s %s %s%s, %s", s.Verdict, stateName(s), s.Store.URL, role(s), snapshots(s))
		for _, f := range ofStore(s.Findings) {
			finding(f)
		}
	}
	for _, b := range buckets(r.Stores) {
		add("bucket %s", b.name)
		for _, f := range b.findings {
			finding(f)
		}
	}
	for _, p := range r.Problems {
		add("not audited: %s: %s", p.Target, p.Message)
	}
	return lines
}

// plain makes text safe within a plug-in's output. Whatever would end the text
// or the line there is written by its number; so is a backslash, because \n is
// a line break in results that are submitted passively, and so is what HTML or
// the shell command of a notification could take for its own. A backquote becomes
// a quote.
func plain(s string) string {
	var b strings.Builder
	for _, c := range s {
		if c == '`' { // around commands in our own words, which must stay readable
			c = '\''
		}
		if unsafeRune(c) || strings.ContainsRune("|\\<>$", c) {
			fmt.Fprintf(&b, "[U+%04X]", c)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// perfdata are the numbers of the run, each 'label'=value[UOM];warn;crit;min;max.
// There are no thresholds: no single number makes the verdict.
//
// newest_snapshot_age is that of the store whose newest snapshot is the oldest,
// among the newest_snapshot_stores stores in which one was seen. It is left out
// where there is none.
func perfdata(r audit.Report) string {
	var oldest time.Duration
	with := 0
	for _, s := range r.Stores {
		if age, ok := newestAge(s); ok {
			oldest = max(oldest, age)
			with++
		}
	}
	data := []string{
		fmt.Sprintf("'stores'=%d;;;0", r.Total),
		fmt.Sprintf("'checked'=%d;;;0;%d", r.Checked, r.Total),
	}
	for _, s := range severities {
		data = append(data, fmt.Sprintf("'%s'=%d;;;0", s, count(r, s)))
	}
	if with > 0 {
		data = append(data, fmt.Sprintf("'newest_snapshot_age'=%ds;;;0", oldest/time.Second))
	}
	data = append(data,
		fmt.Sprintf("'newest_snapshot_stores'=%d;;;0;%d", with, r.Total),
		fmt.Sprintf("'requests'=%d;;;0", requests(r)),
		fmt.Sprintf("'bytes'=%dB;;;0", r.Usage.Bytes))
	return strings.Join(data, " ")
}

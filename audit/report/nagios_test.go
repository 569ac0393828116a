package report_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/audit/report"
)

// A datum is one of the performance data.
type datum struct {
	value    float64
	unit     string
	min, max string
}

// parsePerfdata reads performance data as the Monitoring Plugins guidelines have
// it: 'label'=value[UOM][;warn[;crit[;min[;max]]]], separated by spaces, where a
// label has neither a quote nor an equals sign, numbers are plain decimals, and
// warn and crit are ranges.
func parsePerfdata(s string) (map[string]datum, error) {
	all := map[string]datum{}
	for s = strings.TrimPrefix(s, " "); s != ""; s = strings.TrimPrefix(s, " ") {
		m := perfdatum.FindStringSubmatch(s)
		if m == nil {
			return nil, fmt.Errorf("not performance data: %q", s)
		}
		label := strings.Trim(m[1], "'")
		if _, twice := all[label]; twice {
			return nil, fmt.Errorf("the label %q twice", label)
		}
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return nil, err
		}
		d := datum{value: v, unit: m[3], min: m[6], max: m[7]}
		for bound, sign := range map[string]float64{d.min: 1, d.max: -1} {
			if b, err := strconv.ParseFloat(bound, 64); err == nil && (v-b)*sign < 0 {
				return nil, fmt.Errorf("%s=%v lies outside %s to %s", label, v, d.min, d.max)
			}
		}
		all[label] = d
		s = s[len(m[0]):]
	}
	return all, nil
}

var perfdatum = func() *regexp.Regexp {
	const (
		label  = `('[^'=\s](?:[^'=]*[^'=\s])?'|[^'=\s]+)`
		number = `-?[0-9]+(?:\.[0-9]+)?`
		unit   = `(%|c|s|ms|us|B|)`
		rang   = `(@?(?:(?:` + number + `|~)?:)?(?:` + number + `)?)`
		bound  = `(` + number + `|)`
	)
	return regexp.MustCompile(`^` + label + `=(` + number + `)` + unit + `(?:;` + rang + `(?:;` + rang + `(?:;` + bound + `(?:;` + bound + `)?)?)?)?(?: |$)`)
}()

// A parser that takes anything would prove nothing.
func TestPerfdataParser(t *testing.T) {
	for _, s := range []string{"a=1", "'a b'=1.5s;10;20;0;100", "a=1B b=2%;;@1:2 c=-3c;~:5;1:", "a=1;;;0"} {
		if _, err := parsePerfdata(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"a", "a=", "a=x", "a=U", "a=1e3", "a=1,5", "a b=1", "'a=b'=1", "'a=1", "a=1 |", "a=1;2;3;4;5;6", "a=1h", "a=-1;;;0", "a=2;;;0;1", "a=1 a=2", "a=1;x", "a = 1"} {
		if d, err := parsePerfdata(s); err == nil {
			t.Errorf("%q is taken for %v", s, d)
		}
	}
}

// split takes a plug-in's output apart as Nagios does.
func split(t *testing.T, out string) (first string, long []string, data map[string]datum) {
	t.Helper()
	if !strings.HasSuffix(out, "\n") {
		t.Errorf("the last line does not end: %q", out)
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	parts := strings.Split(lines[0], "|")
	if len(parts) != 2 {
		t.Fatalf("%d pipes in the first line, want 1: %s", len(parts)-1, lines[0])
	}
	data, err := parsePerfdata(parts[1])
	if err != nil {
		t.Errorf("%v\n%s", err, lines[0])
	}
	for _, l := range lines[1:] {
		if strings.ContainsAny(l, "|\\<>`$") {
			t.Errorf("long output with what Nagios, HTML or a shell takes for its own: %q", l)
		}
	}
	return parts[0], lines[1:], data
}

func TestNagios(t *testing.T) {
	for name, c := range map[string]struct {
		report audit.Report
		first  string
		data   map[string]datum
	}{
		"everything": {everything(hostile),
			"BACKSTOP CRITICAL: imminent s3://kops/prod/backups/etcd/main; found 5 critical, 2 unknown, 4 warning, 2 info; checked 9 of 10 stores; 2 places not audited ",
			map[string]datum{
				"stores": {10, "", "0", ""}, "checked": {9, "", "0", "10"},
				"critical": {5, "", "0", ""}, "unknown": {2, "", "0", ""}, "warning": {4, "", "0", ""}, "info": {2, "", "0", ""},
				"newest_snapshot_age": {30 * 3600, "s", "0", ""}, "newest_snapshot_stores": {7, "", "0", "10"},
				"requests": {40, "", "0", ""}, "bytes": {10000, "B", "0", ""},
			}},
		"empty": {empty(), "BACKSTOP UNKNOWN: nothing found; checked 0 of 0 stores ",
			map[string]datum{
				"stores": {0, "", "0", ""}, "checked": {0, "", "0", "0"},
				"critical": {0, "", "0", ""}, "unknown": {0, "", "0", ""}, "warning": {0, "", "0", ""}, "info": {0, "", "0", ""},
				"newest_snapshot_stores": {0, "", "0", "0"}, "requests": {0, "", "0", ""}, "bytes": {0, "B", "0", ""},
			}},
		"good": {good(), "BACKSTOP OK: nothing found; checked 1 of 1 store ",
			map[string]datum{
				"stores": {1, "", "0", ""}, "checked": {1, "", "0", "1"},
				"critical": {0, "", "0", ""}, "unknown": {0, "", "0", ""}, "warning": {0, "", "0", ""}, "info": {0, "", "0", ""},
				"newest_snapshot_age": {60, "s", "0", ""}, "newest_snapshot_stores": {1, "", "0", "1"},
				"requests": {4, "", "0", ""}, "bytes": {1000, "B", "0", ""},
			}},
	} {
		first, _, data := split(t, render(t, "nagios", c.report, report.Options{}))
		if first != c.first {
			t.Errorf("%s: first line\n%q, want\n%q", name, first, c.first)
		}
		for label, want := range c.data {
			if got, ok := data[label]; !ok || got != want {
				t.Errorf("%s: %s is %v, want %v", name, label, got, want)
			}
		}
		if len(data) != len(c.data) {
			t.Errorf("%s: %d performance data, want %d", name, len(data), len(c.data))
		}
	}
}

// A store whose listing was not seen has no age, whatever else the report has; a
// snapshot that lies ahead of the clock is no younger than now.
func TestNagiosAges(t *testing.T) {
	r := good()
	r.Stores[0].Newest.At = judged.Add(time.Hour)
	if _, _, data := split(t, render(t, "nagios", r, report.Options{})); data["newest_snapshot_age"] != (datum{0, "s", "0", ""}) {
		t.Errorf("a snapshot of the future is %v old", data["newest_snapshot_age"])
	}
	r.Stores[0].Unseen = []audit.UnseenFact{{Fact: audit.FactListing, Necessary: true}}
	_, _, data := split(t, render(t, "nagios", r, report.Options{}))
	if d, ok := data["newest_snapshot_age"]; ok || data["newest_snapshot_stores"].value != 0 {
		t.Errorf("an unseen listing gives an age: %v", d)
	}
}

// However much there is, the first line stays within what NRPE carries, the whole
// within what Nagios does, and the output says that it is cut, between two lines.
func TestNagiosLength(t *testing.T) {
	r := everything(strings.Repeat("\u202e日", 600))
	for range 8 {
		r = audit.NewReport(judged, append(r.Stores, r.Stores...), r.Problems)
	}
	r.Stores[0].Store.URL = "s3://" + strings.Repeat("日\n", 600)
	out := render(t, "nagios", r, report.Options{})
	first, long, _ := split(t, out)
	if len(long) < 5 || !strings.Contains(long[1], "control/reset-imminent") || !strings.Contains(long[1], "...: ") {
		t.Errorf("long names keep out what was found: %q", long[:min(2, len(long))])
	}
	if i := strings.Index(out, "\n"); i > 1000 || len(first) > 260 {
		t.Errorf("the first line has %d bytes, %d of them text", i, len(first))
	}
	if len(out) > 8192 {
		t.Errorf("%d bytes", len(out))
	}
	if last := long[len(long)-1]; !regexp.MustCompile(`^\(\d+ lines left out, for length\)$`).MatchString(last) {
		t.Errorf("last line %q", last)
	}
}

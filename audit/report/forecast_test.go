package report_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/rules/forecast"
	"backstop/store/etcdmanager"
)

// foretold is a forecast with everything in it. name stands wherever one quotes
// what came out of a bucket.
func foretold(name string) report.Forecast {
	day := func(n int) time.Time { return judged.Truncate(audit.Day).AddDate(0, 0, n) }
	some := forecast.Window{Known: true, Count: 3, Oldest: day(-3), Newest: day(0)}
	none := forecast.Window{Known: true}
	const created, spec = etcdmanager.CreatedPath, etcdmanager.SpecPath
	event := func(at int, actor forecast.Actor, action forecast.Action) forecast.Event {
		return forecast.Event{At: day(at), Actor: actor, Rule: name, Action: action, State: etcdmanager.Armed, Window: some, Severity: audit.Info}
	}
	both := func(e forecast.Event) forecast.Event { e.Paths = []string{created, spec}; return e }
	snapshots := func(e forecast.Event, n int, on bool) forecast.Event {
		e.Snapshots = &forecast.Snapshots{Count: n, First: day(-3), Last: day(-1), Continues: on}
		return e
	}
	hides, archives := both(event(-1, forecast.ByLifecycle, forecast.Hides)), both(event(2, forecast.ByLifecycle, forecast.Archives))
	hides.Overdue, hides.Late, hides.Until, hides.Severity, hides.Meaning, hides.Unsure = true, day(1), day(30), audit.Critical, "What follows of "+name, name
	archives.Class = name
	old := both(event(3, forecast.ByLifecycle, forecast.Destroys))
	old.Versions, old.To = 4, day(9)
	pruned := snapshots(event(4, forecast.ByLifecycle, forecast.Deletes), 2, true)
	pruned.IfReset, pruned.Severity = &none, audit.Warning
	events := []forecast.Event{hides, archives, old, pruned,
		snapshots(event(5, forecast.ByRetention, forecast.Deletes), 7, true), snapshots(event(6, forecast.ByRetention, forecast.Deletes), 1, false),
		both(event(7, forecast.ByLifecycle, forecast.Destroys)), both(event(7, forecast.ByLifecycle, forecast.Unmarks)),
		event(8, forecast.ByEtcdManager, forecast.Resets), event(8, forecast.ByEtcdManager, forecast.Forms),
		event(9, forecast.ByRetention, forecast.WouldLose), event(9, forecast.ByLifecycle, forecast.Loses)}
	timeline := func(prefix string, v audit.Verdict) forecast.Timeline {
		return forecast.Timeline{
			Store: audit.Store{URL: "s3://" + name + "/" + prefix, Bucket: name, Prefix: prefix}, From: judged, To: day(700), Verdict: v,
			State: etcdmanager.Armed, Window: some, FinalState: etcdmanager.Running, FinalWindow: none,
			Retention: forecast.Retention{Hourly: 7 * audit.Day, Daily: 90 * audit.Day, By: "kops"},
			Control:   []forecast.Fate{{Path: created, Presence: "missing", Rule: name, Action: forecast.Hides}, {Path: spec, Presence: "present"}},
			Rules:     []forecast.Effect{{Rule: name, Control: []string{created}, Snapshots: 3, Due: 1, First: day(1)}},
			Events:    events, NoReturn: day(2), Reset: day(8), Lost: day(9),
			At:      &forecast.Standing{At: day(50), State: etcdmanager.Running, Window: some, IfReset: &none},
			Gaps:    []forecast.Gap{{Fact: audit.FactLifecycle, Necessary: true, Reason: "refused: " + name, Means: "It is not told."}, {Fact: audit.FactTags, Reason: name, Means: "Nor this."}},
			Assumes: []string{"that " + name},
		}
	}
	quiet := timeline("quiet", audit.OK)
	quiet.State, quiet.NoReturn, quiet.Reset, quiet.Lost, quiet.At, quiet.Gaps, quiet.Events = etcdmanager.Running, time.Time{}, time.Time{}, time.Time{}, nil, nil, []forecast.Event{}
	quiet.Control = []forecast.Fate{{Path: created, Presence: "present"}, {Path: spec, Presence: "present"}}
	return report.NewForecast([]forecast.Timeline{quiet, timeline("main", audit.VerdictCritical)},
		[]audit.Problem{{Target: "s3://" + name, Cause: audit.CauseNoBucket, Message: "no such bucket: " + name, Do: "Check " + name}}, name)
}

func foretell(t testing.TB, format string, f report.Forecast, o report.Options) string {
	t.Helper()
	write, err := report.ForecastNamed(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := write(&b, f, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestForecastGolden(t *testing.T) {
	for _, format := range report.ForecastNames() {
		golden(t, "foretold."+format, foretell(t, format, foretold("NAME"), report.Options{}))
		golden(t, "foretold-nothing."+format, foretell(t, format, report.NewForecast(nil, nil, ""), report.Options{}))
	}
	if _, err := report.ForecastNamed("nagios"); err == nil || !strings.Contains(err.Error(), "json, markdown, text") {
		t.Errorf("of no format: %v", err)
	}
}

// A name can do nothing to what people read, and writes no Markdown.
func TestForecastOfHostileNames(t *testing.T) {
	for _, format := range []string{"text", "markdown"} {
		got := foretell(t, format, foretold(hostile), report.Options{})
		for _, c := range got {
			if c != '\n' && (!unicode.IsPrint(c) || unicode.Is(unicode.Bidi_Control, c) || c == unicode.ReplacementChar) {
				t.Errorf("%s lets %U through", format, c)
			}
		}
		if n, want := strings.Count(got, "\n"), strings.Count(foretell(t, format, foretold("harmless"), report.Options{}), "\n"); n != want {
			t.Errorf("%s has %d lines with hostile names and %d with harmless ones", format, n, want)
		}
	}
	o := outlineOf(t, foretell(t, "markdown", foretold(hostile), report.Options{}))
	if plain := outlineOf(t, foretell(t, "markdown", foretold("harmless"), report.Options{})); !slices.Equal(o.headings, plain.headings) || o.blocks != plain.blocks {
		t.Errorf("hostile names make the structure\n%v, harmless ones\n%v", o, plain)
	}
	for _, cells := range o.tables {
		if cells != 4 {
			t.Errorf("a row with %d cells", cells)
		}
	}
}

func TestForecastSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/forecast.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []report.Forecast{foretold(hostile), report.NewForecast(nil, nil, "")} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(foretell(t, "json", f, report.Options{})))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Error(err)
		}
	}
	// Whoever reads it back has the same.
	var back report.Forecast
	text := foretell(t, "json", foretold("NAME"), report.Options{})
	if err := json.Unmarshal([]byte(text), &back); err != nil || foretell(t, "json", back, report.Options{}) != text {
		t.Errorf("read back it differs (%v)", err)
	}
}

func TestForecastQuiet(t *testing.T) {
	for _, format := range []string{"text", "markdown"} {
		got := foretell(t, format, foretold("x"), report.Options{Quiet: true})
		if strings.Contains(got, "quiet") || !strings.Contains(got, "main") {
			t.Errorf("%s shows\n%s", format, got)
		}
	}
}

func TestForecastWriteErrors(t *testing.T) {
	for _, format := range report.ForecastNames() {
		write, _ := report.ForecastNamed(format)
		if write(broken{}, foretold("x"), report.Options{}) == nil {
			t.Errorf("%s does not tell that nothing could be written", format)
		}
	}
}

// A reset that has happened is not foretold.
func TestForecastTellsAPastReset(t *testing.T) {
	past := report.Forecast{To: judged.AddDate(2, 0, 0), Stores: []forecast.Timeline{{From: judged, To: judged.AddDate(2, 0, 0), Reset: judged.Add(-time.Hour), State: etcdmanager.Running}}}
	got := foretell(t, "text", past, report.Options{})
	if !strings.Contains(got, "1 cluster reset already") || strings.Contains(got, "will be reset") {
		t.Errorf("it says\n%s", got)
	}
}

package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/rules/forecast"
)

// lintOptions are the rules that lintEverything names, and one that is silent.
func lintOptions() report.LintOptions {
	return report.LintOptions{Version: "1.2.3", Rules: []report.LintRule{
		{ID: "lint/expire-control", Title: "a rule deletes control files", Severity: audit.Critical, Page: "# lint/expire-control\n\nA page.\n"},
		{ID: "lint/undo-window-short", Title: "too soon", Severity: audit.Warning, Page: "# lint/undo-window-short\n"},
		{ID: "lint/store-not-seen", Title: "not seen", Severity: audit.Unsure, Page: "# lint/store-not-seen\n"},
		{ID: "lint/id-missing", Title: "no ID", Severity: audit.Info, Page: "# lint/id-missing\n"},
		{ID: "lint/silent", Title: "silent", Severity: audit.Critical, Page: "# lint/silent\n"},
	}}
}

// lintEverything is a lint report with everything in it. name stands wherever a
// report quotes what came out of a file or a bucket.
func lintEverything(name string) audit.LintReport {
	found := func(rule string, s audit.Severity, file string, line int, message string) audit.LintFinding {
		f := audit.LintFinding{Finding: audit.Found(s, "%s", message), File: file, Line: line, Source: "aws_s3_bucket_lifecycle_configuration." + name, LifecycleRule: name}
		f.Rule = rule
		return f
	}
	critical := found("lint/expire-control", audit.Critical, "plan.json", 12, "rule `"+name+"`, prefix ``, matches 2 control files, 514 snapshots, 3 clusters: it will hide them.")
	critical.Finding = critical.Saw("hidden", "no rule").Because("in the store %s", name).Todo("Do NOT apply it.", "Narrow "+name)
	critical.Evidence = append(critical.Evidence, audit.Evidence{Rule: "lint/undo-window-short", Message: "7 days"})
	unsure := audit.LintFinding{Finding: audit.Found(audit.Unsure, "the store %s could not be looked at", name)}
	unsure.Rule = "lint/store-not-seen"
	fate := func(what string) audit.Fact[audit.Fate] {
		return audit.Is(audit.Fate{What: what, At: judged, Rule: name})
	}
	return audit.NewLintReport(audit.LintReport{
		Judged: judged,
		Files: []audit.LintFile{
			{Name: "plan.json", Format: "terraform-plan", Objects: 3, Configurations: []audit.LintConfiguration{{
				Source: "aws_s3_bucket_lifecycle_configuration." + name, Line: 12, Bucket: name, Change: "update", Rules: 2, Stores: []string{"s3://" + name}, Unknown: []string{"rule[0].status"},
				Radius:  []audit.Radius{{Rule: name, Prefix: "", Action: "expires after 30 days", Acts: true, ControlFiles: 2, Snapshots: 514, Stores: 3, Clusters: 3, DueAtOnce: 7}, {Rule: "b", Prefix: name, Conditions: "tag " + name + "=x", Action: "moves to GLACIER", Unsure: true}},
				Effects: []audit.Effect{{Store: "s3://x", Key: name, Before: audit.None[audit.Fate](), After: fate("hidden by a delete marker")}, {Store: "s3://x", Key: "b", After: fate("deleted for good")}, {Key: "silent", Before: audit.None[audit.Fate](), After: audit.None[audit.Fate]()}},
			}}},
			{Name: "lifecycle.xml", Format: "aws-xml", Configurations: []audit.LintConfiguration{{Change: "proposed", Rules: 1, Stores: []string{}, Radius: []audit.Radius{}, Effects: []audit.Effect{}}, {Source: "B", Change: "proposed", Stores: []string{}, Radius: []audit.Radius{}, Effects: []audit.Effect{}}}},
		},
		Stores: []audit.LintStore{{URL: "s3://" + name, State: "running", Snapshots: 514, Looked: true}, {URL: "s3://bare/" + name}},
		Findings: []audit.LintFinding{
			found("lint/id-missing", audit.Info, "plan.json", 0, name+" has no ID"), unsure,
			found("lint/undo-window-short", audit.Warning, "plan.json", 14, "rule "+name+" is short"), critical,
		},
		Timelines: []audit.LintTimeline{
			{Store: "s3://" + name, File: "plan.json", Source: name, Assumes: true, Before: audit.Is(audit.Future{Until: judged, Final: "6 snapshots"}),
				After: audit.Is(audit.Future{Until: judged, Final: "NOTHING", Steps: []audit.LintStep{
					{At: judged, What: "lifecycle rule " + name + " hides it", State: "armed", Meaning: "Backups stop.", Severity: audit.Critical}, {At: judged, Overdue: true, What: "it goes on", State: "armed", Severity: audit.Info}}})},
			{Store: "s3://same/" + name, File: "lifecycle.xml", Before: audit.Is(audit.Future{Until: judged, Final: "1 snapshot"}), After: audit.Is(audit.Future{Until: judged, Final: "1 snapshot"})},
			{Store: "s3://blind/" + name, File: "lifecycle.xml", Before: audit.Unknown[audit.Future](audit.Why{Reason: "access denied to " + name}), After: audit.Is(audit.Future{Until: judged, Final: "1 snapshot"})},
		},
		Problems: []audit.Problem{{Target: "s3://gone/" + name, Cause: audit.CauseNoBucket, Message: "there is no such bucket " + name, Do: "Check " + name}},
	})
}

func lintRender(t testing.TB, format string, r audit.LintReport, o report.LintOptions) string {
	t.Helper()
	f, err := report.LintNamed(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestLintFormats(t *testing.T) {
	for _, format := range report.LintNames() {
		golden(t, "lint."+format, lintRender(t, format, lintEverything("expire-30d"), lintOptions()))
		golden(t, "lint-hostile."+format, lintRender(t, format, lintEverything(hostile), lintOptions()))
		nothing := audit.NewLintReport(audit.LintReport{Judged: judged})
		golden(t, "lint-nothing."+format, lintRender(t, format, nothing, lintOptions()))
	}
	if _, err := report.LintNamed("yaml"); err == nil || !strings.Contains(err.Error(), "sarif") {
		t.Errorf("%v", err)
	}
}

// The SARIF is as OASIS's schema has it.
func TestLintSARIFSchema(t *testing.T) {
	body, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	for what, r := range map[string]audit.LintReport{"everything": lintEverything("x"), "hostile names": lintEverything(hostile), "nothing": audit.NewLintReport(audit.LintReport{})} {
		out, err := jsonschema.UnmarshalJSON(strings.NewReader(lintRender(t, "sarif", r, lintOptions())))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(out); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, bad := range []string{`{"version":"2.1.0","runs":[{"results":[]}]}`, `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"level":"fatal","message":{"text":"x"}}]}]}`} {
		out, _ := jsonschema.UnmarshalJSON(strings.NewReader(bad))
		if schema.Validate(out) == nil {
			t.Errorf("the schema accepts %s", bad)
		}
	}
}

// What code scanning needs beyond the schema: every result has a rule that is
// described, a file and a line, and a fingerprint that stays when dates and counts
// move.
func TestLintSARIFForCodeScanning(t *testing.T) {
	type run struct {
		Tool struct {
			Driver struct{ Rules []struct{ ID string } }
		}
		Results []struct {
			RuleID              string
			RuleIndex           int
			Level               string
			PartialFingerprints map[string]string
			Locations           []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI string }
					Region           struct{ StartLine int }
				}
			}
		}
	}
	parse := func(r audit.LintReport) run {
		var log struct{ Runs []run }
		if err := json.Unmarshal([]byte(lintRender(t, "sarif", r, lintOptions())), &log); err != nil {
			t.Fatal(err)
		}
		return log.Runs[0]
	}
	got := parse(lintEverything("x"))
	var levels []string
	seen := map[string]bool{}
	for _, r := range got.Results {
		levels = append(levels, r.Level)
		if got.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("%s has the index of %s", r.RuleID, got.Tool.Driver.Rules[r.RuleIndex].ID)
		}
		if at := r.Locations[0].PhysicalLocation; at.ArtifactLocation.URI != "plan.json" || at.Region.StartLine < 1 {
			t.Errorf("%+v", r)
		}
		seen[r.PartialFingerprints["backstop/v1"]] = true
	}
	if want := []string{"error", "error", "warning", "note"}; !slices.Equal(levels, want) || len(seen) != 4 {
		t.Errorf("levels %q, %d fingerprints", levels, len(seen))
	}
	moved := lintEverything("x")
	moved.Findings[0].Message, moved.Findings[0].Line = "other words", 99
	if a, b := got.Results[0].PartialFingerprints, parse(moved).Results[0].PartialFingerprints; a["backstop/v1"] != b["backstop/v1"] {
		t.Error("other words make another fingerprint")
	}
}

func TestSARIFNamesOfFiles(t *testing.T) {
	for name, want := range map[string]string{"plan.json": "plan.json", "./a/b.json": "a/b.json", "/tmp/plan.json": "file:///tmp/plan.json", "a b.json": "a%20b.json", "a:b": "./a:b"} {
		r := audit.NewLintReport(audit.LintReport{Files: []audit.LintFile{{Name: name}}})
		if out := lintRender(t, "sarif", r, lintOptions()); !strings.Contains(out, `"uri": "`+want+`"`) {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// JUnit: every rule is a case of its file; what fails the build is a failure, what
// could not be told an error; the counts are right.
func TestLintJUnit(t *testing.T) {
	type suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Errors   int    `xml:"errors,attr"`
			Cases    []struct {
				Name     string `xml:"name,attr"`
				Failures []struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
				Errors []struct{} `xml:"error"`
				Output string     `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	parse := func(r audit.LintReport, o report.LintOptions) suites {
		var s suites
		if err := xml.Unmarshal([]byte(lintRender(t, "junit", r, o)), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := parse(lintEverything(hostile), lintOptions())
	if s.Tests != 11 || s.Failures != 2 || s.Errors != 1 || len(s.Suites) != 3 {
		t.Errorf("%d tests, %d failures, %d errors in %d suites", s.Tests, s.Failures, s.Errors, len(s.Suites))
	}
	if plan := s.Suites[0]; plan.Name != "plan.json" || plan.Tests != 5 || plan.Failures != 2 || len(plan.Cases[0].Failures) != 1 || !strings.Contains(plan.Cases[3].Output, "has no ID") || len(plan.Cases[4].Failures) != 0 {
		t.Errorf("%+v", plan)
	}
	if own := s.Suites[2]; own.Name != "backstop" || own.Tests != 1 || own.Errors != 1 || len(own.Cases[0].Errors) != 2 {
		t.Errorf("%+v", own)
	}
	o := lintOptions()
	o.FailOn = audit.VerdictCritical
	if s := parse(lintEverything("x"), o); s.Failures != 1 || s.Errors != 1 || !strings.Contains(s.Suites[0].Cases[1].Output, "is short") {
		t.Errorf("with --fail-on critical: %+v", s)
	}
}

// A forecast is told as what lifecycle rules and the control loop do.
func TestFutureOf(t *testing.T) {
	when := func(d int) time.Time { return judged.AddDate(0, 0, d) }
	line := forecast.Timeline{To: when(700), Reset: when(31), NoReturn: when(30), Events: []forecast.Event{
		{At: when(10), Actor: forecast.ByRetention, Action: forecast.Deletes, Snapshots: &forecast.Snapshots{Count: 3}, State: "running"},
		{At: when(30), Late: when(31), Actor: forecast.ByLifecycle, Rule: "r", Action: forecast.Hides, Paths: []string{"control/etcd-cluster-created"}, State: "imminent", Severity: audit.Critical, Meaning: "It is over.", Unsure: "tags not read"},
		{At: when(31), Actor: forecast.ByEtcdManager, Action: forecast.Resets, State: "running", Severity: audit.Critical},
	}}
	f := report.FutureOf(line)
	if !f.IsSet() || len(f.Value.Steps) != 2 || !f.Value.Reset.Equal(when(31)) || !f.Value.NoReturn.Equal(when(30)) {
		t.Fatalf("%+v", f)
	}
	s := f.Value.Steps[0]
	for _, words := range []string{`lifecycle rule "r" hides etcd-cluster-created`, "because S3 acts late", "assuming the worse: tags not read"} {
		if !strings.Contains(s.What, words) {
			t.Errorf("%q does not say %q", s.What, words)
		}
	}
	if s.State != "imminent" || s.Meaning != "It is over." || s.Severity != audit.Critical || !strings.Contains(f.Value.Steps[1].State, "as a new, empty cluster") {
		t.Errorf("%+v", f.Value.Steps)
	}
	line.Gaps = []forecast.Gap{{Fact: audit.FactListing, Reason: "access denied"}, {Fact: audit.FactCreated, Necessary: true, Reason: "access denied"}}
	if f := report.FutureOf(line); f.Seen() || !strings.Contains(f.WhyUnseen().Reason, "created was not seen: access denied") {
		t.Errorf("%+v", f)
	}
}

// Hostile names do not change what a forge shows.
func TestLintMarkdownStructure(t *testing.T) {
	hostileMD := lintRender(t, "markdown", lintEverything(hostile), lintOptions())
	o, plain := outlineOf(t, hostileMD), outlineOf(t, lintRender(t, "markdown", lintEverything("harmless"), lintOptions()))
	if !slices.Equal(o.headings, plain.headings) || !slices.Equal(o.tables, plain.tables) || !slices.Equal(o.ordered, plain.ordered) || o.bullets != plain.bullets {
		t.Errorf("hostile names make\n%+v, harmless ones\n%+v\n%s", o, plain, hostileMD)
	}
	if i := strings.IndexAny(hostileMD, "<>"); i >= 0 {
		t.Errorf("HTML at %q", hostileMD[i:min(len(hostileMD), i+40)])
	}
	if quiet := lintRender(t, "markdown", lintEverything("x"), report.LintOptions{Options: report.Options{Quiet: true}}); strings.Contains(quiet, "Information") || !strings.Contains(quiet, "Blast radius") {
		t.Error(quiet)
	}
}

// The table of control files is bounded, so that the comment stays one that a
// forge takes.
func TestLintMarkdownIsBounded(t *testing.T) {
	r := lintEverything("x")
	e := r.Files[0].Configurations[0].Effects[0]
	r.Files[0].Configurations[0].Effects = slices.Repeat([]audit.Effect{e}, 60)
	md := lintRender(t, "markdown", r, lintOptions())
	r.Timelines, r.Unfollowed = slices.Repeat(r.Timelines[:1], 25), 7
	if md := lintRender(t, "markdown", r, lintOptions()); strings.Count(md, "Backups stop.") != 20 || !strings.Contains(md, "And 5 timelines more, which -o json has. Not followed: 7 stores more.") {
		t.Error(md)
	}
	if out := lintRender(t, "text", r, lintOptions()); strings.Count(out, "Backups stop.") != 20 || !strings.Contains(out, "And 5 timelines more") {
		t.Error(out)
	}
	if n := strings.Count(md, "hidden by a delete marker on"); n != 50 || !strings.Contains(md, "And 10 files more") {
		t.Errorf("%d rows\n%s", n, md)
	}
}

func TestLintTextIsSafeAndQuiet(t *testing.T) {
	out := lintRender(t, "text", lintEverything(hostile), lintOptions())
	if strings.ContainsAny(out, "\x1b\u202e\x00") {
		t.Errorf("%q", out)
	}
	quiet := lintRender(t, "text", lintEverything("x"), report.LintOptions{Options: report.Options{Quiet: true}})
	if strings.Contains(quiet, "lint/id-missing") || !strings.Contains(quiet, "lint/expire-control") {
		t.Error(quiet)
	}
	if colored := lintRender(t, "text", lintEverything("x"), report.LintOptions{Options: report.Options{Color: true}}); !strings.Contains(colored, "\x1b[1;31mCRITICAL") {
		t.Error(colored)
	}
}

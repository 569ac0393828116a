package report_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"backstop/audit"
	"backstop/audit/report"
)

var update = flag.Bool("update", false, "rewrite golden files")

// hostile is a name, or a message with a name in it, as whoever may write to the
// bucket could choose it.
const hostile = "a<script>alert(1)</script>|b `tick` x``y \"q\" 'q' \\n \r\n\t\x00\x1b[31m \u202egnp.exe\u2069\u200f \u2028 " +
	"@org/team #1 !2 https://evil.example/?a=1&b=2 www.evil.example [l](javascript:alert(1)) ![i](//evil.example/i.png) " +
	"<https://evil.example> **b** _u_ ~~s~~ $x$ $(reboot) :tada: &lt; {{.Verdict}} é 日本 \xff"

var judged = time.Date(2026, 11, 30, 18, 7, 10, 0, time.UTC)

// everything is a report with everything in it. name stands wherever a report
// quotes what came out of a bucket.
func everything(name string) audit.Report {
	usage := audit.Usage{Requests: map[string]int{"GetObject": 3, "ListObjectsV2": 1}, Bytes: 1000}
	store := func(bucket, prefix, state string, v audit.Verdict, age time.Duration, found ...audit.Finding) audit.StoreReport {
		s := audit.StoreReport{
			Store:   audit.Store{URL: "s3://" + bucket + "/" + prefix, Bucket: bucket, Prefix: prefix, Etcd: "main"},
			Verdict: v, State: audit.StoreState{Name: state}, Judged: judged, Observed: judged.Add(-time.Second),
			Findings: []audit.Finding{}, Usage: usage,
			Measures: audit.Measures{Began: judged.Add(-2 * time.Second), Interval: 15 * time.Minute},
		}
		if age > 0 {
			s.Snapshots, s.Newest = 12, &audit.Newest{Name: "2026-11-30T18:00:00Z-000001", At: judged.Add(-age)}
		}
		for _, f := range found {
			f.Store = s.Store.URL
			s.Findings = append(s.Findings, f)
		}
		return s
	}
	found := func(rule string, s audit.Severity, format string, args ...any) audit.Finding {
		f := audit.Found(s, format, args...)
		f.Rule = rule
		return f
	}
	shared := found("bucket/unversioned", audit.Warning, "versioning of the bucket is suspended: a control file that is deleted is gone for good").
		Saw("versioning suspended", "versioning enabled").Todo("Enable versioning.")
	shared.Scope = "bucket"
	blind := found("lifecycle/unseen", audit.Unsure, "the lifecycle rules could not be seen: %s", name)
	blind.Scope = "bucket"

	imminent := found("control/reset-imminent", audit.Critical, "%s is missing and etcd-cluster-spec is there: put it back NOW", name).
		About(name).Saw("created missing, "+name, "both control files").
		Because("the newest snapshot is %s", name).
		Todo("Put etcd-cluster-created back FIRST.", "Do NOT run `kops update cluster --yes` until this is done ("+name+").", "3. Look at "+name,
			"- four", "+ five", "# six", "> seven", "    eight", "```", "--- ten", "Eleven, the last.")
	imminent.VersionID = name
	control := []audit.ControlFile{
		{File: "etcd-cluster-created", State: audit.Unset, Expires: audit.None[time.Time]()},
		{File: "etcd-cluster-spec", State: audit.Set, LastModified: judged.Add(-time.Hour), Expires: audit.Is(judged.Add(time.Hour))},
	}
	imminent.Evidence = append(imminent.Evidence, audit.Evidence{Rule: "control/never-initialised", Message: name})
	armed := store("kops", name, "armed", audit.VerdictCritical, 30*time.Hour,
		found("control/reset-armed", audit.Critical, "both control files are missing"), shared)
	armed.State.RestorePending = true
	unseen := store("other", "prod/backups/etcd/main", "unknown", audit.VerdictUnknown, 0,
		found("audit/blind", audit.Unsure, "the listing was refused"), blind)
	unseen.Unseen = []audit.UnseenFact{{Fact: audit.FactListing, Necessary: true,
		Why: audit.Why{Cause: audit.CauseDenied, Reason: "LIST was refused: " + name, Permission: "s3:ListBucket"}}}
	elsewhere := store("kops", "copy/backups/etcd/main", "running", audit.VerdictWarning, 5*time.Minute, shared)
	elsewhere.Store.Endpoint = "https://s3.example.org"
	elsewhere.Role = audit.Replica

	first := store("kops", "prod/backups/etcd/main", "imminent", audit.VerdictCritical, 3*time.Minute, imminent, shared,
		found("snapshot/large", audit.Info, "a snapshot has grown"))
	first.Control, first.SnapshotBytes, first.Oldest = control, 1200, &audit.Newest{Name: "2026-11-29T18:00:00Z-000001", At: judged.Add(-24 * time.Hour)}
	first.Usage.Errors = map[string]int{"throttled": 1}
	unseen.Control = []audit.ControlFile{{File: "etcd-cluster-created", State: audit.Unseen, Expires: audit.Unknown[time.Time](unseen.Unseen[0].Why)}}

	return audit.NewReport(judged, []audit.StoreReport{
		first, armed, unseen, elsewhere,
		store("kops", "latent/backups/etcd/main", "latent", audit.VerdictCritical, time.Minute, found("control/spec-missing", audit.Critical, "the spec is missing")),
		store("kops", "stuck/backups/etcd/main", "stuck", audit.VerdictCritical, time.Minute, found("control/spec-missing", audit.Critical, "the spec is missing")),
		store("kops", "blocked/backups/etcd/main", "blocked", audit.VerdictCritical, time.Minute, found("control/blocked", audit.Critical, "the queue blocks")),
		store("kops", "new/backups/etcd/main", "uninitialised", audit.VerdictWarning, 0, found("snapshot/none", audit.Warning, "there is no snapshot")),
		store("kops", "born/backups/etcd/main", "bootstrapping", audit.OK, 0),
		store("kops", "good/backups/etcd/main", "running", audit.OK, time.Minute, found("snapshot/large", audit.Info, "a snapshot has grown")),
	}, []audit.Problem{
		{Target: "s3://nobucket", Cause: audit.CauseNoBucket, Message: "the bucket does not exist"},
		{Target: name, Cause: audit.CauseNoStore, Message: "no store is there: " + name, Do: "Look for " + name},
	})
}

// empty is the report of an audit that looked at nothing.
func empty() audit.Report { return audit.NewReport(judged, nil, nil) }

// good is a report in which all is well.
func good() audit.Report {
	r := everything("x")
	last := r.Stores[slices.IndexFunc(r.Stores, func(s audit.StoreReport) bool { return strings.Contains(s.Store.URL, "good") })]
	last.Findings = []audit.Finding{}
	return audit.NewReport(judged, []audit.StoreReport{last}, nil)
}

func render(t testing.TB, format string, r audit.Report, o report.Options) string {
	t.Helper()
	f, err := report.Named(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f(&b, r, o); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String()
}

// What every format makes of it, byte for byte. The pages are in testdata.
func TestGolden(t *testing.T) {
	for _, format := range report.Names() {
		for name, r := range map[string]audit.Report{"everything": everything(hostile), "empty": empty(), "good": good()} {
			golden(t, name+"."+format, render(t, format, r, report.Options{}))
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; make it with: go test ./audit/report -update", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if that is right: go test ./audit/report -update\n--- got\n%s\n--- want\n%s", name, got, want)
	}
}

// The report that the other tests are made with has everything in it.
func TestEverythingIsInIt(t *testing.T) {
	r := everything(hostile)
	has := map[string]bool{}
	for _, s := range r.Stores {
		has["verdict "+string(s.Verdict)] = true
		has["state "+s.State.Name] = true
		has[fmt.Sprint("pending ", s.State.RestorePending)] = true
		for _, f := range s.Findings {
			has["severity "+string(f.Severity)] = true
		}
	}
	for _, want := range []string{
		"verdict OK", "verdict WARNING", "verdict UNKNOWN", "verdict CRITICAL",
		"severity info", "severity warning", "severity unknown", "severity critical", "pending true",
		"state running", "state bootstrapping", "state uninitialised", "state unknown", "state latent", "state stuck", "state blocked", "state armed", "state imminent",
	} {
		if !has[want] {
			t.Errorf("no %s", want)
		}
	}
}

// A name can do nothing to a format for people: no control character and no mark
// that turns the direction of writing comes through, and no line more than for a
// harmless name.
func TestHostileNames(t *testing.T) {
	for _, format := range report.Names() {
		if format == "json" {
			continue // for programs
		}
		got := render(t, format, everything(hostile), report.Options{})
		for _, c := range got {
			if c != '\n' && (!unicode.IsPrint(c) || unicode.Is(unicode.Bidi_Control, c) || c == unicode.ReplacementChar) {
				t.Errorf("%s lets %U through", format, c)
			}
		}
		if n, want := strings.Count(got, "\n"), strings.Count(render(t, format, everything("harmless"), report.Options{}), "\n"); n != want {
			t.Errorf("%s has %d lines with hostile names and %d with harmless ones", format, n, want)
		}
	}
}

// unseen is a report in which no fact whatever was seen.
func unseen() audit.Report {
	r := good()
	for _, f := range audit.Facts {
		r.Stores[0].Unseen = append(r.Stores[0].Unseen, audit.UnseenFact{Fact: f, Necessary: f.IsNecessary(), Why: audit.Why{Cause: audit.CauseDenied, Reason: "refused"}})
	}
	return r
}

func TestJSONIsOfTheSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]audit.Report{"everything": everything(hostile), "empty": empty(), "good": good(), "unseen": unseen()} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(render(t, "json", r, report.Options{})))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What concerns a bucket is said once, with the number of its stores; a bucket of
// the same name elsewhere is another one.
func TestBucketFindingsOnce(t *testing.T) {
	for _, format := range []string{"text", "markdown", "nagios", "html"} {
		got := render(t, format, everything("x"), report.Options{})
		if n := strings.Count(got, "bucket/unversioned"); n != 2 {
			t.Errorf("%s: bucket/unversioned stands %d times, want once for each of two buckets\n%s", format, n, got)
		}
		if n := strings.Count(got, "(concerns 2 stores)"); n != 1 {
			t.Errorf("%s: %d findings concern 2 stores, want 1", format, n)
		}
		for _, want := range []string{"kops at AWS", "kops at https://s3.example.org"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no bucket is %q", format, want)
			}
		}
	}
}

// The worst comes first, and in the formats that one begins to read at the top
// the verdict before it.
func TestWorstFirst(t *testing.T) {
	for _, format := range []string{"text", "markdown", "nagios", "html"} {
		r := everything("x")
		got := render(t, format, r, report.Options{})
		at := -1
		for _, s := range r.Stores {
			i := strings.Index(got, s.Store.URL)
			if i < at {
				t.Errorf("%s: %s stands before a worse one", format, s.Store.URL)
			}
			at = i
		}
		if v := strings.Index(got, "CRITICAL"); format != "text" && v > strings.Index(got, r.Stores[0].Store.URL) {
			t.Errorf("%s: the verdict is not first", format)
		}
	}
}

func TestQuiet(t *testing.T) {
	for _, format := range []string{"text", "markdown", "nagios", "html"} {
		r := everything("x")
		got := render(t, format, r, report.Options{Quiet: true})
		for _, s := range r.Stores {
			if shown := strings.Contains(got, s.Store.URL); shown != (s.Verdict != audit.OK) {
				t.Errorf("%s: store with verdict %s shown: %t", format, s.Verdict, shown)
			}
		}
		if count := "found 5 critical, 2 unknown, 4 warning, 2 info; checked 9 of 10 stores"; !strings.Contains(got, count) {
			t.Errorf("%s: being quiet changes the count, want %q\n%s", format, count, got)
		}
		if all := render(t, format, good(), report.Options{Quiet: true}); !strings.Contains(all, "nothing found; checked 1 of 1 store") {
			t.Errorf("%s: says nothing at all when all is well:\n%s", format, all)
		}
	}
}

func TestNamed(t *testing.T) {
	_, err := report.Named("xml")
	if err == nil || !strings.Contains(err.Error(), "html, json, markdown, nagios, text") {
		t.Errorf("error %v does not list the formats", err)
	}
}

// A format that cannot be written says so.
func TestWriteErrors(t *testing.T) {
	for name, f := range report.Formats {
		if err := f(broken{}, everything(hostile), report.Options{}); err == nil {
			t.Errorf("%s: no error from a full disk", name)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

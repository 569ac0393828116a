package notify

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/alerts"
	"backstop/alerts/deliver"
	"backstop/audit"
	"backstop/rules"
)

var update = flag.Bool("update", false, "rewrite golden files")

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
		t.Fatalf("%v; make it with: go test ./alerts/notify -update", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if that is right: go test ./alerts/notify -update\n--- got\n%s\n--- want\n%s", name, got, want)
	}
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func impatient() deliver.Client { return deliver.Client{Delay: time.Millisecond, Tries: 3} }

// store is the report of a store of a cluster, with these findings.
func store(cluster string, found ...audit.Finding) audit.StoreReport {
	prefix := cluster + "/backups/etcd/main"
	s := audit.StoreReport{
		Store:   audit.Store{URL: "s3://kops/" + prefix, Bucket: "kops", Prefix: prefix, Cluster: cluster, Etcd: "main"},
		Verdict: audit.OK, State: audit.StoreState{Name: "running"}, Judged: noon, Observed: noon, Findings: []audit.Finding{},
	}
	for _, f := range found {
		f.Store = s.Store.URL
		s.Findings = append(s.Findings, f)
	}
	return s
}

// blind adds facts that were not seen.
func blind(s audit.StoreReport, facts ...audit.FactName) audit.StoreReport {
	for _, f := range facts {
		s.Unseen = append(s.Unseen, audit.UnseenFact{Fact: f, Necessary: f.IsNecessary(), Why: audit.Why{Cause: audit.CauseDenied, Reason: "access denied"}})
	}
	return s
}

func finding(rule string, s audit.Severity, message string, do ...string) audit.Finding {
	f := audit.Found(s, "%s", message)
	f.Rule, f.Do = rule, do
	return f
}

func ofBucket(f audit.Finding) audit.Finding { f.Scope = "bucket"; return f }

var (
	armed  = finding("control/reset-armed", audit.Critical, "both control files are missing", "Do NOT run kops update.", "Put created back.")
	late   = finding("snapshot/late", audit.Warning, "the newest snapshot is 2h old")
	stray  = finding("control/stray", audit.Info, "an object too many")
	denied = finding("control/unseen", audit.Unsure, "created was refused")
	public = ofBucket(finding("bucket/public", audit.Critical, "everybody may read"))
)

func reportOf(stores ...audit.StoreReport) audit.Report { return audit.NewReport(noon, stores, nil) }

// A step is one round, and what one channel is told in it: "+" and a name for what
// is new, "-" for what is over, with why.
type step struct {
	name     string
	report   audit.Report
	scope    []string
	forgets  bool // the round has no memory
	want     []string
	wantOpen int
}

// told says a batch in short.
func told(b Batch) []string {
	all := []string{}
	for _, a := range b.New {
		all = append(all, "+"+strings.TrimPrefix(a.Name, "Backstop")+" "+a.Verdict+" "+strings.TrimPrefix(a.Store, "s3://kops/"))
	}
	for _, a := range b.Over {
		all = append(all, "-"+strings.TrimPrefix(a.Name, "Backstop")+": "+a.Over)
	}
	return all
}

// rounds plays steps against a channel that hears everything, through the JSON form
// of the state, as processes do that know nothing else of each other.
func rounds(t *testing.T, c Channel, steps []step) {
	t.Helper()
	var s State
	for i, st := range steps {
		r := Round{Report: st.report, Rules: rules.All, Scope: alerts.ScopeOf(st.scope, st.report), Now: noon.Add(time.Duration(i) * time.Hour), Runbooks: alerts.Runbooks, Forgetful: st.forgets}
		s = s.next(r)
		b := s.batch(c, r)
		if got := told(b); !slices.Equal(got, append([]string{}, st.want...)) || len(b.Open) != st.wantOpen {
			t.Errorf("%s: told %q with %d open, want %q with %d", st.name, got, len(b.Open), st.want, st.wantOpen)
		}
		now := map[string]Alert{}
		for _, a := range b.Open {
			now[a.ID] = a
		}
		s.Told = map[string]map[string]Alert{c.Name: now}
		body, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = ParseState(body); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRounds(t *testing.T) {
	nobucket := func(target string, stores ...audit.StoreReport) audit.Report {
		return audit.NewReport(noon, stores, []audit.Problem{{Target: target, Cause: audit.CauseNoBucket, Message: "the bucket does not exist"}})
	}
	acknowledged := late
	acknowledged.Was, acknowledged.Severity = audit.Warning, audit.Info
	const a, b = "a/backups/etcd/main", "b/backups/etcd/main"
	for name, steps := range map[string][]step{
		"raised once, and resolved": {
			{name: "armed", report: reportOf(store("a", armed, stray)), want: []string{"+ControlResetArmed critical " + a}, wantOpen: 1},
			{name: "still", report: reportOf(store("a", armed)), wantOpen: 1},
			{name: "repaired", report: reportOf(store("a")), want: []string{"-ControlResetArmed: it is no longer so"}},
			{name: "and quiet", report: reportOf(store("a"))},
			{name: "again", report: reportOf(store("a", armed)), want: []string{"+ControlResetArmed critical " + a}, wantOpen: 1},
		},
		"what cannot be seen is not repaired": {
			{name: "armed", report: reportOf(store("a", armed)), want: []string{"+ControlResetArmed critical " + a}, wantOpen: 1},
			{name: "refused", report: reportOf(blind(store("a", denied), audit.FactCreated)), wantOpen: 1},
			{name: "refused for long", report: reportOf(blind(store("a", denied), audit.FactCreated)), want: []string{"+ControlUnseen unknown " + a}, wantOpen: 2},
			{name: "another fact", report: reportOf(blind(store("a"), audit.FactObjectLock)), want: []string{"-ControlResetArmed: it is no longer so", "-ControlUnseen: it is no longer so"}},
		},
		"what its rule did without does not keep it": {
			{name: "armed, without old versions", report: reportOf(blind(store("a", armed), audit.FactControlVersions)), want: []string{"+ControlResetArmed critical " + a}, wantOpen: 1},
			{name: "refused", report: reportOf(blind(store("a", armed), audit.FactControlVersions)), wantOpen: 1},
			{name: "the listing, too", report: reportOf(blind(store("a"), audit.FactListing, audit.FactControlVersions)), wantOpen: 1},
			{name: "repaired, without old versions", report: reportOf(blind(store("a"), audit.FactControlVersions)), want: []string{"-ControlResetArmed: it is no longer so"}},
		},
		"the store is gone": {
			{name: "armed", report: reportOf(store("a", armed), store("b")), want: []string{"+ControlResetArmed critical " + a}, wantOpen: 1},
			{name: "another was looked at", report: reportOf(store("b")), scope: []string{"s3://kops/b"}, wantOpen: 1},
			{name: "one beside it was", report: reportOf(), scope: []string{"s3://kops/aa", "s3://kops/a/backups/etcd/ma"}, wantOpen: 1},
			{name: "it could not be looked at", report: nobucket("s3://kops", store("b")), wantOpen: 1},
			{name: "nor now", report: nobucket("s3://kops", store("b")), wantOpen: 2, want: []string{"+PlaceUnaudited unknown s3://kops"}},
			{name: "it is not there", report: reportOf(store("b")), wantOpen: 0,
				want: []string{"-ControlResetArmed: the store is no longer found", "-PlaceUnaudited: it is no longer so"}},
		},
		"somewhere something was not seen": {
			{name: "armed", report: reportOf(store("a", armed), store("b")), want: []string{"+ControlResetArmed critical " + a}, wantOpen: 1},
			{name: "kops's word was not read", report: audit.NewReport(noon, []audit.StoreReport{store("b")}, []audit.Problem{{Target: "s3://other/c", Cause: audit.CauseDenied}}), wantOpen: 1},
			{name: "a place was not listed", report: reportOf(store("b"), blind(store("c", denied), audit.FactListing)), wantOpen: 1},
			{name: "all was seen", report: reportOf(store("b")), want: []string{"-ControlResetArmed: the store is no longer found"}},
		},
		"gone, where only it was looked at": {
			{name: "armed", report: reportOf(store("a", armed), store("b", late)), want: []string{"+ControlResetArmed critical " + a, "+SnapshotLate warning " + b}, wantOpen: 2},
			{name: "gone", report: reportOf(), scope: []string{"s3://kops/a/backups"}, want: []string{"-ControlResetArmed: the store is no longer found"}, wantOpen: 1},
		},
		"a moment's blindness is nothing": {
			{name: "refused", report: reportOf(blind(store("a", denied), audit.FactCreated))},
			{name: "seen", report: reportOf(store("a"))},
			{name: "refused once more", report: reportOf(blind(store("a", denied), audit.FactCreated))},
			{name: "and again", report: reportOf(blind(store("a", denied), audit.FactCreated)), want: []string{"+ControlUnseen unknown " + a}, wantOpen: 1},
			{name: "seen at last", report: reportOf(store("a")), want: []string{"-ControlUnseen: it is no longer so"}},
		},
		"without memory it is told at once": {
			{name: "refused", report: reportOf(blind(store("a", denied), audit.FactCreated)), forgets: true, want: []string{"+ControlUnseen unknown " + a}, wantOpen: 1},
		},
		"unseen, and no rule says so": {
			{name: "once", report: reportOf(blind(store("a"), audit.FactListing, audit.FactQueue))},
			{name: "twice", report: reportOf(blind(store("a"), audit.FactListing)), want: []string{"+FactUnseen unknown " + a}, wantOpen: 1},
			{name: "not necessary", report: reportOf(blind(store("a"), audit.FactObjectLock)), want: []string{"-FactUnseen: it is no longer so"}},
		},
		"it gets worse, and better": {
			{name: "late", report: reportOf(store("a", finding("control/spec-mismatch", audit.Warning, "m"))), want: []string{"+ControlSpecMismatch warning " + a}, wantOpen: 1},
			{name: "worse", report: reportOf(store("a", finding("control/spec-mismatch", audit.Critical, "m"))), want: []string{"+ControlSpecMismatch critical " + a}, wantOpen: 1},
			{name: "better", report: reportOf(store("a", finding("control/spec-mismatch", audit.Warning, "m"))), want: []string{"+ControlSpecMismatch warning " + a}, wantOpen: 1},
		},
		"a bucket is told once": {
			{name: "public", report: reportOf(store("a", public), store("b", public)), want: []string{"+BucketPublic critical s3://kops"}, wantOpen: 1},
			{name: "one store sees it not", report: reportOf(store("a"), blind(store("b"), audit.FactPublicPolicy)), wantOpen: 1},
			{name: "mended", report: reportOf(store("a"), store("b")), want: []string{"-BucketPublic: it is no longer so"}},
		},
		"acknowledged": {
			{name: "late", report: reportOf(store("a", late)), want: []string{"+SnapshotLate warning " + a}, wantOpen: 1},
			{name: "ignored", report: reportOf(store("a", acknowledged)), want: []string{"-SnapshotLate: the configuration makes information of it"}},
		},
		"a place without a store": {
			{name: "once", report: nobucket("s3://none")},
			{name: "twice", report: nobucket("s3://none"), want: []string{"+PlaceUnaudited unknown s3://none"}, wantOpen: 1},
			{name: "other places", report: reportOf(store("a")), scope: []string{"s3://kops"}, wantOpen: 1},
			{name: "there", report: reportOf(store("a")), want: []string{"-PlaceUnaudited: it is no longer so"}},
		},
	} {
		t.Run(name, func(t *testing.T) { rounds(t, Channel{Name: "all"}, steps) })
	}
	const least = "critical alone"
	t.Run(least, func(t *testing.T) {
		rounds(t, Channel{Name: least, Least: audit.Critical}, []step{
			{name: "late", report: reportOf(store("a", finding("control/spec-mismatch", audit.Warning, "m"), denied))},
			{name: "worse", report: reportOf(store("a", finding("control/spec-mismatch", audit.Critical, "m"), denied)), want: []string{"+ControlSpecMismatch critical " + a}, wantOpen: 1},
			{name: "better", report: reportOf(store("a", finding("control/spec-mismatch", audit.Warning, "m"))), want: []string{"-ControlSpecMismatch: it is only a warning now"}},
		})
	})
}

// Several findings of one rule are one alert, the worst severity of which counts.
func TestOneAlertForARule(t *testing.T) {
	var many []audit.Finding
	for i := range 5 {
		f := finding("snapshot/archived", audit.Warning, fmt.Sprint("archived ", i))
		if i == 3 {
			f.Severity, f.Do = audit.Critical, []string{"Thaw it."}
		}
		f.Key = fmt.Sprint("key\x1b", i)
		many = append(many, f)
	}
	got := found(Round{Report: reportOf(store("a", many...)), Rules: rules.All, Now: noon, Runbooks: "https://x/"})
	if len(got) != 1 || got[0].Verdict != "critical" || got[0].Severity != "critical" || !slices.Equal(got[0].Do, []string{"Thaw it."}) || got[0].RunbookURL != "https://x/rules/snapshot_archived.md" {
		t.Fatalf("%+v", got)
	}
	if want := "key\\x1b0: archived 0\nkey\\x1b1: archived 1\nkey\\x1b2: archived 2\nand more of the kind"; got[0].Message != want {
		t.Errorf("%q", got[0].Message)
	}
	if got[0].Summary == "" || got[0].Summary == got[0].Rule {
		t.Errorf("summary %q", got[0].Summary)
	}
	long := store(strings.Repeat("x", 300), armed)
	if id := found(Round{Report: reportOf(long)})[0].ID; len(id) > 255 || !strings.HasPrefix(id, "backstop/BackstopControlResetArmed/") {
		t.Errorf("%d bytes: %s", len(id), id)
	}
}

func TestParseState(t *testing.T) {
	for body, want := range map[string]string{
		"": "not a state", "[]": "not a state", `{"schema": 2}`: "it has schema 2, and this backstop reads 1", `{}`: "it has schema 0",
	} {
		if _, err := ParseState([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", body, err)
		}
	}
	if _, err := ParseState([]byte(`{"schema": 1}`)); err != nil {
		t.Error(err)
	}
}

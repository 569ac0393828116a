package alerts

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"backstop/alerts/promtest"
	"backstop/audit"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden holds got against a file, and rewrites it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; make it with: go test ./alerts -update", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if that is right: go test ./alerts -update\n--- got\n%s\n--- want\n%s", name, got, want)
	}
}

var (
	noon  = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	built = Build{Version: "1.2.3", Revision: "abc", GoVersion: "go1.26"}
)

// healthy is the report of a store with which nothing is wrong.
func healthy() audit.StoreReport {
	return audit.StoreReport{
		Store:   audit.Store{URL: "s3://kops/prod.example.com/backups/etcd/main", Bucket: "kops", Prefix: "prod.example.com/backups/etcd/main", Cluster: "prod.example.com", Etcd: "main"},
		Verdict: audit.OK, State: audit.StoreState{Name: "running"}, Judged: noon, Observed: noon, Findings: []audit.Finding{},
		Measures: audit.Measures{
			Began: noon.Add(-1500 * time.Millisecond), Interval: 15 * time.Minute, Snapshots: 255, SnapshotBytes: 1 << 30, Incomplete: 1,
			Newest: &audit.Newest{Name: "2026-11-30T11:50:00Z-000009", At: noon.Add(-10 * time.Minute)},
			Oldest: &audit.Newest{Name: "2026-09-01T00:00:00Z-000001", At: noon.Add(-90 * audit.Day)},
			Control: []audit.ControlFile{
				{File: "etcd-cluster-created", State: audit.Set, LastModified: noon.Add(-400 * audit.Day), Expires: audit.None[time.Time]()},
				{File: "etcd-cluster-spec", State: audit.Set, LastModified: noon.Add(-30 * audit.Day), Expires: audit.Is(noon.Add(60*audit.Day + 12*time.Hour))},
			},
		},
		Usage: audit.Usage{Requests: map[string]int{"GetObject": 3, "ListObjectsV2": 2}, Errors: map[string]int{"throttled": 1, "denied": 2}, Bytes: 12345},
	}
}

func finding(rule string, s audit.Severity, message string) audit.Finding {
	f := audit.Found(s, "%s", message)
	f.Rule = rule
	return f
}

// armed is the report of a store in trouble.
func armed() audit.StoreReport {
	s := healthy()
	s.Store.Etcd, s.Store.Prefix, s.Store.URL = "events", "prod.example.com/backups/etcd/events", "s3://kops/prod.example.com/backups/etcd/events"
	s.Verdict, s.State = audit.VerdictCritical, audit.StoreState{Name: "armed", RestorePending: true}
	s.Findings = []audit.Finding{
		finding("control/reset-armed", audit.Critical, "both control files are missing"),
		finding("snapshot/incomplete", audit.Warning, "a"), finding("snapshot/incomplete", audit.Warning, "b"),
		finding("control/stray", audit.Info, "c"),
	}
	for i := range s.Control {
		s.Control[i] = audit.ControlFile{File: s.Control[i].File, State: audit.Unset, Expires: audit.None[time.Time]()}
	}
	s.Newest, s.Oldest, s.Snapshots, s.SnapshotBytes = nil, nil, 0, 0
	return s
}

// refused is the report of a store that could not be seen.
func refused() audit.StoreReport {
	s := healthy()
	why := audit.Why{Cause: audit.CauseDenied, Reason: "access denied"}
	s.Store = audit.Store{URL: "s3://other/x", Bucket: "other", Prefix: "x", Endpoint: "https://s3.example.org"}
	s.Verdict, s.State, s.Role = audit.VerdictUnknown, audit.StoreState{Name: "unknown"}, audit.Replica
	s.Unseen = []audit.UnseenFact{{Fact: audit.FactListing, Necessary: true, Why: why}, {Fact: audit.FactQueue, Necessary: true, Why: why}, {Fact: audit.FactLifecycle, Necessary: true, Why: why}, {Fact: audit.FactObjectLock, Why: why}}
	s.Control = []audit.ControlFile{
		{File: "etcd-cluster-created", State: audit.Unseen, Expires: audit.Unknown[time.Time](why)},
		{File: "etcd-cluster-spec", State: audit.Set, LastModified: noon, Expires: audit.Unknown[time.Time](why)},
	}
	s.Newest, s.Oldest = nil, nil
	return s
}

// bucketWide adds a finding that concerns the whole bucket.
func bucketWide(s audit.StoreReport, message string) audit.StoreReport {
	f := finding("bucket/unversioned", audit.Warning, message)
	f.Scope = "bucket"
	s.Findings = append(s.Findings[:len(s.Findings):len(s.Findings)], f)
	return s
}

// everything are results with everything in them.
func everything() Results {
	r := Of(audit.NewReport(noon, []audit.StoreReport{bucketWide(healthy(), "versioning is off"), bucketWide(armed(), "versioning is off"), refused()},
		[]audit.Problem{{Target: "s3://nobucket", Cause: audit.CauseNoBucket}}))
	r.Stores = append(r.Stores, Result{Store: audit.Store{URL: "s3://new/store", Bucket: "new", Prefix: "store"}})
	r.Stores[0].Probe = &Probe{OK: true, Succeeded: noon}
	r.Reload = &Reload{OK: true, Succeeded: noon}
	r.Notifications = map[Notification]int{{"pager", Sent}: 2, {"pager", Failed}: 0}
	return r
}

func text(t *testing.T, r Results) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, built, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What Prometheus reads, word for word.
func TestGolden(t *testing.T) {
	c := NewCollector(built)
	c.Set(everything())
	if body, err := c.Text(); err != nil || string(body) != text(t, everything()) {
		t.Errorf("%v: the text that is kept is another", err)
	}
	golden(t, "testdata/everything.prom", text(t, everything()))
	golden(t, "testdata/empty.prom", text(t, Results{}))
}

// The table of the documentation is made of the constants.
func TestMetricsPage(t *testing.T) {
	var ofRun, ofStore []Metric
	for _, m := range Metrics {
		if m.OfStore {
			ofStore = append(ofStore, m)
		} else {
			ofRun = append(ofRun, m)
		}
	}
	page, err := os.ReadFile("testdata/metrics.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.NewReplacer("{{run}}", Table(ofRun), "{{store}}", Table(ofStore)).Replace(string(page))
	golden(t, "../docs/metrics.md", got)
}

// Every metric of the table is there in results that have everything, with the
// labels and the kind that the table says, and no other is.
func TestCollectorKeepsToTheTable(t *testing.T) {
	g, err := gatherer(built, everything())
	if err != nil {
		t.Fatal(err)
	}
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range families {
		m := Named(f.GetName())
		seen[m.Name] = true
		if strings.ToLower(f.GetType().String()) != string(m.Kind) || f.GetHelp() != m.Help {
			t.Errorf("%s is a %s with the help %q", m.Name, f.GetType(), f.GetHelp())
		}
		for _, one := range f.Metric {
			if len(one.Label) != len(m.AllLabels()) {
				t.Errorf("%s has the labels %v, want %v", m.Name, one.Label, m.AllLabels())
			}
		}
	}
	for _, m := range Metrics {
		if !seen[m.Name] {
			t.Errorf("%s is in the table and not in the metrics", m.Name)
		}
	}
}

func TestLint(t *testing.T) {
	c := NewCollector(built)
	c.Set(everything())
	problems, err := testutil.CollectAndLint(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for name, r := range map[string]Results{"everything": everything(), "nothing": {}} {
		if out, err := promtest.Promtool(t, text(t, r), "check", "metrics"); err != nil || out != "" {
			t.Errorf("promtool check metrics, %s: %v\n%s", name, err, out)
		}
	}
}

// samples are the lines of a metric.
func samples(t *testing.T, r Results, metric string) []string {
	t.Helper()
	var found []string
	for line := range strings.Lines(text(t, r)) {
		if name, _, _ := strings.Cut(line, "{"); name == metric || strings.HasPrefix(line, metric+" ") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// one gives the sample of a store whose labels contain all words.
func one(t *testing.T, r Results, metric string, words ...string) string {
	t.Helper()
	var found []string
next:
	for _, line := range samples(t, r, metric) {
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue next
			}
		}
		found = append(found, line[strings.LastIndexByte(line, ' ')+1:])
	}
	if len(found) != 1 {
		return fmt.Sprint(found)
	}
	return found[0]
}

// "Never" and "don't know" are different values, and a number is told only where
// something was counted.
func TestNeverAndUnknown(t *testing.T) {
	r := everything()
	for _, c := range []struct {
		metric string
		words  []string
		want   string
	}{
		{NameControlExpiry, []string{"etcd/main", "etcd-cluster-created"}, "+Inf"},
		{NameControlExpiry, []string{"etcd/main", "etcd-cluster-spec"}, "1.8012672e+09"},
		{NameControlExpiry, []string{"etcd/events", "etcd-cluster-created"}, "NaN"},
		{NameControlExpiry, []string{"s3://other/x", "etcd-cluster-spec"}, "NaN"},
		{NameUnseen, []string{"s3://other/x", `"lifecycle"`}, "1"},
		{NameUnseen, []string{"etcd/main", `"lifecycle"`}, "0"},
		{NameUnseen, []string{"s3://other/x", `"object_lock"`}, "1"},
		{NameUnseen, []string{"etcd/main", `"object_lock"`}, "[]"},
		{NameControlPresent, []string{"etcd/main", "created"}, "1"},
		{NameControlPresent, []string{"etcd/events", "created"}, "0"},
		{NameControlPresent, []string{"s3://other/x", "created"}, "NaN"},
		{NameNewest, []string{"etcd/main"}, "1.7960394e+09"},
		{NameNewest, []string{"etcd/events"}, "0"},
		{NameNewest, []string{"s3://other/x"}, "NaN"},
		{NameSnapshots, []string{"s3://other/x"}, "NaN"},
		{NamePending, []string{"s3://other/x"}, "NaN"},
		{NamePending, []string{"etcd/main"}, "0"},
		{NamePending, []string{"etcd/events"}, "1"},
		{NameAuditErrors, []string{"etcd/main"}, "1"},
		{NameErrors, []string{"denied"}, "6"},
		{NameAudit, []string{"s3://new/store"}, "0"},
		{NameVerdict, []string{"etcd/events", `"critical"`}, "1"},
		{NameVerdict, []string{"etcd/events", `"ok"`}, "0"},
		{NameReset, []string{"etcd/events", `"armed"`}, "1"},
		{NameReset, []string{"etcd/events", `"running"`}, "0"},
		{NameFindings, []string{"etcd/events", "snapshot/incomplete"}, "2"},
		{NameFindings, []string{"bucket/unversioned"}, "1"},
	} {
		if got := one(t, r, c.metric, c.words...); got != c.want {
			t.Errorf("%s %q is %s, want %s", c.metric, c.words, got, c.want)
		}
	}
	for _, m := range Metrics {
		for _, line := range samples(t, r, m.Name) {
			if m.Name != NameAudit && strings.Contains(line, "s3://new/store") {
				t.Errorf("a store that was never audited has %s", line)
			}
		}
	}
}

// What the last results do not have is gone the next time; what they have stands
// until there are others.
func TestFindingsComeAndGo(t *testing.T) {
	c := NewCollector(built)
	count := func() int { return testutil.CollectAndCount(c, NameFindings) }
	if n := count(); n != 0 {
		t.Errorf("%d findings before the first audit", n)
	}
	c.Set(Of(audit.NewReport(noon, []audit.StoreReport{armed()}, nil)))
	if n := count(); n != 3 {
		t.Errorf("%d findings, want 3", n)
	}
	if n := count(); n != 3 {
		t.Errorf("%d findings when asked again, want 3", n)
	}
	c.Set(Of(audit.NewReport(noon, []audit.StoreReport{healthy()}, nil)))
	if n := count(); n != 0 {
		t.Errorf("%d findings of a store that is mended", n)
	}
}

// However stores are called, no two series are the same, which would cost all of
// them.
func TestStoresWithOneName(t *testing.T) {
	var stores []audit.StoreReport
	for _, s := range []audit.Store{
		{URL: "/srv/\xff", Bucket: "/srv"}, {URL: "/srv/\xfe", Bucket: "/srv"}, {URL: "s3://kops", Bucket: "kops"}, {URL: "s3://kops", Bucket: "kops", Endpoint: "https://s3.example.org"},
		{URL: "s3://kops/a\nb{}\"", Bucket: "kops", Cluster: "\xff", Etcd: "\x00"},
	} {
		r := bucketWide(armed(), "m")
		r.Store = s
		stores = append(stores, r)
	}
	r := Of(audit.NewReport(noon, stores, []audit.Problem{{Target: "s3://\xff"}, {Target: "s3://\xff"}}))
	if n := len(samples(t, r, NameAudit)); n != 5 {
		t.Errorf("%d stores have a time, want 5\n%s", n, strings.Join(samples(t, r, NameAudit), "\n"))
	}
	if out, err := promtest.Promtool(t, text(t, r), "check", "metrics"); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// A finding about a bucket counts once, however many stores the bucket has, and
// twice where the stores' exceptions make two of it.
func TestBucketFindingsOnce(t *testing.T) {
	var stores []audit.StoreReport
	for i := range 5 {
		s := bucketWide(healthy(), "versioning is off")
		s.Store.URL = fmt.Sprint("s3://kops/", i)
		if i == 4 {
			s.Findings[0].Was, s.Findings[0].Severity = audit.Warning, audit.Info
		}
		stores = append(stores, s)
	}
	got := samples(t, Of(audit.NewReport(noon, stores, nil)), NameFindings)
	want := []string{
		`backstop_findings{cluster="",etcd="",rule="bucket/unversioned",severity="info",store="s3://kops"} 1`,
		`backstop_findings{cluster="",etcd="",rule="bucket/unversioned",severity="warning",store="s3://kops"} 1`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// The file is replaced whole, also one that another wrote, and a directory that is
// not there is an error that names it.
func TestTextfile(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		if err := WriteTextfile(dir, built, everything()); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "backstop.prom"))
	if err != nil || string(got) != text(t, everything()) {
		t.Errorf("%v\n%s", err, got)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%v is left behind", files)
	}
	info, err := os.Stat(filepath.Join(dir, "backstop.prom"))
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v: node_exporter may run as another user", info.Mode(), err)
	}
	missing := filepath.Join(dir, "nowhere")
	if err := WriteTextfile(missing, built, everything()); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v", err)
	}
}

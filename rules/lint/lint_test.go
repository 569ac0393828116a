package lint

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle/infra"
	"backstop/store/etcdmanager"
)

var update = flag.Bool("update", false, "rewrite golden files")

// noon is when everything is judged.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const root = "prod.example.com/backups/etcd/main"

// healthy is a store that lives: the spec was rewritten 10 days ago, and created
// is a year old.
func healthy() Store { return storeAt("kops-state", root) }

func storeAt(bucket, root string) Store {
	s := audit.Store{URL: "s3://" + bucket + "/" + root, Bucket: bucket, Prefix: root}
	s.Cluster, s.Etcd = etcdmanager.KopsNames(root)
	object := func(path string, age time.Duration, size int64) audit.Object {
		return audit.Object{Key: root + "/" + path, Size: size, LastModified: noon.Add(-age)}
	}
	listing := audit.Listing{}
	for i := range 5 {
		age := time.Duration(i*20) * audit.Day
		name := etcdmanager.FormatName(noon.Add(-age), 1)
		data, meta := object(name+"/"+etcdmanager.DataFile, age, 4<<20), object(name+"/"+etcdmanager.MetaFile, age, 300)
		listing.Snapshots = append(listing.Snapshots, audit.Snapshot{Name: name, Taken: noon.Add(-age), Data: &data, Meta: &meta})
	}
	control := func(path string, age time.Duration, body string) audit.Fact[audit.Document] {
		return audit.Is(audit.Document{Object: object(path, age, int64(len(body))), Body: []byte(body), Tags: audit.None[map[string]string]()})
	}
	o := &audit.Observation{
		Store: s, Listing: audit.Is(listing), Begun: noon, Ended: noon, Kops: audit.None[audit.Kops](),
		Created: control(etcdmanager.CreatedPath, 365*audit.Day, `{"timestamp":"1"}`),
		Spec:    control(etcdmanager.SpecPath, 10*audit.Day, `{"memberCount":1,"etcdVersion":"3.6.11"}`),
		Bucket:  audit.Bucket{Name: bucket, Versioning: audit.None[string](), Lifecycle: audit.None[audit.Document](), ObjectLock: audit.None[audit.ObjectLock]()},
	}
	return Store{Observation: o, Policy: audit.DefaultPolicy(), State: audit.StoreState{Name: "running"}, Now: noon}
}

// armed is a store without control files.
func armed() Store {
	s := healthy()
	s.Observation.Created, s.Observation.Spec = audit.None[audit.Document](), audit.None[audit.Document]()
	s.State.Name = "armed"
	return s
}

// unseen is a store that refused to answer.
func unseen() Store {
	s := healthy()
	why := audit.Why{Cause: audit.CauseDenied, Reason: "access denied", Permission: "s3:ListBucket"}
	o := s.Observation
	o.Listing, o.Created, o.Spec = audit.Unknown[audit.Listing](why), audit.Unknown[audit.Document](why), audit.Unknown[audit.Document](why)
	s.Unseen = []audit.UnseenFact{{Fact: audit.FactListing, Necessary: true, Why: why}}
	s.State.Name = "unknown"
	return s
}

// changed changes a store.
func changed(s Store, change func(o *audit.Observation)) Store {
	change(s.Observation)
	return s
}

func live(body string) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Bucket.Lifecycle = audit.Is(audit.Document{Body: []byte(body)}) }
}

func versioning(status string) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Bucket.Versioning = audit.Is(status) }
}

// policy is AWS's JSON with one rule.
func policy(rule string) string {
	return `{"TransitionDefaultMinimumObjectSize":"varies_by_storage_class","Rules":[{"ID":"r","Status":"Enabled",` + rule + `}]}`
}

// A lintCase holds a document against stores.
type lintCase struct {
	doc    string
	stores []Store
	change func(in *Input)
	// want are the findings, each "severity rule: words", in order.
	want []string
	// says are words that stand somewhere in the findings; never, nowhere.
	says, never []string
}

type lintCases map[string]lintCase

func (c lintCases) run(t *testing.T, only ...string) {
	t.Helper()
	for name, tc := range c {
		t.Run(name, func(t *testing.T) {
			r := tc.judge(t)
			tc.compare(t, r, only)
		})
	}
}

func (c lintCase) judge(t *testing.T) audit.LintReport {
	t.Helper()
	in := Input{Stores: c.stores, Now: noon}
	if c.doc != "" {
		d, err := infra.Read([]byte(c.doc), infra.Options{})
		if err != nil {
			t.Fatal(err)
		}
		in.Files = []File{{Name: "code", Document: d}}
	}
	if c.change != nil {
		c.change(&in)
	}
	return Judge(in)
}

// compare holds the findings of some rules, or of all, against what is wanted.
func (c lintCase) compare(t *testing.T, r audit.LintReport, only []string) {
	t.Helper()
	var got []string
	all := ""
	for _, f := range r.Findings {
		if len(only) == 0 || slices.Contains(only, f.Rule) {
			got = append(got, fmt.Sprintf("%s %s: %s", f.Severity, f.Rule, f.Message))
			all += fmt.Sprintf("%+v\n", f)
		}
	}
	if len(got) != len(c.want) {
		t.Fatalf("findings:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
	}
	for i, w := range c.want {
		head, words, _ := strings.Cut(w, ": ")
		if !strings.HasPrefix(got[i], head+":") || !strings.Contains(got[i], words) {
			t.Errorf("got  %s\nwant %s", got[i], w)
		}
	}
	for _, s := range c.says {
		if !strings.Contains(all, s) {
			t.Errorf("it does not say %q:\n%s", s, all)
		}
	}
	for _, s := range c.never {
		if strings.Contains(all, s) {
			t.Errorf("it says %q:\n%s", s, all)
		}
	}
}

// Every rule has a page under its headings, a title and severities, and its id is
// lint/ and what package lifecycle calls it where that has a name for it.
func TestWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range All {
		page, err := Page(r.ID)
		if err != nil || !strings.HasPrefix(page, "# "+r.ID+"\n") {
			t.Errorf("%s: page %.20q, %v", r.ID, page, err)
		}
		for _, h := range []string{"\nSeverity: ", "\n## Meaning\n", "\n## Impact\n", "\n## Diagnosis\n", "\n## Mitigation\n"} {
			if strings.Count(page, h) != 1 {
				t.Errorf("%s: its page lacks %q", r.ID, strings.TrimSpace(h))
			}
		}
		for _, s := range r.Severities {
			line := page[strings.Index(page, "\nSeverity: "):strings.Index(page, "\n## Meaning")]
			if !strings.Contains(line, string(s)) {
				t.Errorf("%s: its page does not speak of the severity %s", r.ID, s)
			}
		}
		if r.Title == "" || len(r.Severities) == 0 || !strings.HasPrefix(r.ID, "lint/") || seen[r.ID] || (r.configuration == nil) == (r.whole == nil) {
			t.Errorf("%+v is not whole", r)
		}
		seen[r.ID] = true
		if got, ok := Named(r.ID); !ok || got.ID != r.ID {
			t.Errorf("Named(%q) gives %q", r.ID, got.ID)
		}
	}
	files, _ := os.ReadDir(".")
	for _, f := range files {
		if stem, ok := strings.CutSuffix(f.Name(), ".md"); ok && stem != "README" && !seen["lint/"+strings.ReplaceAll(stem, "_", "-")] {
			t.Errorf("%s is the page of no rule", f.Name())
		}
	}
	if _, ok := Named("lint/none"); ok {
		t.Error("there is a rule lint/none")
	}
}

// Every rule speaks in some case of these tests.
func TestEveryRuleSpeaks(t *testing.T) {
	spoke := map[string]bool{}
	for _, cases := range allCases {
		for _, c := range cases {
			for _, w := range c.want {
				head, _, _ := strings.Cut(w, ":")
				_, id, _ := strings.Cut(head, " ")
				spoke[id] = true
			}
			for _, f := range c.judge(t).Findings {
				for _, e := range f.Evidence {
					spoke[e.Rule] = true
				}
			}
		}
	}
	for _, r := range All {
		if !spoke[r.ID] {
			t.Errorf("%s speaks in no case", r.ID)
		}
	}
}

// The index is made from the rules.
func TestIndex(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Lint rules\n\nMade from the rules' literals by `make update`; each page is what `backstop explain RULE` prints.\n\n| rule | severity | says that |\n|---|---|---|\n")
	for _, r := range All {
		var s []string
		for _, v := range r.Severities {
			s = append(s, string(v))
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s |\n", r.ID, Stem(r.ID), strings.Join(s, ", "), r.Title)
	}
	if *update {
		if err := os.WriteFile("README.md", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("README.md")
	if err != nil || !bytes.Equal(got, b.Bytes()) {
		t.Errorf("rules/lint/README.md is old (%v); make it anew with: make update", err)
	}
	if strings.Count(Index(), "\n") != len(All) {
		t.Error("the index for people lacks rules")
	}
}

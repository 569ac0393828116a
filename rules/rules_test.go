package rules

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// noon is the time at which cases are judged, unless they say otherwise.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// birth is when the healthy store's cluster was created.
var birth = time.Date(2025, 10, 26, 9, 30, 0, 0, time.UTC)

// A testCase changes a healthy store and says what its rule must find.
type testCase struct {
	// is says what the case shows: that the rule "speaks", is "silent", at its
	// exact "boundary", or "blind" because a fact was not seen.
	is string
	// seen changes the healthy observation.
	seen func(o *audit.Observation)
	// policy changes the default policy.
	policy func(p *audit.Policy)
	// at is the time of judgement, as an offset from noon.
	at time.Duration
	// want are the findings, each as "severity: words of the message", in
	// order. None means silence.
	want []string
	// says are words that must stand somewhere in the findings: in what was
	// observed, in what to do, in the evidence. Those of never stand nowhere.
	says, never []string
}

type cases map[string]testCase

// A limit is a threshold of a rule that a mutation moves by one step.
type limit struct {
	name string
	move func(steps int)
}

// bytes and duration make limits of the package's thresholds.
func bytesLimit(name string, v *int64) limit {
	return limit{name, func(n int) { *v += int64(n) }}
}

func timeLimit(name string, v *time.Duration) limit {
	return limit{name, func(n int) { *v += time.Duration(n) * time.Second }}
}

// A suite is what the tests of one rule know.
type suite struct {
	cases cases
	// ages says that a threshold of the rule is an age against the clock, so
	// that a clock one second off must be noticed.
	ages   bool
	limits []limit
}

// run judges every case by the one rule.
func (c cases) run(t *testing.T, rule audit.Rule) {
	t.Helper()
	for name, tc := range c {
		t.Run(name, func(t *testing.T) {
			if fault := tc.fault(rule); fault != "" {
				t.Error(fault)
			}
		})
	}
}

// fault says how the rule's findings differ from what the case wants; empty
// when they do not.
func (tc testCase) fault(rule audit.Rule) string {
	o, p := healthy(), audit.DefaultPolicy()
	if tc.seen != nil {
		tc.seen(o)
	}
	if tc.policy != nil {
		tc.policy(&p)
	}
	p = p.For(o) // as Judge does
	found := rule.Check(o, p, noon.Add(tc.at))
	var got []string
	for _, f := range found {
		if !rule.May(f.Severity) {
			return fmt.Sprintf("undeclared severity %s", f.Severity)
		}
		got = append(got, string(f.Severity)+": "+f.Message)
	}
	if len(got) != len(tc.want) {
		return fmt.Sprintf("got %d findings %q, want %d %q", len(got), got, len(tc.want), tc.want)
	}
	for i, w := range tc.want {
		severity, words, _ := strings.Cut(w, ": ")
		if string(found[i].Severity) != severity || !strings.Contains(found[i].Message, words) {
			return fmt.Sprintf("got %q, want %q", got[i], w)
		}
	}
	text := textOf(found)
	for _, w := range tc.says {
		if !strings.Contains(text, w) {
			return fmt.Sprintf("nothing says %q:\n%s", w, text)
		}
	}
	for _, w := range tc.never {
		if strings.Contains(text, w) {
			return fmt.Sprintf("something says %q:\n%s", w, text)
		}
	}
	return ""
}

// textOf is all that findings say, a line each.
func textOf(found []audit.Finding) string {
	var lines []string
	for _, f := range found {
		lines = append(lines, f.Message, f.Key, f.Observed, f.Expected, f.Event)
		lines = append(lines, f.Do...)
		for _, e := range f.Evidence {
			lines = append(lines, e.Message)
		}
	}
	return strings.Join(lines, "\n")
}

// healthy is a store that nothing is wrong with, at noon.
func healthy() *audit.Observation {
	s := audit.Store{URL: "s3://kops/prod.example.com/backups/etcd/main", Bucket: "kops",
		Prefix: "prod.example.com/backups/etcd/main", Cluster: "prod.example.com", Etcd: "main"}
	o := &audit.Observation{
		Schema: audit.ObservationSchema, Store: s, Begun: noon.Add(-time.Second), Ended: noon,
		ClockOffset: audit.Is(time.Duration(0)),
		Queue:       audit.Is([]audit.Command{}),
		RestoreMeta: audit.None[audit.Document](),
		Head:        audit.None[audit.Examined](),
		Kops:        audit.None[audit.Kops](),
		Bucket: audit.Bucket{
			Name: "kops", Region: "eu-west-1", Versioning: audit.Is("Enabled"), Lifecycle: audit.None[audit.Document](),
			ObjectLock:        audit.Is(audit.ObjectLock{}),
			PublicAccessBlock: audit.Is(audit.PublicAccessBlock{BlockPublicACLs: true, IgnorePublicACLs: true, BlockPublicPolicy: true, RestrictPublicBuckets: true}),
			PublicPolicy:      audit.None[bool](), Encryption: audit.Is("AES256"), Uploads: audit.Is(audit.Uploads{}),
		},
	}
	o.Created = audit.Is(file(s.Key(etcdmanager.CreatedPath), string(etcdmanager.FormatCreated(birth)), birth))
	o.Spec = audit.Is(file(s.Key(etcdmanager.SpecPath), spec(3, "3.5.30"), birth))
	o.ControlVersions = audit.Is([]audit.Version{version(o.Created.Value, "v-created", true), version(o.Spec.Value, "v-spec", true)})
	o.Versions = audit.Is(audit.Versions{Counted: 2})
	l := audit.Listing{Control: []audit.Object{o.Created.Value.Object, o.Spec.Value.Object}}
	for age := 95 * time.Minute; age > 0; age -= 15 * time.Minute {
		l.Snapshots = append(l.Snapshots, snapshot(s, noon.Add(-age), 50_000))
	}
	o.Listing = audit.Is(l)
	o.NewestMeta = audit.Is(meta(s, l.Snapshots[len(l.Snapshots)-1], 3, "3.5.30"))
	headIs(audit.Plausible)(o)
	return o
}

// file makes a document that was read.
func file(key, body string, at time.Time) audit.Document {
	return audit.Document{Object: audit.Object{Key: key, Size: int64(len(body)), LastModified: at}, VersionID: "v-" + filepath.Base(key)[13:], Body: []byte(body), Tags: audit.None[map[string]string]()}
}

func spec(members int32, etcd string) string {
	return string(etcdmanager.FormatSpec(etcdmanager.ClusterSpec{MemberCount: members, EtcdVersion: etcd}))
}

func version(d audit.Document, id string, latest bool) audit.Version {
	return audit.Version{Object: d.Object, VersionID: id, Latest: latest}
}

// marker is a delete marker over a control file.
func marker(key string, at time.Time) audit.Version {
	return audit.Version{Object: audit.Object{Key: key, LastModified: at}, VersionID: "marker", Latest: true, Marker: true}
}

// snapshot is a complete one, stored a few seconds after its name.
func snapshot(s audit.Store, taken time.Time, size int64) audit.Snapshot {
	name := etcdmanager.FormatName(taken, 1)
	return audit.Snapshot{
		Name: name, Taken: taken.Truncate(time.Second),
		Data: &audit.Object{Key: s.Key(name, etcdmanager.DataFile), Size: size, LastModified: taken.Add(2 * time.Second)},
		Meta: &audit.Object{Key: s.Key(name, etcdmanager.MetaFile), Size: 130, LastModified: taken.Add(3 * time.Second)},
	}
}

func meta(s audit.Store, of audit.Snapshot, members int, etcd string) audit.Document {
	body := fmt.Sprintf(`{"etcdVersion": %q, "timestamp": "%d", "clusterSpec": {"memberCount": %d, "etcdVersion": %q}}`, etcd, of.Taken.Unix(), members, etcd)
	return audit.Document{Object: audit.Object{Key: s.Key(of.Name, etcdmanager.MetaFile), Size: int64(len(body)), LastModified: of.Meta.LastModified}, Body: []byte(body)}
}

// denied is why a fact was not seen.
func denied[T any](permission string) audit.Fact[T] {
	return audit.Unknown[T](audit.Why{Cause: audit.CauseDenied, Reason: "get s3://kops/x: access denied (HTTP 403 AccessDenied)", Permission: permission})
}

// Changes that many cases make to the healthy store.

func loseCreated(o *audit.Observation) { o.Created = audit.None[audit.Document]() }
func loseSpec(o *audit.Observation)    { o.Spec = audit.None[audit.Document]() }

func loseBoth(o *audit.Observation) { loseCreated(o); loseSpec(o) }

func noSnapshots(o *audit.Observation) {
	o.Listing.Value.Snapshots = nil
	o.NewestMeta = audit.None[audit.Document]()
}

// noTrace leaves nothing that shows an earlier cluster.
func noTrace(o *audit.Observation) {
	noSnapshots(o)
	o.ControlVersions = audit.Is([]audit.Version{})
}

// newestAt moves the snapshots so that the newest was stored at the given age.
func newestAt(age time.Duration) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		s := snapshot(o.Store, noon.Add(-age-2*time.Second), 50_000)
		o.Listing.Value.Snapshots = []audit.Snapshot{s}
		o.NewestMeta = audit.Is(meta(o.Store, s, 3, "3.5.30"))
	}
}

// queued puts a restore command of the given age into the queue.
func queued(backup string, age time.Duration) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		at := noon.Add(-age)
		body := fmt.Sprintf(`{"timestamp": "%d", "restoreBackup": {"clusterSpec": {"memberCount": 3, "etcdVersion": "3.5.30"}, "backup": %q}}`, at.UnixNano(), backup)
		queuedBody(body, at)(o)
	}
}

func queuedBody(body string, at time.Time) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		key := o.Store.Key(etcdmanager.ControlDir, etcdmanager.FormatName(at, 0), etcdmanager.CommandFile)
		d := audit.Document{Object: audit.Object{Key: key, Size: int64(len(body)), LastModified: at}, Body: []byte(body)}
		o.Queue.Value = append(o.Queue.Value, audit.Command{Object: d.Object, Body: audit.Is(d)})
	}
}

// lifecycleRules sets the bucket's configuration.
func lifecycleRules(rules string) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Bucket.Lifecycle = audit.Is(audit.Document{Body: []byte("<LifecycleConfiguration>" + rules + "</LifecycleConfiguration>")})
	}
}

// expireAll is the rule of the incident: everything, after so many days.
func expireAll(days int) string {
	return fmt.Sprintf("<Rule><ID>prune</ID><Status>Enabled</Status><Filter/><Expiration><Days>%d</Days></Expiration></Rule>", days)
}

// all makes several changes.
func all(changes ...func(o *audit.Observation)) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		for _, c := range changes {
			c(o)
		}
	}
}

// Every rule has its suite, its page with the field's four headings, and cases
// of each kind.
func TestEveryRuleIsWhole(t *testing.T) {
	for _, r := range All {
		s, ok := allCases[r.ID]
		if !ok {
			t.Errorf("%s has no cases in allCases", r.ID)
			continue
		}
		kinds := map[string]int{}
		for name, c := range s.cases {
			kinds[c.is]++
			if c.is == "speaks" && len(c.want) == 0 || c.is == "silent" && len(c.want) > 0 {
				t.Errorf("%s: case %q is %q and wants %q", r.ID, name, c.is, c.want)
			}
		}
		for _, kind := range []string{"speaks", "silent", "boundary", "blind"} {
			if kinds[kind] == 0 {
				t.Errorf("%s has no case that is %q", r.ID, kind)
			}
		}
		page, err := Page(r.ID)
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.HasPrefix(page, "# "+r.ID+"\n") {
			t.Errorf("%s: its page does not begin with its id", r.ID)
		}
		for _, h := range []string{"\n## Meaning\n", "\n## Impact\n", "\n## Diagnosis\n", "\n## Mitigation\n"} {
			if strings.Count(page, h) != 1 {
				t.Errorf("%s: its page lacks the heading %q", r.ID, strings.TrimSpace(h))
			}
		}
		if len(r.Severities) == 0 || r.Title == "" {
			t.Errorf("%s lacks severities or a title", r.ID)
		}
		for _, ext := range []string{".go", "_test.go"} {
			if _, err := os.Stat(Stem(r.ID) + ext); err != nil {
				t.Errorf("%s: %v", r.ID, err)
			}
		}
	}
	for id := range allCases {
		if _, ok := Named(id); !ok {
			t.Errorf("allCases has %q, which is no rule", id)
		}
	}
}

// A rule is found by its id, and nothing by another word.
func TestNamed(t *testing.T) {
	for _, r := range All {
		if got, ok := Named(r.ID); !ok || got.ID != r.ID {
			t.Errorf("Named(%q) gives %q, %t", r.ID, got.ID, ok)
		}
	}
	if got, ok := Named("control"); ok {
		t.Errorf("Named gives %q for a word that is no rule", got.ID)
	}
	if _, err := Page("control/reset"); err == nil || !strings.Contains(err.Error(), "control/reset") {
		t.Errorf("Page of no rule: %v", err)
	}
}

// Nothing is found in a healthy store, by any rule.
func TestHealthyStoreIsOK(t *testing.T) {
	r := audit.Judge(Set, healthy(), audit.DefaultPolicy(), noon)
	if r.Verdict != audit.OK || len(r.Findings) != 0 || r.State.Name != "running" {
		t.Errorf("state %s, verdict %s, findings %+v", r.State.Name, r.Verdict, r.Findings)
	}
}

// A rule's own cases must notice when the rule never speaks, always speaks, or
// has a threshold that is one step off.
func TestCasesNoticeMutations(t *testing.T) {
	for _, r := range All {
		s := allCases[r.ID]
		mutants := map[string]audit.Rule{
			"always silent": with(r, func(*audit.Observation, audit.Policy, time.Time) []audit.Finding { return nil }),
			"always speaking": with(r, func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
				return append(r.Check(o, p, now), audit.Found(r.Severities[0], "mutant"))
			}),
			"speaking once more when it speaks": with(r, func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
				f := r.Check(o, p, now)
				return append(f, f...)
			}),
		}
		if s.ages {
			for _, off := range []time.Duration{-time.Second, time.Second} {
				mutants[fmt.Sprintf("clock off by %v", off)] = with(r, func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
					return r.Check(o, p, now.Add(off))
				})
			}
		}
		for name, m := range mutants {
			if !s.notices(m) {
				t.Errorf("%s: its cases do not notice a mutant that is %s", r.ID, name)
			}
		}
		for _, l := range s.limits {
			for _, step := range []int{-1, 1} {
				l.move(step)
				if !s.notices(r) {
					t.Errorf("%s: its cases do not notice that %s is %+d off", r.ID, l.name, step)
				}
				l.move(-step)
			}
		}
	}
}

func with(r audit.Rule, check func(*audit.Observation, audit.Policy, time.Time) []audit.Finding) audit.Rule {
	r.Check = check
	return r
}

// notices reports whether some case fails for the rule.
func (s suite) notices(r audit.Rule) bool {
	for _, c := range s.cases {
		if c.fault(r) != "" {
			return true
		}
	}
	return false
}

// No rule changes what it looks at: a recorded observation is judged many times.
func TestRulesDoNotChangeTheObservation(t *testing.T) {
	for _, r := range All {
		for name, c := range allCases[r.ID].cases {
			o, p := healthy(), audit.DefaultPolicy()
			if c.seen != nil {
				c.seen(o)
			}
			if c.policy != nil {
				c.policy(&p)
			}
			p = p.For(o) // as Judge does
			before := asJSON(t, o)
			r.Check(o, p, noon.Add(c.at))
			if asJSON(t, o) != before {
				t.Errorf("%s changed the observation of case %q", r.ID, name)
			}
		}
	}
}

// asJSON writes an observation out, with what its pointers lead to.
func asJSON(t *testing.T, o *audit.Observation) string {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A rule whose findings come or go with a fact declares that it needs it, so that
// audit/blind can name the rule when the fact is not seen.
func TestNeedsAreDeclared(t *testing.T) {
	for _, r := range All {
		if r.May(audit.Unsure) || r.ID == auditBlind.ID {
			continue // it speaks of the unseen fact itself
		}
		for _, fact := range audit.Facts {
			if slices.Contains(r.Needs, fact) {
				continue
			}
			for name, c := range allCases[r.ID].cases {
				o, p := healthy(), audit.DefaultPolicy()
				if c.seen != nil {
					c.seen(o)
				}
				if c.policy != nil {
					c.policy(&p)
				}
				p = p.For(o) // as Judge does
				if _, not := o.Unseen(fact); not {
					continue
				}
				seen := len(r.Check(o, p, noon.Add(c.at)))
				unseen(fact)(o)
				if n := len(r.Check(o, p, noon.Add(c.at))); n != seen {
					t.Errorf("%s does not declare that it needs %s: without it case %q has %d findings, and else %d", r.ID, fact, name, n, seen)
					break
				}
			}
		}
	}
}

// When a necessary fact is not seen, the verdict is UNKNOWN at best, and some
// finding names the fact.
func TestNecessaryFactsMakeUnknown(t *testing.T) {
	for _, fact := range audit.Necessary {
		o := healthy()
		unseen(fact)(o)
		why, _ := o.Unseen(fact)
		r := audit.Judge(Set, o, audit.DefaultPolicy(), noon)
		if r.Verdict != audit.VerdictUnknown {
			t.Errorf("%s unseen: verdict %s, want UNKNOWN", fact, r.Verdict)
		}
		named := slices.ContainsFunc(r.Findings, func(f audit.Finding) bool {
			return f.Severity == audit.Unsure && strings.Contains(f.Observed, string(fact)) && strings.Contains(strings.Join(f.Do, " "), why.Permission)
		})
		if !named {
			t.Errorf("%s unseen: no finding names it and %s: %+v", fact, why.Permission, r.Findings)
		}
	}
}

// Zero values are unseen: an observation that nobody filled in is not OK.
func TestEmptyObservationIsUnknown(t *testing.T) {
	r := audit.Judge(Set, &audit.Observation{}, audit.DefaultPolicy(), noon)
	if r.Verdict != audit.VerdictUnknown || r.State.Name != "unknown" {
		t.Errorf("state %s, verdict %s", r.State.Name, r.Verdict)
	}
}

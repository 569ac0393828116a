package suggest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/rules"
	"backstop/rules/lifecycle"
	"backstop/rules/suggest"
	"backstop/store/etcdmanager"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// store is a store that is well, in a versioned bucket that kops keeps its state in.
func store(root string, change ...func(s *suggest.Store)) suggest.Store {
	born := noon.Add(-400 * audit.Day)
	cluster, etcd := etcdmanager.KopsNames(root)
	st := audit.Store{URL: "s3://kops/" + root, Bucket: "kops", Prefix: root, Cluster: cluster, Etcd: etcd}
	file := func(path, body string) audit.Fact[audit.Document] {
		return audit.Is(audit.Document{Object: audit.Object{Key: st.Key(path), Size: int64(len(body)), LastModified: born}, VersionID: "v1", Body: []byte(body), Tags: audit.None[map[string]string]()})
	}
	o := &audit.Observation{
		Schema: audit.ObservationSchema, Store: st, Begun: noon, Ended: noon, ClockOffset: audit.Is(time.Duration(0)),
		Created: file(etcdmanager.CreatedPath, string(etcdmanager.FormatCreated(born))),
		Spec:    file(etcdmanager.SpecPath, `{"memberCount": 3, "etcdVersion": "3.5.30"}`),
		Queue:   audit.Is([]audit.Command{}), RestoreMeta: audit.None[audit.Document](), NewestMeta: audit.None[audit.Document](),
		ControlVersions: audit.Is([]audit.Version{}), Versions: audit.Is(audit.Versions{}),
		Kops: audit.Is(audit.Kops{StateStore: "s3://kops", Known: true, ClusterKnown: true, Cluster: cluster, Etcd: etcd, Hourly: 7 * audit.Day, Daily: 90 * audit.Day,
			Files: audit.Is([]audit.Object{{Key: cluster + "/pki/private/ca/keyset.yaml", Size: 3000, LastModified: born}})}),
		Bucket: audit.Bucket{Name: "kops", Versioning: audit.Is("Enabled"), Lifecycle: audit.None[audit.Document]()},
	}
	o.Created.Value.Body = etcdmanager.FormatCreated(born)
	var l audit.Listing
	for age := 89 * audit.Day; age > 0; age -= audit.Day {
		l.Snapshots = append(l.Snapshots, snapshot(st, noon.Add(-age), 50_000))
	}
	l.Snapshots = append(l.Snapshots, snapshot(st, noon.Add(-5*time.Minute), 50_000))
	o.Listing = audit.Is(l)
	s := suggest.Store{Observation: o, Policy: audit.DefaultPolicy(), Now: noon}
	for _, c := range change {
		c(&s)
	}
	return s
}

func snapshot(st audit.Store, at time.Time, size int64) audit.Snapshot {
	name := etcdmanager.FormatName(at, 1)
	return audit.Snapshot{Name: name, Taken: at,
		Data: &audit.Object{Key: st.Key(name, etcdmanager.DataFile), Size: size, LastModified: at.Add(time.Second)},
		Meta: &audit.Object{Key: st.Key(name, etcdmanager.MetaFile), Size: 130, LastModified: at.Add(2 * time.Second)}}
}

const mainRoot = "prod.example.com/backups/etcd/main"

// live gives the bucket rules, in AWS's JSON.
func live(rules string) func(s *suggest.Store) {
	return func(s *suggest.Store) {
		s.Observation.Bucket.Lifecycle = audit.Is(audit.Document{Body: []byte(`{"Rules":[` + rules + `]}`)})
	}
}

func rule(id, filter, action string) string {
	return fmt.Sprintf(`{"ID":%q,"Status":"Enabled","Filter":%s,%s}`, id, filter, action)
}

func seen(change func(o *audit.Observation)) func(s *suggest.Store) {
	return func(s *suggest.Store) { change(s.Observation) }
}

var (
	expire90   = `"Expiration":{"Days":90}`
	everything = `{}`
	snapshots  = `{"Prefix":"` + mainRoot + `/20"}`
)

// ids are the rules of a suggestion.
func ids(s suggest.Suggestion) []string {
	var all []string
	for _, r := range s.Rules.Rules {
		all = append(all, r.ID)
	}
	return all
}

func notes(s suggest.Suggestion) string {
	var b strings.Builder
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "%s %s: %s\n", n.What, n.Rule, n.Text)
	}
	return b.String()
}

const (
	uploads = "backstop-unfinished-uploads"
	prunes  = "backstop-snapshots-prod.example.com-backups-etcd-main"
	bounds  = "backstop-old-versions-prod.example.com-backups-etcd-main"
)

var suggestions = map[string]struct {
	stores []suggest.Store
	want   []string
	days   int // of the first store's pruning; 0 where there is none
	says   []string
	never  []string
}{
	"an empty configuration": {[]suggest.Store{store(mainRoot)}, []string{uploads, prunes}, 120,
		[]string{"prunes the snapshots of s3://kops/" + mainRoot + " after 120 days, 30 days later than etcd-manager itself (it keeps one of each day for 90d, as kops configures it)"}, nil},
	"the rule of the incident": {[]suggest.Store{store(mainRoot, live(rule("prune", everything, expire90)))}, []string{uploads, prunes}, 120,
		[]string{"leaves out prune: lifecycle/deletes-control"}, []string{"keeps prune"}},
	"harmless rules stay": {[]suggest.Store{store(mainRoot, live(rule("logs", `{"Prefix":"logs/"}`, expire90)+","+rule("cold-logs", `{"Prefix":"logs/"}`, `"Transitions":[{"Days":30,"StorageClass":"GLACIER"}]`)+
		`,{"ID":"off","Status":"Disabled","Filter":{},"Expiration":{"Days":1}}`+","+rule("as-long", snapshots, expire90)+","+rule("old", everything, `"NoncurrentVersionExpiration":{"NoncurrentDays":60}`)))},
		[]string{"logs", "cold-logs", "off", "as-long", "old", uploads, prunes}, 120, nil, []string{"leaves out"}},
	"what lies below the old schema is written in the new one": {[]suggest.Store{store(mainRoot, live(`{"ID":"logs","Status":"Enabled","Prefix":"logs/","Expiration":{"Days":30}}`))}, []string{"logs", uploads, prunes}, 120, nil, nil},
	"harmful in other ways": {[]suggest.Store{store(mainRoot, live(rule("cold", everything, `"Transitions":[{"Days":30,"StorageClass":"GLACIER"}]`)+","+rule("short", everything, `"NoncurrentVersionExpiration":{"NoncurrentDays":7}`)+
		","+rule("month", snapshots, `"Expiration":{"Days":30}`)+","+rule("big", `{"And":{"Prefix":"`+mainRoot+`/20","ObjectSizeGreaterThan":1000}}`, `"Expiration":{"Days":400}`)+
		","+rule("keys", `{"Prefix":"prod.example.com/pki/"}`, `"Expiration":{"Days":3650}`)+","+rule("odd", `{"Suffix":"x"}`, expire90)))},
		[]string{uploads, prunes}, 120,
		[]string{"leaves out cold: lifecycle/archives-control", "leaves out short: lifecycle/undo-window-short", "leaves out month: lifecycle/cuts-ladder", "leaves out big: lifecycle/splits-pair", "leaves out keys: lifecycle/deletes-kops-state", "leaves out odd: write lifecycle configuration: Filter.Suffix"}, []string{"\nkeeps "}},
	"nobody says how long":   {[]suggest.Store{store(mainRoot, seen(func(o *audit.Observation) { o.Kops = audit.None[audit.Kops]() }))}, []string{uploads, prunes}, 760, []string{"as etcd-manager does by itself"}, nil},
	"the owner wants a year": {[]suggest.Store{store(mainRoot, func(s *suggest.Store) { s.Policy.KeepDaily, s.Policy.Given.KeepDaily = 365*audit.Day, true })}, []string{uploads, prunes}, 395, []string{"as the configuration says"}, nil},
	"never versioned":        {[]suggest.Store{store(mainRoot, seen(func(o *audit.Observation) { o.Bucket.Versioning = audit.None[string]() }))}, []string{uploads, prunes}, 120, nil, []string{"hidden"}},
	"two stores":             {[]suggest.Store{store(mainRoot), store("prod.example.com/backups/etcd/events")}, []string{uploads, prunes, "backstop-snapshots-prod.example.com-backups-etcd-events"}, 120, nil, nil},
	"two of one name":        {[]suggest.Store{store("a/b"), store("a-b")}, []string{uploads, "backstop-snapshots-a-b", "backstop-snapshots-a-b-2"}, 120, nil, nil},

	"named by hand": {[]suggest.Store{store(mainRoot, seen(func(o *audit.Observation) {
		s := snapshot(o.Store, noon, 1)
		s.Name, s.Taken = "2026-before-upgrade", time.Time{}
		o.Listing.Value.Snapshots = append(o.Listing.Value.Snapshots, s)
	}))}, []string{uploads, bounds}, 0, []string{"snapshots of s3://kops/" + mainRoot + " are not pruned: " + mainRoot + "/2026-before-upgrade begins as a snapshot does and was named by hand"}, nil},
	"a stray": {[]suggest.Store{store(mainRoot, seen(func(o *audit.Observation) {
		o.Listing.Value.Strays, o.Listing.Value.StrayCount = []audit.Object{{Key: mainRoot + "/2026.txt"}}, 1
	}))}, []string{uploads, bounds}, 0, []string{"2026.txt is no snapshot"}, nil},
	"a stray elsewhere is no matter": {[]suggest.Store{store(mainRoot, seen(func(o *audit.Observation) {
		o.Listing.Value.Strays, o.Listing.Value.StrayCount = []audit.Object{{Key: mainRoot + "/readme"}}, 1
	}))}, []string{uploads, prunes}, 120, nil, nil},
	"more strays than were looked at": {[]suggest.Store{store(mainRoot, seen(func(o *audit.Observation) {
		for i := range audit.StrayLimit {
			o.Listing.Value.Strays = append(o.Listing.Value.Strays, audit.Object{Key: fmt.Sprintf("%s/a%d", mainRoot, i)})
		}
		o.Listing.Value.StrayCount = audit.StrayLimit + 1
	}))}, []string{uploads, bounds}, 0, []string{"21 objects that etcd-manager would not write"}, nil},
	"the whole bucket is a store, and a cluster is called 2048": {[]suggest.Store{store(""), store("2048.example.com/backups/etcd/main")}, []string{uploads, "backstop-old-versions-all", "backstop-snapshots-2048.example.com-backups-etcd-main"}, 0,
		[]string{`no prefix separates them: "20" matches 2048.example.com/backups/etcd/main/control/etcd-cluster-created too, which is another store's`}, nil},
	"kops's own files begin as snapshots do": {[]suggest.Store{store("", seen(func(o *audit.Observation) {
		o.Kops.Value.Files = audit.Is([]audit.Object{{Key: "2048.example.com/pki/private/ca/keyset.yaml", LastModified: noon}})
	}))}, []string{uploads, "backstop-old-versions-all"}, 0, []string{"which is kops's"}, nil},

	"a replica": {[]suggest.Store{store(mainRoot, func(s *suggest.Store) { s.Policy.Role = audit.Replica; s.Observation.Kops = audit.None[audit.Kops]() })}, []string{uploads}, 0, []string{"there is no rule for s3://kops/" + mainRoot + ": it is configured as replica"}, nil},
	"armed": {[]suggest.Store{store(mainRoot, seen(func(o *audit.Observation) {
		o.Created, o.Spec = audit.None[audit.Document](), audit.None[audit.Document]()
	}))}, []string{uploads}, 0, []string{"the store is armed"}, nil},
	"armed, and the rule is still there": {[]suggest.Store{store(mainRoot, live(rule("as-long", snapshots, expire90)), seen(func(o *audit.Observation) {
		o.Created, o.Spec = audit.None[audit.Document](), audit.None[audit.Document]()
	}))},
		[]string{uploads}, 0, []string{"the store is armed", "leaves out as-long: forecast:"}, nil},
	"backups have stopped": {[]suggest.Store{store(mainRoot, func(s *suggest.Store) { s.Now = noon.Add(2 * audit.Day) })}, []string{uploads}, 0, []string{"its newest snapshot is old"}, nil},
	"after a reset": {[]suggest.Store{store(mainRoot, seen(func(o *audit.Observation) {
		born := noon.Add(-time.Hour)
		o.Created.Value.Body, o.Created.Value.LastModified = etcdmanager.FormatCreated(born), born
		o.Listing.Value.Snapshots = append(o.Listing.Value.Snapshots, snapshot(o.Store, noon.Add(-time.Minute), 690))
	}))}, []string{uploads}, 0, []string{"a new, empty cluster took the place of an older one"}, nil},
	"another server": {[]suggest.Store{store(mainRoot, seen(func(o *audit.Observation) { o.Store.Endpoint = "https://minio.example.com" }))}, []string{uploads, prunes}, 120, []string{"https://minio.example.com is not AWS"}, nil},
	"small objects are moved, which the document cannot say": {[]suggest.Store{store(mainRoot, live(rule("cold-logs", `{"Prefix":"logs/"}`, `"Transitions":[{"Days":30,"StorageClass":"GLACIER"}]`)), seen(func(o *audit.Observation) { o.Bucket.TransitionSizeDefault = lifecycle.VariesByClass }))},
		[]string{"cold-logs", uploads, prunes}, 120, []string{"--transition-default-minimum-object-size varies_by_storage_class"}, nil},
}

func TestFor(t *testing.T) {
	for name, c := range suggestions {
		t.Run(name, func(t *testing.T) {
			s, err := suggest.For(c.stores)
			if err != nil {
				t.Fatal(err)
			}
			said := notes(s)
			if got := ids(s); !slices.Equal(got, c.want) {
				t.Fatalf("rules %q, want %q\n%s", got, c.want, said)
			}
			for _, w := range c.says {
				if !strings.Contains(said, w) {
					t.Errorf("nothing says %q:\n%s", w, said)
				}
			}
			for _, w := range c.never {
				if strings.Contains(said, w) {
					t.Errorf("something says %q:\n%s", w, said)
				}
			}
			if c.days > 0 {
				i := slices.IndexFunc(s.Rules.Rules, func(r lifecycle.Rule) bool { return strings.HasPrefix(r.ID, "backstop-snapshots-") })
				if got := *s.Rules.Rules[i].Expiration.Days; got != c.days {
					t.Errorf("snapshots are pruned after %d days, want %d", got, c.days)
				}
			}
			if s.Bucket != "kops" {
				t.Errorf("bucket %q", s.Bucket)
			}
			harmless(t, c.stores, s)
			pleasesScanners(t, s)
			again(t, c.stores, s)
		})
	}
}

// applied are the stores as they are when the rules that were printed are in force.
func applied(t *testing.T, stores []suggest.Store, s suggest.Suggestion) []suggest.Store {
	t.Helper()
	body, err := s.Rules.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var all []suggest.Store
	for _, st := range stores {
		o := *st.Observation
		o.Bucket.Lifecycle = audit.Is(audit.Document{Body: body})
		st.Observation = &o
		all = append(all, st)
	}
	return all
}

// harmless audits the stores under the rules that were printed: S3 accepts them, no
// rule of an audit that is about lifecycle speaks that did not, and no control file
// ever goes.
func harmless(t *testing.T, stores []suggest.Store, s suggest.Suggestion) {
	t.Helper()
	body, _ := s.Rules.JSON()
	c, err := lifecycle.Parse(body)
	if err != nil || len(c.Notes) > 0 || len(c.Validate()) > 0 {
		t.Errorf("S3 would refuse it: %v %+v %+v", err, c.Notes, c.Validate())
	}
	for _, st := range applied(t, stores, s) {
		p := st.Policy
		p.HorizonWarning = 100 * 365 * audit.Day
		for _, f := range audit.Judge(rules.Set, st.Observation, p, st.Now).Findings {
			if strings.HasPrefix(f.Rule, "lifecycle/") || f.Rule == "retention/last-good-expiring" && strings.Contains(f.Message, "lifecycle rule") {
				t.Errorf("%s: %s", f.Rule, f.Message)
			}
		}
		tl := rules.Forecast(st.Observation, p, st.Now, 400*audit.Day, nil)
		for _, fate := range tl.Control {
			if !fate.Gone.IsZero() {
				t.Errorf("%s goes on %v by %q", fate.Path, fate.Gone, fate.Rule)
			}
		}
	}
}

// pleasesScanners holds the configuration against what the scanners ask: prowler,
// Steampipe and Security Hub for an enabled rule, Checkov's CKV_AWS_300 for one of
// the whole bucket that ends unfinished uploads.
func pleasesScanners(t *testing.T, s suggest.Suggestion) {
	t.Helper()
	if !slices.ContainsFunc(s.Rules.Rules, func(r lifecycle.Rule) bool {
		return r.Enabled() && r.AbortMultipart != nil && r.Filter != nil && r.Filter.Prefix == nil && r.Filter.And == nil && len(r.Filter.Tags) == 0
	}) {
		t.Errorf("no enabled rule of the whole bucket ends unfinished uploads: %+v", s.Rules)
	}
}

// again suggests for a bucket that has the suggestion already: nothing changes.
func again(t *testing.T, stores []suggest.Store, s suggest.Suggestion) {
	t.Helper()
	second, err := suggest.For(applied(t, stores, s))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := s.Rules.JSON()
	b, _ := second.Rules.JSON()
	if string(a) != string(b) {
		t.Errorf("suggested again it is\n%s\nand was\n%s", b, a)
	}
}

// Where it cannot be shown nothing is suggested, and the error says what is missing.
func TestUnproven(t *testing.T) {
	denied := audit.Why{Cause: audit.CauseDenied, Reason: "access denied", Permission: "s3:X"}
	for name, c := range map[string]struct {
		change func(o *audit.Observation)
		says   string
	}{
		"the listing":         {func(o *audit.Observation) { o.Listing = audit.Unknown[audit.Listing](denied) }, "listing of s3://kops/" + mainRoot + " was not seen: access denied (needs s3:X)"},
		"created":             {func(o *audit.Observation) { o.Created = audit.Unknown[audit.Document](denied) }, "created of"},
		"spec":                {func(o *audit.Observation) { o.Spec = audit.Unknown[audit.Document](denied) }, "spec of"},
		"versioning":          {func(o *audit.Observation) { o.Bucket.Versioning = audit.Unknown[string](denied) }, "versioning of"},
		"the rules":           {func(o *audit.Observation) { o.Bucket.Lifecycle = audit.Unknown[audit.Document](denied) }, "lifecycle of"},
		"a time before it":    {func(o *audit.Observation) { o.Spec.Value.LastModified = noon.Add(audit.Day) }, "stood then cannot be told: the store holds what was written 24h after"},
		"tags":                {func(o *audit.Observation) { o.Created.Value.Tags = audit.Unknown[map[string]string](denied) }, "tags of"},
		"kops":                {func(o *audit.Observation) { o.Kops = audit.Unknown[audit.Kops](denied) }, "kops of"},
		"kops's files":        {func(o *audit.Observation) { o.Kops.Value.Files = audit.Unknown[[]audit.Object](denied) }, "kops_state of"},
		"rules of no meaning": {func(o *audit.Observation) { o.Bucket.Lifecycle = audit.Is(audit.Document{Body: []byte("{")}) }, "the bucket's rules cannot be understood"},
		"MFA delete":          {func(o *audit.Observation) { o.Bucket.MFADelete = true }, "S3 would refuse it: The bucket has MFA delete"},
	} {
		_, err := suggest.For([]suggest.Store{store(mainRoot, seen(c.change))})
		if !errors.Is(err, suggest.ErrUnproven) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if _, err := suggest.For(nil); !errors.Is(err, suggest.ErrUnproven) {
		t.Errorf("without stores: %v", err)
	}
	// More rules than S3 takes.
	var many []suggest.Store
	for i := range 1001 {
		many = append(many, store(fmt.Sprintf("c%d/backups/etcd/main", i), seen(func(o *audit.Observation) { o.Kops = audit.None[audit.Kops]() })))
	}
	if _, err := suggest.For(many); !errors.Is(err, suggest.ErrUnproven) || !strings.Contains(err.Error(), "S3 would refuse it") {
		t.Errorf("1001 stores: %v", err)
	}
}

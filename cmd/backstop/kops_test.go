package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
	"backstop/store/storetest/rgwtest"
)

// clusterSpec is a cluster as kops writes it: main and events, with what the
// test gives in place of the defaults.
type clusterSpec struct {
	name     string
	api      string // kops.k8s.io/v1alpha2 unless given
	created  time.Time
	members  int
	version  string
	store    map[string]string // backupStore by etcd cluster
	etcds    []string          // main alone unless given
	interval string
	// retention is backupRetentionDays; 0 leaves the field out.
	retention int
	// hourly is what manager.env says of ETCD_MANAGER_HOURLY_BACKUPS_RETENTION.
	hourly string
	// wanted is a version that config asks for and that was not applied yet.
	wanted string
}

func (c clusterSpec) yaml(base string) []byte {
	var b strings.Builder
	api := c.api
	if api == "" {
		api = "kops.k8s.io/v1alpha2"
	}
	fmt.Fprintf(&b, "apiVersion: %s\nkind: Cluster\nmetadata:\n  creationTimestamp: %q\n  name: %s\nspec:\n", api, c.created.Format(time.RFC3339), c.name)
	if strings.HasSuffix(api, "v1alpha3") {
		fmt.Fprintf(&b, "  configStore:\n    base: %s/%s\n", base, c.name)
	} else {
		fmt.Fprintf(&b, "  configBase: %s/%s\n", base, c.name)
	}
	b.WriteString("  cloudProvider: aws\n  etcdClusters:\n")
	etcds := c.etcds
	if etcds == nil {
		etcds = []string{"main"}
	}
	for _, etcd := range etcds {
		fmt.Fprintf(&b, "  - cpuRequest: 200m\n    etcdMembers:\n")
		for i := range c.members {
			fmt.Fprintf(&b, "    - instanceGroup: control-plane-%c\n      name: %c\n", 'a'+i, 'a'+i)
		}
		fmt.Fprintf(&b, "    name: %s\n    version: %s\n", etcd, c.version)
		if s := c.store[etcd]; s != "" {
			fmt.Fprintf(&b, "    backups:\n      backupStore: %s\n", s)
		}
		if c.interval != "" || c.retention != 0 || c.hourly != "" {
			b.WriteString("    manager:\n")
		}
		if c.hourly != "" {
			fmt.Fprintf(&b, "      env:\n      - name: ETCD_MANAGER_HOURLY_BACKUPS_RETENTION\n        value: %s\n", c.hourly)
		}
		if c.retention != 0 {
			fmt.Fprintf(&b, "      backupRetentionDays: %d\n", c.retention)
		}
		if c.interval != "" {
			fmt.Fprintf(&b, "      backupInterval: %s\n", c.interval)
		}
	}
	return []byte(b.String())
}

// put writes the two documents of a cluster into a state store.
func (c clusterSpec) put(b *storetest.Bucket, at time.Time) {
	base := "s3://" + b.Name()
	b.Put(c.name+"/cluster-completed.spec", c.yaml(base), storetest.WithTime(at))
	if c.wanted != "" {
		c.version = c.wanted
	}
	b.Put(c.name+"/config", c.yaml(base), storetest.WithTime(at))
}

// etcdStore writes a backup store: the control files that are given, and hourly
// snapshots of the last day up to age ago.
func etcdStore(b *storetest.Bucket, root string, now time.Time, control string, members int, age time.Duration) {
	born := now.Add(-40 * audit.Day)
	spec := etcdmanager.FormatSpec(etcdmanager.ClusterSpec{MemberCount: int32(members), EtcdVersion: "3.5.30"})
	if strings.Contains(control, "c") {
		b.Put(root+"/"+etcdmanager.CreatedPath, etcdmanager.FormatCreated(born), storetest.WithTime(born))
	}
	if strings.Contains(control, "s") {
		b.Put(root+"/"+etcdmanager.SpecPath, spec, storetest.WithTime(born))
	}
	for i := range 4 {
		taken := now.Add(-age - time.Duration(i)*time.Hour)
		name := etcdmanager.FormatName(taken, i+1)
		b.Put(root+"/"+name+"/"+etcdmanager.DataFile, make([]byte, 50_000), storetest.WithTime(taken))
		b.Put(root+"/"+name+"/"+etcdmanager.MetaFile, fmt.Appendf(nil, `{"etcdVersion":"3.5.30","timestamp":"%d","clusterSpec":%s}`, taken.Unix(), spec), storetest.WithTime(taken))
	}
}

// A kopsState is a kops state store with clusters in every state, in two buckets.
type kopsState struct {
	now            time.Time
	fake           *storetest.Fake
	state, backups *storetest.Bucket
}

// A toldStore is what must be said of one store: its state and what is found, but
// for information and what concerns the whole bucket; words of it; and on Ceph,
// where that is something else, why.
type toldStore struct {
	want  string
	says  []string
	onRGW string
	why   string
}

const lateThere = "the gateway dates every object when the test puts it there, so that "

// newKopsState puts thirteen clusters, and the stores of two that kops does not know,
// into two buckets of these names.
func newKopsState(now time.Time, state, backups string) *kopsState {
	k := &kopsState{now: now, fake: storetest.NewFake(func() time.Time { return now })}
	k.state, k.backups = k.fake.CreateBucket(state), k.fake.CreateBucket(backups)
	k.state.SetVersioning("Enabled")
	k.backups.SetVersioning("Enabled")
	for _, make := range []func(k *kopsState){(*kopsState).inTheirPlace, (*kopsState).elsewhere, (*kopsState).unusual} {
		make(k)
	}
	return k
}

// cluster puts the documents of a cluster of three members and 40 days.
func (k *kopsState) cluster(name string, change ...func(c *clusterSpec)) string {
	c := clusterSpec{name: name, created: k.now.Add(-40 * audit.Day), members: 3, version: "3.5.30"}
	for _, f := range change {
		f(&c)
	}
	c.put(k.state, c.created)
	return name + "/backups/etcd/"
}

// inTheirPlace are clusters that keep their backups where kops puts them.
func (k *kopsState) inTheirPlace() {
	s := k.state
	a := k.cluster("a-healthy.example.com", withEvents, func(c *clusterSpec) { c.interval = "15m0s" })
	etcdStore(s, a+"main", k.now, "cs", 3, 5*time.Minute)
	etcdStore(s, a+"events", k.now, "cs", 3, 5*time.Minute)

	b := k.cluster("b-armed.example.com") + "main"
	etcdStore(s, b, k.now, "cs", 3, 20*time.Hour)
	midnight := storetest.WithTime(k.now.Truncate(audit.Day))
	s.Delete(b+"/"+etcdmanager.CreatedPath, midnight)
	s.Delete(b+"/"+etcdmanager.SpecPath, midnight)

	etcdStore(s, k.cluster("c-imminent.example.com")+"main", k.now, "s", 3, 20*time.Hour)
	etcdStore(s, k.cluster("d-latent.example.com")+"main", k.now, "c", 3, 5*time.Minute)
	etcdStore(s, k.cluster("e-stuck.example.com")+"main", k.now, "c", 3, 20*time.Hour)
	f := k.cluster("f-blocked.example.com") + "main"
	etcdStore(s, f, k.now, "s", 3, 20*time.Hour)
	s.Put(f+"/"+etcdmanager.CreatedPath, nil, storetest.WithTime(k.now.Add(-20*time.Hour)))
}

// elsewhere are clusters that keep their backups in another place.
func (k *kopsState) elsewhere() {
	moved, foreign, shared := "s3://"+k.state.Name()+"/moved/etcd-main", "s3://"+k.backups.Name()+"/h/main", "s3://"+k.backups.Name()+"/i/etcd"
	k.cluster("g-moved.example.com", withStore(moved), func(c *clusterSpec) { c.api = "kops.k8s.io/v1alpha3" })
	etcdStore(k.state, "moved/etcd-main", k.now, "cs", 3, 5*time.Minute)
	k.cluster("h-foreign.example.com", withStore(foreign))
	etcdStore(k.backups, "h/main", k.now, "cs", 3, 5*time.Minute)
	k.cluster("i-shared.example.com", withEvents, withStores(shared, shared+"/"))
	etcdStore(k.backups, "i/etcd", k.now, "cs", 3, 5*time.Minute)
	k.cluster("m-google.example.com", withStore("gs://backups/google"))
}

// unusual are clusters that are being born, were deleted, never came to be, cannot
// be read, and have lost their whole store.
func (k *kopsState) unusual() {
	s := k.state
	j := k.cluster("j-born.example.com", func(c *clusterSpec) { c.created = k.now.Add(-20 * time.Minute) }) + "main/"
	spec := etcdmanager.FormatSpec(etcdmanager.ClusterSpec{MemberCount: 3, EtcdVersion: "3.5.30"})
	s.Put(j+etcdmanager.SpecPath, spec, storetest.WithTime(k.now.Add(-10*time.Minute)))

	etcdStore(s, "k-gone.example.com/backups/etcd/main", k.now, "cs", 3, 400*time.Hour) // kops knows no such cluster
	s.Put("l-never.example.com/backups/etcd/main/"+etcdmanager.SpecPath, spec, storetest.WithTime(k.now.Add(-30*audit.Day)))

	n := k.cluster("n-sealed.example.com") + "main"
	etcdStore(s, n, k.now, "s", 3, 5*time.Minute)
	s.Put(n+"/"+etcdmanager.CreatedPath, []byte("x"), storetest.WithTime(k.now.Add(-40*audit.Day)), storetest.SealedBy("AccessDenied"))
	k.cluster("o-emptied.example.com")
}

// want is what must be said of each store.
func (k *kopsState) want() map[string]toldStore {
	state, backups := "s3://"+k.state.Name()+"/", "s3://"+k.backups.Name()+"/"
	main := "/backups/etcd/main"
	return map[string]toldStore{
		state + "a-healthy.example.com" + main:              {want: "running"},
		state + "a-healthy.example.com/backups/etcd/events": {want: "running"},
		state + "b-armed.example.com" + main:                {want: "armed; critical control/reset-armed", says: []string{"is hidden by delete marker", "Put etcd-cluster-created back FIRST"}},
		state + "c-imminent.example.com" + main:             {want: "imminent; critical control/reset-imminent", says: []string{"within 10 s of having a quorum", "memberCount 3, etcdVersion 3.5.30"}},
		state + "d-latent.example.com" + main:               {want: "latent; critical control/spec-missing", says: []string{"Backups still run"}},
		state + "e-stuck.example.com" + main:                {want: "stuck; critical control/spec-missing", says: []string{"Backups have stopped"}},
		state + "f-blocked.example.com" + main:              {want: "blocked; critical control/blocked", says: []string{"is empty (0 bytes)"}},
		state + "moved/etcd-main":                           {want: "running"},
		backups + "h/main":                                  {want: "running"},
		backups + "i/etcd":                                  {want: "running; critical control/shared-store", says: []string{"i-shared.example.com/main and to i-shared.example.com/events"}},
		state + "j-born.example.com" + main:                 {want: "bootstrapping", says: []string{"a first cluster is forming"}},
		state + "k-gone.example.com" + main:                 {want: "running; warning bucket/orphan-store", says: []string{"does not list the cluster k-gone.example.com"}},
		state + "l-never.example.com" + main: {want: "uninitialised; warning bucket/orphan-store; warning control/never-initialised",
			onRGW: "bootstrapping; warning bucket/orphan-store", why: lateThere + "control/never-initialised takes the spec for one of a cluster that is being born"},
		state + "n-sealed.example.com" + main:  {want: "unknown; unknown control/unseen", says: []string{"nobody can tell a running cluster from one that is armed"}},
		state + "o-emptied.example.com" + main: {want: "armed; critical audit/store-vanished", says: []string{"kops names this store, and nothing of it is there"}},
	}
}

// check holds a report against what must be said of each store.
func (k *kopsState) check(t *testing.T, r audit.Report, res result, onRGW bool) {
	t.Helper()
	said := map[string]audit.StoreReport{}
	for _, s := range r.Stores {
		said[s.Store.URL] = s
	}
	want := k.want()
	for url, w := range want {
		s, ok := said[url]
		if !ok {
			t.Errorf("%s was not found", url)
			continue
		}
		expect := w.want
		if onRGW && w.onRGW != "" {
			t.Logf("%s: %s, and not %s: %s", url, w.onRGW, w.want, w.why)
			expect = w.onRGW
		}
		if got := briefly(s); got != expect {
			t.Errorf("%s: %q, want %q", url, got, expect)
		}
		text := wordsOf(audit.Report{Stores: []audit.StoreReport{s}})
		for _, words := range w.says {
			if !strings.Contains(text, words) {
				t.Errorf("%s: nothing says %q:\n%s", url, words, text)
			}
		}
	}
	if len(r.Stores) != len(want) || r.Checked != len(want)-1 || res.code != exitCritical {
		t.Errorf("%d stores, checked %d, exit %d; want %d, all but one, and 2\n%s", len(r.Stores), r.Checked, res.code, len(want), res.stdout)
	}
	if len(r.Problems) != 1 || r.Problems[0].Target != "gs://backups/google" || !strings.Contains(r.Problems[0].Message, "m-google.example.com") {
		t.Errorf("problems %+v, want the store of m-google", r.Problems)
	}
}

// briefly is a store's state and what was found of it, but for information and
// what concerns the whole bucket.
func briefly(s audit.StoreReport) string {
	var rules []string
	for _, f := range s.Findings {
		if f.Severity != audit.Info && f.Scope == "" {
			rules = append(rules, string(f.Severity)+" "+f.Rule)
		}
	}
	slices.Sort(rules)
	return strings.Join(append([]string{s.State.Name}, rules...), "; ")
}

// One command finds every store that thirteen kops clusters have, wherever they
// keep it, and says the right thing of each.
func TestKopsStateStore(t *testing.T) {
	k := newKopsState(at("2026-11-30T12:00:00Z"), "kops-state", "backups-eu")
	r, res := reportOf(t, k.now, "s3://kops-state", "--endpoint-url", k.fake.URL(t))
	k.check(t, r, res, false)
}

// The same through a real gateway, which dates all objects when they are put: what
// it says otherwise is in the table, with the reason, and what of information and
// of whole buckets in rgwDeviates.
func TestKopsStateStoreThroughRGW(t *testing.T) {
	g := rgwtest.Shared(t)
	c := g.Client()
	k := newKopsState(time.Now().UTC(), c.Bucket(t), c.Bucket(t))
	for _, b := range []*storetest.Bucket{k.state, k.backups} {
		c.SetVersioning(t, b.Name(), "Enabled")
		var sealed []string
		for _, o := range b.History() {
			c.Add(t, b.Name(), o)
			if o.Refusal != "" {
				sealed = append(sealed, `"arn:aws:s3:::`+b.Name()+"/"+o.Key+`"`)
			}
		}
		if len(sealed) > 0 {
			c.SetPolicy(t, b.Name(), `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:GetObject","Resource":[`+strings.Join(sealed, ",")+`]}]}`)
		}
	}
	signAs(t, g.AccessKey, g.SecretKey)
	r, res := reportOf(t, k.now, "s3://"+k.state.Name(), "--endpoint-url", g.Endpoint)
	k.check(t, r, res, true)
}

// What kops says exists and does not is a finding; what backstop cannot read is
// named.
func TestKopsNamesWhatIsNotThere(t *testing.T) {
	now := at("2026-11-30T12:00:00Z")
	old := now.Add(-40 * audit.Day)
	fake := storetest.NewFake(func() time.Time { return now })
	state := fake.CreateBucket("kops-state")
	gone := clusterSpec{name: "gone.example.com", created: old, members: 1, version: "3.5.30"}
	gone.put(state, old)
	google := clusterSpec{name: "google.example.com", created: old, members: 1, version: "3.5.30", store: map[string]string{"main": "gs://backups/google"}}
	google.put(state, old)
	r, res := reportOf(t, now, "s3://kops-state", "--endpoint-url", fake.URL(t))
	if len(r.Stores) != 1 || !slices.Contains(findings(r), "critical audit/store-vanished") || r.Stores[0].Store.URL != "s3://kops-state/gone.example.com/backups/etcd/main" {
		t.Errorf("stores %+v", r.Stores)
	}
	if len(r.Problems) != 1 || r.Problems[0].Target != "gs://backups/google" || !strings.Contains(r.Problems[0].Message, "google.example.com") {
		t.Errorf("problems %+v", r.Problems)
	}
	if res.code != 2 {
		t.Errorf("exit %d, want 2", res.code)
	}
}

// A store that is asked for by itself is told what kops says of it, and its
// cluster's other stores are left alone.
func TestOneStoreOfAKopsCluster(t *testing.T) {
	now := at("2026-11-30T12:00:00Z")
	old := now.Add(-40 * audit.Day)
	fake := storetest.NewFake(func() time.Time { return now })
	endpoint := fake.URL(t)
	state := fake.CreateBucket("kops-state")
	state.SetVersioning("Enabled")
	c := clusterSpec{name: "a.example.com", created: old, members: 3, version: "3.5.30", etcds: []string{"main", "events"}}
	c.put(state, old)
	etcdStore(state, "a.example.com/backups/etcd/main", now, "cs", 1, 5*time.Minute)
	etcdStore(state, "a.example.com/backups/etcd/events", now, "cs", 3, 5*time.Minute)
	r, _ := reportOf(t, now, "s3://kops-state/a.example.com/backups/etcd/main", "--endpoint-url", endpoint)
	if len(r.Stores) != 1 || !slices.Contains(findings(r), "critical control/spec-shrinks") {
		t.Errorf("%d stores, found %q", len(r.Stores), findings(r))
	}
	r, _ = reportOf(t, now, "s3://kops-state/a.example.com", "--endpoint-url", endpoint)
	if len(r.Stores) != 2 {
		t.Errorf("the cluster: %d stores, want 2", len(r.Stores))
	}
}

// Where kops's word on a cluster cannot be read, its stores may be anywhere: the
// run is not OK, and gate does not say GO.
func TestKopsDocumentThatCannotBeRead(t *testing.T) {
	now := at("2026-11-30T12:00:00Z")
	old := now.Add(-40 * audit.Day)
	for name, c := range map[string]struct {
		fault storetest.Fault
		only  string // the document that fails; empty for both
		found int    // stores that are found all the same
	}{
		"both refused":                {storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "AccessDenied"}, "", 1},
		"both time out":               {storetest.Fault{Kind: storetest.Refused, Status: 503, Code: "SlowDown"}, "", 1},
		"both are something else":     {storetest.Fault{Kind: storetest.Foreign}, "", 1},
		"the completed spec":          {storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "AccessDenied"}, "cluster-completed.spec", 2},
		"the completed spec is empty": {storetest.Fault{Kind: storetest.Foreign, Body: []byte(" ")}, "cluster-completed.spec", 2},
	} {
		t.Run(name, func(t *testing.T) {
			fake := storetest.NewFake(func() time.Time { return now })
			endpoint := fake.URL(t)
			state, backups := fake.CreateBucket("kops-state"), fake.CreateBucket("backups-eu")
			state.SetVersioning("Enabled")
			backups.SetVersioning("Enabled")
			a := clusterSpec{name: "a.example.com", created: old, members: 1, version: "3.5.30"}
			a.put(state, old)
			etcdStore(state, "a.example.com/backups/etcd/main", now, "cs", 1, 5*time.Minute)
			b := clusterSpec{name: "b.example.com", created: old, members: 1, version: "3.5.30", store: map[string]string{"main": "s3://backups-eu/b/main"}}
			b.put(state, old)
			etcdStore(backups, "b/main", now, "s", 1, 5*time.Minute)
			fake.Fault(func(r storetest.Request) *storetest.Fault {
				if r.Operation == "GetObject" && strings.HasPrefix(r.Key, "b.example.com/") && strings.HasSuffix(r.Key, c.only) {
					return &c.fault
				}
				return nil
			})
			r, res := reportOf(t, now, "s3://kops-state", "--endpoint-url", endpoint)
			if r.Verdict == audit.OK || res.code == 0 || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Message, "b.example.com") {
				t.Errorf("verdict %s, exit %d, problems %+v", r.Verdict, res.code, r.Problems)
			}
			if len(r.Stores) != c.found {
				t.Errorf("%d stores, want %d", len(r.Stores), c.found)
			}
			if g := command(t, now, "gate", "s3://kops-state", "--endpoint-url", endpoint); g.code == 0 {
				t.Errorf("gate says GO:\n%s", g.stdout)
			}
		})
	}
}

// A cluster of which config alone is left has been made all the same if one of its
// stores stands where it says: what it says counts. Without a store it is what somebody
// means to have, and a config that is not kops's is nobody's.
func TestKopsConfigAlone(t *testing.T) {
	now := at("2026-11-30T12:00:00Z")
	old := now.Add(-40 * audit.Day)
	both := []string{"main", "events"}
	for name, c := range map[string]struct {
		spec   clusterSpec
		body   string // in the place of the cluster's document
		stores []string
		want   []string // warnings and worse
		places int      // not audited
	}{
		"a healthy cluster":      {spec: clusterSpec{members: 3}, stores: []string{"kops-state/a.example.com/backups/etcd/main"}},
		"two etcds in one store": {spec: clusterSpec{members: 3, etcds: both, store: map[string]string{"events": "s3://kops-state/a.example.com/backups/etcd/main"}}, stores: []string{"kops-state/a.example.com/backups/etcd/main"}, want: []string{"critical control/shared-store"}},
		"fewer members":          {spec: clusterSpec{members: 1}, stores: []string{"kops-state/a.example.com/backups/etcd/main"}, want: []string{"warning control/spec-mismatch"}},
		"one store is gone":      {spec: clusterSpec{members: 3, etcds: both}, stores: []string{"kops-state/a.example.com/backups/etcd/main"}, want: []string{"critical audit/store-vanished"}},
		"a store at Google":      {spec: clusterSpec{members: 3, etcds: both, store: map[string]string{"events": "gs://b/events"}}, stores: []string{"kops-state/a.example.com/backups/etcd/main"}, places: 1},
		"stores in another place": {spec: clusterSpec{members: 3, etcds: both, store: map[string]string{"main": "s3://kops-state/x/main", "events": "s3://kops-state/x/events/"}},
			stores: []string{"kops-state/x/main"}, want: []string{"critical audit/store-vanished"}},
		"never made":           {spec: clusterSpec{members: 3}, want: []string{}},
		"empty":                {body: " ", stores: []string{"kops-state/a.example.com/backups/etcd/main"}, places: 1},
		"an error page":        {body: "<html>503</html>", stores: []string{"kops-state/a.example.com/backups/etcd/main"}, places: 1},
		"something else":       {body: "apiVersion: v1", stores: []string{"kops-state/a.example.com/backups/etcd/main"}, places: 1},
		"something else apart": {body: "apiVersion: v1"},
	} {
		t.Run(name, func(t *testing.T) {
			fake := storetest.NewFake(func() time.Time { return now })
			state := fake.CreateBucket("kops-state")
			state.SetVersioning("Enabled")
			c.spec.name, c.spec.created, c.spec.version = "a.example.com", old, "3.5.30"
			body := c.spec.yaml("s3://kops-state")
			if c.body != "" {
				body = []byte(c.body)
			}
			state.Put("a.example.com/config", body, storetest.WithTime(old))
			for _, s := range c.stores {
				etcdStore(state, strings.TrimPrefix(s, "kops-state/"), now, "cs", 3, 5*time.Minute)
			}
			r, _ := reportOf(t, now, "s3://kops-state", "--endpoint-url", fake.URL(t))
			for _, f := range findings(r) {
				if !strings.HasPrefix(f, "info ") && !slices.Contains(c.want, f) {
					t.Errorf("found %s", f)
				}
			}
			for _, f := range c.want {
				if !slices.Contains(findings(r), f) {
					t.Errorf("%s was not found among %q", f, findings(r))
				}
			}
			places := 0
			for _, p := range r.Problems {
				if len(c.stores) > 0 || p.Cause != audit.CauseNoStore {
					places++
				}
			}
			if places != c.places || c.places > 0 && r.Verdict != audit.VerdictUnknown {
				t.Errorf("verdict %s, not audited: %+v, want %d", r.Verdict, r.Problems, c.places)
			}
		})
	}
}

// What a lifecycle rule will do to kops's own files is foretold, whichever of the
// cluster's places is asked for: the state store, one backup store in it, or both
// where the backups are in a bucket of their own.
func TestKopsStateIsForetold(t *testing.T) {
	now := at("2026-11-30T12:00:00Z")
	old := now.Add(-40 * audit.Day)
	fake := storetest.NewFake(func() time.Time { return now })
	state, backups := fake.CreateBucket("kops-state"), fake.CreateBucket("backups-eu")
	state.SetVersioning("Enabled")
	backups.SetVersioning("Enabled")
	a := clusterSpec{name: "a.example.com", created: old, members: 3, version: "3.5.30"}
	a.put(state, now)
	etcdStore(state, "a.example.com/backups/etcd/main", now, "cs", 3, 5*time.Minute)
	b := clusterSpec{name: "b.example.com", created: old, members: 3, version: "3.5.30", store: map[string]string{"main": "s3://backups-eu/b/main"}}
	b.put(state, now)
	etcdStore(backups, "b/main", now, "cs", 3, 5*time.Minute)
	for _, name := range []string{"a.example.com", "b.example.com"} {
		state.Put(name+"/pki/private/kubernetes-ca/keyset.yaml", []byte("key"), storetest.WithTime(old))
		state.Put(name+"/instancegroup/nodes", []byte("group"), storetest.WithTime(old))
		state.Put(name+"/secrets/admin", []byte("secret"), storetest.WithTime(old))
	}
	rules := ""
	for _, prefix := range []string{"a.example.com/pki/", "a.example.com/secrets/", "b.example.com/pki/", "b.example.com/instancegroup/"} {
		rules += "<Rule><ID>" + prefix + "</ID><Status>Enabled</Status><Filter><Prefix>" + prefix + "</Prefix></Filter><Expiration><Days>60</Days></Expiration></Rule>"
	}
	state.SetLifecycle([]byte("<LifecycleConfiguration>" + rules + "</LifecycleConfiguration>"))
	endpoint := fake.URL(t)
	for _, c := range []struct {
		place string
		want  map[string]string // by store, what the finding says; empty for none
	}{
		{"s3://kops-state", map[string]string{
			"s3://kops-state/a.example.com/backups/etcd/main": "of the kops cluster a.example.com on 2026-12-21 00:00:00Z, in 20d, and 1 other file",
			"s3://backups-eu/b/main":                          "of the kops cluster b.example.com on 2026-12-21 00:00:00Z, in 20d, and 1 other file",
		}},
		{"s3://kops-state/a.example.com/backups/etcd/main", map[string]string{
			"s3://kops-state/a.example.com/backups/etcd/main": "of the kops cluster a.example.com on 2026-12-21 00:00:00Z, in 20d, and 1 other file",
		}},
		{"s3://backups-eu/b/main", map[string]string{"s3://backups-eu/b/main": ""}},
	} {
		r, _ := reportOf(t, now, c.place, "--endpoint-url", endpoint)
		if len(r.Stores) != len(c.want) {
			t.Fatalf("%s: %d stores", c.place, len(r.Stores))
		}
		for _, s := range r.Stores {
			said := ""
			for _, f := range s.Findings {
				if f.Rule == "lifecycle/deletes-kops-state" {
					said = f.Message
				}
			}
			if want := c.want[s.Store.URL]; !strings.Contains(said, want) || want == "" && said != "" {
				t.Errorf("%s, %s: it says %q, want %q", c.place, s.Store.URL, said, want)
			}
		}
	}
	// A refusal to list them is told, and changes no verdict.
	state.DenyListExceptPrefix("a.example.com/backups/")
	r, _ := reportOf(t, now, "s3://kops-state/a.example.com/backups/etcd/main", "--endpoint-url", endpoint)
	if !slices.ContainsFunc(r.Stores[0].Unseen, func(u audit.UnseenFact) bool { return u.Fact == audit.FactKopsState && !u.Necessary }) {
		t.Errorf("unseen %+v", r.Stores[0].Unseen)
	}
}

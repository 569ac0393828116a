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
		if c.interval != "" || c.retention != 0 {
			b.WriteString("    manager:\n")
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
	b.Put(c.name+"/cluster-completed.spec", c.yaml("s3://kops-state"), storetest.WithTime(at))
	if c.wanted != "" {
		c.version = c.wanted
	}
	b.Put(c.name+"/config", c.yaml("s3://kops-state"), storetest.WithTime(at))
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

// One command finds every store that ten kops clusters have, wherever they keep
// it, and says the right thing of each.
func TestKopsStateStore(t *testing.T) {
	now := at("2026-11-30T12:00:00Z")
	old := now.Add(-40 * audit.Day)
	fake := storetest.NewFake(func() time.Time { return now })
	state, backups := fake.CreateBucket("kops-state"), fake.CreateBucket("backups-eu")
	state.SetVersioning("Enabled")
	backups.SetVersioning("Enabled")
	cluster := func(name string) clusterSpec {
		return clusterSpec{name: name, created: old, members: 3, version: "3.5.30"}
	}
	def := func(name, etcd string) string { return name + "/backups/etcd/" + etcd }

	a := cluster("a-healthy.example.com")
	a.etcds, a.interval = []string{"main", "events"}, "15m0s"
	a.put(state, old)
	etcdStore(state, def(a.name, "main"), now, "cs", 3, 5*time.Minute)
	etcdStore(state, def(a.name, "events"), now, "cs", 3, 5*time.Minute)

	b := cluster("b-armed.example.com")
	b.put(state, old)
	etcdStore(state, def(b.name, "main"), now, "", 3, 20*time.Hour)

	c := cluster("c-imminent.example.com")
	c.put(state, old)
	etcdStore(state, def(c.name, "main"), now, "s", 3, 20*time.Hour)

	d := cluster("d-latent.example.com")
	d.put(state, old)
	etcdStore(state, def(d.name, "main"), now, "c", 3, 5*time.Minute)

	e := cluster("e-stuck.example.com")
	e.put(state, old)
	etcdStore(state, def(e.name, "main"), now, "c", 3, 20*time.Hour)

	f := cluster("f-blocked.example.com")
	f.put(state, old)
	etcdStore(state, def(f.name, "main"), now, "s", 3, 20*time.Hour)
	state.Put(def(f.name, "main")+"/"+etcdmanager.CreatedPath, nil, storetest.WithTime(old))

	g := cluster("g-moved.example.com") // in the same bucket, elsewhere
	g.api, g.store = "kops.k8s.io/v1alpha3", map[string]string{"main": "s3://kops-state/moved/etcd-main"}
	g.put(state, old)
	etcdStore(state, "moved/etcd-main", now, "cs", 3, 5*time.Minute)

	h := cluster("h-foreign.example.com") // in another bucket
	h.store = map[string]string{"main": "s3://backups-eu/h/main"}
	h.put(state, old)
	etcdStore(backups, "h/main", now, "cs", 3, 5*time.Minute)

	i := cluster("i-shared.example.com") // main and events name one store
	i.etcds, i.store = []string{"main", "events"}, map[string]string{"main": "s3://backups-eu/i/etcd", "events": "s3://backups-eu/i/etcd/"}
	i.put(state, old)
	etcdStore(backups, "i/etcd", now, "cs", 3, 5*time.Minute)

	j := cluster("j-born.example.com") // kops update has run, the nodes come up
	j.created = now.Add(-20 * time.Minute)
	j.put(state, now.Add(-10*time.Minute))
	state.Put(def(j.name, "main")+"/"+etcdmanager.SpecPath, etcdmanager.FormatSpec(etcdmanager.ClusterSpec{MemberCount: 3, EtcdVersion: "3.5.30"}), storetest.WithTime(now.Add(-10*time.Minute)))

	etcdStore(state, "k-gone.example.com/backups/etcd/main", now, "cs", 3, 400*time.Hour) // kops knows no such cluster

	r, res := reportOf(t, now, "s3://kops-state", "--endpoint-url", fake.URL(t))
	got := map[string]string{}
	for _, s := range r.Stores {
		var rules []string
		for _, f := range s.Findings {
			if f.Severity != audit.Info && f.Scope == "" {
				rules = append(rules, string(f.Severity)+" "+f.Rule)
			}
		}
		slices.Sort(rules)
		got[s.Store.URL] = strings.Join(append([]string{s.State.Name}, rules...), "; ")
	}
	want := map[string]string{
		"s3://kops-state/a-healthy.example.com/backups/etcd/main":   "running",
		"s3://kops-state/a-healthy.example.com/backups/etcd/events": "running",
		"s3://kops-state/b-armed.example.com/backups/etcd/main":     "armed; critical control/reset-armed",
		"s3://kops-state/c-imminent.example.com/backups/etcd/main":  "imminent; critical control/reset-imminent",
		"s3://kops-state/d-latent.example.com/backups/etcd/main":    "latent; critical control/spec-missing",
		"s3://kops-state/e-stuck.example.com/backups/etcd/main":     "stuck; critical control/spec-missing",
		"s3://kops-state/f-blocked.example.com/backups/etcd/main":   "blocked; critical control/blocked",
		"s3://kops-state/moved/etcd-main":                           "running",
		"s3://backups-eu/h/main":                                    "running",
		"s3://backups-eu/i/etcd":                                    "running; critical control/shared-store",
		"s3://kops-state/j-born.example.com/backups/etcd/main":      "bootstrapping",
		"s3://kops-state/k-gone.example.com/backups/etcd/main":      "running; warning bucket/orphan-store",
	}
	for url, w := range want {
		if got[url] != w {
			t.Errorf("%s: %q, want %q", url, got[url], w)
		}
	}
	if len(got) != len(want) || len(r.Problems) != 0 {
		t.Errorf("%d stores, want %d; problems %+v\n%s", len(got), len(want), r.Problems, res.stdout)
	}
	if r.Checked != len(want) {
		t.Errorf("checked %d of %d", r.Checked, r.Total)
	}
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

package recovery

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// store is one whose root needs quoting in a shell.
func observation() *audit.Observation {
	s := audit.Store{URL: "s3://kops/it's a/backups/etcd/events", Bucket: "kops", Prefix: "it's a/backups/etcd/events", Cluster: "it's a", Etcd: "events"}
	name := etcdmanager.FormatName(noon.Add(-time.Hour), 1)
	return &audit.Observation{
		Store: s, Ended: noon,
		Listing: audit.Is(audit.Listing{Snapshots: []audit.Snapshot{{Name: name, Taken: noon.Add(-time.Hour)}}}),
		Created: audit.None[audit.Document](), Spec: audit.None[audit.Document](),
		Queue:           audit.Is([]audit.Command{}),
		NewestMeta:      audit.Is(audit.Document{Body: []byte(`{"etcdVersion":"3.5.9","timestamp":"1","clusterSpec":{"memberCount":3,"etcdVersion":"3.5.30"}}`)}),
		ControlVersions: audit.None[[]audit.Version](),
		Bucket:          audit.Bucket{Name: "kops", Lifecycle: audit.None[audit.Document](), Versioning: audit.None[string]()},
	}
}

func command(o *audit.Observation, body string) {
	key := o.Store.Key("control", "2026-11-30T11:00:00Z-000000", "_command.json")
	o.Queue.Value = append(o.Queue.Value, audit.Command{Object: audit.Object{Key: key}, Body: audit.Is(audit.Document{Object: audit.Object{Key: key}, Body: []byte(body)})})
}

const restore = `{"timestamp":"1","restoreBackup":{"backup":"x","clusterSpec":{}}}`

// Where no meta file tells what the cluster runs by, kops does.
func TestSpecWithoutMeta(t *testing.T) {
	kops := audit.Kops{Known: true, Members: 3, Version: "3.5.30"}
	with := func(change func(k *audit.Kops)) audit.Fact[audit.Kops] {
		k := kops
		change(&k)
		return audit.Is(k)
	}
	noMeta, otherMeta := audit.None[audit.Document](), audit.Is(audit.Document{Body: []byte(`{"clusterSpec":{"memberCount":5,"etcdVersion":"3.4.13"}}`)})
	for name, c := range map[string]struct {
		meta audit.Fact[audit.Document]
		kops audit.Fact[audit.Kops]
		do   string // words of the step
		put  string // words of its command
	}{
		"the meta comes first":         {otherMeta, audit.Is(kops), "as the newest snapshot's meta has it: memberCount 5, etcdVersion 3.4.13", `"memberCount": 5`},
		"no meta, and kops tells":      {noMeta, audit.Is(kops), "as kops asks for (no snapshot's meta could be used: compare it with what runs): memberCount 3, etcdVersion 3.5.30", `"memberCount": 3`},
		"a meta that does not parse":   {audit.Is(audit.Document{Body: []byte("{")}), audit.Is(kops), "as kops asks for", `"etcdVersion": "3.5.30"`},
		"a meta without members":       {audit.Is(audit.Document{Body: []byte(`{"clusterSpec":{"etcdVersion":"3.5.30"}}`)}), audit.Is(kops), "as kops asks for", `"memberCount": 3`},
		"the meta was not seen":        {audit.Unknown[audit.Document](audit.Why{}), audit.Is(kops), "as kops asks for", `"memberCount": 3`},
		"kops does not name the store": {noMeta, with(func(k *audit.Kops) { k.Known = false }), "`kops get cluster -o yaml`", "MEMBERS"},
		"kops has no members":          {noMeta, with(func(k *audit.Kops) { k.Members = 0 }), "`kops get cluster -o yaml`", "MEMBERS"},
		"kops has no version":          {noMeta, with(func(k *audit.Kops) { k.Version = "" }), "`kops get cluster -o yaml`", "VERSION"},
		"kops was not looked at":       {noMeta, audit.None[audit.Kops](), "`kops get cluster -o yaml`", "MEMBERS"},
		"kops was not seen":            {noMeta, audit.Unknown[audit.Kops](audit.Why{}), "`kops get cluster -o yaml`", "MEMBERS"},
	} {
		t.Run(name, func(t *testing.T) {
			o := observation()
			o.NewestMeta, o.Kops = c.meta, c.kops
			i := slices.IndexFunc(Repair(o, etcdmanager.Armed), func(s Step) bool { return strings.HasPrefix(s.Do, "Now put etcd-cluster-spec back") })
			step := Repair(o, etcdmanager.Armed)[i]
			if !strings.Contains(step.Do, c.do) || !strings.Contains(step.Do, "too small removes members") {
				t.Errorf("the step says %q, want %q", step.Do, c.do)
			}
			if got := strings.Join(step.Commands, " "); !strings.Contains(got, c.put) {
				t.Errorf("the command is %q, want %q", got, c.put)
			}
		})
	}
}

// The steps by a word of each, in the order in which they must come.
func TestOrderOfRepair(t *testing.T) {
	badSpec := func(o *audit.Observation) { o.Spec = audit.Is(audit.Document{Body: []byte("{")}) }
	goodSpec := func(o *audit.Observation) {
		o.Spec = audit.Is(audit.Document{Body: []byte(`{"memberCount":3,"etcdVersion":"3.5.30"}`)})
	}
	const (
		freeze = "Do NOT run kops"
		save   = "Save a snapshot"
		rule   = "lifecycle rule"
		empty  = "queue is empty"
		drain  = "Empty the command queue"
		create = "Put etcd-cluster-created back FIRST"
		read   = "Read etcd-cluster-created back"
		spec   = "Now put etcd-cluster-spec back"
		stands = "etcd-cluster-spec is there"
		lead   = "on the LEADER"
		watch  = "Watch until"
	)
	for name, c := range map[string]struct {
		state  etcdmanager.State
		change func(o *audit.Observation)
		want   []string
	}{
		"armed":                              {etcdmanager.Armed, nil, []string{freeze, save, rule, empty, create, read, spec, lead, watch}},
		"armed, bad spec":                    {etcdmanager.Armed, badSpec, []string{freeze, save, rule, empty, create, read, spec, lead, watch}},
		"armed, queued":                      {etcdmanager.Armed, func(o *audit.Observation) { command(o, restore) }, []string{freeze, save, rule, drain, create, read, spec, lead, watch}},
		"imminent":                           {etcdmanager.Imminent, goodSpec, []string{create, read, freeze, save, rule, stands, empty, lead, watch}},
		"imminent, queued":                   {etcdmanager.Imminent, func(o *audit.Observation) { goodSpec(o); command(o, restore) }, []string{drain, create, read, freeze, save, rule, stands, lead, watch}},
		"imminent, held up by a bad command": {etcdmanager.Imminent, func(o *audit.Observation) { goodSpec(o); command(o, "{") }, []string{create, read, freeze, save, rule, stands, drain, lead, watch}},
		"latent":                             {etcdmanager.Latent, nil, []string{freeze, save, rule, empty, spec, lead, watch}},
		"stuck":                              {etcdmanager.Stuck, badSpec, []string{freeze, save, rule, empty, spec, lead, watch}},
		"blocked by empty":                   {etcdmanager.Blocked, func(o *audit.Observation) { goodSpec(o); o.Created = audit.Is(audit.Document{}) }, []string{freeze, save, rule, empty, "Write etcd-cluster-created with content", read, stands, lead, watch}},
		"blocked by archive":                 {etcdmanager.Blocked, func(o *audit.Observation) { o.Created = audit.Is(audit.Document{Unreadable: "archived"}) }, []string{freeze, save, rule, empty, "thaw it and copy it", read, spec, lead, watch}},
		"running":                            {etcdmanager.Running, nil, nil},
		"unknown":                            {etcdmanager.Unknown, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := observation()
			if c.change != nil {
				c.change(o)
			}
			steps := Repair(o, c.state)
			if len(steps) != len(c.want) {
				t.Fatalf("%d steps, want %d: %q", len(steps), len(c.want), Titles(steps))
			}
			for i, s := range steps {
				if !strings.Contains(s.Do, c.want[i]) {
					t.Errorf("step %d is %q, want %q", i+1, s.Do, c.want[i])
				}
			}
		})
	}
}

// What is pasted must be what a shell takes, whatever the bucket's keys hold, and
// must name this store.
func TestCommandsAreShell(t *testing.T) {
	for _, state := range []etcdmanager.State{etcdmanager.Armed, etcdmanager.Imminent, etcdmanager.Latent, etcdmanager.Blocked} {
		o := observation()
		command(o, restore)
		o.Bucket.Lifecycle = audit.Is(audit.Document{Body: []byte("x")})
		for _, s := range Repair(o, state) {
			script := strings.Join(s.Commands, "\n")
			if out, err := exec.Command("sh", "-n", "-c", script).CombinedOutput(); err != nil {
				t.Errorf("%s: %v %s\n%s", state, err, out, script)
			}
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"s3://kops/a-b_c.d": "s3://kops/a-b_c.d", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "a\nb": "'a\nb'", "~": "'~'",
	} {
		if got := Quote(in); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}

// A good version is copied over itself; where there is none, or none that can be
// copied, the file is written anew.
func TestCreatedComesFromItsGoodVersion(t *testing.T) {
	o := observation()
	key := o.Store.Key(etcdmanager.CreatedPath)
	version := func(id, class string, size int64, marker bool) audit.Version {
		return audit.Version{Object: audit.Object{Key: key, Size: size, StorageClass: class}, VersionID: id, Marker: marker}
	}
	created := func() string {
		for _, s := range Repair(o, etcdmanager.Armed) {
			if strings.Contains(s.Do, "created back FIRST") {
				return strings.Join(s.Commands, "\n")
			}
		}
		return ""
	}
	o.ControlVersions = audit.Is([]audit.Version{version("m", "", 0, true), version("e", "", 0, false), version("g", "GLACIER", 33, false), version("good", "", 33, false)})
	if c := created(); !strings.Contains(c, "copy-object") || !strings.Contains(c, "versionId=good") {
		t.Errorf("with a good version: %s", c)
	}
	o.ControlVersions.Value = slices.DeleteFunc(o.ControlVersions.Value, func(v audit.Version) bool { return v.VersionID == "good" })
	if c := created(); !strings.Contains(c, `{"timestamp":1796036400000000000}`) {
		t.Errorf("without one: %s", c)
	}
}

// The spec is never guessed: without a meta that says so it is left to a person.
func TestSpecIsNotGuessed(t *testing.T) {
	for name, c := range map[string]struct {
		meta audit.Fact[audit.Document]
		want string
	}{
		"as the meta has it": {observation().NewestMeta, `"memberCount": 3`},
		"not seen":           {audit.Unknown[audit.Document](audit.Why{}), "MEMBERS"},
		"none":               {audit.None[audit.Document](), "MEMBERS"},
		"no members in it":   {audit.Is(audit.Document{Body: []byte(`{"clusterSpec":{"etcdVersion":"3.5.30"}}`)}), "MEMBERS"},
	} {
		o := observation()
		o.NewestMeta = c.meta
		steps := Repair(o, etcdmanager.Latent)
		all := ""
		for _, s := range steps {
			all += strings.Join(s.Commands, "\n")
		}
		if !strings.Contains(all, c.want) {
			t.Errorf("%s: no %q in %s", name, c.want, all)
		}
	}
}

func TestKopsEtcd(t *testing.T) {
	for in, want := range map[string][2]string{
		"main": {"main", "4001"}, "events": {"events", "4002"}, "etcd-events": {"events", "4002"}, "cilium": {"cilium", "PORT"}, "mine": {"NAME", "PORT"}, "": {"NAME", "PORT"},
	} {
		if name, port := kopsEtcd(in); name != want[0] || port != want[1] {
			t.Errorf("kopsEtcd(%q) = %s %s, want %s", in, name, port, want)
		}
	}
}

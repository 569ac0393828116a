package kops_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"backstop/store/etcdmanager"
	"backstop/store/kops"
)

const day = 24 * time.Hour

// config is a cluster's config as `kops create cluster` writes it today.
const config = `apiVersion: kops.k8s.io/v1alpha2
kind: Cluster
metadata:
  creationTimestamp: "2025-03-04T09:12:44Z"
  name: prod.k8s.example.com
spec:
  api:
    loadBalancer:
      class: Network
      type: Public
  authorization:
    rbac: {}
  channel: stable
  cloudProvider: aws
  configBase: s3://example-kops-state/prod.k8s.example.com
  etcdClusters:
  - cpuRequest: 200m
    etcdMembers:
    - encryptedVolume: true
      instanceGroup: control-plane-eu-west-1a
      name: a
    - encryptedVolume: true
      instanceGroup: control-plane-eu-west-1b
      name: b
    - encryptedVolume: true
      instanceGroup: control-plane-eu-west-1c
      name: c
    manager:
      backupRetentionDays: 90
    memoryRequest: 100Mi
    name: main
  - cpuRequest: 100m
    etcdMembers:
    - encryptedVolume: true
      instanceGroup: control-plane-eu-west-1a
      name: a
    - encryptedVolume: true
      instanceGroup: control-plane-eu-west-1b
      name: b
    - encryptedVolume: true
      instanceGroup: control-plane-eu-west-1c
      name: c
    manager:
      backupRetentionDays: 90
    memoryRequest: 100Mi
    name: events
  - etcdMembers:
    - instanceGroup: control-plane-eu-west-1a
      name: a
    - instanceGroup: control-plane-eu-west-1b
      name: b
    - instanceGroup: control-plane-eu-west-1c
      name: c
    manager:
      env:
      - name: ETCD_AUTO_COMPACTION_MODE
        value: revision
      - name: ETCD_AUTO_COMPACTION_RETENTION
        value: "2500"
    name: cilium
  iam:
    allowContainerRegistry: true
    legacy: false
  kubernetesVersion: 1.32.4
  networking:
    cilium:
      etcdManaged: true
`

// completed is the completed spec of the same, in the fields that matter.
const completed = `apiVersion: kops.k8s.io/v1alpha2
kind: Cluster
metadata:
  creationTimestamp: "2025-03-04T09:12:44Z"
  name: prod.k8s.example.com
spec:
  cloudProvider: aws
  clusterDNSDomain: cluster.local
  configBase: s3://example-kops-state/prod.k8s.example.com
  configStore: s3://example-kops-state/prod.k8s.example.com
  etcdClusters:
  - backups:
      backupStore: s3://example-kops-state/prod.k8s.example.com/backups/etcd/main
    etcdMembers:
    - {instanceGroup: control-plane-eu-west-1a, name: a, encryptedVolume: true}
    - {instanceGroup: control-plane-eu-west-1b, name: b, encryptedVolume: true}
    - {instanceGroup: control-plane-eu-west-1c, name: c, encryptedVolume: true}
    manager:
      backupRetentionDays: 90
    name: main
    version: 3.5.21
  - backups:
      backupStore: s3://example-kops-state/prod.k8s.example.com/backups/etcd/events
    etcdMembers:
    - {instanceGroup: control-plane-eu-west-1a, name: a, encryptedVolume: true}
    - {instanceGroup: control-plane-eu-west-1b, name: b, encryptedVolume: true}
    - {instanceGroup: control-plane-eu-west-1c, name: c, encryptedVolume: true}
    manager:
      backupRetentionDays: 90
    name: events
    version: 3.5.21
  - backups:
      backupStore: s3://example-kops-state/prod.k8s.example.com/backups/etcd/cilium
    etcdMembers:
    - {instanceGroup: control-plane-eu-west-1a, name: a}
    - {instanceGroup: control-plane-eu-west-1b, name: b}
    - {instanceGroup: control-plane-eu-west-1c, name: c}
    manager:
      env:
      - name: ETCD_AUTO_COMPACTION_MODE
        value: revision
    name: cilium
    version: 3.5.21
  keyStore: s3://example-kops-state/prod.k8s.example.com/pki
`

// next is in v1alpha3's spelling, with backups in another bucket.
const next = `apiVersion: kops.k8s.io/v1alpha3
kind: Cluster
metadata:
  creationTimestamp: null
  labels:
    team: platform
  name: next.k8s.example.com
spec:
  cloudProvider:
    aws: {}
  configStore:
    base: s3://example-kops-state/next.k8s.example.com
    keypairs: s3://example-kops-state/next.k8s.example.com/pki
    secrets: s3://example-kops-state/next.k8s.example.com/secrets
  etcdClusters:
  - backups:
      backupStore: s3://example-backups/next/etcd-main/
    etcdMembers:
    - instanceGroup: control-plane-a
      name: a
    manager:
      backupInterval: 1h0m0s
      backupRetentionDays: 30
      env:
      - name: ETCD_MANAGER_HOURLY_BACKUPS_RETENTION
        value: 3d
    name: main
    version: 3.6.5
`

// old is from before the API group was kops.k8s.io, when times were not quoted and
// etcd-manager was a choice.
const old = `apiVersion: kops/v1alpha2
kind: Cluster
metadata:
  creationTimestamp: 2018-05-20T14:58:19Z
  name: dev
spec:
  configBase: s3://example-old/dev
  etcdClusters:
  - etcdMembers:
    - instanceGroup: master-eu-west-1a
      name: a
    name: main
  - etcdMembers:
    - instanceGroup: master-eu-west-1a
      name: a
    name: events
    provider: Legacy
`

const inJSON = `{
	"apiVersion": "kops.k8s.io/v1alpha2", "kind": "Cluster",
	"metadata": {"name": "json.example.com", "creationTimestamp": "2026-01-02T03:04:05+02:00",
		"annotations": {"owner": "the \ud83d\udc18 team"}},
	"spec": {
		"configBase": "s3:\/\/example-kops-state\/json.example.com",
		"etcdClusters": [
			{"name": "main", "version": "3.5.21", "etcdMembers": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
			 "manager": {"backupRetentionDays": 14, "backupInterval": "30m0s"}, "backups": null}
		]
	}
}
`

var theDefault = kops.Retention{Retention: etcdmanager.DefaultRetention}

// ninety is what kops asks for since 1.27.
var ninety = kops.Retention{
	Retention: etcdmanager.Retention{Hourly: 7 * day, Daily: 90 * day}, DailyBy: "backupRetentionDays",
}

func TestParse(t *testing.T) {
	const base = "s3://example-kops-state/prod.k8s.example.com"
	created := time.Date(2025, 3, 4, 9, 12, 44, 0, time.UTC)
	prod := func(version string) kops.Cluster {
		c := kops.Cluster{Name: "prod.k8s.example.com", APIVersion: "kops.k8s.io/v1alpha2", Created: created, ConfigBase: base}
		for _, name := range []string{"main", "events", "cilium"} {
			c.Etcd = append(c.Etcd, kops.Etcd{Name: name, Members: 3, Version: version, BackupStore: base + "/backups/etcd/" + name, Retention: ninety})
		}
		c.Etcd[2].Retention = theDefault
		return c
	}
	for _, test := range []struct {
		name, body, at string
		want           kops.Cluster
	}{
		{"a config", config, base + "/config", prod("")},
		{"its completed spec", completed, base + "/cluster-completed.spec", prod("3.5.21")},
		{"v1alpha3, another bucket", next, "next.k8s.example.com/config", kops.Cluster{
			Name: "next.k8s.example.com", APIVersion: "kops.k8s.io/v1alpha3", ConfigBase: "s3://example-kops-state/next.k8s.example.com",
			Etcd: []kops.Etcd{{
				Name: "main", Members: 1, Version: "3.6.5", BackupStore: "s3://example-backups/next/etcd-main/", Overridden: true, Interval: time.Hour,
				Retention: kops.Retention{Retention: etcdmanager.Retention{Hourly: 3 * day, Daily: 30 * day},
					HourlyBy: "env ETCD_MANAGER_HOURLY_BACKUPS_RETENTION", DailyBy: "backupRetentionDays"},
			}},
		}},
		{"the old group, unquoted time, one without etcd-manager", old, "dev/config", kops.Cluster{
			Name: "dev", APIVersion: "kops/v1alpha2", Created: time.Date(2018, 5, 20, 14, 58, 19, 0, time.UTC), ConfigBase: "s3://example-old/dev",
			Etcd: []kops.Etcd{
				{Name: "main", Members: 1, BackupStore: "s3://example-old/dev/backups/etcd/main", Retention: theDefault},
				{Name: "events", Members: 1, BackupStore: "s3://example-old/dev/backups/etcd/events", Retention: theDefault, Legacy: true},
			},
		}},
		{"JSON, with a pair of surrogates", inJSON, "json.example.com/config", kops.Cluster{
			Name: "json.example.com", APIVersion: "kops.k8s.io/v1alpha2", Created: time.Date(2026, 1, 2, 1, 4, 5, 0, time.UTC),
			ConfigBase: "s3://example-kops-state/json.example.com",
			Etcd: []kops.Etcd{{Name: "main", Members: 3, Version: "3.5.21", Interval: 30 * time.Minute,
				BackupStore: "s3://example-kops-state/json.example.com/backups/etcd/main",
				Retention:   kops.Retention{Retention: etcdmanager.Retention{Hourly: 7 * day, Daily: 14 * day}, DailyBy: "backupRetentionDays"}}},
		}},
		{"nothing but the kind, at a URL", "kind: Cluster\napiVersion: kops.k8s.io/v1alpha2\n", "s3://b/state/x.example.com/config",
			kops.Cluster{Name: "x.example.com", APIVersion: "kops.k8s.io/v1alpha2", ConfigBase: "s3://b/state/x.example.com"}},
		{"nothing but the kind, at a key", "kind: Cluster\napiVersion: kops.k8s.io/v1alpha2\nspec: {etcdClusters: [{name: main}]}\n", "state/x.example.com/config",
			kops.Cluster{Name: "x.example.com", APIVersion: "kops.k8s.io/v1alpha2", Etcd: []kops.Etcd{{Name: "main", Retention: theDefault}}}},
		{"nulls", "kind: Cluster\napiVersion: kops.k8s.io/v1alpha2\nmetadata: {name: x, labels: null}\nspec: {configBase: ~, etcdClusters: null}\n", "x/config",
			kops.Cluster{Name: "x", APIVersion: "kops.k8s.io/v1alpha2"}},
		{"the second document", "# made by hand\n---\napiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup\nmetadata: {name: nodes}\n---\n" + old, "dev/config", kops.Cluster{
			Name: "dev", APIVersion: "kops/v1alpha2", Created: time.Date(2018, 5, 20, 14, 58, 19, 0, time.UTC), ConfigBase: "s3://example-old/dev",
			Etcd: []kops.Etcd{
				{Name: "main", Members: 1, BackupStore: "s3://example-old/dev/backups/etcd/main", Retention: theDefault},
				{Name: "events", Members: 1, BackupStore: "s3://example-old/dev/backups/etcd/events", Retention: theDefault, Legacy: true},
			},
		}},
		{"v1alpha3 in its first months", strings.Replace(strings.Replace(old, "kops/v1alpha2", "kops.k8s.io/v1alpha3", 1), "spec:\n", "spec:\n  configStore: s3://other/dev\n", 1), "dev/config", kops.Cluster{
			Name: "dev", APIVersion: "kops.k8s.io/v1alpha3", Created: time.Date(2018, 5, 20, 14, 58, 19, 0, time.UTC), ConfigBase: "s3://example-old/dev",
			Etcd: []kops.Etcd{
				{Name: "main", Members: 1, BackupStore: "s3://example-old/dev/backups/etcd/main", Retention: theDefault},
				{Name: "events", Members: 1, BackupStore: "s3://example-old/dev/backups/etcd/events", Retention: theDefault, Legacy: true},
			},
		}},
		{"bare metal keeps its backups on the nodes", strings.Replace(old, "  name: dev\n", "  name: dev\n  labels: {alpha.kops.k8s.io/cloud: metal}\n", 1), "dev/config", kops.Cluster{
			Name: "dev", APIVersion: "kops/v1alpha2", Created: time.Date(2018, 5, 20, 14, 58, 19, 0, time.UTC), ConfigBase: "s3://example-old/dev",
			Etcd: []kops.Etcd{
				{Name: "main", Members: 1, BackupStore: "file:///mnt/disks/backups", Overridden: true, Retention: theDefault},
				{Name: "events", Members: 1, BackupStore: "file:///mnt/disks/backups", Overridden: true, Retention: theDefault, Legacy: true},
			},
		}},
		{"aliases", "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata: {name: x}\nspec:\n  etcdClusters:\n" +
			"  - {name: main, etcdMembers: &m [{name: a}, {name: b}], version: &v 3.5.21}\n  - {name: events, etcdMembers: *m, version: *v}\n", "x/config",
			kops.Cluster{Name: "x", APIVersion: "kops.k8s.io/v1alpha2", Etcd: []kops.Etcd{
				{Name: "main", Members: 2, Version: "3.5.21", Retention: theDefault}, {Name: "events", Members: 2, Version: "3.5.21", Retention: theDefault}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := kops.Parse([]byte(test.body), test.at)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// with puts a line or more into the main etcd cluster of a small document.
func with(lines string) string {
	return "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata: {name: x}\nspec:\n  configBase: s3://b/x\n  etcdClusters:\n" +
		"  - name: main\n" + lines + "\n"
}

// Unknown fields are none of our business; wrong types in the others are.
func TestParseNamesWhatIsWrong(t *testing.T) {
	const head = "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\n"
	for _, test := range []struct{ body, want string }{
		{"apiVersion: kops.k8s.io/v1beta1\nkind: Cluster\n", `apiVersion "kops.k8s.io/v1beta1" is not one that is known: want v1alpha2 or v1alpha3`},
		{"apiVersion: kops/v1alpha1\nkind: Cluster\n", `apiVersion "kops/v1alpha1" is not one that is known: want v1alpha2 or v1alpha3`},
		{head + "metadata: yes\n", `metadata (line 3): want fields, found the text "yes"`},
		{head + "metadata: {name: 7}\n", `metadata.name (line 3): want text, found the number "7"`},
		{head + "metadata: {name: a/b}\n", `metadata.name (line 3): want the name of a cluster, found "a/b"`},
		{head + `metadata: {name: "a\x1b[2Jb"}` + "\n", `metadata.name (line 3): want the name of a cluster, found "a\x1b[2Jb"`},
		{head + "metadata: {name: x, name: y}\n", `metadata.name (line 3): is given twice`},
		{head + "metadata: {name: x, creationTimestamp: last week}\n", `metadata.creationTimestamp (line 3): want a time like 2006-01-02T15:04:05Z, found the text "last week"`},
		{head + "metadata: {name: x, creationTimestamp: {}}\n", `metadata.creationTimestamp (line 3): want a time like 2006-01-02T15:04:05Z, found fields`},
		{head + "metadata: {name: x, labels: {kops.k8s.io/a: [metal]}}\n", `metadata.labels.kops.k8s.io/a (line 3): want text, found a list`},
		{head + "spec: []\n", `spec (line 3): want fields, found a list`},
		{head + "spec: {configBase: {base: s3://b}}\n", `spec.configBase (line 3): want text, found fields`},
		{"apiVersion: kops.k8s.io/v1alpha3\nkind: Cluster\nspec: {configStore: [s3://b]}\n", `spec.configStore (line 3): want fields, found a list`},
		{"apiVersion: kops.k8s.io/v1alpha3\nkind: Cluster\nspec: {configStore: {base: 3}}\n", `spec.configStore.base (line 3): want text, found the number "3"`},
		{head + "spec: {etcdClusters: {main: {}}}\n", `spec.etcdClusters (line 3): want a list, found fields`},
		{head + "spec: {etcdClusters: [~]}\n", `spec.etcdClusters[0] (line 3): is empty`},
		{head + "spec: {etcdClusters: [main]}\n", `spec.etcdClusters[0] (line 3): want fields, found the text "main"`},
		{head + "spec: {etcdClusters: [{}]}\n", `spec.etcdClusters[0].name: want the name of an etcd cluster, found ""`},
		{head + "spec: {etcdClusters: [{name: ../../other}]}\n", `spec.etcdClusters[0].name (line 3): want the name of an etcd cluster, found "../../other"`},
		{head + "spec: {etcdClusters: [{name: main}, {name: main}]}\n", `spec.etcdClusters[1].name (line 3): "main" is given twice`},
		{with("    version: 3.5"), `spec.etcdClusters[0].version (line 8): want text, found the number "3.5"`},
		{with("    version: true"), `spec.etcdClusters[0].version (line 8): want text, found "true"`},
		{with("    etcdMembers: 3"), `spec.etcdClusters[0].etcdMembers (line 8): want a list, found the number "3"`},
		{with("    etcdMembers: [a, b, c]"), `spec.etcdClusters[0].etcdMembers[0] (line 8): want fields, found the text "a"`},
		{with("    provider: []"), `spec.etcdClusters[0].provider (line 8): want text, found a list`},
		{with("    backups: s3://b/main"), `spec.etcdClusters[0].backups (line 8): want fields, found the text "s3://b/main"`},
		{with("    backups: {backupStore: [s3://b/main]}"), `spec.etcdClusters[0].backups.backupStore (line 8): want text, found a list`},
		{with("    manager: none"), `spec.etcdClusters[0].manager (line 8): want fields, found the text "none"`},
		{with("    manager: {backupInterval: 15}"), `spec.etcdClusters[0].manager.backupInterval (line 8): want text, found the number "15"`},
		{with("    manager: {backupInterval: daily}"), `spec.etcdClusters[0].manager.backupInterval (line 8): want a duration like 15m or 1h0m0s, found the text "daily"`},
		{with("    manager: {backupInterval: 1d}"), `spec.etcdClusters[0].manager.backupInterval (line 8): want a duration like 15m or 1h0m0s, found the text "1d"`},
		{with("    manager: {backupRetentionDays: 90d}"), `spec.etcdClusters[0].manager.backupRetentionDays (line 8): want a whole number from 0 to 4294967295, found the text "90d"`},
		{with("    manager: {backupRetentionDays: \"90\"}"), `spec.etcdClusters[0].manager.backupRetentionDays (line 8): want a whole number from 0 to 4294967295, found the text "90"`},
		{with("    manager: {backupRetentionDays: -1}"), `spec.etcdClusters[0].manager.backupRetentionDays (line 8): want a whole number from 0 to 4294967295, found the number "-1"`},
		{with("    manager: {backupRetentionDays: 4294967296}"), `spec.etcdClusters[0].manager.backupRetentionDays (line 8): want a whole number from 0 to 4294967295, found the number "4294967296"`},
		{with("    manager: {backupRetentionDays: !!int x}"), `spec.etcdClusters[0].manager.backupRetentionDays (line 8): want a whole number from 0 to 4294967295, found the number "x"`},
		{with("    manager: {env: {A: b}}"), `spec.etcdClusters[0].manager.env (line 8): want a list, found fields`},
		{with("    manager: {env: [{name: A}, 3]}"), `spec.etcdClusters[0].manager.env[1] (line 8): want fields, found the number "3"`},
		{with("    manager: {env: [{name: ETCD_MANAGER_DAILY_BACKUPS_RETENTION, value: 90}]}"), `spec.etcdClusters[0].manager.env[0].value (line 8): want text, found the number "90"`},
		{with("    <<: {version: 3.5.21}"), `spec.etcdClusters[0].name (line 8): a merge key (<<) is not read`},
		{with("    version: !sealed " + strings.Repeat("x", 99)), `spec.etcdClusters[0].version (line 8): want text, found "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"…`},
	} {
		_, err := kops.Parse([]byte(test.body), "x.example.com/config")
		if want := "x.example.com/config: " + test.want; err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", test.body, err, want)
		} else if errors.Is(err, kops.ErrNotCluster) {
			t.Errorf("%s\nis taken for something else", test.body)
		}
	}
}

func TestParseTellsOtherDocumentsFromBrokenOnes(t *testing.T) {
	for _, test := range []struct {
		name, body string
		other      bool
	}{
		{"nothing", "", true},
		{"a kubeconfig", "apiVersion: v1\nkind: Config\nclusters: []\n", true},
		{"a git configuration", "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = x\n", true},
		{"an SSH configuration", "Host *\n  ServerAliveInterval 60\n", true},
		{"bytes", "\x00\x01\xff\xfe\x80", true},
		{"another project's Cluster", "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: x}\n", true},
		{"an instance group", "apiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup\nmetadata: {name: config}\n", true},
		{"a Cluster of nobody's", "kind: Cluster\nmetadata: {name: x}\n", true},
		{"an unversioned cluster.spec", "metadata: {name: x}\nspec: {configBase: s3://b/x}\n", true},
		{"a list", "- apiVersion: kops.k8s.io/v1alpha2\n", true},
		{"another big file", strings.Repeat("x", kops.DocumentLimit+1), true},
		{"another big table", strings.Repeat("a,", 1<<18+1), true},
		{"a big cluster", old + "# " + strings.Repeat("x", kops.DocumentLimit), false},
		{"a truncated cluster", config[:strings.Index(config, "    - encryptedVolume")] + "    - {encryp", false},
		{"a truncated JSON cluster", inJSON[:len(inJSON)/2], false},
		{"a cluster with a tab", strings.Replace(old, "  name: dev", "\tname: dev", 1), false},
	} {
		_, err := kops.Parse([]byte(test.body), "x/config")
		if err == nil || errors.Is(err, kops.ErrNotCluster) != test.other {
			t.Errorf("%s: other %t, want %t: %v", test.name, !test.other, test.other, err)
		}
	}
}

// What is huge when it is unfolded, or deep, or wide, must end soon and small.
func TestParseIsBounded(t *testing.T) {
	const head = "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata: {name: x}\n"
	bomb := head + "a0: &a0 [x]\n"
	for i := range 40 {
		s := string(rune('0'+i/10)) + string(rune('0'+i%10))
		prev := "a0"
		if i > 0 {
			prev = "b" + string(rune('0'+(i-1)/10)) + string(rune('0'+(i-1)%10))
		}
		bomb += "b" + s + ": &b" + s + " [" + strings.Repeat("*"+prev+",", 9) + "*" + prev + "]\n"
	}
	fill := func(s string) string { return strings.Repeat(s, (kops.DocumentLimit-4096)/len(s)) }
	long := func(s string) string { return strings.Repeat(s, 1<<18/len(s)) }
	few := func(s string) string { return strings.Repeat(s, 1001) }
	const marks = "more than 262144 lines, commas and the like"
	for _, test := range []struct{ name, body, want string }{
		{"a bomb of aliases where nobody looks", bomb, ""},
		{"a bomb of aliases where we look", bomb + "spec: {etcdClusters: *b39}\n", "want fields, found a list"},
		{"a list in itself", head + "spec: &s {etcdClusters: &e [*e]}\n", "want fields, found a list"},
		{"fields in themselves", head + "spec: &s {etcdClusters: [{name: main, manager: *s, backups: *s}]}\n", ""},
		{"deep in brackets", head + "a: " + strings.Repeat("[", 20000), "exceeded max depth"},
		{"deep in braces", head + "a: " + strings.Repeat("{a: ", 20000), "exceeded max depth"},
		{"deep in dashes", head + "a:\n" + strings.Repeat("- ", 20000), "exceeded max depth"},
		{"deep JSON", strings.Replace(inJSON, `"spec"`, `"a": `+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`, "spec"`, 1), ""},
		{"deeper JSON", strings.Replace(inJSON, `"spec"`, `"a": `+strings.Repeat("[", 11000)+strings.Repeat("]", 11000)+`, "spec"`, 1), "yaml: line 4"},
		{"many etcd clusters", head + "spec: {etcdClusters: [" + strings.Repeat("{name: a},", 17) + "]}\n", "spec.etcdClusters (line 4): has more than 16 entries"},
		{"many members", head + "spec: {etcdClusters: [{name: main, etcdMembers: [" + few("{},") + "]}]}\n", "etcdMembers (line 4): has more than 1000 entries"},
		{"many variables", head + "spec: {etcdClusters: [{name: main, manager: {env: [" + few("{},") + "]}}]}\n", "manager.env (line 4): has more than 1000 entries"},
		{"many fields", head + "spec: {" + few("a,") + "}\n", "spec (line 4): has more than 1000 fields"},
		{"many fields where nobody looks", head + "a: {" + strings.Repeat("a,", 30000) + "}\n", ""},
		{"many documents", strings.Repeat("--- a\n", 10000) + "---\n" + head, ""},
		{"many anchors", head + "a: [" + strings.Repeat("&a b,", 30000) + "]\n", ""},
		{"commas to the limit", head + "a: [" + fill("a,") + "]\n", marks},
		{"lines to the limit", head + "a: |" + fill("\n "), marks},
		{"carriage returns to the limit", head + "a: |" + fill("\r "), marks},
		{"dashes to the limit", head + "a:\n" + fill("- "), marks},
		{"brackets to the limit", head + "a: " + fill("["), marks},
		{"braces to the limit", head + "a: " + fill("{"), marks},
		{"colons to the limit", head + "a: {" + fill(":"), marks},
		{"question marks to the limit", head + "a: " + fill("? "), marks},
		{"a long line", head + "a: " + long("x") + "\n", ""},
		{"long words", head + "a: " + long("x ") + "\n", ""},
		{"a long comment", head + "#" + long("x") + "\n", ""},
		{"a long key", head + "? " + long("x") + "\n: y\n", ""},
		{"long quotes", head + "a: \"" + long("\\n") + "\"\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			begin := time.Now()
			_, err := kops.Parse([]byte(test.body), "x/config")
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestInterval(t *testing.T) {
	for _, test := range []struct {
		field       string
		given, runs time.Duration
	}{
		{"", 0, 15 * time.Minute},
		{"backupInterval: null", 0, 15 * time.Minute},
		{"backupInterval: 1h", time.Hour, time.Hour},
		{"backupInterval: 10.5s", 10500 * time.Millisecond, 10500 * time.Millisecond},
		{"backupInterval: 1s", kops.Cycle, kops.Cycle},
		{"backupInterval: 0s", kops.Cycle, kops.Cycle},
		{"backupInterval: -1h", kops.Cycle, kops.Cycle},
	} {
		c, err := kops.Parse([]byte(with("    manager: {"+test.field+"}")), "x/config")
		if err != nil {
			t.Error(err)
			continue
		}
		if e := c.Etcd[0]; e.Interval != test.given || e.Every() != test.runs {
			t.Errorf("%s: %s, runs every %s; want %s and %s", test.field, e.Interval, e.Every(), test.given, test.runs)
		}
	}
}

func TestBackupStore(t *testing.T) {
	for _, test := range []struct {
		base, override, want string
		overridden           bool
	}{
		{"s3://b/x", "", "s3://b/x/backups/etcd/main", false},
		{"s3://b/x/", "", "s3://b/x/backups/etcd/main", false},
		{"s3://b", "", "s3://b/backups/etcd/main", false},
		{"gs://b/x", "", "gs://b/x/backups/etcd/main", false},
		{"s3://b/x", "s3://b/x/backups/etcd/main", "s3://b/x/backups/etcd/main", false},
		{"s3://b/x", "s3://b/x/backups/etcd/main/", "s3://b/x/backups/etcd/main/", false},
		{"s3://b/x", "s3://b/x/backups/etcd-main", "s3://b/x/backups/etcd-main", true},
		{"s3://b/x", "s3://other/x/backups/etcd/main", "s3://other/x/backups/etcd/main", true},
		{"s3://b/x", "do://b/x/backups/etcd/main", "do://b/x/backups/etcd/main", true},
		{"s3://b/x", "what is this", "what is this", true},
	} {
		body := "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nspec: {configBase: '" + test.base + "', etcdClusters: [{name: main, backups: {backupStore: '" + test.override + "'}}]}"
		c, err := kops.Parse([]byte(body), "x/config")
		if err != nil {
			t.Error(err)
			continue
		}
		if e := c.Etcd[0]; e.BackupStore != test.want || e.Overridden != test.overridden {
			t.Errorf("%s, %s: %s, overridden %t; want %s, %t", test.base, test.override, e.BackupStore, e.Overridden, test.want, test.overridden)
		}
	}
}

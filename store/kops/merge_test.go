package kops_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"backstop/store/kops"
)

func parse(t *testing.T, body string) *kops.Cluster {
	t.Helper()
	c, err := kops.Parse([]byte(body), "s3://example-kops-state/prod.k8s.example.com/config")
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

func TestMerge(t *testing.T) {
	applied := func(changes ...kops.Change) kops.Cluster {
		c := *parse(t, completed)
		c.Applied, c.Pending = true, changes
		return c
	}
	replace := func(body string, pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(body, pairs[i]) {
				t.Fatalf("no %q in the document", pairs[i])
			}
			body = strings.Replace(body, pairs[i], pairs[i+1], 1)
		}
		return body
	}
	const firstManager = "    manager:\n      backupRetentionDays: 90\n"
	for _, test := range []struct {
		name, config, completed string
		want                    func() kops.Cluster
	}{
		{"neither", "", "", func() kops.Cluster { return kops.Cluster{} }},
		{"config alone", config, "", func() kops.Cluster { return *parse(t, config) }},
		{"completed alone", "", completed, func() kops.Cluster { return applied() }},
		{"nothing pending: defaults are no changes", config, completed, func() kops.Cluster { return applied() }},
		{"the same version, spelled with a v", replace(config, "    name: main\n", "    name: main\n    version: v3.5.21\n"), completed, func() kops.Cluster { return applied() }},
		{"the default store, spelled out", replace(config, "    name: main\n", "    name: main\n    backups: {backupStore: s3://example-kops-state/prod.k8s.example.com/backups/etcd/main/}\n"), completed,
			func() kops.Cluster { return applied() }},
		{"the default interval, spelled out", replace(config, "      backupRetentionDays: 90\n", "      backupRetentionDays: 90\n      backupInterval: 15m\n"), completed,
			func() kops.Cluster { return applied() }},
		{"an upgrade that was not applied", replace(config, "    name: main\n", "    name: main\n    version: 3.6.5\n"), completed, func() kops.Cluster {
			return applied(kops.Change{Etcd: "main", Field: "version", Applied: "3.5.21", Wanted: "3.6.5"})
		}},
		{"a scaling down", replace(config, "    - encryptedVolume: true\n      instanceGroup: control-plane-eu-west-1c\n      name: c\n", "",
			"    - encryptedVolume: true\n      instanceGroup: control-plane-eu-west-1b\n      name: b\n", ""), completed, func() kops.Cluster {
			return applied(kops.Change{Etcd: "main", Field: "members", Applied: "3", Wanted: "1"})
		}},
		{"a move, another interval, another retention", replace(config, firstManager,
			"    backups: {backupStore: s3://elsewhere/main}\n    manager: {backupInterval: 1h, backupRetentionDays: 30, env: [{name: ETCD_MANAGER_HOURLY_BACKUPS_RETENTION, value: 1d}]}\n"), completed,
			func() kops.Cluster {
				return applied(
					kops.Change{Etcd: "main", Field: "backupStore", Applied: "s3://example-kops-state/prod.k8s.example.com/backups/etcd/main", Wanted: "s3://elsewhere/main"},
					kops.Change{Etcd: "main", Field: "backupInterval", Applied: "15m0s", Wanted: "1h0m0s"},
					kops.Change{Etcd: "main", Field: "hourly retention", Applied: "168h0m0s", Wanted: "24h0m0s"},
					kops.Change{Etcd: "main", Field: "daily retention", Applied: "2160h0m0s", Wanted: "720h0m0s"})
			}},
		{"a retention that will kill etcd-manager", replace(config, firstManager, "    manager: {env: [{name: ETCD_MANAGER_DAILY_BACKUPS_RETENTION, value: 90days}]}\n"), completed, func() kops.Cluster {
			return applied(kops.Change{Etcd: "main", Field: "retention",
				Wanted: `manager.env ETCD_MANAGER_DAILY_BACKUPS_RETENTION is "90days": want whole days or years like 7d or 1y, or a duration like 12h30m`})
		}},
		{"one to come", config, completed[:strings.Index(completed, "  - backups:\n      backupStore: s3://example-kops-state/prod.k8s.example.com/backups/etcd/cilium")], func() kops.Cluster {
			c := applied(kops.Change{Etcd: "cilium", Wanted: "present"})
			c.Etcd[2].Version, c.Etcd[2].Pending = "", true
			return c
		}},
		{"one to go", config[:strings.Index(config, "  - etcdMembers:\n    - instanceGroup")], completed, func() kops.Cluster {
			return applied(kops.Change{Etcd: "cilium", Applied: "present", Wanted: "gone"})
		}},
		{"a younger config", replace(config, "2025-03-04T09:12:44Z", "2026-03-04T09:12:44Z"), completed, func() kops.Cluster { return applied() }},
		{"an older config", replace(config, "2025-03-04T09:12:44Z", "2024-03-04T09:12:44Z"), completed, func() kops.Cluster {
			c := applied()
			c.Created = time.Date(2024, 3, 4, 9, 12, 44, 0, time.UTC)
			return c
		}},
		{"a completed spec that does not say where it is", config, replace(completed, "  configBase: s3://example-kops-state/prod.k8s.example.com\n", ""), func() kops.Cluster { return applied() }},
		{"a completed spec without a time", config, replace(completed, `"2025-03-04T09:12:44Z"`, "null"), func() kops.Cluster { return applied() }},
		{"a config without a time", replace(config, `"2025-03-04T09:12:44Z"`, "null"), completed, func() kops.Cluster { return applied() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var a, b *kops.Cluster
			if test.config != "" {
				a = parse(t, test.config)
			}
			if test.completed != "" {
				b = parse(t, test.completed)
			}
			got := kops.Merge(a, b)
			if want := test.want(); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			// The two stay as they were, and nothing is shared with them.
			if len(got.Etcd) > 0 {
				got.Etcd[0].Name = "changed"
			}
			if a != nil && !reflect.DeepEqual(a, parse(t, test.config)) || b != nil && !reflect.DeepEqual(b, parse(t, test.completed)) {
				t.Error("Merge changed its arguments")
			}
		})
	}
}

// Where only the key of the completed spec is known, config tells the place.
func TestMergeTakesConfigBaseFromConfig(t *testing.T) {
	bare, err := kops.Parse([]byte("kind: Cluster\napiVersion: kops.k8s.io/v1alpha2\n"), "prod.k8s.example.com/cluster-completed.spec")
	if err != nil || bare.ConfigBase != "" {
		t.Fatalf("%+v, %v", bare, err)
	}
	if got := kops.Merge(parse(t, config), &bare); got.ConfigBase != "s3://example-kops-state/prod.k8s.example.com" {
		t.Errorf("configBase %q", got.ConfigBase)
	}
}

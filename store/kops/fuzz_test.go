package kops_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"backstop/store/kops"
)

// Whatever a document says, it is a cluster that keeps our promises or an error.
func FuzzParse(f *testing.F) {
	for _, body := range []string{config, completed, next, old, inJSON, with("    <<: *x"), with("    manager: &m {env: [*m]}"),
		with("    version: !!binary AA=="), with("    backups: {backupStore: 's3://b/%zz'}"), "--- a\n...\n---\n" + old} {
		f.Add([]byte(body), "s3://b/x.example.com/config")
	}
	f.Fuzz(func(t *testing.T, body []byte, at string) {
		c, err := kops.Parse(body, at)
		if err != nil {
			if !strings.HasPrefix(err.Error(), at+": ") || !reflect.DeepEqual(c, kops.Cluster{}) {
				t.Fatalf("%+v, %v", c, err)
			}
			return
		}
		if again, err := kops.Parse(body, at); err != nil || !reflect.DeepEqual(c, again) {
			t.Fatalf("once %+v\nthen %+v, %v", c, again, err)
		}
		if c.Name == "" || c.APIVersion == "" || strings.ContainsAny(c.Name, "/\x1b\n") {
			t.Fatalf("%+v", c)
		}
		names := map[string]bool{}
		for _, e := range c.Etcd {
			if e.Name == "" || names[e.Name] || e.Members < 0 || e.Interval != 0 && e.Interval < kops.Cycle {
				t.Fatalf("%+v", e)
			}
			names[e.Name] = true
			if scheme, bucket, prefix, err := kops.Location(e.BackupStore); (err == nil) != (scheme != "") ||
				scheme == "s3" && (bucket == "" || strings.HasSuffix(prefix, "/")) {
				t.Fatalf("%q: %q, %q, %q, %v", e.BackupStore, scheme, bucket, prefix, err)
			}
		}
		merged := kops.Merge(&c, &c)
		if len(merged.Pending) != 0 || !merged.Applied || len(merged.Etcd) != len(c.Etcd) {
			t.Fatalf("merged with itself: %+v", merged)
		}
		if config := kops.Merge(&c, nil); !reflect.DeepEqual(config, c) {
			t.Fatalf("alone: %+v", config)
		}
		if one, two := kops.Shared([]kops.Cluster{c}), kops.Shared([]kops.Cluster{c, c}); !reflect.DeepEqual(one, two) {
			t.Fatalf("shared once %+v, twice %+v", one, two)
		}
	})
}

// A key that is one of a cluster's names a cluster that Parse would take.
func FuzzIsClusterKey(f *testing.F) {
	for _, key := range []string{"a.example.com/config", "x/a/cluster-completed.spec", "cluster-completed.spec", "s3://b/config", "//config"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		cluster, completed, ok := kops.IsClusterKey(key)
		if !ok {
			if cluster != "" || completed {
				t.Fatalf("%q: %q, %t", key, cluster, completed)
			}
			return
		}
		c, err := kops.Parse([]byte("kind: Cluster\napiVersion: kops.k8s.io/v1alpha2\n"), key)
		if cluster != "" && (err != nil || c.Name != cluster) || errors.Is(err, kops.ErrNotCluster) {
			t.Fatalf("%q: %q; Parse: %q, %v", key, cluster, c.Name, err)
		}
	})
}

package kops_test

import (
	"reflect"
	"strings"
	"testing"

	"backstop/store/kops"
)

func TestIsClusterKey(t *testing.T) {
	for _, test := range []struct {
		key, cluster  string
		completed, ok bool
	}{
		{"prod.k8s.example.com/config", "prod.k8s.example.com", false, true},
		{"prod.k8s.example.com/cluster-completed.spec", "prod.k8s.example.com", true, true},
		{"a/b/prod.k8s.example.com/config", "prod.k8s.example.com", false, true},
		{"a/b/prod.k8s.example.com/cluster-completed.spec", "prod.k8s.example.com", true, true},
		{"staging/config", "staging", false, true},
		{"s3://bucket/staging/config", "staging", false, true},
		{"/staging/config", "staging", false, true},
		{"cluster-completed.spec", "", true, true}, // configBase is a bucket of its own
		{"config", "", false, false},
		{"/config", "", false, false},
		{"s3://bucket/config", "", false, false},
		{"", "", false, false},
		{".git/config", "", false, false},
		{"home/.aws/config", "", false, false},
		{"x/.config/config", "", false, false},
		{"staging/cluster.spec", "", false, false}, // of old, and stale
		{"staging/config/", "", false, false},
		{"staging/Config", "", false, false},
		{"staging/config.yaml", "", false, false},
		{"staging/my-cluster-completed.spec", "", false, false},
		{"a//config", "", false, false},
		{"a b/config", "", false, false},
		{"a\x1b/config", "", false, false},
		{"prod.k8s.example.com/backups/etcd/main/control/etcd-cluster-spec", "", false, false},
		{"prod.k8s.example.com/instancegroup/nodes", "", false, false},
		{strings.Repeat("a", 254) + "/config", "", false, false},
	} {
		cluster, completed, ok := kops.IsClusterKey(test.key)
		if cluster != test.cluster || completed != test.completed || ok != test.ok {
			t.Errorf("%q: %q, completed %t, %t; want %q, %t, %t", test.key, cluster, completed, ok, test.cluster, test.completed, test.ok)
		}
	}
}

func TestStateFile(t *testing.T) {
	for rel, want := range map[string]bool{
		"pki/private/kubernetes-ca/keyset.yaml": true, "pki/ssh/public/admin/abc": true, "secrets/admin": true, "instancegroup/nodes": true,
		"pki": false, "config": false, "backups/etcd/main/control/etcd-cluster-created": false, "addons/bootstrap-channel.yaml": false, "": false, "/pki/x": false,
	} {
		if got := kops.StateFile(rel); got != want {
			t.Errorf("StateFile(%q) = %t", rel, got)
		}
	}
}

func TestLocation(t *testing.T) {
	for _, test := range []struct{ in, scheme, bucket, prefix string }{
		{"s3://b", "s3", "b", ""},
		{"s3://b/", "s3", "b", ""},
		{"s3://b/x/backups/etcd/main", "s3", "b", "x/backups/etcd/main"},
		{"s3://b/x/backups/etcd/main/", "s3", "b", "x/backups/etcd/main"},
		{"s3://b/x//y/./z/../w//", "s3", "b", "x/y/w"},
		{"s3://b/.", "s3", "b", ""},
		{"s3://b/.hidden/x", "s3", "b", ".hidden/x"},
		{"s3://b/../x", "s3", "b", "../x"},
		{"s3://b//x", "s3", "b", "/x"}, // a key that begins with a slash
		{"s3://Old_Bucket.example/x", "s3", "Old_Bucket.example", "x"},
		{"s3://b/a%20b/c", "s3", "b", "a b/c"},
		{"s3://b/x?versionId=1#f", "s3", "b", "x"},
		{"s3://key:secret@b/x", "s3", "b", "x"},
		{"do://space/x", "do", "space", "x"},
		{"scw://b/x", "scw", "b", "x"},
		{"gs://b/x/", "gs", "b", "x"},
		{"gs://", "gs", "", ""},
		{"azureblob://container/x", "azureblob", "container", "x"},
		{"swift://b/x", "swift", "b", "x"},
		{"oss://b/x", "oss", "b", "x"},
		{"k8s://x/y", "k8s", "x", "y"},
		{"vault://host:8200/kv/x", "vault", "host:8200", "kv/x"},
		{"memfs://tests/x", "memfs", "", "tests/x"},
		{"file:///mnt/disks/backups/", "file", "", "/mnt/disks/backups"},
		{"/mnt/disks/backups/", "file", "", "/mnt/disks/backups"},
		{"gs://b/%zz", "gs", "", ""},
	} {
		scheme, bucket, prefix, err := kops.Location(test.in)
		if err != nil || scheme != test.scheme || bucket != test.bucket || prefix != test.prefix {
			t.Errorf("%s: %s, %q, %q, %v; want %s, %q, %q", test.in, scheme, bucket, prefix, err, test.scheme, test.bucket, test.prefix)
		}
	}
	for in, want := range map[string]string{
		"":             `no location is given`,
		"s3://":        `"s3://" is not a location: want s3://BUCKET/PREFIX`,
		"s3:///x":      `"s3:///x" is not a location: want s3://BUCKET/PREFIX`,
		"do:///x":      `"do:///x" is not a location: want do://BUCKET/PREFIX`,
		"s3://b//":     `"s3://b//" is not a location: want s3://BUCKET/PREFIX`,
		"s3://b/%zz":   `"s3://b/%zz" is not a location: want s3://BUCKET/PREFIX`,
		"s3://b\x7f/x": `"s3://b\x7f/x" is not a location: want s3://BUCKET/PREFIX`,
		"s3:/b/x":      `"s3:/b/x" is not a location: want s3://BUCKET/PREFIX or another URL`,
		"b/x":          `"b/x" is not a location: want s3://BUCKET/PREFIX or another URL`,
		"S3://b/x":     `"S3://b/x" is not a location: "S3" is not a scheme`,
		"://b/x":       `"://b/x" is not a location: "" is not a scheme`,
		"3s://b/x":     `"3s://b/x" is not a location: "3s" is not a scheme`,
	} {
		if scheme, bucket, prefix, err := kops.Location(in); err == nil || err.Error() != want || scheme+bucket+prefix != "" {
			t.Errorf("%q: %q, %q, %q, %v; want %s", in, scheme, bucket, prefix, err, want)
		}
	}
}

func TestShared(t *testing.T) {
	cluster := func(name, base string, pairs ...string) kops.Cluster {
		c := kops.Cluster{Name: name, ConfigBase: base}
		for i := 0; i < len(pairs); i += 2 {
			c.Etcd = append(c.Etcd, kops.Etcd{Name: pairs[i], BackupStore: pairs[i+1]})
		}
		return c
	}
	legacy := cluster("a", "s3://b/a", "main", "s3://b/m", "events", "s3://b/m")
	legacy.Etcd[1].Legacy = true
	for _, test := range []struct {
		name     string
		clusters []kops.Cluster
		want     []kops.SharedStore
	}{
		{"none", nil, nil},
		{"each its own", []kops.Cluster{
			cluster("a", "s3://b/a", "main", "s3://b/a/backups/etcd/main", "events", "s3://b/a/backups/etcd/events"),
			cluster("b", "s3://b/b", "main", "s3://b/b/backups/etcd/main", "events", "s3://b/b/backups/etcd/events"),
		}, nil},
		{"two of one cluster, one with a slash", []kops.Cluster{cluster("a", "s3://b/a", "main", "s3://b/m/", "events", "s3://b/m", "cilium", "s3://b/c")},
			[]kops.SharedStore{{Location: "s3://b/m/", Users: []kops.User{{"a", "main"}, {"a", "events"}}}}},
		{"one of each of three clusters, and another store", []kops.Cluster{
			cluster("a", "s3://b/a", "main", "s3://x/m", "events", "s3://x/e"),
			cluster("b", "s3://b/b", "events", "s3://x/./e", "main", "s3://x//m"),
			cluster("c", "s3://b/c", "main", "s3://x/y/../m"),
		}, []kops.SharedStore{
			{Location: "s3://x/m", Users: []kops.User{{"a", "main"}, {"c", "main"}}},
			{Location: "s3://x/e", Users: []kops.User{{"a", "events"}, {"b", "events"}}},
		}},
		{"a cluster seen twice", []kops.Cluster{cluster("a", "s3://b/a", "main", "s3://x/m"), cluster("a", "s3://b/a/", "main", "s3://x/m")}, nil},
		{"two of one name", []kops.Cluster{cluster("a", "s3://b/a", "main", "s3://x/m"), cluster("a", "s3://c/a", "main", "s3://x/m")},
			[]kops.SharedStore{{Location: "s3://x/m", Users: []kops.User{{"a", "main"}, {"a", "main"}}}}},
		{"what backstop cannot read is shared too", []kops.Cluster{cluster("a", "gs://b/a", "main", "gs://b/m", "events", "gs://b/m/")},
			[]kops.SharedStore{{Location: "gs://b/m", Users: []kops.User{{"a", "main"}, {"a", "events"}}}}},
		{"another scheme is another place", []kops.Cluster{cluster("a", "s3://b/a", "main", "s3://b/m", "events", "do://b/m")}, nil},
		{"disks of nodes", []kops.Cluster{cluster("a", "s3://b/a", "main", "file:///mnt/disks/backups", "events", "file:///mnt/disks/backups")}, nil},
		{"unknown places", []kops.Cluster{cluster("a", "", "main", "", "events", "")}, nil},
		{"without etcd-manager", []kops.Cluster{legacy}, nil},
	} {
		if got := kops.Shared(test.clusters); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

package store

import (
	"fmt"
	"testing"

	"backstop/audit"
)

func TestParseShard(t *testing.T) {
	for _, good := range []string{"0/1", "0/8", "7/8", "999/1000"} {
		s, err := ParseShard(good)
		if got := fmt.Sprintf("%d/%d", s.Index, s.Of); err != nil || got != good {
			t.Errorf("%s gives %s and %v", good, got, err)
		}
	}
	for _, bad := range []string{"", "3", "8/8", "-1/8", "0/0", "1/-2", "a/b", "0/1001", "1/2/3", "0x1/8"} {
		if _, err := ParseShard(bad); err == nil {
			t.Errorf("%q is taken for a shard", bad)
		}
	}
}

// Each cluster has one shard, its stores are together, and a shard more takes
// clusters from the others without moving any between them.
func TestShards(t *testing.T) {
	const clusters = 4000
	of := func(cluster string, n int) int {
		at := -1
		for i := range n {
			s := Shard{Index: i, Of: n}
			main := s.Has(audit.Store{URL: "s3://b/" + cluster + "/main", Cluster: cluster})
			if events := s.Has(audit.Store{URL: "s3://other/events", Cluster: cluster}); events != main {
				t.Fatalf("the stores of %s are in different shards of %d", cluster, n)
			}
			if main && at >= 0 {
				t.Fatalf("%s is in the shards %d and %d of %d", cluster, at, i, n)
			}
			if main {
				at = i
			}
		}
		if at < 0 {
			t.Fatalf("%s is in no shard of %d", cluster, n)
		}
		return at
	}
	for _, n := range []int{1, 2, 3, 8} {
		count := make([]int, n)
		for c := range clusters {
			name := fmt.Sprintf("c%05d.example.com", c)
			was := of(name, n)
			count[was]++
			if now := of(name, n+1); now != was && now != n {
				t.Errorf("%s moves from shard %d of %d to %d of %d", name, was, n, now, n+1)
			}
		}
		for i, got := range count {
			if mean := clusters / n; got < mean*8/10 || got > mean*12/10 {
				t.Errorf("shard %d/%d has %d of %d clusters", i, n, got, clusters)
			}
		}
	}
}

// A store of which no cluster is known is one by itself, at each endpoint another.
func TestShardsOfStoresWithoutCluster(t *testing.T) {
	seen := map[bool]bool{}
	for i := range 64 {
		seen[Shard{Index: 0, Of: 2}.Has(audit.Store{URL: fmt.Sprintf("s3://b%d/etcd", i)})] = true
	}
	if len(seen) != 2 {
		t.Error("all stores without a cluster are in one shard")
	}
	if !(Shard{}).Has(audit.Store{}) {
		t.Error("the whole fleet lacks a store")
	}
}

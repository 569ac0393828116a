package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"backstop/audit"
)

// A Shard is a part of a fleet: the clusters that one of several runs audits. Which
// cluster belongs to which is known without asking anybody, by rendezvous hashing: each
// shard draws a number for the cluster, and the highest has it. So a shard more
// takes clusters from the others, and moves none between them. The zero value is all
// of the fleet.
type Shard struct {
	Index int // from 0
	Of    int // how many there are; 0 and 1 are all of the fleet
}

// MaxShards bounds Shard.Of: a fleet of more parts has other troubles.
const MaxShards = 1000

// ParseShard parses INDEX/COUNT, the index from 0.
func ParseShard(s string) (Shard, error) {
	left, right, ok := strings.Cut(s, "/")
	i, err := strconv.Atoi(left)
	n, err2 := strconv.Atoi(right)
	if !ok || err != nil || err2 != nil || n < 1 || n > MaxShards || i < 0 || i >= n {
		return Shard{}, fmt.Errorf("the shard is %q, want INDEX/COUNT with an index from 0 to COUNT-1 and at most %d shards, as in 0/4", s, MaxShards)
	}
	return Shard{Index: i, Of: n}, nil
}

// Partial reports whether there is more of the fleet than the shard.
func (s Shard) Partial() bool { return s.Of > 1 }

// Has reports whether a store is the shard's. A cluster's stores stay together,
// because they are compared; a store of which no cluster is known is by itself.
func (s Shard) Has(store audit.Store) bool {
	if !s.Partial() {
		return true
	}
	key := sha256.Sum256([]byte(cmp.Or(store.Cluster, store.Endpoint+"\x00"+store.URL)))
	seed := binary.BigEndian.Uint64(key[:])
	best, most := 0, uint64(0)
	for i := range s.Of {
		if draw := mix(seed + uint64(i+1)*0x9e3779b97f4a7c15); i == 0 || draw > most {
			best, most = i, draw
		}
	}
	return best == s.Index
}

// mix is the finaliser of splitmix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", 2014): every bit of x changes half of the result.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// keep leaves out the jobs of other shards. A place that could not be listed stays in
// all of them: nobody knows whose stores it hides, and a shard that said nothing of it
// would be OK about what it has not seen. What the search has cost is the run's.
func (r *survey) keep(s Shard) {
	if !s.Partial() {
		return
	}
	var own []job
	for _, j := range r.jobs {
		r.usage.Add(j.usage)
		j.usage = audit.Usage{}
		if j.unlisted != nil || s.Has(j.store) {
			own = append(own, j)
		}
	}
	r.jobs = own
}

package main

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"
)

// A world is all that a scenario simulates.
type world struct {
	*clock
	scenario *scenario
	buckets  map[string]*bucket
	clusters []*cluster
	known    map[string]*cluster
	named    int       // clusters of the scenario, also those of other parts
	begun    time.Time // the first audit
	end      time.Time
	injected []*injected
	excused  []excuse
}

// An excuse says what is rightly said of a cluster, or of a bucket, and for how long.
type excuse struct {
	cluster, bucket string
	rules           map[string]bool // nil is every rule
	from, to        time.Time       // to is zero without an end
}

// A part is which of a scenario's clusters a world holds: every of-th, beginning with
// the index.
type part struct{ index, of int }

// newWorld makes the world of a part of a scenario, in which nothing has happened
// yet. Its clock begins with the oldest cluster.
func newWorld(s *scenario, p part) *world {
	w := &world{clock: &clock{}, scenario: s, buckets: map[string]*bucket{}, known: map[string]*cluster{}, begun: time.Time(s.Start)}
	w.end = w.begun.Add(time.Duration(s.Days) * day)
	w.now = w.begun
	for _, c := range s.Clusters {
		if born := w.begun.Add(time.Duration(c.Born)); born.Before(w.now) {
			w.now = born
		}
	}
	for _, b := range s.Buckets {
		w.makeBucket(b)
	}
	for i := range s.Clusters {
		w.populate(&s.Clusters[i], p)
	}
	w.at(midnight(w.now), w.night)
	return w
}

func (w *world) makeBucket(b bucketEntry) {
	made := &bucket{clock: w.clock, shards: map[string][]*stack{}, name: b.Name, versioning: b.Versioning, rules: b.Lifecycle, sizeMode: b.Sizes}
	if made.sizeMode == "" {
		made.sizeMode = "all_storage_classes_128K"
	}
	w.buckets[b.Name] = made
	if len(b.Allow) > 0 {
		w.excused = append(w.excused, excuse{bucket: b.Name, rules: set(b.Allow)})
	}
}

// night is the nightly lifecycle run of every bucket.
func (w *world) night() {
	for _, b := range w.scenario.Buckets {
		w.buckets[b.Name].runLifecycle()
	}
	w.after(day, w.night)
}

// populate makes the clusters of an entry. Each has its own chance, by its name, so
// that an entry that is added changes no other.
func (w *world) populate(e *clusterEntry, p part) {
	for i := range max(1, e.Count) {
		if w.named++; w.named%p.of != p.index {
			continue
		}
		name := strings.ReplaceAll(e.Name, "%", padded(i))
		c := &cluster{world: w, clock: w.clock, entry: e, name: name, state: w.buckets[e.Bucket], rng: rand.New(rand.NewPCG(w.scenario.Seed, hash(name)))}
		w.clusters = append(w.clusters, c)
		w.known[name] = c
		c.plan()
	}
}

func padded(i int) string {
	return string([]byte{byte('0' + i/100%10), byte('0' + i/10%10), byte('0' + i%10)})
}

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // it never fails
	return h.Sum64()
}

// locate finds the bucket and the root of a store. The scenario was checked: the
// bucket is there.
func (w *world) locate(url string) (*bucket, string) {
	name, prefix, _ := strings.Cut(strings.TrimPrefix(url, "s3://"), "/")
	return w.buckets[name], strings.TrimSuffix(prefix, "/") + "/"
}

func (w *world) excuse(c *cluster, rules []string, d time.Duration) {
	x := excuse{cluster: c.name, from: w.now}
	if rules != nil {
		x.rules = set(rules)
	}
	if d > 0 {
		x.to = w.now.Add(d)
	}
	w.excused = append(w.excused, x)
}

func set(of []string) map[string]bool {
	s := map[string]bool{}
	for _, one := range of {
		s[one] = true
	}
	return s
}

// excuses reports whether something that is said is right, by the scenario.
func (w *world) excuses(cluster, bucket, rule string) bool {
	for _, x := range w.excused {
		about := x.cluster != "" && x.cluster == cluster || x.bucket != "" && x.bucket == bucket
		if about && (x.rules == nil || x.rules[rule]) && !w.now.Before(x.from) && (x.to.IsZero() || !w.now.After(x.to)) {
			return true
		}
	}
	return false
}

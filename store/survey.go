package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
)

// A Place is somewhere to look for backup stores: what a STORE argument or the
// configuration names, opened.
type Place struct {
	URL    string // as it was given
	Bucket Bucket
	Prefix string
	// NamedBy is "configuration" where a file says that a store is there; empty
	// where a person asked.
	NamedBy string
}

// A Survey looks at every store of every place, and at those that kops's state
// stores among them name elsewhere.
type Survey struct {
	Places []Place
	// Open opens another bucket, the way in which the place was opened whose
	// cluster keeps its backups there.
	Open func(ctx context.Context, bucket string, like int) (Bucket, error)
	Now  func() time.Time
	// Concurrency is how many stores, parts of a long listing, or documents of kops
	// are looked at at a time, at least 1.
	Concurrency int
	// Progress is told how many stores of how many have been looked at; it may
	// be nil, and is called by one goroutine at a time.
	Progress func(done, of int)
	// Charm says to look at folders of the etcd charm's snapshots too.
	Charm bool
	// Proposed are lifecycle configurations that may come to the buckets. Tags that
	// they ask for are read, as for the rules that are in force.
	Proposed []lifecycle.Configuration
	// Shard is the part of the fleet to look at; the search is for all of it.
	Shard Shard
}

// A Found is what a Survey has found, and is about to look at.
type Found struct {
	// Places are the indices in Survey.Places to which the stores belong, of each
	// store one. A store is known by its index here.
	Places []int
	// Fleet is what Places would be without a Shard.
	Fleet []int
	// Problems are the places that have no store, and the stores at which nobody
	// can look.
	Problems []audit.Problem
	// Usage is what the search has cost that is part of no observation.
	Usage audit.Usage

	*survey
}

// Find looks for the stores. It fails only when the context ends; what could not be
// looked at is in the observations, and places without a store are problems.
func (s *Survey) Find(ctx context.Context) (*Found, error) {
	r := &survey{Survey: s, pool: newPool(s.Concurrency), known: map[string]bool{}, buckets: map[string]*bucketFacts{}}
	finds := make([]find, len(s.Places))
	var all sync.WaitGroup
	for i, p := range s.Places {
		all.Go(func() { finds[i] = r.lookFor(ctx, i, p) })
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.plan(ctx, finds)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fleet := placesOf(r.jobs)
	r.keep(s.Shard)
	f := &Found{survey: r, Places: placesOf(r.jobs), Fleet: fleet, Problems: r.problems, Usage: r.usage}
	return f, nil
}

func placesOf(jobs []job) []int {
	var places []int
	for _, j := range jobs {
		places = append(places, j.place)
	}
	return places
}

// A find is what discovery brought to light at one place.
type find struct {
	place    int
	roots    []string
	charm    []string // folders of the etcd charm's snapshots
	err      error    // why the place could not be listed
	clusters []cluster
	deleted  []deletion
	usage    audit.Usage
}

func (r *survey) lookFor(ctx context.Context, i int, p Place) find {
	f := find{place: i}
	b := p.Bucket.Fork()
	found, err := discover(ctx, b, p.Prefix, r.pool)
	f.roots, f.err, f.deleted = found.roots, err, found.deleted
	if r.Charm {
		f.charm = found.charm
	}
	if err == nil {
		f.clusters = append(r.readClusters(ctx, b, found.specs), r.clusterAbove(ctx, b, p, found.roots)...)
		r.pool.do(func() { f.deleted = append(f.deleted, deletedAbove(ctx, b, p, f)...) })
		r.pool.each(len(f.clusters), func(i int) { f.clusters[i].files = stateFiles(ctx, b, f.clusters[i], found.state) })
	}
	f.usage = b.Usage()
	return f
}

// survey is a Survey being made.
type survey struct {
	*Survey
	pool     pool
	jobs     []job
	known    map[string]bool // stores that have a job, by id
	finds    []find
	problems []audit.Problem
	usage    audit.Usage

	mu      sync.Mutex
	buckets map[string]*bucketFacts
	done    int
}

// A job is one store to look at.
type job struct {
	place    int
	bucket   Bucket
	store    audit.Store
	kops     audit.Fact[audit.Kops]
	state    Bucket // that of the cluster's state store, if it is another one
	unlisted error
	usage    audit.Usage
}

// id tells stores apart: one bucket may be reached by several arguments.
func id(b Bucket, root string) string {
	return b.Endpoint() + "\x00" + b.URL("") + "\x00" + root
}

// add adds a job, if there is none for the store already.
func (r *survey) add(j job) (added bool) {
	key := id(j.bucket, j.store.Prefix) + "\x00" + string(j.store.Layout)
	if r.known[key] {
		return false
	}
	r.known[key] = true
	r.jobs = append(r.jobs, j)
	return true
}

// plan makes the list of stores to look at: those that were found, those that
// the configuration names, and those that kops says exist.
func (r *survey) plan(ctx context.Context, finds []find) {
	r.settle(finds)
	expected := r.expectations(finds)
	r.finds = finds
	for _, f := range finds {
		p := r.Places[f.place]
		for _, c := range f.clusters {
			if c.why != nil && !c.above {
				r.problems = append(r.problems, unreadCluster(p, c))
			}
		}
		paid := false
		for _, at := range r.roots(f, p, expected) {
			s := StoreAt(p.Bucket, at)
			s.NamedBy = p.NamedBy
			j := job{place: f.place, bucket: p.Bucket, unlisted: f.err}
			j.kops, j.state = r.told(f, p, at, expected)
			j.store = named(s, j.kops.Value)
			if !paid {
				j.usage = f.usage
			}
			paid = r.add(j) || paid
		}
		for _, j := range r.charmJobs(f, p) {
			if !paid {
				j.usage = f.usage
			}
			paid = r.add(j) || paid
		}
		if !paid {
			r.usage.Add(f.usage)
		}
	}
	for _, e := range expected {
		if !e.cluster.above {
			r.follow(ctx, e)
		}
	}
}

// named gives a store the names that kops has for it: a place outside kops's layout
// does not tell them, and what belongs to one cluster must find each other.
func named(s audit.Store, k audit.Kops) audit.Store {
	if !k.Known {
		return s
	}
	if s.NamedBy == "" {
		s.NamedBy = "kops"
	}
	if s.Cluster == "" {
		s.Cluster, s.Etcd = k.Cluster, k.Etcd
	}
	return s
}

// roots are the stores of a place: those that were found, or, where the listing
// failed or a store has vanished that somebody names, the place itself.
func (r *survey) roots(f find, p Place, expected []expectation) []string {
	var e *Error
	switch {
	case errors.As(f.err, &e) && (e.Cause == audit.CauseCredentials || e.Cause == audit.CauseNoBucket && p.NamedBy == ""):
		r.problems = append(r.problems, Problem(p.URL, f.err))
		return nil
	case f.err != nil:
		return []string{p.Prefix}
	case len(f.roots) > 0:
		return f.roots
	case len(f.charm) > 0:
		return nil
	case p.NamedBy != "" && len(f.clusters) == 0:
		return []string{p.Prefix}
	}
	for _, x := range expected {
		if x.place == f.place && !x.cluster.above {
			return nil // kops names stores, here or elsewhere: follow speaks of them
		}
	}
	r.problems = append(r.problems, noStore(p))
	return nil
}

// bucketFacts are the facts of one bucket, asked for once.
type bucketFacts struct {
	once  sync.Once
	facts audit.Bucket
}

// facts gives what is true of a bucket. The first who asks pays.
func (r *survey) facts(ctx context.Context, b Bucket) (audit.Bucket, audit.Usage) {
	r.mu.Lock()
	key := id(b, "")
	f := r.buckets[key]
	if f == nil {
		f = &bucketFacts{}
		r.buckets[key] = f
	}
	r.mu.Unlock()
	var paid audit.Usage
	f.once.Do(func() {
		own := b.Fork()
		f.facts = ObserveBucket(ctx, own)
		paid = own.Usage()
	})
	return f.facts, paid
}

// Observe looks at the stores, and shows each as soon as all stores of its cluster
// have been looked at, which it is compared with; it keeps none that was shown. see
// is called by several goroutines at a time. It fails only when the context ends.
func (f *Found) Observe(ctx context.Context, see func(store int, o *audit.Observation)) error {
	order, clusters := byCluster(f.jobs)
	seen := make([]*audit.Observation, len(f.jobs))
	f.pool.each(len(order), func(n int) {
		i := order[n]
		seen[i] = f.look(ctx, f.jobs[i])
		f.tell()
		c := clusters[i]
		if c.left.Add(-1) > 0 || ctx.Err() != nil {
			return
		}
		introduce(seen, c.stores)
		for _, i := range c.stores {
			see(i, seen[i])
			seen[i] = nil
		}
	})
	return ctx.Err()
}

// Again looks at one store once more, and keeps what was known of its siblings and
// of its bucket.
func (f *Found) Again(ctx context.Context, store int, siblings []audit.Sibling) *audit.Observation {
	j := f.jobs[store]
	j.unlisted, j.usage = nil, audit.Usage{}
	o := f.look(ctx, j)
	o.Siblings = siblings
	return o
}

// Bucket gives a handle on a store's bucket that counts its own requests.
func (f *Found) Bucket(store int) Bucket { return f.jobs[store].bucket.Fork() }

// look does a job.
func (r *survey) look(ctx context.Context, j job) *audit.Observation {
	facts, usage := r.facts(ctx, j.bucket)
	o := observe(ctx, j.bucket, facts, j.store, r.Now, j.unlisted, r.Proposed)
	o.Kops = j.kops
	if j.state != nil {
		other, paid := r.facts(ctx, j.state)
		o.Kops.Value.Bucket = &other
		o.Usage.Add(paid)
	}
	o.Usage.Add(usage)
	o.Usage.Add(j.usage)
	return o
}

// tell tells the progress.
func (r *survey) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	if r.Progress != nil {
		r.Progress(r.done, len(r.jobs))
	}
}

// siblings are the stores of one cluster.
type siblings struct {
	stores []int // indices of jobs
	left   atomic.Int32
}

// byCluster gives the jobs in an order in which those of a cluster follow each
// other, so that few observations wait for others, and of each job its siblings. A
// store of which no cluster is known has none but itself.
func byCluster(jobs []job) (order []int, of []*siblings) {
	named := map[string]*siblings{}
	var all []*siblings
	for i, j := range jobs {
		c := named[j.store.Cluster]
		if c == nil || j.store.Cluster == "" {
			c = &siblings{}
			named[j.store.Cluster] = c
			all = append(all, c)
		}
		c.stores = append(c.stores, i)
		of = append(of, c)
	}
	for _, c := range all {
		c.left.Store(int32(len(c.stores)))
		order = append(order, c.stores...)
	}
	return order, of
}

// introduce tells each store of the others of its cluster.
func introduce(seen []*audit.Observation, stores []int) {
	if len(stores) == 1 {
		return
	}
	for _, i := range stores {
		for _, j := range stores {
			if i != j {
				seen[i].Siblings = append(seen[i].Siblings, sibling(seen[j]))
			}
		}
	}
}

func sibling(o *audit.Observation) audit.Sibling {
	s := audit.Sibling{URL: o.Store.URL, Etcd: o.Store.Etcd, Listed: o.Listing.IsSet(), Control: o.Created.IsSet() || o.Spec.IsSet()}
	if _, at, ok := o.Listing.Value.Newest(o.Ended); ok {
		s.Newest = at
	}
	return s
}

package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"backstop/audit"
	"backstop/store/etcdmanager"
	"backstop/store/kops"
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
	// Concurrency is how many stores are looked at at a time, at least 1.
	Concurrency int
	// Progress is told how many stores of how many have been looked at; it may
	// be nil, and is called by one goroutine at a time.
	Progress func(done, of int)
}

// A Sighting is one observed store.
type Sighting struct {
	Observation *audit.Observation
	Place       int // index in Survey.Places
}

// Run looks. It fails only when the context ends; what could not be looked at is
// in the observations, and places without a store are problems.
func (s *Survey) Run(ctx context.Context) ([]Sighting, []audit.Problem, error) {
	r := &survey{Survey: s, known: map[string]bool{}, buckets: map[string]*bucketFacts{}}
	finds := make([]find, len(s.Places))
	g := r.group()
	for i, p := range s.Places {
		g.Go(func() error { finds[i] = lookFor(ctx, i, p); return nil })
	}
	_ = g.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	r.plan(ctx, finds)
	r.observe(ctx)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	introduce(r.sightings)
	return r.sightings, r.problems, nil
}

// A find is what discovery brought to light at one place.
type find struct {
	place    int
	roots    []string
	err      error // why the place could not be listed
	clusters []cluster
	usage    audit.Usage
}

// A cluster is what one folder of a state store says.
type cluster struct {
	kops.Cluster
	folder string // its prefix in the bucket
	why    *audit.Why
	// above says that its folder holds the place: somebody asked for one of
	// its stores, and not for the others.
	above bool
}

func lookFor(ctx context.Context, i int, p Place) find {
	f := find{place: i}
	b := p.Bucket.Fork()
	found, err := discover(ctx, b, p.Prefix)
	f.roots, f.err = found.roots, err
	if err == nil {
		f.clusters = append(readClusters(ctx, b, found.specs), clusterAbove(ctx, b, p, found.roots)...)
	}
	f.usage = b.Usage()
	return f
}

// clusterAbove reads what kops says of the cluster of a store that was asked for
// by itself, where kops's default layout tells where to look.
func clusterAbove(ctx context.Context, b Bucket, p Place, roots []string) []cluster {
	if len(roots) != 1 || !within(p.Prefix+"/", roots[0]) {
		return nil
	}
	name, etcd := etcdmanager.KopsNames(roots[0])
	if name == "" {
		return nil
	}
	folder := strings.TrimSuffix(roots[0], kopsDefault+etcd)
	clusters := readClusters(ctx, b, []string{folder + "/" + kops.CompletedFile, folder + "/" + kops.ConfigFile})
	for i := range clusters {
		clusters[i].above = true
	}
	return clusters
}

// kopsDefault lies between a cluster's folder and the name of an etcd cluster.
const kopsDefault = "/backups/etcd/"

// readClusters reads the documents that may be kops's, by folder. One that turns
// out to be something else is no cluster; one that cannot be read is a cluster of
// which nothing is known.
func readClusters(ctx context.Context, b Bucket, keys []string) []cluster {
	type pair struct{ config, completed *kops.Cluster }
	var folders []string
	pairs, whys := map[string]*pair{}, map[string]*audit.Why{}
	for _, key := range keys {
		folder := parent(key)
		if pairs[folder] == nil {
			pairs[folder] = &pair{}
			folders = append(folders, folder)
		}
		_, completed, _ := kops.IsClusterKey(key)
		doc, err := b.Get(ctx, key, kops.DocumentLimit)
		if err == nil && doc.Unreadable != "" {
			err = fmt.Errorf("%s is %s", b.URL(key), doc.Unreadable)
		}
		if err != nil {
			if !errors.Is(err, ErrMissing) {
				w := why(err)
				whys[folder] = &w
			}
			continue
		}
		c, err := kops.Parse(doc.Body, b.URL(key))
		switch {
		case errors.Is(err, kops.ErrNotCluster) && !completed: // config is a common name
		case err != nil:
			whys[folder] = &audit.Why{Cause: audit.CauseMalformed, Reason: err.Error()}
		case completed:
			pairs[folder].completed = &c
		default:
			pairs[folder].config = &c
		}
	}
	var clusters []cluster
	for _, folder := range folders {
		p := pairs[folder]
		if p.config == nil && p.completed == nil && whys[folder] == nil {
			continue
		}
		c := cluster{Cluster: kops.Merge(p.config, p.completed), folder: folder, why: whys[folder]}
		// A completed spec that is there and could not be read is no sign that
		// the cluster was never made: what config names is looked for.
		c.Applied = c.Applied || c.why != nil
		if c.Name == "" {
			c.Name = folder[strings.LastIndexByte(folder, '/')+1:]
		}
		clusters = append(clusters, c)
	}
	return clusters
}

// survey is a Survey being made.
type survey struct {
	*Survey
	jobs      []job
	known     map[string]bool // stores that have a job, by id
	sightings []Sighting
	problems  []audit.Problem

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
	unlisted error
	usage    audit.Usage
}

func (r *survey) group() *errgroup.Group {
	g := &errgroup.Group{}
	g.SetLimit(max(1, r.Concurrency))
	return g
}

// id tells stores apart: one bucket may be reached by several arguments.
func id(b Bucket, root string) string {
	return b.Endpoint() + "\x00" + b.URL("") + "\x00" + root
}

func (r *survey) add(j job) {
	if key := id(j.bucket, j.store.Prefix); !r.known[key] {
		r.known[key] = true
		r.jobs = append(r.jobs, j)
	}
}

// plan makes the list of stores to look at: those that were found, those that
// the configuration names, and those that kops says exist.
func (r *survey) plan(ctx context.Context, finds []find) {
	expected := r.expectations(finds)
	for _, f := range finds {
		p := r.Places[f.place]
		for _, c := range f.clusters {
			if c.why != nil && !c.above {
				r.problems = append(r.problems, unreadCluster(p, c))
			}
		}
		roots := r.roots(f, p, expected)
		for i, at := range roots {
			s := StoreAt(p.Bucket, at)
			s.NamedBy = p.NamedBy
			j := job{place: f.place, bucket: p.Bucket, store: s, unlisted: f.err, kops: r.told(f, p, at, expected)}
			if i == 0 {
				j.usage = f.usage
			}
			r.add(j)
		}
	}
	for _, e := range expected {
		if !e.cluster.above {
			r.follow(ctx, e)
		}
	}
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

// An expectation is a store that kops says exists.
type expectation struct {
	place                  int
	state                  string // the state store's URL
	cluster                cluster
	etcd                   kops.Etcd
	scheme, bucket, prefix string
	err                    error // why its location is none
	shared                 []string
}

// expectations are the stores that the clusters of all places name. A cluster
// that was never applied, and an etcd cluster that waits for the next update,
// have none yet.
func (r *survey) expectations(finds []find) []expectation {
	var all []expectation
	var clusters []kops.Cluster
	for _, f := range finds {
		for _, c := range f.clusters {
			clusters = append(clusters, c.Cluster)
			for _, e := range c.Etcd {
				if !c.Applied || e.Pending || e.Legacy {
					continue
				}
				x := expectation{place: f.place, cluster: c, etcd: e, state: r.Places[f.place].Bucket.URL(parent(c.folder))}
				x.scheme, x.bucket, x.prefix, x.err = kops.Location(e.BackupStore)
				all = append(all, x)
			}
		}
	}
	for _, s := range kops.Shared(clusters) {
		for i := range all {
			x := &all[i]
			for _, u := range s.Users {
				if samePlace(s.Location, x.etcd.BackupStore) && (u.Cluster != x.cluster.Name || u.Etcd != x.etcd.Name) {
					x.shared = append(x.shared, u.Cluster+"/"+u.Etcd)
				}
			}
		}
	}
	return all
}

func samePlace(a, b string) bool {
	as, ab, ap, aerr := kops.Location(a)
	bs, bb, bp, berr := kops.Location(b)
	return aerr == nil && berr == nil && as == bs && ab == bb && ap == bp
}

// at reports whether the expectation is the store at a root of a bucket.
func (x expectation) at(b Bucket, root string) bool {
	return x.err == nil && x.in(b) && strings.Trim(x.prefix, "/") == root
}

// in reports whether the expectation is in a bucket. A copied state store need
// not know which bucket it was: what lies beside the cluster's own files is in it.
func (x expectation) in(b Bucket) bool {
	if b.Name() == x.bucket {
		return true
	}
	d, copied := b.(*Dir)
	_, base, _, err := kops.Location(x.cluster.ConfigBase)
	return copied && d.facts.Name == "" && err == nil && base == x.bucket
}

// told is what kops says of a store that was found.
func (r *survey) told(f find, p Place, root string, expected []expectation) audit.Fact[audit.Kops] {
	for _, x := range expected {
		if x.at(p.Bucket, root) {
			return audit.Is(x.fact())
		}
	}
	if len(f.clusters) == 0 {
		return audit.None[audit.Kops]()
	}
	k := audit.Kops{StateStore: p.Bucket.URL(parent(f.clusters[0].folder))}
	name, etcd := etcdmanager.KopsNames(root)
	for _, c := range f.clusters {
		mine := c.Name == name || c.folder != "" && within(root, c.folder)
		if !mine {
			continue
		}
		if c.why != nil {
			return audit.Unknown[audit.Kops](*c.why)
		}
		k.ClusterKnown, k.Cluster = true, c.Name
		for _, e := range c.Etcd {
			if e.Name == etcd {
				k.Etcd, k.Elsewhere = e.Name, e.BackupStore
			}
		}
	}
	return audit.Is(k)
}

// fact is what kops says of the store that it expects.
func (x expectation) fact() audit.Kops {
	k := audit.Kops{
		StateStore: x.state, Known: true, ClusterKnown: true, Cluster: x.cluster.Name, Etcd: x.etcd.Name,
		Members: x.etcd.Members, Version: x.etcd.Version, Created: x.cluster.Created, Interval: x.etcd.Interval,
		Hourly: x.etcd.Retention.Hourly, Daily: x.etcd.Retention.Daily, Fatal: x.etcd.Retention.Fatal, SharedWith: x.shared,
	}
	for _, c := range x.cluster.Pending {
		if c.Etcd == x.etcd.Name {
			k.Pending = append(k.Pending, fmt.Sprintf("%s: %s -> %s", c.Field, c.Applied, c.Wanted))
		}
	}
	return k
}

// follow looks at a store that kops names and that was not found: in the same
// bucket, in another one, or nowhere that backstop can read.
func (r *survey) follow(ctx context.Context, x expectation) {
	who := fmt.Sprintf("the kops cluster %s (etcd %s)", x.cluster.Name, x.etcd.Name)
	unreadable := func(message string) {
		r.problems = append(r.problems, audit.Problem{Target: x.etcd.BackupStore, Cause: audit.CauseUnsupported, Message: who + " " + message,
			Do: "Look at it by other means; it is not audited."})
	}
	switch {
	case x.err != nil:
		unreadable("names no place that can be read for its backups: " + x.err.Error())
		return
	case x.scheme == "file" || x.scheme == "memfs":
		unreadable("keeps its backups in a directory of its nodes")
		return
	case x.scheme != "s3":
		unreadable("keeps its backups at " + x.scheme + "://, which backstop does not read")
		return
	}
	b := r.Places[x.place].Bucket
	if !x.in(b) {
		for _, p := range r.Places {
			if x.in(p.Bucket) {
				b = p.Bucket
			}
		}
	}
	if !x.in(b) {
		if _, copied := b.(*Dir); copied {
			unreadable("keeps its backups in another bucket than the one that was copied")
			return
		}
		var err error
		if b, err = r.Open(ctx, x.bucket, x.place); err != nil {
			pr := Problem(x.etcd.BackupStore, err)
			pr.Message = who + " keeps its backups there: " + pr.Message
			r.problems = append(r.problems, pr)
			return
		}
	}
	s := StoreAt(b, strings.Trim(x.prefix, "/"))
	s.NamedBy, s.Cluster, s.Etcd = "kops", x.cluster.Name, x.etcd.Name
	r.add(job{place: x.place, bucket: b, store: s, kops: audit.Is(x.fact())})
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

// observe does the jobs.
func (r *survey) observe(ctx context.Context) {
	r.sightings = make([]Sighting, len(r.jobs))
	g := r.group()
	for i, j := range r.jobs {
		g.Go(func() error {
			facts, usage := r.facts(ctx, j.bucket)
			o := observe(ctx, j.bucket, facts, j.store, r.Now, j.unlisted)
			o.Kops = j.kops
			o.Usage.Add(usage)
			o.Usage.Add(j.usage)
			r.sightings[i] = Sighting{Observation: o, Place: j.place}
			r.tell()
			return nil
		})
	}
	_ = g.Wait() // observe never fails
}

func (r *survey) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	if r.Progress != nil {
		r.Progress(r.done, len(r.jobs))
	}
}

// introduce tells each store of the others of its cluster.
func introduce(all []Sighting) {
	byCluster := map[string][]*audit.Observation{}
	for _, s := range all {
		if o := s.Observation; o.Store.Cluster != "" {
			byCluster[o.Store.Cluster] = append(byCluster[o.Store.Cluster], o)
		}
	}
	for _, stores := range byCluster {
		for _, o := range stores {
			for _, other := range stores {
				if other != o {
					o.Siblings = append(o.Siblings, sibling(other))
				}
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

// Problem says in a line why a place could not be looked at, and what to do.
func Problem(url string, err error) audit.Problem {
	// What is no Error is about the SDK's configuration, as a profile that does
	// not exist.
	pr := audit.Problem{Target: url, Cause: audit.CauseCredentials, Message: err.Error()}
	var e *Error
	if errors.As(err, &e) {
		pr.Cause = e.Cause
	}
	switch {
	case !strings.HasPrefix(url, "s3://"):
	case pr.Cause == audit.CauseNoBucket:
		pr.Do = "Check the name, and --endpoint-url if the bucket is not on AWS."
	case pr.Cause == audit.CauseCredentials:
		pr.Do = "Give backstop valid credentials: AWS_PROFILE or --profile, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role; `aws sts get-caller-identity` shows whether they work."
	}
	return pr
}

// unreadCluster is the problem of a cluster of which kops's own word could not be
// read: where its stores are, and whether they were looked at, nobody knows.
func unreadCluster(p Place, c cluster) audit.Problem {
	do := "See the reason. The cluster's stores that were found by their layout are in the report; others may be missing."
	if c.why.Permission != "" {
		do = "Allow " + c.why.Permission + " on " + p.Bucket.URL(c.folder) + "/ to the identity that backstop runs as, or name the cluster's stores in the configuration."
	}
	return audit.Problem{Target: p.Bucket.URL(c.folder), Cause: c.why.Cause, Do: do,
		Message: "kops's documents of the cluster " + c.Name + " could not be read, so that stores which it keeps elsewhere were not looked at: " + c.why.Reason}
}

func noStore(p Place) audit.Problem {
	return audit.Problem{Target: p.URL, Cause: audit.CauseNoStore,
		Message: "there is no etcd-manager backup store below " + p.URL + ": no control/etcd-cluster-created, control/etcd-cluster-spec, and no dated snapshot",
		Do:      "Check the bucket and the prefix; kops keeps stores at s3://STATE-STORE/CLUSTER/backups/etcd/NAME unless backupStore in `kops get cluster -o yaml` says otherwise."}
}

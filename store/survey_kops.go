package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"backstop/audit"
	"backstop/store/etcdmanager"
	"backstop/store/kops"
)

// A cluster is what one folder of a state store says.
type cluster struct {
	kops.Cluster
	folder    string // its prefix in the bucket
	why       *audit.Why
	documents []audit.Object
	files     audit.Fact[[]audit.Object]
	// strange says that why is of a document that is none of kops's: config is a
	// common name, and whether it is the cluster's the stores tell.
	strange bool
	// above says that its folder holds the place: somebody asked for one of
	// its stores, and not for the others.
	above bool
}

// clusterAbove reads what kops says of the cluster of a store that was asked for
// by itself, where kops's default layout tells where to look.
func (r *survey) clusterAbove(ctx context.Context, b Bucket, p Place, roots []string) []cluster {
	if len(roots) != 1 || !within(p.Prefix+"/", roots[0]) {
		return nil
	}
	name, etcd := etcdmanager.KopsNames(roots[0])
	if name == "" {
		return nil
	}
	folder := folderOf(roots[0], etcd)
	clusters := r.readClusters(ctx, b, []string{folder + "/" + kops.CompletedFile, folder + "/" + kops.ConfigFile})
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
func (r *survey) readClusters(ctx context.Context, b Bucket, keys []string) []cluster {
	read := make([]clusterDocument, len(keys))
	r.pool.each(len(keys), func(i int) { read[i] = readCluster(ctx, b, keys[i]) })
	type pair struct {
		folder            string
		config, completed *kops.Cluster
		why, strange      *audit.Why
		documents         []audit.Object
	}
	byFolder := map[string]*pair{}
	var pairs []*pair
	for i, key := range keys {
		folder, d := parent(key), read[i]
		p := byFolder[folder]
		if p == nil {
			p = &pair{folder: folder}
			byFolder[folder] = p
			pairs = append(pairs, p)
		}
		_, completed, _ := kops.IsClusterKey(key)
		if d.cluster != nil {
			p.documents = append(p.documents, d.object)
		}
		switch {
		case d.why != nil:
			p.why = d.why
		case d.strange != nil:
			p.strange = d.strange
		case completed:
			p.completed = d.cluster
		default:
			p.config = d.cluster
		}
	}
	var clusters []cluster
	for _, p := range pairs {
		if p.config == nil && p.completed == nil && p.why == nil && p.strange == nil {
			continue
		}
		c := cluster{Cluster: kops.Merge(p.config, p.completed), folder: p.folder, why: p.why, documents: p.documents}
		if p.strange != nil && c.why == nil {
			c.why, c.strange = p.strange, p.completed == nil
		}
		// A completed spec that is there and could not be read is no sign that
		// the cluster was never made: what config names is looked for.
		c.Applied = c.Applied || c.why != nil
		if c.Name == "" {
			c.Name = c.folder[strings.LastIndexByte(c.folder, '/')+1:]
		}
		clusters = append(clusters, c)
	}
	return clusters
}

// A clusterDocument is one document of a cluster, or why it could not be read.
// Neither is known of one that is not there; strange says why one is not kops's.
type clusterDocument struct {
	cluster *kops.Cluster
	object  audit.Object
	why     *audit.Why
	strange *audit.Why
}

func readCluster(ctx context.Context, b Bucket, key string) clusterDocument {
	doc, err := b.Get(ctx, key, kops.DocumentLimit)
	if err == nil && doc.Unreadable != "" {
		err = fmt.Errorf("%s is %s", b.URL(key), doc.Unreadable)
	}
	if errors.Is(err, ErrMissing) {
		return clusterDocument{}
	}
	if err != nil {
		w := why(err)
		return clusterDocument{why: &w}
	}
	c, err := kops.Parse(doc.Body, b.URL(key))
	_, completed, _ := kops.IsClusterKey(key)
	switch {
	case errors.Is(err, kops.ErrNotCluster) && !completed: // config is a common name
		return clusterDocument{strange: &audit.Why{Cause: audit.CauseMalformed, Reason: err.Error()}}
	case err != nil:
		return clusterDocument{why: &audit.Why{Cause: audit.CauseMalformed, Reason: err.Error()}}
	}
	return clusterDocument{cluster: &c, object: doc.Object}
}

// settle decides of the clusters of which config alone is there by the stores that
// were found. A store that stands where the cluster's stores belong says that kops has
// made the cluster, whatever became of its completed spec; without one, config is what
// somebody means to have, and a strange config is not kops's.
func (r *survey) settle(finds []find) {
	found := map[string]bool{}
	for _, f := range finds {
		for _, at := range f.roots {
			if u := canonical(r.Places[f.place].Bucket.URL(at)); u != "" {
				found[u] = true
			}
		}
	}
	for i, f := range finds {
		lives := func(c cluster) bool {
			if slices.ContainsFunc(f.roots, func(at string) bool { return strings.HasPrefix(at, strings.TrimPrefix(c.folder+kopsDefault, "/")) }) {
				return true
			}
			return slices.ContainsFunc(c.Etcd, func(e kops.Etcd) bool { return found[canonical(e.BackupStore)] })
		}
		finds[i].clusters = slices.DeleteFunc(f.clusters, func(c cluster) bool { return c.strange && !lives(c) && !c.above })
		for k := range finds[i].clusters {
			c := &finds[i].clusters[k]
			c.Applied = c.Applied || lives(*c)
		}
	}
}

// stateFiles gives the files of a cluster that a listing has shown beside its
// documents. Where the place is one of the cluster's stores they are listed.
func stateFiles(ctx context.Context, b Bucket, c cluster, shown map[string][]audit.Object) audit.Fact[[]audit.Object] {
	files := slices.Concat(c.documents, shown[c.folder])
	if !c.above {
		return audit.Is(files)
	}
	for _, prefix := range []string{dirPrefix(c.folder) + "pki/", dirPrefix(c.folder) + "secrets/"} {
		n := 0
		for o, err := range b.List(ctx, ListInput{Prefix: prefix}) {
			if err != nil {
				return audit.Unknown[[]audit.Object](why(err))
			}
			if n++; n > stateLimit {
				break
			}
			files = append(files, o)
		}
	}
	return audit.Is(files)
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

// canonical spells a location in one way; empty where it is none.
func canonical(location string) string {
	scheme, bucket, prefix, err := kops.Location(location)
	if err != nil {
		return ""
	}
	return scheme + "://" + bucket + "/" + prefix
}

func samePlace(a, b string) bool {
	at := canonical(a)
	return at != "" && at == canonical(b)
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

// fact is what kops says of the store that it expects.
func (x expectation) fact() audit.Kops {
	k := audit.Kops{
		StateStore: x.state, Known: true, ClusterKnown: true, Cluster: x.cluster.Name, Etcd: x.etcd.Name,
		Members: x.etcd.Members, Version: x.etcd.Version, Created: x.cluster.Created, Interval: x.etcd.Interval,
		Hourly: x.etcd.Retention.Hourly, Daily: x.etcd.Retention.Daily, Fatal: x.etcd.Retention.Fatal, SharedWith: x.shared,
		Files: x.cluster.files,
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
	r.add(job{place: x.place, bucket: b, store: s, kops: audit.Is(x.fact()), state: r.stateBeside(x, b)})
}

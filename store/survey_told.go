package store

import (
	"context"
	"slices"
	"strings"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// folderOf is where kops keeps what it says of the cluster that a store in its
// default layout belongs to.
func folderOf(root, etcd string) string { return strings.TrimSuffix(root, kopsDefault+etcd) }

// deletedAbove tells whether kops's documents of the cluster of a store that was
// asked for by itself were deleted. It is not known where they are neither there
// nor among the old versions.
func deletedAbove(ctx context.Context, b Bucket, p Place, f find) []deletion {
	if len(f.clusters) > 0 || len(f.roots) != 1 || !within(p.Prefix+"/", f.roots[0]) {
		return nil
	}
	name, etcd := etcdmanager.KopsNames(f.roots[0])
	if name == "" {
		return nil
	}
	var keys deletedKeys
	for v, err := range b.ListVersions(ctx, folderOf(f.roots[0], etcd)+"/c") { // config, cluster-completed.spec
		if err != nil {
			return nil
		}
		keys.add(v)
	}
	return keys.clusters()
}

// told is what kops says of a store that was found, and the bucket of its state store
// where that is another one.
func (r *survey) told(f find, p Place, root string, expected []expectation) (said audit.Fact[audit.Kops], state Bucket) {
	for _, x := range expected {
		if x.at(p.Bucket, root) {
			return audit.Is(x.fact()), r.stateBeside(x, p.Bucket)
		}
	}
	return r.toldOfOther(f, p, root, expected), nil
}

// stateBeside is the bucket of an expectation's state store, where it is another
// than b.
func (r *survey) stateBeside(x expectation, b Bucket) Bucket {
	if state := r.Places[x.place].Bucket; id(state, "") != id(b, "") {
		return state
	}
	return nil
}

// toldOfOther is what kops says of a store that it does not expect.
func (r *survey) toldOfOther(f find, p Place, root string, expected []expectation) audit.Fact[audit.Kops] {
	w := word{root: root}
	w.name, _ = etcdmanager.KopsNames(root)
	for _, f := range r.speaking(f, p, root, expected) {
		q := r.Places[f.place]
		home := id(q.Bucket, "") == id(p.Bucket, "")
		for _, c := range f.clusters {
			w.cluster(q.Bucket, c, home)
		}
		for _, d := range f.deleted {
			w.deleted(q.Bucket, d, home)
		}
	}
	return w.fact()
}

// A word is what state stores say of a store that none of their clusters names.
type word struct {
	root, name string // of the store, and of its cluster by kops's layout
	kops       audit.Kops
	states     []string   // the state stores
	mine       *audit.Why // why the store's own cluster could not be read
	other      *audit.Why // why another could not, which may keep its backups here
}

func (w *word) state(b Bucket, folder string) {
	if url := b.URL(parent(folder)); !slices.Contains(w.states, url) {
		w.states = append(w.states, url)
	}
}

// cluster adds what is said of a cluster. home says that its documents lie in the
// store's bucket.
func (w *word) cluster(b Bucket, c cluster, home bool) {
	w.state(b, c.folder)
	mine := c.Name == w.name || home && c.folder != "" && within(w.root, c.folder)
	switch {
	case mine && c.why != nil:
		w.mine = c.why
	case mine:
		w.kops.ClusterKnown, w.kops.Cluster = true, c.Name
		w.kops.Etcd, w.kops.Elsewhere = c.storeOf(w.root)
	case c.why != nil:
		w.other = c.why
	}
}

func (w *word) deleted(b Bucket, d deletion, home bool) {
	w.state(b, d.folder)
	if home && within(w.root, d.folder) {
		w.kops.Deleted = d.at
	}
}

func (w *word) fact() audit.Fact[audit.Kops] {
	switch {
	case w.mine != nil:
		return audit.Unknown[audit.Kops](*w.mine)
	case len(w.states) == 0:
		return audit.None[audit.Kops]()
	case !w.kops.ClusterKnown && w.other != nil:
		return audit.Unknown[audit.Kops](*w.other)
	}
	w.kops.StateStore = strings.Join(w.states, ", ")
	return audit.Is(w.kops)
}

// storeOf tells where the cluster's etcd of the store's name keeps its backups.
func (c cluster) storeOf(root string) (etcd, store string) {
	_, name := etcdmanager.KopsNames(root)
	for _, e := range c.Etcd {
		if e.Name == name {
			return e.Name, e.BackupStore
		}
	}
	return "", ""
}

// speaking are the finds whose state stores have something to say of a store that
// none of their clusters names: that of the place itself; those of places that
// hold it; and those of whole state stores whose clusters keep backups in its
// bucket.
func (r *survey) speaking(f find, p Place, root string, expected []expectation) []find {
	if len(f.clusters) > 0 {
		return []find{f}
	}
	var all []find
	if len(f.deleted) > 0 {
		all = append(all, f)
	}
	for i, other := range r.finds {
		q := r.Places[i]
		holds := id(q.Bucket, "") == id(p.Bucket, "") && within(root, q.Prefix)
		if i != f.place && (holds || r.keepsIn(p.Bucket, other, expected)) && len(other.clusters) > 0 {
			all = append(all, other)
		}
	}
	return all
}

// keepsIn reports whether a place is a whole state store, some cluster of which
// keeps backups in a bucket.
func (r *survey) keepsIn(b Bucket, f find, expected []expectation) bool {
	for _, x := range expected {
		state := parent(x.cluster.folder)
		p := r.Places[f.place].Prefix
		if x.place == f.place && !x.cluster.above && x.err == nil && x.in(b) && (state == p || within(state, p)) {
			return true
		}
	}
	return false
}

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

// told is what kops says of a store that was found.
func (r *survey) told(f find, p Place, root string, expected []expectation) audit.Fact[audit.Kops] {
	for _, x := range expected {
		if x.at(p.Bucket, root) {
			return audit.Is(x.fact())
		}
	}
	var (
		k        audit.Kops
		states   []string
		unread   *audit.Why
		name, _  = etcdmanager.KopsNames(root)
		speaking = r.speaking(f, p, root, expected)
	)
	state := func(i int, folder string) {
		if url := r.Places[i].Bucket.URL(parent(folder)); !slices.Contains(states, url) {
			states = append(states, url)
		}
	}
	for _, f := range speaking {
		home := id(r.Places[f.place].Bucket, "") == id(p.Bucket, "")
		for _, c := range f.clusters {
			state(f.place, c.folder)
			mine := c.Name == name || home && c.folder != "" && within(root, c.folder)
			switch {
			case mine && c.why != nil:
				return audit.Unknown[audit.Kops](*c.why)
			case mine:
				k.ClusterKnown, k.Cluster = true, c.Name
				k.Etcd, k.Elsewhere = c.storeOf(root)
			case c.why != nil && unread == nil:
				unread = c.why
			}
		}
		for _, d := range f.deleted {
			state(f.place, d.folder)
			if home && within(root, d.folder) {
				k.Deleted = d.at
			}
		}
	}
	switch {
	case len(states) == 0:
		return audit.None[audit.Kops]()
	case !k.ClusterKnown && unread != nil:
		// A cluster of which nothing could be read may keep its backups here.
		return audit.Unknown[audit.Kops](*unread)
	}
	k.StateStore = strings.Join(states, ", ")
	return audit.Is(k)
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

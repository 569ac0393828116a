package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
	"backstop/store/kops"
)

// A root is what discovery knows of one place that looks like a store.
type root struct {
	snapshots bool // a snapshot directory lies directly below it
	control   bool // a control file or a queued command does
}

// Discover finds every backup store below prefix by its layout, and gives their
// roots in order. A tree inside a store belongs to it and is not another store.
// In a bucket where versioning was ever on, and where nothing was found, the
// deleted objects are looked through too. A long listing is divided, and so many of
// its parts are listed at a time.
//
// It needs List and Folders, and reads no object.
func Discover(ctx context.Context, b Bucket, prefix string, concurrency int) ([]string, error) {
	f, err := discover(ctx, b, prefix, newPool(concurrency))
	return f.roots, err
}

// A discovery is what the keys of a bucket tell.
type discovery struct {
	roots []string // of backup stores
	charm []string // folders of the etcd charm's snapshots, outside of these
	specs []string // keys of what may be documents of kops clusters, in order
	state map[string][]audit.Object
	// deleted are the clusters whose documents were deleted. They are looked for
	// only where no store was found.
	deleted []deletion
}

// A deletion is a cluster of which kops has no documents any more.
type deletion struct {
	folder string // where they were
	at     time.Time
}

// discover lists what is below prefix, in parts and at most as many of them at a
// time as the pool has room for.
func discover(ctx context.Context, b Bucket, prefix string, at pool) (discovery, error) {
	seen, err := listInParts(ctx, b, dirPrefix(prefix), at)
	if err != nil {
		return discovery{}, err
	}
	d := discovery{specs: seen.specs}
	if len(seen.roots)+len(seen.charm) == 0 {
		at.do(func() { d.deleted = discoverDeleted(ctx, b, prefix, seen.roots) })
	}
	d.roots, d.state = outermost(seen.roots), seen.state
	d.charm = outside(seen.charm, d.roots)
	return d, nil
}

// keysSeen is what a part of a listing has shown.
type keysSeen struct {
	roots map[string]root
	charm map[string]bool // folders of the etcd charm's snapshots
	specs []string
	// state holds files of what may be kops clusters, by folder. folder is that of
	// the last document: a cluster's other files follow it in a listing. from is the
	// key behind which a part of a listing begins, whose cluster's document may be in
	// the part before.
	state        map[string][]audit.Object
	folder, from string
}

// stateLimit is how many files of a cluster are kept. kops makes about sixty.
const stateLimit = 100

func (s *keysSeen) add(o audit.Object) {
	if at, snapshot, ok := etcdmanager.Root(o.Key); ok {
		note(s.roots, at, snapshot)
	} else if at, ok := charmRoot(o); ok {
		s.noteCharm(at)
	} else if _, _, ok := kops.IsClusterKey(o.Key); ok {
		s.specs = append(s.specs, o.Key)
		s.folder = parent(o.Key)
	} else if at, ok := s.stateOf(o.Key); ok && len(s.state[at]) < stateLimit {
		if s.state == nil {
			s.state = map[string][]audit.Object{}
		}
		s.state[at] = append(s.state[at], o)
	}
}

// stateOf tells which cluster's folder a file of kops belongs to.
func (s *keysSeen) stateOf(key string) (folder string, ok bool) {
	isFile := func(at string) bool {
		return within(key, at) && kops.StateFile(strings.TrimPrefix(key, dirPrefix(at)))
	}
	if len(s.specs) > 0 || s.from == "" {
		return s.folder, len(s.specs) > 0 && isFile(s.folder)
	}
	for at := parent(s.from); ; at = parent(at) {
		if isFile(at) || at == "" {
			return at, isFile(at)
		}
	}
}

func note(roots map[string]root, at string, snapshot bool) {
	r, known := roots[at]
	if known && (r.snapshots && snapshot || r.control && !snapshot) {
		return
	}
	r.snapshots = r.snapshots || snapshot
	r.control = r.control || !snapshot
	roots[at] = r
}

// within reports whether key lies below the root at; everything lies below the
// empty root.
func within(key, at string) bool { return strings.HasPrefix(key, dirPrefix(at)) }

// dirPrefix makes a key prefix that matches what lies below a root, and not its
// neighbour whose name begins alike.
func dirPrefix(at string) string {
	if at == "" {
		return ""
	}
	return at + "/"
}

// discoverDeleted finds stores of which nothing is left but old versions and
// delete markers, and what was deleted of kops's documents. That it may not look
// is no error: the caller says that no store was found, and a store whose root is
// given is observed in any case.
func discoverDeleted(ctx context.Context, b Bucket, prefix string, roots map[string]root) []deletion {
	if v, err := b.Versioning(ctx); err != nil || v.Status == "" {
		return nil
	}
	var keys deletedKeys
	for v, err := range b.ListVersions(ctx, dirPrefix(prefix)) {
		if err != nil {
			return keys.clusters()
		}
		if at, snapshot, ok := etcdmanager.Root(v.Key); ok {
			note(roots, at, snapshot)
		}
		keys.add(v)
	}
	return keys.clusters()
}

// deletedKeys collects what is said of kops's documents by their versions.
type deletedKeys struct {
	folders []string
	last    map[string]time.Time
	alive   map[string]bool
}

func (d *deletedKeys) add(v audit.Version) {
	if _, _, ok := kops.IsClusterKey(v.Key); !ok || !v.Latest {
		return
	}
	if d.last == nil {
		d.last, d.alive = map[string]time.Time{}, map[string]bool{}
	}
	folder := parent(v.Key)
	if _, known := d.last[folder]; !known {
		d.folders = append(d.folders, folder)
	}
	d.alive[folder] = d.alive[folder] || !v.Marker
	if v.LastModified.After(d.last[folder]) {
		d.last[folder] = v.LastModified
	}
}

// clusters gives those of which every document is hidden.
func (d *deletedKeys) clusters() []deletion {
	var all []deletion
	for _, folder := range d.folders {
		if !d.alive[folder] {
			all = append(all, deletion{folder, d.last[folder]})
		}
	}
	return all
}

// outermost drops the roots that lie inside a store and belong to it: folders of
// snapshots that somebody keeps there. Something misplaced must not hide a store,
// though, and least of all one that has lost its control files. So only a whole
// store, with control files and snapshots, has a tree of its own inside it; what
// has control files itself is a store wherever it lies, and so is what kops's
// layout makes one.
func outermost(roots map[string]root) []string {
	var kept []string
	for at, r := range roots {
		if !belongs(roots, at, r) {
			kept = append(kept, at)
		}
	}
	slices.Sort(kept)
	return kept
}

func belongs(roots map[string]root, at string, r root) bool {
	if r.control {
		return false
	}
	for above := at; above != ""; {
		above = parent(above)
		o := roots[above]
		cluster, _ := etcdmanager.KopsNames(strings.TrimPrefix(at, dirPrefix(above)))
		if o.snapshots && o.control && cluster == "" {
			return true
		}
	}
	return false
}

func parent(at string) string {
	if i := strings.LastIndexByte(at, '/'); i >= 0 {
		return at[:i]
	}
	return ""
}

// StoreAt names the store at a root in a bucket.
func StoreAt(b Bucket, at string) audit.Store {
	cluster, etcd := etcdmanager.KopsNames(at)
	return audit.Store{URL: b.URL(at), Bucket: b.Name(), Prefix: at, Cluster: cluster, Etcd: etcd, Endpoint: b.Endpoint()}
}

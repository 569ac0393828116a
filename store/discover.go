package store

import (
	"context"
	"slices"
	"strings"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// A root is what discovery knows of one place that looks like a store.
type root struct {
	snapshots bool // a snapshot directory lies directly below it
	control   bool // a control file or a queued command does
}

// skipAfter is how many keys inside one store discovery reads before it jumps
// over the rest: one page of a listing. A store holds hundreds of snapshots, and
// they are listed again when it is observed.
const skipAfter = 1000

// Discover finds every backup store below prefix by its layout, and gives their
// roots in order. A tree inside a store belongs to it and is not another store.
// In a bucket where versioning was ever on, and where nothing was found, the
// deleted objects are looked through too.
//
// It needs List, and reads no object.
func Discover(ctx context.Context, b Bucket, prefix string) ([]string, error) {
	roots := map[string]root{}
	after := ""
	for {
		next, err := discoverFrom(ctx, b, prefix, after, roots)
		if err != nil {
			return nil, err
		}
		if next == "" {
			break
		}
		after = next
	}
	if len(roots) == 0 {
		discoverDeleted(ctx, b, prefix, roots)
	}
	return outermost(roots), nil
}

// discoverFrom reads on until the listing ends, or gives the key after which to
// go on when it has read enough of one store.
func discoverFrom(ctx context.Context, b Bucket, prefix, after string, roots map[string]root) (next string, err error) {
	inside, known, seen := "", false, 0
	for o, err := range b.List(ctx, ListInput{Prefix: dirPrefix(prefix), StartAfter: after}) {
		if err != nil {
			return "", err
		}
		known = known && within(o.Key, inside)
		if at, snapshot, ok := etcdmanager.Root(o.Key); ok {
			note(roots, at, snapshot)
			if snapshot && !known {
				inside, known, seen = at, true, 0
			}
		}
		if !known {
			continue
		}
		if seen++; seen > skipAfter {
			if next := past(inside, o.Key); next != "" {
				return next, nil
			}
		}
	}
	return "", nil
}

// past gives the key after which to go on listing, to leave the store at a root
// behind: its control files first, then what follows the store. It is empty
// when nothing can be skipped.
func past(at, key string) string {
	control := dirPrefix(at) + etcdmanager.ControlDir
	switch {
	case key < control:
		return control
	case at == "":
		return ""
	}
	return at + "0" // '0' follows '/' in the order of bytes
}

func note(roots map[string]root, at string, snapshot bool) {
	r := roots[at]
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
// delete markers. That it may not look is no error: the caller says that no
// store was found, and a store whose root is given is observed in any case.
func discoverDeleted(ctx context.Context, b Bucket, prefix string, roots map[string]root) {
	if v, err := b.Versioning(ctx); err != nil || v == "" {
		return
	}
	for v, err := range b.ListVersions(ctx, dirPrefix(prefix)) {
		if err != nil {
			return
		}
		if at, snapshot, ok := etcdmanager.Root(v.Key); ok {
			note(roots, at, snapshot)
		}
	}
}

// outermost drops the roots that lie inside a store. Something misplaced must
// not hide a store, though: a few snapshots copied to the top of the bucket, or
// a control file written to the wrong place, do not make everything below them
// theirs.
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
	for at != "" {
		at = parent(at)
		if o, ok := roots[at]; ok && (o.snapshots && o.control || !r.control) {
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

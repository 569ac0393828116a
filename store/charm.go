package store

import (
	"slices"
	"strings"

	"backstop/audit"
	"backstop/store/charm"
)

// charmRoot gives the folder of a snapshot of the etcd charm. An object whose name
// is a time may be anybody's: it is a backup of the charmed-etcd operator if its
// length is that of pages with a sha256 behind them.
func charmRoot(o audit.Object) (at string, ok bool) {
	name, ok := charm.ParseName(o.Key)
	if !ok || name.Kind == charm.PreRestore || name.Kind == charm.Operator && o.Size%512 != 32 {
		return "", false
	}
	return charm.Root(o.Key)
}

func (s *keysSeen) noteCharm(at string) {
	if s.charm == nil {
		s.charm = map[string]bool{}
	}
	s.charm[at] = true
}

// outside gives, in order, the folders that lie outside of every store: in a store
// they are what somebody keeps there.
func outside(folders map[string]bool, roots []string) []string {
	var all []string
	for at := range folders {
		if !slices.ContainsFunc(roots, func(root string) bool { return at == root || within(at, root) }) {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return all
}

// charmJobs are the folders of the etcd charm's snapshots at a place, as stores. kops
// knows nothing of them.
func (r *survey) charmJobs(f find, p Place) []job {
	if !r.Charm {
		return nil
	}
	var jobs []job
	for _, at := range f.charm {
		s := StoreAt(p.Bucket, at)
		s.Layout, s.NamedBy, s.Cluster = audit.LayoutCharm, p.NamedBy, ""
		jobs = append(jobs, job{place: f.place, bucket: p.Bucket, store: s, kops: audit.None[audit.Kops]()})
	}
	return jobs
}

// addCharm is collector.add for a folder of the charm's. What lies deeper belongs to
// another folder.
func (c *collector) addCharm(rel string, obj audit.Object) {
	if strings.Contains(rel, "/") {
		return
	}
	c.Objects++
	c.Bytes += obj.Size
	if _, ok := charmRoot(obj); !ok {
		if c.StrayCount++; c.StrayCount <= audit.StrayLimit {
			c.Strays = append(c.Strays, obj)
		}
		return
	}
	name, _ := charm.ParseName(rel)
	c.Snapshots = append(c.Snapshots, audit.Snapshot{Name: rel, Taken: name.Latest(), Data: &obj, Whole: true})
}

// withoutControl says of a folder of the charm's that it has no control files, no
// queue and no meta files, and that nobody looked for old versions.
func (l *look) withoutControl() {
	l.o.Created, l.o.Spec = audit.None[audit.Document](), audit.None[audit.Document]()
	l.o.NewestMeta, l.o.RestoreMeta = audit.None[audit.Document](), audit.None[audit.Document]()
	l.o.Queue = audit.Is([]audit.Command{})
	l.o.ControlVersions, l.o.Versions = audit.None[[]audit.Version](), audit.None[audit.Versions]()
}

package lint

import (
	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

// A target is an object that a lifecycle rule may act on: one that was seen, or
// one that a store will have.
type target struct {
	store   *Store
	path    string // relative to the store
	version lifecycle.Version
	// seen says that it is there; otherwise its age is from now on.
	seen bool
}

// Sizes of what etcd-manager writes, for stores that nobody looked at: bytes.
const (
	usualControl = 48
	usualMeta    = 300
	usualData    = 1 << 20
)

// control gives the store's two control files. One that is missing or was not
// seen is represented by one that is written now.
func (s *Store) control() []target {
	if s.files == nil {
		s.files = s.makeControl()
	}
	return s.files
}

func (s *Store) makeControl() []target {
	all := []target{s.expected(etcdmanager.CreatedPath, usualControl), s.expected(etcdmanager.SpecPath, usualControl)}
	if s.Observation == nil {
		return all
	}
	for i, f := range []audit.Fact[audit.Document]{s.Observation.Created, s.Observation.Spec} {
		if f.IsSet() {
			d := f.Value
			all[i].seen = true
			all[i].version = lifecycle.Version{Key: d.Key, VersionID: d.VersionID, Size: d.Size, LastModified: d.LastModified,
				StorageClass: d.StorageClass, Tags: d.Tags.Value, TagsKnown: d.Tags.IsSet()}
		}
	}
	return all
}

// expected is an object that a store will have.
func (s *Store) expected(path string, size int64) target {
	return target{store: s, path: path, version: lifecycle.Version{Key: s.key(path), Size: size, LastModified: s.Now}}
}

// A pair is a snapshot: its data and its meta file.
type pair struct{ data, meta target }

// snapshots gives the store's complete snapshots. A store that nobody looked at
// is represented by one that is taken now.
func (s *Store) snapshots() []pair {
	if !s.asked {
		s.pairs, s.asked = s.makePairs(), true
	}
	return s.pairs
}

func (s *Store) makePairs() []pair {
	if s.Observation == nil || !s.Observation.Listing.Seen() {
		dir := etcdmanager.FormatName(s.Now, 1) + "/"
		return []pair{{s.expected(dir+etcdmanager.DataFile, usualData), s.expected(dir+etcdmanager.MetaFile, usualMeta)}}
	}
	var all []pair
	for _, n := range s.Observation.Listing.Value.Snapshots {
		if n.Complete() {
			all = append(all, pair{s.object(n.Data), s.object(n.Meta)})
		}
	}
	return all
}

func (s *Store) object(o *audit.Object) target {
	return target{store: s, seen: true, path: o.Key, version: lifecycle.Version{Key: o.Key, Size: o.Size, LastModified: o.LastModified, StorageClass: o.StorageClass}}
}

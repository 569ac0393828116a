package lint

import (
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
	"backstop/rules/lifecycle/infra"
	"backstop/store/etcdmanager"
)

// An Input is all that is judged.
type Input struct {
	Files  []File
	Stores []Store
	// Problems are places that gave no store.
	Problems []audit.Problem
	// Places are those of which everything was listed.
	Places []Place
	Now    time.Time
	// Foresee tells what becomes of a store under lifecycle rules, or under its own
	// where there are none. It may be nil; then no timelines are told.
	Foresee func(st *Store, rules *lifecycle.Configuration) audit.Fact[audit.Future]
	// AllowNothing says that files in which there is nothing to judge are fine.
	AllowNothing bool
}

// A Place is a part of a bucket of which everything was listed.
type Place struct {
	URL    string `json:"url"` // as it was given
	Bucket string `json:"bucket"`
	Prefix string `json:"prefix"` // without slashes at its ends
}

// holds reports whether a store would lie in the place.
func (p Place) holds(bucket, root string) bool {
	return bucket != "" && p.Bucket == bucket && (p.Prefix == "" || root == p.Prefix || strings.HasPrefix(root, p.Prefix+"/"))
}

// A File is one file of infrastructure code.
type File struct {
	Name string
	infra.Document
}

// A Store is a backup store to hold code against.
type Store struct {
	// Observation is what was seen of it; nil for a prefix that nobody looked at.
	Observation *audit.Observation
	Policy      audit.Policy
	// State is the store's state, and Unseen are the facts that were not seen.
	State  audit.StoreState
	Unseen []audit.UnseenFact
	// Now is the time to judge it at, by S3's clock.
	Now time.Time
	// Bucket and Prefix are of a prefix that nobody looked at. Without Bucket it
	// stands for one in any bucket.
	Bucket, Prefix string

	memory
}

// A memory keeps what is asked of a store for each rule anew.
type memory struct {
	inForce *audit.Fact[lifecycle.Configuration]
	files   []target
	pairs   []pair
	asked   bool // whether pairs were made
}

// bucket gives the bucket of the store; empty for any.
func (s *Store) bucket() string {
	if s.Observation == nil {
		return s.Bucket
	}
	return s.Observation.Store.Bucket
}

func (s *Store) prefix() string {
	if s.Observation == nil {
		return s.Prefix
	}
	return s.Observation.Store.Prefix
}

// key gives the key of something in the store.
func (s *Store) key(path string) string {
	if s.prefix() == "" {
		return path
	}
	return s.prefix() + "/" + path
}

// url names the store for people.
func (s *Store) url() string {
	switch {
	case s.Observation != nil:
		return s.Observation.Store.URL
	case s.Bucket != "":
		return strings.TrimSuffix("s3://"+s.Bucket+"/"+s.Prefix, "/")
	case s.Prefix == "":
		return "(a store that is the whole bucket)"
	}
	return s.Prefix
}

// cluster names the cluster that the store belongs to.
func (s *Store) cluster() string {
	if s.Observation != nil && s.Observation.Store.Cluster != "" {
		return s.Observation.Store.Cluster
	}
	if cluster, _ := etcdmanager.KopsNames(s.prefix()); cluster != "" {
		return cluster
	}
	return s.url()
}

// looked reports whether somebody looked at the store and saw what decides about
// its cluster.
func (s *Store) looked() bool {
	o := s.Observation
	return o != nil && o.Listing.Seen() && o.Created.Seen() && o.Spec.Seen()
}

// provider is whose server the store lies on, as far as it is known.
func (s *Store) provider() lifecycle.Provider {
	if s.Observation != nil && s.Observation.Store.Endpoint != "" {
		return lifecycle.Unknown
	}
	return lifecycle.AWS
}

// live gives the lifecycle configuration that is in force; unseen where it was
// not seen or is not understood, unset where there is none.
func (s *Store) live() audit.Fact[lifecycle.Configuration] {
	if s.inForce == nil {
		s.inForce = new(s.readLive())
	}
	return *s.inForce
}

func (s *Store) readLive() audit.Fact[lifecycle.Configuration] {
	if s.Observation == nil {
		return audit.Fact[lifecycle.Configuration]{}
	}
	l := s.Observation.Bucket.Lifecycle
	if !l.IsSet() {
		return audit.Fact[lifecycle.Configuration]{State: l.State, Why: l.Why}
	}
	c, err := forecast.ConfigurationOf(s.Observation)
	if err != nil {
		return audit.Unknown[lifecycle.Configuration](audit.Why{Cause: audit.CauseMalformed, Reason: err.Error()})
	}
	return audit.Is(c)
}

// lifecycleBucket is what the evaluator needs to know of the store's bucket,
// with what the code says about it.
func (s *Store) lifecycleBucket(f infra.Facts) lifecycle.Bucket {
	b := lifecycle.Bucket{Provider: s.provider()}
	if s.Observation != nil {
		b = forecast.BucketOf(s.Observation)
	}
	if f.Versioning != lifecycle.Unknown {
		b.Versioning = f.Versioning
	}
	b.MFADelete, b.ObjectLock = b.MFADelete || f.MFADelete, b.ObjectLock || f.ObjectLock
	b.IntelligentTiering = f.Tiering
	return b
}

// keepDaily is how long etcd-manager keeps a snapshot of each day.
func (s *Store) keepDaily() time.Duration {
	if s.Observation == nil {
		return s.Policy.KeepDaily
	}
	return s.Policy.For(s.Observation).KeepDaily
}

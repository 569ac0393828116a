package audit

import "time"

// A Depth says how far a snapshot was looked into.
type Depth string

// The depths, from the shallowest. Each includes those before it.
const (
	// Listed: the listing shows both halves. Nothing of it was read.
	Listed Depth = "listed"
	// Headed: its first and last bytes were read. They tell whether it is a
	// snapshot at all, and whether it was cut short or padded.
	Headed Depth = "headed"
	// Hashed: it was read to its end, and gzip's checksum and the sha256 that
	// etcd wrote behind it match.
	Hashed Depth = "hashed"
	// Parsed: every page and every record of it was read, too.
	Parsed Depth = "parsed"
	// Restored: an etcd was started from it, and held what it holds.
	Restored Depth = "restored"
)

func (d Depth) rank() int {
	for i, known := range []Depth{Listed, Headed, Hashed, Parsed, Restored} {
		if d == known {
			return i
		}
	}
	return -1
}

// Reaches reports whether d is at least as deep as other.
func (d Depth) Reaches(other Depth) bool { return d.rank() >= other.rank() }

// A Condition says what a snapshot is good for, as far as it was looked into.
type Condition string

// The conditions of a snapshot.
const (
	// Plausible: nothing is wrong with what was read, which was not all of it.
	Plausible Condition = "plausible"
	// Intact: every check of the depth was passed.
	Intact Condition = "intact"
	// Restorable: etcd restores it, but there is something to know first.
	Restorable Condition = "restorable"
	// Damaged: it is not what etcd wrote, or no snapshot at all.
	Damaged Condition = "damaged"
	// Unverified: it could not be read as far as it should have been.
	Unverified Condition = "unverified"
)

// An Examined is what was found in one snapshot: how deep, and when.
type Examined struct {
	// Name is the snapshot's, as in [Snapshot].
	Name string `json:"name"`
	// Key, VersionID, ETag and Size say which object was read: its data. Size is
	// in bytes as stored. VersionID and ETag are empty where the store has none.
	Key       string `json:"key"`
	VersionID string `json:"version_id,omitempty"`
	ETag      string `json:"etag,omitempty"`
	Size      int64  `json:"stored_bytes"`

	// Depth is the one that was reached, and At when, by the auditor's clock.
	Depth Depth     `json:"depth"`
	At    time.Time `json:"at"`
	// Remembered says that this is from the ledger, and nothing was read for it
	// this time.
	Remembered bool `json:"remembered,omitempty"`

	Condition Condition `json:"condition"`
	// Cause says in one word why Condition is not Intact, as store/snapshot
	// does: trailer, gzip, too-big, …
	Cause string `json:"cause,omitempty"`
	// Reason is the cause as a sentence, and says where the damage is.
	Reason string `json:"reason,omitempty"`
	// Content is what it holds; nil unless it was parsed, and restores.
	Content *Content `json:"content,omitempty"`
}

// Restores reports whether etcd would restore the snapshot: it was read to its end
// and found to be what etcd wrote.
func (e Examined) Restores() bool {
	return e.Depth.Reaches(Parsed) && (e.Condition == Intact || e.Condition == Restorable)
}

// Is reports whether e is about this very object, and not about what lay at its
// key before.
func (e Examined) Is(o Object) bool {
	return e.Key == o.Key && e.Size == o.Size && e.ETag == o.ETag
}

// A Content is what a snapshot holds.
type Content struct {
	// Revision is etcd's newest, and CompactRevision the newest that was
	// compacted away.
	Revision        int64  `json:"revision"`
	CompactRevision int64  `json:"compact_revision,omitempty"`
	ConsistentIndex uint64 `json:"consistent_index"` // of raft
	Term            uint64 `json:"term,omitempty"`   // of raft; 0 for etcd 3.4 and older
	StorageVersion  string `json:"storage_version,omitempty"`
	ClusterVersion  string `json:"cluster_version,omitempty"`
	// Members are the ids of the etcd members, in hexadecimal, sorted.
	Members []string `json:"members,omitempty"`
	Removed []string `json:"removed_members,omitempty"`
	// Keys is the number of live keys, and KeyBytes what they take, in bytes.
	Keys     int64 `json:"keys"`
	KeyBytes int64 `json:"key_bytes"`
	// KubernetesKeys is how many of Keys lie below /registry/.
	KubernetesKeys int64 `json:"kubernetes_keys"`
	// Resources divide the keys: those below /registry/ by the Kubernetes
	// resource, and others by their first element.
	Resources []ResourceCount `json:"resources,omitempty"`
	// Size is the length of the database in bytes, inflated.
	Size int64 `json:"size_bytes"`
	// SHA256 is the trailer: the identity of the content.
	SHA256 string `json:"sha256"`
	// Hash is the one of `etcdutl snapshot status`, HashKV that of `etcdctl
	// endpoint hashkv` at Revision.
	Hash   uint32 `json:"hash"`
	HashKV uint32 `json:"hash_kv"`
}

// A ResourceCount counts the keys of one kind.
type ResourceCount struct {
	Name string `json:"name"`
	Keys int64  `json:"keys"`
}

// Count gives the number of keys of a resource.
func (c Content) Count(resource string) int64 {
	for _, r := range c.Resources {
		if r.Name == resource {
			return r.Keys
		}
	}
	return 0
}

// A Verification is what a run has read of a store's snapshots, or remembers of
// them.
type Verification struct {
	// Asked is what was to be read, as --verify says it: newest, new, all or K/N;
	// empty where nothing was.
	Asked string `json:"asked,omitempty"`
	// Remembers says that a ledger was at hand.
	Remembers bool `json:"remembers,omitempty"`
	// Snapshots are those that were opened, now or by an earlier run with the
	// same ledger, and are still in the store as they were. Sorted by name.
	Snapshots []Examined `json:"snapshots,omitempty"`
	// Left counts the snapshots that were to be read and were not, for LeftWhy.
	Left    int    `json:"left,omitempty"`
	LeftWhy string `json:"left_why,omitempty"`
	// Opened counts those that were opened by this run, and Bytes what was read
	// of them, as stored.
	Opened int   `json:"opened,omitempty"`
	Bytes  int64 `json:"bytes,omitempty"`
}

// Of gives what is known of a snapshot, the deepest. A snapshot of which nothing
// was read is Listed.
func (o *Observation) Of(s Snapshot) (e Examined, ok bool) {
	if s.Data == nil {
		return Examined{}, false
	}
	for _, e := range o.Verification.Snapshots {
		if e.Name == s.Name && e.Is(*s.Data) {
			return e, true
		}
	}
	if h := o.Head.Value; o.Head.IsSet() && h.Name == s.Name && h.Is(*s.Data) {
		return h, true
	}
	return Examined{Name: s.Name, Key: s.Data.Key, ETag: s.Data.ETag, Size: s.Data.Size, Depth: Listed, Condition: Plausible}, false
}

// NewestRestorable gives the newest complete snapshot that was read to its end and
// would restore, and when it was written, by the clock of [Listing.Newest].
func (o *Observation) NewestRestorable(now time.Time) (e Examined, at time.Time, ok bool) {
	good := o.Listing.Value
	good.Snapshots = nil
	for _, s := range o.Listing.Value.Snapshots {
		if e, _ := o.Of(s); e.Restores() {
			good.Snapshots = append(good.Snapshots, s)
		}
	}
	s, at, ok := good.newest(now, o.Listing.Value.Copied())
	if !ok {
		return Examined{}, time.Time{}, false
	}
	e, _ = o.Of(s)
	return e, at, true
}

package snapshot

import "fmt"

// A Verdict says what a snapshot is good for.
type Verdict string

// The verdicts, from the best.
const (
	// Intact: every check was passed.
	Intact Verdict = "intact"
	// Restorable: etcd restores it, but there is something to know first.
	Restorable Verdict = "restorable"
	// Damaged: it is not what etcd wrote, or no snapshot at all.
	Damaged Verdict = "damaged"
	// Unverified: it was not read to its end, so nothing is known.
	Unverified Verdict = "unverified"
)

// A Cause says in one word why a verdict is not Intact.
type Cause string

// The causes of Damaged.
const (
	// NotSnapshot: it is something else.
	NotSnapshot Cause = "not-a-snapshot"
	// BadGzip: the gzip stream is cut, altered, or followed by other bytes.
	BadGzip Cause = "gzip"
	// BadLength: it is shorter or longer than its meta page says.
	BadLength Cause = "length"
	// BadTrailer: the sha256 at its end is missing or is not that of its bytes.
	BadTrailer Cause = "trailer"
	// BadStructure: the pages are not a tree.
	BadStructure Cause = "structure"
	// BadSchema: the tree is not etcd's.
	BadSchema Cause = "schema"
	// BadRecord: a key or a value is not what etcd stores there.
	BadRecord Cause = "record"
)

// The causes of Unverified.
const (
	// TooBig: it needs more memory than it may have.
	TooBig Cause = "too-big"
	// NotRead: its bytes could not be had.
	NotRead Cause = "not-read"
	// Internal: the verifier itself failed, which is a bug.
	Internal Cause = "internal"
)

// Remarked is the cause of Restorable.
const Remarked Cause = "remark"

// A Result is what one look at a snapshot gave.
type Result struct {
	Verdict Verdict `json:"verdict"`
	// Cause is empty for Intact.
	Cause Cause `json:"cause,omitempty"`
	// Reason is the cause as a sentence for people; empty for Intact.
	Reason string `json:"reason,omitempty"`
	// Damage is what was found, the worst first, at most 20 of it.
	Damage []Damage `json:"damage,omitempty"`
	// MoreDamage counts what was found beyond that.
	MoreDamage int `json:"more_damage,omitempty"`
	// Remarks are what to know of a snapshot that restores.
	Remarks []string `json:"remarks,omitempty"`
	// Gzip says that the snapshot came compressed.
	Gzip bool `json:"gzip"`
	// Read is the number of bytes that were read, as they came.
	Read int64 `json:"read_bytes"`
	// Facts are what the snapshot holds; nil where it is not known to be what
	// etcd wrote.
	Facts *Facts `json:"facts,omitempty"`
}

// A Damage is one thing that is wrong, and where.
type Damage struct {
	Cause Cause `json:"cause"`
	// What is the thing as a sentence that needs no other field.
	What string `json:"what"`
	// Page is the number of the page; 0 also where it is about no page.
	Page uint64 `json:"page,omitempty"`
	// Offset is where the page begins, in bytes of the inflated snapshot.
	Offset int64 `json:"offset_bytes,omitempty"`
	// Bucket is the etcd bucket that the page belongs to, if that is known.
	Bucket string `json:"bucket,omitempty"`
}

const maxDamage = 20

// add keeps d, or counts it.
func (r *Result) add(d Damage) {
	if len(r.Damage) >= maxDamage {
		r.MoreDamage++
		return
	}
	r.Damage = append(r.Damage, d)
}

// damagef adds damage that is about no page.
func (r *Result) damagef(c Cause, format string, args ...any) {
	r.add(Damage{Cause: c, What: fmt.Sprintf(format, args...)})
}

// remarkf adds a remark.
func (r *Result) remarkf(format string, args ...any) {
	r.Remarks = append(r.Remarks, fmt.Sprintf(format, args...))
}

// unverified ends a look that knows nothing.
func (r *Result) unverified(c Cause, reason string) {
	r.Verdict, r.Cause, r.Reason = Unverified, c, reason
	r.Facts, r.Damage, r.Remarks, r.MoreDamage = nil, nil, nil, 0
}

// judge makes the verdict from what was found, unless there is one.
func (r *Result) judge() {
	switch {
	case r.Verdict != "":
	case len(r.Damage) > 0:
		r.Verdict, r.Cause, r.Reason = Damaged, r.Damage[0].Cause, r.Damage[0].What
		if n := len(r.Damage) - 1 + r.MoreDamage; n > 0 {
			r.Reason += fmt.Sprintf(" (and %d more)", n)
		}
		r.Facts, r.Remarks = nil, nil
	case len(r.Remarks) > 0:
		r.Verdict, r.Cause, r.Reason = Restorable, Remarked, r.Remarks[0]
		if n := len(r.Remarks) - 1; n > 0 {
			r.Reason += fmt.Sprintf(" (and %d more)", n)
		}
	default:
		r.Verdict = Intact
	}
}

// Facts are what an intact snapshot holds.
type Facts struct {
	// PageSize is bbolt's page size in bytes.
	PageSize int `json:"page_size_bytes"`
	// Size is the length of the database in bytes, as `etcdutl snapshot status`
	// gives it: inflated, and without the trailer.
	Size int64 `json:"size_bytes"`
	// InUse is how much of Size the tree takes; the rest is free pages.
	InUse int64 `json:"in_use_bytes"`
	// SHA256 is that of the database in hexadecimal, as its trailer has it: the
	// identity of the content.
	SHA256 string `json:"sha256"`
	// Hash is the one that `etcdutl snapshot status` prints.
	Hash uint32 `json:"hash"`
	// HashKV is what etcd 3.6 answers to `etcdctl endpoint hashkv` at Revision
	// once the snapshot is restored. Other versions may differ in tombstones.
	HashKV uint32 `json:"hash_kv"`

	// Revision is the newest in the key bucket, as etcdutl gives it; 0 in a
	// cluster that never held a key. A server calls CompactRevision its own
	// where that is higher: compaction may remove the newest record.
	Revision int64 `json:"revision"`
	// CompactRevision is the newest one that was compacted, or that the server
	// had begun to compact; 0 if there was none.
	CompactRevision int64 `json:"compact_revision"`
	// ConsistentIndex is the raft index that was applied last.
	ConsistentIndex uint64 `json:"consistent_index"`
	// Term is the raft term; 0 in snapshots of etcd 3.4 and older, which do not
	// store it.
	Term uint64 `json:"term,omitempty"`
	// StorageVersion is as 3.6.0; empty in snapshots of etcd 3.5 and older.
	StorageVersion string `json:"storage_version,omitempty"`
	// ClusterVersion is the version that all members had agreed on.
	ClusterVersion string `json:"cluster_version,omitempty"`
	// Members are the etcd members, by id.
	Members []Member `json:"members,omitempty"`
	// RemovedMembers are the ids of members that were removed.
	RemovedMembers []string `json:"removed_members,omitempty"`
	// DerivedClusterID is the id that a cluster has whose first members are
	// Members. A snapshot does not hold the true one.
	DerivedClusterID string `json:"derived_cluster_id,omitempty"`

	// Keys is the number of keys that can be read at Revision.
	Keys int64 `json:"keys"`
	// KubernetesKeys is how many of Keys are below /registry/, where Kubernetes
	// keeps its own.
	KubernetesKeys int64 `json:"kubernetes_keys"`
	// KeyBytes is what the newest record of each of Keys takes in the database.
	KeyBytes int64 `json:"key_bytes"`
	// Revisions is the number of records, old ones and tombstones included.
	Revisions int64 `json:"revisions"`
	// RevisionBytes is what they take.
	RevisionBytes int64 `json:"revision_bytes"`
	// Tombstones is the number of records that say that a key was deleted.
	Tombstones int64 `json:"tombstones"`
	// Resources divides Keys by the Kubernetes resource, by name.
	Resources []Resource `json:"resources,omitempty"`
	// Leases is the number of leases, and LeasedKeys that of keys bound to one.
	Leases     int64 `json:"leases"`
	LeasedKeys int64 `json:"leased_keys"`
	// Alarms are those that were raised, as NOSPACE or CORRUPT.
	Alarms []string `json:"alarms,omitempty"`
	// AuthEnabled says that etcd's own authentication was on.
	AuthEnabled bool `json:"auth_enabled,omitempty"`
}

// A Member is an etcd member as the snapshot holds it.
type Member struct {
	ID         string   `json:"id"` // hexadecimal
	Name       string   `json:"name,omitempty"`
	PeerURLs   []string `json:"peer_urls,omitempty"`
	ClientURLs []string `json:"client_urls,omitempty"`
	Learner    bool     `json:"learner,omitempty"`
}

// A Resource sums up the keys of one kind.
type Resource struct {
	// Name is what stands between /registry/ and the next slash, with the API
	// group where there is one; for other keys it is their first element.
	Name string `json:"name"`
	Keys int64  `json:"keys"`
	// Bytes is what the newest record of each key takes in the database.
	Bytes int64 `json:"bytes"`
}

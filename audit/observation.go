package audit

import (
	"strings"
	"time"
)

// ObservationSchema is the version of the JSON form of an [Observation]. It
// changes when an old recording can no longer be read as what it meant.
const ObservationSchema = 1

// An Observation is everything that one look at one backup store saw. It is a
// plain value: documents as bytes, and scalars. Rules parse the documents, so a
// recorded observation stays complete when rules become cleverer.
type Observation struct {
	Schema int   `json:"schema"`
	Store  Store `json:"store"`

	// Begun and Ended are the auditor's clock at the first request and after
	// the last.
	Begun time.Time `json:"begun"`
	Ended time.Time `json:"ended"`
	// ClockOffset is S3's Date header less the auditor's clock, in
	// nanoseconds. Unset where there is no other clock (a directory).
	ClockOffset Fact[time.Duration] `json:"clock_offset"`

	// Listing is the complete listing of the store. A listing that broke off
	// is unseen, however much of it had come.
	Listing Fact[Listing] `json:"listing"`
	// Created and Spec are the two control files. Unset means missing: absent
	// from a complete listing, or GET answered 404, and so again on a second
	// look.
	Created Fact[Document] `json:"created"`
	Spec    Fact[Document] `json:"spec"`
	// Queue holds the queued commands in the order of their keys. A command
	// that could not be read is in it as an unseen Document.
	Queue Fact[[]Command] `json:"queue"`
	// NewestMeta is the _etcd_backup.meta of the newest complete snapshot.
	NewestMeta Fact[Document] `json:"newest_meta"`
	// Head is what the first and last bytes of the newest complete snapshot tell.
	// Unset without a snapshot.
	Head Fact[Examined] `json:"head"`
	// Verification is what was read of snapshots to their end.
	Verification Verification `json:"verification,omitzero"`
	// Memory is what a ledger holds from earlier runs; nil without one.
	Memory *Memory `json:"memory,omitempty"`
	// RestoreMeta is the _etcd_backup.meta of the snapshot that the first
	// queued restore command names; unset without such a command or snapshot.
	RestoreMeta Fact[Document] `json:"restore_meta"`
	// ControlVersions holds the versions and delete markers below control/,
	// newest first within a key. Unset where versioning was never on.
	ControlVersions Fact[[]Version] `json:"control_versions"`
	// Versions sums up the versions of all that is in the store. Unset where
	// versioning was never on.
	Versions Fact[Versions] `json:"versions"`

	// Kops is what a kops state store says of this store. Unset where none was
	// looked at; unseen where the cluster's spec could not be read.
	Kops Fact[Kops] `json:"kops"`
	// Siblings are the other stores of the same cluster that were looked at in
	// the same run.
	Siblings []Sibling `json:"siblings,omitempty"`

	Bucket Bucket `json:"bucket"`
	Usage  Usage  `json:"usage"`
}

// A Kops is what a kops state store says of one backup store.
type Kops struct {
	// StateStore is the state store that was read, as s3://bucket/prefix.
	StateStore string `json:"state_store"`
	// Known says that a cluster in it names this store. Otherwise nothing below
	// is set but ClusterKnown.
	Known bool `json:"known"`
	// ClusterKnown says that the cluster is in the state store, be it that it
	// names another place for its backups.
	ClusterKnown bool `json:"cluster_known"`
	// Cluster and Etcd are kops's names of the etcd cluster.
	Cluster string `json:"cluster,omitempty"`
	Etcd    string `json:"etcd,omitempty"`
	// Deleted is when kops's documents of the cluster were deleted, where old
	// versions show that they were; zero otherwise.
	Deleted time.Time `json:"deleted,omitzero"`
	// Elsewhere is where the cluster's etcd of this name keeps its backups, when
	// that is not here.
	Elsewhere string `json:"elsewhere,omitempty"`
	// Members and Version are what kops asks for: the memberCount and
	// etcdVersion that it writes into the spec.
	Members int    `json:"members,omitempty"`
	Version string `json:"version,omitempty"`
	// Created is when the cluster was created; zero where it is not told.
	Created time.Time `json:"created,omitzero"`
	// Interval is the backup interval; 0 where it is not given.
	Interval time.Duration `json:"interval,omitempty"`
	// Hourly and Daily are how long etcd-manager keeps the earliest backup of
	// each hour and of each day.
	Hourly time.Duration `json:"hourly,omitempty"`
	Daily  time.Duration `json:"daily,omitempty"`
	// Fatal says why etcd-manager cannot start with what the spec gives it.
	Fatal string `json:"fatal,omitempty"`
	// Pending is what the next `kops update cluster` would change, in words.
	Pending []string `json:"pending,omitempty"`
	// SharedWith names the other etcd clusters that kops gives the same store.
	SharedWith []string `json:"shared_with,omitempty"`
	// Files are files without which kops cannot work on the cluster, in the bucket
	// of the state store: its documents, pki, secrets and instance groups, the
	// first hundred of them.
	Files Fact[[]Object] `json:"files,omitzero"`
	// Bucket is what is true of the state store's bucket, where that is another
	// than the store's.
	Bucket *Bucket `json:"bucket,omitempty"`
}

// A Sibling is another store of the same cluster.
type Sibling struct {
	URL  string `json:"url"`
	Etcd string `json:"etcd"`
	// Newest is when its newest complete snapshot was written; zero without
	// one, and where Listed is false.
	Newest time.Time `json:"newest,omitzero"`
	Listed bool      `json:"listed"`
	// Control says that it has a control file.
	Control bool `json:"control"`
}

// A Layout says whose backup store it is.
type Layout string

// The layouts besides etcd-manager's, which is empty.
const (
	// LayoutCharm is a folder of snapshots of Juju's etcd charm or of the
	// charmed-etcd operator. It has neither control files nor a queue.
	LayoutCharm Layout = "charm"
)

// A Store names one backup store. etcd-manager's is the value of its
// --backup-store flag.
type Store struct {
	// URL is how reports name it: s3://bucket/prefix, or a directory.
	URL string `json:"url"`
	// Bucket is the S3 bucket, or the directory that stands for one.
	Bucket string `json:"bucket"`
	// Prefix is the store's root as a key prefix without a trailing slash;
	// empty when the store is the whole bucket.
	Prefix string `json:"prefix"`
	// Cluster is the first part of kops's default layout
	// CLUSTER/backups/etcd/NAME; empty where the prefix has another shape.
	Cluster string `json:"cluster,omitempty"`
	// Etcd is the etcd cluster's name, the last part of Prefix: main, events,
	// cilium or leases under kops.
	Etcd string `json:"etcd,omitempty"`
	// NamedBy says who says that this store exists: "configuration" when a
	// configuration file names it, "kops" when a cluster's document does. Empty
	// when nobody does: it was found, or given on the command line.
	NamedBy string `json:"named_by,omitempty"`
	// Endpoint is the S3 endpoint other than AWS's own, if one was given.
	Endpoint string `json:"endpoint,omitempty"`
	// Layout is whose store it is; empty for etcd-manager's.
	Layout Layout `json:"layout,omitempty"`
}

// ID tells the store from every other: the same URL may stand for one bucket at
// each of two endpoints.
func (s Store) ID() string { return s.Endpoint + " " + s.URL }

// Key joins parts to the store's root and gives an object key.
func (s Store) Key(parts ...string) string {
	rel := strings.Join(parts, "/")
	if s.Prefix == "" {
		return rel
	}
	return s.Prefix + "/" + rel
}

// A Listing is what LIST told of a store.
type Listing struct {
	// Snapshots are sorted by name, as etcd-manager sorts them.
	Snapshots []Snapshot `json:"snapshots"`
	// Control are the objects below control/.
	Control []Object `json:"control"`
	// Strays are objects that etcd-manager would not have written, the first
	// StrayLimit of them; StrayCount counts all.
	Strays     []Object `json:"strays,omitempty"`
	StrayCount int      `json:"stray_count"`
	// Objects and Bytes count all current objects of the store.
	Objects int   `json:"objects"`
	Bytes   int64 `json:"bytes"`
}

// UploadTime is how long a snapshot may consist of its data alone: etcd-manager
// writes the meta file last.
const UploadTime = 10 * time.Minute

// StrayLimit bounds Listing.Strays, so that a mistake that put a million
// objects into a store does not fill the auditor's memory.
const StrayLimit = 20

// A Snapshot is one backup: a directory that holds data, a meta file, or both.
type Snapshot struct {
	// Name is the directory's name.
	Name string `json:"name"`
	// Taken is the writer's clock as the name tells it (to the second); zero
	// where the name is not one that etcd-manager would write.
	Taken time.Time `json:"taken,omitzero"`
	// Data is etcd.backup.gz, Meta is _etcd_backup.meta. etcd-manager writes
	// Data first and Meta second, and takes Meta for the sign that the backup
	// exists.
	Data *Object `json:"data,omitempty"`
	Meta *Object `json:"meta,omitempty"`
	// Whole says that the snapshot is one object, Data, as the charm's are. Taken is
	// then the latest time at which it can have been written by its name, which
	// holds a local time without a zone.
	Whole bool `json:"whole,omitempty"`
}

// Complete reports whether all of it is there.
func (s Snapshot) Complete() bool { return s.Data != nil && (s.Meta != nil || s.Whole) }

// Stored is when S3 says that the snapshot was written: the earlier of the
// times of its halves, so that copying one half over itself does not make it
// look fresh. It is zero for a snapshot without objects.
func (s Snapshot) Stored() time.Time {
	switch {
	case s.Data == nil && s.Meta == nil:
		return time.Time{}
	case s.Whole && s.Taken.Before(s.Data.LastModified):
		return s.Taken // it was copied
	case s.Data == nil:
		return s.Meta.LastModified
	case s.Meta == nil:
		return s.Data.LastModified
	case s.Meta.LastModified.Before(s.Data.LastModified):
		return s.Meta.LastModified
	}
	return s.Data.LastModified
}

// An Object is one line of a listing.
type Object struct {
	Key          string    `json:"key"`
	Size         int64     `json:"size"` // bytes
	LastModified time.Time `json:"last_modified"`
	ETag         string    `json:"etag,omitempty"`
	StorageClass string    `json:"storage_class,omitempty"` // empty means STANDARD
}

// Archived reports whether the object lies in a class that nobody can read
// before it is thawed: GET answers 403 InvalidObjectState (Amazon S3 user guide,
// "Working with archived objects").
func (o Object) Archived() bool {
	return o.StorageClass == "GLACIER" || o.StorageClass == "DEEP_ARCHIVE"
}

// A Version is one line of a listing of versions.
type Version struct {
	Object
	VersionID string `json:"version_id"`
	Latest    bool   `json:"latest"`
	Marker    bool   `json:"marker"` // a delete marker
}

// Versions sums up the versions and delete markers of a store.
type Versions struct {
	// Counted is how many were counted; More says that there are others.
	Counted int  `json:"counted"`
	More    bool `json:"more,omitempty"`
	// Noncurrent counts the versions that another version or a delete marker
	// hides, and NoncurrentBytes what they hold.
	Noncurrent      int   `json:"noncurrent"`
	NoncurrentBytes int64 `json:"noncurrent_bytes"`
	// Rewritten are the objects of snapshots that were written more than once,
	// the first RewrittenLimit of them.
	Rewritten []Rewritten `json:"rewritten,omitempty"`
}

// A Rewritten is an object that was written more than once.
type Rewritten struct {
	Key string `json:"key"`
	// Versions are those with content, the newest first, at most
	// RewrittenLimit of them.
	Versions []Version `json:"versions"`
}

// RewrittenLimit bounds Versions.Rewritten, and the versions of each.
const RewrittenLimit = 20

// A Document is an object that was read, or that is there but that nobody can
// read as it is.
type Document struct {
	Object
	VersionID string `json:"version_id,omitempty"`
	Body      []byte `json:"body,omitempty"`
	// Unreadable says why no reader whatever can get the bytes, as for an
	// object in an archive class; empty when Body was read. A refusal to the
	// auditor alone makes the Fact unseen instead.
	Unreadable string `json:"unreadable,omitempty"`
	// Expiration is the x-amz-expiration header: the bucket's own statement
	// when lifecycle will remove the object, and by which rule.
	Expiration string `json:"expiration,omitempty"`
	// Tags are the object's tags. They are looked for only where a lifecycle
	// rule with a tag filter could match the object; else Unset.
	Tags Fact[map[string]string] `json:"tags"`
}

// A Command is one object of the command queue.
type Command struct {
	Object Object         `json:"object"`
	Body   Fact[Document] `json:"body"`
}

// A Bucket holds what is true of the bucket as a whole.
type Bucket struct {
	Name   string `json:"name"`
	Region string `json:"region,omitempty"`
	// Versioning is "Enabled" or "Suspended"; unset when it was never on.
	Versioning Fact[string] `json:"versioning"`
	// Lifecycle is the lifecycle configuration as the server sent it, XML or
	// AWS's JSON; unset when there is none.
	Lifecycle Fact[Document] `json:"lifecycle"`

	// TransitionSizeDefault is what the server says of small objects beside the
	// lifecycle configuration: all_storage_classes_128K moves none of them,
	// varies_by_storage_class moves them to archive classes. Empty where it
	// says nothing.
	TransitionSizeDefault string `json:"transition_size_default,omitempty"`

	// MFADelete says that deleting a version takes a second factor. It is part
	// of the answer about versioning, and is not known where that is not.
	MFADelete bool `json:"mfa_delete,omitempty"`
	// ObjectLock is the bucket's Object Lock configuration; unset when Object
	// Lock is not on.
	ObjectLock Fact[ObjectLock] `json:"object_lock"`
	// PublicAccessBlock is the bucket's own block of public access, not its
	// account's; unset when it has none.
	PublicAccessBlock Fact[PublicAccessBlock] `json:"public_access_block"`
	// PublicPolicy is the server's own judgement whether the bucket's policy
	// lets everybody in; unset when there is no policy.
	PublicPolicy Fact[bool] `json:"public_policy"`
	// Encryption is the algorithm that objects are encrypted with unless a
	// writer asks for another: AES256, aws:kms, …; unset when there is none.
	Encryption Fact[string] `json:"encryption"`
	// Uploads are multipart uploads that were begun and neither finished nor
	// given up.
	Uploads Fact[Uploads] `json:"uploads"`
}

// An ObjectLock is a bucket's Object Lock configuration.
type ObjectLock struct {
	// Mode is GOVERNANCE or COMPLIANCE; empty where new objects get no
	// retention unless their writer asks for it.
	Mode string `json:"mode,omitempty"`
	// Retention is how long a new version cannot be deleted. A year is 365 days.
	Retention time.Duration `json:"retention,omitempty"`
}

// A PublicAccessBlock says what of public access a bucket's owner has shut.
type PublicAccessBlock struct {
	BlockPublicACLs       bool `json:"block_public_acls"`
	IgnorePublicACLs      bool `json:"ignore_public_acls"`
	BlockPublicPolicy     bool `json:"block_public_policy"`
	RestrictPublicBuckets bool `json:"restrict_public_buckets"`
}

// Uploads sums up the unfinished multipart uploads of a bucket.
type Uploads struct {
	Count int `json:"count"`
	// More says that there are more than were counted.
	More bool `json:"more,omitempty"`
	// Oldest is when the oldest of those that were counted was begun; zero
	// without any.
	Oldest time.Time `json:"oldest,omitzero"`
}

// Usage counts what an observation cost.
type Usage struct {
	Requests map[string]int `json:"requests,omitempty"` // by S3 operation, retries included
	// Errors counts the requests that failed, by [Cause], retries included. That
	// something does not exist is an answer.
	Errors map[string]int `json:"errors,omitempty"`
	Bytes  int64          `json:"bytes"` // of response bodies
	// Throttled counts the answers that asked to slow down.
	Throttled int `json:"throttled,omitempty"`
}

// Clock gives the time to judge the observation at: now, or S3's own clock
// when the auditor's is more than a minute off it, because every age is
// measured against times that S3 gave.
func (o *Observation) Clock(now time.Time) time.Time {
	if o.ClockIsOff() {
		return now.Add(o.ClockOffset.Value)
	}
	return now
}

// ClockTolerance is how far the auditor's clock may lie from S3's.
const ClockTolerance = time.Minute

// ClockIsOff reports whether the auditor's clock is further from S3's than
// ClockTolerance.
func (o *Observation) ClockIsOff() bool {
	return o.ClockOffset.IsSet() && o.ClockOffset.Value.Abs() > ClockTolerance
}

// copiedAfter is how long after its name a snapshot may have been stored before
// it counts as copied. Uploads of half an hour are normal.
const copiedAfter = time.Hour

// Copied reports whether the store is a copy: LastModified lies far after the
// name for several snapshots, and by amounts that differ. A writer whose clock is
// slow makes them lie after by one and the same amount.
func (l Listing) Copied() bool {
	var n int
	var least, most time.Duration
	for _, s := range l.Snapshots {
		if s.Taken.IsZero() {
			continue
		}
		stored := s.Stored()
		late := stored.Sub(s.Taken)
		if late <= copiedAfter || stored.IsZero() {
			continue
		}
		if n == 0 {
			least, most = late, late
		}
		least, most = min(least, late), max(most, late)
		n++
	}
	return n >= 2 && most-least > copiedAfter
}

// futureTolerance is by how much S3's dates may lie ahead of the time of
// judgement: the clock is right to a minute, and the look takes some time.
const futureTolerance = 5 * time.Minute

// Newest gives the newest complete snapshot and when it was written: by S3's
// clock, so that no writer's clock makes a dead store look fresh or a live one
// stale. In a copied store it is by the snapshot's name. A time that lies in the
// future of now never counts. Snapshots whose names etcd-manager would
// not write never count either: someone put them there by hand.
func (l Listing) Newest(now time.Time) (newest Snapshot, at time.Time, ok bool) {
	return l.newest(now, l.Copied())
}

func (l Listing) newest(now time.Time, copied bool) (newest Snapshot, at time.Time, ok bool) {
	for _, s := range l.Snapshots {
		if !s.Complete() || s.Taken.IsZero() {
			continue
		}
		t := s.Stored()
		if copied {
			t = s.Taken
		}
		// A time that is yet to come is wrong, whoever gave it, and must not
		// make a dead store look fresh until it comes.
		if t.After(now.Add(futureTolerance)) {
			continue
		}
		if !ok || t.After(at) {
			newest, at, ok = s, t, true
		}
	}
	return newest, at, ok
}

// Oldest gives the oldest complete snapshot and when it was written, by the
// same clock as [Listing.Newest].
func (l Listing) Oldest() (oldest Snapshot, at time.Time, ok bool) {
	copied := l.Copied()
	for _, s := range l.Snapshots {
		if !s.Complete() || s.Taken.IsZero() {
			continue
		}
		t := s.Stored()
		if copied {
			t = s.Taken
		}
		if !ok || t.Before(at) {
			oldest, at, ok = s, t, true
		}
	}
	return oldest, at, ok
}

// CompleteSnapshots counts the snapshots of which both halves are there, and
// whose names etcd-manager would write.
func (l Listing) CompleteSnapshots() int {
	n := 0
	for _, s := range l.Snapshots {
		if s.Complete() && !s.Taken.IsZero() {
			n++
		}
	}
	return n
}

package lifecycle

import "time"

// Unknown is the zero value of [Versioning], [Provider] and [Match]: nobody
// could tell. It is untyped so that it serves all three.
const Unknown = 0

// Versioning is the versioning state of a bucket.
type Versioning uint8

const (
	// Off means GetBucketVersioning returned no Status: versioning was never
	// enabled. A bucket never goes back to it.
	Off Versioning = iota + 1
	// Enabled keeps replaced versions; expiration hides.
	Enabled
	// Suspended writes null versions; expiration of a null version destroys.
	Suspended
)

// String returns the name of the state.
func (v Versioning) String() string {
	switch v {
	case Off:
		return "off"
	case Enabled:
		return "enabled"
	case Suspended:
		return "suspended"
	}
	return "unknown"
}

// Bucket is what about a bucket decides how its lifecycle rules act.
type Bucket struct {
	Versioning Versioning
	Provider   Provider
	// MFADelete excludes any lifecycle configuration (user guide,
	// MultiFactorAuthenticationDelete).
	MFADelete bool
	// DirectoryBucket marks an S3 Express bucket, which knows Expiration.Days
	// only (user guide, directory-buckets-objects-lifecycle).
	DirectoryBucket bool
	// ObjectLock is whether the bucket has Object Lock enabled.
	ObjectLock bool
	// IntelligentTiering lists the bucket's archive configurations, a subresource
	// of its own that archives objects without any lifecycle rule.
	IntelligentTiering []Tiering
}

// NullVersion is the id of versions written while versioning was off or
// suspended.
const NullVersion = "null"

// Version is one entry of a key's version stack as S3 lists it.
type Version struct {
	Key       string
	VersionID string
	// Size in bytes; ignored for delete markers.
	Size int64
	// LastModified is the instant ages are counted from. For a noncurrent
	// version the LastModified of the entry above counts instead.
	LastModified time.Time
	DeleteMarker bool
	// StorageClass as listed; empty means STANDARD.
	StorageClass string

	// Tags of this version. A listing does not show them: TagsKnown says
	// whether they were read. Versions with TagsKnown set and no Tags have none.
	Tags      map[string]string
	TagsKnown bool

	// RetainUntil is the end of Object Lock retention in either mode; zero for
	// none.
	RetainUntil time.Time
	LegalHold   bool

	// ReplicationStatus is x-amz-replication-status: PENDING, FAILED,
	// COMPLETED, REPLICA, or empty.
	ReplicationStatus string

	// LastAccess is the last read known, zero for none. It moves the lower
	// bound for Intelligent-Tiering archive tiers.
	LastAccess time.Time
	// ArchiveStatus is x-amz-archive-status: ARCHIVE_ACCESS,
	// DEEP_ARCHIVE_ACCESS or empty.
	ArchiveStatus string
}

// null reports whether the version carries the null id. Unversioned listings
// may leave it out.
func (v *Version) null() bool {
	return v.VersionID == NullVersion || v.VersionID == ""
}

// size is the size filters see. A delete marker counts as zero bytes (user
// guide, lifecycle-configuration-examples; inferred for current markers).
func (v *Version) size() int64 {
	if v.DeleteMarker {
		return 0
	}
	return v.Size
}

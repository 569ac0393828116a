package lifecycle

import (
	"strconv"
	"time"
)

// Names of the two values of TransitionDefaultMinimumObjectSize (API
// reference, PutBucketLifecycleConfiguration).
const (
	// AllClasses128K: objects under 128 KiB never change class.
	AllClasses128K = "all_storage_classes_128K"
	// VariesByClass: objects under 128 KiB change class to GLACIER and
	// DEEP_ARCHIVE only.
	VariesByClass = "varies_by_storage_class"
)

// Configuration is the lifecycle configuration of one bucket. The zero value
// has no rules, which is what S3 means by NoSuchLifecycleConfiguration.
type Configuration struct {
	Rules []Rule

	// DefaultMinimumSize is TransitionDefaultMinimumObjectSize: AllClasses128K,
	// VariesByClass, or empty where nobody said. The XML form does not carry
	// it: callers take it from the x-amz-transition-default-minimum-object-size
	// header. Empty is read as VariesByClass, the reading that does more harm.
	DefaultMinimumSize string

	// Notes lists what Parse met and could not put into a field.
	Notes []Note
}

// Rule is one rule of a configuration. Nil pointers are elements that were
// absent, which S3 tells apart from empty ones.
type Rule struct {
	// ID is the rule's name, empty where it has none.
	ID string
	// Position is the rule's place in the configuration, counted from 1; zero
	// if not known. It names rules that have no ID.
	Position int
	// Status must be "Enabled" or "Disabled"; anything else is kept verbatim.
	Status string

	// Prefix is the rule-level prefix of the older of the two schemas.
	Prefix *string
	// Filter is the filter of the newer schema.
	Filter *Filter

	Expiration            *Expiration
	Transitions           []TransitionAction
	NoncurrentExpiration  *NoncurrentExpiration
	NoncurrentTransitions []NoncurrentTransitionAction
	AbortMultipart        *AbortMultipart

	// DelMarkerExpirationDays is MinIO's DelMarkerExpiration: days after which
	// a current delete marker is removed together with everything beneath it.
	// No other server knows it.
	DelMarkerExpirationDays *int
}

// Predicates is a set of conditions that must all hold.
type Predicates struct {
	// Prefix is compared literally with the beginning of the key.
	Prefix *string
	Tags   []Tag
	// ObjectSizeGreaterThan and ObjectSizeLessThan are exclusive bounds in
	// bytes.
	ObjectSizeGreaterThan *int64
	ObjectSizeLessThan    *int64
	// Unknown names the predicates that were present and not understood. A
	// version that satisfies the others may or may not be meant.
	Unknown []string
}

// Filter selects the objects of a rule. S3 accepts one predicate, or And; the
// filter keeps whatever was written, and all of it must hold.
type Filter struct {
	Predicates
	And *Predicates
}

// Tag is one object tag. Both parts are case-sensitive.
type Tag struct{ Key, Value string }

// Expiration is the action on current versions and lone delete markers.
type Expiration struct {
	// Days after creation; see [CeilMidnight] for the rounding.
	Days *int
	// Date from which everything matching is eligible, zero if absent.
	Date time.Time
	// ExpiredObjectDeleteMarker removes lone delete markers when true and does
	// nothing when false.
	ExpiredObjectDeleteMarker *bool
	// AllVersions is MinIO's ExpiredObjectAllVersions: when the current version
	// is old enough every version of the key is destroyed.
	AllVersions bool
}

// TransitionAction moves current versions to a storage class.
type TransitionAction struct {
	// Days after creation, zero allowed.
	Days *int
	// Date from which the transition is eligible, zero if absent.
	Date         time.Time
	StorageClass string
}

// NoncurrentExpiration destroys noncurrent versions and noncurrent delete
// markers.
type NoncurrentExpiration struct {
	// NoncurrentDays since the version was replaced.
	NoncurrentDays *int
	// NewerNoncurrentVersions is how many newer noncurrent versions must exist
	// besides the age: the number that is retained.
	NewerNoncurrentVersions *int
}

// NoncurrentTransitionAction moves noncurrent versions to a storage class.
type NoncurrentTransitionAction struct {
	// NoncurrentDays since the version was replaced, zero allowed.
	NoncurrentDays          *int
	NewerNoncurrentVersions *int
	StorageClass            string
}

// AbortMultipart ends unfinished multipart uploads. It never touches a
// completed object.
type AbortMultipart struct {
	// DaysAfterInitiation of the upload.
	DaysAfterInitiation *int
}

// Enabled reports whether the rule is in force. The value is case-sensitive
// (API reference, LifecycleRule).
func (r Rule) Enabled() bool { return r.Status == "Enabled" }

// Name returns the rule's ID, or "rule 3" for the third rule where it has
// none, or "rule" where its place is not known either.
func (r Rule) Name() string {
	switch {
	case r.ID != "":
		return r.ID
	case r.Position > 0:
		return "rule " + strconv.Itoa(r.Position)
	}
	return "rule"
}

// name is Name for the rule at an index of the configuration, for rules that
// were not given their position.
func (c *Configuration) name(i int) string {
	r := &c.Rules[i]
	if r.ID == "" && r.Position == 0 {
		return "rule " + strconv.Itoa(i+1)
	}
	return r.Name()
}

package lifecycle

import (
	"strings"
	"time"
)

// Kind is what an event does to a version.
type Kind uint8

const (
	// None is the kind of an Event that stands for "nothing will happen".
	None Kind = iota
	// Expire removes the current version for good.
	Expire
	// Hide puts a delete marker on top; the data becomes noncurrent.
	Hide
	// DestroyNoncurrent removes a noncurrent version or marker for good.
	DestroyNoncurrent
	// RemoveMarker removes a lone delete marker.
	RemoveMarker
	// Transition changes the storage class or archive tier.
	Transition
)

var kindNames = [...]string{"none", "expire", "hide", "destroy-noncurrent", "remove-marker", "transition"}

// String returns the name of the kind in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// permanent reports whether the kind removes an entry of the stack for good.
func (k Kind) permanent() bool {
	return k == Expire || k == DestroyNoncurrent || k == RemoveMarker
}

// Reader is what a plain GET of the key answers after an event.
type Reader uint8

const (
	// Unchanged: the event does not concern what readers see.
	Unchanged Reader = iota
	// Readable: 200.
	Readable
	// Archived: 403 InvalidObjectState until restored.
	Archived
	// Missing: 404 NoSuchKey.
	Missing
)

// String returns the name of the answer in lower case.
func (r Reader) String() string {
	return [...]string{"unchanged", "readable", "archived", "missing"}[r&3]
}

// Event is one thing lifecycle does, or may do, to one version.
type Event struct {
	// At is the first instant at which S3 may act, not when it will have acted.
	// It may lie before now, see Overdue.
	At time.Time
	// Latest is At, or 24 hours later where the age ran out exactly at midnight
	// UTC and the documentation allows for both readings.
	Latest time.Time
	// ByAge is set where the age ran out before enough newer versions existed:
	// the date the age alone would have given.
	ByAge time.Time

	Kind Kind
	// Rule names the rule, or "it:" and the id of an Intelligent-Tiering
	// configuration.
	Rule string
	// Class is the storage class or archive tier of a transition.
	Class string

	Key       string
	VersionID string

	// Overdue says At is not after now: S3 is late and may act at any moment.
	Overdue bool
	// Ambiguous says Latest differs from At.
	Ambiguous bool
	// LowerBound says the event happens at At or any time later, depending on
	// accesses nobody can see (Intelligent-Tiering).
	LowerBound bool
	// AllVersions says everything beneath goes too (MinIO extensions).
	AllVersions bool
	// Destroys is the id of another version whose data is lost with the event:
	// in a suspended bucket a new null marker replaces the null version.
	Destroys string
	// Marker is the id of the delete marker the event leaves on top. In a
	// timeline markers of versioned buckets are called marker-1 and so on.
	Marker string
	// Until is, for a Hide in a timeline, when the hidden data is destroyed:
	// the end of the time to undo. Zero means never.
	Until time.Time

	Reader Reader

	// Unsure names what was not known and read in the harmful way, empty if the
	// event is certain to become due.
	Unsure string
	// Reason says why nothing happens, for events of kind None.
	Reason Reason
}

// Run returns the earliest instant the event can happen seen from now: At, or
// now where the event is overdue.
func (e Event) Run(now time.Time) time.Time {
	return later(e.At, now)
}

// Reason is why lifecycle leaves a version alone.
type Reason string

// The reasons, from the most general to the most particular. Where several hold
// the last one is given.
const (
	ReasonNoLifecycle     Reason = "no-lifecycle"                  // there are no rules
	ReasonDisabled        Reason = "disabled"                      // every rule that matches is disabled
	ReasonNoMatch         Reason = "no-match"                      // no enabled rule matches
	ReasonAbortOnly       Reason = "abort-only"                    // the rule concerns unfinished uploads
	ReasonCurrentOnly     Reason = "expiration-ignores-noncurrent" // the rule concerns current versions
	ReasonNoncurrentOnly  Reason = "noncurrent-ignores-current"    // the rule concerns noncurrent versions
	ReasonUnversioned     Reason = "unversioned"                   // the bucket has no versions for the rule to act on
	ReasonDirectoryBucket Reason = "directory-bucket"              // directory buckets do not know the action
	ReasonMarkerOnly      Reason = "marker-only"                   // the rule concerns lone delete markers
	ReasonMarkerFlagFalse Reason = "eodm-false"                    // ExpiredObjectDeleteMarker is false
	ReasonMarkerKept      Reason = "marker-not-transitioned"       // a delete marker has no data to move
	ReasonMarkerCovers    Reason = "marker-with-versions"          // the delete marker has versions beneath
	ReasonWaterfall       Reason = "waterfall"                     // the class cannot change to the target
	ReasonBelow128K       Reason = "below-128K"                    // the transition size default applies
	ReasonRetained        Reason = "newer-noncurrent-retained"     // too few newer noncurrent versions exist
	ReasonLegalHold       Reason = "legal-hold"                    // the version is under legal hold
	ReasonPending         Reason = "replication-pending"           // replication is pending
	ReasonFailed          Reason = "replication-failed"            // replication failed
	ReasonNeverRuns       Reason = "provider-never-runs"           // the server stores rules and never runs them
	ReasonNoSuchVersion   Reason = "no-such-version"               // the stack has no such entry
)

// doubt is a set of things that were not known.
type doubt uint16

const (
	doubtProvider doubt = 1 << iota
	doubtVersioning
	doubtTags
	doubtPredicate
	doubtSizeDefault
	doubtModified
	doubtClass
)

var doubtNames = [...]string{
	"provider unverified",
	"versioning unknown",
	"tags not read",
	"filter predicate not understood",
	"transition size default not stated",
	"modification time missing",
	"storage class not known",
}

// String names the doubts, separated by semicolons.
func (d doubt) String() string {
	if d&(d-1) == 0 {
		return d.first()
	}
	var all []string
	for ; d != 0; d &= d - 1 {
		all = append(all, d.first())
	}
	return strings.Join(all, "; ")
}

// first names the lowest doubt of the set. One doubt is the usual case and
// must not allocate.
func (d doubt) first() string {
	for i, name := range doubtNames {
		if d&(1<<i) != 0 {
			return name
		}
	}
	return ""
}

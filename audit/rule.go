package audit

import "time"

// A Rule is one promise that a backup store can break. Rules are values: id,
// title and severities make the rule's index, its page, its metric labels and
// its alert; Check is a pure function.
type Rule struct {
	// ID is group/what-is-wrong. It is never reused: it is a metric label, and
	// the argument of `backstop explain`.
	ID string
	// Title says in a few words what is wrong when the rule speaks.
	Title string
	// Severities are those that the rule's findings may have.
	Severities []Severity
	// Scope is "bucket" when the finding concerns the whole bucket.
	Scope string
	// Needs are the facts without which the rule is blind. A rule that is
	// blind for want of a necessary fact makes the store UNKNOWN; for want of
	// another, audit/blind names it.
	Needs []FactName
	// Supersedes are lesser rules that the same cause makes speak: their
	// findings become evidence of this rule's.
	Supersedes []Superseded
	// AnyLayout says that the rule speaks of stores of every layout, and not of
	// etcd-manager's alone.
	AnyLayout bool
	// Check gives the findings for one store at one time. It must not change
	// the observation.
	Check func(o *Observation, p Policy, now time.Time) []Finding
}

// Superseded names a lesser rule.
type Superseded struct {
	Rule string
	// SameKey limits it to findings about the same object.
	SameKey bool
}

// Judges reports whether the rule speaks of stores of a layout.
func (r Rule) Judges(l Layout) bool { return l == "" || r.AnyLayout }

// May reports whether the rule declares the severity.
func (r Rule) May(s Severity) bool {
	for _, d := range r.Severities {
		if d == s {
			return true
		}
	}
	return false
}

// A FactName names a fact of an [Observation], as metrics and findings do.
type FactName string

// The facts of an observation.
const (
	FactListing         FactName = "listing"
	FactCreated         FactName = "created"
	FactSpec            FactName = "spec"
	FactQueue           FactName = "queue"
	FactNewestMeta      FactName = "newest_meta"
	FactVersioning      FactName = "versioning"
	FactLifecycle       FactName = "lifecycle"
	FactRestoreMeta     FactName = "restore_meta"
	FactControlVersions FactName = "control_versions"
	FactVersions        FactName = "versions"
	FactClock           FactName = "clock"
	FactKopsState       FactName = "kops_state"
	FactTags            FactName = "tags"
	FactKops            FactName = "kops"

	FactObjectLock        FactName = "object_lock"
	FactPublicAccessBlock FactName = "public_access_block"
	FactPublicPolicy      FactName = "public_policy"
	FactEncryption        FactName = "encryption"
	FactUploads           FactName = "uploads"
)

// Necessary are the facts without which a store is UNKNOWN, unless something
// critical is known of it.
var Necessary = []FactName{FactListing, FactCreated, FactSpec, FactQueue, FactNewestMeta, FactVersioning, FactLifecycle}

// IsNecessary reports whether a store is UNKNOWN without the fact.
func (n FactName) IsNecessary() bool {
	for _, m := range Necessary {
		if m == n {
			return true
		}
	}
	return false
}

// NecessaryIn reports the same for a store of a layout. Of the charm's the listing
// is all that there is to see.
func (n FactName) NecessaryIn(l Layout) bool {
	if l == LayoutCharm {
		return n == FactListing
	}
	return n.IsNecessary()
}

// Facts are all facts, in the order in which reports name them.
var Facts = append(Necessary[:len(Necessary):len(Necessary)],
	FactControlVersions, FactVersions, FactRestoreMeta, FactTags, FactKops, FactKopsState, FactClock,
	FactObjectLock, FactPublicAccessBlock, FactPublicPolicy, FactEncryption, FactUploads)

// Unseen gives why the named fact was not seen, and whether it was not.
func (o *Observation) Unseen(n FactName) (Why, bool) {
	switch n {
	case FactListing:
		return unseen(o.Listing)
	case FactCreated:
		return unseen(o.Created)
	case FactSpec:
		return unseen(o.Spec)
	case FactQueue:
		for _, c := range o.Queue.Value {
			if why, not := unseen(c.Body); not && o.Queue.Seen() {
				return why, true
			}
		}
		return unseen(o.Queue)
	case FactNewestMeta:
		return unseen(o.NewestMeta)
	case FactVersioning:
		return unseen(o.Bucket.Versioning)
	case FactLifecycle:
		return unseen(o.Bucket.Lifecycle)
	case FactRestoreMeta:
		return unseen(o.RestoreMeta)
	case FactControlVersions:
		return unseen(o.ControlVersions)
	case FactVersions:
		return unseen(o.Versions)
	case FactKops:
		return unseen(o.Kops)
	case FactKopsState:
		return o.unseenState()
	case FactClock:
		return unseen(o.ClockOffset)
	case FactObjectLock:
		return unseen(o.Bucket.ObjectLock)
	case FactPublicAccessBlock:
		return unseen(o.Bucket.PublicAccessBlock)
	case FactPublicPolicy:
		return unseen(o.Bucket.PublicPolicy)
	case FactEncryption:
		return unseen(o.Bucket.Encryption)
	case FactUploads:
		return unseen(o.Bucket.Uploads)
	case FactTags:
		for _, d := range []Fact[Document]{o.Created, o.Spec} {
			if why, not := unseen(d.Value.Tags); not && d.IsSet() {
				return why, true
			}
		}
		return Why{}, false
	}
	return Why{Cause: CauseNotAsked, Reason: "no such fact: " + string(n)}, true
}

// unseenState says why the files of the kops cluster were not seen, or what the
// bucket does with them that they are in.
func (o *Observation) unseenState() (Why, bool) {
	k := o.Kops.Value
	if !o.Kops.IsSet() || !k.Known {
		return Why{}, false
	}
	if k.Bucket != nil {
		if why, not := unseen(k.Bucket.Lifecycle); not {
			return why, true
		}
	}
	return unseen(k.Files)
}

func unseen[T any](f Fact[T]) (Why, bool) {
	if f.Seen() {
		return Why{}, false
	}
	return f.WhyUnseen(), true
}

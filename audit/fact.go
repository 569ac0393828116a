package audit

import "fmt"

// A State says what is known of a [Fact].
type State string

// The states of a Fact. The zero State counts as Unseen, so that a fact which
// nobody looked for can never pass for one that was found absent.
const (
	Unseen State = "unseen" // the store refused, could not tell, or was not asked
	Unset  State = "unset"  // the store answered: there is none
	Set    State = "set"    // the store answered, and Value holds the answer
)

// A Cause says in one word why a fact was not seen.
type Cause string

// The causes for which a fact stays unseen.
const (
	CauseNotAsked    Cause = "not-asked"    // no request was made, because an earlier one failed
	CauseDenied      Cause = "denied"       // refused to these credentials
	CauseCredentials Cause = "credentials"  // no credentials, or expired or unknown ones
	CauseThrottled   Cause = "throttled"    // 429, 503 or SlowDown until the retries ended
	CauseUnreachable Cause = "unreachable"  // no HTTP answer: name, connection, TLS
	CauseTimeout     Cause = "timeout"      // no complete answer within the time limit
	CauseUnsupported Cause = "unsupported"  // the provider does not know the call: 405, 501
	CauseNotRecorded Cause = "not-recorded" // a copied store does not hold it
	CauseForeign     Cause = "foreign"      // 200 with a document that is not the one asked for
	CauseMalformed   Cause = "malformed"    // an answer that cannot be parsed, or was cut short
	CauseRedirect    Cause = "redirect"     // the bucket lives in a region that could not be followed
	CauseNoBucket    Cause = "no-bucket"    // the bucket does not exist
	CauseTooBig      Cause = "too-big"      // larger than backstop reads of such a document
	CauseServer      Cause = "server-error" // 5xx other than throttling
	CauseOther       Cause = "other"
)

// A Fact is something that an audit tried to learn. A store that refuses to
// answer is not a store that answered "no", so a Fact keeps the two apart.
// Its zero value is unseen.
type Fact[T any] struct {
	State State `json:"state"`
	Value T     `json:"value,omitzero"`
	Why   *Why  `json:"why,omitempty"` // set when State is Unseen, or the fact is assumed
	// Assumed says that the fact was not seen, and that the owner's policy says
	// what it is.
	Assumed bool `json:"assumed,omitempty"`
}

// Why says why a fact was not seen, and what would let it be seen.
type Why struct {
	Cause Cause `json:"cause"`
	// Reason is a sentence for people: what was asked of what, and the answer.
	Reason string `json:"reason"`
	// Permission is the IAM action that the request needs, as in
	// "s3:GetLifecycleConfiguration"; empty where no permission would help.
	Permission string `json:"permission,omitempty"`
}

// Is makes a Fact that holds v.
func Is[T any](v T) Fact[T] { return Fact[T]{State: Set, Value: v} }

// None makes a Fact that says: the store answered that there is none.
func None[T any]() Fact[T] { return Fact[T]{State: Unset} }

// Unknown makes a Fact that could not be learned.
func Unknown[T any](why Why) Fact[T] { return Fact[T]{State: Unseen, Why: &why} }

// Seen reports whether the store answered, be it with "none".
func (f Fact[T]) Seen() bool { return f.State == Set || f.State == Unset }

// IsSet reports whether the store answered with a value.
func (f Fact[T]) IsSet() bool { return f.State == Set }

// WhyUnseen explains an unseen Fact. For one that was never looked for it
// says so.
func (f Fact[T]) WhyUnseen() Why {
	if f.Why != nil {
		return *f.Why
	}
	return Why{Cause: CauseNotAsked, Reason: "it was not looked at"}
}

// String gives the reason, and the permission that would help, in one line.
func (w Why) String() string {
	if w.Permission == "" {
		return w.Reason
	}
	return fmt.Sprintf("%s (needs %s)", w.Reason, w.Permission)
}

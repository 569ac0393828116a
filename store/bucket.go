package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"backstop/audit"
)

// A Bucket is what an audit may do with a bucket. It has no method that writes:
// the interface is the permission, and deploy/iam-policy.json is made from it
// (see [Actions]).
//
// Every error is an [*Error], or wraps one. Methods are safe for concurrent
// use.
type Bucket interface {
	// List gives the current objects whose keys begin with in.Prefix, in the
	// byte order of their keys, page by page. An error ends the sequence: what
	// came before it is not a complete listing. A listing that repeats or does
	// not advance ends with an error.
	List(ctx context.Context, in ListInput) iter.Seq2[audit.Object, error]
	// Folders gives, in order, what lies below prefix up to the next slash, as
	// "a/" for the key "a/b" below "": by what a long listing can be divided.
	// They need not be all. A Bucket for which that gains nothing gives none.
	Folders(ctx context.Context, prefix string) ([]string, error)
	// ListVersions gives the versions and delete markers whose keys begin with
	// prefix, by key, and newest first within a key. In a bucket that was never
	// versioned these are the current objects.
	ListVersions(ctx context.Context, prefix string) iter.Seq2[audit.Version, error]
	// Get reads an object of at most limit bytes. One that does not exist is
	// ErrMissing. One that exists but that nobody can read as it is (an archive
	// class) is a Document with Unreadable set, and no error. A larger one is
	// an Error with audit.CauseTooBig.
	Get(ctx context.Context, key string, limit int64) (audit.Document, error)
	// Open begins to read an object of any size, which is never held in memory
	// as a whole. Errors are as for Get. A connection that breaks off or stands
	// still is made again where it was lost, as long as the object has not been
	// written again; when that does not help, Read gives an [*Error].
	Open(ctx context.Context, in OpenInput) (Stream, error)
	// Unchanged reports whether the current version of an object is the one that
	// was seen, by one conditional request. One that nobody can read any more has
	// changed; one that does not exist any more is ErrMissing.
	Unchanged(ctx context.Context, seen audit.Object) (bool, error)
	// Tags gives the tags of the current version of an object.
	Tags(ctx context.Context, key string) (map[string]string, error)
	// Versioning says whether old versions are kept.
	Versioning(ctx context.Context) (Versioning, error)
	// Lifecycle gives the lifecycle configuration as the server sent it.
	// Without one it is ErrMissing.
	Lifecycle(ctx context.Context) (Lifecycle, error)
	// ObjectLock gives the Object Lock configuration. Where Object Lock is not
	// on it is ErrMissing.
	ObjectLock(ctx context.Context) (audit.ObjectLock, error)
	// PublicAccessBlock gives the bucket's own block of public access. Without
	// one it is ErrMissing.
	PublicAccessBlock(ctx context.Context) (audit.PublicAccessBlock, error)
	// PolicyStatus says whether the server takes the bucket's policy for public.
	// Without a policy it is ErrMissing.
	PolicyStatus(ctx context.Context) (public bool, err error)
	// Encryption gives the algorithm of the default encryption, as AES256 or
	// aws:kms. Without one it is ErrMissing.
	Encryption(ctx context.Context) (string, error)
	// Uploads sums up the unfinished multipart uploads of keys that begin with
	// prefix. It counts those of one page of a listing, and says if there are
	// more.
	Uploads(ctx context.Context, prefix string) (audit.Uploads, error)

	// Name is the bucket's name; Region is where it lives, once known.
	Name() string
	Region() string
	// Endpoint is the S3 endpoint, if it is not AWS's own; else empty.
	Endpoint() string
	// URL names an object, or with an empty key the bucket, as people do.
	URL(key string) string
	// Fork gives a handle on the same bucket that counts its own requests.
	Fork() Bucket
	// Usage counts what this handle has cost.
	Usage() audit.Usage
	// ClockOffset is S3's clock less ours at the last answer. It is unset
	// where there is no other clock, and unseen before the first answer.
	ClockOffset() audit.Fact[time.Duration]
}

// Versioning is how a bucket keeps old versions.
type Versioning struct {
	Status    string // "Enabled", "Suspended", or "" when it was never on
	MFADelete bool   // deleting a version takes a second factor
}

// Lifecycle is the answer about a bucket's lifecycle rules.
type Lifecycle struct {
	Body []byte // the document, XML or AWS's JSON
	// TransitionSizeDefault is the header
	// x-amz-transition-default-minimum-object-size, which XML does not hold.
	TransitionSizeDefault string
}

// ListInput says what to list.
type ListInput struct {
	Prefix string
	// StartAfter is the key after which to begin; empty begins at the first.
	StartAfter string
}

// OpenInput says what to read of an object.
type OpenInput struct {
	Key string
	// From is the first byte to read. Where it is negative only the last bytes
	// are read, as many as it says.
	From int64
	// ETag refuses an object with another one; empty takes any.
	ETag string
}

// A Stream is an object that is being read. It must be closed.
type Stream struct {
	io.ReadCloser // nil where Unreadable is set
	audit.Object  // Size is that of the whole object
	VersionID     string
	// Unreadable is as in [audit.Document].
	Unreadable string
}

// ErrMissing says that S3 answered: there is no such thing. For an object that
// is 404 with the code NoSuchKey. A refusal is never ErrMissing.
var ErrMissing = errors.New("does not exist")

// An Error says what was being done, to what, and why it failed.
type Error struct {
	Op         string      // as in "list objects"
	Object     string      // s3://bucket/key, or a path
	Cause      audit.Cause // why, in one word
	Permission string      // the IAM action that the request needs
	Code       string      // S3's error code, if one came
	Status     int         // the HTTP status, if one came
	Attempts   int         // how often it was tried
	Err        error       // what the SDK or the system said
}

// Error gives the chain in one line.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s %s: %s", e.Op, e.Object, e.explain())
	if e.Attempts > 1 {
		s += fmt.Sprintf(" (tried %d times)", e.Attempts)
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// explain says why, in words that do not need the SDK's chain of wrappings.
func (e *Error) explain() string {
	answer := ""
	switch {
	case e.Status != 0 && e.Code != "":
		answer = fmt.Sprintf(" (HTTP %d %s)", e.Status, e.Code)
	case e.Status != 0:
		answer = fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	switch e.Cause {
	case audit.CauseDenied:
		return "access denied" + answer
	case audit.CauseThrottled:
		return "the service asked to slow down until the retries ended" + answer
	case audit.CauseTimeout:
		return "no complete answer within the time limit"
	case audit.CauseUnsupported:
		return "the provider does not support this call" + answer
	case audit.CauseServer:
		return "the service failed" + answer
	case audit.CauseNoBucket:
		if answer == "" && e.Err != nil {
			return e.Err.Error() // a directory
		}
		return "the bucket does not exist" + answer
	case audit.CauseRedirect:
		return "the bucket lives in another region or behind another endpoint" + answer
	case audit.CauseForeign:
		return fmt.Sprintf("the answer is not the document that was asked for%s: %v", answer, e.Err)
	case audit.CauseMalformed:
		return fmt.Sprintf("the answer cannot be read%s: %v", answer, e.Err)
	}
	if e.Err != nil {
		return e.Err.Error()
	}
	return string(e.Cause) + answer
}

// why turns an error of a Bucket into the reason of an unseen fact.
func why(err error) audit.Why {
	var e *Error
	if !errors.As(err, &e) {
		return audit.Why{Cause: audit.CauseOther, Reason: err.Error()}
	}
	w := audit.Why{Cause: e.Cause, Reason: e.Error()}
	if e.Cause == audit.CauseDenied {
		w.Permission = e.Permission
	}
	return w
}

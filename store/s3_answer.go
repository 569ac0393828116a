package store

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"backstop/audit"
)

// maxXML bounds what is read of an XML answer. A page of 1000 keys of 1024
// bytes, each byte escaped, is less than 4 MiB.
const maxXML = 8 << 20

const regionHeader = "X-Amz-Bucket-Region"

// An answer is what one attempt got, before the SDK made something of it. The
// SDK takes an empty body, and a document of another kind, for an empty
// configuration; some servers give one for a call that they do not know.
type answer struct {
	asked   string // the region that was asked
	status  int    // 0 when nothing came
	header  http.Header
	body    []byte // of an XML answer
	length  int64  // of the body as announced, or -1
	bounded bool   // whether the end of the body can be told from its loss
	partial bool   // a part of an object was asked for
	whole   bool   // the body is the document that was asked for, complete
	refusal refusal
}

// A refusal is the body of an S3 error answer.
type refusal struct {
	XMLName      xml.Name `xml:"Error"`
	Code         string   `xml:"Code"`
	Message      string   `xml:"Message"`
	Region       string   `xml:"Region"`       // of AuthorizationHeaderMalformed
	StorageClass string   `xml:"StorageClass"` // of InvalidObjectState
}

// elsewhere gives the region that a refusal names as the bucket's, where it is
// another than the one that was asked. AWS names it in a header of nearly every
// refusal, and in the body of some.
func (a *answer) elsewhere() string {
	to := orElse(a.header.Get(regionHeader), a.refusal.Region)
	if to == a.asked || a.status < 300 {
		return ""
	}
	return to
}

// A faulty is an answer of HTTP 200 that is none: its cause is one of
// foreign, malformed and too-big.
type faulty struct {
	cause audit.Cause
	err   error
}

func (f *faulty) Error() string { return f.err.Error() }
func (f *faulty) Unwrap() error { return f.err }

func faultf(c audit.Cause, format string, args ...any) error {
	return &faulty{c, fmt.Errorf(format, args...)}
}

// errRefused ends an attempt that was answered with an HTTP error; what was
// said is in the answer.
var errRefused = errors.New("refused")

// watch looks at every answer before the SDK does, nearest the transport: it
// counts it, and holds XML answers to their root element. The body of an
// object (no root expected) passes through.
func (s *S3) watch(a *answer, q query) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("backstop.Watch", func(
			ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
		) (middleware.DeserializeOutput, middleware.Metadata, error) {
			s.countRequest(middleware.GetOperationName(ctx))
			sent := s.now()
			out, meta, err := next.HandleDeserialize(ctx, in)
			resp, ok := out.RawResponse.(*smithyhttp.Response)
			if err != nil || !ok {
				return out, meta, err
			}
			a.take(resp.Response)
			a.asked = awsmiddleware.GetRegion(ctx)
			s.learn(a, sent, s.now())
			resp.Body = &counted{resp.Body, s}
			if q.root == "" && (a.status == http.StatusOK || a.partial && a.status == http.StatusPartialContent) {
				return out, meta, nil
			}
			err = a.readXML(resp.Response, q)
			if a.status >= 300 && a.cause() == audit.CauseThrottled {
				s.count(func(u *audit.Usage) { u.Throttled++ })
			}
			return out, meta, err
		}), middleware.After)
	}
}

// take notes what the header says.
func (a *answer) take(r *http.Response) {
	a.status, a.header, a.length = r.StatusCode, r.Header, r.ContentLength
	a.bounded = r.ContentLength >= 0 || len(r.TransferEncoding) > 0 || r.ProtoMajor >= 2
}

// readXML reads the whole body, and leaves it for the SDK to read again, or an
// empty document of the kind in its place.
func (a *answer) readXML(r *http.Response, q query) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxXML+1))
	_ = r.Body.Close() // it was read, or is given up
	r.Body = io.NopCloser(bytes.NewReader(body))
	a.body = body
	if a.status >= 300 || a.status < 200 {
		// What is said in another form than S3's says nothing to us, and half
		// a refusal is one.
		_ = xml.Unmarshal(body, &a.refusal)
		return errRefused
	}
	switch {
	case err != nil:
		return err
	case len(body) > maxXML:
		return faultf(audit.CauseTooBig, "the answer is larger than %d bytes", maxXML)
	case a.status != http.StatusOK:
		return faultf(audit.CauseForeign, "HTTP %d", a.status)
	}
	if q.ours {
		r.Body = io.NopCloser(strings.NewReader("<" + q.root + "/>"))
		return nil
	}
	err = checkRoot(body, q.root)
	a.whole = err == nil
	return err
}

// otherRoots are names under which some servers send a document: clones that
// follow the name of the call, and Ceph.
var otherRoots = map[string][]string{
	"LifecycleConfiguration":         {"LifeCycleConfiguration", "BucketLifecycleConfiguration"},
	"PublicAccessBlockConfiguration": {"BlockPublicAccessBlockConfiguration"},
}

// checkRoot holds a document to its root element. It must be well-formed to
// its end, because half a listing must not pass for one.
func checkRoot(body []byte, want string) error {
	d := xml.NewDecoder(bytes.NewReader(body))
	seen := false
	for {
		t, err := d.Token()
		if err == io.EOF && seen {
			return nil
		}
		if err == io.EOF {
			return faultf(audit.CauseMalformed, "it is empty")
		}
		if err != nil {
			return faultf(audit.CauseMalformed, "not XML, or cut short: %w", err)
		}
		if e, ok := t.(xml.StartElement); ok {
			got := e.Name.Local
			if seen || !isRoot(got, want) {
				return faultf(audit.CauseForeign, "it is a <%s>, not a <%s>", got, want)
			}
			seen = true
			if err := d.Skip(); err != nil {
				return faultf(audit.CauseMalformed, "it is cut short: %w", err)
			}
		}
	}
}

func isRoot(got, want string) bool { return got == want || slices.Contains(otherRoots[want], got) }

// counted is a response body that adds to the handle's count.
type counted struct {
	io.ReadCloser
	s *S3
}

// Read reads and counts.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.s.count(func(u *audit.Usage) { u.Bytes += int64(n) })
	return n, err
}

// judge turns the failure of an attempt into the Error that a caller gets.
func (q query) judge(caller, limited context.Context, a *answer, err error) *Error {
	e := &Error{Op: q.op, Object: q.object, Permission: q.action, Code: a.refusal.Code, Status: a.status}
	var (
		creds  *credentialsError
		fault  *faulty
		unsent *smithyhttp.RequestSendError
		urlErr *url.Error
		netErr net.Error
	)
	switch {
	case caller.Err() != nil:
		e.Cause, e.Err = audit.CauseOther, caller.Err()
		if errors.Is(e.Err, context.DeadlineExceeded) {
			e.Cause = audit.CauseTimeout
		}
	case limited.Err() != nil:
		e.Cause, e.Err = audit.CauseTimeout, limited.Err()
	case errors.As(err, &creds):
		e.Cause, e.Err = audit.CauseCredentials, creds
	case errors.As(err, &fault):
		e.Cause, e.Err = fault.cause, fault.err
	case a.status == http.StatusNotFound && e.Code == q.missing && e.Code != "":
		e.Cause, e.Err = audit.CauseOther, ErrMissing
	case a.status >= 300 || a.status > 0 && a.status < 200:
		e.Cause, e.Err = a.cause(), a.refused()
		if e.Cause == audit.CauseDenied && strings.Contains(a.refusal.Message, "kms:") {
			e.Permission = "kms:Decrypt" // the message names what it wants
		}
	case errors.As(err, &unsent):
		e.Cause, e.Err = audit.CauseUnreachable, unsent.Err
		if errors.As(unsent.Err, &urlErr) {
			e.Err = urlErr.Err // the URL stands in Object
		}
	case a.status == 0:
		e.Cause, e.Err = audit.CauseOther, err // it could not even be asked
	case errors.As(err, &netErr):
		e.Cause, e.Err = audit.CauseUnreachable, fmt.Errorf("the connection broke off: %w", err)
	default:
		e.Cause, e.Err = audit.CauseMalformed, err
	}
	return e
}

// refused puts the refusal into words.
func (a *answer) refused() error {
	switch {
	case a.refusal.Message != "":
		return fmt.Errorf("HTTP %d %s: %s", a.status, a.refusal.Code, a.refusal.Message)
	case a.refusal.Code != "":
		return fmt.Errorf("HTTP %d %s", a.status, a.refusal.Code)
	}
	return fmt.Errorf("HTTP %d without an S3 error code", a.status)
}

// cause sorts an HTTP error. The code speaks first, because providers put one
// code on several statuses; names are from AWS's list of S3 error responses.
func (a *answer) cause() audit.Cause {
	code := a.refusal.Code
	switch code {
	case "NoSuchBucket":
		return audit.CauseNoBucket
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "TokenRefreshRequired", "InvalidToken",
		"InvalidSecurity", "NotSignedUp", "RequestTimeTooSkewed", "RequestExpired", "CredentialsNotSupported":
		return audit.CauseCredentials
	case "AccessDenied", "AllAccessDisabled", "AccountProblem", "Forbidden":
		return audit.CauseDenied
	case "SlowDown", "ServiceUnavailable", "Throttling", "TooManyRequests", "RequestLimitExceeded", "BandwidthLimitExceeded":
		return audit.CauseThrottled
	case "NotImplemented", "MethodNotAllowed":
		return audit.CauseUnsupported
	case "PermanentRedirect", "TemporaryRedirect", "Redirect":
		return audit.CauseRedirect
	case "RequestTimeout":
		return audit.CauseServer // the socket stood still; it is sent with 400
	case "AuthorizationHeaderMalformed":
		if a.elsewhere() != "" {
			return audit.CauseRedirect
		}
		return audit.CauseCredentials
	}
	if strings.HasSuffix(code, "ThrottlingException") {
		return audit.CauseThrottled // KMS's comes through S3
	}
	switch a.status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return audit.CauseRedirect
	case http.StatusUnauthorized:
		return audit.CauseCredentials
	case http.StatusForbidden:
		return audit.CauseDenied
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return audit.CauseUnsupported
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return audit.CauseThrottled
	}
	if a.status >= 500 {
		return audit.CauseServer
	}
	return audit.CauseOther
}

// unreadable says why nobody can read an object that exists: it is in an
// archive, or its key is gone. Empty where the refusal is about the reader.
func (a *answer) unreadable() string {
	switch a.refusal.Code {
	case "InvalidObjectState":
		return "archived in storage class " + orElse(a.refusal.StorageClass, "GLACIER or DEEP_ARCHIVE")
	case "KMS.DisabledException":
		return "encrypted with a KMS key that is disabled"
	case "KMS.NotFoundException":
		return "encrypted with a KMS key that does not exist"
	case "KMS.KMSInvalidStateException", "KMS.InvalidStateException":
		return "encrypted with a KMS key that cannot be used in its state, as when it is to be deleted"
	case "KMS.InvalidKeyUsageException":
		return "encrypted with a KMS key that is not for encryption"
	}
	return ""
}

// retryable reports whether asking again could help.
func retryable(e *Error, a *answer) bool {
	var dns *net.DNSError
	switch e.Cause {
	case audit.CauseThrottled, audit.CauseServer:
		return true
	case audit.CauseUnreachable:
		return !errors.As(e.Err, &dns) || !dns.IsNotFound
	case audit.CauseMalformed:
		return true // cut on the way, perhaps
	case audit.CauseCredentials:
		// By then the SDK has seen S3's clock, and signs by it.
		return e.Attempts == 1 && e.Code == "RequestTimeTooSkewed"
	}
	return false
}

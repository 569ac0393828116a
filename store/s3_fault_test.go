package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store"
	"backstop/store/storetest"
)

// lifecycle is a configuration with one rule.
const lifecycle = `<LifecycleConfiguration><Rule><ID>prune</ID><Filter><Prefix>a/</Prefix></Filter>` +
	`<Status>Enabled</Status><Expiration><Days>30</Days></Expiration></Rule></LifecycleConfiguration>`

// method is a method of Bucket that asks S3, by the name of its operation.
type method struct {
	operation, permission, root string
	do                          func(context.Context, store.Bucket) error
}

var methods = []method{
	{"ListObjectsV2", "s3:ListBucket", "ListBucketResult", func(ctx context.Context, b store.Bucket) error {
		for _, err := range b.List(ctx, store.ListInput{Prefix: "a/"}) {
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{"ListObjectVersions", "s3:ListBucketVersions", "ListVersionsResult", func(ctx context.Context, b store.Bucket) error {
		for _, err := range b.ListVersions(ctx, "a/") {
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{"GetObject", "s3:GetObject", "", func(ctx context.Context, b store.Bucket) error {
		d, err := b.Get(ctx, "a/1", 1<<10)
		if err == nil && string(d.Body) != "the first object" {
			return fmt.Errorf("the body is %q", d.Body)
		}
		return err
	}},
	{"GetObjectTagging", "s3:GetObjectTagging", "Tagging", func(ctx context.Context, b store.Bucket) error {
		_, err := b.Tags(ctx, "a/1")
		return err
	}},
	{"GetBucketVersioning", "s3:GetBucketVersioning", "VersioningConfiguration", func(ctx context.Context, b store.Bucket) error {
		_, err := b.Versioning(ctx)
		return err
	}},
	{"GetBucketLifecycleConfiguration", "s3:GetLifecycleConfiguration", "LifecycleConfiguration", func(ctx context.Context, b store.Bucket) error {
		_, err := b.Lifecycle(ctx)
		return err
	}},
	{"GetObjectLockConfiguration", "s3:GetBucketObjectLockConfiguration", "ObjectLockConfiguration", func(ctx context.Context, b store.Bucket) error {
		_, err := b.ObjectLock(ctx)
		return err
	}},
	{"GetPublicAccessBlock", "s3:GetBucketPublicAccessBlock", "PublicAccessBlockConfiguration", func(ctx context.Context, b store.Bucket) error {
		_, err := b.PublicAccessBlock(ctx)
		return err
	}},
	{"GetBucketPolicyStatus", "s3:GetBucketPolicyStatus", "PolicyStatus", func(ctx context.Context, b store.Bucket) error {
		_, err := b.PolicyStatus(ctx)
		return err
	}},
	{"GetBucketEncryption", "s3:GetEncryptionConfiguration", "ServerSideEncryptionConfiguration", func(ctx context.Context, b store.Bucket) error {
		_, err := b.Encryption(ctx)
		return err
	}},
	{"ListMultipartUploads", "s3:ListBucketMultipartUploads", "ListMultipartUploadsResult", func(ctx context.Context, b store.Bucket) error {
		_, err := b.Uploads(ctx, "a/")
		return err
	}},
}

// faulty makes a fake with a bucket in which there is something for each
// method to see.
func faulty(t *testing.T) (*storetest.Fake, string) {
	f := storetest.NewFake(atNoon)
	f.CreateBucket("backups").SetContents(storetest.Contents{
		Versioning: "Enabled", Lifecycle: []byte(lifecycle),
		Settings: storetest.Settings{
			ObjectLock:        &audit.ObjectLock{Mode: "GOVERNANCE", Retention: audit.Day},
			PublicAccessBlock: &audit.PublicAccessBlock{BlockPublicACLs: true},
			PublicPolicy:      new(bool), Encryption: "AES256", Uploads: []storetest.Upload{{Key: "a/3", Begun: noon}},
		},
		Objects: []storetest.Object{
			{Key: "a/1", Body: []byte("the first object"), Tags: map[string]string{"k": "v"}}, {Key: "a/2", Body: []byte("x")},
		},
	})
	return f, f.URL(t)
}

// TestFaults holds every way in which S3 fails, for every question, to the
// cause that it must be given.
func TestFaults(t *testing.T) {
	const missing audit.Cause = "ErrMissing" // not a cause, but told apart here
	refused := func(status int, code string) storetest.Fault {
		return storetest.Fault{Kind: storetest.Refused, Status: status, Code: code, Message: "What S3 says."}
	}
	bare := func(status int) storetest.Fault { return storetest.Fault{Kind: storetest.Bare, Status: status} }
	kind := func(k storetest.FaultKind) storetest.Fault { return storetest.Fault{Kind: k} }
	tests := map[string]struct {
		fault storetest.Fault
		want  audit.Cause
		// but overrides want for an operation; empty leaves the operation out.
		but     map[string]audit.Cause
		retried bool
	}{
		"403 AccessDenied":          {fault: refused(403, "AccessDenied"), want: audit.CauseDenied},
		"403 of an unknown code":    {fault: refused(403, "NotToday"), want: audit.CauseDenied},
		"403 of a proxy":            {fault: bare(403), want: audit.CauseDenied},
		"403 InvalidAccessKeyId":    {fault: refused(403, "InvalidAccessKeyId"), want: audit.CauseCredentials},
		"403 SignatureDoesNotMatch": {fault: refused(403, "SignatureDoesNotMatch"), want: audit.CauseCredentials},
		"400 ExpiredToken":          {fault: refused(400, "ExpiredToken"), want: audit.CauseCredentials},
		"400 TokenRefreshRequired":  {fault: refused(400, "TokenRefreshRequired"), want: audit.CauseCredentials},
		"400 InvalidToken":          {fault: refused(400, "InvalidToken"), want: audit.CauseCredentials},
		"401 of a proxy":            {fault: bare(401), want: audit.CauseCredentials},
		"400 malformed header":      {fault: refused(400, "AuthorizationHeaderMalformed"), want: audit.CauseCredentials},
		"404 NoSuchBucket":          {fault: refused(404, "NoSuchBucket"), want: audit.CauseNoBucket},
		"404 NoSuchKey": {fault: refused(404, "NoSuchKey"), want: audit.CauseOther, but: map[string]audit.Cause{
			"GetObject": missing, "GetObjectTagging": missing,
		}},
		"404 NoSuchLifecycleConfiguration": {fault: refused(404, "NoSuchLifecycleConfiguration"), want: audit.CauseOther, but: map[string]audit.Cause{
			"GetBucketLifecycleConfiguration": missing,
		}},
		"404 ObjectLockConfigurationNotFoundError": {fault: refused(404, "ObjectLockConfigurationNotFoundError"), want: audit.CauseOther, but: map[string]audit.Cause{
			"GetObjectLockConfiguration": missing,
		}},
		"404 NoSuchPublicAccessBlockConfiguration": {fault: refused(404, "NoSuchPublicAccessBlockConfiguration"), want: audit.CauseOther, but: map[string]audit.Cause{
			"GetPublicAccessBlock": missing,
		}},
		"404 NoSuchBucketPolicy": {fault: refused(404, "NoSuchBucketPolicy"), want: audit.CauseOther, but: map[string]audit.Cause{
			"GetBucketPolicyStatus": missing,
		}},
		"404 ServerSideEncryptionConfigurationNotFoundError": {fault: refused(404, "ServerSideEncryptionConfigurationNotFoundError"), want: audit.CauseOther, but: map[string]audit.Cause{
			"GetBucketEncryption": missing,
		}},
		"403 NoSuchBucketPolicy":        {fault: refused(403, "NoSuchBucketPolicy"), want: audit.CauseDenied},
		"404 NotFound":                  {fault: refused(404, "NotFound"), want: audit.CauseOther},
		"404 of a proxy":                {fault: bare(404), want: audit.CauseOther},
		"400 InvalidRequest":            {fault: refused(400, "InvalidRequest"), want: audit.CauseOther},
		"405 MethodNotAllowed":          {fault: refused(405, "MethodNotAllowed"), want: audit.CauseUnsupported},
		"501 NotImplemented":            {fault: refused(501, "NotImplemented"), want: audit.CauseUnsupported},
		"400 NotImplemented":            {fault: refused(400, "NotImplemented"), want: audit.CauseUnsupported},
		"501 of a proxy":                {fault: bare(501), want: audit.CauseUnsupported},
		"503 SlowDown":                  {fault: refused(503, "SlowDown"), want: audit.CauseThrottled, retried: true},
		"503 of a proxy":                {fault: bare(503), want: audit.CauseThrottled, retried: true},
		"429 of a proxy":                {fault: bare(429), want: audit.CauseThrottled, retried: true},
		"400 KMS.ThrottlingException":   {fault: refused(400, "KMS.ThrottlingException"), want: audit.CauseThrottled, retried: true},
		"500 InternalError":             {fault: refused(500, "InternalError"), want: audit.CauseServer, retried: true},
		"502 of a proxy":                {fault: bare(502), want: audit.CauseServer, retried: true},
		"400 RequestTimeout":            {fault: refused(400, "RequestTimeout"), want: audit.CauseServer, retried: true},
		"206 for a whole":               {fault: storetest.Fault{Kind: storetest.Late, Status: 206}, want: audit.CauseForeign},
		"302 to a login page":           {fault: bare(302), want: audit.CauseRedirect},
		"no answer":                     {fault: kind(storetest.Stalled), want: audit.CauseTimeout},
		"half an answer, then nothing":  {fault: kind(storetest.StalledBody), want: audit.CauseTimeout},
		"connection reset":              {fault: kind(storetest.Reset), want: audit.CauseUnreachable, retried: true},
		"connection reset in the body":  {fault: kind(storetest.ResetBody), want: audit.CauseUnreachable, retried: true},
		"connection closed in the body": {fault: kind(storetest.Truncated), want: audit.CauseMalformed, retried: true},
		"half a body without a length":  {fault: kind(storetest.Endless), want: audit.CauseMalformed, retried: true},
		// What an object is cannot be told from its body.
		"half a body that says it is whole": {fault: kind(storetest.Shortened), want: audit.CauseMalformed, retried: true, but: map[string]audit.Cause{"GetObject": ""}},
		"an empty body":                     {fault: kind(storetest.Empty), want: audit.CauseMalformed, retried: true, but: map[string]audit.Cause{"GetObject": ""}},
		"malformed XML":                     {fault: kind(storetest.Malformed), want: audit.CauseMalformed, retried: true, but: map[string]audit.Cause{"GetObject": ""}},
		"another document":                  {fault: kind(storetest.Foreign), want: audit.CauseForeign, but: map[string]audit.Cause{"GetObject": ""}},
		"an error with status 200": {
			fault: storetest.Fault{Kind: storetest.Foreign, Body: []byte("<Error><Code>NoSuchLifecycleConfiguration</Code></Error>")},
			want:  audit.CauseForeign, but: map[string]audit.Cause{"GetObject": ""},
		},
		"a web page": {
			fault: storetest.Fault{Kind: storetest.Foreign, Body: []byte("<html></html>"), Header: http.Header{"Last-Modified": nil}},
			want:  audit.CauseForeign,
		},
	}
	f, endpoint := faulty(t)
	for name, test := range tests {
		for _, m := range methods {
			want := test.want
			if but, ok := test.but[m.operation]; ok {
				want = but
			}
			if want == "" {
				continue
			}
			t.Run(name+"/"+m.operation, func(t *testing.T) {
				f.ResetRequests()
				f.Fault(func(storetest.Request) *storetest.Fault { return &test.fault })
				b := open(t, endpoint, func(in *store.S3Options) {
					if want == audit.CauseTimeout {
						in.Timeout = 50 * time.Millisecond
					}
				})
				err := m.do(t.Context(), b)
				var e *store.Error
				if !errors.As(err, &e) {
					t.Fatalf("got %T %v, want a *store.Error", err, err)
				}
				if errors.Is(err, store.ErrMissing) != (want == missing) || want != missing && e.Cause != want {
					t.Errorf("got the cause %s (%v), want %s", e.Cause, err, want)
				}
				if !strings.HasPrefix(e.Object, "s3://backups") || e.Op == "" || e.Cause == "" || e.Err == nil || e.Permission != m.permission {
					t.Errorf("the error is not complete: %+v", e)
				}
				attempts := 1
				if test.retried {
					attempts = 4
				}
				if n := len(f.Requests()); n != attempts && want != audit.CauseTimeout || e.Attempts != attempts {
					t.Errorf("%d requests and %d attempts, want %d", n, e.Attempts, attempts)
				}
				if want == audit.CauseTimeout {
					return // on a busy machine it may have come before the request
				}
				if got, want := b.Usage().Requests, map[string]int{m.operation: attempts}; !maps.Equal(got, want) {
					t.Errorf("counted %v, want %v", got, want)
				}
				if !test.retried {
					return
				}
				f.ResetRequests()
				f.Fault(func(r storetest.Request) *storetest.Fault {
					if r.Attempt < 4 {
						return &test.fault
					}
					return nil
				})
				if err := m.do(t.Context(), b); err != nil {
					t.Errorf("the last attempt succeeded, got %v", err)
				}
			})
		}
	}
}

// TestErrorText holds the words of errors, which people read at night.
func TestErrorText(t *testing.T) {
	f, endpoint := faulty(t)
	f.Fault(func(r storetest.Request) *storetest.Fault {
		switch r.Operation {
		case "GetBucketLifecycleConfiguration":
			return &storetest.Fault{Kind: storetest.Foreign}
		case "GetBucketVersioning":
			return &storetest.Fault{Kind: storetest.Refused, Status: 400, Code: "InvalidToken", Message: "The provided token is malformed."}
		case "GetObjectTagging":
			return &storetest.Fault{Kind: storetest.Refused, Status: 503, Code: "SlowDown", Message: "Please reduce your request rate."}
		}
		return &storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "AccessDenied", Message: "Access Denied"}
	})
	want := []string{
		"list objects s3://backups/a/: access denied (HTTP 403 AccessDenied)",
		"list object versions s3://backups/a/: access denied (HTTP 403 AccessDenied)",
		"get object s3://backups/a/1: access denied (HTTP 403 AccessDenied)",
		"get object tags s3://backups/a/1: the service asked to slow down until the retries ended (HTTP 503 SlowDown) (tried 4 times)",
		"get bucket versioning s3://backups: HTTP 400 InvalidToken: The provided token is malformed.",
		"get bucket lifecycle s3://backups: the answer is not the document that was asked for (HTTP 200): it is a <ListBucketResult>, not a <LifecycleConfiguration>",
		"get object lock configuration s3://backups: access denied (HTTP 403 AccessDenied)",
		"get public access block s3://backups: access denied (HTTP 403 AccessDenied)",
		"get bucket policy status s3://backups: access denied (HTTP 403 AccessDenied)",
		"get bucket encryption s3://backups: access denied (HTTP 403 AccessDenied)",
		"list multipart uploads s3://backups/a/: access denied (HTTP 403 AccessDenied)",
	}
	b := open(t, endpoint)
	for i, m := range methods {
		if got := fmt.Sprint(m.do(t.Context(), b)); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
}

// TestCut cuts every document at every byte: no part of one may pass for all
// of it.
func TestCut(t *testing.T) {
	f, endpoint := faulty(t)
	b := open(t, endpoint, func(in *store.S3Options) { in.MaxAttempts = 1 })
	for _, m := range methods {
		if m.operation == "GetObject" {
			continue // not a document
		}
		body := answerTo(t, f, b, m)
		n := 0
		f.Fault(func(storetest.Request) *storetest.Fault {
			return &storetest.Fault{Kind: storetest.Foreign, Body: append([]byte{}, body[:n]...)}
		})
		for ; n < len(body); n++ {
			if err := m.do(t.Context(), b); err == nil {
				t.Errorf("%s: no error after %d bytes of %d: %s", m.operation, n, len(body), body[:n])
			}
		}
		if err := m.do(t.Context(), b); err != nil {
			t.Errorf("%s: the whole document: %v", m.operation, err)
		}
		f.Fault(nil)
	}
}

// answerTo gives the document with which the fake answers a method.
func answerTo(t *testing.T, f *storetest.Fake, b store.Bucket, m method) []byte {
	t.Helper()
	f.ResetRequests()
	if err := m.do(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	r := f.Requests()[0]
	req := httptest.NewRequest(r.Method, "http://fake/"+r.Bucket+"/"+r.Key+"?"+r.Query.Encode(), nil)
	req.Header = r.Header
	w := httptest.NewRecorder()
	f.ServeHTTP(w, req)
	return w.Body.Bytes()
}

// TestUnreachable covers what happens before HTTP.
func TestUnreachable(t *testing.T) {
	f := storetest.NewFake(atNoon)
	closed, stop, err := f.Start()
	if err != nil {
		t.Fatal(err)
	}
	stop()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	dial := func(err error) *http.Client {
		return &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, err }}}
	}
	tests := map[string]struct {
		endpoint string
		client   *http.Client
		attempts int
		words    string
	}{
		"nobody listens":          {closed, nil, 4, "connection refused"},
		"an unknown certificate":  {secure.URL, nil, 4, "certificate"},
		"no such host":            {"http://s3.example", dial(&net.DNSError{Err: "no such host", Name: "s3.example", IsNotFound: true}), 1, "no such host"},
		"a name server is silent": {"http://s3.example", dial(&net.DNSError{Err: "i/o timeout", Name: "s3.example", IsTimeout: true}), 4, "i/o timeout"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := open(t, test.endpoint, func(in *store.S3Options) { in.HTTPClient = test.client })
			_, err := b.Versioning(t.Context())
			var e *store.Error
			if !errors.As(err, &e) || e.Cause != audit.CauseUnreachable || e.Attempts != test.attempts || !strings.Contains(err.Error(), test.words) {
				t.Errorf("got %v, want %q after %d attempts", err, test.words, test.attempts)
			}
			if b.ClockOffset().Seen() || b.Region() != "" {
				t.Errorf("learned %+v, %q from no answer", b.ClockOffset(), b.Region())
			}
		})
	}
}

// TestCaller holds that what the caller does to the context is what he gets
// back.
func TestCaller(t *testing.T) {
	f, endpoint := faulty(t)
	for _, m := range methods {
		for _, k := range []storetest.FaultKind{storetest.Stalled, storetest.StalledBody} {
			t.Run(m.operation+"/"+string(k), func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				f.Fault(func(storetest.Request) *storetest.Fault {
					cancel()
					return &storetest.Fault{Kind: k}
				})
				err := m.do(ctx, open(t, endpoint))
				var e *store.Error
				if !errors.As(err, &e) || !errors.Is(err, context.Canceled) || e.Cause != audit.CauseOther || e.Attempts != 1 {
					t.Errorf("got %v (%s), want context.Canceled", err, e.Cause)
				}
				ctx, cancel = context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
				defer cancel()
				err = m.do(ctx, open(t, endpoint))
				if !errors.As(err, &e) || !errors.Is(err, context.DeadlineExceeded) || e.Cause != audit.CauseTimeout {
					t.Errorf("got %v, want context.DeadlineExceeded", err)
				}
			})
		}
	}
}

// TestChunked reads objects whose length is not said beforehand.
func TestChunked(t *testing.T) {
	f, endpoint := faulty(t)
	f.Fault(func(storetest.Request) *storetest.Fault { return &storetest.Fault{Kind: storetest.Chunked} })
	b := open(t, endpoint)
	const size = int64(len("the first object"))
	for _, limit := range []int64{size - 1, size, size + 1} {
		d, err := b.Get(t.Context(), "a/1", limit)
		var e *store.Error
		if tooBig := errors.As(err, &e) && e.Cause == audit.CauseTooBig; tooBig != (limit < size) || !tooBig && string(d.Body) != "the first object" {
			t.Errorf("with the limit %d: got %q, %v", limit, d.Body, err)
		}
	}
}

// TestRedirectIsNotFollowed holds that a signed request is not sent to where a
// redirect points.
func TestRedirectIsNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other server was asked %s", r.URL)
	}))
	defer other.Close()
	f, endpoint := faulty(t)
	for _, status := range []int{301, 302, 307, 308} {
		f.Fault(func(storetest.Request) *storetest.Fault {
			return &storetest.Fault{Kind: storetest.Bare, Status: status, Header: http.Header{"Location": {other.URL}}}
		})
		for _, client := range []*http.Client{nil, {}} {
			_, err := open(t, endpoint, func(in *store.S3Options) { in.HTTPClient = client }).Versioning(t.Context())
			wantCause(t, fmt.Sprint(status), err, audit.CauseRedirect)
		}
	}
}

// TestUnreadable covers objects that are there, and that nobody or not
// everybody can read.
func TestUnreadable(t *testing.T) {
	f := storetest.NewFake(atNoon)
	fake := f.CreateBucket("backups")
	fake.Put("glacier", []byte("x"), storetest.WithClass("GLACIER"))
	fake.Put("deep", []byte("x"), storetest.WithClass("DEEP_ARCHIVE"))
	fake.Put("rare", []byte("x"), storetest.WithClass("GLACIER_IR"))
	for _, code := range []string{"KMS.DisabledException", "KMS.NotFoundException", "KMS.KMSInvalidStateException", "KMS.InvalidKeyUsageException", "AccessDenied"} {
		fake.Put(code, []byte("x"), storetest.SealedBy(code))
	}
	b := open(t, f.URL(t))
	tests := map[string]string{
		"glacier": "archived in storage class GLACIER", "deep": "archived in storage class DEEP_ARCHIVE", "rare": "",
		"KMS.DisabledException": "encrypted with a KMS key that is disabled", "KMS.NotFoundException": "encrypted with a KMS key that does not exist",
		"KMS.KMSInvalidStateException": "encrypted with a KMS key that cannot be used in its state, as when it is to be deleted",
		"KMS.InvalidKeyUsageException": "encrypted with a KMS key that is not for encryption",
	}
	for key, want := range tests {
		d, err := b.Get(t.Context(), key, 10)
		if err != nil || d.Key != key || d.Unreadable != want || bytes.Equal(d.Body, []byte("x")) != (want == "") {
			t.Errorf("%s: got %+v, %v, want %q", key, d, err, want)
		}
	}
	_, err := b.Get(t.Context(), "AccessDenied", 10)
	var e *store.Error
	if !errors.As(err, &e) || e.Cause != audit.CauseDenied || e.Permission != "kms:Decrypt" {
		t.Errorf("got %v, want the permission kms:Decrypt", err)
	}
}

// TestTransitionSizeDefault covers the header beside the lifecycle rules, which
// servers other than AWS do not send.
func TestTransitionSizeDefault(t *testing.T) {
	for _, want := range []string{"all_storage_classes_128K", "varies_by_storage_class", ""} {
		f := storetest.NewFake(atNoon)
		fake := f.CreateBucket("backups")
		fake.SetLifecycle([]byte(lifecycle))
		fake.SetTransitionSizeDefault(want)
		if got, err := open(t, f.URL(t)).Lifecycle(t.Context()); err != nil || got.TransitionSizeDefault != want {
			t.Errorf("got %q, %v, want %q", got.TransitionSizeDefault, err, want)
		}
	}
}

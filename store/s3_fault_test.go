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
	"slices"
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

// TestWrongPaging holds that a listing which contradicts itself ends with an
// error, at once, and never goes on for ever.
func TestWrongPaging(t *testing.T) {
	f := storetest.NewFake(atNoon)
	fake := f.CreateBucket("backups")
	f.SetPageSize(3)
	for i := range 8 {
		fake.Put(fmt.Sprintf("a/%04d", i), nil)
	}
	b := open(t, f.URL(t))
	still := "<%[1]s><IsTruncated>true</IsTruncated><NextContinuationToken>still</NextContinuationToken><NextKeyMarker>still</NextKeyMarker></%[1]s>"
	tests := map[string]struct {
		fault func(m method) storetest.Fault
		// pages is how many wrong pages it takes to see it, where the first
		// page is wrong, and where the second one is.
		pages [2]int
	}{
		"every page is the first":     {func(method) storetest.Fault { return storetest.Fault{Kind: storetest.Repeated} }, [2]int{2, 1}},
		"so, with a token that moves": {func(method) storetest.Fault { return storetest.Fault{Kind: storetest.Restless} }, [2]int{2, 1}},
		"pages are empty":             {func(method) storetest.Fault { return storetest.Fault{Kind: storetest.EmptyPages} }, [2]int{101, 101}},
		"there is more, but no token": {func(method) storetest.Fault { return storetest.Fault{Kind: storetest.Tokenless} }, [2]int{1, 1}},
		"pages are empty, and the token stays": {func(m method) storetest.Fault {
			return storetest.Fault{Kind: storetest.Foreign, Body: fmt.Appendf(nil, still, m.root)}
		}, [2]int{2, 2}},
	}
	for name, test := range tests {
		for from, pages := range test.pages {
			for _, m := range methods[:2] {
				t.Run(fmt.Sprintf("%s from page %d/%s", name, from+1, m.operation), func(t *testing.T) {
					f.ResetRequests()
					f.Fault(func(storetest.Request) *storetest.Fault {
						if len(f.Requests()) <= from {
							return nil
						}
						fault := test.fault(m)
						return &fault
					})
					err := m.do(t.Context(), b)
					var e *store.Error
					if !errors.As(err, &e) || e.Cause != audit.CauseMalformed {
						t.Errorf("got %v, want a malformed answer", err)
					}
					if n := len(f.Requests()) - from; n != pages {
						t.Errorf("it took %d wrong pages, want %d: %v", n, pages, err)
					}
				})
			}
		}
	}
}

// TestOddListings feeds listings as other servers write them.
func TestOddListings(t *testing.T) {
	object := func(key string) string {
		return "<Contents><Key>" + key + "</Key><LastModified>2026-01-01T00:00:00Z</LastModified><ETag>&quot;e&quot;</ETag><Size>1</Size></Contents>"
	}
	page := func(parts ...string) string {
		return "<ListBucketResult><IsTruncated>false</IsTruncated>" + strings.Join(parts, "") + "</ListBucketResult>"
	}
	tests := map[string]struct {
		body string
		want []string // nil wants an error
	}{
		"keys are encoded":            {page("<EncodingType>url</EncodingType>", object("a%2Fb%20c+d%2B")), []string{"a/b c d+"}},
		"the encoding is ignored":     {page(object("a/%2F+")), []string{"a/%2F+"}},
		"the encoding is broken":      {page("<EncodingType>url</EncodingType>", object("a%zz")), nil},
		"a namespace":                 {strings.Replace(page(object("a")), "<ListBucketResult>", `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`, 1), []string{"a"}},
		"keys are not sorted":         {page(object("ab"), object("a")), nil},
		"a key comes twice":           {page(object("a"), object("a")), nil},
		"no key":                      {page(object("")), nil},
		"no size":                     {page(strings.Replace(object("a"), "<Size>1</Size>", "", 1)), nil},
		"no time":                     {page("<Contents><Key>a</Key><Size>1</Size></Contents>"), nil},
		"common prefixes":             {page(object("a"), "<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes>"), nil},
		"not said whether it is over": {"<ListBucketResult>" + object("a") + "</ListBucketResult>", nil},
		"two documents":               {page(object("a")) + page(object("b")), nil},
		"another prefix":              {page(object("b")), nil},
	}
	f, endpoint := faulty(t)
	b := open(t, endpoint)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f.Fault(func(storetest.Request) *storetest.Fault {
				return &storetest.Fault{Kind: storetest.Foreign, Body: []byte(test.body)}
			})
			var got []string
			var err error
			for o, e := range b.List(t.Context(), store.ListInput{Prefix: "a"}) {
				if err = e; err != nil {
					break
				}
				got = append(got, o.Key)
			}
			if (err != nil) != (test.want == nil) || err == nil && !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// TestOddVersions feeds listings of versions as other servers write them.
func TestOddVersions(t *testing.T) {
	version := func(key, id string) string {
		return "<Version><Key>" + key + "</Key><VersionId>" + id + "</VersionId><LastModified>2026-01-01T00:00:00Z</LastModified></Version>"
	}
	const marker = "<DeleteMarker><Key>a/1</Key><VersionId>y</VersionId><LastModified>2026-01-01T00:00:00Z</LastModified></DeleteMarker>"
	const over = "<IsTruncated>false</IsTruncated>"
	tests := map[string]struct {
		body string
		want []string // nil wants an error
	}{
		"in order":                        {over + version("a/1", "x") + version("a/1", "y") + version("a/2", "x"), []string{"a/1 x", "a/1 y", "a/2 x"}},
		"a marker between versions":       {over + version("a/1", "x") + marker + version("a/1", "z"), []string{"a/1 x", "a/1 y", "a/1 z"}},
		"keys are encoded":                {over + "<EncodingType>url</EncodingType>" + version("a%2F+%2B", "x+"), []string{"a/ + x+"}},
		"keys are not sorted":             {over + version("a/2", "x") + version("a/1", "x"), nil},
		"a prefix that was not asked for": {over + version("b", "x"), nil},
		"no key":                          {over + version("", "x"), nil},
		"no version id":                   {over + version("a/1", ""), nil},
		"no time":                         {over + "<Version><Key>a/1</Key><VersionId>x</VersionId></Version>", nil},
		"a time that is none":             {over + strings.ReplaceAll(version("a/1", "x"), "2026", "soon"), nil},
		"common prefixes":                 {over + "<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>", nil},
		"not said whether it is over":     {version("a/1", "x"), nil},
	}
	f, endpoint := faulty(t)
	b := open(t, endpoint)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f.Fault(func(storetest.Request) *storetest.Fault {
				return &storetest.Fault{Kind: storetest.Foreign, Body: []byte("<ListVersionsResult>" + test.body + "</ListVersionsResult>")}
			})
			var got []string
			var err error
			for v, e := range b.ListVersions(t.Context(), "a/") {
				if err = e; err != nil {
					break
				}
				got = append(got, v.Key+" "+v.VersionID)
			}
			if (err != nil) != (test.want == nil) || err == nil && !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// TestRepeatedVersions is what versitygw 1.8.0 does: it begins a page with the
// end of the one before.
func TestRepeatedVersions(t *testing.T) {
	version := func(key, id string) string {
		return "<Version><Key>" + key + "</Key><VersionId>" + id + "</VersionId><LastModified>2026-01-01T00:00:00Z</LastModified></Version>"
	}
	pages := map[string]string{
		"":  "<IsTruncated>true</IsTruncated><NextKeyMarker>b</NextKeyMarker><NextVersionIdMarker>2</NextVersionIdMarker>" + version("a", "1") + version("b", "2"),
		"b": "<IsTruncated>true</IsTruncated><NextKeyMarker>c</NextKeyMarker><NextVersionIdMarker>1</NextVersionIdMarker>" + version("b", "2") + version("b", "1") + version("c", "1"),
		"c": "<IsTruncated>false</IsTruncated>" + version("c", "1"),
	}
	f, endpoint := faulty(t)
	f.Fault(func(r storetest.Request) *storetest.Fault {
		return &storetest.Fault{Kind: storetest.Foreign, Body: []byte("<ListVersionsResult>" + pages[r.Query.Get("key-marker")] + "</ListVersionsResult>")}
	})
	var got []string
	for v, err := range open(t, endpoint).ListVersions(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v.Key+v.VersionID)
	}
	if want := []string{"a1", "b2", "b1", "c1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOddConfiguration feeds the answers to the two questions about the bucket
// as other servers write them.
func TestOddConfiguration(t *testing.T) {
	tests := map[string]struct {
		do    func(*store.S3) (string, error)
		body  string
		want  string
		cause audit.Cause
	}{
		"versioning enabled":           {versioning, "<VersioningConfiguration><Status>Enabled</Status><MfaDelete>Disabled</MfaDelete></VersioningConfiguration>", "Enabled false", ""},
		"versioning, MFA delete":       {versioning, "<VersioningConfiguration><Status>Enabled</Status><MfaDelete>Enabled</MfaDelete></VersioningConfiguration>", "Enabled true", ""},
		"versioning, no status":        {versioning, "<VersioningConfiguration/>", " false", ""},
		"versioning, another status":   {versioning, "<VersioningConfiguration><Status>Perhaps</Status></VersioningConfiguration>", "", audit.CauseForeign},
		"lock, days":                   {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>COMPLIANCE</Mode><Days>3</Days></DefaultRetention></Rule></ObjectLockConfiguration>", "COMPLIANCE 72h0m0s", ""},
		"lock, years":                  {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Years>1</Years></DefaultRetention></Rule></ObjectLockConfiguration>", "GOVERNANCE 8760h0m0s", ""},
		"lock, no retention":           {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>", " 0s", ""},
		"lock, an empty rule":          {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule/></ObjectLockConfiguration>", " 0s", ""},
		"lock, not enabled":            {lock, "<ObjectLockConfiguration/>", "", audit.CauseForeign},
		"lock, another mode":           {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>SOFT</Mode><Days>3</Days></DefaultRetention></Rule></ObjectLockConfiguration>", "", audit.CauseForeign},
		"lock, days and years":         {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>3</Days><Years>1</Years></DefaultRetention></Rule></ObjectLockConfiguration>", "", audit.CauseForeign},
		"lock, a mode alone":           {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode></DefaultRetention></Rule></ObjectLockConfiguration>", "", audit.CauseForeign},
		"lock, negative days":          {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>-1</Days></DefaultRetention></Rule></ObjectLockConfiguration>", "", audit.CauseForeign},
		"lock, for ever":               {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Years>101</Years></DefaultRetention></Rule></ObjectLockConfiguration>", "", audit.CauseForeign},
		"lock, days that are a word":   {lock, "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>ten</Days></DefaultRetention></Rule></ObjectLockConfiguration>", "", audit.CauseMalformed},
		"block, some":                  {block, "<PublicAccessBlockConfiguration><BlockPublicAcls>TRUE</BlockPublicAcls></PublicAccessBlockConfiguration>", "{true false false false}", ""},
		"block, of Ceph":               {block, "<BlockPublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls></BlockPublicAccessBlockConfiguration>", "{true false false false}", ""},
		"block, nothing in it":         {block, "<PublicAccessBlockConfiguration/>", "", audit.CauseForeign},
		"policy, as AWS spells it":     {policy, "<PolicyStatus><IsPublic>TRUE</IsPublic></PolicyStatus>", "true", ""},
		"policy, nothing in it":        {policy, "<PolicyStatus/>", "", audit.CauseForeign},
		"policy, perhaps":              {policy, "<PolicyStatus><IsPublic>perhaps</IsPublic></PolicyStatus>", "", audit.CauseMalformed},
		"encryption, a key":            {encryption, "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms:dsse</SSEAlgorithm><KMSMasterKeyID>k</KMSMasterKeyID></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>", "aws:kms:dsse", ""},
		"encryption without a rule":    {encryption, "<ServerSideEncryptionConfiguration/>", "", audit.CauseForeign},
		"encryption, no algorithm":     {encryption, "<ServerSideEncryptionConfiguration><Rule><BucketKeyEnabled>true</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>", "", audit.CauseForeign},
		"uploads, more of them":        {uploads, "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><Upload><Key>a/1</Key><Initiated>2026-01-02T00:00:00Z</Initiated></Upload><Upload><Key>a/1</Key><Initiated>2026-01-01T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>", "2 true 2026-01-01", ""},
		"uploads, encoded":             {uploads, "<ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated><Upload><Key>a%2F%2B</Key><Initiated>2026-01-02T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>", "1 false 2026-01-02", ""},
		"uploads, broken encoding":     {uploads, "<ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated><Upload><Key>a/%zz</Key><Initiated>2026-01-02T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>", "", audit.CauseMalformed},
		"uploads, not asked for":       {uploads, "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated><Upload><Key>b</Key><Initiated>2026-01-02T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>", "", audit.CauseMalformed},
		"uploads, no time":             {uploads, "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated><Upload><Key>a/1</Key></Upload></ListMultipartUploadsResult>", "", audit.CauseMalformed},
		"uploads, no key":              {uploads, "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated><Upload><Initiated>2026-01-02T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>", "", audit.CauseMalformed},
		"uploads, whether all":         {uploads, "<ListMultipartUploadsResult/>", "", audit.CauseMalformed},
		"uploads, common prefixes":     {uploads, "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated><CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes></ListMultipartUploadsResult>", "", audit.CauseForeign},
		"lifecycle of AWS":             {rules, lifecycle, lifecycle, ""},
		"lifecycle with a capital C":   {rules, "<LifeCycleConfiguration><Rule/></LifeCycleConfiguration>", "<LifeCycleConfiguration><Rule/></LifeCycleConfiguration>", ""},
		"lifecycle of a bucket":        {rules, "<BucketLifecycleConfiguration><Rule/></BucketLifecycleConfiguration>", "<BucketLifecycleConfiguration><Rule/></BucketLifecycleConfiguration>", ""},
		"lifecycle, a date not of AWS": {rules, "<LifecycleConfiguration><Rule><Expiration><Date>soon</Date></Expiration></Rule></LifecycleConfiguration>", "<LifecycleConfiguration><Rule><Expiration><Date>soon</Date></Expiration></Rule></LifecycleConfiguration>", ""},
		"lifecycle without rules":      {rules, "<LifecycleConfiguration></LifecycleConfiguration>", "", audit.CauseForeign},
		"lifecycle, too long":          {rules, "<LifecycleConfiguration>" + strings.Repeat(" ", 8<<20) + "</LifecycleConfiguration>", "", audit.CauseTooBig},
	}
	f, endpoint := faulty(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f.Fault(func(storetest.Request) *storetest.Fault {
				return &storetest.Fault{Kind: storetest.Foreign, Body: []byte(test.body)}
			})
			got, err := test.do(open(t, endpoint))
			var e *store.Error
			if errors.As(err, &e); err != nil && e.Cause != test.cause || (err != nil) != (test.cause != "") || got != test.want {
				t.Errorf("got %q, %v, want %q, %s", got, err, test.want, test.cause)
			}
		})
	}
}

func versioning(b *store.S3) (string, error) {
	v, err := b.Versioning(context.Background())
	return said(err, v.Status, v.MFADelete)
}

func lock(b *store.S3) (string, error) {
	l, err := b.ObjectLock(context.Background())
	return said(err, l.Mode, l.Retention)
}

func block(b *store.S3) (string, error) {
	p, err := b.PublicAccessBlock(context.Background())
	return said(err, p)
}

func policy(b *store.S3) (string, error) {
	public, err := b.PolicyStatus(context.Background())
	return said(err, public)
}

func encryption(b *store.S3) (string, error) { return b.Encryption(context.Background()) }

func uploads(b *store.S3) (string, error) {
	u, err := b.Uploads(context.Background(), "a/")
	return said(err, u.Count, u.More, u.Oldest.Format(time.DateOnly))
}

// said puts an answer into one line; empty beside an error.
func said(err error, parts ...any) (string, error) {
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(fmt.Sprintln(parts...), "\n"), nil
}

func rules(b *store.S3) (string, error) {
	doc, err := b.Lifecycle(context.Background())
	return string(doc.Body), err
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

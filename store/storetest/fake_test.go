package storetest_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/store/storetest"
)

var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

func newFake(t *testing.T) (*storetest.Fake, string) {
	f := storetest.NewFake(func() time.Time { return noon })
	return f, f.URL(t)
}

// ask sends a request that looks signed, and gives the status, the code of an
// error, the header and the body.
func ask(t *testing.T, method, url string, header ...string) (status int, code string, h http.Header, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=K/20260115/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var e struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
	}
	_ = xml.Unmarshal(b, &e) // most answers are no errors
	return resp.StatusCode, e.Code, resp.Header, string(b)
}

// TestUnknown holds that the fake refuses all that it does not know, writing
// above all, and changes nothing.
func TestUnknown(t *testing.T) {
	f, endpoint := newFake(t)
	b := f.CreateBucket("b")
	b.SetVersioning("Enabled")
	b.Put("k", []byte("body"))
	before := f.Digest()
	requests := []string{"GET /", "GET /b", "POST /b?delete", "PUT /b", "DELETE /b", "PUT /c", "PUT /b/k", "PUT /b/new", "DELETE /b/k", "POST /b/k?uploads", "PATCH /b/k", "OPTIONS /b/k"}
	for _, sub := range []string{
		"acl", "policy", "replication", "ownershipControls", "cors", "website", "logging", "uploads&delimiter=/", "uploads&key-marker=a", "encryption&policyStatus",
		"notification", "tagging", "analytics", "inventory", "metrics", "intelligent-tiering", "accelerate", "requestPayment", "lifecycle&versioning",
		"list-type=1", "list-type=2&fetch-owner=true", "versions&delimiter=/", "location&x-id=GetBucketAcl",
	} {
		requests = append(requests, "GET /b?"+sub)
	}
	for _, sub := range []string{"acl", "torrent", "retention", "legal-hold", "attributes", "partNumber=1", "response-content-type=a", "versions", "select&select-type=2"} {
		requests = append(requests, "GET /b/k?"+sub)
	}
	for _, sub := range []string{"tagging", "lifecycle", "versioning", "legal-hold", "policy"} {
		requests = append(requests, "PUT /b?"+sub, "DELETE /b?"+sub, "PUT /b/k?"+sub, "DELETE /b/k?"+sub, "DELETE /b/k?versionId=1")
	}
	for _, r := range requests {
		method, path, _ := strings.Cut(r, " ")
		if status, code, _, body := ask(t, method, endpoint+path); status != http.StatusNotImplemented || code != "NotImplemented" {
			t.Errorf("%s: got %d %s %s", r, status, code, body)
		}
	}
	for _, h := range []string{"If-Unmodified-Since", "If-Range"} {
		if status, _, _, _ := ask(t, "GET", endpoint+"/b/k", h, `"x"`); status != http.StatusNotImplemented {
			t.Errorf("%s: got %d", h, status)
		}
	}
	if status, code, _, _ := ask(t, "GET", endpoint+"/b/k", "If-Match", `"x"`); status != http.StatusPreconditionFailed || code != "PreconditionFailed" {
		t.Errorf("If-Match of another object: got %d %s", status, code)
	}
	if f.Digest() != before {
		t.Error("the fake was changed over HTTP")
	}
}

func TestUnsigned(t *testing.T) {
	f, endpoint := newFake(t)
	f.CreateBucket("b").Put("k", []byte("body"))
	get := func() int {
		resp, err := http.Get(endpoint + "/b/k")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := get(); got != http.StatusForbidden {
		t.Errorf("got %d, want 403", got)
	}
	f.AllowAnonymous()
	if got := get(); got != http.StatusOK {
		t.Errorf("allowed: got %d, want 200", got)
	}
}

// TestAccess holds what is refused to those who may not do everything.
func TestAccess(t *testing.T) {
	tests := map[string]struct {
		deny func(*storetest.Bucket)
		want map[string]string // path -> status and code
	}{
		"everything is allowed": {func(*storetest.Bucket) {}, map[string]string{
			"?list-type=2": "200 ", "/a/k": "200 ", "/a/none": "404 NoSuchKey", "?versioning": "200 ", "?lifecycle": "404 NoSuchLifecycleConfiguration",
		}},
		"no listing": {func(b *storetest.Bucket) { b.Deny("s3:ListBucket") }, map[string]string{
			"?list-type=2": "403 AccessDenied", "/a/k": "200 ", "/a/none": "403 AccessDenied", "/a/none?tagging": "403 AccessDenied", "?versions": "200 ",
		}},
		"no listing, named as the API does": {func(b *storetest.Bucket) { b.Deny("ListObjectsV2") }, map[string]string{
			"?list-type=2": "403 AccessDenied", "/a/none": "403 AccessDenied",
		}},
		"no reading": {func(b *storetest.Bucket) { b.Deny("s3:GetObject") }, map[string]string{
			"?list-type=2": "200 ", "/a/k": "403 AccessDenied", "/a/none": "403 AccessDenied", "/a/k?tagging": "200 ",
		}},
		"no configuration": {func(b *storetest.Bucket) { b.Deny("s3:GetLifecycleConfiguration", "s3:GetBucketVersioning") }, map[string]string{
			"?versioning": "403 AccessDenied", "?lifecycle": "403 AccessDenied", "?list-type=2": "200 ",
		}},
		"listing of a prefix only": {func(b *storetest.Bucket) { b.DenyListExceptPrefix("a/") }, map[string]string{
			"?list-type=2": "403 AccessDenied", "?list-type=2&prefix=a": "403 AccessDenied", "?list-type=2&prefix=a/": "200 ", "?list-type=2&prefix=a/b": "200 ",
			"?versions": "403 AccessDenied", "?versions&prefix=a/": "200 ", "/a/k": "200 ", "/a/none": "403 AccessDenied",
		}},
	}
	for name, test := range tests {
		f, endpoint := newFake(t)
		b := f.CreateBucket("b")
		b.Put("a/k", []byte("body"))
		test.deny(b)
		for path, want := range test.want {
			status, code, _, _ := ask(t, "GET", endpoint+"/b"+path)
			if got := fmt.Sprint(status, " ", code); got != want {
				t.Errorf("%s: %s: got %s, want %s", name, path, got, want)
			}
		}
	}
}

// TestHistory holds what puts and deletes leave behind.
func TestHistory(t *testing.T) {
	f, _ := newFake(t)
	b := f.CreateBucket("b")
	kinds := func() string {
		var out []string
		for _, line := range strings.Split(strings.TrimSpace(b.Dump()), "\n")[1:] {
			var marker bool
			id, size := "", 0
			if _, err := fmt.Sscanf(line, `"k" %s 2026-01-15T12:00:00Z %d`, &id, &size); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			marker = strings.HasSuffix(line, "marker=true")
			if id != "null" {
				id = "id"
			}
			out = append(out, fmt.Sprintf("%s:%d:%t", id, size, marker))
		}
		return strings.Join(out, " ")
	}
	steps := []struct {
		do   func()
		want string
	}{
		{func() { b.Put("k", []byte("1")) }, "null:1:false"},
		{func() { b.Put("k", []byte("22")) }, "null:2:false"},
		{func() { b.Delete("k") }, ""},
		{func() { b.Put("k", []byte("1")); b.SetVersioning("Enabled") }, "null:1:false"},
		{func() { b.Put("k", []byte("22")) }, "id:2:false null:1:false"},
		{func() { b.Delete("k") }, "id:0:true id:2:false null:1:false"},
		{func() { b.SetVersioning("Suspended"); b.Put("k", []byte("333")) }, "null:3:false id:0:true id:2:false"},
		{func() { b.Delete("k") }, "null:0:true id:0:true id:2:false"},
		{func() { b.Delete("k") }, "null:0:true id:0:true id:2:false"},
		{func() { b.DeleteVersion("k", "null") }, "id:0:true id:2:false"},
		{func() { b.Purge("k") }, ""},
	}
	for i, s := range steps {
		before := f.Digest()
		s.do()
		if got := kinds(); got != s.want {
			t.Errorf("step %d: got %s, want %s", i, got, s.want)
		}
		if i > 0 && s.want != steps[i-1].want && f.Digest() == before {
			t.Errorf("step %d: the digest is the same", i)
		}
	}
	if got := b.Keys(); len(got) != 0 {
		t.Errorf("keys %q are left", got)
	}
}

// TestHeaders holds the headers that clients read.
func TestHeaders(t *testing.T) {
	f, endpoint := newFake(t)
	b := f.CreateBucket("b")
	b.SetRegion("us-east-1")
	b.SetVersioning("Enabled")
	b.SetExpiration(func(o storetest.Object) string { return "when " + o.Key + " goes" })
	b.Put("k", []byte("0123456789"), storetest.WithVersionID("v1"), storetest.WithClass("STANDARD_IA"), storetest.WithTime(noon.Add(-time.Hour+time.Millisecond)))
	b.Put("gone", []byte("x"))
	b.Delete("gone", storetest.WithVersionID("m1"))
	tests := []struct {
		request string
		ask     []string
		status  int
		want    map[string]string
	}{
		{"HEAD /b", nil, 200, map[string]string{"X-Amz-Bucket-Region": "us-east-1", "Date": "Thu, 15 Jan 2026 12:00:00 GMT"}},
		{"GET /b/k", nil, 200, map[string]string{
			"Etag": `"781e5e245d69b566979b86e28d23f2c7"`, "Last-Modified": "Thu, 15 Jan 2026 11:00:00 GMT", "Content-Length": "10",
			"X-Amz-Version-Id": "v1", "X-Amz-Storage-Class": "STANDARD_IA", "X-Amz-Expiration": "when k goes",
		}},
		{"HEAD /b/k", nil, 200, map[string]string{"Content-Length": "10", "X-Amz-Version-Id": "v1"}},
		{"GET /b/k?versionId=v1", nil, 200, nil},
		{"GET /b/k?versionId=v2", nil, 404, nil},
		{"GET /b/gone", nil, 404, map[string]string{"X-Amz-Delete-Marker": "true", "X-Amz-Version-Id": "m1"}},
		{"GET /b/gone?versionId=m1", nil, 405, map[string]string{"X-Amz-Delete-Marker": "true"}},
		{"GET /b/k", []string{"Range", "bytes=2-4"}, 206, map[string]string{"Content-Range": "bytes 2-4/10", "Content-Length": "3"}},
		{"GET /b/k", []string{"Range", "bytes=-0"}, 416, map[string]string{"Content-Range": "bytes */10"}},
		{"GET /b/k", []string{"Range", "bytes=0-1,3-4"}, 200, nil},
		{"GET /b/k", []string{"If-None-Match", `"781e5e245d69b566979b86e28d23f2c7"`}, 304, map[string]string{"Content-Length": ""}},
		{"GET /b/k", []string{"If-None-Match", `"0"`, "If-Modified-Since", noon.Format(http.TimeFormat)}, 200, nil},
		{"GET /b/k", []string{"If-Modified-Since", noon.Format(http.TimeFormat)}, 304, nil},
		{"GET /b/k", []string{"If-Modified-Since", noon.Add(-2 * time.Hour).Format(http.TimeFormat)}, 200, nil},
		{"GET /b/k", []string{"Authorization", "AWS4-HMAC-SHA256 Credential=K/20260115/eu-west-1/s3/aws4_request, Signature=0"}, 301, map[string]string{"X-Amz-Bucket-Region": "us-east-1"}},
	}
	for _, test := range tests {
		method, path, _ := strings.Cut(test.request, " ")
		status, _, h, _ := ask(t, method, endpoint+path, test.ask...)
		if status != test.status {
			t.Errorf("%s %q: got %d, want %d", test.request, test.ask, status, test.status)
		}
		for k, want := range test.want {
			if got := h.Get(k); got != want {
				t.Errorf("%s %q: got %s: %s, want %s", test.request, test.ask, k, got, want)
			}
		}
	}
}

// TestListing compares listings in pages of any size with a plain loop over
// the keys.
func TestListing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		s := make([]byte, random.IntN(5))
		for i := range s {
			s[i] = "ab/-"[random.IntN(4)]
		}
		return string(s)
	}
	for range 200 {
		f, endpoint := newFake(t)
		b := f.CreateBucket("b")
		for range random.IntN(30) {
			if k := word(); k != "" {
				b.Put(k, nil)
			}
		}
		q := url.Values{"list-type": {"2"}, "prefix": {word()}, "start-after": {word()}, "max-keys": {fmt.Sprint(1 + random.IntN(4))}}
		if random.IntN(2) == 0 {
			q.Set("delimiter", string("/-"[random.IntN(2)]))
		}
		want := expected(b.Keys(), q.Get("prefix"), q.Get("delimiter"), q.Get("start-after"))
		var got []string
		for pages := 0; ; pages++ {
			_, _, _, body := ask(t, "GET", endpoint+"/b?"+q.Encode())
			var page struct {
				IsTruncated           bool
				NextContinuationToken string
				KeyCount              int
				Contents              []struct{ Key string }
				CommonPrefixes        []struct{ Prefix string }
			}
			if err := xml.Unmarshal([]byte(body), &page); err != nil || pages > 40 {
				t.Fatalf("page %d: %v: %s", pages, err, body)
			}
			var here []string
			for _, o := range page.Contents {
				here = append(here, o.Key)
			}
			for _, p := range page.CommonPrefixes {
				here = append(here, p.Prefix+"*")
			}
			if len(here) != page.KeyCount {
				t.Errorf("%d entries, and a count of %d", len(here), page.KeyCount)
			}
			got = append(got, here...)
			if !page.IsTruncated {
				break
			}
			q.Set("continuation-token", page.NextContinuationToken)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%v of %q:\ngot  %q\nwant %q", q, b.Keys(), got, want)
		}
	}
}

// expected lists as AWS's reference describes it: a group counts for all its
// keys, and start-after is compared with the keys, and with the group.
func expected(keys []string, prefix, delimiter, after string) []string {
	var out []string
	for _, k := range keys {
		if !strings.HasPrefix(k, prefix) || k <= after {
			continue
		}
		if delimiter != "" {
			if head, _, ok := strings.Cut(k[len(prefix):], delimiter); ok {
				group := prefix + head + delimiter
				if strings.HasPrefix(after, group) {
					continue
				}
				k = group + "*"
			}
		}
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// TestFaultsOnTheWire holds what a client sees of the faults that are more
// than another answer.
func TestFaultsOnTheWire(t *testing.T) {
	f, endpoint := newFake(t)
	f.CreateBucket("b").Put("k", []byte("0123456789"))
	tests := map[storetest.FaultKind]struct {
		status int // 0 for an error before the header
		body   string
		ends   error // of reading the body
	}{
		storetest.Reset:     {0, "", nil},
		storetest.Truncated: {200, "01234", io.ErrUnexpectedEOF},
		storetest.Shortened: {200, "01234", nil},
		storetest.Endless:   {200, "01234", nil},
		storetest.Empty:     {200, "", nil},
		storetest.Malformed: {200, "01234<&>56789", nil},
		storetest.Late:      {200, "0123456789", nil},
		storetest.Chunked:   {200, "0123456789", nil},
	}
	for kind, want := range tests {
		f.Fault(func(storetest.Request) *storetest.Fault { return &storetest.Fault{Kind: kind} })
		f.ResetRequests()
		req, err := http.NewRequestWithContext(t.Context(), "GET", endpoint+"/b/k", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=K/20260115/us-east-1/s3/aws4_request")
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err != nil {
			if want.status != 0 {
				t.Errorf("%s: %v", kind, err)
			}
			continue
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != want.status || string(body) != want.body || !errors.Is(err, want.ends) {
			t.Errorf("%s: got %d %q, %v", kind, resp.StatusCode, body, err)
		}
		if r := f.Requests(); len(r) != 1 || r[0].Operation != "GetObject" || r[0].Bucket != "b" || r[0].Key != "k" || r[0].Attempt != 1 || r[0].Region != "us-east-1" {
			t.Errorf("%s: noted %+v", kind, r)
		}
	}
	f.ResetRequests()
	f.Fault(func(r storetest.Request) *storetest.Fault {
		if r.Attempt > 2 {
			return nil
		}
		return &storetest.Fault{Kind: storetest.Refused, Status: 503, Code: "SlowDown"}
	})
	var got []int
	for range 4 {
		status, _, _, _ := ask(t, "GET", endpoint+"/b/k")
		got = append(got, status)
	}
	if want := []int{503, 503, 200, 200}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestStop holds that a client which waits for a stalled answer does not hold
// up the end.
func TestStop(t *testing.T) {
	f := storetest.NewFake(time.Now)
	f.CreateBucket("b")
	reached := make(chan struct{})
	f.Fault(func(storetest.Request) *storetest.Fault {
		close(reached)
		return &storetest.Fault{Kind: storetest.Stalled}
	})
	endpoint, stop, err := f.Start()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		resp, err := http.Get(endpoint + "/b?location")
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	<-reached
	stop()
	stop()
	if err := <-done; err == nil {
		t.Error("the stalled request was answered")
	}
}

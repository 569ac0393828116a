package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store"
	"backstop/store/storetest"
)

// asAWS gives a client for which the fake is AWS: it sends there what is meant
// for BUCKET.s3.REGION.amazonaws.com, and notes the hosts.
func asAWS(t *testing.T, endpoint string) (client *http.Client, hosts func() []string) {
	t.Helper()
	to, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen []string
	return &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			seen = append(seen, r.URL.Host)
			mu.Unlock()
			bucket, _, _ := strings.Cut(r.URL.Host, ".")
			r = r.Clone(r.Context())
			r.URL.Scheme, r.URL.Host, r.URL.Path = to.Scheme, to.Host, "/"+bucket+r.URL.Path
			r.URL.RawPath = ""
			return http.DefaultTransport.RoundTrip(r)
		})}, func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(seen)
		}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRegion holds that a bucket is found where it lives, in one step more.
func TestRegion(t *testing.T) {
	redirect := func(status int, region string) func(storetest.Request) *storetest.Fault {
		return func(r storetest.Request) *storetest.Fault {
			if r.Region == "eu-west-1" {
				return nil
			}
			return &storetest.Fault{Kind: storetest.Redirected, Status: status, Region: region}
		}
	}
	denied := func(r storetest.Request) *storetest.Fault {
		if r.Region == "eu-west-1" {
			return nil
		}
		return &storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "AccessDenied", Header: http.Header{"X-Amz-Bucket-Region": {"eu-west-1"}}}
	}
	always := func(storetest.Request) *storetest.Fault {
		return &storetest.Fault{Kind: storetest.Redirected, Region: "ap-south-1"}
	}
	mute := func(r storetest.Request) *storetest.Fault {
		if r.Operation == "HeadBucket" {
			return nil // the fake says where
		}
		return redirect(http.StatusMovedPermanently, "")(r)
	}
	tests := map[string]struct {
		fault    func(storetest.Request) *storetest.Fault
		aws      bool
		requests int
		cause    audit.Cause
	}{
		"301":                              {redirect(301, "eu-west-1"), false, 2, ""},
		"307":                              {redirect(307, "eu-west-1"), false, 2, ""},
		"400 with the region in the body":  {redirect(400, "eu-west-1"), false, 2, ""},
		"403 with the region in a header":  {denied, false, 2, ""},
		"301 without a region":             {redirect(301, ""), false, 1, audit.CauseRedirect},
		"301 again and again":              {always, false, 2, audit.CauseRedirect},
		"AWS: 301":                         {redirect(301, "eu-west-1"), true, 2, ""},
		"AWS: 301 without a region":        {mute, true, 3, ""},
		"AWS: 301 without a region at all": {redirect(301, ""), true, 2, audit.CauseRedirect},
		"AWS: 301 again and again":         {always, true, 2, audit.CauseRedirect},
	}
	for name, test := range tests {
		for _, m := range methods {
			t.Run(name+"/"+m.operation, func(t *testing.T) {
				f, endpoint := faulty(t)
				f.Fault(test.fault)
				if test.aws && test.cause == "" {
					f.Bucket("backups").SetRegion("eu-west-1")
				}
				var pace counter
				b := open(t, endpoint, func(in *store.S3Options) {
					in.Pace = &pace
					in.MaxAttempts = 1 // a step to another place is no attempt
					if test.aws {
						in.EndpointURL = ""
						in.HTTPClient, _ = asAWS(t, endpoint)
					}
				})
				err := m.do(t.Context(), b)
				var e *store.Error
				if errors.As(err, &e); (err != nil) != (test.cause != "") || e != nil && (e.Cause != test.cause || e.Attempts != 1) {
					t.Errorf("got %v, want the cause %q", err, test.cause)
				}
				if n, turns := len(f.Requests()), int(pace.turns.Load()); n != test.requests || turns != n {
					t.Errorf("%d requests took %d turns, want %d", n, turns, test.requests)
				}
				if test.cause != "" {
					return
				}
				f.ResetRequests()
				if err := m.do(t.Context(), b.Fork()); err != nil || len(f.Requests()) != 1 {
					t.Errorf("once more: %v after %d requests, want 1", err, len(f.Requests()))
				}
				if got := b.Region(); test.aws && got != "eu-west-1" {
					t.Errorf("got the region %q", got)
				}
			})
		}
	}
}

// TestRegionOfTheFake is the whole way, as for a bucket of AWS in another
// region than the one that the environment names.
func TestRegionOfTheFake(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-central-1")
	f, endpoint := faulty(t)
	f.Bucket("backups").SetRegion("ap-southeast-2")
	client, hosts := asAWS(t, endpoint)
	b := open(t, "", func(in *store.S3Options) { in.HTTPClient = client })
	if got := b.Region(); got != "" {
		t.Errorf("before any answer the region is %q", got)
	}
	var wg sync.WaitGroup
	for _, m := range methods {
		wg.Go(func() {
			if err := m.do(t.Context(), b.Fork()); err != nil {
				t.Errorf("%s: %v", m.operation, err)
			}
		})
	}
	wg.Wait()
	if got := b.Region(); got != "ap-southeast-2" {
		t.Errorf("got the region %q", got)
	}
	got := hosts()
	if !slices.Contains(got, "backups.s3.eu-central-1.amazonaws.com") || got[len(got)-1] != "backups.s3.ap-southeast-2.amazonaws.com" {
		t.Errorf("asked %q", got)
	}
}

// TestRegionElsewhere holds that the region with which requests are signed is
// not taken for the bucket's where it means nothing.
func TestRegionElsewhere(t *testing.T) {
	_, endpoint := faulty(t)
	for _, want := range []string{"", "garage"} {
		b := open(t, endpoint, func(in *store.S3Options) { in.Region = want })
		if _, err := b.Versioning(t.Context()); err != nil || b.Region() != want {
			t.Errorf("got the region %q, %v, want %q", b.Region(), err, want)
		}
		for range b.List(t.Context(), store.ListInput{}) {
		}
		if b.Region() != "us-east-1" {
			t.Errorf("the answer names us-east-1, got %q", b.Region())
		}
	}
}

// TestEndpoint holds which endpoints are asked, and in which style.
func TestEndpoint(t *testing.T) {
	tests := map[string]struct {
		env  map[string]string
		in   store.S3Options
		want string
	}{
		"AWS":                      {nil, store.S3Options{}, "https://backups.s3.us-east-1.amazonaws.com/a/1"},
		"AWS, a region":            {nil, store.S3Options{Region: "eu-north-1"}, "https://backups.s3.eu-north-1.amazonaws.com/a/1"},
		"AWS, China":               {nil, store.S3Options{Region: "cn-north-1"}, "https://backups.s3.cn-north-1.amazonaws.com.cn/a/1"},
		"AWS, path style":          {nil, store.S3Options{ForcePathStyle: true}, "https://s3.us-east-1.amazonaws.com/backups/a/1"},
		"AWS, a name with dots":    {nil, store.S3Options{Bucket: "back.ups"}, "https://s3.us-east-1.amazonaws.com/back.ups/a/1"},
		"the environment's":        {map[string]string{"AWS_ENDPOINT_URL": "http://localhost:9"}, store.S3Options{}, "http://localhost:9/backups/a/1"},
		"the environment's for S3": {map[string]string{"AWS_ENDPOINT_URL_S3": "https://minio.example"}, store.S3Options{}, "https://backups.minio.example/a/1"},
		"ours before it":           {map[string]string{"AWS_ENDPOINT_URL": "http://localhost:9"}, store.S3Options{EndpointURL: "http://127.0.0.1:8"}, "http://127.0.0.1:8/backups/a/1"},
		"localhost":                {nil, store.S3Options{EndpointURL: "http://localhost:8"}, "http://localhost:8/backups/a/1"},
		"IPv6":                     {nil, store.S3Options{EndpointURL: "http://[::1]:8"}, "http://[::1]:8/backups/a/1"},
		"a host without a dot":     {nil, store.S3Options{EndpointURL: "http://minio:9000"}, "http://minio:9000/backups/a/1"},
		"a host":                   {nil, store.S3Options{EndpointURL: "https://s3.example"}, "https://backups.s3.example/a/1"},
		"a host, path style":       {nil, store.S3Options{EndpointURL: "https://s3.example", ForcePathStyle: true}, "https://s3.example/backups/a/1"},
		"a path":                   {nil, store.S3Options{EndpointURL: "https://s3.example/s3", ForcePathStyle: true}, "https://s3.example/s3/backups/a/1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for k, v := range test.env {
				t.Setenv(k, v)
			}
			got := ""
			in := test.in
			if in.Bucket == "" {
				in.Bucket = "backups"
			}
			in.Now, in.MaxAttempts = atNoon, 1
			in.HTTPClient = &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
				r.URL.RawQuery = ""
				got = r.URL.String()
				return nil, errors.New("not sent")
			})}
			b, err := store.OpenS3(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Get(t.Context(), "a/1", 1); err == nil || got != test.want {
				t.Errorf("asked %s, want %s (%v)", got, test.want, err)
			}
		})
	}
}

// TestOptions holds what OpenS3 refuses.
func TestOptions(t *testing.T) {
	for name, in := range map[string]store.S3Options{
		"no bucket":               {Now: atNoon},
		"no clock":                {Bucket: "backups"},
		"a profile that is none":  {Bucket: "backups", Now: atNoon, Profile: "nobody"},
		"an external id that is":  {Bucket: "backups", Now: atNoon, RoleARN: "arn:aws:iam::111122223333:role/auditor", ExternalIDFile: "/nonexistent"},
		"an endpoint that is not": {Bucket: "backups", Now: atNoon, EndpointURL: "http://[::1"},
	} {
		if _, err := store.OpenS3(t.Context(), in); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCredentials holds the ways to have none.
func TestCredentials(t *testing.T) {
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	f, endpoint := faulty(t)
	tests := map[string]struct {
		env map[string]string
		in  store.S3Options
	}{
		"none anywhere": {env: map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}},
		"an SSO session that is over": {
			env: map[string]string{
				"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "HOME": t.TempDir(),
				"AWS_CONFIG_FILE": write("[profile sso]\nsso_start_url = https://example.awsapps.com/start\nsso_region = us-east-1\nsso_account_id = 111122223333\nsso_role_name = auditor\n"),
			},
			in: store.S3Options{Profile: "sso"},
		},
		"a program that fails": {
			env: map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_CONFIG_FILE": write("[default]\ncredential_process = /bin/false\n")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for k, v := range test.env {
				t.Setenv(k, v)
			}
			f.ResetRequests()
			b := open(t, endpoint, func(in *store.S3Options) { in.Profile = test.in.Profile })
			for _, m := range methods {
				err := m.do(t.Context(), b)
				var e *store.Error
				if !errors.As(err, &e) || e.Cause != audit.CauseCredentials || e.Attempts != 1 || !strings.Contains(err.Error(), "no usable AWS credentials") {
					t.Errorf("%s: got %v", m.operation, err)
				}
			}
			if n := len(f.Requests()); n != 0 {
				t.Errorf("%d requests were made", n)
			}
		})
	}
}

// TestRole assumes a role at a server that stands for STS.
func TestRole(t *testing.T) {
	var asked url.Values
	refuse := false
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		asked = r.Form
		if refuse {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>`)
			return
		}
		fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ROLEKEY</AccessKeyId>`+
			`<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
			time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}))
	defer sts.Close()
	t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL)
	id := filepath.Join(t.TempDir(), "id")
	if err := os.WriteFile(id, []byte("for-backstop\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, endpoint := faulty(t)
	role := func(in *store.S3Options) {
		in.RoleARN, in.ExternalIDFile = "arn:aws:iam::111122223333:role/auditor", id
	}
	if _, err := open(t, endpoint, role).Versioning(t.Context()); err != nil {
		t.Fatal(err)
	}
	if asked.Get("ExternalId") != "for-backstop" || asked.Get("RoleArn") != "arn:aws:iam::111122223333:role/auditor" {
		t.Errorf("STS was asked %v", asked)
	}
	if got := f.Requests()[0].Header.Get("Authorization"); !strings.Contains(got, "Credential=ROLEKEY/") {
		t.Errorf("signed with %s", got)
	}
	refuse = true
	_, err := open(t, endpoint, role).Versioning(t.Context())
	var e *store.Error
	if !errors.As(err, &e) || e.Cause != audit.CauseCredentials || !strings.Contains(err.Error(), "sts:AssumeRole") {
		t.Errorf("got %v", err)
	}
}

// TestClockOffset holds S3's clock against the auditor's at the middle of the
// request.
func TestClockOffset(t *testing.T) {
	f := storetest.NewFake(atNoon)
	f.CreateBucket("backups")
	endpoint := f.URL(t)
	ticks := 0
	b := open(t, endpoint, func(in *store.S3Options) {
		in.Now = func() time.Time { // an hour and 5 seconds before noon, then 10 seconds later
			ticks++
			return noon.Add(-time.Hour + time.Duration(10*ticks-15)*time.Second)
		}
	})
	if got := b.ClockOffset(); got.Seen() || got.WhyUnseen().Reason == "" {
		t.Errorf("before any answer: %+v", got)
	}
	if _, err := b.Versioning(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.Fork().ClockOffset(); !got.IsSet() || got.Value != time.Hour {
		t.Errorf("got %+v, want an hour", got)
	}
	f.Fault(func(storetest.Request) *storetest.Fault {
		return &storetest.Fault{Kind: storetest.Late, Header: http.Header{"Age": {"60"}, "Date": {noon.Add(time.Minute).Format(http.TimeFormat)}}}
	})
	if _, err := b.Versioning(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.ClockOffset(); got.Value != time.Hour {
		t.Errorf("got %+v from a cache", got)
	}
}

// TestUsage holds the counts to what the server saw.
func TestUsage(t *testing.T) {
	f, endpoint := faulty(t)
	b := open(t, endpoint)
	one := b.Fork()
	if _, err := one.Get(t.Context(), "a/1", 100); err != nil {
		t.Fatal(err)
	}
	if got := one.Usage(); got.Bytes != int64(len("the first object")) || got.Requests["GetObject"] != 1 || len(got.Requests) != 1 {
		t.Errorf("got %+v", got)
	}
	if got := b.Usage(); got.Bytes != 0 || len(got.Requests) != 0 {
		t.Errorf("another handle counted %+v", got)
	}
	want := len(answerTo(t, f, b, methods[0]))
	if got := b.Usage(); got.Bytes != int64(want) {
		t.Errorf("a listing of %d bytes counted %+v", want, got)
	}
	// What is too big is not read.
	two := b.Fork()
	if _, err := two.Get(t.Context(), "a/1", 3); err == nil || two.Usage().Bytes != 0 {
		t.Errorf("got %v, %+v", err, two.Usage())
	}
}

// TestDocument holds what comes with an object.
func TestDocument(t *testing.T) {
	f := storetest.NewFake(atNoon)
	fake := f.CreateBucket("backups")
	fake.SetVersioning("Enabled")
	fake.SetExpiration(func(o storetest.Object) string { return `expiry-date="Fri, 16 Jan 2026 00:00:00 GMT", rule-id="prune"` })
	id := fake.Put("k", []byte("body"), storetest.WithClass("STANDARD_IA"), storetest.WithTime(noon.Add(-time.Hour)))
	d, err := open(t, f.URL(t)).Get(t.Context(), "k", 10)
	want := audit.Document{
		Object:    audit.Object{Key: "k", Size: 4, LastModified: noon.Add(-time.Hour), ETag: "841a2d689ad86bd1611447453c22c6fc", StorageClass: "STANDARD_IA"},
		VersionID: id, Body: []byte("body"), Expiration: `expiry-date="Fri, 16 Jan 2026 00:00:00 GMT", rule-id="prune"`,
	}
	if err != nil || fmt.Sprintf("%+v", d) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v, %v\nwant %+v", d, err, want)
	}
}

// TestSkew holds that a wrong clock of the machine does not end an audit: S3
// refuses the signature, and the next one is made by its clock.
func TestSkew(t *testing.T) {
	f, endpoint := faulty(t)
	f.Fault(func(r storetest.Request) *storetest.Fault {
		if strings.HasPrefix(r.Header.Get("X-Amz-Date"), noon.Format("20060102T")) {
			return nil
		}
		return &storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "RequestTimeTooSkewed"}
	})
	if _, err := open(t, endpoint).Versioning(t.Context()); err != nil {
		t.Error(err)
	}
	f.Fault(func(storetest.Request) *storetest.Fault {
		return &storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "RequestTimeTooSkewed"}
	})
	f.ResetRequests()
	if _, err := open(t, endpoint).Versioning(context.Background()); err == nil || len(f.Requests()) != 2 {
		t.Errorf("got %v after %d requests, want an error after 2", err, len(f.Requests()))
	}
}

// TestUsageCountsErrors holds that every attempt which failed counts, by its
// cause, and that something which is not there is no error.
func TestUsageCountsErrors(t *testing.T) {
	f, endpoint := faulty(t)
	b := open(t, endpoint)
	if _, err := b.Get(t.Context(), "nowhere", 100); !errors.Is(err, store.ErrMissing) {
		t.Fatal(err)
	}
	if got := b.Usage().Errors; len(got) != 0 {
		t.Errorf("a missing object counts as %v", got)
	}
	f.Fault(func(storetest.Request) *storetest.Fault {
		return &storetest.Fault{Kind: storetest.Refused, Status: 503, Code: "SlowDown"}
	})
	if _, err := b.Versioning(t.Context()); err == nil {
		t.Fatal("no error")
	}
	f.Fault(func(storetest.Request) *storetest.Fault {
		return &storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "AccessDenied"}
	})
	if _, err := b.Versioning(t.Context()); err == nil {
		t.Fatal("no error")
	}
	want := map[string]int{"throttled": b.Usage().Requests["GetBucketVersioning"] - 1, "denied": 1}
	if got := b.Usage().Errors; !maps.Equal(got, want) || want["throttled"] < 2 {
		t.Errorf("got %v, want %v", got, want)
	}
}

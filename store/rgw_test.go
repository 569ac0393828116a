package store_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"backstop/audit"
	"backstop/store"
	"backstop/store/storetest"
	"backstop/store/storetest/rgwtest"
)

// openRGW gives a handle on a bucket of the gateway, with the rights of c.
func openRGW(t *testing.T, g *rgwtest.RGW, c *rgwtest.Client, bucket string) *store.S3 {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", c.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", c.SecretKey)
	return open(t, g.Endpoint, func(in *store.S3Options) { in.Bucket, in.Now = bucket, time.Now })
}

func TestRGWContract(t *testing.T) {
	g := rgwtest.Shared(t)
	c := g.Client()
	storetest.Contract(t, storetest.Backend{
		AnyKey: true, Versions: true, Config: true, Tags: true, Remote: true,
		Open: func(t *testing.T, in storetest.Contents) (store.Bucket, func() string) {
			bucket := c.Bucket(t)
			c.Fill(t, bucket, in)
			return openRGW(t, g, c, bucket), func() string { return c.Digest(t, bucket) }
		},
	})
}

// TestRGWAnswers holds what Ceph 16.2.15 says, and what is made of it. Where it
// does other than AWS the name begins with "unlike AWS", so that a release that
// changes it is noticed.
func TestRGWAnswers(t *testing.T) {
	g := rgwtest.Shared(t)
	c := g.Client()
	tests := map[string]func(t *testing.T, bucket string, b *store.S3){
		"a bucket that is none": func(t *testing.T, _ string, b *store.S3) {
			none := open(t, g.Endpoint, func(in *store.S3Options) { in.Bucket = "none" })
			for _, m := range methods {
				wantCause(t, m.operation, m.do(t.Context(), none), audit.CauseNoBucket)
			}
		},
		"an access key that is none": func(t *testing.T, bucket string, _ *store.S3) {
			b := openRGW(t, g, rgwtest.ClientOf(g.Endpoint, "nobody", "secret"), bucket)
			for _, m := range methods {
				wantCause(t, m.operation, m.do(t.Context(), b), audit.CauseCredentials)
			}
		},
		"a wrong secret": func(t *testing.T, bucket string, _ *store.S3) {
			b := openRGW(t, g, rgwtest.ClientOf(g.Endpoint, c.AccessKey, "wrong"), bucket)
			for _, m := range methods {
				wantCause(t, m.operation, m.do(t.Context(), b), audit.CauseCredentials)
			}
		},
		"another user's bucket": func(t *testing.T, bucket string, _ *store.S3) {
			b := openRGW(t, g, g.User(t, "stranger"), bucket)
			for _, m := range methods {
				wantCause(t, m.operation, m.do(t.Context(), b), audit.CauseDenied)
			}
		},
		"a policy refuses the owner": func(t *testing.T, bucket string, b *store.S3) {
			c.SetPolicy(t, bucket, `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":["s3:ListBucket","s3:GetLifecycleConfiguration"],`+
				`"Resource":["arn:aws:s3:::`+bucket+`"]}]}`)
			for _, m := range methods {
				err := m.do(t.Context(), b)
				switch m.operation {
				case "ListObjectsV2", "GetBucketLifecycleConfiguration":
					wantCause(t, m.operation, err, audit.CauseDenied)
				case "ListObjectVersions", "GetObject", "GetObjectTagging", "GetBucketVersioning":
					if err != nil {
						t.Errorf("%s: %v", m.operation, err)
					}
				}
			}
		},
		"who may not list is not told that an object is missing": func(t *testing.T, bucket string, _ *store.S3) {
			c.SetPolicy(t, bucket, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::`+bucket+`/*"}]}`)
			b := openRGW(t, g, g.User(t, "reader"), bucket)
			if _, err := b.Get(t.Context(), "a/1", 100); err != nil {
				t.Error(err)
			}
			_, err := b.Get(t.Context(), "a/9", 100)
			wantCause(t, "get of nothing", err, audit.CauseDenied)
		},
		"a rule shows in x-amz-expiration": func(t *testing.T, bucket string, b *store.S3) {
			c.SetLifecycle(t, bucket, []byte(lifecycle))
			d, err := b.Get(t.Context(), "a/1", 100)
			if err != nil || !strings.Contains(d.Expiration, `rule-id="prune"`) {
				t.Errorf("got %q, %v", d.Expiration, err)
			}
		},
		"the clock is ours": func(t *testing.T, _ string, b *store.S3) {
			if _, err := b.Versioning(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := b.ClockOffset(); !got.IsSet() || got.Value.Abs() > 30*time.Second {
				t.Errorf("got %+v", got)
			}
		},
		"settings that Ceph knows": func(t *testing.T, bucket string, b *store.S3) {
			if _, err := b.ObjectLock(t.Context()); !errors.Is(err, store.ErrMissing) {
				t.Errorf("no lock: %v", err)
			}
			if got, err := b.Uploads(t.Context(), ""); err != nil || got != (audit.Uploads{}) {
				t.Errorf("no uploads: %+v, %v", got, err)
			}
			key := "a/unfinished +%"
			up, err := c.S3.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &bucket, Key: &key})
			if err != nil {
				t.Fatal(err)
			}
			part := int32(1)
			if _, err := c.S3.UploadPart(t.Context(), &s3.UploadPartInput{Bucket: &bucket, Key: &key, UploadId: up.UploadId, PartNumber: &part, Body: strings.NewReader("part")}); err != nil {
				t.Fatal(err)
			}
			for prefix, want := range map[string]int{"": 1, "a/unfinished +": 1, "b": 0} {
				if got, err := b.Uploads(t.Context(), prefix); err != nil || got.Count != want || got.More || got.Oldest.IsZero() != (want == 0) {
					t.Errorf("uploads of %q: %+v, %v", prefix, got, err)
				}
			}
			c.SetPolicy(t, bucket, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::`+bucket+`/*"}]}`)
			if got, err := b.PolicyStatus(t.Context()); err != nil || !got {
				t.Errorf("policy for everybody: public %t, %v", got, err)
			}
			yes := true
			if _, err := c.S3.PutPublicAccessBlock(t.Context(), &s3.PutPublicAccessBlockInput{Bucket: &bucket, PublicAccessBlockConfiguration: &types.PublicAccessBlockConfiguration{
				BlockPublicAcls: &yes, RestrictPublicBuckets: &yes,
			}}); err != nil {
				t.Fatal(err)
			}
			if got, err := b.PublicAccessBlock(t.Context()); err != nil || got != (audit.PublicAccessBlock{BlockPublicACLs: true, RestrictPublicBuckets: true}) {
				t.Errorf("block: %+v, %v", got, err)
			}
		},
		"a bucket with Object Lock": func(t *testing.T, _ string, _ *store.S3) {
			name := "locked-" + strings.ToLower(rand.Text())
			yes, days := true, int32(3)
			if _, err := c.S3.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name, ObjectLockEnabledForBucket: &yes}); err != nil {
				t.Fatal(err)
			}
			b := openRGW(t, g, c, name)
			if got, err := b.ObjectLock(t.Context()); err != nil || got != (audit.ObjectLock{}) {
				t.Errorf("without retention: %+v, %v", got, err)
			}
			if _, err := c.S3.PutObjectLockConfiguration(t.Context(), &s3.PutObjectLockConfigurationInput{Bucket: &name, ObjectLockConfiguration: &types.ObjectLockConfiguration{
				ObjectLockEnabled: types.ObjectLockEnabledEnabled,
				Rule:              &types.ObjectLockRule{DefaultRetention: &types.DefaultRetention{Mode: types.ObjectLockRetentionModeGovernance, Days: &days}},
			}}); err != nil {
				t.Fatal(err)
			}
			if got, err := b.ObjectLock(t.Context()); err != nil || got != (audit.ObjectLock{Mode: "GOVERNANCE", Retention: 3 * audit.Day}) {
				t.Errorf("with retention: %+v, %v", got, err)
			}
		},
		"unlike AWS, a public access block that was never set is four times false": func(t *testing.T, _ string, b *store.S3) {
			if got, err := b.PublicAccessBlock(t.Context()); err != nil || got != (audit.PublicAccessBlock{}) {
				t.Errorf("got %+v, %v", got, err)
			}
		},
		"unlike AWS, where there is no policy it is not public": func(t *testing.T, _ string, b *store.S3) {
			if got, err := b.PolicyStatus(t.Context()); err != nil || got {
				t.Errorf("got %t, %v", got, err)
			}
		},
		"unlike AWS, a policy that allows one user something is public": func(t *testing.T, bucket string, b *store.S3) {
			c.SetPolicy(t, bucket, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":["arn:aws:iam:::user/other"]},"Action":"s3:GetObject","Resource":"arn:aws:s3:::`+bucket+`/*"}]}`)
			if got, err := b.PolicyStatus(t.Context()); err != nil || !got {
				t.Errorf("got %t, %v", got, err)
			}
		},
		"unlike AWS, default encryption is not known, and a listing comes instead": func(t *testing.T, _ string, b *store.S3) {
			_, err := b.Encryption(t.Context())
			wantCause(t, "encryption", err, audit.CauseForeign)
		},
		"unlike AWS, tagging changes the time, and takes the ETag from the listing": func(t *testing.T, bucket string, b *store.S3) {
			old, err := b.Get(t.Context(), "a/1", 100)
			if err != nil {
				t.Fatal(err)
			}
			key := "a/1"
			// HTTP dates have whole seconds; the fake tagging is done until
			// the time differs.
			deadline := time.Now().Add(5 * time.Second)
			for d := old; d.LastModified.Equal(old.LastModified); {
				if time.Now().After(deadline) {
					t.Fatal("the time did not change")
				}
				_, err = c.S3.PutObjectTagging(t.Context(), &s3.PutObjectTaggingInput{Bucket: &bucket, Key: &key, Tagging: &types.Tagging{TagSet: []types.Tag{}}})
				if err == nil {
					_, err = c.S3.DeleteObjectTagging(t.Context(), &s3.DeleteObjectTaggingInput{Bucket: &bucket, Key: &key})
				}
				if err != nil {
					t.Fatal(err)
				}
				if d, err = b.Get(t.Context(), key, 100); err != nil || d.ETag != old.ETag {
					t.Fatalf("got the ETag %q, %v, want %q", d.ETag, err, old.ETag)
				}
			}
			for o, err := range b.List(t.Context(), store.ListInput{Prefix: key}) {
				if err != nil || o.ETag != "" {
					t.Errorf("listed with the ETag %q, %v", o.ETag, err)
				}
			}
		},
		"unlike AWS, filters by size and kept versions are lost": func(t *testing.T, bucket string, b *store.S3) {
			c.SetLifecycle(t, bucket, []byte(`<LifecycleConfiguration><Rule><ID>big</ID><Filter><ObjectSizeGreaterThan>1000</ObjectSizeGreaterThan></Filter>`+
				`<Status>Enabled</Status><NoncurrentVersionExpiration><NoncurrentDays>2</NoncurrentDays><NewerNoncurrentVersions>1</NewerNoncurrentVersions>`+
				`</NoncurrentVersionExpiration></Rule></LifecycleConfiguration>`))
			got, err := b.Lifecycle(t.Context())
			if err != nil || !bytes.Contains(got.Body, []byte("big")) || bytes.Contains(got.Body, []byte("ObjectSize")) || bytes.Contains(got.Body, []byte("Newer")) {
				t.Errorf("got %s, %v", got, err)
			}
		},
		"unlike AWS, lifecycle deletes nothing in a suspended bucket": func(t *testing.T, bucket string, b *store.S3) {
			// AWS puts a delete marker on top; Ceph logs that it deleted, as in
			// the bucket beside it, where it does.
			suspended := c.Bucket(t)
			c.Fill(t, suspended, storetest.Contents{Versioning: "Suspended"})
			c.Add(t, suspended, storetest.Object{Key: "a/1", Body: []byte("x")})
			for _, name := range []string{bucket, suspended} {
				c.SetLifecycle(t, name, []byte(strings.Replace(lifecycle, "30", "1", 1)))
			}
			// One run walks the buckets that the gateway has on its list by
			// then, which a bucket is not always at once.
			var err error
			for range 10 {
				g.AdminAt(t, "+3d", "lc", "process")
				if _, err = b.Get(t.Context(), "a/1", 100); errors.Is(err, store.ErrMissing) {
					break
				}
			}
			if !errors.Is(err, store.ErrMissing) {
				t.Errorf("never versioned: got %v, want ErrMissing", err)
			}
			if _, err := openRGW(t, g, c, suspended).Get(t.Context(), "a/1", 100); err != nil {
				t.Errorf("suspended: %v", err)
			}
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bucket := c.Bucket(t)
			c.Fill(t, bucket, storetest.Contents{Objects: []storetest.Object{{Key: "a/1", Body: []byte("the first object"), Tags: map[string]string{"k": "v"}}}})
			test(t, bucket, openRGW(t, g, c, bucket))
		})
	}
}

func wantCause(t *testing.T, what string, err error, want audit.Cause) {
	t.Helper()
	var e *store.Error
	if !errors.As(err, &e) || e.Cause != want || errors.Is(err, store.ErrMissing) {
		t.Errorf("%s: got %v, want the cause %s", what, err, want)
	}
}

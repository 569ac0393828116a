package rgwtest

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"backstop/store/storetest"
)

// A Client writes into a gateway, with the rights of one user. Its methods end
// the test on an error.
type Client struct {
	// AccessKey and SecretKey are the user's.
	AccessKey, SecretKey string
	// S3 is for calls that have no method here.
	S3 *s3.Client

	endpoint string
}

// Client gives the client of the user who may do everything with his buckets.
func (g *RGW) Client() *Client { return ClientOf(g.Endpoint, g.AccessKey, g.SecretKey) }

// ClientOf gives the client of a user of any server that speaks S3.
func ClientOf(endpoint, access, secret string) *Client {
	return &Client{AccessKey: access, SecretKey: secret, endpoint: endpoint, S3: s3.New(s3.Options{
		BaseEndpoint: &endpoint, Region: "us-east-1", UsePathStyle: true, RetryMaxAttempts: 5,
		Credentials:                credentials.NewStaticCredentialsProvider(access, secret, ""),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	})}
}

// User makes a user without any bucket, and gives his client. The name must be
// new.
func (g *RGW) User(tb testing.TB, name string) *Client {
	tb.Helper()
	out := g.Admin(tb, "user", "create", "--uid", name, "--display-name", name)
	var user struct {
		Keys []struct {
			AccessKey string `json:"access_key"`
			SecretKey string `json:"secret_key"`
		} `json:"keys"`
	}
	if err := json.Unmarshal([]byte(out), &user); err != nil || len(user.Keys) == 0 {
		tb.Fatalf("user %s: %v: %s", name, err, out)
	}
	return ClientOf(g.Endpoint, user.Keys[0].AccessKey, user.Keys[0].SecretKey)
}

var buckets atomic.Int64

// Bucket makes a bucket with a name of its own, and gives the name.
func (c *Client) Bucket(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprintf("bucket-%d", buckets.Add(1))
	_, err := c.S3.CreateBucket(tb.Context(), &s3.CreateBucketInput{Bucket: &name})
	c.must(tb, err)
	return name
}

func (c *Client) must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Add puts an object, or deletes its key where it is a delete marker. It
// honours Key, Body, Class, Tags and Marker; the rest is the server's to say.
func (c *Client) Add(tb testing.TB, bucket string, o storetest.Object) {
	tb.Helper()
	if o.Marker {
		_, err := c.S3.DeleteObject(tb.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: &o.Key})
		c.must(tb, err)
		return
	}
	in := &s3.PutObjectInput{Bucket: &bucket, Key: &o.Key, Body: bytes.NewReader(o.Body), StorageClass: types.StorageClass(o.Class)}
	if len(o.Tags) > 0 {
		tags := url.Values{}
		for k, v := range o.Tags {
			tags.Set(k, v)
		}
		// RGW takes "+" for what it is.
		in.Tagging = aws.String(strings.ReplaceAll(tags.Encode(), "+", "%20"))
	}
	_, err := c.S3.PutObject(tb.Context(), in)
	c.must(tb, err)
}

// Fill puts contents into a bucket.
func (c *Client) Fill(tb testing.TB, bucket string, in storetest.Contents) {
	tb.Helper()
	if in.Versioning != "" {
		c.SetVersioning(tb, bucket, "Enabled")
	}
	for _, o := range in.Objects {
		c.Add(tb, bucket, o)
	}
	if in.Versioning == "Suspended" {
		c.SetVersioning(tb, bucket, in.Versioning)
	}
	if in.Lifecycle != nil {
		c.SetLifecycle(tb, bucket, in.Lifecycle)
	}
}

// SetVersioning sets a bucket's versioning to "Enabled" or "Suspended".
func (c *Client) SetVersioning(tb testing.TB, bucket, status string) {
	tb.Helper()
	_, err := c.S3.PutBucketVersioning(tb.Context(), &s3.PutBucketVersioningInput{
		Bucket: &bucket, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatus(status)},
	})
	c.must(tb, err)
}

// SetPolicy sets a bucket's policy, as JSON.
func (c *Client) SetPolicy(tb testing.TB, bucket, policy string) {
	tb.Helper()
	_, err := c.S3.PutBucketPolicy(tb.Context(), &s3.PutBucketPolicyInput{Bucket: &bucket, Policy: &policy})
	c.must(tb, err)
}

// SetLifecycle sets a bucket's lifecycle configuration to this very XML, which
// the SDK would rewrite.
func (c *Client) SetLifecycle(tb testing.TB, bucket string, doc []byte) {
	tb.Helper()
	c.must(tb, xml.Unmarshal(doc, new(struct{})))
	c.must(tb, c.put(tb.Context(), "/"+bucket+"?lifecycle", doc))
}

// ClearLifecycle takes a bucket's lifecycle configuration away.
func (c *Client) ClearLifecycle(tb testing.TB, bucket string) {
	tb.Helper()
	_, err := c.S3.DeleteBucketLifecycle(tb.Context(), &s3.DeleteBucketLifecycleInput{Bucket: &bucket})
	c.must(tb, err)
}

// put sends a signed PUT request.
func (c *Client) put(ctx context.Context, path string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, c.endpoint+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", hash)
	md := md5.Sum(body)
	req.Header.Set("Content-Md5", base64.StdEncoding.EncodeToString(md[:])) // lifecycle demands it
	creds := aws.Credentials{AccessKeyID: c.AccessKey, SecretAccessKey: c.SecretKey}
	if err := v4.NewSigner().SignHTTP(ctx, creds, req, hash, "s3", "us-east-1", time.Now()); err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		var said bytes.Buffer
		_, _ = said.ReadFrom(resp.Body)
		return fmt.Errorf("PUT %s: %s: %s", path, resp.Status, said.String())
	}
	return nil
}

// Digest describes every version in a bucket and the bucket's configuration,
// through calls of its own.
func (c *Client) Digest(tb testing.TB, bucket string) string {
	tb.Helper()
	var s strings.Builder
	pages := s3.NewListObjectVersionsPaginator(c.S3, &s3.ListObjectVersionsInput{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(tb.Context())
		c.must(tb, err)
		for _, v := range page.Versions {
			fmt.Fprintf(&s, "%q %s %v %d %s\n", *v.Key, *v.VersionId, *v.LastModified, *v.Size, *v.ETag)
		}
		for _, m := range page.DeleteMarkers {
			fmt.Fprintf(&s, "%q %s %v marker\n", *m.Key, *m.VersionId, *m.LastModified)
		}
	}
	v, err := c.S3.GetBucketVersioning(tb.Context(), &s3.GetBucketVersioningInput{Bucket: &bucket})
	c.must(tb, err)
	l, err := c.S3.GetBucketLifecycleConfiguration(tb.Context(), &s3.GetBucketLifecycleConfigurationInput{Bucket: &bucket})
	if err == nil {
		for _, r := range l.Rules {
			fmt.Fprintf(&s, "rule %s %s\n", aws.ToString(r.ID), r.Status)
		}
	}
	fmt.Fprintf(&s, "versioning %s", v.Status)
	return s.String()
}

package rgwtest_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"backstop/store/storetest"
	"backstop/store/storetest/rgwtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	rgwtest.Stop()
	os.Exit(code)
}

// contents are what both servers hold when they are probed.
var contents = map[string]storetest.Contents{
	"plain": {Objects: []storetest.Object{
		{Key: "a-b", Body: []byte("1")}, {Key: "a/1", Body: []byte("0123456789"), Tags: map[string]string{"k": "v w", "e": ""}},
		{Key: "a/2", Body: []byte("22")}, {Key: "a/b/3", Body: []byte("3")}, {Key: "b c+é%", Body: []byte("4")}, {Key: "c", Body: []byte{}},
	}},
	"versioned": {
		Versioning: "Enabled",
		Lifecycle: []byte(`<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Rule><ID>r</ID><Filter><Prefix>x/</Prefix></Filter>` +
			`<Status>Enabled</Status><Expiration><Days>3</Days></Expiration></Rule></LifecycleConfiguration>`),
		Objects: []storetest.Object{
			{Key: "a", Body: []byte("1")}, {Key: "a", Body: []byte("22")}, {Key: "b", Body: []byte("3")}, {Key: "b", Marker: true}, {Key: "c", Body: []byte("4")},
		},
	},
	"suspended": {Versioning: "Suspended", Objects: []storetest.Object{{Key: "a", Body: []byte("1")}}},
}

// A server is one to probe.
type server struct {
	endpoint string
	client   *rgwtest.Client
	buckets  map[string]string // the real names
}

// probes ask what an auditor may ask. What comes back is put into one line.
var probes = map[string]func(context.Context, server) string{
	"HeadBucket":             func(ctx context.Context, s server) string { return s.raw(ctx, "HEAD", "plain", "") },
	"HeadBucket, none":       func(ctx context.Context, s server) string { return s.raw(ctx, "HEAD", "none", "") },
	"GetBucketLocation":      func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain", "?location") },
	"versioning, never":      func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain", "?versioning") },
	"versioning, on":         func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "versioned", "?versioning") },
	"versioning, suspended":  func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "suspended", "?versioning") },
	"lifecycle, none":        func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain", "?lifecycle") },
	"lifecycle":              func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "versioned", "?lifecycle") },
	"lifecycle, no bucket":   func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "none", "?lifecycle") },
	"tags":                   func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain/a/1", "?tagging") },
	"tags, none":             func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain/a/2", "?tagging") },
	"tags, no object":        func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain/zz", "?tagging") },
	"encryption":             func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain", "?encryption") },
	"object lock, none":      func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain", "?object-lock") },
	"object lock, no bucket": func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "none", "?object-lock") },
	"public access, none":    func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain", "?publicAccessBlock") },
	"policy status, none":    func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain", "?policyStatus") },
	"uploads, none":          func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain", "?uploads") },
	"ownershipControls":      func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain", "?ownershipControls") },
	"replication":            func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain", "?replication") },
	"intelligent-tiering":    func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain", "?intelligent-tiering") },
	"attributes":             func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "plain/a/1", "?attributes") },
	"list, no bucket":        func(ctx context.Context, s server) string { return s.raw(ctx, "GET", "none", "?list-type=2") },
	"list, a strange encoding": func(ctx context.Context, s server) string {
		return s.raw(ctx, "GET", "plain", "?encoding-type=rot13&list-type=2")
	},
	"get":                     func(ctx context.Context, s server) string { return s.get(ctx, "plain/a/1", nil) },
	"get, empty":              func(ctx context.Context, s server) string { return s.get(ctx, "plain/c", nil) },
	"get, odd key":            func(ctx context.Context, s server) string { return s.get(ctx, "plain/b c+é%", nil) },
	"get, no object":          func(ctx context.Context, s server) string { return s.get(ctx, "plain/zz", nil) },
	"get, no bucket":          func(ctx context.Context, s server) string { return s.get(ctx, "none/zz", nil) },
	"get, deleted":            func(ctx context.Context, s server) string { return s.get(ctx, "versioned/b", nil) },
	"head":                    func(ctx context.Context, s server) string { return s.raw(ctx, "HEAD", "plain/a/1", "") },
	"head, no object":         func(ctx context.Context, s server) string { return s.raw(ctx, "HEAD", "plain/zz", "") },
	"get, unsigned":           func(ctx context.Context, s server) string { return s.unsigned(ctx, "plain/a/1") },
	"list, unsigned":          func(ctx context.Context, s server) string { return s.unsigned(ctx, "plain?list-type=2") },
	"range, first":            ranged("bytes=0-3"),
	"range, from":             ranged("bytes=7-"),
	"range, last":             ranged("bytes=-2"),
	"range, last of too many": ranged("bytes=-99"),
	"range, beyond":           ranged("bytes=4-99"),
	"range, outside":          ranged("bytes=10-"),
	"range, backwards":        ranged("bytes=5-2"),
	"range, not of bytes":     ranged("lines=1-2"),
	"condition, the ETag": func(ctx context.Context, s server) string {
		return s.get(ctx, "plain/a/1", func(in *s3.GetObjectInput) { in.IfNoneMatch = aws.String(`"781e5e245d69b566979b86e28d23f2c7"`) })
	},
	"condition, another ETag": func(ctx context.Context, s server) string {
		return s.get(ctx, "plain/a/1", func(in *s3.GetObjectInput) { in.IfNoneMatch = aws.String(`"0"`) })
	},
	"condition, changed since": func(ctx context.Context, s server) string {
		return s.get(ctx, "plain/a/1", func(in *s3.GetObjectInput) { in.IfModifiedSince = aws.Time(time.Unix(0, 0)) })
	},
	"get, the older version": func(ctx context.Context, s server) string {
		return s.get(ctx, "versioned/a", func(in *s3.GetObjectInput) { in.VersionId = aws.String(s.version(ctx, "a", 1)) })
	},
	"get, a delete marker": func(ctx context.Context, s server) string {
		return s.get(ctx, "versioned/b", func(in *s3.GetObjectInput) { in.VersionId = aws.String(s.version(ctx, "b", 0)) })
	},
	"get, a version that is none": func(ctx context.Context, s server) string {
		return s.get(ctx, "versioned/a", func(in *s3.GetObjectInput) { in.VersionId = aws.String(s.version(ctx, "c", 0)) })
	},
	"list":                          listed(s3.ListObjectsV2Input{}),
	"list, pages of 1":              listed(s3.ListObjectsV2Input{MaxKeys: aws.Int32(1)}),
	"list, pages of 4":              listed(s3.ListObjectsV2Input{MaxKeys: aws.Int32(4)}),
	"list, nothing of it":           listed(s3.ListObjectsV2Input{MaxKeys: aws.Int32(0)}),
	"list, encoded":                 listed(s3.ListObjectsV2Input{EncodingType: types.EncodingTypeUrl}),
	"list, prefix":                  listed(s3.ListObjectsV2Input{Prefix: aws.String("a")}),
	"list, delimiter":               listed(s3.ListObjectsV2Input{Delimiter: aws.String("/")}),
	"list, delimiter, pages of 1":   listed(s3.ListObjectsV2Input{Delimiter: aws.String("/"), MaxKeys: aws.Int32(1)}),
	"list, delimiter, pages of 2":   listed(s3.ListObjectsV2Input{Delimiter: aws.String("/"), MaxKeys: aws.Int32(2)}),
	"list, prefix, delimiter":       listed(s3.ListObjectsV2Input{Delimiter: aws.String("/"), Prefix: aws.String("a/")}),
	"list, another delimiter":       listed(s3.ListObjectsV2Input{Delimiter: aws.String("b")}),
	"list, start after a key":       listed(s3.ListObjectsV2Input{StartAfter: aws.String("a/2")}),
	"list, start after no key":      listed(s3.ListObjectsV2Input{StartAfter: aws.String("a/1x")}),
	"list, start after, in pages":   listed(s3.ListObjectsV2Input{StartAfter: aws.String("a-b"), MaxKeys: aws.Int32(2)}),
	"list, start after, in a group": listed(s3.ListObjectsV2Input{StartAfter: aws.String("a/1"), Delimiter: aws.String("/")}),
	"list, start after a group":     listed(s3.ListObjectsV2Input{StartAfter: aws.String("a/"), Delimiter: aws.String("/")}),
	"list, start before the prefix": listed(s3.ListObjectsV2Input{StartAfter: aws.String("a-b"), Prefix: aws.String("b")}),
	"versions":                      versions("versioned", 1000),
	"versions, pages of 1":          versions("versioned", 1),
	"versions, pages of 2":          versions("versioned", 2),
	"versions, pages of 3":          versions("versioned", 3),
	"versions, never versioned":     versions("plain", 1000),
	"versions, suspended":           versions("suspended", 1000),
	"versions, a prefix": func(ctx context.Context, s server) string {
		return s.raw(ctx, "GET", "versioned", "?prefix=c&versions")
	},
	"versions, after a key": func(ctx context.Context, s server) string {
		return s.raw(ctx, "GET", "versioned", "?key-marker=b&versions")
	},
	"versions, after a key not there": func(ctx context.Context, s server) string {
		return s.raw(ctx, "GET", "versioned", "?key-marker=bb&versions")
	},
}

// deviations are where Ceph 16.2.15 answers in another way than the fake, which
// answers as AWS documents it, or with 501 where the auditor has nothing to
// ask. A deviation that is gone fails the test as well.
var deviations = map[string]string{
	// It ignores sub-resources that it does not know, and answers as if they
	// were not there.
	"encryption":          listing,
	"ownershipControls":   listing,
	"intelligent-tiering": listing,
	"attributes":          "200 ", // the object itself
	"replication":         "200 ReplicationConfiguration",
	"public access, none": "200 BlockPublicAccessBlockConfiguration", // four times false
	"policy status, none": "200 PolicyStatus",                        // not public

	"GetBucketLocation":           "200 LocationConstraint default",
	"get, a delete marker":        "404 NoSuchKey",
	"get, a version that is none": "404 NoSuchKey",
	"list, a strange encoding":    listing,
	// It escapes slashes too, and a space as %20.
	"list, encoded":       "a-b(1) a%2F1(10) a%2F2(2) a%2Fb%2F3(1) b%20c%2B%C3%A9%25(1) c(0) #6",
	"range, backwards":    "416 InvalidRange",
	"range, not of bytes": `"0123456789" <nil> length 10 etag "781e5e245d69b566979b86e28d23f2c7" range "bytes 0-9/10" class "" versioned false tags 2`,
	// Without a version marker the key of the marker is listed again.
	"versions, after a key": "200 ListVersionsResult false DeleteMarker b IsLatest true Version b IsLatest false Version c IsLatest true",
}

const listing = "200 ListBucketResult false Contents a-b Contents a/1 Contents a/2 Contents a/b/3 Contents b c+é% Contents c"

// TestProbe keeps the fake honest: a real server must answer the same.
func TestProbe(t *testing.T) {
	g := rgwtest.Shared(t)
	f := storetest.NewFake(time.Now)
	real := server{endpoint: g.Endpoint, client: g.Client(), buckets: map[string]string{"none": "none"}}
	fake := server{endpoint: f.URL(t), buckets: map[string]string{"none": "none", "plain": "plain", "versioned": "versioned", "suspended": "suspended"}}
	fake.client = rgwtest.ClientOf(fake.endpoint, "k", "s")
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		real.buckets[name] = real.client.Bucket(t)
		real.client.Fill(t, real.buckets[name], contents[name])
		b := f.CreateBucket(name)
		b.SetContents(contents[name])
	}
	before, realBefore := f.Digest(), real.client.Digest(t, real.buckets["versioned"])
	for _, name := range slices.Sorted(maps.Keys(probes)) {
		t.Run(name, func(t *testing.T) {
			ours, theirs := probes[name](t.Context(), fake), probes[name](t.Context(), real)
			if want, known := deviations[name]; known {
				if theirs != want || ours == theirs {
					t.Errorf("the deviation is another, or gone:\nfake %s\nRGW  %s\nwant %s", ours, theirs, want)
				}
				return
			}
			if ours != theirs {
				t.Errorf("they differ:\nfake %s\nRGW  %s", ours, theirs)
			}
		})
	}
	if f.Digest() != before || real.client.Digest(t, real.buckets["versioned"]) != realBefore {
		t.Error("looking changed a bucket")
	}
}

// path puts the real name of the bucket into "bucket/key".
func (s server) path(p string) (bucket, key string) {
	b, key, _ := strings.Cut(p, "/")
	return s.buckets[b], key
}

// raw sends a signed request, and gives the status and what in the body the
// servers can agree on.
func (s server) raw(ctx context.Context, method, path, query string) string {
	bucket, key := s.path(path)
	return s.send(ctx, method, bucket+"/"+key+query, true)
}

func (s server) unsigned(ctx context.Context, path string) string {
	path, query, ok := strings.Cut(path, "?")
	if ok {
		query = "?" + query
	}
	bucket, key := s.path(path)
	return s.send(ctx, "GET", bucket+"/"+key+query, false)
}

func (s server) send(ctx context.Context, method, path string, sign bool) string {
	req, err := http.NewRequestWithContext(ctx, method, s.endpoint+"/"+path, nil)
	if err != nil {
		return err.Error()
	}
	if sign {
		const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
		req.Header.Set("X-Amz-Content-Sha256", empty)
		creds := aws.Credentials{AccessKeyID: s.client.AccessKey, SecretAccessKey: s.client.SecretKey}
		if err := v4.NewSigner().SignHTTP(ctx, creds, req, empty, "s3", "us-east-1", time.Now()); err != nil {
			return err.Error()
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	out := fmt.Sprint(resp.StatusCode)
	if method == "HEAD" {
		return out
	}
	return out + " " + outline(body)
}

// outline gives the structure of an XML document, with the texts that two
// servers can agree on.
func outline(doc []byte) string {
	var out []string
	d := xml.NewDecoder(bytes.NewReader(doc))
	element := ""
	for {
		token, err := d.Token()
		switch token := token.(type) {
		case nil:
			if err != io.EOF {
				out = append(out, err.Error())
			}
			return strings.Join(out, " ")
		case xml.StartElement:
			element = token.Name.Local
			switch element {
			case "Error", "Version", "DeleteMarker", "Contents", "Rule", "Tag", "IsLatest", "Status", "LocationConstraint":
				out = append(out, element)
			default:
				if len(out) == 0 {
					out = append(out, element)
				}
			}
		case xml.CharData:
			switch element {
			case "Code", "Key", "Value", "IsLatest", "Status", "Days", "IsTruncated", "LocationConstraint":
				out = append(out, string(token))
			}
			element = ""
		}
	}
}

func (s server) get(ctx context.Context, path string, change func(*s3.GetObjectInput)) string {
	bucket, key := s.path(path)
	in := &s3.GetObjectInput{Bucket: &bucket, Key: &key}
	if change != nil {
		change(in)
	}
	out, err := s.client.S3.GetObject(ctx, in)
	if err != nil {
		return failure(err)
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	return fmt.Sprintf("%q %v length %d etag %s range %q class %q versioned %t tags %d", body, err, aws.ToInt64(out.ContentLength), aws.ToString(out.ETag),
		aws.ToString(out.ContentRange), out.StorageClass, out.VersionId != nil, aws.ToInt32(out.TagCount))
}

func ranged(r string) func(context.Context, server) string {
	return func(ctx context.Context, s server) string {
		return s.get(ctx, "plain/a/1", func(in *s3.GetObjectInput) { in.Range = &r })
	}
}

// failure gives the status and the code of an error.
func failure(err error) string {
	var status *smithyhttp.ResponseError
	var api smithy.APIError
	if !errors.As(err, &status) || !errors.As(err, &api) {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", status.HTTPStatusCode(), api.ErrorCode())
}

// listed lists page by page.
func listed(in s3.ListObjectsV2Input) func(context.Context, server) string {
	return func(ctx context.Context, s server) string {
		bucket := s.buckets["plain"]
		in.Bucket, in.ContinuationToken = &bucket, nil
		var pages []string
		for len(pages) < 20 {
			out, err := s.client.S3.ListObjectsV2(ctx, &in)
			if err != nil {
				return failure(err)
			}
			var page []string
			for _, o := range out.Contents {
				page = append(page, fmt.Sprintf("%s(%d)", *o.Key, *o.Size))
			}
			for _, p := range out.CommonPrefixes {
				page = append(page, *p.Prefix+"*")
			}
			pages = append(pages, strings.Join(page, " ")+fmt.Sprintf(" #%d", aws.ToInt32(out.KeyCount)))
			if !aws.ToBool(out.IsTruncated) {
				break
			}
			in.ContinuationToken = out.NextContinuationToken
		}
		return strings.Join(pages, " | ")
	}
}

// versions lists versions page by page.
func versions(bucket string, size int32) func(context.Context, server) string {
	return func(ctx context.Context, s server) string {
		name := s.buckets[bucket]
		in := &s3.ListObjectVersionsInput{Bucket: &name, MaxKeys: &size}
		var pages []string
		for len(pages) < 20 {
			out, err := s.client.S3.ListObjectVersions(ctx, in)
			if err != nil {
				return failure(err)
			}
			var page []string
			for _, v := range out.Versions {
				page = append(page, fmt.Sprintf("%s(%d latest %t null %t)", *v.Key, *v.Size, *v.IsLatest, *v.VersionId == "null"))
			}
			for _, m := range out.DeleteMarkers {
				page = append(page, fmt.Sprintf("%s(marker latest %t)", *m.Key, *m.IsLatest))
			}
			pages = append(pages, strings.Join(page, " "))
			if !aws.ToBool(out.IsTruncated) {
				break
			}
			in.KeyMarker, in.VersionIdMarker = out.NextKeyMarker, out.NextVersionIdMarker
		}
		return strings.Join(pages, " | ")
	}
}

// version gives the id of the nth version of a key in "versioned", delete
// markers before the others.
func (s server) version(ctx context.Context, key string, n int) string {
	name := s.buckets["versioned"]
	out, err := s.client.S3.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: &name, Prefix: &key})
	if err != nil {
		return err.Error()
	}
	var ids []string
	for _, m := range out.DeleteMarkers {
		ids = append(ids, *m.VersionId)
	}
	for _, v := range out.Versions {
		ids = append(ids, *v.VersionId)
	}
	return ids[n]
}

package store

import (
	"context"
	"encoding/xml"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"backstop/audit"
)

// Get implements [Bucket]. It is one request without conditions: asking first
// whether the object exists, and then for it, can fall between two writes.
func (s *S3) Get(ctx context.Context, key string, limit int64) (audit.Document, error) {
	q := query{op: "get object", object: s.URL(key), action: Actions["Get"][0], missing: "NoSuchKey"}
	return call(ctx, s, q, func(ctx context.Context, a *answer, opt func(*s3.Options)) (audit.Document, error) {
		out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &key}, opt)
		if why := a.unreadable(); why != "" {
			return audit.Document{Object: audit.Object{Key: key, StorageClass: a.refusal.StorageClass}, Unreadable: why}, nil
		}
		if err != nil {
			return audit.Document{}, err
		}
		defer func() { _ = out.Body.Close() }() // what was read is checked below
		if out.LastModified == nil {
			// A proxy's page of its own has none.
			return audit.Document{}, faultf(audit.CauseForeign, "it has no Last-Modified, so it is no object")
		}
		if a.length > limit {
			return audit.Document{}, faultf(audit.CauseTooBig, "%d bytes, of which at most %d are read", a.length, limit)
		}
		body, err := io.ReadAll(io.LimitReader(out.Body, limit+1))
		switch {
		case err != nil:
			return audit.Document{}, err
		case int64(len(body)) > limit:
			return audit.Document{}, faultf(audit.CauseTooBig, "more than %d bytes", limit)
		case !a.bounded:
			return audit.Document{}, faultf(audit.CauseMalformed, "it does not say how long it is, so it may have been cut short")
		case a.length >= 0 && a.length != int64(len(body)):
			return audit.Document{}, faultf(audit.CauseMalformed, "%d bytes of %d", len(body), a.length)
		}
		return audit.Document{
			Object: audit.Object{
				Key: key, Size: int64(len(body)), LastModified: out.LastModified.UTC(),
				ETag: unquote(aws.ToString(out.ETag)), StorageClass: class(string(out.StorageClass)),
			},
			VersionID: aws.ToString(out.VersionId), Body: body, Expiration: aws.ToString(out.Expiration),
		}, nil
	})
}

// Tags implements [Bucket].
func (s *S3) Tags(ctx context.Context, key string) (map[string]string, error) {
	q := query{op: "get object tags", object: s.URL(key), action: Actions["Tags"][0], root: "Tagging", missing: "NoSuchKey"}
	return call(ctx, s, q, func(ctx context.Context, a *answer, opt func(*s3.Options)) (map[string]string, error) {
		out, err := s.client.GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: &s.bucket, Key: &key}, opt)
		if a.refusal.Code == "NoSuchTagSet" {
			return map[string]string{}, nil // how some servers say that there are none
		}
		if err != nil {
			return nil, err
		}
		tags := make(map[string]string, len(out.TagSet))
		for _, t := range out.TagSet {
			tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
		}
		return tags, nil
	})
}

// Versioning implements [Bucket].
func (s *S3) Versioning(ctx context.Context) (Versioning, error) {
	q := query{op: "get bucket versioning", object: s.URL(""), action: Actions["Versioning"][0], root: "VersioningConfiguration"}
	return call(ctx, s, q, func(ctx context.Context, _ *answer, opt func(*s3.Options)) (Versioning, error) {
		out, err := s.client.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &s.bucket}, opt)
		if err != nil {
			return Versioning{}, err
		}
		return versioningOf(string(out.Status), string(out.MFADelete))
	})
}

// Lifecycle implements [Bucket].
func (s *S3) Lifecycle(ctx context.Context) (Lifecycle, error) {
	q := query{
		op: "get bucket lifecycle", object: s.URL(""), action: Actions["Lifecycle"][0],
		root: "LifecycleConfiguration", missing: "NoSuchLifecycleConfiguration",
	}
	return call(ctx, s, q, func(ctx context.Context, a *answer, opt func(*s3.Options)) (Lifecycle, error) {
		_, err := s.client.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: &s.bucket}, opt)
		// The SDK's reading is not used: a date that it cannot parse must not
		// hide the rules.
		if err != nil && !a.whole {
			return Lifecycle{}, err
		}
		var doc struct {
			Rules []struct{} `xml:"Rule"`
		}
		if err := xml.Unmarshal(a.body, &doc); err != nil {
			return Lifecycle{}, faultf(audit.CauseMalformed, "%w", err)
		}
		if len(doc.Rules) == 0 {
			// Without rules a bucket has no configuration, and S3 says so
			// with 404; a server that does not know the call may say this.
			return Lifecycle{}, faultf(audit.CauseForeign, "answered 200 without a rule")
		}
		return Lifecycle{Body: a.body, TransitionSizeDefault: a.header.Get("X-Amz-Transition-Default-Minimum-Object-Size")}, nil
	})
}

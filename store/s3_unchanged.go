package store

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"backstop/audit"
)

// Unchanged implements [Bucket].
func (s *S3) Unchanged(ctx context.Context, seen audit.Object) (bool, error) {
	q := query{op: "get object", object: s.URL(seen.Key), action: Actions["Unchanged"][0], missing: "NoSuchKey"}
	return call(ctx, s, q, func(ctx context.Context, a *answer, opt func(*s3.Options)) (bool, error) {
		in := &s3.GetObjectInput{Bucket: &s.bucket, Key: &seen.Key}
		if seen.ETag != "" {
			in.IfNoneMatch = aws.String(`"` + seen.ETag + `"`)
		}
		out, err := s.client.GetObject(ctx, in, opt)
		switch {
		case a.status == http.StatusNotModified:
			return true, nil
		case a.unreadable() != "":
			return false, nil
		case err != nil:
			return false, err
		}
		defer func() { _ = out.Body.Close() }() // nothing of it is wanted
		if out.LastModified == nil {
			return false, faultf(audit.CauseForeign, "it has no Last-Modified, so it is no object")
		}
		// A server that knows no conditions answers with the object itself.
		return seen.ETag != "" && unquote(aws.ToString(out.ETag)) == seen.ETag && out.LastModified.Equal(seen.LastModified), nil
	})
}

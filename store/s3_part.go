package store

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"backstop/audit"
)

// Part implements [Bucket].
func (s *S3) Part(ctx context.Context, in PartInput) (audit.Document, error) {
	q := query{op: "get part of object", object: s.URL(in.Key), action: Actions["Part"][0], missing: "NoSuchKey"}
	return call(ctx, s, q, func(ctx context.Context, a *answer, opt func(*s3.Options)) (audit.Document, error) {
		a.partial = true
		out, err := s.client.GetObject(ctx, in.request(s.bucket), opt)
		if why := a.unreadable(); why != "" {
			return audit.Document{Object: audit.Object{Key: in.Key, StorageClass: a.refusal.StorageClass}, Unreadable: why}, nil
		}
		if a.status == http.StatusPreconditionFailed {
			err = faultf(audit.CauseOther, "it has been written again since (its ETag is no longer %s)", in.ETag)
		}
		if err != nil {
			return audit.Document{}, err
		}
		defer func() { _ = out.Body.Close() }() // what was read is checked below
		if out.LastModified == nil {
			return audit.Document{}, faultf(audit.CauseForeign, "it has no Last-Modified, so it is no object")
		}
		size, want, err := in.expect(a)
		if err != nil {
			return audit.Document{}, err
		}
		body, err := io.ReadAll(io.LimitReader(out.Body, want))
		switch {
		case err != nil:
			return audit.Document{}, err
		case int64(len(body)) != want:
			return audit.Document{}, faultf(audit.CauseMalformed, "%d bytes of %d", len(body), want)
		}
		return audit.Document{
			Object: audit.Object{
				Key: in.Key, Size: size, LastModified: out.LastModified.UTC(),
				ETag: unquote(aws.ToString(out.ETag)), StorageClass: class(string(out.StorageClass)),
			},
			VersionID: aws.ToString(out.VersionId), Body: body, Expiration: aws.ToString(out.Expiration),
		}, nil
	})
}

func (in PartInput) request(bucket string) *s3.GetObjectInput {
	out := &s3.GetObjectInput{Bucket: &bucket, Key: &in.Key, Range: aws.String(fmt.Sprintf("bytes=%d-%d", in.From, in.From+in.Length-1))}
	if in.From < 0 {
		out.Range = aws.String(fmt.Sprintf("bytes=%d", in.From))
	}
	if in.ETag != "" {
		out.IfMatch = aws.String(`"` + in.ETag + `"`)
	}
	return out
}

// expect says how long the whole object is, and how much of it the answer must
// hold. A server that knows no ranges sends all of it, of which the first bytes can
// be used.
func (in PartInput) expect(a *answer) (size, want int64, err error) {
	if a.status != http.StatusPartialContent {
		switch {
		case a.length < 0:
			return 0, 0, faultf(audit.CauseMalformed, "it does not say how long it is, so it may have been cut short")
		case in.From == 0:
			return a.length, min(a.length, in.Length), nil
		case -in.From >= a.length && in.From < 0:
			return a.length, a.length, nil // all of it was asked for
		}
		return 0, 0, faultf(audit.CauseForeign, "a part was asked for, and the whole object is answered")
	}
	var from, last int64
	said := a.header.Get("Content-Range")
	if _, err := fmt.Sscanf(said, "bytes %d-%d/%d", &from, &last, &size); err != nil {
		return 0, 0, faultf(audit.CauseForeign, "its Content-Range is %s", strconv.Quote(said))
	}
	first, end := in.From, min(in.From+in.Length, size)
	if in.From < 0 {
		first, end = max(0, size+in.From), size
	}
	if from != first || last != end-1 || from > last {
		return 0, 0, faultf(audit.CauseForeign, "its Content-Range is %s, and bytes %d to %d were asked for", strconv.Quote(said), first, end-1)
	}
	return size, end - first, nil
}

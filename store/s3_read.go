package store

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"backstop/audit"
)

// maxEmptyPages bounds how many pages without anything in them a listing may
// have in a row. AWS and Ceph send such pages, as when much was deleted; a
// server that never stops to send them must not hold us for ever.
const maxEmptyPages = 100

// List implements [Bucket].
func (s *S3) List(ctx context.Context, in ListInput) iter.Seq2[audit.Object, error] {
	return func(yield func(audit.Object, error) bool) {
		q := query{op: "list objects", object: s.URL(in.Prefix), action: Actions["List"][0], root: "ListBucketResult"}
		last, empty := in.StartAfter, 0
		var token *string
		for {
			page, err := s.listPage(ctx, q, in, token)
			if err != nil {
				yield(audit.Object{}, err)
				return
			}
			for _, o := range page.objects {
				if !strings.HasPrefix(o.Key, in.Prefix) || o.Key <= last {
					yield(audit.Object{}, q.wrong("the key %q is out of order or was not asked for", o.Key))
					return
				}
				last = o.Key
				if !yield(o, nil) {
					return
				}
			}
			if !page.more {
				return
			}
			if len(page.objects) > 0 {
				empty = 0
			} else if empty++; empty > maxEmptyPages {
				yield(audit.Object{}, q.wrong("%d pages in a row were empty", empty))
				return
			}
			if page.next == "" || token != nil && page.next == *token {
				yield(audit.Object{}, q.wrong("it says that there is more, but the continuation token does not move"))
				return
			}
			token = &page.next
		}
	}
}

// wrong is the error of a listing that contradicts itself.
func (q query) wrong(format string, args ...any) *Error {
	return &Error{
		Op: q.op, Object: q.object, Permission: q.action, Status: http.StatusOK, Attempts: 1,
		Cause: audit.CauseMalformed, Err: fmt.Errorf("a wrong listing: "+format, args...),
	}
}

type listPage struct {
	objects []audit.Object
	more    bool
	next    string
}

func (s *S3) listPage(ctx context.Context, q query, in ListInput, token *string) (listPage, error) {
	return call(ctx, s, q, func(ctx context.Context, _ *answer, opt func(*s3.Options)) (listPage, error) {
		req := &s3.ListObjectsV2Input{Bucket: &s.bucket, ContinuationToken: token, EncodingType: types.EncodingTypeUrl}
		if in.Prefix != "" {
			req.Prefix = &in.Prefix
		}
		if in.StartAfter != "" && token == nil {
			req.StartAfter = &in.StartAfter
		}
		out, err := s.client.ListObjectsV2(ctx, req, opt)
		if err != nil {
			return listPage{}, err
		}
		if out.IsTruncated == nil {
			return listPage{}, faultf(audit.CauseMalformed, "it does not say whether there is more")
		}
		if len(out.CommonPrefixes) > 0 {
			return listPage{}, faultf(audit.CauseForeign, "it has common prefixes, though no delimiter was given")
		}
		page := listPage{more: *out.IsTruncated, next: aws.ToString(out.NextContinuationToken)}
		for _, o := range out.Contents {
			key, err := decodeKey(aws.ToString(o.Key), string(out.EncodingType))
			if err != nil {
				return listPage{}, err
			}
			if key == "" || o.LastModified == nil || o.Size == nil {
				return listPage{}, faultf(audit.CauseMalformed, "an entry lacks its key, size or time")
			}
			page.objects = append(page.objects, audit.Object{
				Key: key, Size: *o.Size, LastModified: o.LastModified.UTC(),
				ETag: unquote(aws.ToString(o.ETag)), StorageClass: class(string(o.StorageClass)),
			})
		}
		return page, nil
	})
}

// decodeKey undoes the encoding that was asked for, where the answer says that
// it was applied: some servers ignore the wish.
func decodeKey(key, encoding string) (string, error) {
	if encoding != string(types.EncodingTypeUrl) {
		return key, nil
	}
	k, err := url.QueryUnescape(key)
	if err != nil {
		return "", faultf(audit.CauseMalformed, "the key %q is not URL-encoded, as the answer says it is", key)
	}
	return k, nil
}

func unquote(etag string) string { return strings.Trim(etag, `"`) }

// class gives a storage class as audit.Object has it, with STANDARD left out.
func class(c string) string {
	if c == string(types.StorageClassStandard) {
		return ""
	}
	return c
}

// versionsPage is a page of versions. The SDK's has versions and delete
// markers in two lists, which loses their order within a key.
type versionsPage struct {
	IsTruncated         *bool          `xml:"IsTruncated"`
	NextKeyMarker       string         `xml:"NextKeyMarker"`
	NextVersionIDMarker string         `xml:"NextVersionIdMarker"`
	EncodingType        string         `xml:"EncodingType"`
	CommonPrefixes      []struct{}     `xml:"CommonPrefixes"`
	Entries             []versionEntry `xml:",any"` // in the document's order
}

type versionEntry struct {
	XMLName      xml.Name
	Key          string    `xml:"Key"`
	VersionID    string    `xml:"VersionId"`
	IsLatest     bool      `xml:"IsLatest"`
	LastModified time.Time `xml:"LastModified"`
	ETag         string    `xml:"ETag"`
	Size         int64     `xml:"Size"`
	StorageClass string    `xml:"StorageClass"`
}

// ListVersions implements [Bucket].
func (s *S3) ListVersions(ctx context.Context, prefix string) iter.Seq2[audit.Version, error] {
	return func(yield func(audit.Version, error) bool) {
		q := query{op: "list object versions", object: s.URL(prefix), action: Actions["ListVersions"][0], root: "ListVersionsResult"}
		type id struct{ key, version string }
		var (
			at       id
			last     string
			previous map[id]bool
			empty    int
		)
		for {
			page, err := s.versionsPage(ctx, q, prefix, at.key, at.version)
			if err != nil {
				yield(audit.Version{}, err)
				return
			}
			// Some servers repeat the end of a page at the beginning of the
			// next one.
			current, fresh := map[id]bool{}, 0
			for _, v := range page.versions {
				n := id{v.Key, v.VersionID}
				if previous[n] || current[n] {
					continue
				}
				current[n] = true
				fresh++
				if !strings.HasPrefix(v.Key, prefix) || v.Key < last {
					yield(audit.Version{}, q.wrong("the key %q is out of order or was not asked for", v.Key))
					return
				}
				last = v.Key
				if !yield(v, nil) {
					return
				}
			}
			if !page.more {
				return
			}
			next := id{page.nextKey, page.nextVersion}
			if len(page.versions) > 0 {
				empty = 0
			} else if empty++; empty > maxEmptyPages {
				yield(audit.Version{}, q.wrong("%d pages in a row were empty", empty))
				return
			}
			if next.key == "" || next == at || len(page.versions) > 0 && fresh == 0 {
				yield(audit.Version{}, q.wrong("it says that there is more, but the markers do not move"))
				return
			}
			at, previous = next, current
		}
	}
}

type versionList struct {
	versions             []audit.Version
	more                 bool
	nextKey, nextVersion string
}

func (s *S3) versionsPage(ctx context.Context, q query, prefix, key, version string) (versionList, error) {
	return call(ctx, s, q, func(ctx context.Context, a *answer, opt func(*s3.Options)) (versionList, error) {
		req := &s3.ListObjectVersionsInput{Bucket: &s.bucket, EncodingType: types.EncodingTypeUrl}
		if prefix != "" {
			req.Prefix = &prefix
		}
		if key != "" {
			req.KeyMarker = &key
		}
		if version != "" {
			req.VersionIdMarker = &version
		}
		if _, err := s.client.ListObjectVersions(ctx, req, opt); err != nil {
			return versionList{}, err
		}
		return parseVersions(a.body)
	})
}

// parseVersions reads a page of versions.
func parseVersions(body []byte) (versionList, error) {
	var page versionsPage
	if err := xml.Unmarshal(body, &page); err != nil {
		return versionList{}, faultf(audit.CauseMalformed, "%w", err)
	}
	if page.IsTruncated == nil {
		return versionList{}, faultf(audit.CauseMalformed, "it does not say whether there is more")
	}
	if len(page.CommonPrefixes) > 0 {
		return versionList{}, faultf(audit.CauseForeign, "it has common prefixes, though no delimiter was given")
	}
	out := versionList{more: *page.IsTruncated, nextVersion: page.NextVersionIDMarker}
	var err error
	if out.nextKey, err = decodeKey(page.NextKeyMarker, page.EncodingType); err != nil {
		return versionList{}, err
	}
	for _, e := range page.Entries {
		marker := e.XMLName.Local == "DeleteMarker"
		if !marker && e.XMLName.Local != "Version" {
			continue
		}
		key, err := decodeKey(e.Key, page.EncodingType)
		if err != nil {
			return versionList{}, err
		}
		if key == "" || e.VersionID == "" || e.LastModified.IsZero() {
			return versionList{}, faultf(audit.CauseMalformed, "an entry lacks its key, version id or time")
		}
		out.versions = append(out.versions, audit.Version{
			Object: audit.Object{
				Key: key, Size: e.Size, LastModified: e.LastModified.UTC(),
				ETag: unquote(e.ETag), StorageClass: class(e.StorageClass),
			},
			VersionID: e.VersionID, Latest: e.IsLatest, Marker: marker,
		})
	}
	return out, nil
}

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

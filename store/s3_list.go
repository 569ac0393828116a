package store

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

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
		q := query{op: "list objects", object: s.URL(in.Prefix), action: Actions["List"][0], root: objectsRoot, ours: true}
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

// maxFolderPages bounds how many pages of folders are asked for: more folders than
// that are as good a guess as all.
const maxFolderPages = 10

// Folders implements [Bucket].
func (s *S3) Folders(ctx context.Context, prefix string) ([]string, error) {
	q := query{op: "list folders", object: s.URL(prefix), action: Actions["Folders"][0], root: objectsRoot, ours: true}
	req := &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: given(prefix), Delimiter: given("/"), EncodingType: types.EncodingTypeUrl}
	var all []string
	for range maxFolderPages {
		page, err := call(ctx, s, q, func(ctx context.Context, a *answer, opt func(*s3.Options)) (listPage, error) {
			if _, err := s.client.ListObjectsV2(ctx, req, opt); err != nil {
				return listPage{}, err
			}
			return parseFolders(a.body)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, page.folders...)
		if !page.more || page.next == "" || len(page.folders) == 0 {
			break // where objects lie, and no folders, there may be very many
		}
		req.ContinuationToken = &page.next
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// given is nil for a parameter that is empty.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// parseFolders reads a page of common prefixes.
func parseFolders(body []byte) (listPage, error) {
	p, err := readPage(body, objectsRoot)
	if err != nil {
		return listPage{}, err
	}
	out := listPage{next: string(p.nextToken)}
	if out.more, err = p.more(); err != nil {
		return listPage{}, err
	}
	for _, c := range p.prefixes {
		folder, err := p.decode(c)
		if err != nil {
			return listPage{}, err
		}
		out.folders = append(out.folders, folder)
	}
	return out, nil
}

type listPage struct {
	objects []audit.Object
	folders []string
	more    bool
	next    string
}

func (s *S3) listPage(ctx context.Context, q query, in ListInput, token *string) (listPage, error) {
	return call(ctx, s, q, func(ctx context.Context, a *answer, opt func(*s3.Options)) (listPage, error) {
		req := &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: given(in.Prefix), ContinuationToken: token, EncodingType: types.EncodingTypeUrl}
		if token == nil {
			req.StartAfter = given(in.StartAfter)
		}
		if _, err := s.client.ListObjectsV2(ctx, req, opt); err != nil {
			return listPage{}, err
		}
		return parseObjects(a.body)
	})
}

// parseObjects reads a page of objects.
func parseObjects(body []byte) (listPage, error) {
	p, err := readPage(body, objectsRoot)
	if err != nil {
		return listPage{}, err
	}
	out := listPage{next: string(p.nextToken)}
	if out.more, err = p.more(); err != nil {
		return listPage{}, err
	}
	if err = p.whole(); err != nil {
		return listPage{}, err
	}
	out.objects, err = p.objects()
	return out, err
}

func unquote(etag string) string { return strings.Trim(etag, `"`) }

// class gives a storage class as audit.Object has it, with STANDARD left out.
func class(c string) string {
	if c == string(types.StorageClassStandard) {
		return ""
	}
	return c
}

// ListVersions implements [Bucket].
func (s *S3) ListVersions(ctx context.Context, prefix string) iter.Seq2[audit.Version, error] {
	return func(yield func(audit.Version, error) bool) {
		q := query{op: "list object versions", object: s.URL(prefix), action: Actions["ListVersions"][0], root: versionsRoot, ours: true}
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
		req := &s3.ListObjectVersionsInput{
			Bucket: &s.bucket, Prefix: given(prefix), EncodingType: types.EncodingTypeUrl,
			KeyMarker: given(key), VersionIdMarker: given(version),
		}
		if _, err := s.client.ListObjectVersions(ctx, req, opt); err != nil {
			return versionList{}, err
		}
		return parseVersions(a.body)
	})
}

// parseVersions reads a page of versions. The SDK has versions and delete markers
// in two lists, which loses their order within a key.
func parseVersions(body []byte) (versionList, error) {
	p, err := readPage(body, versionsRoot)
	if err != nil {
		return versionList{}, err
	}
	out := versionList{nextVersion: string(p.nextVersionMark)}
	if out.more, err = p.more(); err != nil {
		return versionList{}, err
	}
	if err = p.whole(); err != nil {
		return versionList{}, err
	}
	if out.nextKey, err = p.decode(p.nextKeyMarker); err != nil {
		return versionList{}, err
	}
	out.versions, err = p.versions()
	return out, err
}

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"time"

	"backstop/audit"
	"backstop/store"
)

// A view is a bucket as an auditor sees it. It implements store.Bucket.
type view struct {
	*bucket
	endpoint string
}

func (v *view) List(_ context.Context, in store.ListInput) iter.Seq2[audit.Object, error] {
	return func(yield func(audit.Object, error) bool) {
		for _, s := range v.below(in.Prefix) {
			if s.key > in.StartAfter && !s.versions[0].Marker && !yield(s.versions[0].Object, nil) {
				return
			}
		}
	}
}

// Folders gives none: nothing is gained by dividing a listing in memory.
func (v *view) Folders(context.Context, string) ([]string, error) { return nil, nil }

func (v *view) ListVersions(_ context.Context, prefix string) iter.Seq2[audit.Version, error] {
	return func(yield func(audit.Version, error) bool) {
		for _, s := range v.below(prefix) {
			for i, one := range s.versions {
				told := one.Version
				told.Latest = i == 0
				if !yield(told, nil) {
					return
				}
			}
		}
	}
}

func missing(op, object string) error {
	return &store.Error{Op: op, Object: object, Status: 404, Err: store.ErrMissing}
}

func (v *view) Get(_ context.Context, key string, limit int64) (audit.Document, error) {
	found := v.current(key)
	switch {
	case found == nil:
		return audit.Document{}, missing("read", v.URL(key))
	case found.unreadable != "":
		return audit.Document{Object: found.Object, Unreadable: found.unreadable}, nil
	case found.Archived():
		return audit.Document{Object: found.Object, Unreadable: "archived in storage class " + found.StorageClass}, nil
	case found.Size > limit:
		return audit.Document{}, &store.Error{Op: "read", Object: v.URL(key), Cause: audit.CauseTooBig}
	}
	doc := audit.Document{Object: found.Object, Body: found.body, Expiration: v.expiration(found)}
	if v.versioning != "" {
		doc.VersionID = found.VersionID
	}
	return doc, nil
}

// Open reads an object. The content of snapshots is not simulated: it is nothing.
func (v *view) Open(ctx context.Context, in store.OpenInput) (store.Stream, error) {
	doc, err := v.Get(ctx, in.Key, 1<<40)
	if err != nil || doc.Unreadable != "" {
		return store.Stream{Object: doc.Object, Unreadable: doc.Unreadable}, err
	}
	return store.Stream{ReadCloser: io.NopCloser(bytes.NewReader(doc.Body)), Object: doc.Object, VersionID: doc.VersionID}, nil
}

// Part reads nothing: see [unread].
func (v *view) Part(_ context.Context, in store.PartInput) (audit.Document, error) {
	return audit.Document{}, notSimulated(v.URL(in.Key))
}

// notSimulated says that what is in a snapshot cannot be looked at here.
func notSimulated(object string) error {
	return &store.Error{Op: "get part of object", Object: object, Cause: audit.CauseUnsupported, Err: errors.New("the content of snapshots is not simulated")}
}

// unread is a bucket of which no part of an object is read, because snapshots have no
// content in the simulation.
type unread struct{ store.Bucket }

func (u unread) Part(_ context.Context, in store.PartInput) (audit.Document, error) {
	return audit.Document{}, notSimulated(u.URL(in.Key))
}

func (u unread) Fork() store.Bucket { return unread{u.Bucket.Fork()} }

func (v *view) Unchanged(_ context.Context, seen audit.Object) (bool, error) {
	found := v.current(seen.Key)
	if found == nil {
		return false, missing("read", v.URL(seen.Key))
	}
	return found.Object == seen && found.unreadable == "", nil
}

func (v *view) Tags(context.Context, string) (map[string]string, error) {
	return map[string]string{}, nil
}

func (v *view) Versioning(context.Context) (store.Versioning, error) {
	return store.Versioning{Status: v.versioning}, nil
}

func (v *view) Lifecycle(context.Context) (store.Lifecycle, error) {
	if len(v.rules) == 0 {
		return store.Lifecycle{}, missing("read the lifecycle rules of", v.URL(""))
	}
	return store.Lifecycle{Body: v.document(), TransitionSizeDefault: v.sizeMode}, nil
}

func (v *view) ObjectLock(context.Context) (audit.ObjectLock, error) {
	return audit.ObjectLock{}, missing("read the Object Lock of", v.URL(""))
}

func (v *view) PublicAccessBlock(context.Context) (audit.PublicAccessBlock, error) {
	shut := !v.public
	return audit.PublicAccessBlock{BlockPublicACLs: shut, IgnorePublicACLs: shut, BlockPublicPolicy: shut, RestrictPublicBuckets: shut}, nil
}

func (v *view) PolicyStatus(context.Context) (bool, error) { return v.public, nil }

func (v *view) Encryption(context.Context) (string, error) { return "AES256", nil }

func (v *view) Uploads(context.Context, string) (audit.Uploads, error) { return audit.Uploads{}, nil }

func (v *view) Name() string     { return v.name }
func (v *view) Region() string   { return "us-east-1" }
func (v *view) Endpoint() string { return v.endpoint }

func (v *view) URL(key string) string {
	return strings.TrimSuffix("s3://"+v.name+"/"+key, "/")
}

func (v *view) Fork() store.Bucket { return v }

// Usage is none: nothing here costs a request.
func (v *view) Usage() audit.Usage { return audit.Usage{} }

func (v *view) ClockOffset() audit.Fact[time.Duration] { return audit.Is(time.Duration(0)) }

// open opens a bucket of the world for a survey.
func (w *world) open(endpoint string) func(context.Context, string, int) (store.Bucket, error) {
	return func(_ context.Context, name string, _ int) (store.Bucket, error) {
		if b := w.buckets[name]; b != nil {
			return &view{bucket: b, endpoint: endpoint}, nil
		}
		return nil, &store.Error{Op: "open bucket", Object: "s3://" + name, Cause: audit.CauseNoBucket, Status: 404, Code: "NoSuchBucket", Err: errors.New("it does not exist")}
	}
}

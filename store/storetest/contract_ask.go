package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store"
)

func readStream(ctx context.Context, b store.Bucket, in store.OpenInput) ([]byte, error) {
	s, err := b.Open(ctx, in)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	return io.ReadAll(s)
}

// wantETag holds that an object is refused that has another ETag.
func wantETag(t *testing.T, b store.Bucket) {
	t.Helper()
	s, err := b.Open(t.Context(), store.OpenInput{Key: "a/big"})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if got, err := readStream(t.Context(), b, store.OpenInput{Key: "a/big", ETag: s.ETag, From: -3}); err != nil || string(got) != "def" {
		t.Errorf("with its own ETag: got %q, %v", got, err)
	}
	_, err = readStream(t.Context(), b, store.OpenInput{Key: "a/big", ETag: "0123456789abcdef0123456789abcdef"})
	if e := wantError(t, err); e != nil && !strings.Contains(e.Error(), "written again") {
		t.Errorf("with another ETag: got %v", err)
	}
}

// allSettings has every setting, none with a value that a zero could pass for.
var allSettings = Settings{
	MFADelete:         true,
	ObjectLock:        &audit.ObjectLock{Mode: "GOVERNANCE", Retention: 14 * audit.Day},
	PublicAccessBlock: &audit.PublicAccessBlock{BlockPublicACLs: true, BlockPublicPolicy: true, RestrictPublicBuckets: true},
	PublicPolicy:      &yes,
	Encryption:        "aws:kms",
	Uploads: []Upload{
		{Key: "a/1", Begun: time.Date(2025, 12, 24, 18, 0, 0, 0, time.UTC)},
		{Key: "b c+%", Begun: time.Date(2025, 11, 5, 6, 7, 8, 0, time.UTC)},
	},
}

var yes = true

// settingErrors asks for each setting that can be missing.
func settingErrors(ctx context.Context, b store.Bucket) map[string]error {
	errs := map[string]error{}
	_, errs["object lock"] = b.ObjectLock(ctx)
	_, errs["public access block"] = b.PublicAccessBlock(ctx)
	_, errs["policy status"] = b.PolicyStatus(ctx)
	_, errs["encryption"] = b.Encryption(ctx)
	return errs
}

func keysFor(be Backend) []string {
	if be.AnyKey {
		return append(slices.Clone(oddKeys), hardKeys...)
	}
	return oddKeys
}

func many(be Backend) int {
	if be.Many > 0 {
		return be.Many
	}
	return 1001
}

func manyKeys(be Backend) []string {
	keys := make([]string, many(be))
	for i := range keys {
		keys[i] = fmt.Sprintf("many/%04d", i)
	}
	return keys
}

// under gives the keys that begin with prefix.
func under(keys []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return !strings.HasPrefix(k, prefix) })
}

func wantKeys(t *testing.T, b store.Bucket, in store.ListInput, want ...string) {
	t.Helper()
	var got []string
	for o, err := range b.List(t.Context(), in) {
		if err != nil {
			t.Errorf("list %+v: %v", in, err)
			return
		}
		got = append(got, o.Key)
	}
	if !slices.Equal(got, want) {
		t.Errorf("list %+v:\ngot  %d %.400q\nwant %d %.400q", in, len(got), got, len(want), want)
	}
}

// wantError holds that err is a store.Error which says what was done to what,
// and why it failed.
func wantError(t *testing.T, err error) *store.Error {
	t.Helper()
	var e *store.Error
	if !errors.As(err, &e) {
		t.Errorf("got %T %v, want a *store.Error", err, err)
		return nil
	}
	if e.Op == "" || e.Object == "" || e.Cause == "" || e.Err == nil {
		t.Errorf("the error %+v is not complete", e)
	}
	return e
}

func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}

func total(u audit.Usage) int {
	n := 0
	for _, c := range u.Requests {
		n += c
	}
	return n
}

// lookThrough sums up a bucket as it shows itself.
func lookThrough(t *testing.T, b store.Bucket) string {
	t.Helper()
	vs, err := collect(b.ListVersions(t.Context(), ""))
	os, lerr := collect(b.List(t.Context(), store.ListInput{}))
	v, verr := b.Versioning(t.Context())
	l, cerr := b.Lifecycle(t.Context())
	return fmt.Sprint(vs, err, os, lerr, v, verr, string(l.Body), l.TransitionSizeDefault, cerr, settingErrors(t.Context(), b))
}

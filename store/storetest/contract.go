package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"backstop/audit"
	"backstop/store"
)

// Contents are what a bucket holds before it is looked at.
type Contents struct {
	// Objects are put in this order. With versioning a key may come twice, and
	// delete markers may be among them.
	Objects []Object
	// Versioning is "Enabled", or "Suspended" after all objects were put, or
	// "" for never on.
	Versioning string
	// Lifecycle is the lifecycle configuration as XML; nil for none.
	Lifecycle []byte
	// Settings is the rest of the bucket's configuration.
	Settings Settings
}

// Settings are what a bucket says of itself besides versioning and lifecycle.
// The zero value is a bucket of which nothing was ever set.
type Settings struct {
	MFADelete         bool
	ObjectLock        *audit.ObjectLock
	PublicAccessBlock *audit.PublicAccessBlock
	PublicPolicy      *bool
	Encryption        string
	Uploads           []Upload
}

// An Upload is a multipart upload that was begun and not finished.
type Upload struct {
	Key   string
	Begun time.Time
}

// A Backend makes the buckets that [Contract] looks at, and says what they can
// hold. The zero abilities are those of a directory.
type Backend struct {
	// Open makes a bucket with these contents, of which it is given only what
	// the abilities allow. It sums up all that the bucket holds with digest;
	// without a digest what the Bucket itself tells is compared.
	Open func(t *testing.T, c Contents) (b store.Bucket, digest func() string)
	// AnyKey says that every key of S3 can be held: "a" beside "a/b", keys of
	// 1024 bytes, and with "//" or "." in them.
	AnyKey bool
	// Versions says that old versions and delete markers can be held.
	Versions bool
	// Config says that the bucket's versioning and lifecycle can be set.
	Config bool
	// Settings says that the bucket's Settings can be set, and are told as AWS
	// does.
	Settings bool
	// Tags says that objects can have tags.
	Tags bool
	// Remote says that calls make requests, which Usage counts.
	Remote bool
	// Many is how many objects make several pages; zero means 1001.
	Many int
}

// lifecycleXML is a configuration that servers give back with its rule.
const lifecycleXML = `<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Rule><ID>prune</ID>` +
	`<Filter><Prefix>a/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>30</Days></Expiration></Rule></LifecycleConfiguration>`

// Contract tests what every store.Bucket promises, and that looking changes
// nothing.
func Contract(t *testing.T, be Backend) {
	for _, c := range contract {
		if c.needs != nil && !c.needs(be) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			b, digest := be.Open(t, c.contents(be))
			if digest == nil {
				digest = func() string { return lookThrough(t, b.Fork()) }
			}
			before := digest()
			c.test(t, be, b)
			if after := digest(); after != before {
				t.Errorf("looking changed the bucket:\nbefore %s\nafter  %s", before, after)
			}
		})
	}
}

type clause struct {
	name     string
	needs    func(Backend) bool
	contents func(Backend) Contents
	test     func(t *testing.T, be Backend, b store.Bucket)
}

func objects(keys ...string) func(Backend) Contents {
	return func(Backend) Contents {
		var c Contents
		for i, k := range keys {
			c.Objects = append(c.Objects, Object{Key: k, Body: fmt.Appendf(nil, "body %d of %s", i, k)})
		}
		return c
	}
}

// oddKeys are hard to sort or to encode. Sorted by bytes "a b+%" comes before
// "a-b", and that before "a/b".
var oddKeys = []string{
	"a/b", "a-b", "a b+%", "a.b/c", "a0", "<&>'\"", "x:y=z", "%41", "+", "é", "日本/鍵", "\U0001F511", "A", "~", "q?r#s", "back\\slash",
}

// hardKeys are those that no directory holds together.
var hardKeys = []string{"a", "a/", "a//b", "a/./b", "a/../c", "line\nfeed", "tab\t", strings.Repeat("k", 1024), strings.Repeat("é", 512)}

var contract = []clause{
	{
		name:     "an empty bucket",
		contents: objects(),
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			wantKeys(t, b, store.ListInput{})
			if got, err := collect(b.ListVersions(t.Context(), "")); err != nil || len(got) > 0 {
				t.Errorf("versions: got %v, %v, want none", got, err)
			}
		},
	},
	{
		name: "keys come in the order of their bytes",
		contents: func(be Backend) Contents {
			return objects(keysFor(be)...)(be)
		},
		test: func(t *testing.T, be Backend, b store.Bucket) {
			want := slices.Sorted(slices.Values(keysFor(be)))
			wantKeys(t, b, store.ListInput{}, want...)
			for _, key := range want {
				if d, err := b.Get(t.Context(), key, 1<<20); err != nil || d.Key != key || !strings.HasSuffix(string(d.Body), " of "+key) {
					t.Errorf("get %q: got %q %q, %v", key, d.Key, d.Body, err)
				}
				_, last := utf8.DecodeLastRuneInString(key)
				wantKeys(t, b, store.ListInput{Prefix: key, StartAfter: key[:len(key)-last]}, under(want, key)...)
			}
		},
	},
	{
		name:     "a prefix is a string, not a directory",
		contents: objects("a-b", "a/1", "a/2/3", "ab", "b"),
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			wantKeys(t, b, store.ListInput{Prefix: "a"}, "a-b", "a/1", "a/2/3", "ab")
			wantKeys(t, b, store.ListInput{Prefix: "a/"}, "a/1", "a/2/3")
			wantKeys(t, b, store.ListInput{Prefix: "a/2"}, "a/2/3")
			wantKeys(t, b, store.ListInput{Prefix: "a/2/3"}, "a/2/3")
			wantKeys(t, b, store.ListInput{Prefix: "c"})
			wantKeys(t, b, store.ListInput{Prefix: "a/2/3/4"})
		},
	},
	{
		name:     "folders are what a listing can be divided by",
		contents: objects("a-b", "a/1", "a/2/3", "b c/1", "b c/2", "z"),
		test: func(t *testing.T, be Backend, b store.Bucket) {
			for prefix, want := range map[string][]string{"": {"a/", "b c/"}, "a/": {"a/2/"}, "z": nil, "none/": nil} {
				if !be.Remote {
					want = nil // it gains nothing
				}
				if got, err := b.Folders(t.Context(), prefix); err != nil || !slices.Equal(got, want) {
					t.Errorf("folders below %q: got %q, %v, want %q", prefix, got, err, want)
				}
			}
		},
	},
	{
		name:     "a listing begins after a key, be it there or not",
		contents: objects("a/1", "a/2", "a/3", "b"),
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			wantKeys(t, b, store.ListInput{StartAfter: "a/2"}, "a/3", "b")
			wantKeys(t, b, store.ListInput{Prefix: "a/", StartAfter: "a/2"}, "a/3")
			wantKeys(t, b, store.ListInput{Prefix: "a/", StartAfter: "a/2~"}, "a/3")
			wantKeys(t, b, store.ListInput{Prefix: "a/", StartAfter: "a/3"})
			wantKeys(t, b, store.ListInput{Prefix: "b", StartAfter: "a/1"}, "b")
		},
	},
	{
		name: "a long listing is complete",
		contents: func(be Backend) Contents {
			return objects(manyKeys(be)...)(be)
		},
		test: func(t *testing.T, be Backend, b store.Bucket) {
			want := slices.Sorted(slices.Values(manyKeys(be)))
			wantKeys(t, b, store.ListInput{}, want...)
			wantKeys(t, b, store.ListInput{Prefix: "many/", StartAfter: want[len(want)/2]}, want[len(want)/2+1:]...)
			got, err := collect(b.ListVersions(t.Context(), "many/"))
			if err != nil || len(got) != len(want) {
				t.Errorf("versions: got %d, %v, want %d", len(got), err, len(want))
			}
		},
	},
	{
		name: "a listing can be left, and its context ended",
		contents: func(be Backend) Contents {
			return objects(manyKeys(be)...)(be)
		},
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			for range b.List(t.Context(), store.ListInput{}) {
				break
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			var last error
			for _, err := range b.List(ctx, store.ListInput{}) {
				if last = err; err != nil {
					break
				}
				cancel()
				n++
			}
			if !errors.Is(last, context.Canceled) {
				t.Errorf("after %d objects: got %v, want context.Canceled", n, last)
			}
			wantError(t, last)
			_, err := b.Get(ctx, "many/0000", 10)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("get: got %v, want context.Canceled", err)
			}
		},
	},
	{
		name:     "what is listed is what is read",
		contents: objects("a/1", "empty/0"),
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			for o, err := range b.List(t.Context(), store.ListInput{}) {
				if err != nil {
					t.Fatal(err)
				}
				d, err := b.Get(t.Context(), o.Key, 1<<10)
				if err != nil {
					t.Fatal(err)
				}
				if d.Key != o.Key || d.Size != o.Size || int64(len(d.Body)) != o.Size || d.ETag != o.ETag || d.StorageClass != o.StorageClass {
					t.Errorf("got %+v, listed as %+v", d, o)
				}
				// A header has whole seconds.
				if !d.LastModified.Truncate(time.Second).Equal(o.LastModified.Truncate(time.Second)) {
					t.Errorf("%s: read with the time %v, listed with %v", o.Key, d.LastModified, o.LastModified)
				}
				if o.LastModified.Location() != time.UTC || d.LastModified.Location() != time.UTC {
					t.Errorf("%s: the times are not in UTC", o.Key)
				}
				if strings.Contains(o.ETag, `"`) {
					t.Errorf("%s: the ETag %s has quotes", o.Key, o.ETag)
				}
			}
		},
	},
	{
		name: "an object has at most limit bytes",
		contents: func(Backend) Contents {
			return Contents{Objects: []Object{{Key: "ten", Body: []byte("0123456789")}, {Key: "empty", Body: []byte{}}}}
		},
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			d, err := b.Get(t.Context(), "ten", 10)
			if err != nil || string(d.Body) != "0123456789" || d.Size != 10 {
				t.Errorf("got %q, %d bytes, %v", d.Body, d.Size, err)
			}
			d, err = b.Get(t.Context(), "empty", 0)
			if err != nil || len(d.Body) != 0 || d.Unreadable != "" {
				t.Errorf("empty: got %+v, %v", d, err)
			}
			d, err = b.Get(t.Context(), "ten", 9)
			if e := wantError(t, err); e != nil && e.Cause != audit.CauseTooBig {
				t.Errorf("got the cause %s, want %s", e.Cause, audit.CauseTooBig)
			}
			if len(d.Body) > 0 {
				t.Errorf("got %d bytes beside an error", len(d.Body))
			}
		},
	},
	{
		name: "a part of an object is read",
		contents: func(Backend) Contents {
			return Contents{Objects: []Object{{Key: "a/big", Body: bigBody}, {Key: "empty", Body: []byte{}}}}
		},
		test: testParts,
	},
	{
		name: "an object is read as a stream",
		contents: func(Backend) Contents {
			return Contents{Objects: []Object{{Key: "a/big", Body: bigBody}, {Key: "empty", Body: []byte{}}}}
		},
		test: func(t *testing.T, be Backend, b store.Bucket) {
			n := int64(len(bigBody))
			for from, want := range map[int64][]byte{0: bigBody, 1: bigBody[1:], n - 1: bigBody[n-1:], -8: bigBody[n-8:], -n - 5: bigBody} {
				s, err := b.Open(t.Context(), store.OpenInput{Key: "a/big", From: from})
				if err != nil {
					t.Errorf("from %d: %v", from, err)
					continue
				}
				got, err := io.ReadAll(s)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("from %d: got %d bytes, %v, want %d", from, len(got), err, len(want))
				}
				if s.Key != "a/big" || s.Size != n || s.LastModified.IsZero() {
					t.Errorf("from %d: it is %+v", from, s.Object)
				}
				if err := s.Close(); err != nil {
					t.Errorf("from %d: close: %v", from, err)
				}
			}
			if got, err := readStream(t.Context(), b, store.OpenInput{Key: "empty"}); err != nil || len(got) > 0 {
				t.Errorf("empty: got %q, %v", got, err)
			}
			_, err := b.Open(t.Context(), store.OpenInput{Key: "a/none"})
			if !errors.Is(err, store.ErrMissing) {
				t.Errorf("what does not exist: got %v, want ErrMissing", err)
			}
			wantError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			s, err := b.Open(ctx, store.OpenInput{Key: "a/big"})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			cancel()
			_, err = io.ReadAll(s)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("after the context ended: got %v", err)
			}
			wantError(t, err)
			if be.Remote {
				wantETag(t, b)
			}
		},
	},
	{
		name:     "an object is unchanged until it is written again",
		contents: objects("a/1"),
		test: func(t *testing.T, be Backend, b store.Bucket) {
			d, err := b.Get(t.Context(), "a/1", 1<<10)
			if err != nil {
				t.Fatal(err)
			}
			if same, err := b.Unchanged(t.Context(), d.Object); err != nil || !same {
				t.Errorf("the object as it was read: got %v, %v", same, err)
			}
			other := d.Object
			other.ETag = "0123456789abcdef0123456789abcdef"
			if same, err := b.Unchanged(t.Context(), other); err != nil || same {
				t.Errorf("with another ETag: got %v, %v", same, err)
			}
			other.Key = "a/2"
			_, err = b.Unchanged(t.Context(), other)
			if !errors.Is(err, store.ErrMissing) {
				t.Errorf("what does not exist: got %v, want ErrMissing", err)
			}
			wantError(t, err)
		},
	},
	{
		name:     "what does not exist is missing",
		contents: objects("a/b/c"),
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			for _, key := range []string{"a/b/d", "a/b", "a", "a/b/", "a/b/c/d", "z"} {
				_, err := b.Get(t.Context(), key, 10)
				if !errors.Is(err, store.ErrMissing) {
					t.Errorf("get %q: got %v, want ErrMissing", key, err)
				}
				wantError(t, err)
			}
		},
	},
	{
		name:     "a bucket without configuration",
		contents: objects("a"),
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			if got, err := b.Versioning(t.Context()); err != nil || got != (store.Versioning{}) {
				t.Errorf("versioning: got %+v, %v, want none", got, err)
			}
			if got, err := b.Lifecycle(t.Context()); !errors.Is(err, store.ErrMissing) {
				t.Errorf("lifecycle: got %q, %v, want ErrMissing", got, err)
			}
			got, err := collect(b.ListVersions(t.Context(), ""))
			if err != nil || len(got) != 1 || got[0].Key != "a" || !got[0].Latest || got[0].Marker {
				t.Errorf("versions: got %+v, %v, want the object", got, err)
			}
			if got, err := b.Tags(t.Context(), "a"); err != nil || len(got) > 0 {
				t.Errorf("tags: got %v, %v, want none", got, err)
			}
		},
	},
	{
		name:  "a bucket with configuration",
		needs: func(be Backend) bool { return be.Config },
		contents: func(Backend) Contents {
			return Contents{Versioning: "Suspended", Lifecycle: []byte(lifecycleXML)}
		},
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			if got, err := b.Versioning(t.Context()); err != nil || got != (store.Versioning{Status: "Suspended"}) {
				t.Errorf("versioning: got %+v, %v", got, err)
			}
			got, err := b.Lifecycle(t.Context())
			if err != nil || !bytes.Contains(got.Body, []byte("<ID>prune</ID>")) || !bytes.Contains(got.Body, []byte("<Days>30</Days>")) {
				t.Errorf("lifecycle: got %q, %v", got, err)
			}
		},
	},
	{
		name:     "a bucket of which nothing else was ever set",
		needs:    func(be Backend) bool { return be.Settings },
		contents: objects("a"),
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			for name, err := range settingErrors(t.Context(), b) {
				if !errors.Is(err, store.ErrMissing) {
					t.Errorf("%s: got %v, want ErrMissing", name, err)
				}
				wantError(t, err)
			}
			if got, err := b.Uploads(t.Context(), ""); err != nil || got != (audit.Uploads{}) {
				t.Errorf("uploads: got %+v, %v, want none", got, err)
			}
		},
	},
	{
		name:     "a bucket with all its settings",
		needs:    func(be Backend) bool { return be.Settings },
		contents: func(Backend) Contents { return Contents{Versioning: "Enabled", Settings: allSettings} },
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			if got, err := b.Versioning(t.Context()); err != nil || got != (store.Versioning{Status: "Enabled", MFADelete: true}) {
				t.Errorf("versioning: got %+v, %v", got, err)
			}
			if got, err := b.ObjectLock(t.Context()); err != nil || got != *allSettings.ObjectLock {
				t.Errorf("object lock: got %+v, %v", got, err)
			}
			if got, err := b.PublicAccessBlock(t.Context()); err != nil || got != *allSettings.PublicAccessBlock {
				t.Errorf("public access block: got %+v, %v", got, err)
			}
			if got, err := b.PolicyStatus(t.Context()); err != nil || !got {
				t.Errorf("policy status: got %t, %v", got, err)
			}
			if got, err := b.Encryption(t.Context()); err != nil || got != "aws:kms" {
				t.Errorf("encryption: got %q, %v", got, err)
			}
			first, second := allSettings.Uploads[0].Begun, allSettings.Uploads[1].Begun
			for prefix, want := range map[string]audit.Uploads{
				"": {Count: 2, Oldest: second}, "a/": {Count: 1, Oldest: first}, "a/1": {Count: 1, Oldest: first}, "c": {},
			} {
				if got, err := b.Uploads(t.Context(), prefix); err != nil || got != want {
					t.Errorf("uploads of %q: got %+v, %v, want %+v", prefix, got, err, want)
				}
			}
			if got, err := collect(b.ListVersions(t.Context(), "")); err != nil || len(got) > 0 {
				t.Errorf("an upload is no object: got %+v, %v", got, err)
			}
		},
	},
	{
		name:  "settings that let everything be",
		needs: func(be Backend) bool { return be.Settings },
		contents: func(Backend) Contents {
			return Contents{Versioning: "Enabled", Settings: Settings{ObjectLock: &audit.ObjectLock{}, PublicAccessBlock: &audit.PublicAccessBlock{}, PublicPolicy: new(bool)}}
		},
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			if got, err := b.ObjectLock(t.Context()); err != nil || got != (audit.ObjectLock{}) {
				t.Errorf("object lock without retention: got %+v, %v", got, err)
			}
			if got, err := b.PublicAccessBlock(t.Context()); err != nil || got != (audit.PublicAccessBlock{}) {
				t.Errorf("public access block of nothing: got %+v, %v", got, err)
			}
			if got, err := b.PolicyStatus(t.Context()); err != nil || got {
				t.Errorf("policy status: got %t, %v", got, err)
			}
		},
	},
	{
		name:  "versions come newest first, delete markers among them",
		needs: func(be Backend) bool { return be.Versions },
		contents: func(Backend) Contents {
			return Contents{Versioning: "Enabled", Objects: []Object{
				{Key: "a", Body: []byte("1")}, {Key: "a", Marker: true}, {Key: "a", Body: []byte("123")},
				{Key: "b", Body: []byte("12")}, {Key: "b", Marker: true}, {Key: "b ä", Body: []byte("")},
			}}
		},
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			type line struct {
				Key            string
				Size           int64
				Latest, Marker bool
			}
			want := []line{{"a", 3, true, false}, {"a", 0, false, true}, {"a", 1, false, false}, {"b", 0, true, true}, {"b", 2, false, false}, {"b ä", 0, true, false}}
			vs, err := collect(b.ListVersions(t.Context(), ""))
			var got []line
			ids := map[string]bool{}
			for _, v := range vs {
				got = append(got, line{v.Key, v.Size, v.Latest, v.Marker})
				ids[v.VersionID] = true
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
			}
			if len(ids) != len(want) {
				t.Errorf("got %d version ids, want %d", len(ids), len(want))
			}
			wantKeys(t, b, store.ListInput{}, "a", "b ä")
			if _, err := b.Get(t.Context(), "b", 10); !errors.Is(err, store.ErrMissing) {
				t.Errorf("get of a deleted object: got %v, want ErrMissing", err)
			}
			if d, err := b.Get(t.Context(), "a", 10); err != nil || d.VersionID != vs[0].VersionID {
				t.Errorf("got version %q, %v, want %q", d.VersionID, err, vs[0].VersionID)
			}
		},
	},
	{
		name:  "many versions of one object",
		needs: func(be Backend) bool { return be.Versions },
		contents: func(be Backend) Contents {
			c := Contents{Versioning: "Enabled"}
			for range many(be) {
				c.Objects = append(c.Objects, Object{Key: "one", Body: []byte("x")})
			}
			c.Objects = append(c.Objects, Object{Key: "two", Body: []byte("x")})
			return c
		},
		test: func(t *testing.T, be Backend, b store.Bucket) {
			got, err := collect(b.ListVersions(t.Context(), ""))
			if err != nil || len(got) != many(be)+1 {
				t.Errorf("got %d versions, %v, want %d", len(got), err, many(be)+1)
			}
			wantKeys(t, b, store.ListInput{}, "one", "two")
		},
	},
	{
		name:  "tags are those of the current version",
		needs: func(be Backend) bool { return be.Tags },
		contents: func(Backend) Contents {
			return Contents{Objects: []Object{{Key: "a", Tags: map[string]string{"keep": "for ever", "n": ""}}}}
		},
		test: func(t *testing.T, _ Backend, b store.Bucket) {
			want := map[string]string{"keep": "for ever", "n": ""}
			if got, err := b.Tags(t.Context(), "a"); err != nil || !maps.Equal(got, want) {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
			if _, err := b.Tags(t.Context(), "b"); !errors.Is(err, store.ErrMissing) {
				t.Errorf("tags of nothing: got %v, want ErrMissing", err)
			}
		},
	},
	{
		name:     "a fork counts for itself",
		contents: objects("a"),
		test: func(t *testing.T, be Backend, b store.Bucket) {
			one, two := b.Fork(), b.Fork()
			if one.Name() != b.Name() || one.URL("a") != b.URL("a") {
				t.Errorf("a fork is called %s, not %s", one.URL("a"), b.URL("a"))
			}
			before := total(b.Usage())
			wantKeys(t, one, store.ListInput{}, "a")
			if got := total(two.Usage()) + total(b.Usage()) - before; got != 0 {
				t.Errorf("the others counted %d requests", got)
			}
			if be.Remote && (total(one.Usage()) == 0 || one.Usage().Bytes == 0) {
				t.Errorf("a listing cost %+v", one.Usage())
			}
			if be.Remote && !b.ClockOffset().IsSet() {
				t.Error("no clock offset after an answer")
			}
			if counts := one.Usage().Requests; counts != nil {
				counts["forged"]++
				if one.Usage().Requests["forged"] != 0 {
					t.Error("the caller can change the count")
				}
			}
		},
	},
}

// bigBody is more than connections hold on the way.
var bigBody = bytes.Repeat([]byte("0123456789abcdef"), 1<<18)

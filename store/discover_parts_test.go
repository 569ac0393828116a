package store_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"backstop/audit"
	"backstop/store"
	"backstop/store/storetest"
)

// long is a fake with so many keys that a listing is divided, and the stores in it.
func long() (*storetest.Fake, []string) {
	f := storetest.NewFake(atNoon)
	b := f.CreateBucket("backups")
	var roots []string
	for c := range 60 {
		root := fmt.Sprintf("c%03d.example.com/backups/etcd/main", c)
		roots = append(roots, root)
		b.Add(storetest.Object{Key: root + "/control/etcd-cluster-created"})
		for i := range 200 {
			b.Add(storetest.Object{Key: fmt.Sprintf("%s/other/%03d", root, i)})
		}
	}
	b.Add(storetest.Object{Key: "zz/backups/etcd/main/control/etcd-cluster-spec"}) // alone behind everything
	return f, append(roots, "zz/backups/etcd/main")
}

// A long listing is divided by folders, and what is found is the same.
func TestDiscoverInParts(t *testing.T) {
	f, want := long()
	got, err := store.Discover(t.Context(), open(t, f.URL(t)), "", 8)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Discover = %q, %v, want %q", got, err, want)
	}
	folders, parts := 0, 0
	for _, r := range f.Requests() {
		if r.Query.Has("delimiter") {
			folders++
		}
		if r.Query.Has("start-after") {
			parts++
		}
	}
	if n := len(f.Requests()); folders != 1 || parts < 2 || n > 13+folders+parts {
		t.Errorf("%d requests for 13 pages, of them %d for folders, %d that begin a part", n, folders, parts)
	}
}

// A listing that is not long costs what it always did, and so does one that nothing
// divides, or that is not to be made at a time.
func TestDiscoverUndivided(t *testing.T) {
	flat := storetest.NewFake(atNoon)
	b := flat.CreateBucket("backups")
	for i := range 4500 {
		b.Add(storetest.Object{Key: fmt.Sprintf("a/control/%04d", i)})
	}
	b.Add(storetest.Object{Key: "a/control/etcd-cluster-spec"})
	many, _ := long()
	manyAt, flatAt := open(t, many.URL(t)), open(t, flat.URL(t))
	for name, c := range map[string]struct {
		f                     *storetest.Fake
		at                    *store.S3
		prefix                string
		concurrency, requests int
	}{
		"one store":     {many, manyAt, "c001.example.com", 8, 1},
		"no folders":    {flat, flatAt, "", 8, 5 + 3}, // which are looked for down to the deepest
		"one at a time": {many, manyAt, "", 1, 13},
	} {
		c.f.ResetRequests()
		if _, err := store.Discover(t.Context(), c.at, c.prefix, c.concurrency); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := len(c.f.Requests()); n != c.requests {
			t.Errorf("%s: %d requests, want %d", name, n, c.requests)
		}
	}
}

// Whatever a server does with the questions by which a listing is divided, every
// store is found, or the listing's own error is told.
func TestDiscoverInPartsOfOddServers(t *testing.T) {
	folders := func(r storetest.Request) bool { return r.Query.Has("delimiter") }
	part := func(r storetest.Request) bool { return r.Query.Has("start-after") }
	refused := &storetest.Fault{Kind: storetest.Refused, Status: 501, Code: "NotImplemented"}
	nonsense := `<ListBucketResult><IsTruncated>false</IsTruncated><CommonPrefixes><Prefix>c059.example.com/backups/etcd/main/control/etcd-cluster-created</Prefix></CommonPrefixes>` +
		`<CommonPrefixes><Prefix>c040</Prefix></CommonPrefixes><CommonPrefixes><Prefix/></CommonPrefixes><CommonPrefixes><Prefix>c040</Prefix></CommonPrefixes>`
	for i := range 20 {
		nonsense += fmt.Sprintf("<CommonPrefixes><Prefix>c%03d.example.com/backups/etcd/main/control/etcd-cluster-created</Prefix></CommonPrefixes>", 20+i)
	}
	nonsense += "</ListBucketResult>"
	for name, hook := range map[string]func(storetest.Request) *storetest.Fault{
		"it knows no folders": func(r storetest.Request) *storetest.Fault {
			if folders(r) {
				return refused
			}
			return nil
		},
		"its folders are nonsense": func(r storetest.Request) *storetest.Fault {
			if folders(r) {
				return &storetest.Fault{Kind: storetest.Foreign, Body: []byte(nonsense)}
			}
			return nil
		},
		"it lists no part": func(r storetest.Request) *storetest.Fault {
			if part(r) {
				return refused
			}
			return nil
		},
		"its parts do not go on": func(r storetest.Request) *storetest.Fault {
			if part(r) {
				return &storetest.Fault{Kind: storetest.Tokenless}
			}
			return nil
		},
	} {
		f, want := long()
		f.Fault(hook)
		got, err := store.Discover(t.Context(), open(t, f.URL(t)), "", 8)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: Discover = %q, %v, want %q", name, got, err, want)
		}
	}
}

// A server that does not know how to begin after a key begins at the first.
func TestDiscoverWhereNothingBeginsAfterAKey(t *testing.T) {
	f, want := long()
	to, err := url.Parse(f.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		q := r.Out.URL.Query()
		q.Del("start-after")
		r.Out.URL.RawQuery = q.Encode()
	}})
	defer proxy.Close()
	got, err := store.Discover(t.Context(), open(t, proxy.URL), "", 8)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Discover = %q, %v, want %q", got, err, want)
	}
}

// An error in the middle of a long listing is the listing's.
func TestDiscoverInPartsFails(t *testing.T) {
	f, _ := long()
	f.Fault(func(r storetest.Request) *storetest.Fault {
		if strings.HasPrefix(r.Query.Get("start-after"), "c05") || r.Query.Has("continuation-token") && len(f.Requests()) > 12 {
			return &storetest.Fault{Kind: storetest.Refused, Status: http.StatusForbidden, Code: "AccessDenied"}
		}
		return nil
	})
	got, err := store.Discover(t.Context(), open(t, f.URL(t)), "", 8)
	var e *store.Error
	if !errors.As(err, &e) || e.Cause != audit.CauseDenied || got != nil {
		t.Errorf("Discover = %q, %v, want access denied", got, err)
	}
}

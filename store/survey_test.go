package store_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"backstop/audit"
	"backstop/store"
	"backstop/store/storetest"
)

// fleet is a bucket with so many clusters of two stores, and the stores' URLs.
func fleet(clusters int) (*storetest.Fake, []string) {
	f := storetest.NewFake(atNoon)
	b := f.CreateBucket("backups")
	var urls []string
	for c := range clusters {
		for _, etcd := range []string{"events", "main"} {
			root := fmt.Sprintf("c%02d.example.com/backups/etcd/%s", c, etcd)
			b.Put(root+"/control/etcd-cluster-created", []byte("x"))
			b.Put(root+"/control/etcd-cluster-spec", []byte(`{"memberCount": 1}`))
			urls = append(urls, "s3://backups/"+root)
		}
	}
	return f, urls
}

// Stores are shown when those of their cluster have been looked at, and none waits
// for longer: that bounds how many observations there are at a time.
func TestSurveyShowsStoresAsTheyAreSeen(t *testing.T) {
	const clusters, concurrency = 20, 3
	f, want := fleet(clusters)
	var mu sync.Mutex
	looked, shown, waiting := 0, 0, 0
	s := store.Survey{
		Places: []store.Place{{URL: "s3://backups", Bucket: open(t, f.URL(t))}}, Now: atNoon, Concurrency: concurrency,
		Progress: func(done, of int) {
			mu.Lock()
			defer mu.Unlock()
			looked = done
			waiting = max(waiting, looked-shown)
		},
	}
	found, err := s.Find(t.Context())
	if err != nil || len(found.Places) != len(want) || len(found.Problems) > 0 {
		t.Fatalf("found %d stores, %v, %v, want %d", len(found.Places), found.Problems, err, len(want))
	}
	got := make([]string, len(want))
	err = found.Observe(t.Context(), func(i int, o *audit.Observation) {
		mu.Lock()
		defer mu.Unlock()
		shown++
		got[i] = o.Store.URL
		if len(o.Siblings) != 1 || !o.Siblings[0].Listed {
			t.Errorf("%s has the siblings %+v", o.Store.URL, o.Siblings)
		}
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("shown %q, %v, want %q", got, err, want)
	}
	if most := 2 * (concurrency + 1); waiting > most {
		t.Errorf("%d stores waited to be shown, want at most %d", waiting, most)
	}
}

// What a survey costs is told to the last request, also that of places without a
// store.
func TestSurveyCountsEveryRequest(t *testing.T) {
	f, _ := fleet(3)
	f.CreateBucket("empty")
	f.CreateBucket("state").Put("c.example.com/config", []byte("kind: Cluster\napiVersion: kops.k8s.io/v1alpha2\nmetadata: {name: c.example.com}\nspec: {}\n"))
	endpoint := f.URL(t)
	s := store.Survey{Now: atNoon, Concurrency: 2}
	for _, bucket := range []string{"backups", "empty", "state", "backups"} { // one twice
		b := open(t, endpoint, func(in *store.S3Options) { in.Bucket = bucket })
		s.Places = append(s.Places, store.Place{URL: "s3://" + bucket, Bucket: b})
	}
	found, err := s.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	total := found.Usage
	if err := found.Observe(t.Context(), func(_ int, o *audit.Observation) {
		mu.Lock()
		defer mu.Unlock()
		total.Add(o.Usage)
	}); err != nil {
		t.Fatal(err)
	}
	asked := map[string]int{}
	for _, r := range f.Requests() {
		asked[r.Operation]++
	}
	if fmt.Sprint(asked) != fmt.Sprint(total.Requests) {
		t.Errorf("counted %v, the server saw %v", total.Requests, asked)
	}
}

// A survey whose context ends shows no store that it could not look at.
func TestSurveyEnds(t *testing.T) {
	f, want := fleet(10)
	s := store.Survey{Places: []store.Place{{URL: "s3://backups", Bucket: open(t, f.URL(t))}}, Now: atNoon, Concurrency: 2}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	found, err := s.Find(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	shown := 0
	err = found.Observe(ctx, func(_ int, o *audit.Observation) {
		mu.Lock()
		defer mu.Unlock()
		shown++
		if !o.Listing.IsSet() {
			t.Errorf("%s was not listed: %+v", o.Store.URL, o.Listing.Why)
		}
		cancel()
	})
	if err == nil || shown >= len(want) {
		t.Errorf("%d stores of %d shown, %v, after the end", shown, len(want), err)
	}
}

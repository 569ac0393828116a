package store_test

import (
	"testing"
	"time"

	"backstop/store"
	"backstop/store/storetest"
)

// noon is what the fake's clock, and the auditor's, say in these tests.
var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// open gives a handle on a bucket called backups behind an endpoint, that
// retries without delay.
func open(t *testing.T, endpoint string, change ...func(*store.S3Options)) *store.S3 {
	t.Helper()
	in := store.S3Options{Bucket: "backups", EndpointURL: endpoint, RetryDelay: 1, Now: atNoon}
	for _, c := range change {
		c(&in)
	}
	b, err := store.OpenS3(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestContract(t *testing.T) {
	storetest.Contract(t, storetest.Backend{
		AnyKey: true, Versions: true, Config: true, Settings: true, Tags: true, Remote: true, Many: 205,
		Open: func(t *testing.T, c storetest.Contents) (store.Bucket, func() string) {
			f := storetest.NewFake(atNoon)
			f.SetPageSize(10)
			f.CreateBucket("backups").SetContents(c)
			return open(t, f.URL(t)), f.Digest
		},
	})
}

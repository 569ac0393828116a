package store_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"backstop/audit"
	"backstop/store"
	"backstop/store/storetest"
)

// counter is a Pace that counts who asks, and lets everybody pass.
type counter struct{ turns atomic.Int32 }

func (c *counter) Wait(ctx context.Context) error {
	c.turns.Add(1)
	return ctx.Err()
}

// Every request takes a turn: of every call, each retry, each page. TestRegion holds
// the questions to it where a bucket lives.
func TestEveryRequestTakesATurn(t *testing.T) {
	f, endpoint := faulty(t)
	f.SetPageSize(1)
	f.Fault(func(r storetest.Request) *storetest.Fault {
		if r.Attempt%3 == 0 {
			return nil
		}
		return &storetest.Fault{Kind: storetest.Refused, Status: 503, Code: "SlowDown"}
	})
	var pace counter
	b := open(t, endpoint, func(in *store.S3Options) { in.Pace = &pace })
	for _, m := range methods {
		if err := m.do(t.Context(), b.Fork()); err != nil {
			t.Errorf("%s: %v", m.operation, err)
		}
	}
	if _, err := b.Folders(t.Context(), ""); err != nil {
		t.Error(err)
	}
	if asked, turns := len(f.Requests()), int(pace.turns.Load()); asked != turns || asked < 3*len(methods) {
		t.Errorf("%d requests took %d turns", asked, turns)
	}
}

// A refusal to go on counts, retries included.
func TestThrottledIsCounted(t *testing.T) {
	f, endpoint := faulty(t)
	f.Fault(func(r storetest.Request) *storetest.Fault {
		if r.Attempt < 3 {
			return &storetest.Fault{Kind: storetest.Refused, Status: 503, Code: "SlowDown"}
		}
		return nil
	})
	b := open(t, endpoint)
	if _, err := b.Versioning(t.Context()); err != nil {
		t.Fatal(err)
	}
	if u := b.Usage(); u.Throttled != 2 || u.Requests["GetBucketVersioning"] != 3 {
		t.Errorf("got %+v, want 3 requests of which 2 were throttled", u)
	}
}

// within runs a test in a bubble in which time passes only when everybody waits,
// with a bucket to which no network leads.
func within(t *testing.T, pace func() store.Pace, test func(t *testing.T, f *storetest.Fake, b *store.S3)) {
	f, _ := faulty(t)
	served := transport(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w.Result(), nil
	})
	synctest.Test(t, func(t *testing.T) {
		b := open(t, "http://127.0.0.1:1", func(in *store.S3Options) {
			in.Pace, in.HTTPClient, in.Timeout = pace(), &http.Client{Transport: served}, time.Second
		})
		test(t, f, b)
	})
}

// Requests come at their rate, after the few that may come at once.
func TestPerSecond(t *testing.T) {
	for name, c := range map[string]struct {
		perSecond float64
		requests  int
		took      time.Duration
	}{
		"five a second":        {5, 11, 2 * time.Second},
		"twenty a second":      {20, 42, 2 * time.Second}, // two at once
		"one in ten seconds":   {0.1, 4, 30 * time.Second},
		"as many as there are": {0, 500, 0},
	} {
		within(t, func() store.Pace { return store.PerSecond(c.perSecond) }, func(t *testing.T, _ *storetest.Fake, b *store.S3) {
			began := time.Now()
			for range c.requests {
				if _, err := b.Versioning(t.Context()); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if took := time.Since(began).Round(time.Millisecond); took != c.took {
				t.Errorf("%s: %d requests took %v, want %v", name, c.requests, took, c.took)
			}
		})
	}
}

// Who waits for his turn does not use up the time that S3 has for its answer: a low
// limit must not make everything unseen.
func TestATurnIsNoTimeout(t *testing.T) {
	within(t, func() store.Pace { return store.PerSecond(0.01) }, func(t *testing.T, f *storetest.Fake, b *store.S3) {
		f.Fault(func(r storetest.Request) *storetest.Fault {
			if r.Attempt < 4 {
				return &storetest.Fault{Kind: storetest.Refused, Status: 503, Code: "SlowDown"}
			}
			return nil
		})
		if _, err := b.Versioning(t.Context()); err != nil {
			t.Errorf("after %d requests: %v", len(f.Requests()), err)
		}
	})
}

// Whoever ends while he waits has not been refused by S3.
func TestEndingInTurn(t *testing.T) {
	within(t, func() store.Pace { return store.PerSecond(0.01) }, func(t *testing.T, f *storetest.Fake, b *store.S3) {
		if _, err := b.Versioning(t.Context()); err != nil { // the first need not wait
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := b.Versioning(ctx)
		var e *store.Error
		if !errors.As(err, &e) || !errors.Is(err, context.Canceled) || e.Attempts != 0 {
			t.Errorf("got %v", err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = b.Versioning(short); !errors.As(err, &e) || e.Cause != audit.CauseTimeout {
			t.Errorf("got %v, want a timeout", err)
		}
		if n := len(f.Requests()); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}

package store_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store"
	"backstop/store/storetest"
)

// streamed is an object of some megabytes in a fake.
func streamed(t *testing.T) (f *storetest.Fake, endpoint string, body []byte) {
	t.Helper()
	body = bytes.Repeat([]byte("etcd.backup.gz, "), 1<<17)
	f = storetest.NewFake(atNoon)
	f.CreateBucket("backups").Put("k", body)
	return f, f.URL(t), body
}

func readAll(ctx context.Context, b store.Bucket, in store.OpenInput) ([]byte, error) {
	s, err := b.Open(ctx, in)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	if s.Unreadable != "" {
		return nil, errors.New(s.Unreadable)
	}
	return io.ReadAll(s)
}

// TestStreamResumes holds that a body which breaks off, ends early or stands
// still is read on where it was lost.
func TestStreamResumes(t *testing.T) {
	for _, kind := range []storetest.FaultKind{storetest.ResetBody, storetest.Truncated, storetest.StalledBody} {
		t.Run(string(kind), func(t *testing.T) {
			f, endpoint, body := streamed(t)
			f.Fault(func(r storetest.Request) *storetest.Fault {
				if len(f.Requests()) <= 3 {
					return &storetest.Fault{Kind: kind}
				}
				return nil
			})
			b := open(t, endpoint, func(in *store.S3Options) { in.Timeout = time.Second })
			got, err := readAll(t.Context(), b, store.OpenInput{Key: "k"})
			if err != nil || !bytes.Equal(got, body) {
				t.Fatalf("got %d bytes of %d, %v", len(got), len(body), err)
			}
			requests := f.Requests()
			if len(requests) != 4 {
				t.Errorf("%d requests, want 4", len(requests))
			}
			for _, r := range requests[1:] {
				// Half of the rest came each time, less what a reset lost.
				if r.Header.Get("If-Match") == "" || !strings.HasPrefix(r.Header.Get("Range"), "bytes=") || r.Header.Get("Range") == "bytes=0-" {
					t.Errorf("asked on with %q, If-Match %q", r.Header.Get("Range"), r.Header.Get("If-Match"))
				}
			}
			if got := b.Usage().Bytes; got < int64(len(body)) {
				t.Errorf("counted %d bytes of %d", got, len(body))
			}
		})
	}
}

// TestStreamFails holds that what cannot be read to its end is an error that
// says so, and never an end.
func TestStreamFails(t *testing.T) {
	refused := func(status int, code string) *storetest.Fault {
		return &storetest.Fault{Kind: storetest.Refused, Status: status, Code: code, Message: "What S3 says."}
	}
	kind := func(k storetest.FaultKind) *storetest.Fault { return &storetest.Fault{Kind: k} }
	partial := http.Header{"Content-Range": {"bytes 0-9/999"}}
	tests := map[string]struct {
		first, rest *storetest.Fault // of the first answer, and of all others
		cause       audit.Cause
		requests    int // 0 for any number
		says        string
	}{
		"denied at once":                 {refused(403, "AccessDenied"), nil, audit.CauseDenied, 1, "access denied"},
		"denied in the middle":           {kind(storetest.ResetBody), refused(403, "AccessDenied"), audit.CauseDenied, 2, "access denied"},
		"gone in the middle":             {kind(storetest.ResetBody), refused(404, "NoSuchKey"), audit.CauseOther, 2, "does not exist"},
		"written again in the middle":    {kind(storetest.ResetBody), refused(412, "PreconditionFailed"), audit.CauseOther, 2, "written again"},
		"stands still for ever":          {kind(storetest.StalledBody), kind(storetest.Stalled), audit.CauseTimeout, 0, "no complete answer within the time limit"},
		"no answer":                      {kind(storetest.Stalled), nil, audit.CauseTimeout, 1, "no complete answer within the time limit"},
		"no length":                      {kind(storetest.Chunked), kind(storetest.Chunked), audit.CauseMalformed, 4, "how long it is"},
		"a proxy's page":                 {&storetest.Fault{Kind: storetest.Foreign, Body: []byte("<html>"), Header: http.Header{"Last-Modified": nil}}, nil, audit.CauseForeign, 1, "Last-Modified"},
		"a part that was not asked for":  {&storetest.Fault{Kind: storetest.Late, Status: 206}, nil, audit.CauseForeign, 1, "HTTP 206"},
		"the whole again for the rest":   {kind(storetest.ResetBody), &storetest.Fault{Kind: storetest.Late, Status: 200}, audit.CauseForeign, 2, "was asked for"},
		"another part than the rest":     {kind(storetest.ResetBody), &storetest.Fault{Kind: storetest.Late, Header: partial}, audit.CauseForeign, 2, "Content-Range"},
		"slow down until the end of all": {kind(storetest.Truncated), refused(503, "SlowDown"), audit.CauseThrottled, 5, "slow down"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f, endpoint, body := streamed(t)
			f.Fault(func(storetest.Request) *storetest.Fault {
				if len(f.Requests()) == 1 {
					return test.first
				}
				return test.rest
			})
			b := open(t, endpoint, func(in *store.S3Options) {
				if test.cause == audit.CauseTimeout {
					in.Timeout = 200 * time.Millisecond
				}
			})
			got, err := readAll(t.Context(), b, store.OpenInput{Key: "k"})
			var e *store.Error
			if !errors.As(err, &e) || e.Cause != test.cause || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %d bytes of %d, %v; want the cause %s and %q", len(got), len(body), err, test.cause, test.says)
			}
			if e.Permission != "s3:GetObject" || e.Object != "s3://backups/k" || e.Op == "" {
				t.Errorf("the error is not complete: %+v", e)
			}
			if n := len(f.Requests()); test.requests != 0 && n != test.requests {
				t.Errorf("%d requests, want %d", n, test.requests)
			}
		})
	}
}

// A body that brings nothing, however often it is asked for, says where.
func TestStreamSaysWhere(t *testing.T) {
	f, endpoint, body := streamed(t)
	f.Fault(func(storetest.Request) *storetest.Fault {
		if len(f.Requests()) == 1 {
			return &storetest.Fault{Kind: storetest.Truncated}
		}
		return &storetest.Fault{Kind: storetest.Stalled}
	})
	b := open(t, endpoint, func(in *store.S3Options) { in.Timeout = 100 * time.Millisecond })
	s, err := b.Open(t.Context(), store.OpenInput{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(s)
	if len(got) == 0 || len(got) == len(body) || err == nil {
		t.Fatalf("got %d bytes, %v", len(got), err)
	}
	if again, err2 := s.Read(make([]byte, 10)); again != 0 || err2 != err {
		t.Errorf("once more: %d, %v, want the same error", again, err2)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestStreamOfAnArchive(t *testing.T) {
	f, endpoint, _ := streamed(t)
	f.Bucket("backups").Put("cold", []byte("x"), storetest.WithClass("GLACIER"))
	s, err := open(t, endpoint).Open(t.Context(), store.OpenInput{Key: "cold"})
	if err != nil || s.Unreadable != "archived in storage class GLACIER" || s.ReadCloser != nil {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestStreamAfterClose(t *testing.T) {
	_, endpoint, _ := streamed(t)
	s, err := open(t, endpoint).Open(t.Context(), store.OpenInput{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n, err := s.Read(make([]byte, 10)); n != 0 || err == nil || err == io.EOF {
		t.Errorf("got %d, %v", n, err)
	}
}

package deliver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

func impatient() *Client { return &Client{Delay: time.Millisecond, Tries: 4} }

// A recorder is a server that notes what it is asked, and answers with one status
// after the other, the last one for ever.
type recorder struct {
	*httptest.Server
	bodies, auth []string
}

func record(t *testing.T, header http.Header, statuses ...int) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.bodies, r.auth = append(r.bodies, string(body)), append(r.auth, req.Header.Get("Authorization"))
		for k, v := range header {
			w.Header()[k] = v
		}
		w.WriteHeader(statuses[min(len(r.bodies), len(statuses))-1])
		fmt.Fprintf(w, "you said %s\n\x1b[31m and %s", req.Header.Get("Authorization"), req.URL.Path)
	}))
	t.Cleanup(r.Close)
	return r
}

func message(url string) Message {
	return Message{Method: "POST", URL: url + "/services/hunter2", Header: http.Header{"Authorization": {"Bearer s3cr3t"}}, Body: []byte("hello"), Secrets: []string{"s3cr3t", "hunter2", ""}}
}

// It tries again where that may help, with the whole body each time, and where it
// cannot help it does not.
func TestRetries(t *testing.T) {
	for _, c := range []struct {
		statuses []int
		tries    int
		ok       bool
	}{
		{[]int{200}, 1, true}, {[]int{202}, 1, true}, {[]int{204}, 1, true},
		{[]int{429, 200}, 2, true}, {[]int{500, 502, 503, 202}, 4, true}, {[]int{504}, 4, false}, {[]int{429}, 4, false},
		{[]int{400}, 1, false}, {[]int{401}, 1, false}, {[]int{403}, 1, false}, {[]int{404}, 1, false}, {[]int{410}, 1, false}, {[]int{501}, 1, false},
		{[]int{503, 400}, 2, false},
	} {
		r := record(t, nil, c.statuses...)
		err := impatient().Send(t.Context(), message(r.URL))
		if (err == nil) != c.ok || len(r.bodies) != c.tries || slices.ContainsFunc(r.bodies, func(b string) bool { return b != "hello" }) {
			t.Errorf("%v: %d tries, %q, %v; want %d, success %t", c.statuses, len(r.bodies), r.bodies, err, c.tries, c.ok)
		}
		if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("HTTP %d", c.statuses[len(c.statuses)-1])) {
			t.Errorf("%v: %v", c.statuses, err)
		}
	}
}

// What a server asks for by Retry-After counts; where it asks for more patience
// than there is, nobody waits.
func TestRetryAfter(t *testing.T) {
	r := record(t, http.Header{"Retry-After": {"0"}}, 429, 200)
	if err := (&Client{Delay: time.Hour}).Send(t.Context(), message(r.URL)); err != nil || len(r.bodies) != 2 {
		t.Errorf("%d tries, %v", len(r.bodies), err)
	}
	r = record(t, http.Header{"Retry-After": {"3600"}}, 429)
	if err := impatient().Send(t.Context(), message(r.URL)); err == nil || len(r.bodies) != 1 {
		t.Errorf("%d tries, %v", len(r.bodies), err)
	}
	r = record(t, http.Header{"Retry-After": {"soon"}}, 503, 200)
	if err := impatient().Send(t.Context(), message(r.URL)); err != nil || len(r.bodies) != 2 {
		t.Errorf("%d tries, %v", len(r.bodies), err)
	}
}

// No secret is in an error, though the server repeats it, the URL holds it, or
// nobody is there.
func TestNoSecretInErrors(t *testing.T) {
	r := record(t, nil, 403)
	m := message(r.URL)
	closed := httptest.NewServer(nil)
	closed.Close()
	broken := message("http://hunter2:s3cr3t@x y")
	for name, m := range map[string]Message{"refused": m, "nobody there": message(closed.URL), "no URL": broken, "no name": message("http://nowhere.invalid")} {
		err := impatient().Send(t.Context(), m)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		text := err.Error()
		if strings.Contains(text, "hunter2") || strings.Contains(text, "s3cr3t") || strings.ContainsAny(text, "\n\x1b") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if err := impatient().Send(t.Context(), m); !strings.Contains(err.Error(), "you said Bearer REDACTED") || !strings.Contains(err.Error(), "/...: HTTP 403") {
		t.Errorf("%v", err)
	}
	if r.auth[0] != "Bearer s3cr3t" {
		t.Errorf("sent %q", r.auth)
	}
}

// A redirect is not followed: it could lead anywhere, with the secrets.
func TestNoRedirect(t *testing.T) {
	other := record(t, nil, 200)
	r := record(t, http.Header{"Location": {other.URL}}, 307)
	if err := impatient().Send(t.Context(), message(r.URL)); err == nil || !strings.Contains(err.Error(), "HTTP 307") || len(other.bodies) != 0 {
		t.Errorf("%v; the other was asked %d times", err, len(other.bodies))
	}
}

func TestCancelled(t *testing.T) {
	r := record(t, nil, 503)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&Client{}).Send(ctx, message(r.URL)); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("got %v", err)
	}
	// A server that never answers does not hold us.
	stalled := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer stalled.Close()
	if err := (&Client{Limit: 20 * time.Millisecond, Delay: time.Millisecond}).Send(t.Context(), Message{Method: "GET", URL: stalled.URL}); err == nil {
		t.Error("no error")
	}
}

func TestShown(t *testing.T) {
	for address, want := range map[string]string{
		"https://hooks.slack.com/services/T0/B0/x": "https://hooks.slack.com/...", "https://joe:hunter2@x:9093": "https://x:9093", "http://x/?token=1": "http://x/...", "http://x/": "http://x",
		"::": "(a URL that cannot be read)", "hunter2": "(a URL that cannot be read)",
	} {
		if got := Shown(address); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}

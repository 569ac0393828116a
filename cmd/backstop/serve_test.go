package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// A serving is a service that runs in a test.
type serving struct {
	t    *testing.T
	now  time.Time
	log  *lineWriter
	news chan struct{} // something was logged
	end  context.CancelFunc
	code chan int
}

// serve starts the service. It looks once, and else only where the arguments say so.
func serve(t *testing.T, now time.Time, args ...string) *serving {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &serving{t: t, now: now, news: make(chan struct{}, 1), end: cancel, code: make(chan int, 1)}
	s.log = &lineWriter{on: func(string) {
		select {
		case s.news <- struct{}{}:
		default:
		}
	}}
	p := &program{ctx: ctx, stdout: io.Discard, stderr: s.log, now: func() time.Time { return now }, env: func(string) (string, bool) { return "", false },
		testOnlyS3: func(o *store.S3Options) {
			o.RetryDelay, o.MaxAttempts = time.Millisecond, 2
			o.HTTPClient = &http.Client{Transport: http.DefaultTransport}
		}}
	args = append([]string{"serve", "--web.listen-address", "127.0.0.1:0", "--log-level", "info", "--audit-schedule", "0 0 1 1 *", "--probe-schedule", "", "--jitter", "0s"}, args...)
	go func() { s.code <- p.run(args) }()
	t.Cleanup(cancel)
	return s
}

// until waits for so many lines with a text.
func (s *serving) until(text string, times int) {
	s.t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for strings.Count(s.text(), text) < times {
		select {
		case <-s.news:
		case code := <-s.code:
			s.t.Fatalf("it ended with %d:\n%s", code, s.text())
		case <-limit.C:
			s.t.Fatalf("it does not say %q %d times:\n%s", text, times, s.text())
		}
	}
}

func (s *serving) text() string {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.text.String()
}

// url is the address that it listens on.
func (s *serving) url(path string) string {
	s.t.Helper()
	s.until("listening", 1)
	_, rest, _ := strings.Cut(s.text(), "address=")
	return "http://" + strings.Fields(rest)[0] + path
}

func (s *serving) get(path string) (int, string) {
	s.t.Helper()
	resp, err := http.Get(s.url(path))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func (s *serving) report() audit.Report {
	s.t.Helper()
	status, body := s.get("/api/v1/reports")
	var r audit.Report
	if err := json.Unmarshal([]byte(body), &r); err != nil || status != http.StatusOK {
		s.t.Fatalf("%d %v: %s", status, err, body)
	}
	return r
}

// states lists state and verdict of each store.
func states(r audit.Report) string {
	var all []string
	for _, s := range r.Stores {
		all = append(all, s.State.Name+" "+string(s.Verdict))
	}
	return strings.Join(all, ", ")
}

// stop ends it as SIGTERM does, and gives the exit status.
func (s *serving) stop() int {
	s.t.Helper()
	s.end()
	select {
	case code := <-s.code:
		return code
	case <-time.After(time.Minute):
		s.t.Fatalf("it does not end:\n%s", s.text())
		return 0
	}
}

// tokenFile holds the token that post brings.
func tokenFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(name, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

var serveTime = at("2026-11-30T18:08:05Z")

func TestServe(t *testing.T) {
	_, b, endpoint := wholeStore(t, serveTime)
	token := tokenFile(t)
	state := filepath.Join(t.TempDir(), "state.json")
	s := serve(t, serveTime, "s3://kops", "--endpoint-url", endpoint, "--audit-token-file", token, "--state", state)
	s.until("audited", 1)
	if status, body := s.get("/readyz"); status != http.StatusOK {
		t.Errorf("ready: %d %s", status, body)
	}
	if got := states(s.report()); got != "running OK" {
		t.Errorf("got %s", got)
	}
	if status, body := s.get("/"); status != http.StatusOK || !strings.Contains(body, "prod.example.com") {
		t.Errorf("page: %d %s", status, body)
	}

	b.Purge(mainStore + etcdmanager.CreatedPath)
	s.ask(2)
	if got := states(s.report()); got != "imminent CRITICAL" {
		t.Errorf("after created went: %s", got)
	}
	if status, body := s.get("/metrics"); status != http.StatusOK || !strings.Contains(body, `backstop_reset_state{`) ||
		!strings.Contains(body, `state="imminent",store="s3://kops/prod.example.com/backups/etcd/main at `) {
		t.Errorf("metrics: %d\n%s", status, body)
	}
	before := s.report()
	if code := s.stop(); code != exitOK {
		t.Errorf("it ended with %d:\n%s", code, s.text())
	}

	// After a restart it says the same before it has looked: S3 is away.
	again := serve(t, serveTime, "s3://kops", "--endpoint-url", "http://127.0.0.1:1", "--state", state, "--timeout", "1ms")
	if status, body := again.get("/readyz"); status != http.StatusOK {
		t.Errorf("ready after a restart: %d %s", status, body)
	}
	if before.Verdict != audit.VerdictCritical {
		t.Errorf("before the restart: %s", before.Verdict)
	}
	if code := again.stop(); code != exitOK {
		t.Errorf("it ended with %d:\n%s", code, again.text())
	}
}

// A probe sees at once that created has gone, and then that it has come back.
func TestServeProbes(t *testing.T) {
	fake, b, endpoint := served(t, serveTime, mustArchive(t, "healthy"))
	s := serve(t, serveTime, "s3://kops", "--endpoint-url", endpoint, "--probe-schedule", "@every 1s")
	s.until("audited checked", 1)
	b.Purge(mainStore + etcdmanager.CreatedPath)
	s.until("audited one store", 1)
	if got := states(s.report()); got != "imminent CRITICAL" {
		t.Errorf("after created went: %s", got)
	}
	for _, f := range mustArchive(t, "healthy") {
		if f.Key == mainStore+etcdmanager.CreatedPath {
			b.Put(f.Key, f.Body)
		}
	}
	s.until("audited one store", 2)
	if got := states(s.report()); !strings.HasPrefix(got, "running") {
		t.Errorf("after created came back: %s", got)
	}
	b.Deny("s3:GetObject")
	s.until("could not be probed", 1)
	if got := states(s.report()); !strings.HasPrefix(got, "running") {
		t.Errorf("what stood stands until the next audit: %s", got)
	}
	for _, r := range fake.Requests() {
		if r.Operation != "GetObject" && !strings.HasPrefix(r.Operation, "List") && !strings.HasPrefix(r.Operation, "Get") {
			t.Errorf("it asked %s", r.Operation)
		}
	}
}

// A new configuration takes effect, one with a mistake does not.
func TestServeReloads(t *testing.T) {
	_, _, endpoint := served(t, serveTime, mustArchive(t, "armed"))
	file := filepath.Join(t.TempDir(), "backstop.yaml")
	write := func(body string) {
		if err := writeFile(file, func(w io.Writer) error { _, err := io.WriteString(w, body); return err }); err != nil {
			t.Fatal(err)
		}
	}
	const config = "version: 1\nstores:\n  - url: s3://kops\n    endpoint_url: %s\n"
	write(fmt.Sprintf(config, endpoint))
	s := serve(t, serveTime, "--config", file)
	s.until("audited checked", 1)
	if got := states(s.report()); got != "armed CRITICAL" {
		t.Errorf("got %s", got)
	}
	write("version: 1\nstores: 3\n")
	s.until("the old one stays in force", 1)
	write(fmt.Sprintf(config+"    role: archive\n", endpoint))
	s.until("the configuration was read again", 1)
	s.until("audited checked", 2)
	if r := s.report(); r.Stores[0].Role != audit.Archive {
		t.Errorf("the role is %q: %s", r.Stores[0].Role, states(r))
	}
}

// A bucket that hangs leaves the last verdict standing, and the end is quick.
func TestServeWhileS3Hangs(t *testing.T) {
	fake, _, endpoint := wholeStore(t, serveTime)
	s := serve(t, serveTime, "s3://kops", "--endpoint-url", endpoint, "--audit-schedule", "@every 1s", "--log-level", "debug")
	s.until("audited checked", 1)
	fake.Fault(func(storetest.Request) *storetest.Fault { return &storetest.Fault{Kind: storetest.Stalled} })
	s.until("this one is left out", 1)
	if got := states(s.report()); got != "running OK" {
		t.Errorf("while S3 hangs: %s", got)
	}
	if code := s.stop(); code != exitOK {
		t.Errorf("it ended with %d:\n%s", code, s.text())
	}
}

func TestServeRefuses(t *testing.T) {
	short := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(short, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"", exitUsage, "no STORE"},
		{"s3://kops --at 2026-01-01", exitUsage, "--at judges"},
		{"s3://kops --replay x.json", exitUsage, "--replay judges"},
		{"s3://kops --audit-schedule often", exitUsage, "want five fields of cron"},
		{"s3://kops --probe-schedule often", exitUsage, "want five fields of cron"},
		{"s3://kops --jitter -1s", exitUsage, "--jitter"},
		{"s3://kops --web.listen-address 256.0.0.1:1", exitUnavailable, "listen on 256.0.0.1:1"},
		{"s3://kops --web.config.file /none", exitConfig, "--web.config.file /none"},
		{"s3://kops --audit-token-file /none", exitConfig, "--audit-token-file"},
		{"s3://kops --audit-token-file " + short, exitConfig, "want at least 16"},
	} {
		r := command(t, serveTime, append([]string{"serve"}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) {
			t.Errorf("serve %s: got %d %q, want %d %q", c.args, r.code, r.stderr, c.code, c.says)
		}
	}
}

// The web configuration is that of Prometheus's exporters: passwords are asked for,
// also by /-/audit, which then needs no token.
func TestServeAsksForPasswords(t *testing.T) {
	_, _, endpoint := wholeStore(t, serveTime)
	web := configured(t, "basic_auth_users:\n  joe: $2a$04$FD/SPMi3dkeZWP.awr9M7O0njQdSrfgvEkDp7ih/wGXMj2b2Suqhm\n")
	s := serve(t, serveTime, "s3://kops", "--endpoint-url", endpoint, "--web.config.file", web)
	s.until("audited checked", 1)
	for _, c := range []struct {
		method, path, password string
		status                 int
	}{
		{"GET", "/", "", http.StatusUnauthorized},
		{"GET", "/metrics", "wrong", http.StatusUnauthorized},
		{"GET", "/", "hunter2hunter2", http.StatusOK},
		{"POST", "/-/audit", "", http.StatusUnauthorized},
		{"POST", "/-/audit?store=s3://kops/prod.example.com/backups/etcd/main", "hunter2hunter2", http.StatusAccepted},
	} {
		req, err := http.NewRequest(c.method, s.url(c.path), nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.password != "" {
			req.SetBasicAuth("joe", c.password)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.Body.Close() != nil || resp.StatusCode != c.status {
			t.Errorf("%s %s: got %v %v, want %d", c.method, c.path, resp, err, c.status)
		}
	}
	s.until("audited one store", 1)
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"backstop/alerts/promtest"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
	"backstop/store/storetest/child"
)

const rulesFile = "../../deploy/alerting-rules.yaml"

// heldBy are the alerts that an Alertmanager has, by name, severity and store.
func heldBy(t *testing.T, alertmanager string) []string {
	t.Helper()
	var all []struct{ Labels map[string]string }
	if err := json.Unmarshal([]byte(httpGet(t, alertmanager+"/api/v2/alerts")), &all); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range all {
		got = append(got, a.Labels["alertname"]+" "+a.Labels["severity"])
	}
	slices.Sort(got)
	return got
}

// untilTold asks Alertmanager until it has one alert and has not another.
func untilTold(t *testing.T, alertmanager, has, not string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		got := heldBy(t, alertmanager)
		if (has == "" || slices.Contains(got, has)) && !slices.Contains(got, not) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("Alertmanager has %q; want %q and not %q", got, has, not)
		}
	}
}

// A store is driven from healthy to repaired before a serving backstop, a real
// Prometheus with the rules that users load, and a real Alertmanager, whose API says
// what fires and what is over.
func TestServeEndToEnd(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second) // Prometheus goes by it
	_, b, endpoint := served(t, now, nil)
	b.SetVersioning("Enabled")
	files := mustArchive(t, "healthy")
	for i := range files {
		files[i].Time = files[i].Time.Add(now.Sub(at("2026-11-30T18:07:10Z")))
	}
	b.Fill(files)
	body := func(key string) []byte {
		return files[slices.IndexFunc(files, func(f storetest.File) bool { return f.Key == key })].Body
	}
	const created, spec = mainStore + etcdmanager.CreatedPath, mainStore + etcdmanager.SpecPath
	s := serve(t, now, "s3://kops", "--endpoint-url", endpoint, "--probe-schedule", "@every 1s", "--audit-token-file", tokenFile(t))
	s.until("audited checked", 1)
	alertmanager := promtest.Alertmanager(t, "")
	promtest.Watching(t, rulesFile, s.url(""), alertmanager)
	const (
		foretold = "BackstopLifecycleDeletesControl warning"
		armed    = "BackstopControlResetArmed critical"
		imminent = "BackstopControlResetImminent critical"
	)
	untilTold(t, alertmanager, "", foretold)
	quiet := heldBy(t, alertmanager)

	b.SetLifecycle([]byte(`<LifecycleConfiguration><Rule><ID>old</ID><Status>Enabled</Status><Filter><Prefix></Prefix></Filter><Expiration><Days>60</Days></Expiration></Rule></LifecycleConfiguration>`))
	s.ask(2)
	untilTold(t, alertmanager, foretold, armed)

	b.Purge(created) // the probe sees it
	s.until("audited one store", 1)
	untilTold(t, alertmanager, imminent, armed)
	b.Purge(spec)
	s.until("audited one store", 2)
	untilTold(t, alertmanager, armed, imminent)
	b.Put(spec, body(spec))
	s.until("audited one store", 3)
	untilTold(t, alertmanager, imminent, armed)

	b.Put(created, body(created), storetest.WithTime(now.Add(-time.Hour)))
	s.until("audited one store", 4)
	untilTold(t, alertmanager, foretold, imminent)
	b.SetLifecycle(nil)
	s.ask(3)
	untilTold(t, alertmanager, "", foretold)
	for _, a := range heldBy(t, alertmanager) {
		if strings.HasSuffix(a, "critical") && !slices.Contains(quiet, a) {
			t.Errorf("after the repair %s still fires", a)
		}
	}
	if code := s.stop(); code != exitOK {
		t.Errorf("it ended with %d", code)
	}
}

// An audit that hangs, because S3 stalls, leaves the last verdict standing, with its
// age in sight, and a real Prometheus raises the alarm that it is stale.
func TestServeHangsAndIsStale(t *testing.T) {
	now := time.Now().UTC().Add(-2*time.Hour + 30*time.Second) // it is not stale for half a minute
	endpoint, fake, _, _ := mortal(t, now)
	s := serve(t, now, "s3://kops", "--endpoint-url", endpoint, "--audit-token-file", tokenFile(t))
	s.until("audited checked", 1)
	before := states(s.report())
	alertmanager := promtest.Alertmanager(t, "")
	promtest.Watching(t, rulesFile, s.url(""), alertmanager)
	fake.Fault(func(storetest.Request) *storetest.Fault { return &storetest.Fault{Kind: storetest.Stalled} })
	s.post()
	const stale = "BackstopAuditStale critical"
	untilTold(t, alertmanager, stale, "")
	if got := states(s.report()); got != before {
		t.Errorf("while S3 hangs the report is %s, want %s", got, before)
	}
	_, metrics := s.get("/metrics")
	if !strings.Contains(metrics, fmt.Sprintf(`backstop_last_audit_timestamp_seconds{cluster="prod.example.com",etcd="main",store="s3://kops/prod.example.com/backups/etcd/main at %s"} %s`, endpoint, timestamp(now))) {
		t.Errorf("the age of what stands is not told:\n%s", metrics)
	}
	if code := s.stop(); code != exitOK {
		t.Errorf("it ended with %d", code)
	}
}

// timestamp is an instant as Prometheus's library writes it.
func timestamp(t time.Time) string {
	b, _ := json.Marshal(float64(t.UnixMilli()) / 1000)
	mantissa := strings.Replace(string(b), ".", "", 1)
	return mantissa[:1] + "." + mantissa[1:] + "e+09"
}

// What is scraped is what promtool calls well-formed.
func TestServeMetricsAreWellFormed(t *testing.T) {
	_, _, endpoint := wholeStore(t, serveTime)
	file := configured(t, "version: 1\nstores:\n- {url: s3://kops, endpoint_url: "+endpoint+"}\n")
	s := serve(t, serveTime, "--config", file, "--probe-schedule", "@every 1s")
	s.until("audited checked", 1)
	s.untilMetric("backstop_probe_success")
	_, metrics := s.get("/metrics")
	if out, err := promtest.Promtool(t, metrics, "check", "metrics"); err != nil || strings.TrimSpace(out) != "" {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	for _, want := range []string{"backstop_config_last_reload_successful 1", "backstop_probe_success{", "go_goroutines", "process_resident_memory_bytes"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("there is no %s", want)
		}
	}
}

// The real program ends with 0, and soon, when it is told to during an audit that
// would never end.
func TestServeEndsDuringAnAudit(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "backstop")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	fake, _, endpoint := wholeStore(t, serveTime)
	stalled := make(chan struct{}, 1)
	fake.Fault(func(storetest.Request) *storetest.Fault {
		select {
		case stalled <- struct{}{}:
		default:
		}
		return &storetest.Fault{Kind: storetest.Stalled}
	})
	var log bytes.Buffer
	c := exec.Command(bin, "serve", "s3://kops", "--endpoint-url", endpoint, "--web.listen-address", "127.0.0.1:0")
	c.Stdout, c.Stderr = &log, &log
	c.Env = append(c.Environ(), "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x", "AWS_REGION=us-east-1")
	if err := child.Start(c); err != nil {
		t.Fatal(err)
	}
	<-stalled
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(5*time.Second, func() { _ = c.Process.Kill() })
	defer late.Stop()
	_ = c.Wait()
	if got := c.ProcessState.ExitCode(); got != exitOK {
		t.Errorf("exit %d (-1 for not within 5 s):\n%s", got, log.String())
	}
}

// ask asks for an audit, and waits for the end of the nth.
func (s *serving) ask(nth int) {
	s.t.Helper()
	s.post()
	s.until("audited checked", nth)
}

func (s *serving) post() {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.url("/-/audit"), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer 0123456789abcdef")
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusAccepted {
		s.t.Fatalf("ask for an audit: %v %v", resp, err)
	}
}

// untilMetric waits until a metric is there.
func (s *serving) untilMetric(name string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, metrics := s.get("/metrics"); strings.Contains(metrics, "\n"+name) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatalf("there is no metric %s", name)
		}
	}
}

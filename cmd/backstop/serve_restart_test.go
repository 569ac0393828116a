package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"backstop/store/storetest"
)

// ofStores leaves of the metrics those that tell the results, and not what this
// process has done.
func ofStores(metrics string) string {
	var b strings.Builder
	own := regexp.MustCompile(`^backstop_(s3_|notifications_total|config_last|build_info|probe_|last_probe)`)
	for line := range strings.Lines(metrics) {
		if strings.HasPrefix(line, "backstop_") && !own.MatchString(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// A restart in the middle of an incident: before the new process has looked, and
// while it cannot, metrics and open alerts are those of the old one. What recovers
// afterwards is resolved by who never raised it.
func TestServeRestart(t *testing.T) {
	endpoint, fake, lose, restore := mortal(t, serveTime)
	pager, am, dead := listen(t), listen(t), listen(t)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := telling(t, endpoint, fmt.Sprintf("  - {name: pager, type: pagerduty, url: %s/v2/enqueue, routing_key_file: %s, severity: critical}\n  - {name: am, type: alertmanager, urls: [%s], severity: critical}\n  - {name: dead, type: deadman, url: %s/ping}\n", pager.URL, key, am.URL, dead.URL))
	state := filepath.Join(t.TempDir(), "state.json")
	args := []string{"--config", config, "--state", state, "--audit-token-file", tokenFile(t)}
	lose()
	s := serve(t, serveTime, args...)
	s.until("audited checked", 1)
	s.untilMetric(`backstop_notifications_total{channel="pager",outcome="sent"} 1`)
	_, before := s.get("/metrics")
	_, was := s.get("/api/v1/reports")
	_, forecast := s.get("/api/v1/forecast")
	if code := s.stop(); code != exitOK {
		t.Errorf("it ended with %d:\n%s", code, s.text())
	}
	heard := pager.since()
	if len(heard) != 1 || !strings.Contains(heard[0], `"trigger"`) {
		t.Fatalf("the pager heard %q", heard)
	}
	if heard := strings.Join(dead.since(), "\n"); !strings.Contains(heard, "/ping/start") || !strings.Contains(heard, "/ping/2 BACKSTOP CRITICAL") {
		t.Errorf("the dead-man's switch heard %s", heard)
	}
	am.since()

	fake.Fault(func(storetest.Request) *storetest.Fault { return &storetest.Fault{Kind: storetest.Stalled} })
	s = serve(t, serveTime, args...)
	if status, _ := s.get("/readyz"); status != 200 {
		t.Errorf("ready: %d", status)
	}
	_, after := s.get("/metrics")
	if a, b := ofStores(before), ofStores(after); a != b || !strings.Contains(a, "backstop_verdict") {
		t.Errorf("metrics before\n%s\nafter\n%s", a, b)
	}
	if _, is := s.get("/api/v1/reports"); is != was {
		t.Errorf("report before\n%s\nafter\n%s", was, is)
	}
	if _, is := s.get("/api/v1/forecast"); is != forecast {
		t.Errorf("forecast before\n%s\nafter\n%s", forecast, is)
	}
	s.untilMetric(`backstop_notifications_total{channel="am",outcome="sent"} 1`)
	if heard := strings.Join(am.since(), "\n"); !strings.Contains(heard, "BackstopControlResetImminent") {
		t.Errorf("Alertmanager was not told again: %s", heard)
	}
	if heard := pager.since(); len(heard) != 0 {
		t.Errorf("the pager was told again: %q", heard)
	}
	s.stop()

	fake.Fault(nil)
	restore()
	s = serve(t, serveTime, args...)
	s.until("audited checked", 1)
	s.untilMetric(`backstop_notifications_total{channel="pager",outcome="sent"} 1`)
	if heard := pager.since(); len(heard) != 1 || !strings.Contains(heard[0], `"resolve"`) || !strings.Contains(heard[0], "BackstopControlResetImminent") {
		t.Errorf("after the repair the pager heard %q", heard)
	}
	if strings.Contains(s.text(), "hunter2") {
		t.Error("the log holds a secret")
	}
}

// A channel that would be forgotten at a restart wants a state file.
func TestServeWantsAState(t *testing.T) {
	config := telling(t, "http://127.0.0.1:1", "  - {name: chat, type: webhook, url: 'http://127.0.0.1:1/x'}\n")
	r := command(t, serveTime, "serve", "--config", config)
	if r.code != exitUsage || !strings.Contains(r.stderr, "without --state FILE nobody would know after a restart what the channel chat was told") {
		t.Errorf("got %d %s", r.code, r.stderr)
	}
}

package alerts

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"backstop/alerts/promtest"
	"backstop/audit"
)

// A real Prometheus scrapes the collector, evaluates the rules that users load, and
// tells a real Alertmanager: what is found, what stands while it cannot be seen, and
// what is over.
func TestRealPrometheus(t *testing.T) {
	c := NewCollector(built)
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(c); err != nil {
		t.Fatal(err)
	}
	scraped := httptest.NewServer(promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	defer scraped.Close()
	alertmanager := promtest.Alertmanager(t, "")
	promtest.Watching(t, "../deploy/alerting-rules.yaml", scraped.URL, alertmanager)

	set := func(stores ...audit.StoreReport) {
		for i := range stores { // Prometheus goes by the true time
			stores[i].Observed = time.Now()
		}
		c.Set(Of(audit.NewReport(time.Now(), stores, nil)))
	}
	const armedAlert = "BackstopControlResetArmed critical s3://kops/prod.example.com/backups/etcd/events"
	other := healthy()
	other.Verdict, other.Findings = audit.VerdictWarning, []audit.Finding{finding("snapshot/late", audit.Warning, "m")}
	const late = "BackstopSnapshotLate warning s3://kops/prod.example.com/backups/etcd/main"

	set(armed(), healthy())
	until(t, alertmanager, "armed", func(got []string) bool { return slices.Contains(got, armedAlert) && !slices.Contains(got, late) })
	gone := armed()
	gone.Findings, gone.Verdict = nil, audit.VerdictUnknown
	gone.Unseen = []audit.UnseenFact{{Fact: audit.FactCreated, Necessary: true, Why: audit.Why{Cause: audit.CauseDenied}}}
	set(gone, other) // that the one is told shows that the round is over
	until(t, alertmanager, "not seen", func(got []string) bool { return slices.Contains(got, armedAlert) && slices.Contains(got, late) })
	mended := healthy()
	mended.Store = armed().Store
	set(mended, healthy())
	until(t, alertmanager, "repaired", func(got []string) bool { return len(got) == 0 })
}

// until asks Alertmanager until what it has is right.
func until(t *testing.T, alertmanager, what string, right func([]string) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		got := toldBy(t, alertmanager)
		if right(got) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: Alertmanager has %q", what, got)
		}
	}
}

func toldBy(t *testing.T, alertmanager string) []string {
	t.Helper()
	resp, err := http.Get(alertmanager + "/api/v2/alerts")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all []struct{ Labels map[string]string }
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range all {
		got = append(got, a.Labels["alertname"]+" "+a.Labels["severity"]+" "+a.Labels["store"])
	}
	return got
}

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"backstop/alerts/promtest"
)

// An audit tells Prometheus in three ways, and every one passes its checker.
func TestMetricsOfAnAudit(t *testing.T) {
	now := at("2026-11-30T18:08:05Z")
	_, _, endpoint := served(t, now, mustArchive(t, "armed"))
	dir := t.TempDir()
	r := command(t, now, "audit", "s3://kops", "--endpoint-url", endpoint, "-o", "prometheus", "--textfile", dir)
	if r.code != 2 || !strings.Contains(r.stdout, `backstop_reset_state{cluster="prod.example.com",etcd="main",state="armed",store="s3://kops/prod.example.com/backups/etcd/main at `+endpoint+`"} 1`) ||
		!strings.Contains(r.stdout, `rule="control/reset-armed",severity="critical"`) || !strings.Contains(r.stdout, "backstop_last_run_timestamp_seconds 1.796062085e+09\n") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	file, err := os.ReadFile(filepath.Join(dir, "backstop.prom"))
	if err != nil || string(file) != r.stdout {
		t.Errorf("%v: the file is not what -o prometheus prints\n%s", err, file)
	}
	url := promtest.Pushgateway(t, "")
	r = command(t, now, "audit", "s3://kops", "--endpoint-url", endpoint, "--pushgateway", url, "--pushgateway-job", "nightly")
	if r.code != 2 {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	metrics := httpGet(t, url+"/metrics")
	if !strings.Contains(metrics, `job="nightly"`) || !strings.Contains(metrics, `rule="control/reset-armed"`) {
		t.Errorf("the Pushgateway tells\n%s", metrics)
	}
	for name, text := range map[string]string{"file": string(file), "gateway": ours(metrics)} {
		if out, err := promtest.Promtool(t, text, "check", "metrics"); err != nil {
			t.Errorf("promtool check metrics, %s: %v\n%s", name, err, out)
		}
	}
}

// ours are the metrics of a scrape that are backstop's.
func ours(scrape string) string {
	var b strings.Builder
	for line := range strings.Lines(scrape) {
		if strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE "), "backstop_") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func httpGet(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		t.Fatalf("GET %s: HTTP %d, %v", url, resp.StatusCode, err)
	}
	return string(body)
}

// What could not be delivered has an exit status of its own, whatever the verdict;
// the report is printed all the same, and no password.
func TestUndelivered(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	_, b, endpoint := served(t, now, mustArchive(t, "healthy"))
	b.SetVersioning("Enabled")
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }))
	defer refusing.Close()
	url := strings.Replace(refusing.URL, "://", "://joe:hunter2@", 1)
	r := commandIn(t, t.Context(), now, map[string]string{"BACKSTOP_PUSHGATEWAY": url}, "audit", "s3://kops", "--endpoint-url", endpoint)
	if r.code != 74 || !strings.Contains(r.stdout, "checked 1 of 1 store") || !strings.Contains(r.stderr, "push the metrics of the run: unexpected status code 403") || !strings.Contains(r.stderr, "hint: ") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if strings.Contains(r.stdout+r.stderr, "hunter2") || strings.Count(r.stderr, "\n") != 2 {
		t.Errorf("it prints\n%s%s", r.stdout, r.stderr)
	}
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "backstop.prom"), 0o755); err != nil { // in the way
		t.Fatal(err)
	}
	if r := command(t, now, "audit", "s3://kops", "--endpoint-url", endpoint, "--textfile", dir, "--exit-zero"); r.code != 74 || !strings.Contains(r.stderr, "write metrics to "+dir) {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
}

func TestMetricsUsage(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--textfile", filepath.Join(dir, "nowhere")}, "which is no directory"},
		{[]string{"--pushgateway", "pushgateway:9091"}, "--pushgateway: it is not the URL of a Pushgateway"},
		{[]string{"--pushgateway", "http://joe:hunter2@x/?q"}, "--pushgateway: it is not the URL of a Pushgateway"},
		{[]string{"--pushgateway", "http://x", "--pushgateway-job", ""}, "the name of its job is empty"},
		{[]string{"--textfile", dir, "--at", "2026-12-01"}, "do not go with --replay or --at"},
		{[]string{"--textfile", dir, "--replay", "x"}, "do not go with --replay or --at"},
		{[]string{"--pushgateway", "http://x", "--rules", "snapshot/none"}, "do not go with --rules"},
		{[]string{"--pushgateway", "http://x", "--watch", "1s"}, "do not go with --watch"},
		{[]string{"-o", "prometheus", "-o", "text"}, "2 formats would go to stdout"},
		{[]string{"-o", "xml"}, "there are html, json, markdown, nagios, prometheus, text"},
	} {
		args := append([]string{"audit"}, c.args...)
		if c.args[0] != "--textfile" || c.args[len(c.args)-2] != "--replay" {
			args = append(args, "/nowhere")
		}
		r := command(t, now, args...)
		if r.code != 64 || !strings.Contains(r.stderr, c.want) || strings.Contains(r.stderr, "hunter2") {
			t.Errorf("%q: exit %d, %s", c.args, r.code, r.stderr)
		}
	}
}

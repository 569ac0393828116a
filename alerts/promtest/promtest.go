// Package promtest runs the real Prometheus, Alertmanager and Pushgateway for
// tests, on the loopback interface, and their checkers promtool and amtool. Only
// tests import it.
//
// They are Debian's: apt-get install prometheus prometheus-alertmanager
// prometheus-pushgateway. Where they are not installed tests are skipped, or with
// BACKSTOP_REQUIRE_REAL=1 fail.
package promtest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"backstop/store/storetest/child"
)

// startLimit bounds a start, which takes half a second on an idle machine.
const startLimit = 60 * time.Second

// packages are what Debian calls the programs' packages.
var packages = map[string]string{
	"prometheus": "prometheus", "promtool": "prometheus",
	"prometheus-alertmanager": "prometheus-alertmanager", "amtool": "prometheus-alertmanager",
	"prometheus-pushgateway": "prometheus-pushgateway",
}

// need skips a test where a program is not installed.
func need(tb testing.TB, program string) {
	tb.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	line := fmt.Sprintf("skipped real part: %s (apt-get install %s)", program, packages[program])
	if os.Getenv("BACKSTOP_REQUIRE_REAL") == "1" {
		tb.Fatalf("%s is not installed: %s", program, line)
	}
	tb.Skip(line)
}

// Promtool runs promtool with an input, and gives what it printed.
func Promtool(tb testing.TB, stdin string, args ...string) (string, error) {
	tb.Helper()
	return run(tb, "promtool", stdin, args...)
}

// Amtool runs amtool, and gives what it printed.
func Amtool(tb testing.TB, args ...string) (string, error) {
	tb.Helper()
	return run(tb, "amtool", "", args...)
}

func run(tb testing.TB, program, stdin string, args ...string) (string, error) {
	tb.Helper()
	need(tb, program)
	cmd := exec.CommandContext(tb.Context(), program, args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Alertmanager starts an Alertmanager with a configuration file, and gives its
// URL. An empty configuration is one that keeps everything to itself.
func Alertmanager(tb testing.TB, config string) string {
	tb.Helper()
	if config == "" {
		config = "route: {receiver: none}\nreceivers: [{name: none}]\n"
	}
	dir := tb.TempDir()
	file := write(tb, dir, "alertmanager.yml", config)
	return start(tb, "prometheus-alertmanager", "/-/ready", func(address string) []string {
		// Without an address for its peers it listens on all interfaces for them.
		return []string{"--config.file=" + file, "--storage.path=" + dir, "--web.listen-address=" + address, "--cluster.listen-address="}
	})
}

// Pushgateway starts a Pushgateway, and gives its URL. webConfig is the content of
// its --web.config.file, if any.
func Pushgateway(tb testing.TB, webConfig string) string {
	tb.Helper()
	more := []string{"--persistence.file="} // Debian's would keep what other tests pushed
	if webConfig != "" {
		more = append(more, "--web.config.file="+write(tb, tb.TempDir(), "web.yml", webConfig))
	}
	return start(tb, "prometheus-pushgateway", "/-/ready", func(address string) []string {
		return append([]string{"--web.listen-address=" + address}, more...)
	})
}

// Prometheus starts a Prometheus with a configuration file, and gives its URL.
func Prometheus(tb testing.TB, config string) string {
	tb.Helper()
	dir := tb.TempDir()
	file := write(tb, dir, "prometheus.yml", config)
	return start(tb, "prometheus", "/-/ready", func(address string) []string {
		return []string{"--config.file=" + file, "--storage.tsdb.path=" + filepath.Join(dir, "data"), "--web.listen-address=" + address}
	})
}

// Watching starts a Prometheus that scrapes a URL, evaluates the rules of a file and
// tells an Alertmanager. It is in a hurry: it evaluates the rules each second, and
// no alert waits.
func Watching(tb testing.TB, rules, scraped, alertmanager string) string {
	tb.Helper()
	body, err := os.ReadFile(rules)
	if err != nil {
		tb.Fatal(err)
	}
	hurried := regexp.MustCompile(`(?m)^ +(for|keep_firing_for|interval): .*\n`).ReplaceAllString(string(body), "")
	file := write(tb, tb.TempDir(), "rules.yaml", hurried)
	host := func(url string) string { return strings.TrimPrefix(url, "http://") }
	return Prometheus(tb, fmt.Sprintf(`global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%s]
alerting: {alertmanagers: [{static_configs: [{targets: ['%s']}]}]}
scrape_configs: [{job_name: backstop, static_configs: [{targets: ['%s']}]}]
`, file, host(alertmanager), host(scraped)))
}

func write(tb testing.TB, dir, name, content string) string {
	tb.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
	return file
}

// start starts a daemon for the time of a test, and waits until it is ready.
func start(tb testing.TB, program, ready string, args func(address string) []string) string {
	tb.Helper()
	need(tb, program)
	address, err := freeAddress()
	if err != nil {
		tb.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(program, args(address)...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := child.Start(cmd); err != nil {
		tb.Fatalf("start %s: %v", program, err)
	}
	url := "http://" + address
	err = await(tb.Context(), url+ready)
	if err != nil {
		child.End(cmd)
		tb.Fatalf("start %s: %v\n%s", program, err, log.String())
	}
	tb.Cleanup(func() { child.End(cmd) })
	return url
}

// await asks ten times a second until there is an answer.
func await(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close() // the status is enough
			// Where it wants a password it is ready to ask for it.
			if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusUnauthorized {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", url, ctx.Err())
		}
	}
}

// freeAddress gives a port that nobody listens on. The kernel hands them out in an
// order of its own, so that another process gets another.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

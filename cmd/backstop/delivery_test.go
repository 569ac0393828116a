package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"backstop/alerts/promtest"
	"backstop/audit"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// A listener is a server that notes what it is told.
type listener struct {
	*httptest.Server
	mu     sync.Mutex
	heard  []string // method, path and body
	status int
}

func listen(t *testing.T) *listener {
	t.Helper()
	l := &listener{status: http.StatusOK}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.heard = append(l.heard, r.Method+" "+r.URL.Path+" "+string(body))
		w.WriteHeader(l.status)
	}))
	t.Cleanup(l.Close)
	return l
}

// since gives what was heard since the last time.
func (l *listener) since() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	heard := l.heard
	l.heard = nil
	return heard
}

// telling is a configuration for one store of a fake S3, with channels.
func telling(t *testing.T, endpoint, channels string) string {
	t.Helper()
	return configured(t, fmt.Sprintf("version: 1\nstores:\n- {url: s3://kops, endpoint_url: %s}\nnotify:\n  channels:\n%s", endpoint, channels))
}

// mortal puts the healthy store into a fake S3, as if it had been written just
// before now, in a bucket that keeps versions. It gives what loses the created file,
// and what brings it back.
func mortal(t *testing.T, now time.Time) (endpoint string, fake *storetest.Fake, lose, restore func()) {
	t.Helper()
	const created = mainStore + etcdmanager.CreatedPath
	files := mustArchive(t, "healthy")
	var lost storetest.File
	for i := range files {
		files[i].Time = files[i].Time.Add(now.Sub(at("2026-11-30T18:07:10Z")))
		if files[i].Key == created {
			lost = files[i]
		}
	}
	fake, b, endpoint := served(t, now, files)
	b.SetVersioning("Enabled")
	lose = func() { b.Purge(created) }
	restore = func() { b.Put(created, lost.Body, storetest.WithTime(lost.Time)) }
	return endpoint, fake, lose, restore
}

// What is raised is resolved when the store recovers, by runs that know of each
// other by the state file alone; what cannot be seen is not resolved.
func TestNotify(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	endpoint, fake, lose, restore := mortal(t, now)
	pager := listen(t)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := telling(t, endpoint, fmt.Sprintf("  - {name: pager, type: pagerduty, url: %s/v2/enqueue, routing_key_file: %s, severity: critical}\n", pager.URL, key))
	state := filepath.Join(t.TempDir(), "state.json")
	run := func(what string, code int, want ...string) {
		t.Helper()
		r := command(t, now, "audit", "--config", config, "--notify", "--state", state)
		heard := pager.since()
		if r.code != code || len(heard) != len(want) || strings.Contains(r.stdout+r.stderr, "hunter2") {
			t.Errorf("%s: exit %d, heard %q\n%s%s", what, r.code, heard, r.stdout, r.stderr)
			return
		}
		for i, words := range want {
			for _, w := range strings.Split(words, "; ") {
				if !strings.Contains(heard[i], w) {
					t.Errorf("%s: heard %s, want %q", what, heard[i], w)
				}
			}
		}
		if body, err := os.ReadFile(state); err != nil || strings.Contains(string(body), "hunter2") {
			t.Errorf("%s: the state: %v\n%s", what, err, body)
		}
	}
	const alert = "backstop/BackstopControlResetImminent/s3://kops/prod.example.com/backups/etcd/main at "
	run("healthy", 0)
	lose()
	run("lost", 2, `"event_action": "trigger"; "dedup_key": "`+alert+`; "routing_key": "hunter2"; "severity": "critical"`)
	run("lost, again", 2)
	fake.Fault(func(r storetest.Request) *storetest.Fault {
		return &storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "AccessDenied", Message: "no"}
	})
	run("everything is refused", 77)
	fake.Fault(nil)
	pager.status = 503
	restore()
	run("repaired, and the pager is down", 74, `"resolve"`, `"resolve"`, `"resolve"`, `"resolve"`, `"resolve"`)
	pager.status = 202
	run("the pager is back", 0, `"event_action": "resolve"; "dedup_key": "`+alert)
	run("quiet", 0)
}

// The same, against a real Alertmanager, and without a state: what is over is over
// then because it is repeated no longer.
func TestNotifyAlertmanager(t *testing.T) {
	url := promtest.Alertmanager(t, "")
	now := time.Now().UTC().Truncate(time.Second) // Alertmanager goes by it
	endpoint, _, lose, restore := mortal(t, now)
	config := telling(t, endpoint, "  - {name: am, type: alertmanager, urls: ["+url+"], severity: critical}\n")
	state := filepath.Join(t.TempDir(), "state.json")
	alerts := func() string { return httpGet(t, url+"/api/v2/alerts") }
	notify := func(args ...string) result {
		return command(t, now, append([]string{"audit", "--config", config, "--notify"}, args...)...)
	}
	lose()
	if r := notify("--state", state); r.code != 2 || !strings.Contains(alerts(), `"alertname":"BackstopControlResetImminent"`) || !strings.Contains(alerts(), `"verdict":"critical"`) {
		t.Errorf("exit %d\n%s%s\n%s", r.code, r.stdout, r.stderr, alerts())
	}
	restore()
	if r := notify("--state", state); r.code > 1 || alerts() != "[]\n" {
		t.Errorf("exit %d\n%s%s\n%s", r.code, r.stdout, r.stderr, alerts())
	}
	lose()
	if r := notify(); r.code != 2 || !strings.Contains(alerts(), `"alertname":"BackstopControlResetImminent"`) {
		t.Errorf("without a state: exit %d\n%s%s\n%s", r.code, r.stdout, r.stderr, alerts())
	}
	if r := command(t, now, "notify", "test", "--config", config); r.code != 0 || r.stdout != "am: told of a test, and that it is over\n" || strings.Contains(alerts(), "BackstopTest") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// amtool accepts the Alertmanager configuration that the documentation shows.
func TestDocumentedAlertmanager(t *testing.T) {
	page, err := os.ReadFile("../../docs/notifications.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the page has no example")
	}
	file := configured(t, example)
	if out, err := promtest.Amtool(t, "check-config", file); err != nil || !strings.Contains(out, "SUCCESS") {
		t.Errorf("amtool check-config: %v\n%s", err, out)
	}
	for labels, receiver := range map[string]string{"severity=critical": "pager", "severity=warning": "chat"} {
		if out, err := promtest.Amtool(t, "config", "routes", "test", "--config.file="+file, labels); err != nil || !strings.HasSuffix(strings.TrimSpace(out), "\n"+receiver) && strings.TrimSpace(out) != receiver {
			t.Errorf("%s goes to %s (%v), want %s", labels, out, err, receiver)
		}
	}
}

// A dead-man's switch hears when a run begins, and how it ends, whatever the end.
func TestDeadman(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	endpoint, fake, lose, _ := mortal(t, now)
	check := listen(t)
	config := func(failOn string) string {
		return telling(t, endpoint, "  - {name: switch, type: deadman, url: "+check.URL+"/uuid, fail_on: "+failOn+"}\n")
	}
	run := func(what string, code int, path, body string, args ...string) {
		t.Helper()
		r := command(t, now, append([]string{"audit", "--notify"}, args...)...)
		heard := check.since()
		if r.code != code || len(heard) != 2 || !strings.HasPrefix(heard[0], "POST /uuid/start ") || !strings.HasPrefix(heard[1], "POST /uuid/"+path+" ") || !strings.Contains(heard[1], body) {
			t.Errorf("%s: exit %d, heard %q\n%s%s", what, r.code, heard, r.stdout, r.stderr)
		}
	}
	run("healthy", 0, "0", "BACKSTOP OK: ", "--config", config("warning"))
	fake.Fault(func(r storetest.Request) *storetest.Fault {
		if r.Operation != "GetBucketLifecycleConfiguration" {
			return nil
		}
		return &storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "AccessDenied", Message: "no"}
	})
	run("not seen", 3, "3", "BACKSTOP UNKNOWN: ", "--config", config("critical"))
	fake.Fault(nil)
	lose()
	run("lost", 2, "2", "control/reset-imminent", "--config", config("critical"))
	run("lost, but fine for the caller", 0, "0", "control/reset-imminent", "--config", config("critical"), "--exit-zero")
	run("a recording that cannot be written", 70, "70", "record observations", "--config", config("critical"), "--record", "/nowhere/seen.json")
	check.status = 404
	r := command(t, now, "audit", "--notify", "--config", config("warning"))
	if r.code != 74 || !strings.Contains(r.stderr, "tell the dead-man's switch switch (start)") || strings.Contains(r.stderr, "uuid") || !strings.Contains(r.stdout, "CRITICAL") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	check.status = 200
	check.since()
	// A run that was interrupted says so.
	ctx, cancel := context.WithCancel(t.Context())
	fake.Fault(func(storetest.Request) *storetest.Fault { cancel(); return nil })
	if r := commandIn(t, ctx, now, nil, "audit", "--notify", "--config", config("warning")); r.code != 130 {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if heard := check.since(); len(heard) != 2 || !strings.HasPrefix(heard[1], "POST /uuid/130 ") {
		t.Errorf("heard %q", heard)
	}
}

// warnings 1 is a failure for some and not for others.
func TestFailsFrom(t *testing.T) {
	for _, c := range []struct {
		failOn string
		fails  []int
		fine   []int
	}{{"warning", []int{1, 2, 3, 69, 74, 143}, []int{0}}, {"critical", []int{2, 3, 64, 70, 77, 130}, []int{0, 1}}} {
		fails := failsFrom(map[string]audit.Verdict{"warning": audit.VerdictWarning, "critical": audit.VerdictCritical}[c.failOn])
		for _, s := range c.fails {
			if !fails(s) {
				t.Errorf("%s: %d is no failure", c.failOn, s)
			}
		}
		for _, s := range c.fine {
			if fails(s) {
				t.Errorf("%s: %d is a failure", c.failOn, s)
			}
		}
	}
}

// A state that cannot be read hinders nobody from being told, and is kept.
func TestUnreadableState(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	endpoint, _, lose, _ := mortal(t, now)
	lose()
	hook := listen(t)
	config := telling(t, endpoint, "  - {name: hook, type: webhook, url: "+hook.URL+"}\n")
	for content, want := range map[string]string{"{": "it is not a state of backstop's", `{"schema": 9}`: "it has schema 9, and this backstop reads 1"} {
		state := filepath.Join(t.TempDir(), "state.json")
		if err := os.WriteFile(state, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		r := command(t, now, "audit", "--config", config, "--notify", "--state", state)
		if r.code != 74 || !strings.Contains(r.stderr, want) || len(hook.since()) != 1 {
			t.Errorf("%s: exit %d\n%s", content, r.code, r.stderr)
		}
		if kept, err := os.ReadFile(state + ".unreadable"); err != nil || string(kept) != content {
			t.Errorf("%s: %v, %s", content, err, kept)
		}
		if r := command(t, now, "audit", "--config", config, "--notify", "--state", state); r.code != 2 || len(hook.since()) != 0 {
			t.Errorf("%s, the next run: exit %d\n%s", content, r.code, r.stderr)
		}
	}
	r := command(t, now, "audit", "--config", config, "--notify", "--state", "/nowhere/state.json")
	if r.code != 74 || !strings.Contains(r.stderr, "write the state /nowhere/state.json") || len(hook.since()) != 1 {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
}

// Notifications are counted in the metrics of the run.
func TestNotificationsAreCounted(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	endpoint, _, lose, _ := mortal(t, now)
	lose()
	good, bad := listen(t), listen(t)
	bad.status = 400
	dir := t.TempDir()
	config := telling(t, endpoint, "  - {name: good, type: webhook, url: "+good.URL+"}\n  - {name: bad, type: webhook, url: "+bad.URL+"}\n")
	r := command(t, now, "audit", "--config", config, "--notify", "--state", filepath.Join(dir, "state"), "--textfile", dir)
	got, err := os.ReadFile(filepath.Join(dir, "backstop.prom"))
	if r.code != 74 || err != nil {
		t.Errorf("exit %d, %v\n%s", r.code, err, r.stderr)
	}
	for _, want := range []string{`{channel="good",outcome="sent"} 1`, `{channel="good",outcome="failed"} 0`, `{channel="bad",outcome="sent"} 0`, `{channel="bad",outcome="failed"} 1`} {
		if !strings.Contains(string(got), "backstop_notifications_total"+want+"\n") {
			t.Errorf("no %s", want)
		}
	}
}

func TestNotifyUsage(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	slack := configured(t, oneChannel("type: slack\nurl_file: /nowhere"))
	am := configured(t, oneChannel("type: alertmanager\nurls: [http://127.0.0.1:1]"))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"audit", "/nowhere", "--notify"}, 64, "--notify: there is nobody to tell"},
		{[]string{"audit", "/nowhere", "--notify", "--config", configured(t, "version: 1\n")}, 64, "--notify: there is nobody to tell"},
		{[]string{"audit", "/nowhere", "--notify", "--config", slack}, 64, "--notify: without --state FILE nobody would know what the channel x was told"},
		{[]string{"audit", "/nowhere", "--state", "x"}, 64, "--state is for --notify"},
		{[]string{"audit", "/nowhere", "--notify", "--config", am, "--at", "2026-12-01"}, 64, "do not go with --replay or --at"},
		{[]string{"audit", "/nowhere", "--notify", "--config", am, "--rules", "snapshot/none"}, 64, "do not go with --rules"},
		{[]string{"audit", "/nowhere", "--notify", "--config", am, "--watch", "1s"}, 64, "do not go with --watch"},
		{[]string{"notify"}, 64, "backstop notify test"},
		{[]string{"notify", "test"}, 64, "there is nobody to tell"},
		{[]string{"notify", "test", "--config", am, "--channel", "y"}, 64, `there is no channel "y"; there are x`},
		{[]string{"notify", "test", "--config", "/nowhere"}, 78, "no such file"},
	} {
		if r := command(t, now, c.args...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%q: exit %d, %s%s", c.args, r.code, r.stdout, r.stderr)
		}
	}
}

// Each channel is tried, and says what became of it.
func TestNotifyTest(t *testing.T) {
	good, bad := listen(t), listen(t)
	bad.status = 403
	config := configured(t, "version: 1\nnotify:\n  channels:\n  - {name: switch, type: deadman, url: "+good.URL+"/uuid}\n  - {name: good, type: webhook, url: "+good.URL+"}\n  - {name: bad, type: webhook, url: "+bad.URL+"/hunter2}\n  - {name: file, type: slack, url_file: /nowhere}\n")
	r := command(t, configNoon, "notify", "test", "--config", config)
	want := "switch: told of a test, and that it is over\ngood: told of a test, and that it is over\nbad: FAILED: 1 alert: POST " + bad.URL + "/...: HTTP 403\nfile: FAILED: read a secret: open /nowhere: no such file or directory\n"
	if r.code != 74 || strings.ReplaceAll(r.stdout, "BackstopTest of s3://test/backups/etcd/main", "1 alert") != want || r.stderr != "" {
		t.Errorf("exit %d\n%s%s\nwant\n%s", r.code, r.stdout, r.stderr, want)
	}
	if heard := good.since(); len(heard) != 4 || !strings.HasPrefix(heard[0], "POST /uuid/start") || !strings.HasPrefix(heard[1], "POST /uuid/0") || !strings.Contains(heard[2], "BackstopTest") || !strings.Contains(heard[3], "the test is over") {
		t.Errorf("heard %q", heard)
	}
	if r := command(t, configNoon, "notify", "test", "--config", config, "--channel", "good,switch"); r.code != 0 || len(good.since()) != 4 {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

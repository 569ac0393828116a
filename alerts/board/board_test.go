package board

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"backstop/alerts/notify"
	"backstop/audit"
	"backstop/audit/report"
	"backstop/rules/forecast"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// store is a store report with one finding.
func store(name string, v audit.Verdict, judged time.Time) audit.StoreReport {
	return audit.StoreReport{Store: audit.Store{URL: "s3://kops/" + name, Bucket: "kops", Prefix: name}, Verdict: v, Judged: judged, Observed: judged,
		State: audit.StoreState{Name: "running"}, Findings: []audit.Finding{{Rule: "snapshot/late", Severity: audit.Warning, Store: "s3://kops/" + name, Message: "late"}},
		Usage: audit.Usage{Requests: map[string]int{"ListObjectsV2": 2}}}
}

// published is a board after one run over two stores.
func published() *Board {
	b := New()
	b.Begin(noon.Add(-time.Minute))
	b.Publish(audit.NewReport(noon, []audit.StoreReport{store("a", audit.OK, noon), store("b", audit.VerdictWarning, noon)},
		[]audit.Problem{{Target: "s3://none", Cause: audit.CauseNoBucket, Message: "the bucket does not exist"}}),
		map[string]report.Detail{store("a", audit.OK, noon).Store.ID(): {Timeline: &forecast.Timeline{Store: store("a", audit.OK, noon).Store}}}, noon)
	return b
}

func verdicts(b *Board) map[string]audit.Verdict {
	all := map[string]audit.Verdict{}
	for _, s := range b.Report(noon).Stores {
		all[s.Store.Prefix] = s.Verdict
	}
	return all
}

func TestBoard(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(b *Board)
		want map[string]audit.Verdict
	}{
		"a run":                {func(*Board) {}, map[string]audit.Verdict{"a": audit.OK, "b": audit.VerdictWarning}},
		"a run that fails":     {func(b *Board) { b.Begin(noon.Add(time.Minute)); b.Fail(errors.New("no"), noon.Add(2*time.Minute)) }, map[string]audit.Verdict{"a": audit.OK, "b": audit.VerdictWarning}},
		"a run that goes on":   {func(b *Board) { b.Begin(noon.Add(time.Minute)) }, map[string]audit.Verdict{"a": audit.OK, "b": audit.VerdictWarning}},
		"a store between runs": {func(b *Board) { b.Update(store("a", audit.VerdictCritical, noon.Add(time.Second)), report.Detail{}) }, map[string]audit.Verdict{"a": audit.VerdictCritical, "b": audit.VerdictWarning}},
		"an older word":        {func(b *Board) { b.Update(store("a", audit.VerdictCritical, noon.Add(-time.Second)), report.Detail{}) }, map[string]audit.Verdict{"a": audit.OK, "b": audit.VerdictWarning}},
		"a store that no run had": {func(b *Board) { b.Update(store("c", audit.VerdictCritical, noon.Add(time.Second)), report.Detail{}) },
			map[string]audit.Verdict{"a": audit.OK, "b": audit.VerdictWarning}},
		"a run that began before what was found of one store": {func(b *Board) {
			b.Update(store("a", audit.VerdictCritical, noon.Add(time.Second)), report.Detail{})
			b.Publish(audit.NewReport(noon, []audit.StoreReport{store("a", audit.OK, noon), store("b", audit.OK, noon)}, nil), nil, noon.Add(time.Minute))
		}, map[string]audit.Verdict{"a": audit.VerdictCritical, "b": audit.OK}},
		"a run without a store that stood": {func(b *Board) {
			b.Begin(noon)
			b.Publish(audit.NewReport(noon, []audit.StoreReport{store("b", audit.OK, noon)}, nil), nil, noon)
		}, map[string]audit.Verdict{"b": audit.OK}},
	} {
		b := published()
		if c.do(b); !reflect.DeepEqual(verdicts(b), c.want) {
			t.Errorf("%s: got %v, want %v", name, verdicts(b), c.want)
		}
	}
}

func TestRuns(t *testing.T) {
	b := published()
	last, running := b.Last()
	if !last.Succeeded.Equal(noon) || last.Took != time.Minute || last.Failure != "" || !running.IsZero() || last.Usage.Requests["ListObjectsV2"] != 4 {
		t.Errorf("after a run: %+v, %v", last, running)
	}
	b.Begin(noon.Add(time.Hour))
	b.Fail(errors.New("no credentials"), noon.Add(2*time.Hour))
	last, _ = b.Last()
	if !last.Succeeded.Equal(noon) || last.Failure != "no credentials" || !last.Ended.Equal(noon.Add(2*time.Hour)) || !b.Ready() {
		t.Errorf("after a failure: %+v", last)
	}
}

func TestStateSurvivesARestart(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state.json")
	before := published()
	s := store("a", audit.OK, noon)
	before.Update(s, report.Detail{Timeline: &forecast.Timeline{Store: s.Store}, Snapshots: []report.Dot{{At: noon, Size: 7}}})
	before.Tell(notify.State{Schema: notify.StateSchema, Open: map[string]notify.Alert{"x": {ID: "x", Rounds: 3, Since: noon}}, Told: map[string]map[string]notify.Alert{"am": {"x": {ID: "x", Since: noon}}}})
	if err := before.Save(name); err != nil {
		t.Fatal(err)
	}
	after := New()
	if err := after.Load(name); err != nil {
		t.Fatal(err)
	}
	if a, b := asJSON(t, before.Details()), asJSON(t, after.Details()); a != b || !strings.Contains(a, `"size":7`) {
		t.Errorf("details before\n%s\nafter\n%s", a, b)
	}
	if !reflect.DeepEqual(before.Told(), after.Told()) {
		t.Errorf("told before %v, after %v", before.Told(), after.Told())
	}
	was, is := before.Report(noon), after.Report(noon)
	if a, b := asJSON(t, was), asJSON(t, is); a != b {
		t.Errorf("before\n%s\nafter\n%s", a, b)
	}
	wasLast, _ := before.Last()
	isLast, _ := after.Last()
	if !reflect.DeepEqual(wasLast, isLast) || !after.Ready() {
		t.Errorf("last run %+v, want %+v", isLast, wasLast)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(name), ".*")); len(left) > 0 {
		t.Errorf("files were left behind: %q", left)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestStateFaults(t *testing.T) {
	dir := t.TempDir()
	b := New()
	if err := b.Load(filepath.Join(dir, "none")); err != nil || b.Ready() {
		t.Errorf("no file: %v, ready %v", err, b.Ready())
	}
	for body, want := range map[string]string{"": "EOF", "{": "unexpected EOF", `{"schema": 2}`: "it has schema 2, and this version reads 1", `{"schema": 1}`: ""} {
		name := filepath.Join(dir, "state")
		if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		err := b.Load(name)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name)) {
			t.Errorf("%q: got %v, want %q", body, err, want)
		}
		if b.Ready() {
			t.Errorf("%q: ready", body)
		}
	}
	if err := published().Save(filepath.Join(dir, "none", "state")); err == nil {
		t.Error("saved into a folder that does not exist")
	}
}

func TestHTTP(t *testing.T) {
	var asked []string
	serve := func(b *Board, change func(*Server)) http.Handler {
		s := &Server{Board: b, Now: func() time.Time { return noon.Add(time.Hour) }, Token: "secret", Audit: func(url string) { asked = append(asked, url) },
			Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("backstop_build_info 1")) })}
		if change != nil {
			change(s)
		}
		return s.Handler()
	}
	begun := New()
	begun.Begin(noon)
	hanging, broke := published(), published()
	hanging.Begin(noon)
	broke.Begin(noon)
	broke.Fail(errors.New("no credentials"), noon)
	failed := New()
	failed.Begin(noon)
	failed.Fail(errors.New("no credentials"), noon)
	const bearer = "Bearer secret"
	for _, c := range []struct {
		name    string
		h       http.Handler
		method  string
		path    string
		auth    string
		status  int
		says    string
		silence string
	}{
		{"the page", serve(published(), nil), "GET", "/", "", 200, "s3://kops/a", ""},
		{"the page before an outcome", serve(New(), nil), "GET", "/", "", 503, "the first audit has not begun", ""},
		{"the page during the first run", serve(begun, nil), "GET", "/", "", 503, "going on since 2026-12-01 12:00:00Z", ""},
		{"the page after a failure", serve(failed, nil), "GET", "/", "", 503, "no credentials", ""},
		{"another path", serve(published(), nil), "GET", "/other", "", 404, "", ""},
		{"the report", serve(published(), nil), "GET", "/api/v1/reports", "", 200, `"s3://kops/b"`, ""},
		{"the report before an outcome", serve(New(), nil), "GET", "/api/v1/reports", "", 503, "error", ""},
		{"one store", serve(published(), nil), "GET", "/api/v1/reports?store=s3://kops/a", "", 200, `"s3://kops/a"`, `"s3://kops/b"`},
		{"a store that is none", serve(published(), nil), "GET", "/api/v1/reports?store=s3://x", "", 404, `there is no store \"s3://x\"`, ""},
		{"the page of one store", serve(published(), nil), "GET", "/?store=s3://kops/a", "", 200, "s3://kops/a", "s3://kops/b"},
		{"the page of no store", serve(published(), nil), "GET", "/?store=s3://x", "", 404, "there is no store", ""},
		{"old", serve(published(), nil), "GET", "/", "", 200, "an outcome ended 60m ago", ""},
		{"a run that hangs", serve(hanging, nil), "GET", "/", "", 200, "An audit has been going on for 60m", ""},
		{"a run that failed", serve(broke, nil), "GET", "/", "", 200, "came to no outcome: no credentials", ""},
		{"the stores", serve(published(), nil), "GET", "/api/v1/stores", "", 200, `[{"store":{"url":"s3://kops/`, `"problems"`},
		{"the forecast", serve(published(), nil), "GET", "/api/v1/forecast", "", 200, `"schema":1`, ""},
		{"the forecast of a store", serve(published(), nil), "GET", "/api/v1/forecast?store=s3://kops/a", "", 200, `"url":"s3://kops/a"`, ""},
		{"the forecast of no store", serve(published(), nil), "GET", "/api/v1/forecast?store=s3://x", "", 404, "there is no store", ""},
		{"healthy before an outcome", serve(New(), nil), "GET", "/healthz", "", 200, "ok", ""},
		{"not ready", serve(New(), nil), "GET", "/readyz", "", 503, "has not begun", ""},
		{"ready", serve(published(), nil), "GET", "/readyz", "", 200, "ready", ""},
		{"metrics", serve(New(), nil), "GET", "/metrics", "", 200, "backstop_build_info", ""},
		{"an audit", serve(published(), nil), "POST", "/-/audit", bearer, 202, "asked for", ""},
		{"an audit of one store", serve(published(), nil), "POST", "/-/audit?store=s3://kops/a", bearer, 202, "asked for", ""},
		{"an audit of no store", serve(published(), nil), "POST", "/-/audit?store=s3://x", bearer, 404, "there is no store", ""},
		{"an audit by GET", serve(published(), nil), "GET", "/-/audit", bearer, 405, "", ""},
		{"an audit by a stranger", serve(published(), nil), "POST", "/-/audit", "", 401, "missing or wrong", ""},
		{"an audit by another", serve(published(), nil), "POST", "/-/audit", "Bearer secre", 401, "missing or wrong", ""},
		{"an audit where nobody may", serve(published(), func(s *Server) { s.Token = "" }), "POST", "/-/audit", "Bearer ", 403, "--audit-token-file", ""},
		{"an audit by who was let in", serve(published(), func(s *Server) { s.Token, s.Trusted = "", true }), "POST", "/-/audit", "", 202, "asked for", ""},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		if c.auth != "" {
			r.Header.Set("Authorization", c.auth)
		}
		w := httptest.NewRecorder()
		c.h.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || c.silence != "" && strings.Contains(w.Body.String(), c.silence) {
			t.Errorf("%s: got %d %q, want %d %q", c.name, w.Code, w.Body, c.status, c.says)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(w.Header().Get("Content-Security-Policy"), report.PagePolicy+"; frame-ancestors 'none'") {
			t.Errorf("%s: the header is %v", c.name, w.Header())
		}
	}
	if want := []string{"", "s3://kops/a", ""}; !reflect.DeepEqual(asked, want) {
		t.Errorf("audits of %q were asked for, want %q", asked, want)
	}
}

func TestAnotherSiteMayNotAsk(t *testing.T) {
	s := &Server{Board: published(), Now: func() time.Time { return noon }, Trusted: true, Audit: func(string) { t.Error("an audit was asked for") }}
	r := httptest.NewRequest("POST", "/-/audit", nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusForbidden {
		t.Errorf("got %d", w.Code)
	}
}

package main

import (
	"slices"
	"strings"
	"testing"

	"backstop/audit"
	"backstop/audit/report/browser"
	"backstop/store/etcdmanager"
)

// A real Chromium shows what serve serves: all of it is there, nothing runs that came
// out of a bucket, nothing else is asked for, the console is silent, and axe-core
// finds nothing that keeps people from reading it.
func TestPageInChromium(t *testing.T) {
	chromium := browser.Start(t)
	w := newScene(t)
	w.lifecycle(ageRule)
	s := w.portrait()
	s.stops(30*hour).loses(31*hour, etcdmanager.CreatedPath, etcdmanager.SpecPath)
	hostile := w.tree(`<script>document.title="owned"</script><img src=x onerror=alert(1)>/backups/etcd/main`)
	hostile.lives(90 * day)
	healthy := w.tree("good.example.com/backups/etcd/main")
	healthy.lives(90 * day)
	served := serveScene(t, w)
	for name, view := range map[string]browser.View{"desktop": {Width: 1100, Height: 800}, "dark": {Width: 1100, Height: 800, Dark: true}, "phone": {Width: 390, Height: 844}} {
		p := chromium.Open(served.url("/"), view)
		text := p.Text()
		for _, want := range []string{"CRITICAL", "s3://kops-state/prod.example.com/backups/etcd/main", "etcd-cluster-created is missing and backups have stopped",
			"What comes if nobody touches it", "The order of repair", "Missing: 2026-11-30", "Looked at", "<script>document.title=\"owned\"</script><img src=x onerror=alert(1)>"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the page does not show %q", name, want)
			}
		}
		if title := browser.Eval[string](p, "document.title"); title != "CRITICAL: backup stores" {
			t.Errorf("%s: the title is %q", name, title)
		}
		if n := browser.Eval[int](p, `document.scripts.length + document.images.length`); n != 0 {
			t.Errorf("%s: %d elements of a bucket's making", name, n)
		}
		// Everything is drawn, and nothing is wider than the window.
		if n := browser.Eval[int](p, `document.querySelectorAll("svg.future, figure.cal > svg, svg.graph").length`); n < 9 {
			t.Errorf("%s: %d drawings, want three for each of three stores", name, n)
		}
		if wide := browser.Eval[int](p, "document.documentElement.scrollWidth"); int64(wide) > view.Width {
			t.Errorf("%s: the page is %d wide", name, wide)
		}
		if style := browser.Eval[string](p, `getComputedStyle(document.querySelector("h1")).fontWeight`); style != "700" {
			t.Errorf("%s: the style sheet is not in force", name)
		}
		for _, v := range p.Violations("../..") {
			t.Errorf("%s: axe-core: %s, %s: %s: %s\n%s", name, v.Impact, v.ID, v.Help, v.Nodes[0].HTML, v.Nodes[0].Why)
		}
		if said := p.Said(); len(said) > 0 {
			t.Errorf("%s: the console has %q", name, said)
		}
		if asked := p.Requests(); !slices.Equal(asked, []string{served.url("/")}) {
			t.Errorf("%s: it asked for %q", name, asked)
		}
	}
}

// serveScene serves a scene that was looked at once.
func serveScene(t *testing.T, w *scene) *serving {
	t.Helper()
	endpoint := w.fake.URL(t)
	s := serve(t, w.now, "s3://kops-state", "--endpoint-url", endpoint)
	s.until("audited checked", 1)
	return s
}

// The page of audit is that of serve.
func TestPageIsOne(t *testing.T) {
	_, _, endpoint := wholeStore(t, serveTime)
	s := serve(t, serveTime, "s3://kops", "--endpoint-url", endpoint)
	s.until("audited checked", 1)
	_, served := s.get("/")
	written := command(t, serveTime, "audit", "s3://kops", "--endpoint-url", endpoint, "-o", "html")
	if served != written.stdout {
		t.Errorf("served\n%s\nwritten\n%s", served, written.stdout)
	}
	if !strings.Contains(served, "sha256-") || s.report().Verdict != audit.OK {
		t.Error("it is another page")
	}
}

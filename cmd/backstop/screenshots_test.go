package main

import (
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"backstop/audit/report/browser"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

var screenshots = flag.String("screenshots", "", "`folder` to write pictures of the page to")

// pageScenes are what pictures are made of.
var pageScenes = []struct {
	name string
	make func(w *scene)
}{
	{"healthy", func(w *scene) { w.portrait() }},
	{"armed", func(w *scene) {
		s := w.portrait()
		w.lifecycle(ageRule)
		s.stops(30*hour).loses(31*hour, etcdmanager.CreatedPath, etcdmanager.SpecPath)
	}},
	{"foretold", func(w *scene) {
		w.portrait()
		w.lifecycle(ageRule)
	}},
	{"reset", func(w *scene) {
		s := w.portrait()
		w.lifecycle(ageRule)
		s.resetOnPurpose()
	}},
}

// ageRule is the rule with which the accident begins.
const ageRule = `<Rule><ID>expire-old-backups</ID><Status>Enabled</Status><Filter><Prefix>prod.example.com/backups/</Prefix></Filter><Expiration><Days>430</Days></Expiration><NoncurrentVersionExpiration><NoncurrentDays>30</NoncurrentDays></NoncurrentVersionExpiration></Rule>`

// portrait is a cluster that has lived for 400 days and grows, of which a few days
// are missing and one snapshot was half written.
func (w *scene) portrait() *tree {
	s := w.prod(func(c *clusterSpec) { c.hourly = "3d" })
	s.grow(88)
	return s
}

// grow gives the snapshots sizes that grow with time.
func (s *tree) grow(mib float64) {
	for i, key := range s.b.Keys() {
		o, ok := s.b.Stat(key)
		if !ok || filepath.Base(key) != etcdmanager.DataFile || !strings.HasPrefix(key, s.root+"/") {
			continue
		}
		age := s.w.now.Sub(o.Time)
		size := mib * (1 - 0.006*age.Hours()/24) * (1 + 0.02*float64(i*7919%100)/100)
		s.b.Purge(key)
		s.b.Put(key, o.Body, s.w.when(age), storetest.WithSize(int(size*(1<<20))))
	}
}

// pictured is a program that looks at a scene.
func (w *scene) pictured() *program {
	endpoint := w.fake.URL(w.t)
	return &program{ctx: w.t.Context(), stdout: io.Discard, stderr: io.Discard, now: func() time.Time { return w.now },
		env: func(string) (string, bool) { return "", false },
		testOnlyS3: func(o *s3Settings) {
			o.RetryDelay, o.HTTPClient = time.Millisecond, &http.Client{Transport: toFake{endpoint}}
		}}
}

// page writes the page of a scene to a file.
func (w *scene) page(file string) {
	w.t.Helper()
	if code := w.pictured().run([]string{"audit", "--exit-zero", "-o", "html=" + file, "s3://kops-state"}); code != exitOK {
		w.t.Fatalf("audit gave %d", code)
	}
}

// TestScreenshots makes pictures of the page, where a folder is given for them.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("make screenshots gives a folder")
	}
	chromium := browser.Start(t)
	for _, c := range pageScenes {
		w := newScene(t)
		c.make(w)
		file := filepath.Join(t.TempDir(), "page.html")
		w.page(file)
		for _, shot := range []struct {
			name string
			view browser.View
		}{
			{"desktop", browser.View{Width: 1100, Height: 1350}}, {"dark", browser.View{Width: 1100, Height: 1350, Dark: true}},
			{"phone", browser.View{Width: 390, Height: 1500}}, {"phone-dark", browser.View{Width: 390, Height: 1500, Dark: true}},
		} {
			p := chromium.Open("file://"+file, shot.view)
			for suffix, png := range map[string][]byte{"": p.Sight(), "-whole": p.Picture()} {
				if err := os.WriteFile(filepath.Join(*screenshots, c.name+"-"+shot.name+suffix+".png"), png, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

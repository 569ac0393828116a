package browser_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"backstop/audit/report/browser"
)

// A browser that hears and finds nothing would make every test pass: it is shown a
// page with which everything is wrong.
func TestBrowserSeesWhatIsWrong(t *testing.T) {
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; img-src *")
		_, _ = w.Write([]byte(`<!DOCTYPE html><title>bad</title><style>p { color: red }</style><p>text<img src="/pixel"><script>throw new Error("broken")</script>`))
	}))
	defer bad.Close()
	p := browser.Start(t).Open(bad.URL+"/", browser.View{Width: 800, Height: 600})
	if said := strings.Join(p.Said(), "\n"); !strings.Contains(said, "Content Security Policy") || !strings.Contains(said, "Uncaught") {
		t.Errorf("the console has %q", said)
	}
	if asked := p.Requests(); !slices.Contains(asked, bad.URL+"/pixel") {
		t.Errorf("it asked for %q", asked)
	}
	var found []string
	for _, v := range p.Violations("../../..") {
		found = append(found, v.ID)
	}
	if !slices.Contains(found, "image-alt") || !slices.Contains(found, "html-has-lang") {
		t.Errorf("axe-core found %q", found)
	}
	if !strings.Contains(p.Text(), "text") || len(p.Sight()) == 0 || len(p.Picture()) == 0 {
		t.Error("nothing is seen")
	}
}

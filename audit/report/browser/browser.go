// Package browser opens pages in a real Chromium without a screen, for tests. Only
// tests import it.
//
// It is Debian's: apt-get install chromium. Where it is not installed tests are
// skipped, or with BACKSTOP_REQUIRE_REAL=1 fail.
package browser

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// limit bounds everything that is done with one page.
const limit = 2 * time.Minute

// A Browser is a running Chromium.
type Browser struct {
	tb  testing.TB
	ctx context.Context
}

// Start starts a browser for the time of a test.
func Start(tb testing.TB) *Browser {
	tb.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		missing(tb, "chromium", "apt-get install chromium")
	}
	var log bytes.Buffer
	allocator, end := chromedp.NewExecAllocator(tb.Context(), chromedp.ExecPath(program), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.WSURLReadTimeout(time.Minute), chromedp.UserDataDir(tb.TempDir()), chromedp.CombinedOutput(&log))
	ctx, stop := chromedp.NewContext(allocator)
	tb.Cleanup(func() { _ = chromedp.Cancel(ctx); stop(); end() }) // it may be gone
	if err := chromedp.Do(ctx); err != nil {
		tb.Fatalf("start chromium: %v\n%s", err, log.String())
	}
	return &Browser{tb, ctx}
}

// missing skips a test, or fails it where real parts are required.
func missing(tb testing.TB, what, how string) {
	tb.Helper()
	line := fmt.Sprintf("skipped real part: %s (%s)", what, how)
	if os.Getenv("BACKSTOP_REQUIRE_REAL") == "1" {
		tb.Fatalf("%s is not installed: %s", what, line)
	}
	tb.Skip(line)
}

// A View is how a page is looked at.
type View struct {
	Width, Height int64 // pixels of CSS
	Dark          bool
	// Scale is how many pixels of a picture one of CSS is; 0 means 1.
	Scale float64
	// NoScript switches scripts off.
	NoScript bool
}

// A Page is an open page.
type Page struct {
	tb  testing.TB
	ctx context.Context

	mu       sync.Mutex
	said     []string
	requests []string
}

// Open opens a page and waits until it is loaded.
func (b *Browser) Open(url string, v View) *Page {
	b.tb.Helper()
	tab, closed := chromedp.NewContext(b.ctx)
	b.tb.Cleanup(closed)
	p := &Page{tb: b.tb, ctx: tab}
	if err := chromedp.Listen(tab, p.hear); err != nil {
		b.tb.Fatalf("open a tab: %v", err)
	}
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	command(p, log.Enable, cdp.Empty{})
	command(p, network.Enable, network.EnableParams{})
	command(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: v.NoScript})
	command(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.Width, Height: v.Height, DeviceScaleFactor: cmp.Or(v.Scale, 1), Mobile: v.Width < 600})
	command(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	do(p, chromedp.Navigate(url))
	return p
}

// command sends a command of the protocol.
func command[P, R any](p *Page, c cdp.Command[P, R], params P) {
	p.tb.Helper()
	ctx, end := context.WithTimeout(p.ctx, limit)
	defer end()
	if _, err := chromedp.Call(ctx, c, params); err != nil {
		p.tb.Fatalf("chromium: %s: %v", c.Method, err)
	}
}

// do does something with a page.
func do[T any](p *Page, a chromedp.Action[T]) T {
	p.tb.Helper()
	ctx, end := context.WithTimeout(p.ctx, limit)
	defer end()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		p.tb.Fatalf("chromium: %v", err)
	}
	return v
}

// hear keeps what the page tells the console, and what it asks for.
func (p *Page) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		p.said = append(p.said, e.Entry.Text)
	case *runtime.EventConsoleAPICalled:
		p.said = append(p.said, "console."+string(e.Type))
	case *runtime.EventExceptionThrown:
		p.said = append(p.said, e.ExceptionDetails.Text)
	case *page.EventJavascriptDialogOpening:
		p.said = append(p.said, "dialog: "+e.Message)
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	}
}

// Said is what the page told the console: errors, refusals of its policy.
func (p *Page) Said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.said)
}

// Requests are the URLs that it asked for, its own among them. Chromium's question
// for an icon of its own accord is left out.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.requests), func(u string) bool { return strings.HasSuffix(u, "/favicon.ico") })
}

// Text is the text that is to be seen.
func (p *Page) Text() string {
	p.tb.Helper()
	return Eval[string](p, "document.body.innerText")
}

// Eval evaluates an expression, by the developer's tools and not as a script of
// the page. It waits for a promise.
func Eval[T any](p *Page, expression string) T {
	p.tb.Helper()
	return do(p, chromedp.EvaluateAsDevTools[T](expression, chromedp.EvalAwaitPromise))
}

// Sight is what is seen of the page without scrolling, as PNG.
func (p *Page) Sight() []byte {
	p.tb.Helper()
	return do(p, chromedp.CaptureScreenshot())
}

// Picture is the whole page as PNG.
func (p *Page) Picture() []byte {
	p.tb.Helper()
	return do(p, chromedp.FullScreenshot(100))
}

// A Violation is something that hinders people, as axe-core finds it.
type Violation struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML string `json:"html"`
		Why  string `json:"failureSummary"`
	} `json:"nodes"`
}

// axe runs the checks and gives what is in the way of people.
const axe = `axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations))`

// Violations are what axe-core finds of the page, whatever its weight. axe-core is
// in bin/tools/axe-core of the module, where .ci/install-real puts it.
func (p *Page) Violations(root string) []Violation {
	p.tb.Helper()
	source, err := os.ReadFile(filepath.Join(root, "bin", "tools", "axe-core", "axe.min.js"))
	if err != nil {
		missing(p.tb, "axe-core", ".ci/install-real fetches it")
	}
	Eval[bool](p, string(source)+";true")
	result := Eval[string](p, axe)
	var all []Violation
	if err := json.Unmarshal([]byte(result), &all); err != nil {
		p.tb.Fatalf("axe-core: %v: %s", err, result)
	}
	return all
}

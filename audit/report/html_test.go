package report_test

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"backstop/audit"
	"backstop/audit/report"
)

func parsed(t testing.TB, page string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// textOf gives the text of a page, without its style sheet.
func textOf(t testing.TB, page string) string {
	t.Helper()
	var b strings.Builder
	for n := range parsed(t, page).Descendants() {
		if n.Type == html.TextNode && n.Parent.DataAtom != atom.Style {
			b.WriteString(n.Data + " ")
		}
	}
	return b.String()
}

func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func elements(doc *html.Node, names ...string) []*html.Node {
	var all []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && slices.Contains(names, n.Data) {
			all = append(all, n)
		}
	}
	return all
}

func pages(t *testing.T) map[string]string {
	return map[string]string{
		"everything": render(t, "html", everything(hostile), report.Options{}),
		"empty":      render(t, "html", empty(), report.Options{}),
		"good":       render(t, "html", good(), report.Options{}),
		"drawn":      render(t, "html", everything(hostile), report.Options{Details: drawn(everything(hostile), hostile), Notices: []string{hostile}}),
	}
}

// html.Parse mends whatever it is given, so the tags are counted here: each that
// is opened is closed, in order.
func TestHTMLIsWellFormed(t *testing.T) {
	void := []string{"meta"}
	for name, page := range pages(t) {
		if !strings.HasPrefix(page, "<!DOCTYPE html>\n<html lang=\"en\">\n") {
			t.Errorf("%s begins %q", name, page[:40])
		}
		var open []string
		for z := html.NewTokenizer(strings.NewReader(page)); ; {
			switch z.Next() {
			case html.ErrorToken:
				if !errors.Is(z.Err(), io.EOF) {
					t.Errorf("%s: %v", name, z.Err())
				}
				if len(open) > 0 {
					t.Errorf("%s leaves open %v", name, open)
				}
			case html.StartTagToken:
				if tag := z.Token(); !slices.Contains(void, tag.Data) {
					open = append(open, tag.Data)
				}
				continue
			case html.EndTagToken:
				tag := z.Token().Data
				if len(open) == 0 || open[len(open)-1] != tag {
					t.Fatalf("%s closes %s within %v", name, tag, open)
				}
				open = open[:len(open)-1]
				continue
			case html.CommentToken, html.SelfClosingTagToken:
				t.Errorf("%s has %q", name, z.Token())
				continue
			default:
				continue
			}
			break
		}
	}
}

// The page is all there is: it runs nothing and loads nothing, and says so to the
// browser.
func TestHTMLIsAlone(t *testing.T) {
	allowed := map[string][]string{
		"": {"id", "class", "dir", "lang", "role", "aria-label", "aria-hidden"}, "a": {"href"}, "th": {"scope"}, "meta": {"charset", "http-equiv", "content", "name"},
		"div": {"aria-labelledby", "tabindex"},
		"svg": {"x", "y", "width", "height", "viewBox", "preserveAspectRatio"}, "path": {"d"}, "rect": {"width", "height"},
		"line": {"x1", "x2", "y1", "y2"}, "text": {"x", "y", "dx", "dy", "text-anchor"},
	}
	known := strings.Fields("html head meta title style body main h1 h2 h3 h4 p div table thead tbody tr th td section article code span dl dt dd ol ul li a b header footer pre figure figcaption details summary svg path rect line text")
	for name, page := range pages(t) {
		doc := parsed(t, page)
		ids := map[string]bool{}
		for n := range doc.Descendants() {
			if id, ok := attribute(n, "id"); ok {
				if ids[id] {
					t.Errorf("%s: the id %s twice", name, id)
				}
				ids[id] = true
			}
		}
		var policy string
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if !slices.Contains(known, n.Data) {
				t.Errorf("%s has an element %s", name, n.Data)
			}
			for _, a := range n.Attr {
				if !slices.Contains(allowed[""], a.Key) && !slices.Contains(allowed[n.Data], a.Key) {
					t.Errorf("%s: %s has an attribute %s=%q", name, n.Data, a.Key, a.Val)
				}
			}
			if href, ok := attribute(n, "href"); ok && (!strings.HasPrefix(href, "#") || !ids[href[1:]]) {
				t.Errorf("%s leads to %q, which is not in the page", name, href)
			}
			if what, _ := attribute(n, "http-equiv"); what == "Content-Security-Policy" {
				policy, _ = attribute(n, "content")
			}
			if n.Data == "style" {
				for _, load := range []string{"url(", "@import", "src", "//"} {
					if strings.Contains(n.FirstChild.Data, load) {
						t.Errorf("%s: the style sheet has %s", name, load)
					}
				}
			}
		}
		if policy != report.PagePolicy || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: Content-Security-Policy %q", name, policy)
		}
	}
}

// The page can be read by ear: headings in order, tables with their headers.
func TestHTMLOrder(t *testing.T) {
	for name, page := range pages(t) {
		doc := parsed(t, page)
		last := 0
		for i, h := range elements(doc, "h1", "h2", "h3", "h4", "h5", "h6") {
			level, _ := strconv.Atoi(h.Data[1:])
			if level > last+1 || i > 0 && level == 1 {
				t.Errorf("%s: a heading of level %d after one of %d", name, level, last)
			}
			last = level
		}
		for _, th := range elements(doc, "th") {
			want := "row"
			if th.Parent.Parent.Data == "thead" {
				want = "col"
			}
			if scope, _ := attribute(th, "scope"); scope != want {
				t.Errorf("%s: a header with the scope %q, want %q", name, scope, want)
			}
		}
		for _, tr := range elements(doc, "tr") {
			if n := len(slices.Collect(tr.ChildNodes())); len(elements(tr, "th", "td")) != 6 {
				t.Errorf("%s: a row of %d nodes has not 6 cells", name, n)
			}
		}
	}
	doc := parsed(t, pages(t)["everything"])
	if n := len(elements(elements(doc, "tbody")[0], "tr")); n != 10 {
		t.Errorf("%d rows, want 10 stores", n)
	}
	var steps []int
	for _, ol := range elements(doc, "ol") {
		steps = append(steps, len(elements(ol, "li")))
	}
	if want := []int{11, 1, 1, 1}; !slices.Equal(steps, want) {
		t.Errorf("lists of %v steps, want %v", steps, want)
	}
}

// Everything that a report says is in the page, as it is.
func TestHTMLShowsEverything(t *testing.T) {
	shown := squeeze(textOf(t, pages(t)["everything"]))
	has := func(what, s string) {
		t.Helper()
		if !strings.Contains(shown, squeeze(report.Printable(s))) {
			t.Errorf("%s is not shown: %q", what, s)
		}
	}
	r := everything(hostile)
	for _, s := range r.Stores {
		has("store", s.Store.URL)
		for _, f := range s.Findings {
			for _, part := range []string{f.Rule, f.Key, f.VersionID, f.Message, f.Observed, f.Expected} {
				has(f.Rule, part)
			}
			for _, step := range f.Do {
				has("step", step)
			}
			for _, e := range f.Evidence {
				has("evidence", e.Message)
			}
		}
	}
	for _, p := range r.Problems {
		has("target", p.Target)
		has("problem", p.Message)
		has("remedy", p.Do)
	}
	if h1 := elements(parsed(t, pages(t)["everything"]), "h1"); len(h1) != 1 || h1[0].FirstChild.Data != string(audit.VerdictCritical) {
		t.Error("the verdict does not come first")
	}
}

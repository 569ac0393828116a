package report_test

import (
	"bytes"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"backstop/audit"
	"backstop/audit/report"
)

// forge reads Markdown as GitHub does.
var forge = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))

// outline is what a reader of the rendered Markdown can tell of its structure.
type outline struct {
	headings []int
	tables   []int // cells of each row
	ordered  []int // items of each ordered list
	bullets  int
	blocks   int
}

// outlineOf parses Markdown, and complains of everything in it that a report
// does not write: then a name wrote it.
func outlineOf(t testing.TB, md string) outline {
	t.Helper()
	var o outline
	src := []byte(md)
	err := ast.Walk(forge.Parser().Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if n.Type() == ast.TypeBlock {
			o.blocks++
		}
		switch n := n.(type) {
		case *ast.Heading:
			o.headings = append(o.headings, n.Level)
		case *tables.TableHeader, *tables.TableRow:
			o.tables = append(o.tables, n.ChildCount())
		case *ast.List:
			if n.IsOrdered() {
				if n.Start != 1 {
					t.Errorf("a list begins with %d", n.Start)
				}
				o.ordered = append(o.ordered, n.ChildCount())
			} else {
				o.bullets += n.ChildCount()
			}
		case *ast.Text:
			if _, inCode := n.Parent().(*ast.CodeSpan); !inCode {
				if s := html.UnescapeString(string(util.UnescapePunctuations(n.Segment.Value(src)))); live.MatchString(s) {
					t.Errorf("a forge finds something in the text %q", s)
				}
			}
			if n.SoftLineBreak() || n.HardLineBreak() {
				t.Errorf("a line break after %q", n.Segment.Value(src))
			}
		case *ast.Document, *ast.Paragraph, *ast.TextBlock, *ast.ListItem, *ast.CodeSpan, *ast.String, *tables.Table, *tables.TableCell:
		default:
			t.Errorf("a %s in the Markdown, at %q", n.Kind(), near(n, src))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func near(n ast.Node, src []byte) string {
	for ; n != nil; n = n.Parent() {
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			s := n.Lines().At(0)
			return string(s.Value(src))
		}
	}
	return ""
}

// live is what a forge makes more of than text, after Markdown: mentions,
// references, addresses, formulas, emoji.
var live = regexp.MustCompile(`[@#$]|://|(?i)www\.|[!~&^%]\w|:[a-z+-]\w*:`)

func TestMarkdownStructure(t *testing.T) {
	o := outlineOf(t, render(t, "markdown", everything(hostile), report.Options{}))
	if plain := outlineOf(t, render(t, "markdown", everything("harmless"), report.Options{})); !slices.Equal(o.headings, plain.headings) || o.blocks != plain.blocks {
		t.Errorf("hostile names make the structure\n%v, harmless ones\n%v", o, plain)
	}
	if o.headings[0] != 1 || slices.Contains(o.headings[1:], 1) {
		t.Errorf("headings %v: the first, and only it, is to be of the first level", o.headings)
	}
	for i, h := range o.headings[1:] {
		if h > o.headings[i]+1 {
			t.Errorf("headings %v leave out a level", o.headings)
		}
	}
	if len(o.tables) != 11 {
		t.Errorf("%d rows in tables, want a header and 10 stores", len(o.tables))
	}
	for _, cells := range o.tables {
		if cells != 5 {
			t.Errorf("a row with %d cells", cells)
		}
	}
	if want := []int{11, 1, 1, 1}; !slices.Equal(o.ordered, want) {
		t.Errorf("ordered lists of %v steps, want %v", o.ordered, want)
	}
	if o.bullets != 8 {
		t.Errorf("%d facts as bullets, want 8", o.bullets)
	}
}

func TestMarkdownOfNothing(t *testing.T) {
	md := render(t, "markdown", empty(), report.Options{})
	if o := outlineOf(t, md); !slices.Equal(o.headings, []int{1}) || len(o.tables) != 0 {
		t.Errorf("%v\n%s", o, md)
	}
	if !strings.HasPrefix(md, "# UNKNOWN: nothing found; checked 0 of 0 stores\n") {
		t.Error(md)
	}
}

// No character that HTML begins with is in it, so that it stays text even where
// HTML is looked for before Markdown.
func TestMarkdownWithoutHTML(t *testing.T) {
	md := render(t, "markdown", everything(hostile), report.Options{})
	if i := strings.IndexAny(md, "<>"); i >= 0 {
		t.Errorf("%q", md[i:min(len(md), i+40)])
	}
}

// shownBy gives the words that a reader of rendered Markdown sees, without the
// spaces between them.
func shownBy(t testing.TB, md string) string {
	t.Helper()
	var page bytes.Buffer
	if err := forge.Convert([]byte(md), &page); err != nil {
		t.Fatal(err)
	}
	return squeeze(textOf(t, page.String()))
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// What is escaped is shown as it is: a name in full, and a message but for the
// backticks around a command.
func TestMarkdownShowsEverything(t *testing.T) {
	shown := shownBy(t, render(t, "markdown", everything(hostile), report.Options{}))
	for what, want := range map[string]string{
		"the key":  report.Printable(hostile) + "version" + report.Printable(hostile),
		"the cell": "CRITICALs3://kops/" + report.Printable(hostile) + "122026-11-29",
		"a step":   "Do NOT run kops update cluster --yes until this is done (",
		"a list":   "3. Look at ",
		"steps":    "- four + five # six > seven eight ``` --- ten Eleven, the last.",
	} {
		if !strings.Contains(shown, squeeze(want)) {
			t.Errorf("%s is not shown: %s", what, want)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{hostile, "", " ", "`", "a`b", "`a", "``", "a\\", "\\|", "|", " a ", "1. x", "10) x", "- x", "\u00a0", "[x]: y", "[^1]", "=", "a\n---\nb", "~~~", "    x", "&amp;", "x  ", "<!--", "a_b_c", "*a*", "@", "`a` `b`", "(`a b`).", "!_0", "\xff"} {
		f.Add(s)
	}
	named := func(name string) audit.Report {
		found := audit.Found(audit.Warning, "%s", name).About(name).Saw(name, name+"b").Because("%s", name).Todo(name, "a "+name, name+" c")
		found.Rule = "snapshot/none"
		return audit.NewReport(judged, []audit.StoreReport{{
			Store: audit.Store{URL: "s3://" + name}, Verdict: audit.VerdictWarning, State: audit.StoreState{Name: "running"},
			Judged: judged, Findings: []audit.Finding{found},
		}}, []audit.Problem{{Target: name, Message: name}})
	}
	want := outlineOf(f, render(f, "markdown", named("harmless"), report.Options{}))
	f.Fuzz(func(t *testing.T, s string) {
		if squeeze(report.Printable(s)) == "" {
			return // nothing has no line
		}
		md := render(t, "markdown", named(s), report.Options{})
		got := outlineOf(t, md)
		if !slices.Equal(got.headings, want.headings) || !slices.Equal(got.tables, want.tables) || !slices.Equal(got.ordered, want.ordered) || got.bullets != want.bullets || got.blocks != want.blocks {
			t.Errorf("the name %q changes the structure to\n%v, want\n%v\n%s", s, got, want, md)
		}
		// As a cell, a heading and a paragraph of code: all of it. Else all but
		// the backticks around commands.
		shown, name := shownBy(t, md), squeeze(report.Printable(s))
		for _, exact := range []string{"WARNINGs3://" + name + "0none", "running:s3://" + name + "WARNING", "snapshot/none" + name} {
			if !strings.Contains(shown, exact) {
				t.Errorf("%q is not shown in\n%s", exact, md)
			}
		}
		name = unticked(name)
		if prose := "Seen:" + name + "Expected:" + name + "bAlso:" + name + "Whattodo:" + name + "a" + name + name + "cNotaudited" + name + name; !strings.Contains(unticked(shown), prose) {
			t.Errorf("%q is not shown in\n%s", prose, md)
		}
	})
}

func unticked(s string) string { return squeeze(strings.ReplaceAll(s, "`", "")) }

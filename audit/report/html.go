package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"strconv"
	"strings"

	"backstop/audit"
)

//go:embed page.html
var pageHTML string

// page writes a report as HTML. Every string that came out of a bucket goes
// through printable, and then through the template's own escaping.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"printable": Printable,
	"upper":     strings.ToUpper,
	"stamp":     audit.Stamp,
	"state":     stateName,
	"role":      role,
	"number":    number,
	"newest":    newest,
	"plural":    audit.Plural,
	"class":     func(v audit.Verdict) string { return strings.ToLower(string(v)) },
	"verdict":   func(s audit.Severity) audit.Verdict { return verdictOf[s] },
}).Parse(pageHTML))

// A chapter of the page is what was found of one store or of one bucket.
type chapter struct {
	ID       string // that the table of stores leads to; empty for buckets
	Title    string
	Name     string
	Findings []audit.Finding
}

// HTML writes the report as one page that needs nothing else: no script, no
// resource, no network.
func HTML(w io.Writer, r audit.Report, o Options) error {
	type row struct {
		audit.StoreReport
		Chapter string
	}
	data := struct {
		audit.Report
		Summary, LeftOut string
		Requests         int
		Rows             []row
		Chapters         []chapter
	}{Report: r, Summary: summary(r), LeftOut: leftOut(r, o), Requests: requests(r)}
	for i, s := range shown(r, o) {
		line := row{StoreReport: s}
		if own := ofStore(s.Findings); len(own) > 0 {
			line.Chapter = "store-" + strconv.Itoa(i+1)
			data.Chapters = append(data.Chapters, chapter{line.Chapter, stateName(s), s.Store.URL, own})
		}
		data.Rows = append(data.Rows, line)
	}
	for _, b := range buckets(r.Stores) {
		data.Chapters = append(data.Chapters, chapter{Title: "bucket", Name: b.name, Findings: b.findings})
	}
	var b bytes.Buffer
	if err := page.Execute(&b, data); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

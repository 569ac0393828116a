package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"backstop/audit"
)

// A LintRule is what formats say about the rule of a finding.
type LintRule struct {
	ID, Title string
	// Severity is the worst that it may give.
	Severity audit.Severity
	// Page is its runbook page, in Markdown.
	Page string
}

// LintOptions are what a format of a lint report may take into account.
type LintOptions struct {
	Options
	// Rules are all rules, in the order of the index.
	Rules []LintRule
	// Version is the program's.
	Version string
	// FailOn is the least verdict that fails a build. UNKNOWN always does.
	FailOn audit.Verdict
}

// fails reports whether a finding of the severity fails the build.
func (o LintOptions) fails(s audit.Severity) bool {
	return s == audit.Unsure || s == audit.Critical || s == audit.Warning && o.FailOn != audit.VerdictCritical
}

// A LintFormat writes a lint report.
type LintFormat func(w io.Writer, r audit.LintReport, o LintOptions) error

// LintFormats are the formats of a lint report by the name that --output takes.
var LintFormats = map[string]LintFormat{
	"json":     LintJSON,
	"junit":    LintJUnit,
	"markdown": LintMarkdown,
	"sarif":    LintSARIF,
	"text":     LintText,
}

// LintNames lists the formats of a lint report.
func LintNames() []string {
	var names []string
	for name := range LintFormats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// LintNamed gives a format of a lint report, or an error that lists them.
func LintNamed(name string) (LintFormat, error) {
	if f, ok := LintFormats[name]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("there is no output format %q; there are %s", name, strings.Join(LintNames(), ", "))
}

// LintJSON writes the report as docs/lint.schema.json has it.
func LintJSON(w io.Writer, r audit.LintReport, _ LintOptions) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// lintSummary says in one line what was found and what was judged.
func lintSummary(r audit.LintReport) string {
	var counts []string
	for _, s := range severities {
		n := 0
		for _, f := range r.Findings {
			if f.Severity == s {
				n++
			}
		}
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	found := "nothing found"
	if len(counts) > 0 {
		found = "found " + strings.Join(counts, ", ")
	}
	configurations, rules, objects := tally(r)
	line := fmt.Sprintf("%s; read %s with %s, and %s of backup stores, in %s; held against %s",
		found, audit.Plural(configurations, "lifecycle configuration"), audit.Plural(rules, "rule"), audit.Plural(objects, "object"),
		audit.Plural(len(r.Files), "file"), audit.Plural(len(r.Stores), "store"))
	if n := len(r.Problems); n > 0 {
		line += "; " + audit.Plural(n, "place") + " not looked at"
	}
	return line
}

func tally(r audit.LintReport) (configurations, rules, objects int) {
	for _, f := range r.Files {
		configurations, objects = configurations+len(f.Configurations), objects+f.Objects
		for _, c := range f.Configurations {
			rules += c.Rules
		}
	}
	return configurations, rules, objects
}

// heading names a configuration: where it stands, its bucket, and what happens
// to it.
func heading(f audit.LintFile, c audit.LintConfiguration) (source, bucket string) {
	source, bucket = c.Source, c.Bucket
	if source == "" {
		source = f.Name
	}
	return source, bucket
}

// bucketWords says which bucket a configuration is for.
func bucketWords(c audit.LintConfiguration) string {
	switch {
	case c.Bucket != "":
		return "bucket " + c.Bucket
	case c.Source == "":
		return "no bucket named"
	}
	return "bucket known only when applied"
}

// judged says what a configuration was held against.
func judged(c audit.LintConfiguration) string {
	if len(c.Stores) == 0 {
		return "not held against any store"
	}
	return "held against " + audit.Plural(len(c.Stores), "store")
}

// fate says what becomes of a control file.
func fate(f audit.Fact[audit.Fate]) string {
	switch {
	case f.IsSet():
		return fmt.Sprintf("%s on %s by %s", f.Value.What, audit.Stamp(f.Value.At), f.Value.Rule)
	case f.Seen():
		return "stays"
	default:
		return "not seen"
	}
}

// place says where a finding stands.
func place(f audit.LintFinding) string {
	var parts []string
	if f.File != "" {
		at := f.File
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		parts = append(parts, at)
	}
	if f.Source != "" {
		parts = append(parts, f.Source)
	}
	if f.LifecycleRule != "" {
		parts = append(parts, "rule "+f.LifecycleRule)
	}
	return strings.Join(parts, "  ")
}

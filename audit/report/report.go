// Package report writes an audit.Report for people and for programs, one format
// to a file.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"backstop/audit"
)

// Options are what a format may take into account.
type Options struct {
	Color bool // escape sequences for a terminal
	Quiet bool // leave out stores with nothing to say
	Width int  // columns to wrap prose at; 0 does not wrap
	// Details are what the page draws, by the store's ID; Notices are what it says
	// first of how the report came about.
	Details map[string]Detail
	Notices []string
}

// A Format writes a report.
type Format func(w io.Writer, r audit.Report, o Options) error

// Formats are all formats by the name that --output takes.
var Formats = map[string]Format{
	"html":     HTML,
	"json":     JSON,
	"markdown": Markdown,
	"nagios":   Nagios,
	"text":     Text,
}

// Names lists the formats.
func Names() []string {
	var names []string
	for name := range Formats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Named gives a format, or an error that lists them.
func Named(name string) (Format, error) {
	if f, ok := Formats[name]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("there is no output format %q; there are %s", name, strings.Join(Names(), ", "))
}

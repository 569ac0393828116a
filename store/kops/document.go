package kops

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// find gives the first document of kind Cluster in one of kops's groups.
//
// The documents are read as nodes and not into structs. Nodes keep aliases as
// what they are, so nothing that a document says makes it grow; the decoder
// would compare each key of a mapping with each other one, also of those that
// nobody asked for; and an error can name the field.
func find(body []byte) (field, error) {
	if len(body) > DocumentLimit {
		return field{}, unless(body[:DocumentLimit], fmt.Errorf("more than %d MiB", DocumentLimit>>20))
	}
	if marks(body) > markLimit {
		return field{}, unless(body, fmt.Errorf("more than %d lines, commas and the like", markLimit))
	}
	for d := yaml.NewDecoder(bytes.NewReader(plain(body))); ; {
		var n yaml.Node
		err := d.Decode(&n)
		switch {
		case errors.Is(err, io.EOF):
			return field{}, fmt.Errorf("%w: no document of kind Cluster and of kops's API in it", ErrNotCluster)
		case err != nil:
			return field{}, unless(body, err)
		case n.Kind != yaml.DocumentNode || len(n.Content) == 0:
			continue
		}
		root, peek := field{node: n.Content[0]}, &problem{}
		kind, version := root.get(peek, "kind").text(peek), root.get(peek, "apiVersion").text(peek)
		if kind == "Cluster" && ofKops.MatchString(version) {
			return root, nil
		}
	}
}

// marks counts the characters that a document needs to hold many things.
func marks(body []byte) int {
	n := 0
	for _, c := range body {
		switch c {
		case '\n', '\r', ',', ':', '-', '?', '[', '{':
			n++
		}
	}
	return n
}

// ofKops matches the API versions of kops's groups, and saysKops a document that
// claims one, however broken it is.
var (
	ofKops   = regexp.MustCompile(`^kops(\.k8s\.io)?/`)
	saysKops = regexp.MustCompile(`apiVersion["']?[ \t]*:[ \t]*["']?kops(\.k8s\.io)?/`)
)

// unless makes err an ErrNotCluster, unless the text claims to be of kops.
func unless(text []byte, err error) error {
	if saysKops.Match(text) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNotCluster, err)
}

// plain rewrites JSON where YAML differs from it, namely that YAML has no pairs
// of surrogates.
func plain(body []byte) []byte {
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return body
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if !json.Valid(body) || d.Decode(&v) != nil {
		return body
	}
	again, err := json.Marshal(v)
	if err != nil {
		return body
	}
	return again
}

// A problem is the first thing that is wrong with a document. What is read after
// it is worth nothing.
type problem struct{ err error }

func (p *problem) at(f field, format string, args ...any) {
	if p.err != nil {
		return
	}
	where := ""
	if f.node != nil {
		where = fmt.Sprintf(" (line %d)", f.node.Line)
	}
	p.err = fmt.Errorf("%s%s: %s", f.path, where, fmt.Sprintf(format, args...))
}

// A field is a place in a document; node is nil where the document has nothing
// there, or null.
type field struct {
	node *yaml.Node
	path string
}

func (f field) given() bool { return f.node != nil }

// isText reports whether the field is a scalar that is text.
func (f field) isText() bool { return f.node != nil && f.node.ShortTag() == "!!str" }

// child makes the field that a node is, below f.
func (f field) child(n *yaml.Node, path string) field {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n != nil && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		n = nil
	}
	return field{node: n, path: path}
}

// get gives the field of a name in a mapping.
func (f field) get(p *problem, name string) field {
	path := name
	if f.path != "" {
		path = f.path + "." + name
	}
	if !f.mapping(p) {
		return field{path: path}
	}
	var found *yaml.Node
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		switch key := f.child(f.node.Content[i], path); {
		case key.node == nil || key.node.Kind != yaml.ScalarNode:
		case key.node.ShortTag() == "!!merge":
			// To look a name up through merge keys takes time that grows with
			// the power of their depth, and kops writes none.
			p.at(key, "a merge key (<<) is not read")
		case key.node.Value != name:
		case found != nil:
			p.at(key, "is given twice")
		default:
			found = f.node.Content[i+1]
		}
	}
	return f.child(found, path)
}

// keys gives the names in a mapping.
func (f field) keys(p *problem) []string {
	if !f.mapping(p) {
		return nil
	}
	var names []string
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		if key := f.child(f.node.Content[i], f.path); key.isText() {
			names = append(names, key.node.Value)
		}
	}
	return names
}

// mapping reports whether the field is a mapping that can be looked into. What
// is not given can be too, and has nothing in it.
func (f field) mapping(p *problem) bool {
	switch {
	case f.node == nil:
		return false
	case f.node.Kind != yaml.MappingNode:
		p.at(f, "want fields, found %s", f.found())
		return false
	case len(f.node.Content) > 2*entryLimit:
		p.at(f, "has more than %d fields", entryLimit)
		return false
	}
	return true
}

// list gives the entries of a list.
func (f field) list(p *problem, limit int) []field {
	switch {
	case f.node == nil:
		return nil
	case f.node.Kind != yaml.SequenceNode:
		p.at(f, "want a list, found %s", f.found())
		return nil
	case len(f.node.Content) > limit:
		p.at(f, "has more than %d entries", limit)
		return nil
	}
	fields := make([]field, len(f.node.Content))
	for i, n := range f.node.Content {
		fields[i] = f.child(n, fmt.Sprintf("%s[%d]", f.path, i))
		if fields[i].node == nil {
			p.at(field{n, fields[i].path}, "is empty")
		}
	}
	return fields
}

// text gives a text; empty where it is not given. A number is none, unless it is
// quoted: kops does not take it for one either.
func (f field) text(p *problem) string {
	if f.node == nil {
		return ""
	}
	if !f.isText() {
		p.at(f, "want text, found %s", f.found())
		return ""
	}
	return f.node.Value
}

// time gives an instant as metav1.Time is written: RFC 3339, quoted or not.
func (f field) time(p *problem) time.Time {
	if f.node == nil {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, f.node.Value)
	if tag := f.node.ShortTag(); err != nil || tag != "!!str" && tag != "!!timestamp" {
		p.at(f, "want a time like 2006-01-02T15:04:05Z, found %s", f.found())
		return time.Time{}
	}
	return t.UTC()
}

// duration gives a length of time as metav1.Duration is written: text, in Go's
// form.
func (f field) duration(p *problem) time.Duration {
	d, err := time.ParseDuration(f.text(p))
	if err != nil {
		p.at(f, "want a duration like 15m or 1h0m0s, found %s", f.found())
		return 0
	}
	return d
}

// uint32 gives a whole number.
func (f field) uint32(p *problem) uint32 {
	var n uint32
	if f.node == nil {
		return 0
	}
	if f.node.ShortTag() != "!!int" || f.node.Decode(&n) != nil {
		p.at(f, "want a whole number from 0 to 4294967295, found %s", f.found())
	}
	return n
}

// found says what a field is, for whoever wanted something else.
func (f field) found() string {
	if f.node == nil {
		return "nothing"
	}
	switch f.node.ShortTag() {
	case "!!map":
		return "fields"
	case "!!seq":
		return "a list"
	case "!!str":
		return "the text " + quote(f.node.Value)
	case "!!int", "!!float":
		return "the number " + quote(f.node.Value)
	}
	return quote(f.node.Value)
}

// quoteLimit keeps a value from flooding an error.
const quoteLimit = 40

func quote(s string) string {
	if len(s) > quoteLimit {
		return strconv.Quote(s[:quoteLimit]) + "…"
	}
	return strconv.Quote(s)
}

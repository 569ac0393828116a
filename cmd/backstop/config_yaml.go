package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A mistake is what is wrong in a configuration file, and where.
type mistake struct {
	line int    // 0 where it is not known
	path string // as in stores[1].ignore[0].until; empty for the whole file
	text string
}

func (m mistake) String() string {
	s := m.text
	if m.path != "" {
		s = m.path + ": " + s
	}
	if m.line > 0 {
		s = fmt.Sprintf("line %d: %s", m.line, s)
	}
	return s
}

// mistakes are all that was found wrong in a file.
type mistakes []mistake

func (m mistakes) Error() string {
	lines := make([]string, len(m))
	for i, f := range m {
		lines[i] = f.String()
	}
	return strings.Join(lines, "; ")
}

// A yamlReader reads a YAML document strictly, goes on after a mistake, and
// knows the line of each.
type yamlReader struct {
	wrong mistakes
}

// A position is a node of the document and its path.
type position struct {
	*yaml.Node
	path string
}

func (at position) below(key string) string {
	if at.path == "" {
		return key
	}
	return at.path + "." + key
}

// mistake notes what is wrong. What several entries take from one place is noted
// once.
func (r *yamlReader) mistake(at position, format string, args ...any) {
	m := mistake{line: at.Line, path: at.path, text: fmt.Sprintf(format, args...)}
	if !slices.ContainsFunc(r.wrong, func(o mistake) bool { return o.line == m.line && o.text == m.text }) {
		r.wrong = append(r.wrong, m)
	}
}

// sorted gives the mistakes in the order of their lines.
func (r *yamlReader) sorted() mistakes {
	slices.SortStableFunc(r.wrong, func(a, b mistake) int { return cmp.Compare(a.line, b.line) })
	return r.wrong
}

// document reads the one document of a file.
func (r *yamlReader) document(body []byte) (position, bool) {
	d := yaml.NewDecoder(bytes.NewReader(body))
	var doc yaml.Node
	if err := d.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		r.wrong = append(r.wrong, syntax(err, body))
		return position{}, false
	}
	if len(doc.Content) == 0 || isNull(doc.Content[0]) {
		r.wrong = append(r.wrong, mistake{text: "it is empty; it begins with `version: 1`"})
		return position{}, false
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		r.wrong = append(r.wrong, mistake{text: "it holds more than one YAML document"})
		return position{}, false
	}
	return position{Node: doc.Content[0]}, true
}

var (
	lineOf = regexp.MustCompile(`^line (\d+): (.*)$`)
	anchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// syntax puts an error of the YAML parser into its place. The parser leaves the
// line out where it is the first, and for an anchor.
func syntax(err error, body []byte) mistake {
	m := mistake{line: 1, text: strings.TrimPrefix(err.Error(), "yaml: ")}
	if f := lineOf.FindStringSubmatch(m.text); f != nil {
		m.line, _ = strconv.Atoi(f[1])
		m.text = f[2]
	} else if f := anchor.FindStringSubmatch(m.text); f != nil {
		before, _, _ := bytes.Cut(body, []byte("*"+f[1]))
		m.line = 1 + bytes.Count(before, []byte("\n"))
	}
	m.text = "not YAML: " + m.text
	return m
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// resolve follows aliases.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// kindOf names what a node is.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys with values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "nothing"
	}
	return strconv.Quote(masked(n.Value))
}

// keys are what a mapping may hold, and who reads each.
type keys map[string]func(at position)

// mapping reads a mapping. Anchors may be merged into it: what stands in it
// itself counts more.
func (r *yamlReader) mapping(at position, known keys) {
	r.merged(at, known, map[string]int{}, 0)
}

// maxMerges is how deep merges may go; an anchor may be merged into itself.
const maxMerges = 10

// merged reads a mapping, and leaves out the keys that have been read already,
// each with its line.
func (r *yamlReader) merged(at position, known keys, read map[string]int, depth int) {
	at.Node = resolve(at.Node)
	switch {
	case isNull(at.Node):
		return
	case at.Kind != yaml.MappingNode:
		r.mistake(at, "want keys with values, found %s", kindOf(at.Node))
		return
	case depth > maxMerges:
		r.mistake(at, "it is merged into itself")
		return
	}
	var merges []*yaml.Node
	own := map[string]int{}
	for i := 0; i+1 < len(at.Content); i += 2 {
		key, value := resolve(at.Content[i]), at.Content[i+1]
		here := position{Node: key, path: at.path}
		if key.ShortTag() == "!!merge" {
			merges = append(merges, value)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			r.mistake(here, "a key is a word, and not %s", kindOf(key))
			continue
		}
		if line, twice := own[key.Value]; twice {
			r.mistake(here, "%q is given twice, first on line %d", key.Value, line)
			continue
		}
		own[key.Value] = key.Line
		if _, over := read[key.Value]; over {
			continue
		}
		read[key.Value] = key.Line
		use, ok := known[key.Value]
		if !ok {
			r.mistake(here, "unknown key %q%s", key.Value, meant(key.Value, known))
			continue
		}
		use(position{Node: value, path: at.below(key.Value)})
	}
	for _, m := range merges {
		from := []*yaml.Node{m}
		if list := resolve(m); list.Kind == yaml.SequenceNode {
			from = list.Content
		}
		for _, n := range from {
			r.merged(position{Node: n, path: at.path}, known, read, depth+1)
		}
	}
}

// list reads a list.
func (r *yamlReader) list(at position, each func(at position)) {
	at.Node = resolve(at.Node)
	if isNull(at.Node) {
		return
	}
	if at.Kind != yaml.SequenceNode {
		r.mistake(at, "want a list, found %s", kindOf(at.Node))
		return
	}
	for i, n := range at.Content {
		each(position{Node: n, path: fmt.Sprintf("%s[%d]", at.path, i)})
	}
}

// text reads a scalar as it is written.
func (r *yamlReader) text(at position) (string, bool) {
	at.Node = resolve(at.Node)
	if at.Kind != yaml.ScalarNode {
		r.mistake(at, "want a text, found %s", kindOf(at.Node))
		return "", false
	}
	s := strings.TrimSpace(at.Value)
	if isNull(at.Node) || s == "" {
		r.mistake(at, "it is empty")
		return "", false
	}
	return s, true
}

// into reads a text, checks it if there is something to check, and puts it away.
func (r *yamlReader) into(to *string, check func(s string) error) func(at position) {
	return func(at position) {
		s, ok := r.text(at)
		if !ok {
			return
		}
		*to = s
		if check != nil {
			if err := check(s); err != nil {
				r.mistake(at, "%v", err)
			}
		}
	}
}

// boolean reads true or false.
func (r *yamlReader) boolean(to *bool) func(at position) {
	return func(at position) {
		n := resolve(at.Node)
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
			r.mistake(at, "want true or false, found %s", kindOf(n))
			return
		}
		*to = strings.EqualFold(n.Value, "true")
	}
}

// meant suggests the key that was misspelt.
func meant(typed string, known keys) string {
	best, least := "", max(1, len(typed)/3)+1
	for k := range known {
		if d := distance(typed, k); d < least || d == least && k < best {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance counts the letters to add, drop or change to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

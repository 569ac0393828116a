package infra

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxDepth is how deep documents may nest. Modules within modules of a plan nest
// three levels each.
const maxDepth = 256

var errDepth = fmt.Errorf("it nests deeper than %d levels", maxDepth)

// jsonReader reads JSON into nodes, and keeps the lines.
type jsonReader struct {
	d    *json.Decoder
	doc  []byte
	line int
	seen int // bytes of doc of which the lines were counted
}

// readJSON reads one JSON document.
func readJSON(doc []byte) (*node, error) {
	r := &jsonReader{d: json.NewDecoder(bytes.NewReader(doc)), doc: doc, line: 1}
	r.d.UseNumber()
	n, err := r.value(0)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", r.here(), err)
	}
	if _, err := r.d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("line %d: there is text after the JSON document", r.here())
	}
	return n, nil
}

// here gives the line that the decoder has come to.
func (r *jsonReader) here() int {
	at := min(int(r.d.InputOffset()), len(r.doc))
	r.line += bytes.Count(r.doc[r.seen:at], []byte{'\n'})
	r.seen = at
	return r.line
}

func (r *jsonReader) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	token, err := r.d.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	n := &node{line: r.here()}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return n, r.list(n, depth)
		}
		return n, r.object(n, depth)
	case string:
		n.kind, n.text = text, t
	case json.Number:
		n.kind, n.text = number, t.String()
	case bool:
		n.kind, n.text = boolean, fmt.Sprint(t)
	}
	return n, nil
}

func (r *jsonReader) list(n *node, depth int) error {
	n.kind = list
	for r.d.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	return r.end()
}

func (r *jsonReader) object(n *node, depth int) error {
	n.kind = object
	names := map[string]bool{}
	for r.d.More() {
		token, err := r.d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		value, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		if names[name] {
			n.twice = name
		}
		names[name] = true
		n.members = append(n.members, member{name, value})
	}
	return r.end()
}

// end reads a closing bracket.
func (r *jsonReader) end() error {
	_, err := r.d.Token()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

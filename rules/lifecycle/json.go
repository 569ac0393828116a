package lifecycle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// parseJSON reads the JSON form, with or without the LifecycleConfiguration
// wrapper of the command line's input.
func parseJSON(doc []byte) (Configuration, error) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(doc, byteOrderMark)))
	d.UseNumber()
	top := &node{}
	if err := readMember(d, top, "", 0); err != nil {
		return Configuration{}, fmt.Errorf("lifecycle: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Configuration{}, errors.New("lifecycle: text after the JSON document")
	}
	return buildJSON(top.children[0])
}

// buildJSON finds the configuration in a document.
func buildJSON(root *node) (Configuration, error) {
	b := builder{}
	if inner := root.child("LifecycleConfiguration"); inner != nil {
		b.rule = -1
		b.rest(root, "", "TransitionDefaultMinimumObjectSize", "Bucket", "ExpectedBucketOwner", "ChecksumAlgorithm")
		if mode := root.child("TransitionDefaultMinimumObjectSize"); mode != nil {
			inner.children = append(inner.children, mode)
		}
		root = inner
	}
	if !root.has("Rules") && !root.has("Rule") {
		return Configuration{}, errors.New("lifecycle: JSON document has no Rules")
	}
	b.configuration(root)
	return b.c, nil
}

// readMember reads a value and hangs it under its parent: arrays as repeated
// elements, null as nothing.
func readMember(d *json.Decoder, parent *node, name string, depth int) error {
	if depth > maxDepth {
		return errDepth
	}
	token, err := d.Token()
	if err != nil || token == nil {
		return err
	}
	if token == json.Delim('[') {
		return readArray(d, parent, name, depth)
	}
	n := &node{name: name, repeated: parent.members[name]}
	parent.children = append(parent.children, n)
	if token == json.Delim('{') {
		return readObject(d, n, depth)
	}
	n.scalar, n.text = true, fmt.Append(nil, token)
	return nil
}

// readArray reads the elements of an array after its bracket.
func readArray(d *json.Decoder, parent *node, name string, depth int) error {
	for d.More() {
		if err := readMember(d, parent, name, depth+1); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// readObject reads the members of an object after its brace.
func readObject(d *json.Decoder, n *node, depth int) error {
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		if err := readMember(d, n, name, depth+1); err != nil {
			return err
		}
		if n.members == nil {
			n.members = map[string]bool{}
		}
		n.members[name] = true
	}
	_, err := d.Token()
	return err
}

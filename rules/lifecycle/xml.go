package lifecycle

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

const rootName = "lifecycleconfiguration"

var byteOrderMark = []byte("\xEF\xBB\xBF")

// parseXML reads the XML form.
func parseXML(doc []byte) (Configuration, error) {
	root, err := readXML(bytes.TrimPrefix(doc, byteOrderMark))
	if err != nil {
		return Configuration{}, err
	}
	if !strings.HasSuffix(strings.ToLower(root.name), rootName) {
		return Configuration{}, fmt.Errorf("lifecycle: root element %q is not a lifecycle configuration", root.name)
	}
	b := builder{xml: true}
	b.configuration(root)
	return b.c, nil
}

// readXML reads elements into a tree. Attributes, comments and processing
// instructions carry nothing in this grammar.
func readXML(doc []byte) (*node, error) {
	d := xml.NewDecoder(bytes.NewReader(doc))
	top := &node{}
	stack := []*node{top}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return onlyRoot(top)
		}
		if err != nil {
			return nil, fmt.Errorf("lifecycle: %w", err)
		}
		if stack, err = stackXML(stack, token); err != nil {
			return nil, err
		}
	}
}

// stackXML applies one token to the stack of open elements.
func stackXML(stack []*node, token xml.Token) ([]*node, error) {
	open := stack[len(stack)-1]
	switch t := token.(type) {
	case xml.StartElement:
		if len(stack) > maxDepth {
			return nil, errDepth
		}
		n := &node{name: t.Name.Local}
		open.children = append(open.children, n)
		return append(stack, n), nil
	case xml.EndElement:
		return stack[:len(stack)-1], nil
	case xml.CharData:
		open.text = append(open.text, t...)
	}
	return stack, nil
}

// onlyRoot returns the root of a document.
func onlyRoot(top *node) (*node, error) {
	if len(top.children) != 1 {
		return nil, fmt.Errorf("lifecycle: %d root elements", len(top.children))
	}
	return top.children[0], nil
}

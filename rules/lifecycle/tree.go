package lifecycle

import (
	"errors"
	"fmt"
)

// maxDepth is how deep documents may nest. A configuration needs six levels.
const maxDepth = 32

var errDepth = errors.New("lifecycle: document nests too deeply")

// node is an element of a document, so that XML and JSON are read by the same
// code. A JSON array becomes repeated elements of the member's name.
type node struct {
	name     string
	text     []byte
	children []*node
	// members names the members of a JSON object, also those that hold nothing.
	members map[string]bool
	// repeated says a JSON object has another member of this name before.
	repeated bool
	// scalar says the element is a JSON value and can hold no others.
	scalar bool
	used   bool
}

// child returns the first child of any of the names and marks all of them read.
func (n *node) child(names ...string) *node {
	all := n.all(names...)
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// all returns the children of any of the names and marks them read.
func (n *node) all(names ...string) []*node {
	var found []*node
	for _, c := range n.children {
		for _, name := range names {
			if c.name == name {
				c.used = true
				found = append(found, c)
			}
		}
	}
	return found
}

// has reports whether a JSON object has the member.
func (n *node) has(member string) bool { return n.members[member] }

// Parse reads a lifecycle configuration in the XML of the S3 API or in the JSON
// of the AWS command line, told apart by the first byte. Namespaces and the
// order of elements do not matter, and any root that ends in
// LifecycleConfiguration is taken, whatever its capitals.
//
// Parse is liberal: what it does not know becomes a [Note] of the result, and
// [Configuration.Validate] reports what S3 would refuse. It fails only for
// documents that are not well-formed, nest too deeply or are something else.
// The caller limits the size.
func Parse(doc []byte) (Configuration, error) {
	for _, b := range doc {
		switch b {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF: // white space and the UTF-8 byte order mark
			continue
		case '<':
			return parseXML(doc)
		case '{':
			return parseJSON(doc)
		}
		return Configuration{}, fmt.Errorf("lifecycle: a document starts with %q, which is neither XML nor JSON", b)
	}
	return Configuration{}, errors.New("lifecycle: empty document")
}

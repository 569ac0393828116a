package infra

import (
	"slices"
	"strconv"
)

// A kind is what a [node] is.
type kind uint8

const (
	absent  kind = iota // not there, or null
	unknown             // there, and known only when the code is applied
	text
	number
	boolean
	list
	object
)

// A node is a value of a document, in whichever language it was written. The nil
// node is absent.
type node struct {
	kind kind
	// text is the value of a scalar as written; of an unknown, what it waits for.
	text    string
	items   []*node
	members []member
	// line of the document, from 1; 0 where it has none.
	line int
	// twice names a member that the document has more than once.
	twice string
}

// A member is one member of an object.
type member struct {
	name string
	*node
}

// get gives a member of an object; nil where there is none.
func (n *node) get(names ...string) *node {
	if n == nil {
		return nil
	}
	for _, name := range names {
		for _, m := range n.members {
			if m.name == name {
				return m.node
			}
		}
	}
	return nil
}

// has reports whether an object has a member, be it null.
func (n *node) has(name string) bool {
	return n != nil && slices.ContainsFunc(n.members, func(m member) bool { return m.name == name })
}

// at gives an element of a list; nil where there is none.
func (n *node) at(i int) *node {
	if n == nil || i >= len(n.items) {
		return nil
	}
	return n.items[i]
}

func (n *node) is(k kind) bool { return n != nil && n.kind == k }

// there reports whether the node holds something, be it unknown.
func (n *node) there() bool { return n != nil && n.kind != absent }

// scalar reports whether the node is a text, a number or a boolean.
func (n *node) scalar() bool {
	return n != nil && (n.kind == text || n.kind == number || n.kind == boolean)
}

// str gives the text of a scalar; empty for anything else.
func (n *node) str() string {
	if !n.scalar() {
		return ""
	}
	return n.text
}

// truth gives the value of a boolean, also of one that is written as a text.
func (n *node) truth() bool {
	b, _ := strconv.ParseBool(n.str())
	return b
}

// lineOf gives the line of a node; 0 where it is not told.
func (n *node) lineOf() int {
	if n == nil {
		return 0
	}
	return n.line
}

// depends makes a node of which nobody knows the value.
func depends(on string, line int) *node { return &node{kind: unknown, text: on, line: line} }

// holds reports whether anything within the node is of a kind.
func (n *node) holds(k kind) bool {
	if n == nil {
		return false
	}
	if n.kind == k {
		return true
	}
	return slices.ContainsFunc(n.items, func(c *node) bool { return c.holds(k) }) ||
		slices.ContainsFunc(n.members, func(m member) bool { return m.holds(k) })
}

package lifecycle

import (
	"slices"
	"strings"
)

// builder turns a tree into a Configuration.
type builder struct {
	c    Configuration
	xml  bool
	rule int
}

// extensions are the elements only MinIO knows.
var extensionNames = []string{"ExpiredObjectAllVersions", "DelMarkerExpiration", "MaxNoncurrentVersions", "ExpiryUpdatedAt"}

// configuration reads the root.
func (b *builder) configuration(n *node) {
	b.rule = -1
	for i, r := range b.list(n, "", "Rule", "Rules") {
		b.rule = i
		b.c.Rules = append(b.c.Rules, b.readRule(r))
	}
	b.rule = -1
	if !b.xml { // in the XML form S3 carries it in a header
		if mode := b.text(n, "", "TransitionDefaultMinimumObjectSize"); mode != nil {
			b.c.DefaultMinimumSize = *mode
		}
	}
	b.rest(n, "", "ResponseMetadata") // boto3 adds it
}

// readRule reads one rule.
func (b *builder) readRule(n *node) Rule {
	r := Rule{Position: b.rule + 1, Prefix: b.text(n, "", "Prefix")}
	if id := b.text(n, "", "ID"); id != nil {
		r.ID = *id
	}
	if status := b.text(n, "", "Status"); status != nil {
		r.Status = *status
	}
	r.Filter = b.filter(b.single(n, "", "Filter"))
	b.actions(&r, n)
	b.rest(n, "")
	return r
}

// actions reads the actions of a rule.
func (b *builder) actions(r *Rule, n *node) {
	r.Expiration = b.expiration(b.single(n, "", "Expiration"))
	for _, t := range b.list(n, "", "Transition", "Transitions") {
		r.Transitions = append(r.Transitions, b.transition(t))
	}
	r.NoncurrentExpiration = b.noncurrentExpiration(b.single(n, "", "NoncurrentVersionExpiration"))
	for _, t := range b.list(n, "", "NoncurrentVersionTransition", "NoncurrentVersionTransitions") {
		r.NoncurrentTransitions = append(r.NoncurrentTransitions, b.noncurrentTransition(t))
	}
	if a := b.single(n, "", "AbortIncompleteMultipartUpload"); a != nil {
		r.AbortMultipart = &AbortMultipart{DaysAfterInitiation: b.number(a, "AbortIncompleteMultipartUpload", "DaysAfterInitiation")}
		b.rest(a, "AbortIncompleteMultipartUpload")
	}
	if x := b.single(n, "", "DelMarkerExpiration"); x != nil {
		b.note(Extension, "DelMarkerExpiration", "")
		r.DelMarkerExpirationDays = b.number(x, "DelMarkerExpiration", "Days")
		b.rest(x, "DelMarkerExpiration")
	}
}

func (b *builder) expiration(n *node) *Expiration {
	if n == nil {
		return nil
	}
	const path = "Expiration"
	x := &Expiration{
		Days:                      b.number(n, path, "Days"),
		Date:                      b.date(n, path, "Date"),
		ExpiredObjectDeleteMarker: b.flag(n, path, "ExpiredObjectDeleteMarker"),
	}
	if all := b.flag(n, path, "ExpiredObjectAllVersions"); all != nil {
		b.note(Extension, path+".ExpiredObjectAllVersions", "")
		x.AllVersions = *all
	}
	b.rest(n, path)
	return x
}

func (b *builder) transition(n *node) TransitionAction {
	const path = "Transitions"
	t := TransitionAction{Days: b.number(n, path, "Days"), Date: b.date(n, path, "Date")}
	t.StorageClass = b.class(n, path)
	b.rest(n, path)
	return t
}

func (b *builder) noncurrentTransition(n *node) NoncurrentTransitionAction {
	const path = "NoncurrentVersionTransitions"
	t := NoncurrentTransitionAction{
		NoncurrentDays:          b.number(n, path, "NoncurrentDays"),
		NewerNoncurrentVersions: b.number(n, path, "NewerNoncurrentVersions"),
		StorageClass:            b.class(n, path),
	}
	b.rest(n, path)
	return t
}

func (b *builder) noncurrentExpiration(n *node) *NoncurrentExpiration {
	if n == nil {
		return nil
	}
	const path = "NoncurrentVersionExpiration"
	x := &NoncurrentExpiration{
		NoncurrentDays:          b.number(n, path, "NoncurrentDays"),
		NewerNoncurrentVersions: b.number(n, path, "NewerNoncurrentVersions"),
	}
	b.rest(n, path)
	return x
}

// filter reads a filter. A predicate that is not understood leaves open whom
// the rule means, so it is kept in Unknown besides its note.
func (b *builder) filter(n *node) *Filter {
	if n == nil {
		return nil
	}
	f := &Filter{}
	if and := b.single(n, "Filter", "And"); and != nil {
		f.And = new(b.predicates(and, "Filter.And"))
	}
	f.Predicates = b.predicates(n, "Filter")
	return f
}

func (b *builder) predicates(n *node, path string) Predicates {
	before := len(b.c.Notes)
	p := Predicates{
		Prefix:                b.text(n, path, "Prefix"),
		ObjectSizeGreaterThan: b.size(n, path, "ObjectSizeGreaterThan"),
		ObjectSizeLessThan:    b.size(n, path, "ObjectSizeLessThan"),
	}
	for _, t := range n.all("Tag", "Tags") {
		p.Tags = append(p.Tags, b.tag(t, path+"."+t.name))
	}
	b.rest(n, path)
	for _, note := range b.c.Notes[before:] {
		p.Unknown = append(p.Unknown, note.Field)
	}
	return p
}

func (b *builder) tag(n *node, path string) Tag {
	var t Tag
	key, value := b.text(n, path, "Key"), b.text(n, path, "Value")
	if key == nil || value == nil {
		b.note(Malformed, path, "")
		return t
	}
	b.rest(n, path)
	return Tag{Key: *key, Value: *value}
}

// rest notes what nobody read, and text where only elements belong.
func (b *builder) rest(n *node, path string, known ...string) {
	for _, c := range n.children {
		why := UnknownElement
		switch {
		case c.used || slices.Contains(known, c.name):
			continue
		case slices.Contains(extensionNames, c.name):
			why = Extension
		}
		b.note(why, join(path, c.name), string(c.text))
	}
	if text := strings.TrimSpace(string(n.text)); text != "" {
		b.note(Malformed, path, text)
	}
}

// note records a note on the current rule, with its text shortened.
func (b *builder) note(why Why, field, text string) {
	const longest = 100
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	b.c.Notes = append(b.c.Notes, Note{Why: why, Rule: b.rule, Field: field, Text: text})
}

// join joins a path and a name.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

package infra

import (
	"strings"

	"backstop/rules/lifecycle"
)

// unknowns are the texts that Pulumi writes for values that it does not know
// before the update (pulumi/sdk/go/common/resource/plugin/rpc.go).
var unknowns = map[string]bool{
	"1c4a061d-8072-4f0a-a4cb-0ff528b18fe7": true, // boolean
	"3eeb2bf0-c639-47a8-9e75-3b44932eb421": true, // number
	"04da6b54-80e4-46f7-96ec-b56ff0331ba9": true, // text
	"6a19a0b0-7e62-4c92-b797-7f8e31da9cc2": true, // list
	"030794c1-ac77-496b-92df-f27374a8bd58": true, // asset
	"e48ece36-62e2-4504-bad9-02848725956a": true, // archive
	"dd056dcd-154b-4c76-9bd3-c8f88648b5ff": true, // object
}

// secretMark is the member that makes an object a secret, or another of Pulumi's
// special values (pulumi/sdk/go/common/resource/sig).
const secretMark = "4dabf18193072939515e22adb298388d"

// A stack is a Pulumi preview or stack export being read.
type stack struct{ doc Document }

// readPulumi reads the output of `pulumi preview --json`.
func readPulumi(root *node) (Document, error) {
	s := &stack{doc: Document{Format: PulumiPreview}}
	for _, step := range root.get("steps").list() {
		s.step(step)
	}
	return s.doc, nil
}

// readPulumiState reads the output of `pulumi stack export`.
func readPulumiState(root *node) (Document, error) {
	s := &stack{doc: Document{Format: PulumiState}}
	for _, r := range root.get("deployment").get("resources").list() {
		s.resource(r.get("type").str(), r.get("urn").str(), r.lineOf(), Stands, nil, known(r.get("inputs")))
	}
	s.doc.Objects = nil // a state changes nothing
	s.doc.Notes = append(s.doc.Notes, "this is a stack's state, not a preview: it tells what is, and not what will be; `pulumi preview --json` gives a preview")
	return s.doc, nil
}

// pulumiChanges are the changes by the names of Pulumi's operations.
var pulumiChanges = map[string]Change{
	"same": Unchanged, "create": Creates, "update": Updates, "delete": Deletes, "replace": Replaces,
	"create-replacement": Replaces, "delete-replaced": Deletes, "import": Unchanged, "refresh": Unchanged,
	"read": Unchanged, "discard": Unchanged,
}

// step reads a step of a preview. An operation that is not known may do anything.
func (s *stack) step(step *node) {
	state := step.get("newState")
	if !state.is(object) {
		state = step.get("oldState")
	}
	change, ok := pulumiChanges[step.get("op").str()]
	if !ok {
		change = Updates
	}
	op := step.get("op").str()
	if op == "delete-replaced" || op == "discard-replaced" || op == "read-discard" { // the replace step tells it all
		return
	}
	kind := state.get("type").str()
	if kind == "" {
		kind = step.get("type").str()
	}
	urn := step.get("urn").str()
	if urn == "" {
		urn = state.get("urn").str()
	}
	s.resource(kind, urn, step.lineOf(), change, known(step.get("oldState").get("inputs")), known(step.get("newState").get("inputs")))
}

// resource reads a resource of a type that matters.
func (s *stack) resource(kind, urn string, line int, change Change, before, after *node) {
	p := Proposal{Source: urn, Line: line, Change: change}
	p.Bucket = BucketRef{Named: true, Name: after.get("bucket").str()}
	if p.Bucket.Name == "" {
		p.Bucket.Name = before.get("bucket").str()
	}
	switch strings.ToLower(kind) {
	case "aws:s3/bucketlifecycleconfiguration:bucketlifecycleconfiguration", "aws:s3/bucketlifecycleconfigurationv2:bucketlifecycleconfigurationv2":
		s.add(p, before, after, "rules", (*blockReader).rules)
	case "aws:s3/bucket:bucket", "aws:s3/bucketv2:bucketv2":
		p.Bucket.New, p.Bucket.Source = change == Creates, urn
		s.bucket(p, before, after)
	case "aws-native:s3:bucket":
		p.Bucket.New, p.Bucket.Source = change == Creates, urn
		s.native(p, before, after)
	case "aws:s3/bucketobject:bucketobject", "aws:s3/bucketobjectv2:bucketobjectv2", "aws:s3/objectcopy:objectcopy":
		s.object(p, before, after)
	}
}

// add reads a lifecycle configuration in the provider's shape.
func (s *stack) add(p Proposal, before, after *node, member string, read func(*blockReader, *node)) {
	if before.there() {
		b := blockReader{pulumi: true}
		read(&b, before)
		p.Before = &b.Configuration
	}
	if p.Change == Deletes {
		p.Readings = []Reading{{}}
		s.doc.Proposals = append(s.doc.Proposals, p)
		return
	}
	b := blockReader{pulumi: true}
	if rules := after.get(member); after.is(unknown) || rules.is(unknown) {
		b.anyRule(member, rules)
	} else {
		read(&b, after)
	}
	b.Written = member == "rules" && p.Change.Writes() // rules of a bucket's own go by a DELETE
	p.Implied = b.sizeDefault(after.get(b.name(sizeDefault)), p.Change)
	p.take(&b.builder)
	s.doc.Proposals = append(s.doc.Proposals, p)
}

// bucket reads a bucket with rules of its own.
func (s *stack) bucket(p Proposal, before, after *node) {
	s.gone(p, before)
	if p.Change == Deletes || !after.get("lifecycleRules").there() && len(before.get("lifecycleRules").list()) == 0 {
		return
	}
	if v := after.get("versioning"); v.get("enabled").truth() {
		p.Facts.Versioning = lifecycle.Enabled
	}
	s.add(p, before, after, "lifecycleRules", (*blockReader).inline)
}

// gone notes a bucket that is deleted.
func (s *stack) gone(p Proposal, before *node) {
	if p.Change == Deletes || p.Change == Replaces {
		at := p.Bucket
		at.Name = before.get("bucket").str()
		s.doc.Buckets = append(s.doc.Buckets, BucketChange{Source: p.Source, Line: p.Line, Change: p.Change, Bucket: at, Force: before.get("forceDestroy").truth()})
	}
}

// native reads a bucket of Pulumi's AWS Native provider, which has the properties
// of CloudFormation.
func (s *stack) native(p Proposal, before, after *node) {
	p.Bucket.Name = after.get("bucketName").str()
	s.gone(p, before)
	if p.Change == Deletes || !after.get("lifecycleConfiguration").there() && !before.get("lifecycleConfiguration").there() {
		return
	}
	b := &propertyReader{native: true}
	b.configuration(after.get("lifecycleConfiguration"), after)
	if old := (&propertyReader{native: true}); before.get("lifecycleConfiguration").there() {
		old.configuration(before.get("lifecycleConfiguration"), before)
		p.Before = &old.Configuration
	}
	p.Implied = b.implied
	p.take(&b.builder)
	s.doc.Proposals = append(s.doc.Proposals, p)
}

// object reads a resource that writes an object.
func (s *stack) object(p Proposal, before, after *node) {
	o := Object{Source: p.Source, Line: p.Line, Change: p.Change}
	if before.there() && p.Change != Creates {
		o.Was = Place{Key: before.get("key").str(), Bucket: BucketRef{Named: true, Name: before.get("bucket").str()}}
		o.Before = content(before)
	}
	if after.there() && p.Change != Deletes {
		o.At = Place{Key: after.get("key").str(), KeyUnknown: after.is(unknown) || after.get("key").is(unknown), Bucket: BucketRef{Named: true, Name: after.get("bucket").str()}}
		o.Content = content(after)
	}
	o.Kept = kept(before, after)
	s.doc.Objects = append(s.doc.Objects, o)
}

// known marks what Pulumi does not know, and what it keeps secret.
func known(n *node) *node {
	switch {
	case n == nil:
		return nil
	case n.is(text) && unknowns[n.text]:
		return depends("known after the update", n.line)
	case n.is(object) && n.has(secretMark):
		if v := n.get("value"); v.there() {
			return known(v)
		}
		return depends("a secret", n.line)
	}
	out := &node{kind: n.kind, text: n.text, line: n.line, twice: n.twice}
	for _, item := range n.items {
		out.items = append(out.items, known(item))
	}
	for _, m := range n.members {
		out.members = append(out.members, member{m.name, known(m.node)})
	}
	return out
}

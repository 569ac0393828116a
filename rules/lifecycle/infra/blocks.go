package infra

import (
	"fmt"
	"strings"

	"backstop/rules/lifecycle"
)

// A blockReader reads rules in the shape of the AWS provider: of Terraform, where
// a block is a list of one and names have underscores, and of Pulumi, where it
// is an object and names are in camel case.
type blockReader struct {
	builder
	pulumi bool
	// legacy says that the plan is of a provider whose resource prints unset
	// numbers as 0 everywhere (schema version 0, up to 5.x).
	legacy bool
}

// plurals are the blocks that Pulumi has in the plural.
var plurals = map[string]string{
	"rule": "rules", "lifecycle_rule": "lifecycleRules", "transition": "transitions",
	"noncurrent_version_transition": "noncurrentVersionTransitions",
}

// name gives the name of a Terraform attribute in the reader's language.
func (b *blockReader) name(snake string) string {
	if !b.pulumi {
		return snake
	}
	if plural, ok := plurals[snake]; ok {
		return plural
	}
	parts := strings.Split(snake, "_")
	for i, p := range parts[1:] {
		parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "")
}

// A block is a block with its place.
type block struct {
	*node
	path string
}

// get gives an attribute of the block with its place.
func (b *blockReader) attribute(of block, snake string) (n *node, path string) {
	name := b.name(snake)
	return of.node.get(name), join(of.path, name)
}

// blocks gives the blocks of a name. One of which nothing is known is an unknown
// node.
func (b *blockReader) blocks(of block, snake string) []block {
	n, path := b.attribute(of, snake)
	switch {
	case !n.there():
		return nil
	case n.kind != list:
		return []block{{n, path}}
	}
	var all []block
	for i, item := range n.items {
		all = append(all, block{item, fmt.Sprintf("%s[%d]", path, i)})
	}
	return all
}

// first gives the only block of a name.
func (b *blockReader) first(of block, snake string) (block, bool) {
	all := b.blocks(of, snake)
	if len(all) == 0 {
		return block{}, false
	}
	return all[0], true
}

// rules reads the rules of aws_s3_bucket_lifecycle_configuration.
func (b *blockReader) rules(values *node) {
	for _, r := range b.blocks(block{node: values}, "rule") {
		if r.is(unknown) {
			b.anyRule(r.path, r.node)
			continue
		}
		b.begin(r.path, r.node)
		b.header(r)
		b.actions(r)
	}
}

// header reads what a rule is called, whether it is on, and whom it means.
func (b *blockReader) header(r block) {
	rule := b.current()
	id, _ := b.attribute(r, "id")
	rule.ID = id.str() // one that is not known is harmless
	status, path := b.attribute(r, "status")
	rule.Status = b.word(status, path, "Enabled", Scope)
	b.filter(r)
}

// filter reads whom the rule means. Without any condition, and without the
// block, the provider sends the filter of the whole bucket.
func (b *blockReader) filter(r block) {
	rule := b.current()
	if prefix, path := b.attribute(r, "prefix"); prefix.is(unknown) {
		b.doubt(Scope, path, "the whole bucket")
	} else if prefix.str() != "" {
		rule.Prefix = new(prefix.str())
	}
	f, ok := b.first(r, "filter")
	switch {
	case !ok && rule.Prefix != nil:
	case !ok:
		rule.Filter = &lifecycle.Filter{}
	case f.is(unknown):
		rule.Filter = &lifecycle.Filter{}
		b.doubt(Scope, f.path, "the whole bucket")
	default:
		rule.Filter = b.conditions(f)
	}
}

// conditions reads the one condition of a filter, or its and block.
func (b *blockReader) conditions(f block) *lifecycle.Filter {
	above, path := b.attribute(f, "object_size_greater_than")
	b.legacy = b.legacy || above.is(text) // it was a text there
	out := &lifecycle.Filter{}
	out.ObjectSizeGreaterThan = b.sizeAbove(above, path)
	out.ObjectSizeLessThan = b.below(f)
	for _, t := range b.blocks(f, "tag") {
		if tag, ok := b.tag(t); ok {
			out.Tags = append(out.Tags, tag)
		}
	}
	if and, ok := b.first(f, "and"); ok {
		out.And = b.and(and)
	}
	prefix, path := b.attribute(f, "prefix")
	bare := out.And == nil && len(out.Tags) == 0 && out.ObjectSizeGreaterThan == nil && out.ObjectSizeLessThan == nil
	switch {
	case prefix.is(unknown):
		b.doubt(Scope, path, "the whole bucket")
	case prefix.str() != "" || bare:
		out.Prefix = new(prefix.str())
	}
	return out
}

// tag reads a tag block; ok is false for one that is not known, which then
// narrows nothing.
func (b *blockReader) tag(t block) (tag lifecycle.Tag, ok bool) {
	key, _ := b.attribute(t, "key")
	value, _ := b.attribute(t, "value")
	if t.is(unknown) || key.is(unknown) || value.is(unknown) {
		b.doubt(Scope, t.path, "no condition")
		return tag, false
	}
	return lifecycle.Tag{Key: key.str(), Value: value.str()}, true
}

// below reads the upper bound of sizes, where 0 is unset.
func (b *blockReader) below(of block) *int64 {
	n, path := b.attribute(of, "object_size_less_than")
	v := b.sizeBelow(n, path)
	if v != nil && *v == 0 {
		return nil
	}
	return v
}

func (b *blockReader) and(a block) *lifecycle.Predicates {
	out := &lifecycle.Predicates{}
	if a.is(unknown) {
		b.doubt(Scope, a.path, "the whole bucket")
		return out
	}
	if prefix, path := b.attribute(a, "prefix"); prefix.is(unknown) {
		b.doubt(Scope, path, "the whole bucket")
	} else if prefix.there() {
		out.Prefix = new(prefix.str())
	}
	above, path := b.attribute(a, "object_size_greater_than")
	out.ObjectSizeGreaterThan = b.sizeAbove(above, path)
	if b.legacy && out.ObjectSizeGreaterThan != nil && *out.ObjectSizeGreaterThan == 0 {
		out.ObjectSizeGreaterThan = nil
	}
	out.ObjectSizeLessThan = b.below(a)
	tags, path := b.attribute(a, "tags")
	out.Tags = b.tags(tags, path)
	return out
}

// actions reads what a rule does.
func (b *blockReader) actions(r block) {
	rule := b.current()
	if x, ok := b.first(r, "expiration"); ok {
		rule.Expiration = b.expire(x)
	}
	for _, t := range b.blocks(r, "transition") {
		rule.Transitions = append(rule.Transitions, b.transition(t))
	}
	if x, ok := b.first(r, "noncurrent_version_expiration"); ok {
		rule.NoncurrentExpiration = b.noncurrentExpiration(x, "noncurrent_days")
	}
	for _, t := range b.blocks(r, "noncurrent_version_transition") {
		rule.NoncurrentTransitions = append(rule.NoncurrentTransitions, b.noncurrentTransition(t, "noncurrent_days"))
	}
	if a, ok := b.first(r, "abort_incomplete_multipart_upload"); ok {
		n, _ := b.attribute(a, "days_after_initiation")
		if a.is(unknown) {
			n = a.node
		}
		rule.AbortMultipart = b.abort(n)
	}
}

// abort reads the end of unfinished uploads. It never touches an object, so that
// not knowing it is harmless.
func (b *builder) abort(n *node) *lifecycle.AbortMultipart {
	days, _ := whole(n.str())
	if n.is(unknown) {
		days = 1
	}
	if days == 0 {
		return &lifecycle.AbortMultipart{}
	}
	return &lifecycle.AbortMultipart{DaysAfterInitiation: new(int(min(days, 1<<31-1)))}
}

func (b *blockReader) expire(x block) *lifecycle.Expiration {
	if x.is(unknown) {
		b.doubt(Scope, x.path, "1 day")
		return &lifecycle.Expiration{Days: new(1)}
	}
	names := [3]string{b.name("days"), b.name("date"), b.name("expired_object_delete_marker")}
	return b.expiration(x.node.get(names[0]), x.node.get(names[1]), x.node.get(names[2]), x.path, names)
}

// transition reads a change of class: at the date where there is one, else after
// days, which are 0 where nobody says.
func (b *blockReader) transition(t block) lifecycle.TransitionAction {
	if t.is(unknown) {
		b.doubt(Scope, t.path, "DEEP_ARCHIVE after 0 days")
		return lifecycle.TransitionAction{Days: new(0), StorageClass: "DEEP_ARCHIVE"}
	}
	class, path := b.attribute(t, "storage_class")
	out := lifecycle.TransitionAction{StorageClass: b.word(class, path, "DEEP_ARCHIVE", Scope)}
	date, path := b.attribute(t, "date")
	if out.Date = b.date(date, path); !out.Date.IsZero() {
		return out
	}
	days, path := b.attribute(t, "days")
	if out.Days = b.days(days, path, 0); out.Days == nil {
		out.Days = new(0)
	}
	return out
}

func (b *blockReader) noncurrentExpiration(x block, days string) *lifecycle.NoncurrentExpiration {
	if x.is(unknown) {
		b.doubt(Scope, x.path, "1 day")
		return &lifecycle.NoncurrentExpiration{NoncurrentDays: new(1)}
	}
	n, path := b.attribute(x, days)
	return &lifecycle.NoncurrentExpiration{NoncurrentDays: b.positive(n, path, 1), NewerNoncurrentVersions: b.newer(x)}
}

func (b *blockReader) noncurrentTransition(t block, days string) lifecycle.NoncurrentTransitionAction {
	if t.is(unknown) {
		b.doubt(Scope, t.path, "DEEP_ARCHIVE after 0 days")
		return lifecycle.NoncurrentTransitionAction{NoncurrentDays: new(0), StorageClass: "DEEP_ARCHIVE"}
	}
	n, path := b.attribute(t, days)
	out := lifecycle.NoncurrentTransitionAction{NoncurrentDays: b.days(n, path, 0), NewerNoncurrentVersions: b.newer(t)}
	class, path := b.attribute(t, "storage_class")
	out.StorageClass = b.word(class, path, "DEEP_ARCHIVE", Scope)
	return out
}

// newer reads how many newer versions are retained. Of a number that is not
// known none is.
func (b *blockReader) newer(of block) *int {
	n, path := b.attribute(of, "newer_noncurrent_versions")
	if n.is(unknown) {
		b.doubt(Timing, path, "none retained")
		return nil
	}
	return b.positive(n, path, 0)
}

// inline reads the lifecycle_rule blocks of aws_s3_bucket.
func (b *blockReader) inline(values *node) {
	for _, r := range b.blocks(block{node: values}, "lifecycle_rule") {
		if r.is(unknown) {
			b.anyRule(r.path, r.node)
			continue
		}
		b.begin(r.path, r.node)
		b.inlineHeader(r)
		b.inlineActions(r)
	}
}

// inlineHeader reads the head of an inline rule, whose filter has a prefix and
// tags at most.
func (b *blockReader) inlineHeader(r block) {
	rule := b.current()
	rule.ID = r.node.get("id").str()
	enabled, path := b.attribute(r, "enabled")
	rule.Status = "Disabled"
	if enabled.is(unknown) {
		b.doubt(Scope, path, "true")
	}
	if enabled.is(unknown) || enabled.truth() {
		rule.Status = "Enabled"
	}
	prefix, path := b.attribute(r, "prefix")
	if prefix.is(unknown) {
		b.doubt(Scope, path, "the whole bucket")
	}
	tags, path := b.attribute(r, "tags")
	if all := b.tags(tags, path); len(all) > 0 {
		rule.Filter = &lifecycle.Filter{And: &lifecycle.Predicates{Prefix: new(prefix.str()), Tags: all}}
		return
	}
	rule.Filter = &lifecycle.Filter{Predicates: lifecycle.Predicates{Prefix: new(prefix.str())}}
}

// inlineActions reads the actions of an inline rule. The provider gives a rule
// without any one that does nothing, because S3 wants one.
func (b *blockReader) inlineActions(r block) {
	rule := b.current()
	if x, ok := b.first(r, "expiration"); ok {
		if rule.Expiration = b.expire(x); !rule.Expiration.Date.IsZero() {
			rule.Expiration.Days = nil // of the two the date is sent
		}
	}
	for _, t := range b.blocks(r, "transition") {
		rule.Transitions = append(rule.Transitions, b.transition(t))
	}
	if x, ok := b.first(r, "noncurrent_version_expiration"); ok {
		rule.NoncurrentExpiration = b.noncurrentExpiration(x, "days")
	}
	for _, t := range b.blocks(r, "noncurrent_version_transition") {
		rule.NoncurrentTransitions = append(rule.NoncurrentTransitions, b.noncurrentTransition(t, "days"))
	}
	if n, _ := b.attribute(r, "abort_incomplete_multipart_upload_days"); n.there() && n.str() != "0" {
		rule.AbortMultipart = b.abort(n)
	}
	if rule.Expiration == nil && rule.Transitions == nil && rule.NoncurrentExpiration == nil &&
		rule.NoncurrentTransitions == nil && rule.AbortMultipart == nil {
		rule.Expiration = &lifecycle.Expiration{ExpiredObjectDeleteMarker: new(false)}
	}
}

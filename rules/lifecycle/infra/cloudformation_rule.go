package infra

import (
	"fmt"
	"slices"

	"backstop/rules/lifecycle"
)

// ruleProperties are all that a rule may have.
var ruleProperties = []string{"Id", "Status", "Prefix", "TagFilters", "ObjectSizeGreaterThan", "ObjectSizeLessThan",
	"ExpirationInDays", "ExpirationDate", "ExpiredObjectDeleteMarker", "Transition", "Transitions",
	"NoncurrentVersionExpirationInDays", "NoncurrentVersionExpiration", "NoncurrentVersionTransition",
	"NoncurrentVersionTransitions", "AbortIncompleteMultipartUpload"}

func (b *propertyReader) readRule(n *node, path string) {
	if n.is(unknown) {
		b.anyRule(path, n)
		return
	}
	b.begin(path, n)
	rule := b.current()
	id, _ := b.property(n, path, "Id")
	rule.ID = id.str()
	status, at := b.property(n, path, "Status")
	rule.Status = b.word(status, at, "Enabled", Scope)
	rule.Filter = b.filter(n, path)
	b.actions(n, path)
	b.rest(n, path, ruleProperties...)
}

// rest notes properties that the resource does not have, and those that are there
// twice: CloudFormation refuses both.
func (b *propertyReader) rest(n *node, path string, known ...string) {
	for _, m := range n.membersOf() {
		if !slices.ContainsFunc(known, func(k string) bool { return b.name(k) == m.name }) {
			b.fault(join(path, m.name), "there is no such property")
		}
	}
	if n != nil && n.twice != "" {
		b.fault(join(path, n.twice), "it is there twice")
	}
}

// filter makes one filter of the conditions: none is the whole bucket, one stands
// alone, more are joined.
func (b *propertyReader) filter(n *node, path string) *lifecycle.Filter {
	var p lifecycle.Predicates
	conditions := 0
	prefix, at := b.property(n, path, "Prefix")
	if prefix.is(unknown) {
		b.doubt(Scope, at, "the whole bucket")
	} else if prefix.there() {
		p.Prefix = new(prefix.str())
		conditions++
	}
	p.Tags = b.tagFilters(n, path)
	above, at := b.property(n, path, "ObjectSizeGreaterThan")
	p.ObjectSizeGreaterThan = b.sizeAbove(above, at)
	below, at := b.property(n, path, "ObjectSizeLessThan")
	p.ObjectSizeLessThan = b.sizeBelow(below, at)
	conditions += len(p.Tags)
	for _, size := range []*int64{p.ObjectSizeGreaterThan, p.ObjectSizeLessThan} {
		if size != nil {
			conditions++
		}
	}
	if conditions > 1 {
		return &lifecycle.Filter{And: &p}
	}
	return &lifecycle.Filter{Predicates: p}
}

func (b *propertyReader) tagFilters(n *node, path string) []lifecycle.Tag {
	filters, at := b.property(n, path, "TagFilters")
	if filters.is(unknown) {
		b.doubt(Scope, at, "no condition")
		return nil
	}
	var all []lifecycle.Tag
	for i, t := range filters.list() {
		key, value := t.get(b.name("Key")), t.get(b.name("Value"))
		if t.is(unknown) || key.is(unknown) || value.is(unknown) {
			b.doubt(Scope, fmt.Sprintf("%s[%d]", at, i), "no condition")
			continue
		}
		all = append(all, lifecycle.Tag{Key: key.str(), Value: value.str()})
	}
	return all
}

func (b *propertyReader) actions(n *node, path string) {
	rule := b.current()
	days, _ := b.property(n, path, "ExpirationInDays")
	date, _ := b.property(n, path, "ExpirationDate")
	marker, _ := b.property(n, path, "ExpiredObjectDeleteMarker")
	if days.there() || date.there() || marker.there() {
		rule.Expiration = b.expire(n, path)
	}
	for _, t := range b.either(n, path, "Transition", "Transitions") {
		rule.Transitions = append(rule.Transitions, b.transition(t))
	}
	rule.NoncurrentExpiration = b.noncurrentExpiration(n, path)
	for _, t := range b.either(n, path, "NoncurrentVersionTransition", "NoncurrentVersionTransitions") {
		rule.NoncurrentTransitions = append(rule.NoncurrentTransitions, b.noncurrentTransition(t))
	}
	if a, at := b.property(n, path, "AbortIncompleteMultipartUpload"); a.there() {
		days, _ := b.property(a, at, "DaysAfterInitiation")
		if a.is(unknown) {
			days = a
		}
		rule.AbortMultipart = b.abort(days)
	}
}

// expire reads the three properties that are one action to S3. Those that do not
// go together are kept, so that validation refuses them as S3 does.
func (b *propertyReader) expire(n *node, path string) *lifecycle.Expiration {
	x := &lifecycle.Expiration{}
	days, at := b.property(n, path, "ExpirationInDays")
	x.Days = b.days(days, at, 1)
	date, at := b.property(n, path, "ExpirationDate")
	x.Date = b.date(date, at)
	marker, at := b.property(n, path, "ExpiredObjectDeleteMarker")
	switch {
	case marker.is(unknown):
		b.doubt(Scope, at, "true")
		x.ExpiredObjectDeleteMarker = new(true)
	case marker.there():
		x.ExpiredObjectDeleteMarker = new(marker.truth())
	}
	return x
}

// either gives the elements of a property that has an older spelling for one and
// a newer one for several. To have both is a mistake.
func (b *propertyReader) either(n *node, path, one, several string) []block {
	var all []block
	single, at := b.property(n, path, one)
	if single.there() {
		all = append(all, block{single, at})
	}
	many, at := b.property(n, path, several)
	if single.there() && many.there() {
		b.fault(at, "%s is there too; they are two spellings of one thing", b.name(one))
	}
	if many.is(unknown) {
		return append(all, block{many, at})
	}
	for i, t := range many.list() {
		all = append(all, block{t, fmt.Sprintf("%s[%d]", at, i)})
	}
	return all
}

func (b *propertyReader) transition(t block) lifecycle.TransitionAction {
	if t.is(unknown) {
		b.doubt(Scope, t.path, "DEEP_ARCHIVE after 0 days")
		return lifecycle.TransitionAction{Days: new(0), StorageClass: "DEEP_ARCHIVE"}
	}
	days, at := b.property(t.node, t.path, "TransitionInDays")
	out := lifecycle.TransitionAction{StorageClass: b.class(t), Days: b.days(days, at, 0)}
	date, at := b.property(t.node, t.path, "TransitionDate")
	out.Date = b.date(date, at)
	b.rest(t.node, t.path, "StorageClass", "TransitionInDays", "TransitionDate")
	return out
}

// class reads a storage class, which has an alias here.
func (b *propertyReader) class(t block) string {
	n, at := b.property(t.node, t.path, "StorageClass")
	if c := b.word(n, at, "DEEP_ARCHIVE", Scope); c != "Glacier" {
		return c
	}
	return "GLACIER"
}

func (b *propertyReader) noncurrentExpiration(n *node, path string) *lifecycle.NoncurrentExpiration {
	old, oldAt := b.property(n, path, "NoncurrentVersionExpirationInDays")
	x, at := b.property(n, path, "NoncurrentVersionExpiration")
	if old.there() && x.there() {
		b.fault(at, "%s is there too; they are two spellings of one thing", b.name("NoncurrentVersionExpirationInDays"))
	}
	switch {
	case x.is(unknown):
		b.doubt(Scope, at, "1 day")
		return &lifecycle.NoncurrentExpiration{NoncurrentDays: new(1)}
	case x.there():
		days, daysAt := b.property(x, at, "NoncurrentDays")
		b.rest(x, at, "NoncurrentDays", "NewerNoncurrentVersions")
		return &lifecycle.NoncurrentExpiration{NoncurrentDays: b.days(days, daysAt, 1), NewerNoncurrentVersions: b.newer(x, at)}
	case old.there():
		return &lifecycle.NoncurrentExpiration{NoncurrentDays: b.days(old, oldAt, 1)}
	}
	return nil
}

func (b *propertyReader) noncurrentTransition(t block) lifecycle.NoncurrentTransitionAction {
	if t.is(unknown) {
		b.doubt(Scope, t.path, "DEEP_ARCHIVE after 0 days")
		return lifecycle.NoncurrentTransitionAction{NoncurrentDays: new(0), StorageClass: "DEEP_ARCHIVE"}
	}
	days, at := b.property(t.node, t.path, "TransitionInDays")
	out := lifecycle.NoncurrentTransitionAction{StorageClass: b.class(t), NoncurrentDays: b.days(days, at, 0), NewerNoncurrentVersions: b.newer(t.node, t.path)}
	b.rest(t.node, t.path, "StorageClass", "TransitionInDays", "NewerNoncurrentVersions")
	return out
}

func (b *propertyReader) newer(n *node, path string) *int {
	v, at := b.property(n, path, "NewerNoncurrentVersions")
	if v.is(unknown) {
		b.doubt(Timing, at, "none retained")
		return nil
	}
	return b.days(v, at, 0)
}

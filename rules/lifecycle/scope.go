package lifecycle

import (
	"slices"
	"strings"
	"time"
)

// scope flattens the filter of a rule into one set of predicates. Of several
// prefixes, which S3 refuses, the longest counts.
func (r *Rule) scope() Predicates {
	if r.Filter == nil {
		return Predicates{Prefix: r.Prefix}
	}
	p := r.Filter.Predicates
	if !r.Filter.hasPrefix() {
		p.Prefix = longer(p.Prefix, r.Prefix)
	}
	if and := r.Filter.And; and != nil {
		p.Prefix = longer(p.Prefix, and.Prefix)
		p.Tags = slices.Concat(p.Tags, and.Tags)
		p.Unknown = slices.Concat(p.Unknown, and.Unknown)
		p.ObjectSizeGreaterThan = firstOf(p.ObjectSizeGreaterThan, and.ObjectSizeGreaterThan)
		p.ObjectSizeLessThan = firstOf(p.ObjectSizeLessThan, and.ObjectSizeLessThan)
	}
	return p
}

func longer(a, b *string) *string {
	if a == nil || b != nil && len(*b) > len(*a) {
		return b
	}
	return a
}

func firstOf(a, b *int64) *int64 {
	if a != nil {
		return a
	}
	return b
}

// prefix is the flattened prefix, empty for none.
func (p *Predicates) prefix() string {
	if p.Prefix == nil {
		return ""
	}
	return *p.Prefix
}

// everything reports whether the rule selects every object that is not empty.
func (r *Rule) everything() bool {
	p := r.scope()
	return p.prefix() == "" && len(p.Tags) == 0 && len(p.Unknown) == 0 && p.ObjectSizeLessThan == nil &&
		(p.ObjectSizeGreaterThan == nil || *p.ObjectSizeGreaterThan <= 0)
}

// covers reports whether the rule selects every object another one selects.
func (r *Rule) covers(o *Rule) bool {
	p, q := r.scope(), o.scope()
	return len(p.Unknown) == 0 && strings.HasPrefix(q.prefix(), p.prefix()) &&
		!slices.ContainsFunc(p.Tags, func(t Tag) bool { return !slices.Contains(q.Tags, t) }) &&
		(p.ObjectSizeGreaterThan == nil || q.ObjectSizeGreaterThan != nil && *q.ObjectSizeGreaterThan >= *p.ObjectSizeGreaterThan) &&
		(p.ObjectSizeLessThan == nil || q.ObjectSizeLessThan != nil && *q.ObjectSizeLessThan <= *p.ObjectSizeLessThan)
}

// admitsSmall reports whether the filter has a size bound and lets objects
// under 128 KiB through.
func (f *Filter) admitsSmall() bool {
	if !f.bySize() {
		return false
	}
	p := (&Rule{Filter: f}).scope()
	return p.ObjectSizeGreaterThan == nil || *p.ObjectSizeGreaterThan < minimumSize-1
}

// transits reports whether the rule changes the class of anything.
func (r *Rule) transits() bool {
	return len(r.Transitions) > 0 || len(r.NoncurrentTransitions) > 0
}

// archives reports whether the rule makes current objects unreadable.
func (r *Rule) archives() bool {
	return slices.ContainsFunc(r.Transitions, func(t TransitionAction) bool { return classOf(t.StorageClass).archive() })
}

// retains reports whether the rule retains more noncurrent versions than a
// number.
func (r *Rule) retains(more int) bool {
	x := r.NoncurrentExpiration
	return x != nil && x.NewerNoncurrentVersions != nil && *x.NewerNoncurrentVersions > more
}

// dated reports whether any date of the rule satisfies a condition.
func (r *Rule) dated(condition func(time.Time) bool) bool {
	if r.Expiration != nil && !r.Expiration.Date.IsZero() && condition(r.Expiration.Date) {
		return true
	}
	return slices.ContainsFunc(r.Transitions, func(t TransitionAction) bool { return !t.Date.IsZero() && condition(t.Date) })
}

package lifecycle

import "strings"

// Match is whether a rule applies to a version.
type Match uint8

const (
	// No: the rule leaves the version alone.
	No Match = iota + 1
	// Yes: the rule applies.
	Yes
)

// String returns "no", "yes" or "unknown".
func (m Match) String() string {
	switch m {
	case No:
		return "no"
	case Yes:
		return "yes"
	}
	return "unknown"
}

// Matches reports whether the rule's filter selects the version, whatever the
// rule's status. It is [Unknown] if the version's tags were not read and only
// they decide, or if the filter holds a predicate that is not understood.
//
// Two forms S3 refuses are read as MinIO and RGW read them: a rule without
// Filter and Prefix matches everything, and the Prefix of a rule counts besides
// a Filter that has none.
func (r Rule) Matches(v Version) Match {
	m, _ := r.matches(&v, &readingAWS)
	return m
}

// matches is Matches under a server's reading; it also names the doubt.
func (r *Rule) matches(v *Version, rd *reading) (Match, doubt) {
	if r.Prefix != nil && !r.Filter.hasPrefix() && !strings.HasPrefix(v.Key, *r.Prefix) {
		return No, 0
	}
	if r.Filter == nil {
		return Yes, 0
	}
	m, d := r.Filter.Predicates.matches(v, rd)
	if m == No || r.Filter.And == nil {
		return m, d
	}
	n, e := r.Filter.And.matches(v, rd)
	switch {
	case n == No:
		return No, 0
	case d|e != 0:
		return Unknown, d | e
	}
	return Yes, 0
}

// matches reports whether all predicates hold (user guide,
// intro-lifecycle-filters).
func (p *Predicates) matches(v *Version, rd *reading) (Match, doubt) {
	if p.Prefix != nil && !strings.HasPrefix(v.Key, *p.Prefix) {
		return No, 0
	}
	if !p.matchesSize(v) && !(v.DeleteMarker && rd.anySizeMarker) {
		return No, 0
	}
	m, d := p.matchesTags(v, rd)
	if m != No && len(p.Unknown) > 0 {
		return Unknown, d | doubtPredicate
	}
	return m, d
}

// matchesSize compares with both bounds, which are exclusive.
func (p *Predicates) matchesSize(v *Version) bool {
	size := v.size()
	return (p.ObjectSizeGreaterThan == nil || size > *p.ObjectSizeGreaterThan) &&
		(p.ObjectSizeLessThan == nil || size < *p.ObjectSizeLessThan)
}

// matchesTags requires every tag of the filter. A delete marker has none, so
// rules with tags never apply to it.
func (p *Predicates) matchesTags(v *Version, rd *reading) (Match, doubt) {
	switch {
	case len(p.Tags) == 0, v.DeleteMarker && rd.anyTagMarker:
		return Yes, 0
	case v.DeleteMarker:
		return No, 0
	case !v.TagsKnown:
		return Unknown, doubtTags
	}
	for _, want := range p.Tags {
		if value, ok := v.Tags[want.Key]; !ok || value != want.Value {
			return No, 0
		}
	}
	return Yes, 0
}

// hasPrefix reports whether the filter has a prefix that is not empty.
func (f *Filter) hasPrefix() bool {
	return f != nil && (f.Predicates.prefix() != "" || f.And != nil && f.And.prefix() != "")
}

// bySize reports whether the filter bounds the size. Such a rule is free of the
// transition size default (user guide,
// lifecycle-transition-general-considerations).
func (f *Filter) bySize() bool {
	return f != nil && (f.Predicates.bySize() || f.And != nil && f.And.bySize())
}

func (p *Predicates) bySize() bool {
	return p.ObjectSizeGreaterThan != nil || p.ObjectSizeLessThan != nil
}

// byTags reports whether the filter has tags.
func (f *Filter) byTags() bool {
	return f != nil && (len(f.Tags) > 0 || f.And != nil && len(f.And.Tags) > 0)
}

package lifecycle

import "strings"

// schema checks that all rules are of the same generation (recorded). The first
// rule decides: with Filter the rules are new, with a Prefix of its own they are
// old.
func (k *checker) schema() {
	if len(k.c.Rules) == 0 || k.c.Rules[0].Filter != nil && k.c.Rules[0].Prefix != nil {
		return
	}
	first := &k.c.Rules[0]
	k.each(func() {
		switch {
		case k.r.Filter != nil && k.r.Prefix != nil:
		case first.Filter != nil:
			k.newSchema()
		case first.Prefix != nil:
			k.oldSchema()
		}
	})
}

func (k *checker) newSchema() {
	if k.r.Prefix != nil {
		k.add(CodeInvalidRequest, "Prefix", "The first rule has a Filter; no rule may have a Prefix of its own then.")
	}
}

func (k *checker) oldSchema() {
	if k.r.Filter != nil {
		k.add(CodeInvalidRequest, "Filter", "The first rule has a Prefix of its own; no rule may have a Filter then.")
	}
	if x := k.r.NoncurrentExpiration; x != nil && x.NewerNoncurrentVersions != nil {
		k.add(CodeInvalidRequest, "NoncurrentVersionExpiration.NewerNoncurrentVersions", "NewerNoncurrentVersions needs rules with Filter.")
	}
	for _, t := range k.r.NoncurrentTransitions {
		if t.NewerNoncurrentVersions != nil {
			k.add(CodeInvalidRequest, fieldNoncurrent+".NewerNoncurrentVersions", "NewerNoncurrentVersions needs rules with Filter.")
			break
		}
	}
	k.overlap()
}

// overlap checks that no earlier rule has the same action on an overlapping
// prefix. With Filter that is legal.
func (k *checker) overlap() {
	if k.r.Prefix == nil {
		return
	}
	for i := range k.c.Rules[:k.i] {
		o := &k.c.Rules[i]
		if o.Prefix == nil || !strings.HasPrefix(*o.Prefix, *k.r.Prefix) && !strings.HasPrefix(*k.r.Prefix, *o.Prefix) {
			continue
		}
		if action := sharedAction(o, k.r); action != "" {
			k.add(CodeInvalidRequest, "Prefix", "Prefix %q overlaps prefix %q of rule %s, which has %s too.", *k.r.Prefix, *o.Prefix, k.c.name(i), action)
			return
		}
	}
}

// sharedAction names an action both rules have. Marker clean-up counts as an
// action of its own (inferred).
func sharedAction(a, b *Rule) string {
	switch {
	case a.expires() && b.expires():
		return "Expiration"
	case a.cleans() && b.cleans():
		return "ExpiredObjectDeleteMarker"
	case len(a.Transitions) > 0 && len(b.Transitions) > 0:
		return "Transition"
	case a.NoncurrentExpiration != nil && b.NoncurrentExpiration != nil:
		return "NoncurrentVersionExpiration"
	case len(a.NoncurrentTransitions) > 0 && len(b.NoncurrentTransitions) > 0:
		return "NoncurrentVersionTransition"
	case a.AbortMultipart != nil && b.AbortMultipart != nil:
		return "AbortIncompleteMultipartUpload"
	}
	return ""
}

// expires reports whether the rule expires data.
func (r *Rule) expires() bool {
	return r.Expiration != nil && (r.Expiration.Days != nil || !r.Expiration.Date.IsZero())
}

// cleans reports whether the rule speaks of lone markers only.
func (r *Rule) cleans() bool {
	return r.Expiration != nil && r.Expiration.ExpiredObjectDeleteMarker != nil
}

// directory checks what directory buckets exclude; codes are not recorded (user
// guide, directory-buckets-objects-lifecycle).
func (k *checker) directory() {
	r := k.r
	if len(r.Transitions) > 0 {
		k.add("", "Action", "Directory buckets know no transitions.")
	}
	if r.NoncurrentExpiration != nil || len(r.NoncurrentTransitions) > 0 {
		k.add("", "Action", "Directory buckets have no versions.")
	}
	if r.cleans() {
		k.add("", "Expiration.ExpiredObjectDeleteMarker", "Directory buckets have no delete markers.")
	}
	if r.Expiration != nil && !r.Expiration.Date.IsZero() {
		k.add("", "Expiration.Date", "Directory buckets expire by Days only.")
	}
	if r.Filter.byTags() {
		k.add("", "Filter.Tag", "Directory buckets know no object tags.")
	}
}

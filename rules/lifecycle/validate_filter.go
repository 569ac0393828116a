package lifecycle

// maxSizeBound is the largest size bound in bytes S3 accepted (recorded). The
// documented object size is smaller.
const maxSizeBound = 1_099_511_627_776_000

// filter checks the predicates of the rule (user guide,
// intro-lifecycle-filters; API reference, LifecycleRuleAndOperator).
func (k *checker) filter() {
	f := k.r.Filter
	if f == nil {
		return
	}
	n := f.count()
	if f.And != nil {
		n++
	}
	if n > 1 {
		k.add(CodeMalformedXML, "Filter", "Filter has %d predicates side by side; more than one must be joined by And.", n)
	}
	k.sizes(&f.Predicates)
	if f.And != nil {
		k.and(f.And)
	}
}

// count is the number of predicates; tags count singly.
func (p *Predicates) count() int {
	n := len(p.Tags)
	for _, present := range []bool{p.Prefix != nil, p.ObjectSizeGreaterThan != nil, p.ObjectSizeLessThan != nil} {
		if present {
			n++
		}
	}
	return n
}

// and checks the predicates joined by And. One of them may be an empty prefix
// (recorded).
func (k *checker) and(p *Predicates) {
	if n := p.count(); n < 2 && !k.hasNote("Filter.And") {
		k.add(CodeMalformedXML, "Filter.And", "And needs two predicates or more; it has %d.", n)
	}
	seen := map[string]bool{}
	for _, t := range p.Tags {
		if seen[t.Key] {
			k.add(CodeInvalidRequest, "Filter.And.Tags", "Duplicate Tag key %q in the filter.", t.Key)
		}
		seen[t.Key] = true
	}
	k.sizes(p)
}

// sizes checks the size bounds, in bytes.
func (k *checker) sizes(p *Predicates) {
	above, below := p.ObjectSizeGreaterThan, p.ObjectSizeLessThan
	switch {
	case above == nil:
	case *above < 0:
		k.add("", "ObjectSizeGreaterThan", "ObjectSizeGreaterThan is %d; it must not be negative.", *above)
	case *above > maxSizeBound:
		k.add(CodeInvalidRequest, "ObjectSizeGreaterThan", "ObjectSizeGreaterThan is %d; the limit is %d.", *above, maxSizeBound)
	}
	switch {
	case below == nil:
	case *below < 1:
		k.add(CodeInvalidRequest, "ObjectSizeLessThan", "ObjectSizeLessThan is %d; it must be at least 1.", *below)
	case *below > maxSizeBound:
		k.add(CodeInvalidRequest, "ObjectSizeLessThan", "ObjectSizeLessThan is %d; the limit is %d.", *below, maxSizeBound)
	case above != nil && *above >= *below:
		k.add(CodeInvalidRequest, "ObjectSizeGreaterThan",
			"ObjectSizeGreaterThan is %d and must be less than ObjectSizeLessThan, which is %d.", *above, *below)
	}
}

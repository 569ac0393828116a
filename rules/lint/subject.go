package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/rules/lifecycle/infra"
)

// A subject is a proposed lifecycle configuration and the stores that it
// concerns.
type subject struct {
	file     *File
	proposal *infra.Proposal
	stores   []*Store
	// maybe says that the code does not name the bucket, so that the stores are
	// those that may lie in it.
	maybe bool
	now   time.Time
	// reading is the one at hand.
	reading *infra.Reading
	// counted are the radii of its rules that were counted already.
	counted map[radiusKey]audit.Radius
}

// A radiusKey is a rule of a reading.
type radiusKey struct {
	reading *infra.Reading
	rule    int
}

// subjects are the configurations of all files.
func subjects(in *Input) []*subject {
	var all []*subject
	for i := range in.Files {
		f := &in.Files[i]
		for j := range f.Proposals {
			s := &subject{file: f, proposal: &f.Proposals[j], now: in.Now}
			s.reading = &s.proposal.Readings[0]
			s.match(in.Stores)
			all = append(all, s)
		}
	}
	return all
}

// match finds the stores that the configuration concerns. One without a bucket is
// held against every store; one of a bucket that is still to be created concerns
// nothing that is there.
func (s *subject) match(stores []Store) {
	b := s.proposal.Bucket
	for i := range stores {
		st := &stores[i]
		switch {
		case !b.Named, st.bucket() == "", b.Name != "" && b.Name == st.bucket():
			s.stores = append(s.stores, st)
		case b.Name == "" && !b.New:
			s.maybe = true
			s.stores = append(s.stores, st)
		}
	}
}

// bucket names the bucket for people.
func (s *subject) bucket() string {
	b := s.proposal.Bucket
	switch {
	case b.Name != "":
		return b.Name
	case b.New:
		return "that " + b.Source + " will create"
	case b.Named:
		return "known only when the code is applied"
	}
	return "not named by the file"
}

// lifecycleBucket is the bucket of one of the stores, or, without any, what the
// code says of it.
func (s *subject) lifecycleBucket(st *Store) lifecycle.Bucket {
	if st == nil {
		st = &Store{}
	}
	return st.lifecycleBucket(s.proposal.Facts)
}

// any gives one of the stores; nil without any.
func (s *subject) any() *Store {
	if len(s.stores) == 0 {
		return nil
	}
	return s.stores[0]
}

// rule is the rule of an index of the reading at hand.
func (s *subject) rule(i int) *lifecycle.Rule { return &s.reading.Rules[i] }

// doubts are those about a rule.
func (s *subject) doubts(i int, k infra.DoubtKind) []infra.Doubt {
	var all []infra.Doubt
	for _, d := range s.reading.Doubts {
		if d.Rule == i && d.Kind == k {
			all = append(all, d)
		}
	}
	return all
}

// doubtful reports whether anything about a rule is unknown.
func (s *subject) doubtful(i int) bool {
	return slices.ContainsFunc(s.reading.Doubts, func(d infra.Doubt) bool { return d.Rule == i })
}

// found begins a finding about a rule of the configuration; -1 is the
// configuration itself.
func (s *subject) found(severity audit.Severity, i int, format string, args ...any) audit.LintFinding {
	f := audit.LintFinding{Finding: audit.Found(severity, format, args...), File: s.file.Name, Source: s.proposal.Source, Line: s.proposal.Line}
	if i >= 0 {
		f.LifecycleRule = s.rule(i).Name()
		if i < len(s.reading.Lines) {
			f.Line = cmp.Or(s.reading.Lines[i], f.Line)
		}
	}
	if len(s.stores) == 1 {
		f.Store = s.stores[0].url()
	}
	return f
}

// each collects what a check finds about the rules, over all readings. What is
// not found whichever way the conditions go is not certain.
func (s *subject) each(check func(i int) (audit.LintFinding, bool)) []audit.LintFinding {
	return s.over(func() []audit.LintFinding {
		var all []audit.LintFinding
		for i := range s.reading.Rules {
			if f, ok := check(i); ok {
				all = append(all, f)
			}
		}
		return all
	})
}

// over collects what a check finds in the readings, and merges what is the same.
func (s *subject) over(check func() []audit.LintFinding) []audit.LintFinding {
	type key struct {
		rule string
		line int
	}
	var order []key
	times := map[key]int{}
	first := map[key]audit.LintFinding{}
	when := map[key]string{}
	for i := range s.proposal.Readings {
		s.reading = &s.proposal.Readings[i]
		inThis := map[key]bool{}
		for _, f := range check() {
			k := key{f.LifecycleRule, f.Line}
			if inThis[k] { // several of one rule are kept apart
				k.rule += fmt.Sprintf(" %d", len(inThis))
			}
			inThis[k] = true
			if times[k]++; times[k] == 1 {
				order, when[k], first[k] = append(order, k), s.reading.When, f
			} else if f.Severity.Worse(first[k].Severity) {
				first[k] = f
			}
		}
	}
	s.reading = &s.proposal.Readings[0]
	var all []audit.LintFinding
	for _, k := range order {
		all = append(all, s.weighed(first[k], times[k] == len(s.proposal.Readings), when[k]))
	}
	return all
}

// weighed lowers a finding that is not certain.
func (s *subject) weighed(f audit.LintFinding, always bool, when string) audit.LintFinding {
	if !always {
		f.Finding = f.Because("only where %s", when)
		if f.Severity == audit.Critical {
			f.Severity = audit.Unsure
		}
	}
	if s.maybe {
		f.Finding = f.Because("the bucket is known only when the code is applied; this holds if it is that of the store. `--bucket %s=NAME` says which it is", s.proposal.Source)
		switch {
		case f.Severity == audit.Critical:
			f.Severity = audit.Unsure
		case f.Severity == audit.Warning && len(s.reading.Rules) > 0: // S3 refuses no rules for any bucket
			f.Severity = audit.Info
		}
	}
	return f
}

// prefixOf gives the prefix of a rule, and the rest of its filter in words.
func prefixOf(r *lifecycle.Rule) (prefix, conditions string) {
	var words []string
	add := func(p *lifecycle.Predicates) {
		if p.Prefix != nil && len(*p.Prefix) > len(prefix) {
			prefix = *p.Prefix
		}
		for _, t := range p.Tags {
			words = append(words, fmt.Sprintf("tag %s=%s", t.Key, t.Value))
		}
		if p.ObjectSizeGreaterThan != nil {
			words = append(words, fmt.Sprintf("larger than %d bytes", *p.ObjectSizeGreaterThan))
		}
		if p.ObjectSizeLessThan != nil {
			words = append(words, fmt.Sprintf("smaller than %d bytes", *p.ObjectSizeLessThan))
		}
		words = append(words, p.Unknown...)
	}
	add(&lifecycle.Predicates{Prefix: r.Prefix})
	if r.Filter != nil {
		add(&r.Filter.Predicates)
		if r.Filter.And != nil {
			add(r.Filter.And)
		}
	}
	return prefix, strings.Join(words, ", ")
}

// actionOf says what a rule does, in words.
func actionOf(r *lifecycle.Rule) (action string, acts bool) {
	var words []string
	if x := r.Expiration; x != nil {
		switch {
		case x.Days != nil:
			words, acts = append(words, fmt.Sprintf("expires after %s", audit.Plural(*x.Days, "day"))), true
		case !x.Date.IsZero():
			words, acts = append(words, "expires from "+stamp(x.Date)), true
		case x.ExpiredObjectDeleteMarker != nil && *x.ExpiredObjectDeleteMarker:
			words = append(words, "removes lone delete markers")
		}
	}
	for _, t := range r.Transitions {
		acts = true
		if t.Days != nil {
			words = append(words, fmt.Sprintf("moves to %s after %s", t.StorageClass, audit.Plural(*t.Days, "day")))
		} else {
			words = append(words, "moves to "+t.StorageClass+" from "+stamp(t.Date))
		}
	}
	if x := r.NoncurrentExpiration; x != nil && x.NoncurrentDays != nil {
		words = append(words, fmt.Sprintf("deletes old versions after %s", audit.Plural(*x.NoncurrentDays, "day")))
	}
	for _, t := range r.NoncurrentTransitions {
		words = append(words, "moves old versions to "+t.StorageClass)
	}
	if r.AbortMultipart != nil {
		words = append(words, "ends unfinished uploads")
	}
	if r.DelMarkerExpirationDays != nil {
		words, acts = append(words, "removes delete markers with everything beneath"), true
	}
	return strings.Join(words, ", "), acts
}

// expires reports whether a rule deletes or hides current objects.
func expires(r *lifecycle.Rule) bool {
	x := r.Expiration
	return x != nil && (x.Days != nil || !x.Date.IsZero())
}

// touches reports whether an enabled rule matches anything that the stores hold
// or will hold, and how surely.
func (s *subject) touches(i int) lifecycle.Match {
	r, worst := s.rule(i), lifecycle.No
	if !r.Enabled() {
		return lifecycle.No
	}
	look := func(t target) (done bool) {
		m := r.Matches(t.version)
		if m == lifecycle.Unknown {
			worst = lifecycle.Unknown
		}
		return m == lifecycle.Yes
	}
	for _, st := range s.stores {
		if slices.ContainsFunc(st.control(), look) ||
			slices.ContainsFunc(st.snapshots(), func(p pair) bool { return look(p.data) || look(p.meta) }) {
			return lifecycle.Yes
		}
	}
	return worst
}

// severity is that of a warning about a rule: of one that touches nothing in a
// store it is information.
func (s *subject) severity(i int, touching audit.Severity) audit.Severity {
	if len(s.stores) > 0 && s.touches(i) == lifecycle.No {
		return audit.Info
	}
	return touching
}

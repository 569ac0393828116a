package lint

import (
	"cmp"
	"slices"

	"backstop/audit"
	"backstop/rules/lifecycle"
)

// mostFollowed bounds how many timelines are told: each takes a hundredth of a
// second or more, and nobody reads more.
const mostFollowed = 50

// timelines tell what becomes of the stores that a configuration changes, those
// that lose a control file first, and how many are left out.
func (j *judgement) timelines() (all []audit.LintTimeline, unfollowed int) {
	if j.Foresee == nil {
		return nil, 0
	}
	for _, s := range j.subjects {
		if s.maybe {
			continue // which stores it concerns is not known
		}
		for _, st := range s.toFollow() {
			if len(all) == mostFollowed {
				unfollowed++
				continue
			}
			all = append(all, j.timeline(s, st))
		}
	}
	return all, unfollowed
}

// toFollow are the stores that were looked at and of which the configuration, or
// the one in force, takes something.
func (s *subject) toFollow() []*Store {
	loses := func(st *Store) (n int) {
		for _, t := range st.control() {
			if f := fateUnder(s.reading.Configuration, s.lifecycleBucket(st), t); t.seen && f.IsSet() {
				n++
			}
		}
		return n
	}
	var all []*Store
	for _, st := range s.stores {
		if st.looked() && (loses(st) > 0 || s.reaches(st)) {
			all = append(all, st)
		}
	}
	slices.SortStableFunc(all, func(a, b *Store) int { return cmp.Compare(loses(b), loses(a)) })
	return all
}

// reaches reports whether a rule, proposed or in force, takes current objects of
// a store.
func (s *subject) reaches(st *Store) bool {
	acts := func(c lifecycle.Configuration) bool {
		return slices.ContainsFunc(c.Rules, func(r lifecycle.Rule) bool {
			_, acts := actionOf(&r)
			return acts && r.Enabled() && st.matched(&r)
		})
	}
	return acts(s.reading.Configuration) || acts(st.live().Value)
}

// matched reports whether a rule matches, or may match, anything of the store.
func (s *Store) matched(r *lifecycle.Rule) bool {
	is := func(t target) bool { return r.Matches(t.version) != lifecycle.No }
	return slices.ContainsFunc(s.control(), is) || slices.ContainsFunc(s.snapshots(), func(p pair) bool { return is(p.data) || is(p.meta) })
}

// timeline follows one store under the rules in force and under the proposed ones.
func (j *judgement) timeline(s *subject, st *Store) audit.LintTimeline {
	proposed := s.reading.Configuration
	if proposed.DefaultMinimumSize == "" && len(proposed.Rules) > 0 { // known only after apply: the worse
		proposed.DefaultMinimumSize = lifecycle.VariesByClass
	}
	t := audit.LintTimeline{Store: st.url(), File: s.file.Name, Source: s.proposal.Source, After: j.Foresee(st, &proposed)}
	t.Assumes = len(s.proposal.Unknown) > 0
	switch live := st.live(); {
	case live.Seen():
		t.Before = j.Foresee(st, nil)
	case s.proposal.Before != nil:
		t.Before = j.Foresee(st, s.proposal.Before)
	default:
		t.Before = audit.Unknown[audit.Future](live.WhyUnseen())
	}
	return t
}

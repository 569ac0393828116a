package lint

import (
	"fmt"
	"strings"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/rules/lifecycle/infra"
)

// radius counts what an enabled rule matches in the stores.
func (s *subject) radius(i int) audit.Radius {
	k := radiusKey{s.reading, i}
	r, ok := s.counted[k]
	if !ok {
		r = s.count(i)
		if s.counted == nil {
			s.counted = map[radiusKey]audit.Radius{}
		}
		s.counted[k] = r
	}
	return r
}

func (s *subject) count(i int) audit.Radius {
	r := s.rule(i)
	out := audit.Radius{Rule: r.Name()}
	out.Prefix, out.Conditions = prefixOf(r)
	out.Action, out.Acts = actionOf(r)
	undated := len(s.doubts(i, infra.Timing)) > 0
	if undated && out.Acts {
		out.Action += " (the age is known only when the code is applied; this is the worst)"
	}
	clusters, unlooked := map[string]bool{}, [3]int{} // with control files, snapshots, either
	for _, st := range s.stores {
		c := counter{undated: undated, radius: &out, rule: r, config: alone(s.reading.Configuration, i), bucket: s.lifecycleBucket(st), st: st}
		control, snapshots := c.store()
		if control+snapshots == 0 {
			continue
		}
		out.Stores++
		clusters[st.cluster()] = true
		if st.looked() {
			out.ControlFiles += control
			out.Snapshots += snapshots
			continue
		}
		unlooked[0] += min(control, 1)
		unlooked[1] += min(snapshots, 1)
		unlooked[2]++
	}
	out.Clusters = len(clusters)
	out.Unlooked = unlookedWords(unlooked)
	return out
}

// unlookedWords says what a rule matches in stores that nobody looked at.
func unlookedWords(n [3]int) string {
	var what []string
	if n[0] > 0 {
		what = append(what, "control files")
	}
	if n[1] > 0 {
		what = append(what, "snapshots")
	}
	if len(what) == 0 {
		return ""
	}
	return strings.Join(what, " and ") + " in " + plural(n[2], "store") + " that nobody looked at"
}

// store counts the control files and the snapshots of the store that it matches. Of
// one that nobody looked at a snapshot stands for all.
func (c *counter) store() (control, snapshots int) {
	for _, t := range c.st.control() {
		if c.counts(t) {
			control++
		}
	}
	for _, p := range c.st.snapshots() {
		data, meta := c.counts(p.data), c.counts(p.meta)
		if data || meta {
			snapshots++
		}
	}
	return control, snapshots
}

// A counter counts the targets of one store.
type counter struct {
	radius *audit.Radius
	rule   *lifecycle.Rule
	config lifecycle.Configuration
	bucket lifecycle.Bucket
	st     *Store
	// undated says that the age is not known, so that nothing is known to be due.
	undated bool
}

// counts reports whether the rule matches a target, or may.
func (c *counter) counts(t target) bool {
	m := c.rule.Matches(t.version)
	c.radius.Unsure = c.radius.Unsure || m == lifecycle.Unknown
	if m == lifecycle.No {
		return false
	}
	if c.radius.Acts && !c.undated && due(c.config, c.bucket, t, c.st.Now) {
		c.radius.DueAtOnce++
	}
	return true
}

// reach says what a rule matches, in one sentence.
func reach(r audit.Radius) string {
	s := fmt.Sprintf("rule `%s`, prefix `%s`%s, %s", r.Rule, r.Prefix, also(r.Conditions), r.Reach())
	if r.DueAtOnce > 0 {
		s += fmt.Sprintf(", of which %s are due at once", plural(r.DueAtOnce, "object"))
	}
	return s
}

func also(conditions string) string {
	if conditions == "" {
		return ""
	}
	return " and " + conditions
}

// effects are what becomes of the control files that are there.
func (s *subject) effects() []audit.Effect {
	all := []audit.Effect{}
	for _, st := range s.stores {
		bucket := s.lifecycleBucket(st)
		for _, t := range st.control() {
			if !t.seen {
				continue
			}
			e := audit.Effect{Store: st.url(), Key: t.version.Key, Before: s.before(st, t)}
			e.After = fateUnder(s.reading.Configuration, bucket, t)
			all = append(all, e)
		}
	}
	return all
}

// before is what becomes of a target by the rules in force: those of the bucket,
// or else those that the code says it had.
func (s *subject) before(st *Store, t target) audit.Fact[audit.Fate] {
	switch live := st.live(); {
	case live.IsSet():
		return fateUnder(live.Value, st.lifecycleBucket(noFacts), t)
	case live.Seen():
		return audit.None[audit.Fate]()
	case s.proposal.Before != nil:
		return fateUnder(*s.proposal.Before, st.lifecycleBucket(noFacts), t)
	default:
		return audit.Unknown[audit.Fate](audit.Why{Cause: audit.CauseNotAsked, Reason: "the rules in force were not seen"})
	}
}

func fateUnder(c lifecycle.Configuration, b lifecycle.Bucket, t target) audit.Fact[audit.Fate] {
	f, ok := taken(c, b, t)
	if !ok {
		return audit.None[audit.Fate]()
	}
	return audit.Is(f.exported())
}

// list names things, and how many more there are.
func list(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

package lint

import (
	"fmt"
	"slices"
	"strings"

	"backstop/audit"
	"backstop/rules/lifecycle/infra"
)

// noFacts is what code says about a bucket that it does not mention.
var noFacts = infra.Facts{}

// A judgement is an input being judged.
type judgement struct {
	*Input
	subjects []*subject
	objects  []object
}

// Judge holds the files against the stores. It cannot fail: what could not be
// read or seen is part of the report.
func Judge(in Input) audit.LintReport {
	j := &judgement{Input: &in, subjects: subjects(&in)}
	j.objects = objectsOf(&in)
	r := audit.LintReport{Judged: in.Now, Files: j.files(), Stores: j.storesOf(), Findings: j.findings(), Problems: j.problems()}
	r.Timelines, r.Unfollowed = j.timelines()
	for _, st := range in.Stores {
		if st.Observation != nil {
			r.Usage.Add(st.Observation.Usage)
		}
	}
	return redacted(audit.NewLintReport(r), &in)
}

// findings are those of all rules. A rule that gives a severity which it does not
// declare is a defect, as in package audit.
func (j *judgement) findings() []audit.LintFinding {
	var all []audit.LintFinding
	add := func(r Rule, found []audit.LintFinding) {
		for _, f := range found {
			if !r.May(f.Severity) {
				panic(fmt.Sprintf("lint: rule %s gave the undeclared severity %q", r.ID, f.Severity))
			}
			f.Rule = r.ID
			all = append(all, f)
		}
	}
	for _, r := range All {
		if r.whole != nil {
			add(r, r.whole(j))
			continue
		}
		for _, s := range j.subjects {
			if len(s.stores) > 0 || len(j.Stores) == 0 { // else lint/not-judged speaks
				add(r, r.configuration(s))
			}
		}
	}
	return supersede(all)
}

// supersede turns findings that another one explains into its evidence.
func supersede(found []audit.LintFinding) []audit.LintFinding {
	gone := make([]bool, len(found))
	for _, r := range All {
		for i := range found {
			if found[i].Rule != r.ID {
				continue
			}
			for k := range found {
				if gone[k] || !slices.Contains(r.supersedes, found[k].Rule) || !sameRule(found[i], found[k]) {
					continue
				}
				gone[k] = true
				if slices.Contains(wholeBucket, found[k].Rule) {
					continue // the empty prefix is told already
				}
				found[i].Evidence = append(slices.Clip(found[i].Evidence), audit.Evidence{Rule: found[k].Rule, Message: found[k].Message})
			}
		}
	}
	var kept []audit.LintFinding
	for i, f := range found {
		if !gone[i] {
			kept = append(kept, f)
		}
	}
	return kept
}

// wholeBucket are the rules that say nothing which a finding about the stores of
// the bucket does not say.
var wholeBucket = []string{"lint/expire-whole-bucket", "lint/archive-whole-bucket"}

// sameRule reports whether a finding is about the lifecycle rule of another, or
// about the whole of its configuration.
func sameRule(a, b audit.LintFinding) bool {
	whole := b.LifecycleRule == "" // it is about the configuration
	return a.File == b.File && a.Source == b.Source && (whole || a.LifecycleRule == b.LifecycleRule && a.Line == b.Line)
}

// files sums up what each file proposes.
func (j *judgement) files() []audit.LintFile {
	all := []audit.LintFile{}
	for i := range j.Files {
		f := &j.Files[i]
		out := audit.LintFile{Name: f.Name, Format: string(f.Format), Configurations: []audit.LintConfiguration{}}
		for _, s := range j.subjects {
			if s.file == f {
				out.Configurations = append(out.Configurations, s.summary())
			}
		}
		for _, o := range j.objects {
			if o.file == f && o.concerns() {
				out.Objects++
			}
		}
		all = append(all, out)
	}
	return all
}

// summary sums up a configuration.
func (s *subject) summary() audit.LintConfiguration {
	out := audit.LintConfiguration{Source: s.proposal.Source, Line: s.proposal.Line, Bucket: s.proposal.Bucket.Name, Change: string(s.proposal.Change),
		Rules: len(s.reading.Rules), Stores: []string{}, Radius: []audit.Radius{}, Unknown: s.proposal.Unknown}
	for _, st := range s.stores {
		out.Stores = append(out.Stores, st.url())
	}
	for i := range s.reading.Rules {
		if s.rule(i).Enabled() && len(s.stores) > 0 {
			out.Radius = append(out.Radius, s.radius(i))
		}
	}
	out.Effects = s.effects()
	return out
}

// storesOf sums up what the code is held against.
func (j *judgement) storesOf() []audit.LintStore {
	all := []audit.LintStore{}
	for i := range j.Stores {
		st := &j.Stores[i]
		out := audit.LintStore{URL: st.url(), State: st.State.Name, Looked: st.Observation != nil, Unseen: st.Unseen}
		if st.Observation != nil {
			out.Snapshots = st.Observation.Listing.Value.CompleteSnapshots()
		}
		all = append(all, out)
	}
	return all
}

// problems leaves out places without a store where the code is about to make
// one: a new cluster has none yet.
func (j *judgement) problems() []audit.Problem {
	var all []audit.Problem
	for _, p := range j.Problems {
		i := slices.IndexFunc(j.Places, func(at Place) bool { return at.URL == p.Target })
		if p.Cause == audit.CauseNoStore && i >= 0 && slices.ContainsFunc(j.objects, func(o object) bool { return o.isNewIn(j.Places[i]) }) {
			continue
		}
		all = append(all, p)
	}
	return all
}

// redacted takes out what a document marks as sensitive.
func redacted(r audit.LintReport, in *Input) audit.LintReport {
	var pairs []string
	for _, f := range in.Files {
		for _, s := range f.Secrets {
			pairs = append(pairs, s, "(sensitive)")
		}
	}
	if len(pairs) == 0 {
		return r
	}
	hide := strings.NewReplacer(pairs...).Replace
	for i := range r.Findings {
		redactFinding(&r.Findings[i], hide)
	}
	for i := range r.Timelines {
		t := &r.Timelines[i]
		redactFuture(&t.Before, hide)
		redactFuture(&t.After, hide)
		t.Source = hide(t.Source)
	}
	for i := range r.Files {
		for k := range r.Files[i].Configurations {
			redactConfiguration(&r.Files[i].Configurations[k], hide)
		}
	}
	return r
}

// redactFuture hides what stands in the words of a timeline.
func redactFuture(f *audit.Fact[audit.Future], hide func(string) string) {
	f.Value.Steps = slices.Clone(f.Value.Steps)
	for i := range f.Value.Steps {
		s := &f.Value.Steps[i]
		s.What, s.Meaning = hide(s.What), hide(s.Meaning)
	}
}

func redactFinding(f *audit.LintFinding, hide func(string) string) {
	for _, s := range []*string{&f.Message, &f.Observed, &f.Expected, &f.Key, &f.LifecycleRule, &f.Source} {
		*s = hide(*s)
	}
	f.Do = slices.Clone(f.Do)
	for i := range f.Do {
		f.Do[i] = hide(f.Do[i])
	}
	f.Evidence = slices.Clone(f.Evidence)
	for i := range f.Evidence {
		f.Evidence[i].Message = hide(f.Evidence[i].Message)
	}
}

func redactConfiguration(c *audit.LintConfiguration, hide func(string) string) {
	c.Bucket, c.Source = hide(c.Bucket), hide(c.Source)
	for i := range c.Radius {
		r := &c.Radius[i]
		r.Rule, r.Prefix, r.Conditions = hide(r.Rule), hide(r.Prefix), hide(r.Conditions)
	}
	for i := range c.Effects {
		e := &c.Effects[i]
		e.Before.Value.Rule, e.After.Value.Rule = hide(e.Before.Value.Rule), hide(e.After.Value.Rule)
	}
}

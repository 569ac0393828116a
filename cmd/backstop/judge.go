package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"backstop/audit"
	"backstop/rules"
)

// A judge judges each store when it is shown, and keeps of it what the report says.
type judge struct {
	p        *program
	set      audit.Ruleset
	at       time.Time // zero for now
	recorded bool      // now is when the store was looked at

	mu      sync.Mutex
	each    func(sight, audit.StoreReport) // may be nil
	reports []audit.StoreReport
	latest  time.Time
	shared  map[string]*sharedEntry
}

// A sharedEntry is an entry of the configuration with exceptions that stands for
// several stores. An exception is idle when it is so for all of them, and the first
// store answers for that; so its judgement waits for the others.
type sharedEntry struct {
	stores, left int
	first        int // its index
	sight        sight
	at           time.Time
	idle         map[string]int // exceptions, and for how many stores they are idle
}

// assess looks, or reads what was recorded, and judges. each is told of every store
// with what was seen of it and the policy, which are not kept, one at a time and in any order.
func (p *program) assess(ctx context.Context, args []string, o *options, set audit.Ruleset, at time.Time, each func(sight, audit.StoreReport)) (audit.Report, error) {
	j := &judge{p: p, set: set, at: at, recorded: o.replay != "", each: each, latest: at}
	problems, usage, err := p.see(ctx, args, o, j)
	if err != nil {
		return audit.Report{}, err
	}
	r := j.report(problems, usage)
	if o.shard.Of > 0 {
		r = r.OfShard(audit.Shard{Index: o.shard.Index, Of: o.shard.Of, Version: versionString(), Looked: args})
	}
	return r, nil
}

// expect implements viewer.
func (j *judge) expect(policies []audit.Policy) {
	j.reports = make([]audit.StoreReport, len(policies))
	j.shared = map[string]*sharedEntry{}
	for i, p := range policies {
		if p.Entry == "" || !p.Any() {
			continue
		}
		e := j.shared[p.Entry]
		if e == nil {
			e = &sharedEntry{first: i, idle: map[string]int{}}
			j.shared[p.Entry] = e
		}
		e.stores++
		e.left++
	}
}

// show implements viewer.
func (j *judge) show(i int, s sight) {
	now := j.clock(s.Observation)
	s.Policy.Windows = begun(s.Policy.Windows, now)
	e := j.shared[s.Policy.Entry]
	if e == nil || e.stores == 1 {
		j.judge(i, s, now)
		return
	}
	idle := rules.Idle(s.Observation, s.Policy, now)
	if i != e.first {
		s.Policy.Elsewhere = slices.Concat(s.Policy.Elsewhere, s.Policy.Names())
		j.judge(i, s, now)
	}
	if j.note(e, i, s, now, idle) {
		j.judge(e.first, e.answering(), e.at)
	}
}

// note notes what of an entry is idle for a store. It reports whether that was the
// last of its stores.
func (j *judge) note(e *sharedEntry, i int, s sight, now time.Time, idle []string) (last bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if i == e.first {
		e.sight, e.at = s, now
	}
	for _, name := range idle {
		e.idle[name]++
	}
	e.left--
	return e.left == 0
}

// answering is the entry's first store, which answers for what is idle for all.
func (e *sharedEntry) answering() sight {
	s := e.sight
	s.Policy.Elsewhere = slices.Clone(s.Policy.Elsewhere)
	for name, stores := range e.idle {
		if stores < e.stores {
			s.Policy.Elsewhere = append(s.Policy.Elsewhere, name)
		}
	}
	e.sight = sight{} // it is not kept
	return s
}

// clock gives the time to judge an observation at.
func (j *judge) clock(o *audit.Observation) time.Time {
	switch {
	case !j.at.IsZero():
		return j.at
	case j.recorded:
		return o.Clock(o.Ended)
	}
	return o.Clock(j.p.now().UTC())
}

func (j *judge) judge(i int, s sight, now time.Time) {
	r := audit.Judge(j.set, s.Observation, s.Policy, now)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reports[i] = r
	if now.After(j.latest) {
		j.latest = now
	}
	if j.each != nil {
		j.each(s, r)
	}
}

// report puts together what was judged. usage is what the run has cost besides.
func (j *judge) report(problems []audit.Problem, usage audit.Usage) audit.Report {
	latest := j.latest
	if latest.IsZero() {
		latest = j.p.now().UTC()
	}
	r := audit.NewReport(latest, j.reports, problems)
	r.Usage.Add(usage)
	return r
}

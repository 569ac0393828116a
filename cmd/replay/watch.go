package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"backstop/audit"
	"backstop/rules"
	"backstop/store"
)

// A watch audits a world again and again, and remembers what was said.
type watch struct {
	*world
	windows  map[string][]window
	roles    map[string]audit.Role
	episodes []*episode
	open     map[string]*episode // what was said at the last audit, by rule and subject
	audits   int
	stores   int // that were judged, over all audits
	lived    time.Duration
	mirror   *mirror // of the day over HTTP
}

// A window is when a cluster is expected to take no backups.
type window struct {
	schedule cron.Schedule
	lasts    time.Duration
}

// An episode is a finding that came, stayed, and went.
type episode struct {
	rule, subject, cluster string
	severity               audit.Severity // the worst that it had
	message                string
	from, to               time.Time
	excused                bool // at every audit
}

// A saying is a finding of one audit.
type saying struct {
	audit.Finding
	subject, cluster, bucket string
}

func newWatch(w *world) *watch {
	a := &watch{world: w, windows: map[string][]window{}, roles: map[string]audit.Role{}, open: map[string]*episode{}}
	for _, b := range w.scenario.Buckets {
		a.roles[b.Name] = audit.Role(b.Role)
	}
	for _, c := range w.clusters {
		for _, given := range c.entry.Windows {
			schedule, _ := cron.ParseStandard(given.Cron) // it was checked
			a.windows[c.name] = append(a.windows[c.name], window{schedule, time.Duration(given.For)})
		}
	}
	return a
}

// run lives through the scenario.
func (a *watch) run(ctx context.Context, each func(*watch)) error {
	step := time.Duration(a.scenario.Audit)
	for t := a.begun; t.Before(a.end); t = t.Add(step) {
		a.clock.run(t)
		looked := a.due(t)
		reports, problems, err := a.audit(ctx, a.places("", looked), a.world.open(""))
		if err != nil {
			return err
		}
		a.note(reports, problems, looked)
		a.countLives(step)
		if err := a.overHTTP(ctx, looked); err != nil {
			return err
		}
		each(a)
	}
	return nil
}

// overHTTP makes the audits of one day of the scenario over HTTP too.
func (a *watch) overHTTP(ctx context.Context, due map[string]bool) error {
	into := a.now.Sub(a.begun) - time.Duration(a.scenario.httpDay)
	if a.scenario.HTTP == "" || into < 0 || into >= day {
		return nil
	}
	if a.mirror == nil {
		m, err := startMirror(a)
		if err != nil {
			return err
		}
		a.mirror = m
	}
	err := a.mirror.compare(ctx, due)
	if err != nil || into+time.Duration(a.scenario.Audit) >= day {
		a.mirror.stop()
	}
	return err
}

// due gives the clusters that an audit looks at; nil is everything there is. Where
// the scenario has quiet times, those are looked at between its full audits to which
// something has happened lately.
func (a *watch) due(t time.Time) map[string]bool {
	quiet := time.Duration(a.scenario.Quiet)
	if quiet == 0 || t.Sub(a.begun)%quiet == 0 {
		return nil
	}
	looked := map[string]bool{}
	for _, c := range a.clusters {
		if len(c.managers) > 0 && c.deleted.IsZero() && t.Sub(c.stirred) <= time.Duration(a.scenario.Dense) {
			looked[c.name] = true
		}
	}
	return looked
}

// places are the clusters that are due, or all buckets, each as a person would name
// it.
func (a *watch) places(endpoint string, due map[string]bool) []store.Place {
	var places []store.Place
	if due != nil {
		for _, c := range a.clusters {
			if due[c.name] {
				places = append(places, store.Place{URL: "s3://" + c.state.name + "/" + c.name, Bucket: &view{bucket: c.state, endpoint: endpoint}, Prefix: c.name})
			}
		}
		return places
	}
	for _, b := range a.scenario.Buckets {
		if a.buckets[b.Name].made > 0 {
			places = append(places, store.Place{URL: "s3://" + b.Name, Bucket: &view{bucket: a.buckets[b.Name], endpoint: endpoint}})
		}
	}
	return places
}

// audit looks at all places with the true code, and judges with the true rules.
func (a *watch) audit(ctx context.Context, places []store.Place, open func(context.Context, string, int) (store.Bucket, error)) ([]audit.StoreReport, []audit.Problem, error) {
	if len(places) == 0 {
		return nil, nil, nil
	}
	survey := &store.Survey{Places: places, Open: open, Now: a.time, Concurrency: 2}
	found, err := survey.Find(ctx)
	if err != nil {
		return nil, nil, err
	}
	reports := make([]audit.StoreReport, len(found.Places))
	var mu sync.Mutex
	err = found.Observe(ctx, func(i int, o *audit.Observation) {
		r := audit.Judge(rules.Set, o, a.policy(o), a.now)
		mu.Lock()
		defer mu.Unlock()
		reports[i] = r
	})
	return reports, found.Problems, err
}

func (a *watch) time() time.Time { return a.now }

// policy is the default one, with what the scenario's owner has told of the store.
func (a *watch) policy(o *audit.Observation) audit.Policy {
	p := audit.DefaultPolicy()
	p.Role = a.roles[o.Store.Bucket]
	for _, w := range a.windows[clusterOf(o.Store)] {
		p.Windows = append(p.Windows, audit.Window{For: w.lasts, Began: begun(w.schedule, a.now)})
	}
	return p
}

// begun is when a window last began: it is looked for in the week before.
func begun(s cron.Schedule, now time.Time) (last time.Time) {
	for t := s.Next(now.Add(-7*day - time.Second)); !t.IsZero() && !t.After(now); t = s.Next(t) {
		last = t
	}
	return last
}

// clusterOf tells which cluster a store is of: by kops's layout, or the first part of
// its path, which scenarios name so.
func clusterOf(s audit.Store) string {
	first, _, _ := strings.Cut(s.Prefix, "/")
	return cmp.Or(s.Cluster, first)
}

// note compares what is said with what was said before.
func (a *watch) note(reports []audit.StoreReport, problems []audit.Problem, looked map[string]bool) {
	a.audits++
	a.stores += len(reports)
	said := a.sayings(reports, problems)
	now := map[string]*episode{}
	for key, e := range a.open {
		if looked != nil && !looked[e.cluster] {
			now[key] = e // nobody looked: it goes on
		}
	}
	for _, s := range said {
		key := s.Rule + " " + s.subject
		e := a.open[key]
		if e == nil {
			e = now[key]
		}
		if e == nil {
			e = &episode{rule: s.Rule, subject: s.subject, cluster: s.cluster, severity: s.Severity, message: s.Message, from: a.now, excused: true}
			a.episodes = append(a.episodes, e)
		}
		if s.Severity.Worse(e.severity) {
			e.severity, e.message = s.Severity, s.Message
		}
		e.to = a.now
		e.excused = e.excused && (s.Severity == audit.Info || a.excuses(s.cluster, s.bucket, s.Rule))
		now[key] = e
	}
	a.open = now
	for _, d := range a.injected {
		d.check(a.now, said, now)
	}
}

// sayings are all findings, information too, and what could not be audited.
func (a *watch) sayings(reports []audit.StoreReport, problems []audit.Problem) []saying {
	var all []saying
	for _, r := range reports {
		for _, f := range r.Findings {
			s := saying{Finding: f, subject: r.Store.URL, cluster: clusterOf(r.Store), bucket: r.Store.Bucket}
			if f.Scope == "bucket" {
				s.subject = "s3://" + r.Store.Bucket
			}
			all = append(all, s)
		}
	}
	for _, p := range problems {
		bucket, prefix, _ := strings.Cut(strings.TrimPrefix(p.Target, "s3://"), "/")
		f := audit.Finding{Rule: "problem/" + string(p.Cause), Severity: audit.Unsure, Message: p.Message}
		all = append(all, saying{Finding: f, subject: p.Target, cluster: clusterOf(audit.Store{Prefix: prefix}), bucket: bucket})
	}
	slices.SortStableFunc(all, func(x, y saying) int { return cmp.Or(cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.subject, y.subject)) })
	return all
}

// countLives counts the time for which clusters lived and were well.
func (a *watch) countLives(step time.Duration) {
	for _, c := range a.clusters {
		if !c.created.IsZero() && c.deleted.IsZero() && c.struck.IsZero() {
			a.lived += step
		}
	}
}

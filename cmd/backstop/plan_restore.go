package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/rules"
	"backstop/rules/forecast"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
	"backstop/store/snapshot"
)

// A planner judges each store when it is shown, and keeps those that may have to be
// restored: the ones that were reset, the ones that the owner asks for, and the
// other half of a main and events until that has been seen.
type planner struct {
	judge
	before time.Time // --before
	asked  bool      // a restore is asked for, of every store

	mu   sync.Mutex
	kept map[string]*lost // by the store's id
}

// A lost is a store that is to be restored, or whose other half may be.
type lost struct {
	forecast.Input
	wanted bool
}

// show implements viewer.
func (v *planner) show(i int, s sight) {
	now := v.clock(s.Observation)
	policy := s.Policy
	policy.Windows = begun(policy.Windows, now)
	if in := rules.Foresee(s.Observation, policy, now, 0, nil); in.Policy.RoleOf(s.Observation) == audit.Live {
		v.keep(&lost{in, v.asked || !in.Reset.IsZero()})
	}
	v.judge.show(i, s)
}

// keep keeps a store as long as it may be of use.
func (v *planner) keep(l *lost) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.kept == nil {
		v.kept = map[string]*lost{}
	}
	other := v.other(l)
	switch {
	case l.wanted, other != nil && other.wanted, other == nil && hasOther(l.Observation):
		v.kept[l.Observation.Store.ID()] = l
	case other != nil:
		delete(v.kept, other.Observation.Store.ID()) // neither is wanted
	}
}

// hasOther reports whether the other of main and events was looked at too.
func hasOther(o *audit.Observation) bool {
	return slices.ContainsFunc(o.Siblings, func(s audit.Sibling) bool { return isPair(o.Store.Etcd, s.Etcd) })
}

func isPair(a, b string) bool { return a == "main" && b == "events" || a == "events" && b == "main" }

// otherOf is the other of main and events.
func otherOf(etcd string) string {
	if etcd == "main" {
		return "events"
	}
	return "main"
}

// other gives the kept store that is the other of main and events.
func (v *planner) other(l *lost) *lost {
	o := l.Observation
	for _, k := range v.kept {
		of := k.Observation.Store
		if isPair(o.Store.Etcd, of.Etcd) && of.Endpoint == o.Store.Endpoint && slices.ContainsFunc(o.Siblings, func(s audit.Sibling) bool { return s.URL == of.URL }) {
			return k
		}
	}
	return nil
}

// A restoration is the plan to restore one store, or main and events together.
type restoration struct {
	choices []recovery.Choice
	steps   []recovery.Step
	// with is the store where it is told, if that is another.
	with string
	told bool
	// notes are about the other of main and events.
	notes []string
}

// restorations plans the restore of each store that is to be restored. Its error is
// why the program has to end.
func (p *program) restorations(ctx context.Context, v *planner, r audit.Report, o *planOptions) (map[string]*restoration, error) {
	plans := map[string]*restoration{}
	for _, s := range r.Stores {
		l := v.kept[s.Store.ID()]
		if l == nil || !l.wanted || plans[s.Store.ID()] != nil {
			continue
		}
		plan := p.restoration(ctx, v, l, o)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		states := func(at audit.Store) etcdmanager.State { return stateIn(r, at) }
		plan.steps = recovery.Restore(plan.choices, states)
		for _, c := range plan.choices {
			plans[c.Observation.Store.ID()] = plan
		}
	}
	return plans, nil
}

func stateIn(r audit.Report, at audit.Store) etcdmanager.State {
	for _, s := range r.Stores {
		if s.Store.ID() == at.ID() {
			return etcdmanager.State(s.State.Name)
		}
	}
	return etcdmanager.Unknown
}

// restoration plans a restore of a store, and of the other of main and events if
// that has to be restored too.
func (p *program) restoration(ctx context.Context, v *planner, l *lost, o *planOptions) *restoration {
	other := v.other(l)
	if other != nil && other.wanted && l.Observation.Store.Etcd == "events" {
		l, other = other, l // main comes first
	}
	plan := &restoration{choices: []recovery.Choice{p.search(ctx, v, l, o).Choose()}}
	chosen := plan.choices[0].Chosen
	switch etcd := l.Observation.Store.Etcd; {
	case etcd != "main" && etcd != "events":
	case other == nil:
		plan.notes = append(plan.notes, fmt.Sprintf("%s of this cluster was not looked at. If it has lost its data too, restore both to the same time: give the cluster, or both stores, and both are planned", otherOf(etcd)))
	case !other.wanted:
		plan.notes = append(plan.notes, fmt.Sprintf("%s was not reset, and needs no restore: leave it as it is", other.Observation.Store.Etcd))
	case chosen != nil:
		s := p.search(ctx, v, other, o)
		s.Near = chosen.Snapshot.Taken
		plan.choices = append(plan.choices, s.Choose())
	}
	return plan
}

// search is for the snapshot of one store.
func (p *program) search(ctx context.Context, v *planner, l *lost, o *planOptions) recovery.Search {
	s := recovery.Search{
		Observation: l.Observation, Ends: forecast.Ends(l.Input), Now: l.Now, Formed: l.Reset, Before: v.before,
		Limit: o.open, Unrestorable: rules.Unrestorable, Filled: rules.EmptyBelow(),
	}
	if o.replay != "" {
		return s
	}
	s.Open = func(x audit.Snapshot) recovery.Opened { return p.openCandidate(ctx, l.Observation.Store, x, o) }
	return s
}

// openCandidate reads a snapshot and its meta file.
func (p *program) openCandidate(ctx context.Context, s audit.Store, x audit.Snapshot, o *planOptions) recovery.Opened {
	vo := &verifyOptions{options: o.options}
	unread := func(err error) recovery.Opened {
		return recovery.Opened{Result: snapshot.Result{Verdict: snapshot.Unverified, Cause: snapshot.NotRead, Reason: err.Error()}}
	}
	read, err := p.verifyOne(ctx, pathIn(s, x.Name, etcdmanager.DataFile), vo, snapshot.Options{MaxMemory: snapshot.DefaultMaxMemory})
	if err != nil {
		return unread(err)
	}
	out := recovery.Opened{Result: read.Result}
	in, err := p.openSnapshot(ctx, pathIn(s, x.Name, etcdmanager.MetaFile), vo)
	if err != nil {
		out.Meta = audit.Unknown[audit.Document](audit.Why{Cause: audit.CauseOther, Reason: err.Error()})
		return out
	}
	defer func() { _ = in.Close() }() // it was read
	body, err := io.ReadAll(io.LimitReader(in, maxMeta))
	if err != nil {
		out.Meta = audit.Unknown[audit.Document](audit.Why{Cause: audit.CauseOther, Reason: err.Error()})
		return out
	}
	out.Meta = audit.Is(audit.Document{Object: *x.Meta, Body: body})
	return out
}

// maxMeta is more than any meta file has, in bytes.
const maxMeta = 64 << 10

// pathIn names an object of a store as an argument does.
func pathIn(s audit.Store, parts ...string) string {
	if strings.HasPrefix(s.URL, "s3://") {
		return strings.TrimSuffix(s.URL, "/") + "/" + strings.Join(parts, "/")
	}
	return filepath.Join(append([]string{s.URL}, parts...)...)
}

// print prints the plan where its first store is printed, and gives the exit status.
func (r *restoration) print(w io.Writer, s audit.StoreReport) int {
	if r.told {
		fmt.Fprintf(w, "\nIt is restored together with %s: see the plan there.\n", report.Printable(r.with))
		return exitCritical
	}
	r.told, r.with = true, s.Store.URL
	for _, c := range r.choices {
		fmt.Fprintf(w, "\nWhat to restore of %s:\n", report.Printable(c.Observation.Store.URL))
		for _, line := range c.Explain() {
			fmt.Fprintf(w, "  - %s\n", report.Printable(line))
		}
	}
	for _, n := range r.notes {
		fmt.Fprintf(w, "  - %s\n", report.Printable(n))
	}
	if slices.ContainsFunc(r.choices, func(c recovery.Choice) bool { return !c.Listed() }) {
		return exitUnknown
	}
	if len(r.steps) == 0 {
		fmt.Fprintln(w, "\nThere is no plan without a snapshot. Look for old versions of the snapshots in the bucket, for copies of it, and on the nodes' volumes for data-trashcan/.")
		return exitCritical
	}
	fmt.Fprintf(w, "\nThe order of the restore. It matters; nothing below has been run.\n")
	printSteps(w, r.steps)
	return exitCritical
}

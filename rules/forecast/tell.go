package forecast

import (
	"cmp"
	"slices"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// An atom is one thing that happens to one snapshot, or to one old version of a
// control file. Timelines tell them in spans.
type atom struct {
	at, due, late time.Time // at is not before now
	actor         Actor
	rule          string
	action        Action
	class         string
	path          string // of a control file
	until         time.Time
	unsure        string
	taken         time.Time // of a snapshot
	early         bool      // before the ladder would let it go
}

// tell puts the timeline together.
func (f *foresight) tell() {
	f.lose()
	f.collect()
	events := slices.Concat(f.milestones, f.spans())
	slices.SortStableFunc(events, func(a, b Event) int { return f.place(a).Compare(f.place(b)) })
	for i := range events {
		f.complete(&events[i])
	}
	f.t.Events = append(f.t.Events, events...)
	f.t.Window, f.t.FinalWindow = f.windowNow(), f.windowAt(f.to)
	f.t.FinalState = f.last().state
	if !f.At.IsZero() {
		at := latest(f.At, f.Now)
		f.t.At = &Standing{At: at, State: f.phaseAt(at).state, Window: f.windowAt(at), IfReset: f.ifResetAt(at)}
	}
	for _, c := range f.files {
		f.t.Control = append(f.t.Control, c.fate)
	}
	f.t.Rules = append(f.t.Rules, f.effects()...)
	f.t.Verdict = f.verdict()
}

// place orders events: that nothing is left comes after what took the last.
func (f *foresight) place(e Event) time.Time {
	if e.Action == Loses {
		return e.At.Add(1)
	}
	return e.run(f.Now)
}

// run is when an event can happen at the earliest, seen from a time.
func (e Event) run(now time.Time) time.Time { return latest(e.At, now) }

// end is when all of an event has happened.
func (e Event) end(now time.Time) time.Time { return latest(e.To, e.run(now)) }

// lose dates the end of the last snapshot of the cluster as it is now, where its
// backups have ended.
func (f *foresight) lose() {
	if _, ended := f.backupsEnd(); !ended || !f.o.Listing.Seen() {
		return
	}
	var last loss
	for _, b := range f.good {
		end := b.end()
		switch {
		case !b.readable || b.taken.IsZero():
		case !end.happens() || end.at.After(f.to):
			return
		case !last.happens() || !end.at.Before(last.at):
			last = end
		}
	}
	if !last.happens() {
		return
	}
	f.t.Lost = last.at
	f.milestones = append(f.milestones, Event{At: last.at, Actor: last.actor, Rule: last.rule, Action: Loses, State: f.phaseAt(last.at).state,
		Severity: f.severity(last.at), Until: last.until, Meaning: lossMeaning(last)})
}

func lossMeaning(last loss) string {
	switch {
	case last.action == Archives:
		return "Nothing of this cluster is left that could be restored without a thaw."
	case last.action != Hides:
		return "Nothing of this cluster is left that could be restored."
	case last.until.IsZero():
		return "Nothing of this cluster is left that could be restored, unless hidden versions are brought back; nothing destroys them."
	}
	return "Nothing of this cluster is left that could be restored, unless hidden versions are brought back before " + audit.Stamp(last.until) + "."
}

// collect makes atoms of what happens to snapshots. Of those that are yet to be
// taken it tells what happens after the backups have ended; before that, they
// come and go as always.
func (f *foresight) collect() {
	end, ended := f.backupsEnd()
	for _, b := range f.good {
		l := b.end()
		if !l.happens() || l.at.After(f.to) || b.taken.IsZero() && b.stored.IsZero() {
			continue
		}
		if b.future && (!ended || l.at.Before(end)) {
			continue
		}
		f.atoms = append(f.atoms, atom{at: l.at, due: l.due, late: l.late, actor: l.actor, rule: l.rule, action: l.action, class: l.class,
			until: l.until, unsure: l.unsure, taken: latest(b.taken, time.Time{}), early: l.actor == ByLifecycle && f.wanted(b, l.at)})
	}
	f.wouldLose()
}

// wanted reports whether the owner's ladder still wants a snapshot at a time:
// what nothing else would have taken by then.
func (f *foresight) wanted(b *backup, at time.Time) bool {
	if b.thinned.happens() && !b.thinned.at.After(at) {
		return false
	}
	_, sure, _ := Ladder(f.o, f.Policy)
	return at.Before(b.taken.Add(sure)) && f.isFirstOfDay(b) || at.Before(b.taken.Add(clamp(f.Policy.KeepHourly)))
}

func (f *foresight) isFirstOfDay(b *backup) bool {
	day := b.taken.Truncate(audit.Day)
	for _, other := range f.good {
		if other.taken.Truncate(audit.Day).Equal(day) && other.readable {
			return other == b
		}
	}
	return false
}

// wouldLose dates from when on a reset, which waits for nothing but somebody who
// writes the spec, would delete every snapshot at once.
func (f *foresight) wouldLose() {
	p := f.last()
	if p.state != etcdmanager.Armed || p.after || !f.o.Listing.Seen() {
		return
	}
	w := window(f.good, func(b *backup) bool { return b.readable && !b.taken.IsZero() })
	at := latest(w.Newest.Add(max(clamp(f.retention.Hourly), clamp(f.retention.Daily))), p.from)
	if w.Count == 0 || at.After(f.to) || !f.t.Lost.IsZero() && !at.Before(f.t.Lost) {
		return
	}
	f.milestones = append(f.milestones, Event{At: latest(at, f.Now), Actor: ByRetention, Rule: tooOld, Action: WouldLose, State: p.state, Severity: f.severity(at),
		Meaning: "Every snapshot is then older than etcd-manager's daily retention: the first cleanup after a reset deletes them all, seconds after it."})
}

// A spanKey tells which atoms make one span.
type spanKey struct {
	segment    int
	actor      Actor
	rule       string
	action     Action
	class      string
	ofSnapshot bool
	unsure     string
}

// spans groups the atoms between any two milestones.
func (f *foresight) spans() []Event {
	var cuts []time.Time
	for _, m := range f.milestones {
		cuts = append(cuts, f.place(m))
	}
	slices.SortFunc(cuts, time.Time.Compare)
	slices.SortStableFunc(f.atoms, func(a, b atom) int { return cmp.Or(a.at.Compare(b.at), a.taken.Compare(b.taken)) })
	index := map[spanKey]int{}
	var spans []Event
	for _, a := range f.atoms {
		segment, _ := slices.BinarySearchFunc(cuts, a.at, func(cut, at time.Time) int {
			if cut.After(at) {
				return 1
			}
			return -1
		})
		k := spanKey{segment: segment, actor: a.actor, rule: a.rule, action: a.action, class: a.class, ofSnapshot: a.path == "", unsure: a.unsure}
		i, ok := index[k]
		if !ok {
			i = len(spans)
			index[k] = i
			spans = append(spans, f.span(a))
		}
		spans[i].add(a)
		if s := f.spanSeverity(a); s != audit.Info {
			spans[i].Severity = s
		}
	}
	for i := range spans {
		if !spans[i].To.After(spans[i].run(f.Now)) {
			spans[i].To = time.Time{}
		}
	}
	return spans
}

// span begins an event with an atom.
func (f *foresight) span(a atom) Event {
	e := Event{At: a.due, Overdue: a.actor == ByLifecycle && !a.due.After(f.Now), Late: a.late, Actor: a.actor, Rule: a.rule, Action: a.action, Class: a.class,
		Severity: audit.Info, Unsure: a.unsure}
	if a.path != "" {
		return e
	}
	p := f.phaseAt(a.at)
	e.Snapshots = &Snapshots{Continues: p.writes && !p.after && f.continues(a)}
	return e
}

// spanSeverity is that of a snapshot's end: of one that the ladder still wants,
// or that no other will follow.
func (f *foresight) spanSeverity(a atom) audit.Severity {
	p := f.phaseAt(a.at)
	loss := a.actor == ByLifecycle && (a.early || !p.writes || p.after) || a.actor == ByRetention && p.after
	if a.path != "" || !loss || f.severity(a.at) == audit.Info {
		return audit.Info
	}
	return audit.Warning
}

// add adds an atom to a span.
func (e *Event) add(a atom) {
	e.To = latest(e.To, a.at)
	e.Until = earlier(e.Until, a.until)
	if e.Snapshots == nil {
		e.Versions++
		if !slices.Contains(e.Paths, a.path) {
			e.Paths = append(e.Paths, a.path)
		}
		return
	}
	s := e.Snapshots
	if s.Count == 0 || a.taken.Before(s.First) {
		s.First = a.taken
	}
	s.Last = latest(s.Last, a.taken)
	s.Count++
}

// continues reports whether the same rule takes the backups that are yet to be
// taken.
func (f *foresight) continues(a atom) bool {
	begin, ok := f.backupsBegin()
	if !ok || a.actor != ByLifecycle {
		return ok
	}
	b := f.expected(begin)
	for _, l := range []loss{b.data, b.meta} {
		if l.happens() && l.rule == a.rule && l.action == a.action {
			return true
		}
	}
	return false
}

// complete fills in what is true after an event.
func (f *foresight) complete(e *Event) {
	at := e.end(f.Now)
	if e.State == "" {
		e.State = f.phaseAt(at).state
	}
	e.Window, e.IfReset = f.windowAt(at), f.ifResetAt(at)
}

// ifResetAt is what a reset would leave, where it waits for somebody.
func (f *foresight) ifResetAt(at time.Time) *Window {
	if p := f.phaseAt(at); p.state != etcdmanager.Armed || !f.o.Listing.Seen() {
		return nil
	}
	w := f.ifReset(at)
	return &w
}

// verdict is the worst of what is, what comes and what was not seen.
func (f *foresight) verdict() audit.Verdict {
	v := audit.OK
	worse := func(w audit.Verdict) {
		if w.Worse(v) {
			v = w
		}
	}
	for _, e := range f.t.Events {
		worse(verdicts[e.Severity])
	}
	for _, g := range f.t.Gaps {
		if g.Necessary {
			worse(audit.VerdictUnknown)
		}
	}
	if f.live {
		worse(stateVerdicts[f.t.State])
		if f.Overdue && f.t.Window.Known && f.t.Window.Count == 0 {
			worse(audit.VerdictCritical)
		}
	}
	return v
}

var verdicts = map[audit.Severity]audit.Verdict{
	audit.Info: audit.OK, audit.Warning: audit.VerdictWarning, audit.Unsure: audit.VerdictUnknown, audit.Critical: audit.VerdictCritical,
}

var stateVerdicts = map[etcdmanager.State]audit.Verdict{
	etcdmanager.Running: audit.OK, etcdmanager.Bootstrapping: audit.OK, etcdmanager.Uninitialised: audit.VerdictWarning,
	etcdmanager.Unknown: audit.VerdictUnknown, etcdmanager.Latent: audit.VerdictCritical, etcdmanager.Stuck: audit.VerdictCritical,
	etcdmanager.Blocked: audit.VerdictCritical, etcdmanager.Armed: audit.VerdictCritical, etcdmanager.Imminent: audit.VerdictCritical,
}

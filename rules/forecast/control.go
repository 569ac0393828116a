package forecast

import (
	"slices"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

// resetTime is how long etcd-manager takes from a missing created to a new one:
// it looks every 10 s.
const resetTime = 10 * time.Second

// A phase is a time between two events of the control files.
type phase struct {
	from  time.Time
	state etcdmanager.State
	// writes says that backups are taken that can be counted on, cleans that the
	// cleanup of old ones runs, which it does after a backup alone.
	writes, cleans bool
	// after says that it comes after a reset: its backups are of another cluster.
	after bool
}

// followControl lets lifecycle and etcd-manager act on the control files until
// nothing happens any more, or the cluster is reset: those of the new, empty one
// are of no interest, and the rule that took the old ones takes them again.
func (f *foresight) followControl() {
	f.files = [2]controlFile{
		{path: etcdmanager.CreatedPath, presence: f.World.Created},
		{path: etcdmanager.SpecPath, presence: f.World.Spec},
	}
	for i, doc := range f.documents() {
		c := &f.files[i]
		c.fate = Fate{Path: c.path, Presence: presenceNames[c.presence]}
		c.stack = stackOf(f.o, c.path, doc)
		f.foresee(c, doc, f.Now)
	}
	if slices.Contains([]etcdmanager.Presence{etcdmanager.Present, etcdmanager.Empty, etcdmanager.Unreadable}, f.World.Created) {
		f.World.Evidence = etcdmanager.EvidenceFound
	}
	f.World.Cached = true
	f.World.QueueBad = queueBad(f.o)
	f.enter(f.Now, f.State)
	f.react(f.Now)
	for !f.reset {
		at, ok := f.next()
		if !ok || at.After(f.to) {
			return
		}
		f.happen(at)
	}
}

var presenceNames = map[etcdmanager.Presence]string{
	etcdmanager.NotSeen: "unseen", etcdmanager.Missing: "missing", etcdmanager.Empty: "empty",
	etcdmanager.Present: "present", etcdmanager.Unreadable: "unreadable",
}

func (f *foresight) documents() [2]audit.Fact[audit.Document] {
	return [2]audit.Fact[audit.Document]{f.o.Created, f.o.Spec}
}

// queueBad reports whether a queued command does not parse: while created is
// missing that keeps etcd-manager from everything, a reset too.
func queueBad(o *audit.Observation) bool {
	return slices.ContainsFunc(o.Queue.Value, func(c audit.Command) bool {
		_, err := etcdmanager.ParseCommand(c.Body.Value.Body)
		return c.Body.IsSet() && err != nil
	})
}

// next is when the next thing happens to a control file.
func (f *foresight) next() (at time.Time, ok bool) {
	for i := range f.files {
		if p := f.files[i].pending; len(p) > 0 {
			if run := p[0].run(f.Now); !ok || run.Before(at) {
				at, ok = run, true
			}
		}
	}
	return at, ok
}

// happen lets everything happen that can happen at an instant, and then
// etcd-manager react: which of two files goes first at one midnight nobody knows.
func (f *foresight) happen(at time.Time) {
	before, first := f.last().state, len(f.milestones)
	var gone []int
	for i := range f.files {
		c := &f.files[i]
		for len(c.pending) > 0 && c.pending[0].run(f.Now).Equal(at) {
			h := c.pending[0]
			c.pending = c.pending[1:]
			c.apply(h, at)
			f.note(i, h, at)
			if h.takes() {
				gone = append(gone, i)
				f.due[i] = h.At
			}
		}
	}
	if len(f.milestones) == first {
		return
	}
	state := f.classify()
	for i := first; i < len(f.milestones); i++ {
		f.milestones[i].State = state
	}
	if len(gone) > 0 {
		f.enter(at, state)
		f.milestones[len(f.milestones)-1].Meaning = f.meaning(before, state, gone)
		if len(gone) == 2 && state == etcdmanager.Armed && f.World.Quality == etcdmanager.WithMembers && f.live {
			f.t.ResetPossible = at
		}
		f.react(at)
	}
}

// note makes an event of a happening, or a part of the one before it.
func (f *foresight) note(i int, h happening, at time.Time) {
	c := &f.files[i]
	switch {
	case h.takes():
		f.decide(c, h)
		f.milestone(c, h, actionOf(h), f.severity(h.At))
	case h.ofOldVersion() && c.presence == etcdmanager.Missing && h.Kind == lifecycle.DestroyNoncurrent && c.recoverable() == 0:
		f.milestone(c, h, Destroys, f.severity(h.At))
		f.milestones[len(f.milestones)-1].Meaning = "No version of it is left: it can only be written anew."
	case h.ofOldVersion():
		f.atoms = append(f.atoms, atom{at: at, due: h.At, late: h.late, actor: ByLifecycle, rule: h.Rule, action: actionOf(h), path: c.path, unsure: unsureOf(h.Event)})
	}
}

func actionOf(h happening) Action {
	switch {
	case h.AllVersions:
		return Deletes
	case h.Kind == lifecycle.Hide:
		return Hides
	case h.Kind == lifecycle.Transition:
		return Archives
	case h.Kind == lifecycle.DestroyNoncurrent:
		return Destroys
	case h.Kind == lifecycle.RemoveMarker:
		return Unmarks
	}
	return Deletes
}

// unsureOf leaves out what is said once for the whole timeline.
func unsureOf(e lifecycle.Event) string {
	if e.Unsure == "provider unverified" {
		return ""
	}
	return e.Unsure
}

// decide keeps the first thing that takes a file away from readers.
func (f *foresight) decide(c *controlFile, h happening) {
	if c.fate.Gone.IsZero() {
		c.fate.Gone, c.fate.Late, c.fate.Rule, c.fate.Action, c.fate.Until = h.At, h.late, h.Rule, actionOf(h), h.Until
	}
	if c.path == etcdmanager.CreatedPath && c.presence == etcdmanager.Missing && f.t.NoReturn.IsZero() {
		f.t.NoReturn = h.At
	}
}

// milestone adds an event of a control file. Both files that one rule takes at
// one instant make one event.
func (f *foresight) milestone(c *controlFile, h happening, action Action, s audit.Severity) {
	e := Event{At: h.At, Overdue: !h.At.After(f.Now), Late: h.late, Actor: ByLifecycle, Rule: h.Rule, Action: action, Class: h.Class,
		Paths: []string{c.path}, Until: h.Until, Severity: s, Unsure: unsureOf(h.Event)}
	if n := len(f.milestones); n > 0 {
		m := &f.milestones[n-1]
		if m.At.Equal(e.At) && m.Rule == e.Rule && m.Action == e.Action && m.Class == e.Class && m.Unsure == e.Unsure && m.Actor == e.Actor && !slices.Contains(m.Paths, c.path) {
			m.Paths = append(m.Paths, c.path)
			m.Until = earlier(m.Until, e.Until)
			return
		}
	}
	f.milestones = append(f.milestones, e)
}

// earlier is the earlier of two dates, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// react lets etcd-manager do what it does next, where that is a new cluster.
func (f *foresight) react(at time.Time) {
	if !f.live || etcdmanager.Next(f.world()).Action != etcdmanager.ActReset {
		return
	}
	e := Event{At: at, Actor: ByEtcdManager, State: etcdmanager.Running}
	switch f.last().state {
	case etcdmanager.Imminent:
		f.reset, f.after = true, true
		f.t.Reset = at
		e.Action, e.Severity, e.Meaning = Resets, f.severity(at), resetMeaning
	case etcdmanager.Bootstrapping:
		e.Action, e.Severity, e.Meaning = Forms, audit.Info, "The first cluster of this store is formed, and backups begin."
	default:
		return
	}
	f.milestones = append(f.milestones, e)
	f.rewrite(at.Add(resetTime))
	f.enter(at, etcdmanager.Running)
}

const resetMeaning = "It stops etcd on every member and puts its data aside (data-trashcan/ on the nodes); Kubernetes deletes every workload. The first backup of the new cluster runs the cleanup of the old one's snapshots at once."

// rewrite writes both control files, as etcd-manager does when it makes a
// cluster.
func (f *foresight) rewrite(at time.Time) {
	sizes := [2]int64{int64(len(etcdmanager.FormatCreated(at))), max(1, f.o.Spec.Value.Size)}
	for i := range f.files {
		c := &f.files[i]
		c.rewrite(f.o.Store.Key(c.path), sizes[i], at, f.bucket.Versioning)
		f.foresee(c, audit.None[audit.Document](), at)
	}
	f.World.Quality = etcdmanager.WithMembers
	f.World.Evidence = etcdmanager.EvidenceFound
}

// world is what etcd-manager finds at the moment.
func (f *foresight) world() etcdmanager.World {
	w := f.World
	w.Created, w.Spec = f.files[0].presence, f.files[1].presence
	return w
}

// classify gives the state at the moment. Nothing good is said of a store that
// was not listed.
func (f *foresight) classify() etcdmanager.State {
	s := etcdmanager.ClassifyState(f.world(), f.Fresh || f.reset, false)
	good := s == etcdmanager.Running || s == etcdmanager.Latent || s == etcdmanager.Stuck || s == etcdmanager.Uninitialised
	if good && !f.o.Listing.Seen() {
		return etcdmanager.Unknown
	}
	return s
}

// enter begins a phase. In a latent store backups end when the leader changes,
// which has no date: none is counted on any more, and the cleanup goes on, which
// is the worse of both.
func (f *foresight) enter(at time.Time, s etcdmanager.State) {
	p := phase{from: at, state: s, after: f.after}
	runs := f.Fresh || f.reset || len(f.phases) > 0 && f.last().state == etcdmanager.Bootstrapping
	switch s {
	case etcdmanager.Running:
		p.writes, p.cleans = runs, runs
	case etcdmanager.Latent, etcdmanager.Unknown:
		p.cleans = runs
	}
	if !f.live {
		p.writes, p.cleans = false, false
	}
	// Without a second factor no version can be deleted.
	p.cleans = p.cleans && !f.o.Bucket.MFADelete
	f.phases = append(f.phases, p)
}

func (f *foresight) last() phase { return f.phases[len(f.phases)-1] }

// phaseAt is the phase that an instant lies in.
func (f *foresight) phaseAt(at time.Time) phase {
	p := f.phases[0]
	for _, q := range f.phases[1:] {
		if !q.from.After(at) {
			p = q
		}
	}
	return p
}

// severity is that of a loss at a time, by the owner's horizons.
func (f *foresight) severity(at time.Time) audit.Severity {
	switch ahead := at.Sub(f.Now); {
	case !f.live || ahead > f.Policy.HorizonWarning:
		return audit.Info
	case ahead > f.Policy.HorizonCritical:
		return audit.Warning
	}
	return audit.Critical
}

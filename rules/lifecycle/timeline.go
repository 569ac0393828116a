package lifecycle

import (
	"slices"
	"time"
)

// Course is a version stack followed to its end.
type Course struct {
	// Events in the order in which they happen. Only those that are overdue at
	// the start may be dated before now; see [Event.Run].
	Events []Event
	// Final is the stack that remains for ever, newest first.
	Final []Version
}

// Timeline follows a version stack to its end: the next event of any entry is
// applied to the stack, and so on until nothing happens any more. Every run is
// taken to be as early as S3 may be, so that each date is the earliest
// possible. Dates depend on the ones before: see [Configuration.Follow] for
// late runs.
//
// An event with doubts is followed like any other, and what depends on it
// inherits the doubts. The course of a stack whose tags were not read, under
// the opposite assumption, is that of the same stack with TagsKnown set.
func (c Configuration) Timeline(b Bucket, stack []Version, now time.Time) []Event {
	return c.Follow(b, stack, now, 0).Events
}

// Follow is Timeline with every run late by lag, and with the stack that
// remains. A lag of an hour shows the typical dates: each stage of a cascade
// that starts after midnight loses a day.
func (c Configuration) Follow(b Bucket, stack []Version, now time.Time, lag time.Duration) Course {
	f := newFollower(&c, &b, stack, now)
	f.lag = lag
	for range 8*len(stack) + 16 {
		if !f.step() {
			break
		}
	}
	undo(f.events)
	return Course{Events: f.events, Final: f.stack}
}

// entry is what a timeline knows about an entry of the stack besides its
// listing.
type entry struct {
	since, floor, access time.Time
	doubt                doubt
	// best is the entry's next action, as long as it is known to hold.
	best  candidate
	known bool
}

// follower applies events to a copy of the stack.
type follower struct {
	stack   []Version
	entries []entry
	// start is the instant the caller asked about, clock that of the last run.
	start, clock time.Time
	lag          time.Duration
	// counts: next actions depend on the number of entries above. fickle: they
	// depend on the clock too.
	fickle, counts bool
	markers        int
	events         []Event
	// subject, found and e are of the entry at hand.
	subject subject
	found   outcome
	e       evaluation
}

func newFollower(c *Configuration, b *Bucket, stack []Version, now time.Time) *follower {
	rd := b.Provider.reading()
	f := &follower{stack: slices.Clone(stack), start: now, clock: now, entries: make([]entry, len(stack))}
	f.e = evaluation{c: c, b: b, s: &f.subject, found: &f.found}
	f.counts = c.counts()
	f.fickle = rd.extensions && f.counts
	for i := 1; i < len(stack); i++ {
		f.entries[i].since = stack[i-1].LastModified
	}
	return f
}

// evaluate evaluates entry i with its history. A version keeps the date at which
// it became noncurrent when its successor goes, which is the earlier reading.
func (f *follower) evaluate(i int) {
	e := &f.entries[i]
	f.e.now = f.clock
	f.subject = subject{stack: f.stack, i: i, v: &f.stack[i], since: e.since, floor: e.floor, access: e.access, doubt: e.doubt}
	f.e.evaluate()
}

// step applies the next event and reports whether there was one.
func (f *follower) step() bool {
	next := -1
	for i := range f.entries {
		e := &f.entries[i]
		f.foresee(i)
		if e.best.kind != None && (next < 0 || f.sooner(&e.best, &f.entries[next].best)) {
			next = i
		}
	}
	if next < 0 {
		return false
	}
	f.happen(next)
	return true
}

// foresee finds an entry's next action unless it is known. It stays the same
// while the clock moves towards it, except under readings that look at what is
// due by now.
func (f *follower) foresee(i int) {
	e := &f.entries[i]
	if e.known && !f.fickle {
		return
	}
	f.evaluate(i)
	e.best, e.known = f.found.best, true
}

// forget drops what is known about the entries from an index on.
func (f *follower) forget(from int) {
	for i := from; i < len(f.entries); i++ {
		f.entries[i].known = false
	}
}

// sooner orders the next events of two entries. Entries do not compete, so the
// instant counts, and removal goes before the rest.
func (f *follower) sooner(a, b *candidate) bool {
	ra, rb := later(a.at, f.clock), later(b.at, f.clock)
	if !ra.Equal(rb) {
		return ra.Before(rb)
	}
	return a.rank < b.rank
}

// happen records the next event of entry i and applies it. What an earlier
// event made possible cannot be dated before that event.
func (f *follower) happen(i int) {
	f.evaluate(i)
	ev := f.e.event()
	f.clock = later(ev.At, f.clock)
	if f.clock.After(f.start) {
		ev.At, ev.Latest = f.clock, later(ev.Latest, f.clock)
	}
	ev.Overdue = !ev.At.After(f.start)
	ev.Ambiguous = !ev.At.Equal(ev.Latest)
	f.apply(i, &ev, f.found.best.doubt, f.found.best.rule < 0)
	f.events = append(f.events, ev)
}

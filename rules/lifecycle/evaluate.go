package lifecycle

import (
	"strings"
	"time"
)

// subject is one entry of a version stack, with the part of its history that
// timelines know better than a listing.
type subject struct {
	stack []Version
	i     int
	v     *Version
	// since is when the version was replaced: the creation of its successor,
	// whatever the version's own age (user guide, intro-lifecycle-rules).
	since time.Time
	// floor is an instant before which nothing happens to the version.
	floor time.Time
	// access is when the version last entered a class.
	access time.Time
	doubt  doubt
}

// subjectAt reads a stack entry as listed, newest first.
func subjectAt(stack []Version, i int) subject {
	s := subject{stack: stack, i: i, v: &stack[i]}
	if i > 0 {
		s.since = stack[i-1].LastModified
	}
	return s
}

// evaluation collects what the rules want to do to one subject and keeps the
// action that comes first.
type evaluation struct {
	c   *Configuration
	b   *Bucket
	s   *subject
	now time.Time

	rd    reading
	base  doubt
	rule  int
	doubt doubt
	// newer is how many newer noncurrent versions count for the retained
	// number, -1 for all of them.
	newer int

	// found is apart because the compiler cannot see that what goes from one of
	// its fields to the other takes neither c nor s along to the heap.
	found *outcome
}

// outcome is what an evaluation found: the action that comes first, that of the
// current rule, and why others were not offered.
type outcome struct {
	best, inRule candidate
	blocks       block
	// heldUntil is when a version under legal hold would have been removed.
	heldUntil time.Time
}

// evaluate finds the first action on the subject. A server nobody identified is
// read as AWS and as MinIO, and the earlier action is kept.
func (e *evaluation) evaluate() {
	*e.found = outcome{}
	e.base, e.newer = e.s.doubt, -1
	if e.b.Provider != Unknown {
		e.rd = e.b.Provider.reading()
		e.newer = e.spared()
		e.run()
		return
	}
	e.base |= doubtProvider
	e.rd = readingAWS
	e.run()
	e.rd = readingMinIO
	e.run()
}

// run offers the actions of every rule under the current reading.
func (e *evaluation) run() {
	switch {
	case e.rd.idle:
		e.block(blockNeverRuns)
		return
	case e.s.v.LastModified.IsZero() || e.s.i > 0 && e.s.since.IsZero():
		e.base |= doubtModified
	}
	e.tiering()
	if b := paused(e.s.v); b != 0 {
		e.block(b)
		return
	}
	for i := range e.c.Rules {
		e.runRule(i)
	}
	if e.rd.cleansMarkers && e.s.v.DeleteMarker && len(e.s.stack) == 1 {
		e.begin(noRule, 0)
		e.removeMarker(0)
		e.settle()
	}
}

// paused reports whether replication that is not finished holds lifecycle back
// (user guide, replication-and-other-bucket-configs; earlier texts named
// PENDING only).
func paused(v *Version) block {
	switch {
	case strings.EqualFold(v.ReplicationStatus, "PENDING"):
		return blockPending
	case strings.EqualFold(v.ReplicationStatus, "FAILED"):
		return blockFailed
	}
	return 0
}

// runRule offers the actions of one rule.
func (e *evaluation) runRule(i int) {
	r := &e.c.Rules[i]
	m, d := r.matches(e.s.v, &e.rd)
	switch {
	case m == No:
		e.block(blockNoMatch)
		return
	case !r.Enabled():
		e.block(blockDisabled)
		return
	}
	e.begin(i, d)
	e.act(r)
	e.settle()
}

// begin starts the competition among the actions of one rule.
func (e *evaluation) begin(rule int, d doubt) {
	e.rule, e.doubt, e.found.inRule = rule, e.base|d, candidate{}
}

// settle lets the winner of a rule compete with those of the others.
func (e *evaluation) settle() {
	f := e.found
	if f.inRule.kind != None && (f.best.kind == None || e.before(&f.inRule, &f.best)) {
		f.best = f.inRule
	}
}

// act chooses the actions that concern the subject's place in the stack.
func (e *evaluation) act(r *Rule) {
	switch {
	case r.abortOnly():
		e.block(blockAbortOnly)
	case e.b.DirectoryBucket:
		e.directory(r)
	case e.s.i > 0:
		e.noncurrent(r)
	case e.s.v.DeleteMarker:
		e.marker(r)
	default:
		e.current(r)
	}
}

// abortOnly reports whether the rule touches unfinished uploads only.
func (r *Rule) abortOnly() bool {
	return r.AbortMultipart != nil && r.Expiration == nil && len(r.Transitions) == 0 &&
		r.NoncurrentExpiration == nil && len(r.NoncurrentTransitions) == 0
}

// due returns when an age counted from base runs out, in both readings.
func (e *evaluation) due(base time.Time, days int) (at, latest time.Time) {
	if days <= 0 && e.rd.zeroAtOnce {
		return base, base
	}
	sum := addDays(base, days)
	at = CeilMidnight(sum)
	if !at.Equal(sum) || e.rd.sameDay {
		return at, at
	}
	if e.rd.nextDay {
		return at.Add(day), at.Add(day)
	}
	return at, at.Add(day)
}

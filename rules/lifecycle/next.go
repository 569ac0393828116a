package lifecycle

import "time"

// Next returns the next thing lifecycle does to entry i of a version stack,
// newest first as ListObjectVersions returns it, if nothing else changes. It
// reports false if nothing will happen; the event then has kind None and a
// Reason, and for a version under legal hold At is the date at which it would
// have been removed.
//
// Of several actions the first by day wins; on one day permanent removal goes
// before a transition and a transition before a delete marker (user guide,
// lifecycle-conflicts).
func (c Configuration) Next(b Bucket, stack []Version, i int, now time.Time) (Event, bool) {
	if i < 0 || i >= len(stack) {
		return Event{Reason: ReasonNoSuchVersion}, false
	}
	var found outcome
	s := subjectAt(stack, i)
	e := evaluation{c: &c, b: &b, s: &s, now: now, found: &found}
	e.evaluate()
	ev := e.event()
	return ev, ev.Kind != None
}

// event turns the winner into an Event, or the blocks into a Reason.
func (e *evaluation) event() Event {
	k := &e.found.best
	ev := Event{Kind: k.kind, At: k.at, Latest: k.latest, ByAge: k.byAge, Key: e.s.v.Key, VersionID: e.s.v.VersionID}
	if k.kind == None {
		ev.Reason, ev.At, ev.Latest = e.found.blocks.reason(), e.found.heldUntil, e.found.heldUntil
		return ev
	}
	ev.Rule, ev.Class, ev.Unsure = e.ruleName(), k.class, k.doubt.String()
	ev.Overdue, ev.Ambiguous = !k.at.After(e.now), !k.at.Equal(k.latest)
	ev.LowerBound, ev.AllVersions = k.lower, k.all
	e.aftermath(&ev)
	return ev
}

// ruleName names the rule or Intelligent-Tiering configuration of the winner.
func (e *evaluation) ruleName() string {
	switch i := e.found.best.rule; {
	case i == noRule:
		return e.b.Provider.String() + " itself"
	case i < 0:
		return "it:" + e.b.IntelligentTiering[^i].ID
	default:
		return e.c.name(i)
	}
}

// aftermath fills in what the event leaves behind: what readers get, and in a
// suspended bucket the null marker and the null version it replaces.
func (e *evaluation) aftermath(ev *Event) {
	ev.Reader = e.reader()
	if ev.AllVersions || !e.leavesNullMarker() {
		return
	}
	ev.Marker = NullVersion
	if ev.Kind == Hide && hasNull(e.s.stack[1:]) {
		ev.Destroys = NullVersion
	}
}

// leavesNullMarker reports whether the winner puts a null marker on top. Where
// versioning is unknown a stack of several entries shows that it was enabled
// once, and then expiration always leaves a marker.
func (e *evaluation) leavesNullMarker() bool {
	v := e.b.versioning()
	switch e.found.best.kind {
	case Hide:
		return v == Suspended
	case Expire:
		return v == Suspended || v == Unknown && len(e.s.stack) > 1
	}
	return false
}

// reader is what a GET of the key answers after the winner. Only events of the
// current entry show; the removal of a marker leaves the key as missing as it
// was.
func (e *evaluation) reader() Reader {
	switch {
	case e.s.i > 0, e.found.best.kind == RemoveMarker:
		return Unchanged
	case e.found.best.kind != Transition:
		return Missing
	case classOf(e.found.best.class).archive() && !e.found.best.tier:
		return Archived
	}
	return Readable
}

// hasNull reports whether a null version is among the entries.
func hasNull(stack []Version) bool {
	for i := range stack {
		if stack[i].VersionID == NullVersion {
			return true
		}
	}
	return false
}

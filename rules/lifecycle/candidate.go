package lifecycle

import (
	"math"
	"time"
)

// noRule stands for what a server does without a rule.
const noRule = math.MaxInt

// candidate is an action one rule would take on the subject.
type candidate struct {
	at, latest, byAge time.Time
	kind              Kind
	// rule is an index into Rules, ^i for Intelligent-Tiering configuration i, or
	// noRule.
	rule  int
	class string
	rank  uint8
	doubt doubt
	all   bool
	lower bool
	tier  bool
}

// offer enters a candidate into the competition, unless a lock forbids it.
func (e *evaluation) offer(k candidate) {
	if k.kind.permanent() && !e.s.v.DeleteMarker && !e.unlock(&k) {
		return
	}
	k.at, k.latest = later(k.at, e.s.floor), later(k.latest, e.s.floor)
	k.doubt |= e.doubt
	k.rank = e.rank(k.kind)
	k.tier = e.rd.tiers
	if f := e.found; f.inRule.kind == None || e.beforeInRule(&k, &f.inRule) {
		f.inRule = k
	}
}

// unlock moves a permanent removal behind the version's retention and reports
// whether it can happen at all. Lifecycle has no bypass for governance mode
// (user guide, object-lock-managing; the date after retention is inferred).
func (e *evaluation) unlock(k *candidate) bool {
	if e.s.v.RetainUntil.After(k.at) {
		k.at = CeilMidnight(e.s.v.RetainUntil)
		k.latest = later(k.latest, k.at)
	}
	if !e.s.v.LegalHold {
		return true
	}
	e.block(blockLegalHold)
	if f := e.found; f.heldUntil.IsZero() || k.at.Before(f.heldUntil) {
		f.heldUntil = k.at
	}
	return false
}

// rank orders kinds that fall on one day: permanent removal, then transition,
// then delete marker (user guide, lifecycle-conflicts). Some servers let every
// deletion go first.
func (e *evaluation) rank(k Kind) uint8 {
	switch {
	case k.permanent(), k == Hide && e.rd.deleteFirst:
		return 0
	case k == Transition:
		return 1
	}
	return 2
}

// before reports whether a happens before b. Whatever is overdue competes on
// the day of now. Of two transitions of a day the cheaper class wins, of equals
// the rule stored first (recorded). A doubtful action that is not a removal
// gives way to a certain one, so that doubt never delays what is certain.
func (e *evaluation) before(a, b *candidate) bool {
	da, db := floorMidnight(later(a.at, e.now)), floorMidnight(later(b.at, e.now))
	switch {
	case !da.Equal(db):
		return da.Before(db)
	case a.rank > 0 && b.rank > 0 && (a.doubt == e.base) != (b.doubt == e.base):
		return a.doubt == e.base
	case a.rank != b.rank:
		return a.rank < b.rank
	case a.kind == Transition && b.kind == Transition && classOf(a.class) != classOf(b.class):
		return classOf(a.class) < classOf(b.class)
	case !a.at.Equal(b.at):
		return a.at.Before(b.at)
	}
	return a.doubt == e.base && b.doubt != e.base
}

// beforeInRule is before for two actions of one rule. RGW takes the one that
// became due last of those a run finds due, and lists removal first.
func (e *evaluation) beforeInRule(a, b *candidate) bool {
	oneRun := floorMidnight(later(a.at, e.now)).Equal(floorMidnight(later(b.at, e.now)))
	switch {
	case !e.rd.latestInRule || !oneRun:
		return e.before(a, b)
	case !a.at.Equal(b.at):
		return a.at.After(b.at)
	}
	return a.kind != Transition && b.kind == Transition || a.kind == b.kind && e.before(a, b)
}

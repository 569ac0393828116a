package rules

import (
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
)

// Forecast foresees what becomes of a store if nobody touches it. config stands in
// the place of the bucket's lifecycle rules: a proposal, or none (a zero
// Configuration); nil takes the bucket's own. Of a store there are so two
// timelines to compare, before and after a change. within is how far to look; 0
// means [forecast.Within].
func Forecast(o *audit.Observation, p audit.Policy, now time.Time, within time.Duration, config *lifecycle.Configuration) forecast.Timeline {
	return forecast.Of(Foresee(o, p, now, within, config))
}

// Foresee is the input of [Forecast].
func Foresee(o *audit.Observation, p audit.Policy, now time.Time, within time.Duration, config *lifecycle.Configuration) forecast.Input {
	p = p.For(o)
	o = p.Assuming(o, now)
	in := forecast.Input{
		Observation: o, Policy: p, Now: now, Within: within, Rules: config,
		World: world(o, now), State: stateOf(o, p, now), Fresh: fresh(o, p, now) || p.Resting(now),
	}
	in.Overdue = o.Created.IsSet() && !orphaned(o) && now.Sub(bornAt(o)) > p.FirstSnapshotWithin()
	in.Untold, _ = WrittenAfter(o, now)
	if born, _, ok := replacedAt(o, now); ok && !acknowledgedReset(p, born) {
		in.Reset, in.Filled = born, emptySnapshotBytes
	}
	return in
}

// WrittenAfter says that something of the store was written after a time of
// judgement, so that how it stood then cannot be told; ok is false where that is not
// so.
func WrittenAfter(o *audit.Observation, now time.Time) (why string, ok bool) {
	_, last := lastWrite(o)
	if last.Sub(now) <= judgedBefore {
		return "", false
	}
	return "the store holds what was written " + span(last.Sub(now)) + " after " + stamp(now) + ", the time of judgement", true
}

package rules

import (
	"time"

	"backstop/audit"
)

var auditClockSkew = audit.Rule{
	ID:         "audit/clock-skew",
	Title:      "the auditor's clock is off, or the store is judged before its last write",
	Severities: []audit.Severity{audit.Unsure, audit.Warning},
	Needs:      []audit.FactName{audit.FactClock, audit.FactListing, audit.FactCreated, audit.FactSpec},
	AnyLayout:  true,
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if key, last := lastWrite(o); last.Sub(now) > judgedBefore {
			return []audit.Finding{audit.Found(audit.Unsure,
				"the store is judged as of %s, and holds what was written %s later: how it stood then cannot be told", stamp(now), span(last.Sub(now))).
				About(key).
				Saw("written "+stamp(last), "a time of judgement after the last write").
				Todo("Check --at, if it was given. Else a clock is wrong: that of this machine, or of the server that dated the object.")}
		}
		if !o.ClockIsOff() {
			return nil
		}
		offset := o.ClockOffset.Value
		side := "behind"
		if offset < 0 {
			side = "ahead of"
		}
		return []audit.Finding{audit.Found(audit.Warning,
			"the clock of the machine that backstop runs on is %s %s S3's; ages are judged by S3's clock", span(offset.Abs()), side).
			Saw("off by "+offset.Round(time.Second).String(), "within "+span(audit.ClockTolerance)).
			Todo("Look at time synchronisation on this machine. S3 refuses requests that are more than 15 minutes off.")}
	},
}

// judgedBefore is by how much the store's last write may lie after the time of
// judgement: clocks are right to a minute, and the look takes some time.
var judgedBefore = 5 * time.Minute

// lastWrite finds the object of the store that was written last, by S3's clock.
func lastWrite(o *audit.Observation) (key string, last time.Time) {
	see := func(obj *audit.Object) {
		if obj != nil && obj.LastModified.After(last) {
			key, last = obj.Key, obj.LastModified
		}
	}
	see(&o.Created.Value.Object)
	see(&o.Spec.Value.Object)
	for i := range o.Listing.Value.Snapshots {
		see(o.Listing.Value.Snapshots[i].Data)
		see(o.Listing.Value.Snapshots[i].Meta)
	}
	return key, last
}

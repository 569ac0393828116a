package forecast

import (
	"time"

	"backstop/audit"
)

// An End is when a snapshot that is there can no longer be restored.
type End struct {
	Snapshot audit.Snapshot
	// At is when; zero for never as far as is known. Where it lies before the
	// time of judgement it may happen at any moment.
	At     time.Time
	Actor  Actor
	Rule   string
	Action Action
}

// Who names what ends the snapshot, as [Event.Who] does, with etcd-manager's
// rule.
func (e End) Who() string {
	ev := Event{Actor: e.Actor, Rule: e.Rule}
	return ev.Who() + ev.why()
}

// Ends says when each snapshot that is there ends, in the order of the listing. It
// costs little: nothing is told of snapshots to come.
func Ends(in Input) []End {
	f := newForesight(in)
	f.followControl()
	listed := f.o.Listing.Value.Snapshots
	all := make([]*backup, len(listed))
	for i, s := range listed {
		all[i] = f.backupOf(s)
	}
	f.thin(byTime(all))
	ends := make([]End, len(all))
	for i, b := range all {
		l := b.end()
		ends[i] = End{Snapshot: listed[i], At: l.due, Actor: l.actor, Rule: l.rule, Action: l.action}
	}
	return ends
}

package audit

import "time"

// Day is 24 hours, the unit of lifecycle rules and of retention.
const Day = 24 * time.Hour

// A Policy is what the owner of a store expects of it. Use [DefaultPolicy] and
// change what differs.
type Policy struct {
	// Entry names what gave the policy, as stores[1] of a configuration does.
	// Stores of one entry share its exceptions.
	Entry string `json:"entry,omitempty"`
	// Interval is how often a backup is expected. etcd-manager's default, and
	// kops's, is 15 minutes.
	Interval time.Duration `json:"interval"`
	// KeepHourly and KeepDaily are the ladder that the owner wants to be able to
	// restore from: a snapshot of each hour up to the one age, and of each day
	// up to the other. The defaults are etcd-manager's own.
	KeepHourly time.Duration `json:"keep_hourly"`
	KeepDaily  time.Duration `json:"keep_daily"`
	// Given says which of these the owner has given. In place of the others
	// counts what kops says, where it says something.
	Given Given `json:"given,omitzero"`
	// HorizonCritical and HorizonWarning say how far ahead a deletion that
	// lifecycle rules will make is a critical finding, and a warning. Beyond
	// HorizonWarning it is silent.
	HorizonCritical time.Duration `json:"horizon_critical"`
	HorizonWarning  time.Duration `json:"horizon_warning"`
	// Layout is that of the store that it is for; For fills it in.
	Layout Layout `json:"layout,omitempty"`
	// Role is what the store is for; empty means Live.
	Role Role `json:"role,omitempty"`
	// Windows are when no backups are expected.
	Windows []Window `json:"windows,omitempty"`

	Exceptions
}

// Given says what of a Policy is the owner's word.
type Given struct {
	Interval   bool `json:"interval,omitempty"`
	KeepHourly bool `json:"keep_hourly,omitempty"`
	KeepDaily  bool `json:"keep_daily,omitempty"`
}

// A Role is what a store is for.
type Role string

// The roles of a store.
const (
	Live    Role = "live"    // an etcd-manager writes to it, and reads its control files
	Replica Role = "replica" // something copies a live store to it
	Archive Role = "archive" // nothing is written to it any more
)

// A Window is a recurring time in which the owner expects no backups, as when a
// cluster sleeps at night. It silences the age of the newest snapshot, and
// nothing else.
type Window struct {
	// Cron says when it begins, in UTC, and For how long it lasts.
	Cron   string        `json:"cron"`
	For    time.Duration `json:"for"`
	Reason string        `json:"reason"`
	// Began is when it last began before the time of judgement. Whoever judges
	// fills it in, because this package does not read Cron; zero is never.
	Began time.Time `json:"-"`
}

// DefaultPolicy is what holds where the owner says nothing.
func DefaultPolicy() Policy {
	return Policy{
		Interval:        15 * time.Minute,
		KeepHourly:      7 * Day,
		KeepDaily:       2 * 365 * Day,
		HorizonCritical: 7 * Day,
		HorizonWarning:  2 * 365 * Day,
	}
}

// For gives the policy for one store: where the owner has said nothing, it is as
// kops says.
func (p Policy) For(o *Observation) Policy {
	if p.Layout = o.Store.Layout; p.Layout == LayoutCharm && !p.Given.Interval {
		p.Interval = charmInterval
	}
	if !o.Kops.IsSet() || !o.Kops.Value.Known {
		return p
	}
	k := o.Kops.Value
	if !p.Given.Interval && k.Interval > 0 {
		p.Interval = k.Interval
	}
	if !p.Given.KeepHourly && k.Hourly > 0 {
		p.KeepHourly = k.Hourly
	}
	if !p.Given.KeepDaily && k.Daily > 0 {
		p.KeepDaily = k.Daily
	}
	return p
}

// charmInterval is how often a snapshot of the charm is expected where nobody says:
// the charm takes none by itself, and what people run for it runs once a day.
const charmInterval = Day

// LateAfter is the age of the newest snapshot beyond which it is late. The charm's
// are too far apart for several to be missed.
func (p Policy) LateAfter() time.Duration {
	if p.Layout == LayoutCharm {
		return p.Interval + p.Interval/4
	}
	return max(3*p.Interval, time.Hour)
}

// StaleAfter is the age of the newest snapshot beyond which backups have
// stopped.
func (p Policy) StaleAfter() time.Duration {
	if p.Layout == LayoutCharm {
		return 2*p.Interval + p.Interval/4
	}
	return max(12*p.Interval, 6*time.Hour)
}

// FirstSnapshotWithin is how long after its creation a cluster may be without
// any snapshot.
func (p Policy) FirstSnapshotWithin() time.Duration { return max(2*p.Interval, time.Hour) }

// Resting reports whether no backups are expected: in a window, and after it for
// as long as a cluster that wakes may take for its first snapshot.
func (p Policy) Resting(now time.Time) bool {
	for _, w := range p.Windows {
		if !w.Began.IsZero() && !now.Before(w.Began) && now.Sub(w.Began) <= w.For+p.FirstSnapshotWithin() {
			return true
		}
	}
	return false
}

// RoleOf gives the role of a store: the one that the owner has given it, unless
// kops was seen to name the store as the one that a cluster writes to.
func (p Policy) RoleOf(o *Observation) Role {
	if p.Role == "" || o.Kops.IsSet() && o.Kops.Value.Known {
		return Live
	}
	return p.Role
}

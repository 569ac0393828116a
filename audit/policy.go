package audit

import "time"

// Day is 24 hours, the unit of lifecycle rules and of retention.
const Day = 24 * time.Hour

// A Policy is what the owner of a store expects of it. Use [DefaultPolicy] and
// change what differs.
type Policy struct {
	// Interval is how often a backup is expected. etcd-manager's default, and
	// kops's, is 15 minutes.
	Interval time.Duration `json:"interval"`
	// HorizonCritical and HorizonWarning say how far ahead a deletion that
	// lifecycle rules will make is a critical finding, and a warning. Beyond
	// HorizonWarning it is silent.
	HorizonCritical time.Duration `json:"horizon_critical"`
	HorizonWarning  time.Duration `json:"horizon_warning"`
}

// DefaultPolicy is what holds where the owner says nothing.
func DefaultPolicy() Policy {
	return Policy{
		Interval:        15 * time.Minute,
		HorizonCritical: 7 * Day,
		HorizonWarning:  2 * 365 * Day,
	}
}

// LateAfter is the age of the newest snapshot beyond which it is late.
func (p Policy) LateAfter() time.Duration { return max(3*p.Interval, time.Hour) }

// StaleAfter is the age of the newest snapshot beyond which backups have
// stopped.
func (p Policy) StaleAfter() time.Duration { return max(12*p.Interval, 6*time.Hour) }

// FirstSnapshotWithin is how long after its creation a cluster may be without
// any snapshot.
func (p Policy) FirstSnapshotWithin() time.Duration { return max(2*p.Interval, time.Hour) }

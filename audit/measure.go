package audit

import "time"

// Measures are what was counted and dated of a store: the numbers behind its
// metrics. They judge nothing.
type Measures struct {
	// Began is when the look at the store began, by the auditor's clock.
	Began time.Time `json:"began"`
	// Interval is how often a backup is expected, in nanoseconds.
	Interval time.Duration `json:"interval"`
	// Control are the two control files, etcd-cluster-created first.
	Control []ControlFile `json:"control,omitempty"`
	// Snapshots counts the complete snapshots, of which Newest is the newest and
	// Oldest the oldest. SnapshotBytes is the size of their data, compressed as
	// it lies in the store. Incomplete counts those that lack a half; one that
	// is being uploaded is among them.
	Snapshots     int     `json:"snapshots"`
	SnapshotBytes int64   `json:"snapshot_bytes"`
	Incomplete    int     `json:"incomplete_snapshots"`
	Newest        *Newest `json:"newest,omitempty"`
	Oldest        *Newest `json:"oldest,omitempty"`
}

// Newest is when a snapshot was written: the newest complete one, or the oldest.
type Newest struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"` // when it was written: by S3's clock, or by its name in a copied store
}

// A ControlFile is what is to say of one of the two control files.
type ControlFile struct {
	// File is its name, as in etcd-cluster-created.
	File string `json:"file"`
	// State is set for a file that is there, unset for one that is missing.
	State State `json:"state"`
	// LastModified is S3's word; zero where it was not told.
	LastModified time.Time `json:"last_modified,omitzero"`
	// Expires is when the bucket's lifecycle rules take the file away from its
	// reader, be it overdue. It is unset where they never do, or the file is
	// missing, and unseen where that could not be told.
	Expires Fact[time.Time] `json:"expires"`
}

// measure counts and dates what the observation holds.
func (o *Observation) measure(set Ruleset, p Policy, now time.Time) Measures {
	m := Measures{Began: o.Begun, Interval: p.Interval, Snapshots: o.Listing.Value.CompleteSnapshots()}
	if set.Control != nil {
		m.Control = set.Control(o, now)
	}
	for _, s := range o.Listing.Value.Snapshots {
		switch {
		case !s.Complete():
			m.Incomplete++
		case !s.Taken.IsZero():
			m.SnapshotBytes += s.Data.Size
		}
	}
	if s, at, ok := o.Listing.Value.Newest(now); ok {
		m.Newest = &Newest{Name: s.Name, At: at}
	}
	if s, at, ok := o.Listing.Value.Oldest(); ok {
		m.Oldest = &Newest{Name: s.Name, At: at}
	}
	return m
}

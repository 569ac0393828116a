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
	// Restorable is the newest snapshot that was read to its end, by this run or by
	// one that the ledger knows of, and that etcd would restore; nil without one.
	Restorable *Proven `json:"restorable,omitempty"`
	// Depths say of each depth from Headed on how many snapshots reached it without
	// damage.
	Depths []DepthCount `json:"depths,omitempty"`
}

// Newest is when a snapshot was written: the newest complete one, or the oldest.
type Newest struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"` // when it was written: by S3's clock, or by its name in a copied store
	// Depth is how far the newest was looked into; empty for the oldest.
	Depth Depth `json:"depth,omitempty"`
	// Condition is what that showed; empty for the oldest.
	Condition Condition `json:"condition,omitempty"`
}

// A Proven is a snapshot that would restore.
type Proven struct {
	Name     string    `json:"name"`
	At       time.Time `json:"at"` // when it was written, as of Newest
	Depth    Depth     `json:"depth"`
	Verified time.Time `json:"verified"` // when it was read
	Revision int64     `json:"revision"`
	Keys     int64     `json:"keys"`
	Size     int64     `json:"size_bytes"` // of the database, inflated
}

// A DepthCount counts the snapshots that reached a depth.
type DepthCount struct {
	Depth     Depth     `json:"depth"`
	Snapshots int       `json:"snapshots"`
	Newest    time.Time `json:"newest,omitzero"`   // when the newest of them was written
	Verified  time.Time `json:"verified,omitzero"` // when one of them was last read
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
		e, _ := o.Of(s)
		m.Newest = &Newest{Name: s.Name, At: at, Depth: e.Depth, Condition: e.Condition}
	}
	if s, at, ok := o.Listing.Value.Oldest(); ok {
		m.Oldest = &Newest{Name: s.Name, At: at}
	}
	if e, at, ok := o.NewestRestorable(now); ok {
		m.Restorable = &Proven{Name: e.Name, At: at, Depth: e.Depth, Verified: e.At, Revision: e.Content.Revision, Keys: e.Content.Keys, Size: e.Content.Size}
	}
	m.Depths = o.depths(now)
	return m
}

// depths counts the snapshots that were looked into.
func (o *Observation) depths(now time.Time) []DepthCount {
	var all []DepthCount
	for _, d := range []Depth{Headed, Hashed, Parsed, Restored} {
		c := DepthCount{Depth: d}
		reached := o.reaching(d)
		for _, s := range reached.Snapshots {
			e, _ := o.Of(s)
			c.Snapshots++
			if e.At.After(c.Verified) {
				c.Verified = e.At
			}
		}
		if _, at, ok := reached.newest(now, o.Listing.Value.Copied()); ok {
			c.Newest = at
		}
		all = append(all, c)
	}
	return all
}

// reaching gives the complete snapshots that were looked into as deep as d, and in
// which no damage was found.
func (o *Observation) reaching(d Depth) (l Listing) {
	for _, s := range o.Listing.Value.Snapshots {
		if e, _ := o.Of(s); s.Complete() && !s.Taken.IsZero() && e.Depth.Reaches(d) && e.Condition != Damaged {
			l.Snapshots = append(l.Snapshots, s)
		}
	}
	return l
}

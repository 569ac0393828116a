package drill

import (
	"context"
	"fmt"
	"strings"
)

// A Check is one thing that was compared.
type Check struct {
	// What is revision, keys or hash_kv.
	What string `json:"what"`
	// Snapshot is what the snapshot was found to hold, Server what the server says.
	Snapshot int64 `json:"snapshot"`
	Server   int64 `json:"server"`
	Equal    bool  `json:"equal"`
	// Note says why a difference means nothing, or how the two are equal though they
	// differ.
	Note string `json:"note,omitempty"`
	// Ignored says that the difference does not count, for what Note says.
	Ignored bool `json:"ignored,omitempty"`
}

// bad reports whether the check failed.
func (c Check) bad() bool { return !c.Equal && !c.Ignored }

// compare asks the server and notes what differs.
func (d *drill) compare(ctx context.Context, s *server) error {
	f := d.r.Snapshot.Facts
	// A cluster that never held a key is at revision 1. Compaction may have removed
	// the newest record.
	want := max(1, f.Revision, f.CompactRevision)
	now, err := s.count(ctx, 0)
	if err != nil {
		return err
	}
	d.r.Checks = append(d.r.Checks, compareRevision(want, now.revision, f.LeasedKeys > 0))
	if now.revision < want {
		d.judge()
		return nil // it cannot be asked about a revision that it has not reached
	}
	then, err := s.count(ctx, want)
	if err != nil {
		return err
	}
	d.r.Checks = append(d.r.Checks, Check{What: "keys", Snapshot: f.Keys, Server: then.keys, Equal: f.Keys == then.keys})
	hash, err := s.hashKV(ctx, want)
	if err != nil {
		return err
	}
	d.r.Checks = append(d.r.Checks, compareHash(f.HashKV, hash, f.CompactRevision > 0, d.r.Minor))
	d.judge()
	return nil
}

// compareRevision allows a server to be further on where leases may have run out
// since it started.
func compareRevision(want, got int64, leases bool) Check {
	c := Check{What: "revision", Snapshot: want, Server: got, Equal: want == got}
	if got > want && leases {
		c.Equal, c.Note = true, "leases ran out since it started; it was asked about the snapshot's revision"
	}
	return c
}

// compareHash compares HashKV. Until 3.5 etcd counts tombstones of the compacted
// revision otherwise than 3.6, whose hash is computed from the snapshot.
func compareHash(want, got uint32, compacted bool, minor string) Check {
	c := Check{What: "hash_kv", Snapshot: int64(want), Server: int64(got), Equal: want == got}
	if !c.Equal && compacted && (minor == "3.4" || minor == "3.5") {
		c.Ignored = true
		c.Note = "after a compaction etcd " + minor + " may hash other records than 3.6, whose hash is computed from a snapshot: this comparison tells nothing"
	}
	return c
}

// judge makes the outcome of the checks.
func (d *drill) judge() {
	var bad []string
	for _, c := range d.r.Checks {
		if c.bad() {
			bad = append(bad, fmt.Sprintf("%s is %d, and %d in the snapshot", c.What, c.Server, c.Snapshot))
		}
	}
	if len(bad) == 0 {
		d.ended(Restored, "", "")
		return
	}
	d.ended(Different, "the restored server does not hold what the snapshot holds: "+strings.Join(bad, "; "), "do not rely on this snapshot; please report this with the versions")
}

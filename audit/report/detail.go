package report

import (
	"slices"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/recovery"
)

// A Detail is what the page draws of one store beyond its report.
type Detail struct {
	// Timeline is what becomes of the store if nobody touches it.
	Timeline *forecast.Timeline `json:"timeline,omitempty"`
	// Repair is the order of repair; empty where there is nothing to repair.
	Repair []recovery.Step `json:"repair,omitempty"`
	// Snapshots are those that were listed, by time.
	Snapshots []Dot `json:"snapshots,omitempty"`
}

// A Dot is one snapshot in a drawing.
type Dot struct {
	// At is when it was taken, by its name.
	At time.Time `json:"at"`
	// Size is that of its data in bytes, compressed as it lies in the store.
	Size int64 `json:"size"`
	// Damaged says that it cannot be restored: it lacks a half for longer than an
	// upload takes, or its data is empty, or it was opened and found so.
	Damaged bool `json:"damaged,omitempty"`
	// Verified says that it was opened and can be restored. Revision and Keys are
	// what it then held.
	Verified bool  `json:"verified,omitempty"`
	Revision int64 `json:"revision,omitempty"`
	Keys     int64 `json:"keys,omitempty"`
}

// A Proof is what opening a snapshot has told of it.
type Proof struct {
	Good bool
	// Size is how many bytes lay there when it was opened; 0 where nobody knew. What
	// has another size now was not opened.
	Size           int64
	Revision, Keys int64
}

// NewDetail makes the detail of an observation that is judged at now. proofs are by
// the snapshot's URL or path, as `backstop verify` names it.
func NewDetail(o *audit.Observation, now time.Time, t forecast.Timeline, repair []recovery.Step, proofs map[string]Proof) Detail {
	d := Detail{Timeline: &t, Repair: repair}
	for _, s := range o.Listing.Value.Snapshots {
		if s.Taken.IsZero() {
			continue // etcd-manager would not have written it
		}
		dot := Dot{At: s.Taken}
		if s.Data != nil {
			dot.Size = s.Data.Size
		}
		dot.Damaged = !s.Complete() && now.Sub(s.Stored()) > audit.UploadTime || s.Data != nil && s.Data.Size == 0
		if !s.Complete() && !dot.Damaged {
			continue // it is being uploaded
		}
		if p, ok := proofs[o.Store.URL+"/"+s.Name]; ok && (p.Size == 0 || p.Size == dot.Size) {
			dot.Damaged = dot.Damaged || !p.Good
			dot.Verified, dot.Revision, dot.Keys = p.Good && !dot.Damaged, p.Revision, p.Keys
		}
		d.Snapshots = append(d.Snapshots, dot)
	}
	slices.SortFunc(d.Snapshots, func(a, b Dot) int { return a.At.Compare(b.At) })
	return d
}

package audit

import (
	"fmt"
	"slices"
	"time"
)

// A Shard says which part of the stores a run looked at, and how it was called, so
// that reports of one run can be told from others.
type Shard struct {
	Index int `json:"index"` // from 0
	Of    int `json:"of"`
	// Version is the program's.
	Version string `json:"version"`
	// Looked are the STORE arguments of the run; empty when the configuration
	// or the environment named them.
	Looked []string `json:"looked,omitempty"`
}

func (s Shard) String() string { return fmt.Sprintf("shard %d/%d", s.Index, s.Of) }

// CauseNoReport is the cause of a Problem: a shard's report is missing, too old or of
// no use, so that nothing is known of its stores.
const CauseNoReport Cause = "no-report"

// OfShard is the report of a run that looked at a shard. One in which no store is, is
// OK: the stores are in the others.
func (r Report) OfShard(s Shard) Report {
	if len(r.Stores) == 0 && len(r.Problems) == 0 {
		r.Verdict = OK
	}
	r.Shard = &s
	return r
}

// Merge puts the reports of a run's shards together, as if one run had looked at
// everything. problems are what is wrong with the reports themselves. A place that
// several could not look at stands once; of a store in several, the worst is kept.
func Merge(shards []Report, problems []Problem) Report {
	type place struct{ url, endpoint string }
	var stores []StoreReport
	known := map[place]int{}
	var latest time.Time
	var usage Usage
	problems = slices.Clone(problems)
	for _, r := range shards {
		if r.Judged.After(latest) {
			latest = r.Judged
		}
		usage.Add(r.Usage)
		for _, s := range r.Stores {
			at := place{s.Store.URL, s.Store.Endpoint}
			i, twice := known[at]
			switch {
			case !twice:
				known[at] = len(stores)
				stores = append(stores, s)
			case s.Verdict.Worse(stores[i].Verdict):
				stores[i] = s
			}
		}
		for _, p := range r.Problems {
			if !slices.Contains(problems, p) {
				problems = append(problems, p)
			}
		}
	}
	all := NewReport(latest, stores, problems)
	all.Usage = usage
	return all
}

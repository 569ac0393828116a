package audit

import (
	"cmp"
	"slices"
	"time"
)

// ReportSchema is the version of the JSON form of a [Report], published as
// docs/report.schema.json.
const ReportSchema = 1

// A Report is the outcome of one run over any number of stores.
type Report struct {
	Schema  int           `json:"schema"`
	Verdict Verdict       `json:"verdict"`
	Judged  time.Time     `json:"judged"`
	Checked int           `json:"checked"` // stores of which every necessary fact was seen
	Total   int           `json:"total"`   // stores in all
	Stores  []StoreReport `json:"stores"`
	// Problems are places to look at that gave no store to report on: a bucket
	// that does not exist, a prefix with no store below it. Each makes the run
	// UNKNOWN at best.
	Problems []Problem `json:"problems,omitempty"`
	Usage    Usage     `json:"usage"`
	// Shard says that the run looked at a part of the stores alone; nil where it
	// looked at all.
	Shard *Shard `json:"shard,omitempty"`
}

// A Problem is a STORE argument in which no backup store could be found.
type Problem struct {
	Target  string `json:"target"`
	Cause   Cause  `json:"cause"`
	Message string `json:"message"`
	Do      string `json:"do,omitempty"`
}

// CauseNoStore is the cause of a Problem: everything was listed, and no backup
// store is there.
const CauseNoStore Cause = "no-store"

// NewReport puts store reports together, the worst first. No stores and no
// problems make UNKNOWN too: an audit of nothing has seen nothing.
func NewReport(now time.Time, stores []StoreReport, problems []Problem) Report {
	r := Report{Schema: ReportSchema, Verdict: OK, Judged: now, Total: len(stores), Stores: slices.Clone(stores), Problems: problems}
	slices.SortStableFunc(r.Stores, func(a, b StoreReport) int {
		return cmp.Or(-cmp.Compare(a.Verdict.rank(), b.Verdict.rank()), -cmp.Compare(a.urgency(), b.urgency()), cmp.Compare(a.Store.URL, b.Store.URL))
	})
	if len(stores) == 0 || len(problems) > 0 {
		r.Verdict = VerdictUnknown
	}
	r.Usage.Requests = map[string]int{}
	for _, s := range stores {
		if s.Verdict.Worse(r.Verdict) {
			r.Verdict = s.Verdict
		}
		if s.Checked() {
			r.Checked++
		}
		r.Usage.Add(s.Usage)
	}
	if r.Stores == nil {
		r.Stores = []StoreReport{}
	}
	return r
}

// urgency orders stores of one verdict: a reset that is seconds away comes
// before one that waits for a person.
func (r StoreReport) urgency() int {
	return slices.Index([]string{"blocked", "stuck", "latent", "armed", "imminent"}, r.State.Name)
}

// Add adds what v counts to u.
func (u *Usage) Add(v Usage) {
	if u.Requests == nil {
		u.Requests = map[string]int{}
	}
	for op, n := range v.Requests {
		u.Requests[op] += n
	}
	for cause, n := range v.Errors {
		if u.Errors == nil {
			u.Errors = map[string]int{}
		}
		u.Errors[cause] += n
	}
	u.Bytes += v.Bytes
	u.Throttled += v.Throttled
}

// Package board keeps the last word on every backup store and shows it: as a page,
// as JSON, and, through a state file, to the next start of the program.
//
// What stands on the board is never half of something. A run's outcome goes up when
// the run has ended, and stands until the next one does, with its age in sight. So
// a look that hangs takes nothing away.
package board

import (
	"maps"
	"slices"
	"sync"
	"time"

	"backstop/alerts/notify"
	"backstop/audit"
	"backstop/audit/report"
)

// A Board holds what stands. Its methods are safe for concurrent use.
type Board struct {
	mu       sync.RWMutex
	stores   map[string]audit.StoreReport // by Store.ID
	details  map[string]report.Detail     // likewise
	told     notify.State                 // what the channels were told
	problems []audit.Problem
	last     Run
	running  time.Time // when the run that is going on began; zero for none
	ready    bool      // something was ever published
}

// A Run is one look at all stores.
type Run struct {
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended"`
	// Failure is why the run came to no outcome; empty for one that did. What stands
	// is then from an earlier run.
	Failure string `json:"failure,omitempty"`
	// Took is how long the last run took that came to an outcome.
	Took time.Duration `json:"took_ns"`
	// Succeeded is when that one ended.
	Succeeded time.Time `json:"succeeded"`
	// Usage is what it cost.
	Usage audit.Usage `json:"usage"`
}

// New gives an empty board.
func New() *Board {
	return &Board{stores: map[string]audit.StoreReport{}, details: map[string]report.Detail{}}
}

// Begin notes that a run has begun.
func (b *Board) Begin(at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running = at
}

// Publish puts up the outcome of a run over all stores, with the details of each. One
// that the run has not is taken down: its rules say themselves what vanished. What
// was found of a store meanwhile, and later than the run did, stands.
func (b *Board) Publish(r audit.Report, details map[string]report.Detail, ended time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was, drawn := b.stores, b.details
	b.stores, b.details = make(map[string]audit.StoreReport, len(r.Stores)), make(map[string]report.Detail, len(r.Stores))
	for _, s := range r.Stores {
		id := s.Store.ID()
		b.stores[id], b.details[id] = s, details[id]
		if old, ok := was[id]; ok && old.Observed.After(s.Observed) {
			b.stores[id], b.details[id] = old, drawn[id]
		}
	}
	b.problems, b.ready = r.Problems, true
	b.last = Run{Began: b.running, Ended: ended, Took: ended.Sub(b.running), Succeeded: ended, Usage: r.Usage}
	b.running = time.Time{}
}

// Fail notes that a run came to no outcome. What stands stays.
func (b *Board) Fail(err error, ended time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last.Began, b.last.Ended, b.last.Failure = b.running, ended, err.Error()
	b.running = time.Time{}
}

// Update puts up what was found of one store between two runs. A store that the
// last run did not have is not put up.
func (b *Board) Update(s audit.StoreReport, d report.Detail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.stores[s.Store.ID()]; ok && !s.Judged.Before(old.Judged) {
		b.stores[s.Store.ID()] = s
		details := maps.Clone(b.details) // others may be reading the old ones
		details[s.Store.ID()] = d
		b.details = details
	}
}

// Details are the details of the stores, by Store.ID. They are not to be changed.
func (b *Board) Details() map[string]report.Detail {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.details
}

// Told is what the channels of notifications were told.
func (b *Board) Told() notify.State {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.told
}

// Tell remembers what they were told.
func (b *Board) Tell(s notify.State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = s
}

// Report is what stands, as one report as of a time. Its verdict is that of the
// stores; their ages are in them.
func (b *Board) Report(now time.Time) audit.Report {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.report(now)
}

func (b *Board) report(now time.Time) audit.Report {
	var stores []audit.StoreReport
	for _, id := range slices.Sorted(maps.Keys(b.stores)) {
		stores = append(stores, b.stores[id])
	}
	r := audit.NewReport(now, stores, b.problems)
	r.Usage = b.last.Usage
	return r
}

// Store gives what stands of the store with a URL.
func (b *Board) Store(url string) (audit.StoreReport, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, s := range b.stores {
		if s.Store.URL == url {
			return s, true
		}
	}
	return audit.StoreReport{}, false
}

// Last gives the last run that ended, and when the one began that is going on; zero
// for none.
func (b *Board) Last() (last Run, running time.Time) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.last, b.running
}

// Ready reports whether there is an outcome to show.
func (b *Board) Ready() bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.ready
}

package forecast

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// bare is a foresight of a store with backups of these times, whose cleanup runs
// in these phases.
func bare(r etcdmanager.Retention, phases []phase, times ...time.Time) *foresight {
	o := &audit.Observation{Listing: audit.Is(audit.Listing{})}
	f := &foresight{Input: Input{Observation: o, Now: start, Policy: audit.DefaultPolicy()}, o: o, to: start.Add(Within),
		retention: r, phases: phases, live: true, future: map[time.Time]backup{}}
	for _, t := range times {
		f.backups = append(f.backups, &backup{taken: t, stored: t, hasMeta: true, readable: true})
	}
	slices.SortStableFunc(f.backups, func(a, b *backup) int { return a.taken.Compare(b.taken) })
	f.thin(f.backups)
	f.good = f.backups
	return f
}

// brute runs etcd-manager's real cleanup at every instant at which something can
// change, and gives when each backup goes; zero for never.
func brute(f *foresight) []time.Time {
	var instants []time.Time
	for _, b := range f.backups {
		for _, age := range []time.Duration{0, youngest, f.retention.Hourly, f.retention.Daily} {
			instants = append(instants, b.taken.Add(age))
		}
	}
	for _, p := range f.phases {
		instants = append(instants, p.from)
	}
	slices.SortFunc(instants, time.Time.Compare)
	gone := make([]time.Time, len(f.backups))
	for _, at := range instants {
		if at.Before(start) || !f.phaseAt(at).cleans {
			continue
		}
		var names []string
		index := map[string]int{}
		for i, b := range f.backups {
			if gone[i].IsZero() {
				name := etcdmanager.FormatName(b.taken, i)
				names, index[name] = append(names, name), i
			}
		}
		for _, name := range etcdmanager.Thin(names, at, f.retention) {
			gone[index[name]] = at
		}
	}
	return gone
}

// Each backup goes when etcd-manager's real cleanup, run at every instant, takes
// it: through pauses of the cleanup, too.
func TestThinAsTheRealCleanup(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ladders := []etcdmanager.Retention{
		{Hourly: 168 * time.Hour, Daily: 90 * audit.Day}, {Hourly: 6 * time.Hour, Daily: 4 * audit.Day}, {Hourly: 90 * time.Minute, Daily: 0},
		{Hourly: 0, Daily: 3 * audit.Day}, {Hourly: -audit.Day, Daily: -audit.Day}, {Hourly: 5 * audit.Day, Daily: 2 * audit.Day},
	}
	removed := 0
	for range 400 {
		ladder := ladders[r.IntN(len(ladders))]
		span := []time.Duration{2 * time.Hour, 2 * audit.Day, 10 * audit.Day, 100 * audit.Day}[r.IntN(4)]
		var times []time.Time
		for range 1 + r.IntN(60) {
			times = append(times, start.Add(-time.Duration(r.Int64N(int64(span)))).Truncate(time.Minute))
		}
		phases := []phase{{from: start, cleans: r.IntN(3) > 0}}
		for at := start; r.IntN(3) > 0; {
			at = at.Add(time.Duration(r.Int64N(int64(20 * audit.Day)))).Truncate(time.Minute)
			phases = append(phases, phase{from: at, cleans: r.IntN(2) > 0})
		}
		f := bare(ladder, phases, times...)
		want := brute(f)
		for i, b := range f.backups {
			if !b.thinned.at.Equal(want[i]) {
				t.Fatalf("ladder %+v, phases %+v: %s goes %v (%s), the real cleanup takes it %v", ladder, phases, b.taken, b.thinned.at, b.thinned.rule, want[i])
			}
			if !want[i].IsZero() {
				removed++
			}
		}
	}
	if removed < 1000 {
		t.Errorf("only %d backups were removed: that proves little", removed)
	}
}

// What will be restorable at a time to come is what a store would hold in which
// every backup was taken, and the real cleanup had run after each.
func TestWindowsToCome(t *testing.T) {
	ladder := etcdmanager.Retention{Hourly: 30 * time.Hour, Daily: 9 * audit.Day}
	first := start.Add(-50 * time.Hour)
	var times []time.Time
	var names []string
	for at := first; at.Before(start); at = at.Add(15 * time.Minute) {
		times, names = append(times, at), append(names, etcdmanager.FormatName(at, 1))
	}
	f := bare(ladder, []phase{{from: start, state: etcdmanager.Running, writes: true, cleans: true}}, times...)
	for at := start; at.Before(start.Add(15 * audit.Day)); at = at.Add(15 * time.Minute) {
		names = append(names, etcdmanager.FormatName(at, 1))
		drop := etcdmanager.Thin(names, at, ladder)
		names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(drop, n) })
		if at.Sub(start)%(7*time.Hour) != 0 {
			continue
		}
		oldest, _ := etcdmanager.ParseName(names[0])
		// The window holds what was taken before the instant.
		want := Window{Known: true, Count: len(names) - 1, Oldest: oldest, Newest: at.Add(-15 * time.Minute)}
		if got := f.windowAt(at); got != want {
			t.Errorf("at %v: %+v, want %+v", at, got, want)
		}
	}
}

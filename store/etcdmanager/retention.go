package etcdmanager

import (
	"slices"
	"time"
)

// Retention is how long etcd-manager keeps backups.
type Retention struct {
	Hourly time.Duration // the earliest of each clock hour, up to this age
	Daily  time.Duration // the earliest of each UTC day, up to this age
}

// DefaultRetention is etcd-manager's own: a week of hourly, two years of daily
// backups (ETCD_MANAGER_HOURLY_BACKUPS_RETENTION and _DAILY_). kops sets the
// daily one to 90 days since 1.27, but an absent field means this.
var DefaultRetention = Retention{Hourly: 7 * 24 * time.Hour, Daily: 2 * 365 * 24 * time.Hour}

// keepAll is the age below which every backup is kept.
const keepAll = time.Hour

// Thin gives the backups that etcd-manager's cleanup deletes, of those whose
// directory holds a meta file. It keeps everything under an hour old or dated in
// the future, then the earliest of each hour, then the earliest of each day,
// all by the time in the name. It never touches a name that it cannot parse. Of
// two of one second it keeps the lexically last
// (pkg/backupcontroller/cleanup.go).
func Thin(names []string, now time.Time, r Retention) (drop []string) {
	byTime := map[time.Time]string{}
	sorted := slices.Sorted(slices.Values(names))
	for _, name := range sorted {
		t, ok := ParseName(name)
		if !ok {
			continue
		}
		if earlier, twice := byTime[t]; twice {
			drop = append(drop, earlier)
		}
		byTime[t] = name
	}
	times := make([]time.Time, 0, len(byTime))
	for t := range byTime {
		times = append(times, t)
	}
	slices.SortFunc(times, time.Time.Compare)
	kept := map[slot]bool{}
	for _, t := range times {
		s, keep := r.slot(t, now.Sub(t))
		switch {
		case keep:
		case s != (slot{}) && !kept[s]:
			kept[s] = true
		default:
			drop = append(drop, byTime[t])
		}
	}
	slices.Sort(drop)
	return drop
}

// A slot is an hour or a day of which one backup is kept.
type slot struct {
	from time.Time
	day  bool
}

// slot gives the slot that a backup competes for; keep says that it needs none,
// and the zero slot that there is none for it.
func (r Retention) slot(t time.Time, age time.Duration) (s slot, keep bool) {
	switch {
	case age < keepAll:
		return slot{}, true
	case age < r.Hourly:
		return slot{from: t.Truncate(time.Hour)}, false
	case age < r.Daily:
		return slot{from: t.Truncate(24 * time.Hour), day: true}, false
	}
	return slot{}, false
}

package forecast

import (
	"time"

	"backstop/audit"
)

// youngest is the age below which etcd-manager's cleanup keeps every snapshot.
const youngest = time.Hour

// The rules of etcd-manager's cleanup, as events name them. They are those of
// [backstop/store/etcdmanager.Thin], which says what is gone at one time; here
// they say when each one goes.
const (
	oneOfEachSecond = "the last of each second"
	oneOfEachHour   = "the earliest of each hour"
	oneOfEachDay    = "the earliest of each day"
	tooOld          = "older than the daily retention"
)

// cleaningFrom is the first time from then on at which the cleanup runs.
func (f *foresight) cleaningFrom(at time.Time) (time.Time, bool) {
	at = latest(at, f.Now)
	for i, p := range f.phases {
		if !p.cleans {
			continue
		}
		if run := latest(at, p.from); i == len(f.phases)-1 || run.Before(f.phases[i+1].from) {
			return run, true
		}
	}
	return time.Time{}, false
}

// thin dates what the cleanup does to a list of backups in the order of their
// names. What it does to one depends on earlier ones alone.
func (f *foresight) thin(all []*backup) {
	hours, days := map[time.Time][]*backup{}, map[time.Time][]*backup{}
	for i, b := range all {
		b.thinned = loss{}
		if b.taken.IsZero() || !b.hasMeta {
			continue
		}
		hour, day := b.taken.Truncate(time.Hour), b.taken.Truncate(audit.Day)
		if i+1 < len(all) && all[i+1].hasMeta && all[i+1].taken.Equal(b.taken) {
			f.clean(b, b.taken, oneOfEachSecond)
			continue
		}
		f.thinOne(b, hours[hour], days[day])
		hours[hour], days[day] = append(hours[hour], b), append(days[day], b)
	}
}

// thinOne dates the end of one backup, given the earlier ones of its hour and of
// its day: it competes with them when it is an hour old, and when it leaves the
// hourly retention.
func (f *foresight) thinOne(b *backup, hour, day []*backup) {
	hourly, daily := b.taken.Add(clamp(f.retention.Hourly)), b.taken.Add(clamp(f.retention.Daily))
	young := b.taken.Add(youngest)
	if run, ok := f.cleaningFrom(young); ok && run.Before(hourly) && taken(hour, run, f.retention.Hourly) {
		f.clean(b, young, oneOfEachHour)
		return
	}
	byDay := latest(young, hourly)
	if run, ok := f.cleaningFrom(byDay); ok && run.Before(daily) && taken(day, run, f.retention.Daily) {
		f.clean(b, byDay, oneOfEachDay)
		return
	}
	f.clean(b, latest(byDay, daily), tooOld)
}

// taken reports whether the slot of a backup is held at a time by an earlier one
// that is not too old for it.
func taken(slot []*backup, at time.Time, keep time.Duration) bool {
	for _, other := range slot {
		if other.listedAt(at) && at.Before(other.taken.Add(clamp(keep))) {
			return true
		}
	}
	return false
}

// clean lets the cleanup delete a backup from a time on, unless lifecycle took its
// meta file before. Object Lock makes it wait.
func (f *foresight) clean(b *backup, from time.Time, rule string) {
	if lock := f.o.Bucket.ObjectLock; lock.IsSet() && lock.Value.Retention > 0 {
		from = latest(from, b.stored.Add(lock.Value.Retention))
	}
	at, ok := f.cleaningFrom(from)
	if ok && b.listedAt(at) {
		b.thinned = loss{at: at, due: at, actor: ByRetention, rule: rule, action: Deletes}
	}
}

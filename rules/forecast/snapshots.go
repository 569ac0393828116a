package forecast

import (
	"slices"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

// A backup is a snapshot with what will happen to it.
type backup struct {
	taken      time.Time // by its name; zero where etcd-manager would not write it
	stored     time.Time
	data, meta loss // what lifecycle rules do to the halves
	thinned    loss // what etcd-manager's cleanup does
	hasMeta    bool // so that the cleanup sees it
	readable   bool // complete, and in no archive
	future     bool // yet to be taken
}

// A loss is when and how an object is taken away.
type loss struct {
	at, due, late time.Time // at is zero for never, and not before now
	actor         Actor
	rule          string
	action        Action
	class         string
	until         time.Time // hidden content can be brought back until then
	unsure        string
	// listed is until when the object is still in a listing, zero for ever: an
	// archived one is.
	listed time.Time
}

func (l loss) happens() bool { return !l.at.IsZero() }

// before reports whether l happens, and before m.
func (l loss) before(m loss) bool { return l.happens() && (!m.happens() || l.at.Before(m.at)) }

// end is what first keeps the snapshot from being restored.
func (b *backup) end() loss {
	first := b.data
	for _, l := range []loss{b.meta, b.thinned} {
		if l.before(first) {
			first = l
		}
	}
	return first
}

// restorable reports whether the snapshot can be restored at a time.
func (b *backup) restorable(at time.Time) bool {
	end := b.end()
	return b.readable && !b.taken.IsZero() && (!b.future || !b.taken.After(at)) && (!end.happens() || end.at.After(at))
}

// listedAt reports whether etcd-manager's cleanup sees it: by its meta file.
func (b *backup) listedAt(at time.Time) bool {
	gone := func(t time.Time) bool { return !t.IsZero() && !t.After(at) }
	return b.hasMeta && !gone(b.meta.listed) && !gone(b.thinned.at)
}

// clockSlack is by how much a name may lie ahead of the time of judgement.
const clockSlack = 5 * time.Minute

// followSnapshots finds out what happens to every snapshot that is there, and to
// those that are taken until the backups of this cluster end.
func (f *foresight) followSnapshots() {
	for _, s := range f.o.Listing.Value.Snapshots {
		f.backups = append(f.backups, f.backupOf(s))
	}
	f.backups = byTime(f.backups)
	f.thin(f.backups)
	f.good = f.backups
	if end, ok := f.backupsEnd(); ok {
		f.good = f.backupsAt(end)
	}
	if !f.Reset.IsZero() {
		f.good = slices.DeleteFunc(slices.Clone(f.good), func(b *backup) bool { return !b.taken.Before(f.Reset.Truncate(time.Second)) })
	}
}

// backupOf finds out what lifecycle rules do to a snapshot.
func (f *foresight) backupOf(s audit.Snapshot) *backup {
	b := &backup{taken: s.Taken, stored: s.Stored(), hasMeta: s.Meta != nil}
	b.readable = s.Complete() && s.Data.Size >= max(1, f.Filled) && !s.Data.Archived() && !s.Meta.Archived() && !s.Taken.After(f.Now.Add(clockSlack))
	if s.Data != nil {
		b.data = f.lossOf(*s.Data)
	}
	if s.Meta != nil {
		b.meta = f.lossOf(*s.Meta)
	}
	return b
}

// byTime sorts backups by the times in their names.
func byTime(all []*backup) []*backup {
	return slices.SortedStableFunc(slices.Values(all), func(a, b *backup) int { return a.taken.Compare(b.taken) })
}

// lossOf follows one object, of which nothing but its line in the listing is
// known. etcd-manager sets no tags.
func (f *foresight) lossOf(obj audit.Object) loss {
	return f.loss(lifecycle.Version{Key: obj.Key, Size: obj.Size, LastModified: obj.LastModified, StorageClass: obj.StorageClass, TagsKnown: true})
}

func (f *foresight) loss(v lifecycle.Version) loss {
	stack := []lifecycle.Version{v}
	if !f.known {
		return loss{}
	}
	if _, ok := f.config.Next(f.bucket, stack, 0, f.Now); !ok {
		return loss{}
	}
	var l loss
	for _, e := range f.config.Timeline(f.bucket, stack, f.Now) {
		h := happening{Event: e}
		if !h.takes() {
			continue
		}
		if !l.happens() {
			l = loss{at: h.run(f.Now), due: e.At, actor: ByLifecycle, rule: e.Rule, action: actionOf(h), class: e.Class, until: e.Until, unsure: unsureOf(e)}
			if e.Latest.After(e.At) {
				l.late = e.Latest
			}
		}
		if e.Kind != lifecycle.Transition {
			l.listed = h.run(f.Now)
			break
		}
	}
	return l
}

// nextBackup is when the next backup is expected.
func (f *foresight) nextBackup(from time.Time) time.Time {
	at := from
	if n := len(f.backups); n > 0 && !f.backups[n-1].taken.IsZero() && !f.backups[n-1].taken.After(from) {
		at = f.backups[n-1].taken.Add(f.interval())
	}
	if at.Before(from) {
		return from
	}
	return at
}

// interval is how often a backup is taken, at least a minute.
func (f *foresight) interval() time.Duration { return max(time.Minute, f.Policy.Interval) }

// backupsEnd is when the backups of the cluster as it is now end: the first phase
// in which none are written. ok is false while they go on.
func (f *foresight) backupsEnd() (time.Time, bool) {
	for _, p := range f.phases {
		if !p.writes || p.after {
			return p.from, true
		}
	}
	return time.Time{}, false
}

// backupsBegin is when the first backup to come is expected.
func (f *foresight) backupsBegin() (time.Time, bool) {
	for _, p := range f.phases {
		if p.writes && !p.after {
			return f.nextBackup(p.from), true
		}
	}
	return time.Time{}, false
}

// uploadTime is how long after its name S3 dates a backup, at the least.
const uploadTime = time.Second

// expected makes the backup that is expected at a time. It resembles the newest
// one that is there.
func (f *foresight) expected(at time.Time) *backup {
	if b, ok := f.future[at]; ok {
		return &b
	}
	sizes := [2]int64{1 << 20, 300}
	for _, s := range slices.Backward(f.o.Listing.Value.Snapshots) {
		if s.Complete() {
			sizes = [2]int64{s.Data.Size, s.Meta.Size}
			break
		}
	}
	name := etcdmanager.FormatName(at, 1)
	of := func(file string, size int64) loss {
		return f.lossOf(audit.Object{Key: f.o.Store.Key(name, file), Size: size, LastModified: at.Add(uploadTime)})
	}
	b := backup{taken: at.Truncate(time.Second), stored: at.Add(uploadTime), hasMeta: true, readable: true, future: true,
		data: of(etcdmanager.DataFile, sizes[0]), meta: of(etcdmanager.MetaFile, sizes[1])}
	f.future[at] = b
	return &b
}

// backupsAt gives the backups that are there now, and of those that will have
// been taken at a time the ones that the cleanup can have left: all of the last
// hour, the first of each hour and the first of each day.
func (f *foresight) backupsAt(at time.Time) []*backup {
	begin, ok := f.backupsBegin()
	if !ok {
		return f.backups
	}
	if end, ended := f.backupsEnd(); ended && end.Before(at) {
		at = end
	}
	times := map[time.Time]bool{}
	add := func(slot time.Time) { // the first backup from then on
		t := begin
		if slot.After(begin) {
			t = begin.Add((slot.Sub(begin) + f.interval() - 1) / f.interval() * f.interval())
		}
		if t.Before(at) {
			times[t] = true
		}
	}
	hourly, daily := clamp(f.retention.Hourly), clamp(f.retention.Daily)
	for t := latest(begin, at.Add(-time.Hour)); t.Before(at); t = t.Add(f.interval()) {
		add(t)
	}
	for t := latest(begin, at.Add(-hourly-time.Hour)).Truncate(time.Hour); t.Before(at); t = t.Add(time.Hour) {
		add(t)
	}
	for t := latest(begin, at.Add(-max(hourly, daily)-audit.Day)).Truncate(audit.Day); t.Before(at); t = t.Add(audit.Day) {
		add(t)
	}
	all := slices.Clone(f.backups)
	for t := range times {
		all = append(all, f.expected(t))
	}
	all = byTime(all)
	f.thin(all)
	return all
}

// clamp keeps a length of time within what a calendar can be moved by.
func clamp(d time.Duration) time.Duration { return min(max(0, d), 100*365*audit.Day) }

// windowNow is what can be restored before anything happens.
func (f *foresight) windowNow() Window {
	if !f.o.Listing.Seen() {
		return Window{}
	}
	now := f.backups
	if !f.Reset.IsZero() {
		now = f.good
	}
	return window(now, func(b *backup) bool { return b.readable && !b.taken.IsZero() })
}

// windowAt is what can be restored at a time, of the cluster as it is now.
func (f *foresight) windowAt(at time.Time) Window {
	if !f.o.Listing.Seen() {
		return Window{}
	}
	list := f.good
	if end, ended := f.backupsEnd(); !ended || at.Before(end) {
		list = f.backupsAt(at)
	}
	return window(list, func(b *backup) bool { return b.restorable(at) })
}

func window(list []*backup, restorable func(*backup) bool) Window {
	w := Window{Known: true}
	for _, b := range list {
		if !restorable(b) {
			continue
		}
		if w.Count == 0 {
			w.Oldest = b.taken
		}
		w.Newest = b.taken
		w.Count++
	}
	return w
}

// ifReset is what the first cleanup after a reset leaves of what can be restored
// at a time.
func (f *foresight) ifReset(at time.Time) Window {
	var names []string
	byName := map[string]*backup{}
	for i, b := range f.good {
		if b.taken.IsZero() || !b.listedAt(at) {
			continue
		}
		name := etcdmanager.FormatName(b.taken, i) // in the order of the list
		names = append(names, name)
		byName[name] = b
	}
	gone := map[*backup]bool{}
	for _, name := range etcdmanager.Thin(names, at, f.retention) {
		gone[byName[name]] = true
	}
	return window(f.good, func(b *backup) bool { return b.restorable(at) && !gone[b] })
}

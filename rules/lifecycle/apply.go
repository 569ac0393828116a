package lifecycle

import (
	"slices"
	"strconv"
	"time"
)

// apply changes the stack as the event does, at the clock plus the lag.
func (f *follower) apply(i int, ev *Event, d doubt, tier bool) {
	run := f.clock.Add(f.lag)
	switch {
	case ev.AllVersions:
		f.stack, f.entries = f.stack[:0], f.entries[:0]
	case ev.Kind == Transition:
		f.move(i, ev.Class, run, d, tier)
	case ev.Kind == Hide:
		f.hide(ev, run, d)
	default:
		f.remove(i, ev, run, d)
	}
	f.bare(run, d)
}

// move changes the class or archive tier. A version is acted upon once a day at
// most (quoted from a newer text of user guide, lifecycle-conflicts).
func (f *follower) move(i int, class string, run time.Time, d doubt, tier bool) {
	if tier {
		f.stack[i].ArchiveStatus = class
	} else {
		f.stack[i].StorageClass, f.stack[i].ArchiveStatus = class, ""
	}
	e := &f.entries[i]
	e.floor, e.access, e.known = nextMidnight(run), run, false
	e.doubt |= d
}

// hide puts a marker on top. In a suspended bucket it is the null version and
// replaces any other.
func (f *follower) hide(ev *Event, run time.Time, d doubt) {
	if ev.Destroys != "" {
		f.dropNull()
	}
	top := &f.entries[0]
	top.since, top.floor = run, nextMidnight(run)
	top.doubt |= d
	f.push(ev, run, d)
	f.forget(0)
}

// dropNull removes the null versions beneath the top.
func (f *follower) dropNull() {
	for i := len(f.stack) - 1; i > 0; i-- {
		if f.stack[i].VersionID == NullVersion {
			f.drop(i)
		}
	}
}

// push puts the event's marker on top of the stack.
func (f *follower) push(ev *Event, run time.Time, d doubt) {
	if ev.Marker == "" {
		f.markers++
		ev.Marker = "marker-" + strconv.Itoa(f.markers)
	}
	marker := Version{Key: ev.Key, VersionID: ev.Marker, LastModified: run, DeleteMarker: true, TagsKnown: true}
	f.stack = slices.Insert(f.stack, 0, marker)
	f.entries = slices.Insert(f.entries, 0, entry{doubt: d})
}

// remove drops an entry for good, leaving a null marker where the event says
// so.
func (f *follower) remove(i int, ev *Event, run time.Time, d doubt) {
	f.drop(i)
	if ev.Kind == Expire && ev.Marker != "" {
		f.push(ev, run, d)
	}
	if f.counts || ev.Kind != DestroyNoncurrent {
		f.forget(min(i, len(f.entries)))
	}
}

func (f *follower) drop(i int) {
	f.stack = slices.Delete(f.stack, i, i+1)
	f.entries = slices.Delete(f.entries, i, i+1)
}

// bare keeps a marker that became lone in this run from going before it: the
// same run may take it too, a late one leaves it to the next.
func (f *follower) bare(run time.Time, d doubt) {
	if len(f.stack) != 1 || !f.stack[0].DeleteMarker {
		return
	}
	e := &f.entries[0]
	e.floor = later(e.floor, CeilMidnight(run))
	e.doubt |= d
	e.known = false
}

// undo dates the end of the time in which a hidden version can be brought back.
func undo(events []Event) {
	for i := range events {
		if events[i].Kind != Hide {
			continue
		}
		for _, ev := range events[i+1:] {
			if ev.Kind == DestroyNoncurrent && ev.VersionID == events[i].VersionID || ev.AllVersions {
				events[i].Until = ev.At
				break
			}
		}
	}
}

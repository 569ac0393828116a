package rules

import (
	"fmt"
	"slices"
	"time"

	"backstop/audit"
)

// A proven is a snapshot that was read to its end and would restore.
type proven struct {
	Snapshot audit.Snapshot
	audit.Examined
}

// provenOf gives the snapshots that are known to restore, in the order in which they
// were taken, without those of a deleted namesake.
func provenOf(o *audit.Observation, now time.Time) []proven {
	var all []proven
	for _, s := range o.Listing.Value.Snapshots {
		if e, _ := o.Of(s); s.Complete() && !s.Taken.IsZero() && e.Restores() && e.Content != nil && !ofNamesake(o, s.Taken, now) {
			all = append(all, proven{s, e})
		}
	}
	slices.SortStableFunc(all, func(a, b proven) int { return a.Snapshot.Taken.Compare(b.Snapshot.Taken) })
	return all
}

// A drop is a pair of proven snapshots, the second taken after the first, of which
// the second has a lower revision. etcd's revision only ever rises.
type drop struct{ before, after proven }

// drops finds where the revision falls, each against the snapshot before it.
func drops(o *audit.Observation, now time.Time) []drop {
	all := provenOf(o, now)
	var found []drop
	for i := 1; i < len(all); i++ {
		if all[i].Content.Revision < all[i-1].Content.Revision {
			found = append(found, drop{all[i-1], all[i]})
		}
	}
	return found
}

// keptPercent is how many of the keys must be left for a fall of the revision to be
// a restore, and not a reset: less is a collapse.
var keptPercent int64 = 50

// collapsed reports whether most of the keys are gone.
func (d drop) collapsed() bool {
	return d.after.Content.Keys*100 < d.before.Content.Keys*keptPercent
}

// tells is a drop in numbers.
func (d drop) tells() string {
	return fmt.Sprintf("%s has revision %d and %s, %s before it revision %d and %s",
		d.after.Snapshot.Name, d.after.Content.Revision, plural(int(d.after.Content.Keys), "key"),
		d.before.Snapshot.Name, d.before.Content.Revision, plural(int(d.before.Content.Keys), "key"))
}

// strangers reports whether no member of one is a member of the other: they are of
// two clusters. Without members on either side nobody knows.
func strangers(a, b *audit.Content) bool {
	if len(a.Members) == 0 || len(b.Members) == 0 {
		return false
	}
	return !slices.ContainsFunc(a.Members, func(id string) bool { return slices.Contains(b.Members, id) })
}

// isMain reports whether the store is of the etcd that holds Kubernetes's objects.
func isMain(o *audit.Observation) bool {
	if o.Kops.IsSet() && o.Kops.Value.Etcd != "" {
		return o.Kops.Value.Etcd == "main"
	}
	return o.Store.Etcd == "main"
}

// witness finds what shows that a new cluster took the place of an older one, in
// the snapshots from before a birth and after it: an empty snapshot after others, a
// fall of the revision, or members of which none was there before.
func witness(o *audit.Observation, before, after []audit.Snapshot) (says string, ok bool) {
	if w, ok := emptyWitness(before, after); ok {
		return fmt.Sprintf("%s, taken after that, has %d bytes, as a snapshot of an empty cluster has", w.Name, w.Data.Size), true
	}
	last, ok := lastProven(o, before)
	if !ok {
		return "", false
	}
	for _, s := range after {
		e, _ := o.Of(s)
		switch {
		case !e.Restores() || e.Content == nil:
		case strangers(last.Content, e.Content):
			return fmt.Sprintf("%s, taken after that, has other members (%s) than %s, taken before it (%s)",
				s.Name, few(e.Content.Members), last.Snapshot.Name, few(last.Content.Members)), true
		case e.Content.Revision < last.Content.Revision:
			return drop{last, proven{s, e}}.tells(), true
		}
	}
	return "", false
}

// lastProven is the last of some snapshots that is known to restore.
func lastProven(o *audit.Observation, of []audit.Snapshot) (last proven, ok bool) {
	for _, s := range of {
		if e, _ := o.Of(s); s.Complete() && e.Restores() && e.Content != nil && (!ok || s.Taken.After(last.Snapshot.Taken)) {
			last, ok = proven{s, e}, true
		}
	}
	return last, ok
}

// news reports whether something that happened then is still news.
func news(at, now time.Time) bool { return now.Sub(at) <= restoredNews }

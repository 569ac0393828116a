package rules

import (
	"fmt"
	"strconv"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

var lifecycleCutsLadder = audit.Rule{
	ID:         "lifecycle/cuts-ladder",
	Title:      "a lifecycle rule deletes snapshots that are still to be kept",
	Severities: []audit.Severity{audit.Warning, audit.Info},
	Needs:      []audit.FactName{audit.FactLifecycle, audit.FactListing, audit.FactKops, audit.FactVersioning},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		k, ok := keepingOf(o, now)
		if !ok || !o.Listing.Seen() {
			return nil
		}
		keep, sure, whose := forecast.Ladder(o, p)
		word := whose
		if sure < keep {
			word = forecast.SureWord
		}
		if f, ok := k.ladderCut(o, p, sure, word); ok {
			return []audit.Finding{f}
		}
		f, ok := k.ladderCut(o, p, keep, whose)
		if !ok {
			return nil
		}
		// Whether anybody means the two years is not known.
		f.Severity = audit.Info
		return []audit.Finding{f.Because("nobody says how long they are to be kept: kops writes 90 days into the spec of a cluster since 1.27, and without that etcd-manager keeps them for 2 years")}
	},
}

// ladderCut finds out whether snapshots are deleted that are to be kept for a time.
func (k keeping) ladderCut(o *audit.Observation, p audit.Policy, keep time.Duration, whose string) (audit.Finding, bool) {
	if e, ok := k.cutsNext(o, p, keep); ok {
		reach := max(0, e.At.Sub(k.now))
		return cutFound(e, keep, "lifecycle rule %q %s every snapshot %s after it was taken, and one of each day is kept for %s (%s): what can be restored reaches back %s and no further",
			e.Rule, does(e), span(reach), span(keep), whose, span(reach)).Saw(span(reach), span(keep)), true
	}
	cut, first := k.cutsThere(o, p, keep)
	if cut == 0 {
		return audit.Finding{}, false
	}
	return cutFound(first, keep, "lifecycle rule %q %s %s, the first %s, though one of each day is kept for %s (%s)",
		first.Rule, does(first), plural(cut, "snapshot"), dated(first, k.now), span(keep), whose).
		Saw(plural(cut, "snapshot")+" of "+strconv.Itoa(o.Listing.Value.CompleteSnapshots()), span(keep)), true
}

// cutsNext reports whether the snapshot that is taken next is deleted before its
// time.
func (k keeping) cutsNext(o *audit.Observation, p audit.Policy, keep time.Duration) (lifecycle.Event, bool) {
	if p.RoleOf(o) != audit.Live {
		return lifecycle.Event{}, false
	}
	size := int64(1 << 20)
	if s, _, ok := o.Listing.Value.Newest(k.now); ok {
		size = s.Data.Size
	}
	name := etcdmanager.FormatName(k.now, 1)
	s := audit.Snapshot{
		Data: &audit.Object{Key: o.Store.Key(name, etcdmanager.DataFile), Size: size, LastModified: k.now},
		Meta: &audit.Object{Key: o.Store.Key(name, etcdmanager.MetaFile), Size: 300, LastModified: k.now},
	}
	e, ok := k.removed(s)
	return e, ok && e.At.Before(k.now.Add(keep)) && e.At.Sub(k.now) <= p.HorizonWarning
}

// cutsThere counts the days whose snapshot is deleted before its time.
func (k keeping) cutsThere(o *audit.Observation, p audit.Policy, keep time.Duration) (n int, first lifecycle.Event) {
	var day time.Time
	for _, s := range o.Listing.Value.Snapshots {
		wanted := s.Taken.Add(keep)
		if !s.Complete() || s.Taken.IsZero() || s.Taken.Truncate(audit.Day).Equal(day) {
			continue
		}
		day = s.Taken.Truncate(audit.Day)
		e, ok := k.removed(s)
		if !ok || !e.At.Before(wanted) || !wanted.After(k.now) || e.At.Sub(k.now) > p.HorizonWarning {
			continue
		}
		if n == 0 || e.At.Before(first.At) {
			first = e
		}
		n++
	}
	return n, first
}

// removed gives the first event that makes a half of a snapshot missing.
func (k keeping) removed(s audit.Snapshot) (first lifecycle.Event, ok bool) {
	for _, half := range []*audit.Object{s.Data, s.Meta} {
		if e, takes := k.taken(*half); takes && removes(e) && (!ok || e.At.Before(first.At)) {
			first, ok = e, true
		}
	}
	return first, ok
}

func cutFound(e lifecycle.Event, keep time.Duration, format string, args ...any) audit.Finding {
	return audit.Found(audit.Warning, format, args...).
		Todo(fmt.Sprintf("Let rule %q spare the snapshots for at least %s, or leave them to etcd-manager, which deletes its own old snapshots.", e.Rule, span(keep)),
			"If the shorter time is meant, say so: backupRetentionDays in the kops cluster spec, or keep: in backstop's configuration.",
			"`backstop forecast` shows what can be restored at each date; `backstop suggest` prints rules that keep the ladder.")
}

package forecast

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"backstop/audit"
)

// Describe says in a sentence what an event does, without what follows from it.
func (e Event) Describe() string {
	switch e.Action {
	case Resets:
		return "etcd-manager makes a NEW, EMPTY cluster"
	case Forms:
		return "etcd-manager makes the first cluster"
	case Loses:
		return e.Who() + " takes the last snapshot that could be restored"
	case WouldLose:
		return "from now on a reset would lose every snapshot"
	}
	if e.Snapshots != nil && e.Actor == ByRetention && e.Snapshots.Continues {
		return "etcd-manager's cleanup thins the snapshots as always; of those that are there now it deletes " + strconv.Itoa(e.Snapshots.Count) + e.why()
	}
	what := e.subject() + e.undo()
	if e.Snapshots != nil {
		what = e.Snapshots.String() + e.why()
	}
	if e.Action == Archives {
		return e.Who() + " moves to storage class " + e.Class + " (which nobody can read before a thaw): " + what
	}
	return e.Who() + " " + e.verb() + " " + what
}

// Who names the actor.
func (e Event) Who() string {
	switch e.Actor {
	case ByLifecycle:
		return fmt.Sprintf("lifecycle rule %q", e.Rule)
	case ByRetention:
		return "etcd-manager's cleanup"
	}
	return "etcd-manager"
}

func (e Event) verb() string {
	switch e.Action {
	case Unmarks:
		return "removes the delete marker over"
	case Deletes:
		if e.Actor == ByLifecycle {
			return "deletes for good"
		}
	}
	return string(e.Action)
}

func (e Event) subject() string {
	var names []string
	for _, p := range e.Paths {
		names = append(names, path.Base(p))
	}
	files := strings.Join(names, " and ")
	switch {
	case e.Action == Destroys && e.Versions > 0:
		return audit.Plural(e.Versions, "old version") + " of " + files
	case e.Action == Destroys:
		return "the last version of " + files
	}
	return files
}

// undo says how long what is hidden can be brought back.
func (e Event) undo() string {
	switch {
	case e.Action != Hides:
		return ""
	case e.Until.IsZero():
		return " (can be brought back: nothing destroys what is hidden)"
	}
	return " (can be brought back until " + audit.Stamp(e.Until) + ")"
}

// why says which of etcd-manager's rules is at work.
func (e Event) why() string {
	if e.Actor != ByRetention || e.Rule == "" {
		return ""
	}
	if e.Rule == tooOld {
		return " (" + e.Rule + ")"
	}
	return " (it keeps " + e.Rule + ")"
}

// String says how many snapshots, and when they were taken.
func (s Snapshots) String() string {
	n := audit.Plural(s.Count, "snapshot") + ", taken " + Minute(s.First)
	if !s.Last.Equal(s.First) {
		n += " to " + Minute(s.Last)
	}
	if s.Continues {
		n += ", and later ones as they come of age"
	}
	return n
}

// String says how much can be restored, and from when.
func (w Window) String() string {
	switch {
	case !w.Known:
		return "not known, the snapshots were not seen"
	case w.Count == 0:
		return "NOTHING"
	case w.Count == 1:
		return "1 snapshot, taken " + Minute(w.Newest)
	}
	return fmt.Sprintf("%d snapshots, taken %s to %s", w.Count, Minute(w.Oldest), Minute(w.Newest))
}

// Minute writes an instant to the minute, as timelines do.
func Minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04Z") }

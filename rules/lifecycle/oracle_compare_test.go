package lifecycle_test

import (
	"slices"
	"strings"
	"time"

	"backstop/rules/lifecycle"
)

// runsAt is how long after midnight UTC the rules are executed each day.
const runsAt = 6 * time.Hour

// A state is what is left of a key, newest first: "data ID" or "marker ID", where
// a marker that lifecycle made is "marker new".
type state []string

func (s state) equal(o state) bool { return slices.Equal(s, o) }

// stateOf describes a stack. Versions that were not there at the start are
// lifecycle's.
func stateOf(stack []lifecycle.Version, known map[string]bool) state {
	var s state
	for _, v := range stack {
		switch {
		case !v.DeleteMarker:
			s = append(s, "data "+v.VersionID)
		case v.VersionID == lifecycle.NullVersion || known[v.VersionID]:
			s = append(s, "marker "+v.VersionID)
		default:
			s = append(s, "marker new")
		}
	}
	return s
}

// after replays the events that have happened by the run at an instant.
func after(start state, events []lifecycle.Event, run time.Time) state {
	s := slices.Clone(start)
	for _, e := range events {
		if e.At.Add(runsAt).After(run) {
			break
		}
		s = s.apply(e)
	}
	return s
}

// apply is one event's effect, by the words of the user guide and not by the
// evaluator's own bookkeeping.
func (s state) apply(e lifecycle.Event) state {
	made := "marker new"
	if e.Marker == lifecycle.NullVersion {
		made = "marker null"
	}
	switch e.Kind {
	case lifecycle.Hide:
		if e.Destroys != "" {
			s = s.without(1, e.Destroys)
		}
		return slices.Insert(s, 0, made)
	case lifecycle.Expire:
		s = s.without(0, e.VersionID)
		if e.Marker != "" {
			s = slices.Insert(s, 0, made)
		}
		return s
	case lifecycle.DestroyNoncurrent:
		return s.without(1, e.VersionID)
	case lifecycle.RemoveMarker:
		return s.without(0, e.VersionID)
	}
	return s
}

// without removes the first entry with an id from an index on. The evaluator
// calls the markers that it foresees marker-1, marker-2 and so on.
func (s state) without(from int, id string) state {
	if strings.HasPrefix(id, "marker-") {
		id = "new"
	}
	for i := from; i < len(s); i++ {
		if _, is, _ := strings.Cut(s[i], " "); is == id {
			return slices.Delete(slices.Clone(s), i, i+1)
		}
	}
	return append(slices.Clone(s), "no version "+id+" to remove")
}

// What Ceph 16.2.15 does otherwise than AWS documents. Nothing else is excused.
const (
	// The clean-up of delete markers looks at no age.
	markerAtOnce = "a lone delete marker goes under any expiration, whatever its age"
	// It looks at the next key to tell whether a marker is alone.
	lastMarker = "the last key of a rule's listing keeps its lone delete marker"
	// It looks at nothing but that key: versions above the marker do not count.
	oldestMarker = "a noncurrent delete marker goes as a lone one does, if it is the oldest of its key"
	// The log says that it was deleted.
	suspendedKept = "suspended: the null version stays listed"
	// Its filters for delete markers leave out the tags.
	tagsIgnored = "a delete marker goes under a rule with a filter by tags"
	// It compares before it rounds.
	ageBeforeDate = "the header names the age's rule where an age ends at the midnight of another rule's date"
	// Both orders are within what AWS documents.
	sameRun = "a marker goes in the run that left it alone, and not in the next"
)

// A comparison is of one key on one day.
type comparison struct {
	config    lifecycle.Configuration
	bucket    lifecycle.Bucket
	key       string
	last      map[string]bool // keys that were the last of a rule's listing
	want, got state
	tomorrow  state // what is predicted for the next run
}

// excuse names the deviation that explains a disagreement.
func (c comparison) excuse() string {
	lone := func(s state) bool { return len(s) == 1 && strings.HasPrefix(s[0], "marker ") }
	switch {
	case c.bucket.Versioning == lifecycle.Suspended && slices.Contains(c.got, "data null") && !slices.Contains(c.want, "data null"):
		return suspendedKept
	case lone(c.want) && len(c.got) == 0 && len(c.tomorrow) == 0:
		return sameRun
	case lone(c.want) && len(c.got) == 0 && c.bucket.Provider == lifecycle.AWS && c.expiresSomething():
		return markerAtOnce
	case lone(c.got) && len(c.want) == 0 && c.last[c.key]:
		return lastMarker
	case len(c.got) > 0 && len(c.got) < len(c.want) && c.got.equal(c.want[:len(c.got)]) && c.got.data().equal(c.want.data()) && c.removesMarkers():
		return oldestMarker
	case c.bucket.Provider == lifecycle.AWS && c.want.data().equal(c.got.data()) && c.tagged():
		return tagsIgnored
	}
	return ""
}

// removesMarkers reports whether an enabled rule about the key removes lone
// delete markers.
func (c comparison) removesMarkers() bool {
	return slices.ContainsFunc(c.config.Rules, func(r lifecycle.Rule) bool {
		return r.Enabled() && strings.HasPrefix(c.key, prefixOf(r)) && r.Expiration != nil && r.Expiration.ExpiredObjectDeleteMarker != nil
	})
}

// data is a state without its delete markers.
func (s state) data() state {
	return slices.DeleteFunc(slices.Clone(s), func(e string) bool { return strings.HasPrefix(e, "marker ") })
}

// tagged reports whether an enabled rule with a filter by tags is about the key.
func (c comparison) tagged() bool {
	return slices.ContainsFunc(c.config.Rules, func(r lifecycle.Rule) bool {
		return r.Enabled() && strings.HasPrefix(c.key, prefixOf(r)) && r.Filter != nil &&
			(len(r.Filter.Tags) > 0 || r.Filter.And != nil && len(r.Filter.And.Tags) > 0)
	})
}

// expiresSomething reports whether an enabled rule with an expiration is about
// the key.
func (c comparison) expiresSomething() bool {
	return slices.ContainsFunc(c.config.Rules, func(r lifecycle.Rule) bool {
		return r.Enabled() && r.Expiration != nil && strings.HasPrefix(c.key, prefixOf(r))
	})
}

// byDate reports whether the rule of that name expires by date.
func byDate(c lifecycle.Configuration, name string) bool {
	return slices.ContainsFunc(c.Rules, func(r lifecycle.Rule) bool {
		return r.Name() == name && r.Expiration != nil && !r.Expiration.Date.IsZero()
	})
}

// prefixOf is the prefix by which a server lists for a rule.
func prefixOf(r lifecycle.Rule) string {
	for _, p := range []*string{r.Prefix, inFilter(r.Filter)} {
		if p != nil {
			return *p
		}
	}
	return ""
}

func inFilter(f *lifecycle.Filter) *string {
	switch {
	case f == nil:
		return nil
	case f.Prefix == nil && f.And != nil:
		return f.And.Prefix
	}
	return f.Prefix
}

// lastOf gives the last key of each enabled rule's listing.
func lastOf(c lifecycle.Configuration, keys []string) map[string]bool {
	last := map[string]bool{}
	for _, r := range c.Rules {
		if !r.Enabled() {
			continue
		}
		below := ""
		for _, k := range keys {
			if strings.HasPrefix(k, prefixOf(r)) {
				below = max(below, k)
			}
		}
		last[below] = true
	}
	return last
}

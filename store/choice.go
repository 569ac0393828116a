package store

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"backstop/audit"
)

// A Choice says which snapshots of a store are to be read to their end.
type Choice struct {
	// What is newest, new or all; empty for a part.
	What string
	// Part is the number of a part, from 1, of Parts.
	Part, Parts int
}

// The choices besides parts.
const (
	ChooseNewest = "newest" // the newest complete one
	ChooseNew    = "new"    // all that are not known
	ChooseAll    = "all"    // all, those first that were not read for the longest time
)

// ParseChoice parses newest, new, all or K/N.
func ParseChoice(s string) (Choice, error) {
	if slices.Contains([]string{ChooseNewest, ChooseNew, ChooseAll}, s) {
		return Choice{What: s}, nil
	}
	k, n, isPart := strings.Cut(s, "/")
	part, err1 := strconv.Atoi(k)
	parts, err2 := strconv.Atoi(n)
	if !isPart || errors.Join(err1, err2) != nil || part < 1 || part > parts || parts > 10_000 {
		return Choice{}, fmt.Errorf("%q is neither newest, new, all nor a part such as 2/7", s)
	}
	return Choice{Part: part, Parts: parts}, nil
}

// String gives the choice as ParseChoice takes it.
func (c Choice) String() string {
	if c.What != "" {
		return c.What
	}
	return fmt.Sprintf("%d/%d", c.Part, c.Parts)
}

// NeedsMemory reports whether the choice makes sense only with what earlier runs
// have read.
func (c Choice) NeedsMemory() bool { return c.What == ChooseNew || c.What == ChooseAll }

// Of gives the snapshots to read, in the order in which to read them: what a queued
// restore names first, then the newest. Of those that cannot be read as they are, in
// an archive class or empty, there is none, nor of the etcd charm's, which are files
// of other kinds.
func (c Choice) Of(o *audit.Observation, now time.Time) []audit.Snapshot {
	if o.Store.Layout == audit.LayoutCharm {
		return nil
	}
	queued := restoreTarget(o.Queue.Value)
	newest, _, _ := o.Listing.Value.Newest(now)
	var chosen []audit.Snapshot
	for _, s := range o.Listing.Value.Snapshots {
		if !s.Complete() || s.Data.Size == 0 || s.Data.Archived() {
			continue
		}
		if e, known := o.Of(s); c.wants(s, e, known && e.Depth != audit.Headed, s.Name == newest.Name || s.Name == queued) {
			chosen = append(chosen, s)
		}
	}
	first := func(s audit.Snapshot) int {
		switch {
		case s.Name == queued:
			return 0
		case s.Name == newest.Name:
			return 1
		}
		return 2
	}
	age := func(s audit.Snapshot) time.Time {
		if e, known := o.Of(s); known && c.What == ChooseAll {
			return e.At
		}
		return time.Time{}
	}
	slices.SortStableFunc(chosen, func(a, b audit.Snapshot) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), age(a).Compare(age(b)), cmp.Compare(b.Name, a.Name))
	})
	return chosen
}

// wants reports whether a snapshot is to be read. known says that an earlier run
// has found out what e says; foremost, that it is the newest, or a queued restore
// names it.
func (c Choice) wants(s audit.Snapshot, e audit.Examined, known, foremost bool) bool {
	switch c.What {
	case ChooseAll:
		return true
	case ChooseNew:
		return !known
	case ChooseNewest:
		return foremost && !known
	}
	return partOf(s.Name, c.Parts) == c.Part || foremost && !known
}

// partOf divides snapshots by their names, so that whoever reads each part reads
// everything, whatever comes and goes meanwhile.
func partOf(name string, parts int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // it never fails
	return int(h.Sum32()%uint32(parts)) + 1
}

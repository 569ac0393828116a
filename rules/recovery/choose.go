package recovery

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/store/etcdmanager"
	"backstop/store/snapshot"
)

// An Opened is what opening a snapshot gave.
type Opened struct {
	Result snapshot.Result
	// Meta is its meta file.
	Meta audit.Fact[audit.Document]
}

// A Search is for the snapshot of one store to restore.
type Search struct {
	Observation *audit.Observation
	// Ends say when each snapshot goes, as package forecast gives them.
	Ends []forecast.End
	Now  time.Time
	// Formed is when a new, empty cluster took the place of the old one: what was
	// taken from then on is the new one's. Zero where none did.
	Formed time.Time
	// Before bounds the search by the owner's word; zero for no bound.
	Before time.Time
	// Near is when the snapshot was taken that this one is to be restored with: the
	// nearest in time comes first, and not the newest. Zero for none.
	Near time.Time
	// Open opens a snapshot; nil where none can be, as of a recording.
	Open func(audit.Snapshot) Opened
	// Limit is how many snapshots may be opened to find a good one.
	Limit int
	// Unrestorable says why etcd-manager cannot restore a backup of a version of
	// etcd; empty where it can.
	Unrestorable func(version string) string
	// Filled is how many bytes a snapshot has at least that holds something.
	Filled int64
}

// A Candidate is a snapshot, and what is known of it.
type Candidate struct {
	Snapshot audit.Snapshot
	End      forecast.End
	// Facts are what it holds; nil where it was not opened.
	Facts *snapshot.Facts
	// Remarks are what opening gave to know.
	Remarks []string
	// Meta is its meta file; nil where it was not opened.
	Meta *etcdmanager.BackupInfo
}

// A Passed is one snapshot, or a row of them, that is not restored though it is
// newer, and why.
type Passed struct {
	// Name is the newest of the row, First the oldest; they are one where Count is 1.
	Name, First string
	Count       int
	Why         string
}

// A Choice is what a search came to.
type Choice struct {
	Search
	// Chosen is nil where there is nothing to restore.
	Chosen *Candidate
	// Unverified says why Chosen was not read to its end; empty where it was.
	Unverified string
	// Passed are the newer ones, the newest first.
	Passed []Passed
	// Newest is the newest snapshot of all, opened to say what a restore would lose;
	// nil where that is Chosen, or it could not be read.
	Newest *Candidate
	opened int
}

// Choose finds the newest snapshot that would restore, and says why each newer one
// would not, or should not. It opens them from the newest on, at most Limit of them;
// where that does not suffice it names the newest that may be good, and says that
// nobody has looked.
func (s Search) Choose() Choice {
	c := Choice{Search: s}
	var unread *Candidate // the best that may be good
	var why string
	var passed []Passed // before it
	keep := func(cand *Candidate, told string) {
		if unread == nil {
			unread, why, passed = cand, told, slices.Clone(c.Passed)
		}
	}
	for _, snap := range s.order() {
		if told := s.skip(snap); told != "" {
			c.pass(snap, told)
			continue
		}
		cand := s.candidate(snap)
		if s.Open == nil || c.opened >= s.Limit {
			keep(cand, c.unopened())
			break
		}
		told, unknown := c.look(cand)
		if told == "" {
			c.Chosen = cand
			break
		}
		if unknown {
			keep(cand, told)
		}
		c.pass(snap, told)
	}
	if c.Chosen == nil && unread != nil {
		c.Chosen, c.Unverified, c.Passed = unread, why, passed
	}
	c.compareNewest()
	return c
}

// order gives the snapshots in the order in which they are tried.
func (s Search) order() []audit.Snapshot {
	all := s.newestFirst()
	if !s.Near.IsZero() {
		slices.SortStableFunc(all, func(a, b audit.Snapshot) int {
			return cmp.Compare(a.Taken.Sub(s.Near).Abs(), b.Taken.Sub(s.Near).Abs())
		})
	}
	return all
}

// newestFirst gives the snapshots that etcd-manager may have taken.
func (s Search) newestFirst() []audit.Snapshot {
	all := slices.DeleteFunc(slices.Clone(s.Observation.Listing.Value.Snapshots), func(x audit.Snapshot) bool { return x.Taken.IsZero() })
	slices.SortStableFunc(all, func(a, b audit.Snapshot) int { return b.Taken.Compare(a.Taken) })
	return all
}

// skip says why a snapshot need not be opened; empty where it does.
func (s Search) skip(x audit.Snapshot) string {
	switch {
	case !s.Formed.IsZero() && !x.Taken.Before(s.Formed.Truncate(time.Second)):
		return "taken from the new cluster, which was formed at " + audit.Stamp(s.Formed)
	case !s.Before.IsZero() && !x.Taken.Before(s.Before):
		return "not taken before " + audit.Stamp(s.Before)
	case x.Data == nil:
		return "its data is missing: only the meta file is there"
	case x.Meta == nil:
		return "its meta file is missing, so that it does not exist for etcd-manager"
	case x.Data.Archived() || x.Meta.Archived():
		return "archived (class " + x.Data.StorageClass + x.Meta.StorageClass + "): it would have to be thawed and copied first"
	case x.Data.Size == 0 || x.Data.Size < s.Filled && s.anyFilled():
		return fmt.Sprintf("it holds nothing, by its size (%d bytes; not opened)", x.Data.Size)
	}
	return ""
}

// anyFilled reports whether some snapshot is larger than an empty one can be. Where
// none is, as with a cilium etcd, size tells nothing.
func (s Search) anyFilled() bool {
	return slices.ContainsFunc(s.Observation.Listing.Value.Snapshots, func(x audit.Snapshot) bool { return x.Complete() && x.Data.Size >= s.Filled })
}

func (s Search) candidate(x audit.Snapshot) *Candidate {
	c := &Candidate{Snapshot: x, End: forecast.End{Snapshot: x}}
	for _, e := range s.Ends {
		if e.Snapshot.Name == x.Name {
			c.End = e
		}
	}
	return c
}

// look opens a candidate. It says why not to restore it, empty for no reason; and
// whether that is only because it could not be read.
func (c *Choice) look(cand *Candidate) (why string, unknown bool) {
	c.opened++
	o := c.Open(cand.Snapshot)
	cand.Facts, cand.Remarks = o.Result.Facts, o.Result.Remarks
	if m, err := etcdmanager.ParseMeta(o.Meta.Value.Body); o.Meta.IsSet() && err == nil {
		cand.Meta = &m
	}
	switch r := o.Result; {
	case r.Verdict == snapshot.Damaged:
		return "damaged: " + r.Reason, false
	case r.Facts == nil:
		return fmt.Sprintf("could not be verified (%s: %s)", r.Cause, r.Reason), true
	case r.Facts.Keys == 0:
		return "it holds nothing: there is no key in it", false
	case !o.Meta.Seen():
		return "its meta file could not be read (" + o.Meta.WhyUnseen().String() + ")", true
	case cand.Meta == nil:
		return "its meta file cannot be parsed, and etcd-manager would stop at it when the live cluster is gone", false
	}
	if v := c.Unrestorable(cand.Meta.EtcdVersion); v != "" {
		return "etcd-manager cannot restore it: " + v, false
	}
	return "", false
}

// unopened says why a snapshot was not opened.
func (c *Choice) unopened() string {
	if c.Open == nil {
		return "snapshots cannot be opened here: this is a recording"
	}
	if c.Limit == 0 {
		return "none was opened (--open 0)"
	}
	return fmt.Sprintf("%s opened in vain, which is the limit (--open)", count(c.opened, "newer snapshot"))
}

// pass notes one that is passed over, in a row with its neighbour where the reason
// is the same.
func (c *Choice) pass(x audit.Snapshot, why string) {
	if n := len(c.Passed); n > 0 && c.Passed[n-1].Why == why {
		c.Passed[n-1].First = x.Name
		c.Passed[n-1].Count++
		return
	}
	c.Passed = append(c.Passed, Passed{x.Name, x.Name, 1, why})
}

// compareNewest opens the newest complete snapshot, to say what it holds that a
// restore would lose.
func (c *Choice) compareNewest() {
	all := c.newestFirst()
	i := slices.IndexFunc(all, func(x audit.Snapshot) bool { return x.Complete() && x.Data.Size > 0 && !x.Data.Archived() })
	if c.Chosen == nil || c.Open == nil || i < 0 || all[i].Name == c.Chosen.Snapshot.Name {
		return
	}
	if newest := c.candidate(all[i]); c.factsOf(newest) {
		c.Newest = newest
	}
}

// factsOf opens a candidate for what it holds, and reports whether that is known.
func (c *Choice) factsOf(cand *Candidate) bool {
	r := c.Open(cand.Snapshot).Result
	cand.Facts = r.Facts
	return r.Facts != nil
}

// resources names the kinds of which there are most.
func resources(all []snapshot.Resource, shown int) string {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b snapshot.Resource) int { return int(b.Keys - a.Keys) })
	var words []string
	for _, r := range all[:min(len(all), shown)] {
		words = append(words, fmt.Sprintf("%s %d", r.Name, r.Keys))
	}
	if more := len(all) - shown; more > 0 {
		words = append(words, fmt.Sprintf("%d more kinds", more))
	}
	return strings.Join(words, ", ")
}

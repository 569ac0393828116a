package recovery

import (
	"fmt"
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/store/etcdmanager"
	"backstop/store/snapshot"
)

// Explain says what was chosen and why, what is known of it, what a restore of it
// loses, and how long it is there: a sentence or two each.
func (c Choice) Explain() []string {
	if !c.Listed() {
		return []string{"the snapshots could not be listed, so that nobody knows what could be restored: " + c.Observation.Listing.WhyUnseen().String()}
	}
	if c.Chosen == nil {
		return append([]string{"there is no snapshot here that could be restored"}, c.passedOver()...)
	}
	lines := []string{c.what()}
	lines = append(lines, c.verified()...)
	lines = append(lines, c.versions()...)
	lines = append(lines, c.passedOver()...)
	lines = append(lines, c.lost()...)
	return append(lines, c.until())
}

// Listed reports whether the snapshots were seen, so that it means something that
// there is none.
func (c Choice) Listed() bool { return c.Observation.Listing.Seen() }

func (c Choice) what() string {
	taken := c.Chosen.Snapshot.Taken
	s := fmt.Sprintf("restore %s, taken at %s", c.Chosen.Snapshot.Name, audit.Stamp(taken))
	if !c.Formed.IsZero() {
		s += fmt.Sprintf(", %s before the new cluster was formed (%s)", audit.Span(c.Formed.Sub(taken)), audit.Stamp(c.Formed))
	}
	if !c.Near.IsZero() {
		s += fmt.Sprintf(", %s from the one that it is restored with", audit.Span(taken.Sub(c.Near).Abs()))
	}
	return s
}

// verified says how much is known of it.
func (c Choice) verified() []string {
	if c.Unverified != "" {
		return []string{"NOT VERIFIED: " + c.Unverified + ". Nobody knows whether it restores: run `backstop verify` and `backstop drill` on it first"}
	}
	f := c.Chosen.Facts
	lines := []string{fmt.Sprintf("verified now, read to its end: revision %d, %s (%s)", f.Revision, count(int(f.Keys), "key"), resources(f.Resources, 8))}
	for _, r := range c.Chosen.Remarks {
		lines = append(lines, "but know: "+r)
	}
	return lines
}

// versions holds the snapshot against etcd-manager's table and the store's spec.
func (c Choice) versions() []string {
	m := c.Chosen.Meta
	if m == nil {
		return []string{"its meta file was not read: see that its etcdVersion is one that etcd-manager restores"}
	}
	with, _, _ := etcdmanager.Restorable(m.EtcdVersion)
	lines := []string{fmt.Sprintf("it is of etcd %s, which etcd-manager restores with etcd %s", m.EtcdVersion, with)}
	spec, ok := c.spec()
	switch {
	case !ok:
		lines = append(lines, "the store has no etcd-cluster-spec that could be used: etcd-manager-ctl refuses to queue a restore without one")
	case m.ClusterSpec == nil:
		lines = append(lines, fmt.Sprintf("the store's spec asks for %s of etcd %s; the snapshot's meta does not say what it was then", count(int(spec.MemberCount), "member"), spec.EtcdVersion))
	case *m.ClusterSpec == spec:
		lines = append(lines, fmt.Sprintf("the store's spec asks for %s of etcd %s, as at the time of the snapshot", count(int(spec.MemberCount), "member"), spec.EtcdVersion))
	default:
		lines = append(lines, fmt.Sprintf("CHECK: the store's spec asks for %s of etcd %s, and at the time of the snapshot it was %s of etcd %s. The restored cluster is made by the store's spec",
			count(int(spec.MemberCount), "member"), spec.EtcdVersion, count(int(m.ClusterSpec.MemberCount), "member"), m.ClusterSpec.EtcdVersion))
	}
	if f := c.Chosen.Facts; f != nil && m.ClusterSpec != nil && len(f.Members) != int(m.ClusterSpec.MemberCount) {
		lines = append(lines, fmt.Sprintf("CHECK: the snapshot holds %s, and its meta says %d: it was taken while members came or went. A restore makes the members anew", count(len(f.Members), "member"), m.ClusterSpec.MemberCount))
	}
	return lines
}

// spec is the store's own, by which a restored cluster is made.
func (c Choice) spec() (etcdmanager.ClusterSpec, bool) {
	spec, err := etcdmanager.ParseSpec(c.Observation.Spec.Value.Body)
	return spec, c.Observation.Spec.IsSet() && err == nil && spec.MemberCount >= 1
}

func (c Choice) passedOver() []string {
	var lines []string
	for _, p := range c.Passed {
		who := p.Name
		if p.Count > 1 {
			who = fmt.Sprintf("%s and %d before it, back to %s", p.Name, p.Count-1, p.First)
		}
		lines = append(lines, "passed over: "+who+": "+p.Why)
	}
	return lines
}

// lost says what is not in the snapshot: of time, and of what the newest one holds.
func (c Choice) lost() []string {
	taken := c.Chosen.Snapshot.Taken
	line := fmt.Sprintf("lost is what was written after %s, which is %s ago", audit.Stamp(taken), audit.Span(c.Now.Sub(taken)))
	if !c.Formed.IsZero() {
		line = fmt.Sprintf("lost are the %s until the new cluster was formed, and what was written to the new one since (%s)", audit.Span(c.Formed.Sub(taken)), audit.Span(c.Now.Sub(c.Formed)))
	}
	lines := []string{line}
	if c.Newest != nil && c.Chosen.Facts != nil {
		lines = append(lines, against(c.Chosen.Facts, c.Newest))
	}
	return lines
}

// against says of which kinds the newest snapshot has more than the one to restore,
// and of which fewer.
func against(chosen *snapshot.Facts, newest *Candidate) string {
	has := map[string]int64{}
	for _, r := range chosen.Resources {
		has[r.Name] = r.Keys
	}
	var fewer, more []snapshot.Resource
	for _, r := range newest.Facts.Resources {
		if d := r.Keys - has[r.Name]; d > 0 {
			fewer = append(fewer, snapshot.Resource{Name: r.Name, Keys: d})
		} else if d < 0 {
			more = append(more, snapshot.Resource{Name: r.Name, Keys: -d})
		}
		delete(has, r.Name)
	}
	for _, r := range chosen.Resources {
		if n, left := has[r.Name]; left {
			more = append(more, snapshot.Resource{Name: r.Name, Keys: n})
		}
	}
	s := fmt.Sprintf("against the newest snapshot, %s (%s): ", newest.Snapshot.Name, count(int(newest.Facts.Keys), "key"))
	if len(fewer) == 0 {
		s += "by their number no key of it would be lost"
	} else {
		s += "it has more of " + resources(fewer, 8)
	}
	if len(more) > 0 {
		s += "; it lacks " + resources(more, 8)
	}
	return s
}

// until says how long the snapshot is there.
func (c Choice) until() string {
	e, sooner := c.Chosen.End, ""
	if !c.Observation.Bucket.Lifecycle.Seen() {
		sooner = "; but the bucket's lifecycle rules were not seen, and one of them may take it sooner"
	}
	if e.At.IsZero() {
		return "nothing is foreseen that deletes it" + sooner
	}
	when := "at any moment"
	if e.At.After(c.Now) {
		when = "on " + audit.Stamp(e.At) + ", in " + audit.Span(e.At.Sub(c.Now))
	}
	return fmt.Sprintf("it is there until then only: %s %s it %s%s", e.Who(), e.Action, when, c.rival()+sooner)
}

// rival names the snapshot that the cleanup keeps in its place: the earliest of its
// hour, or of its day, whatever that holds.
func (c Choice) rival() string {
	slot, word := time.Hour, "hour"
	switch e := c.Chosen.End; {
	case e.Actor != forecast.ByRetention:
		return ""
	case strings.HasSuffix(e.Rule, "each day"):
		slot, word = audit.Day, "day"
	case !strings.HasSuffix(e.Rule, "each hour"):
		return ""
	}
	x, ok := c.earliest(slot)
	if !ok {
		return ""
	}
	s := ". What it keeps is the earliest of that " + word + ", " + x.Name
	if x.Data != nil && x.Data.Size < c.Filled {
		s += fmt.Sprintf(", though that holds nothing, by its size (%d bytes)", x.Data.Size)
	}
	return s
}

// earliest is the earliest snapshot of the chosen one's hour or day, where that is
// another.
func (c Choice) earliest(length time.Duration) (first audit.Snapshot, ok bool) {
	chosen := c.Chosen.Snapshot
	for _, x := range c.Observation.Listing.Value.Snapshots {
		if x.Meta == nil || x.Taken.IsZero() || !x.Taken.Truncate(length).Equal(chosen.Taken.Truncate(length)) || !x.Taken.Before(chosen.Taken) {
			continue
		}
		if !ok || x.Taken.Before(first.Taken) {
			first, ok = x, true
		}
	}
	return first, ok
}

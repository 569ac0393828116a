package rules

import (
	"slices"
	"time"

	"backstop/audit"
)

// contents says what the snapshots of the healthy store hold, the oldest first; nil
// was not opened.
func contents(all ...*audit.Content) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Verification = audit.Verification{Asked: "all", Remembers: true}
		for i, c := range all {
			if c != nil {
				e := examinedAs(o.Listing.Value.Snapshots[i], audit.Intact, audit.Parsed)
				e.Content = c
				o.Verification.Snapshots = append(o.Verification.Snapshots, e)
			}
		}
	}
}

// holds is a content of so many keys of Kubernetes, at a revision.
func holds(revision, keys int64, members ...string) *audit.Content {
	if len(members) == 0 {
		members = []string{"a", "b", "c"}
	}
	return &audit.Content{Revision: revision, Keys: keys, KubernetesKeys: keys, Members: members}
}

// of divides the keys of a content.
func (r resources) of(revision int64) *audit.Content {
	c := holds(revision, 0)
	for name, n := range r {
		c.Resources = append(c.Resources, audit.ResourceCount{Name: name, Keys: n})
		c.Keys += n
	}
	slices.SortFunc(c.Resources, func(a, b audit.ResourceCount) int { return int(b.Keys - a.Keys) })
	return c
}

type resources map[string]int64

// countOf makes a limit of a number.
func numberLimit(name string, v *int64) limit {
	return limit{name, func(n int) { *v += int64(n) }}
}

// etcdIs gives the store another etcd's name.
func etcdIs(name string) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Store.Etcd = name }
}

// second is the time of the snapshot with this index, of the healthy store's seven.
func snapshotAt(i int) time.Time { return noon.Add(-95*time.Minute + time.Duration(i)*15*time.Minute) }

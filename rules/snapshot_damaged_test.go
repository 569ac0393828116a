package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// examinedAs gives what was found in a snapshot of the healthy store.
func examinedAs(s audit.Snapshot, c audit.Condition, d audit.Depth) audit.Examined {
	e := audit.Examined{Name: s.Name, Key: s.Data.Key, ETag: s.Data.ETag, Size: s.Data.Size, VersionID: "v-data", Depth: d, At: noon.Add(-time.Minute), Condition: c}
	switch c {
	case audit.Damaged:
		e.Cause, e.Reason = "length", "its meta page counts 30 pages of 4096 bytes, and the gzip data ends with the length 100"
	case audit.Unverified:
		e.Depth = audit.Listed
		e.Cause, e.Reason = "too-big", "it needs more memory than it may have (1024 MiB)"
	case audit.Intact, audit.Restorable:
		e.Content = &audit.Content{Revision: 1000, Keys: 85, KubernetesKeys: 85, Members: []string{"a", "b", "c"},
			Resources: []audit.ResourceCount{{Name: "pods", Keys: 50}, {Name: "secrets", Keys: 35}}}
	}
	return e
}

// headIs is what the first and last bytes of the newest snapshot tell.
func headIs(c audit.Condition) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		all := o.Listing.Value.Snapshots
		o.Head = audit.Is(examinedAs(all[len(all)-1], c, audit.Headed))
	}
}

// verified says what was found in the snapshots of the healthy store, the oldest
// first; those for which nothing is said were not opened.
func verified(found ...audit.Condition) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Verification = audit.Verification{Asked: "all", Remembers: true}
		for i, c := range found {
			if c != "" {
				o.Verification.Snapshots = append(o.Verification.Snapshots, examinedAs(o.Listing.Value.Snapshots[i], c, audit.Parsed))
			}
		}
	}
}

// of changes what was found in the snapshots.
func each(change func(i int, e *audit.Examined)) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		for i := range o.Verification.Snapshots {
			change(i, &o.Verification.Snapshots[i])
		}
	}
}

func remembered(_ int, e *audit.Examined) { e.Remembered = true }

// smallNewest makes the data of the newest snapshot this small.
func smallNewest(size int64) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		all := o.Listing.Value.Snapshots
		all[len(all)-1].Data.Size = size
	}
}

var snapshotDamagedSuite = suite{limits: []limit{bytesLimit("smallestSnapshotBytes", &smallestSnapshotBytes)}, cases: cases{
	"the newest, by its ends": {is: "speaks", seen: headIs(audit.Damaged),
		want: []string{"critical: the newest snapshot, 2026-11-30T11:55:00Z-000001, cannot be restored: its meta page counts 30 pages"},
		says: []string{"its first and last bytes were read at 2026-11-30 11:59:00Z", "Do NOT restore it", "none was read to its end", "backstop verify"}},
	"the newest, read to its end": {is: "speaks", seen: all(headIs(audit.Plausible), verified("", "", "", "", audit.Restorable, audit.Intact, audit.Damaged)),
		want: []string{"critical: the newest snapshot, 2026-11-30T11:55:00Z-000001"},
		says: []string{"it was read to its end", "would restore is 2026-11-30T11:40:00Z-000001, revision 1000, 85 keys"}},
	"older ones": {is: "speaks", seen: all(headIs(audit.Plausible), verified(audit.Damaged, "", audit.Damaged, audit.Intact)),
		want: []string{"warning: 2 snapshots of this store, not the newest, cannot be restored; of 2026-11-30T10:55:00Z-000001: its meta page"},
		says: []string{"2026-11-30T10:25:00Z-000001, 2026-11-30T10:55:00Z-000001", "would restore is 2026-11-30T11:10:00Z-000001"}},
	"both": {is: "speaks", seen: verified(audit.Damaged, "", "", "", "", "", audit.Damaged), want: []string{"critical: the newest", "warning: 1 snapshot"}},
	"remembered": {is: "speaks", seen: all(verified(audit.Damaged), each(remembered)),
		want: []string{"warning: 1 snapshot"}, says: []string{"by an earlier run with the same ledger"}},

	"nothing is wrong with the ends":   {is: "silent", seen: headIs(audit.Plausible)},
	"all are intact":                   {is: "silent", seen: all(headIs(audit.Plausible), verified(audit.Intact, audit.Restorable, audit.Intact))},
	"unverified is not damaged":        {is: "silent", seen: all(headIs(audit.Unverified), verified(audit.Unverified))},
	"none is there":                    {is: "silent", seen: noSnapshots},
	"another object lies there by now": {is: "silent", seen: all(verified(audit.Damaged), each(func(_ int, e *audit.Examined) { e.ETag = "other" }))},
	"the other one is half":            {is: "silent", seen: all(verified(audit.Damaged), func(o *audit.Observation) { o.Listing.Value.Snapshots[0].Meta = nil })},

	"too small to be one": {is: "boundary", seen: all(smallNewest(255), headIs(audit.Damaged))},
	"just large enough":   {is: "boundary", seen: all(smallNewest(256), headIs(audit.Damaged)), want: []string{"critical: the newest"}},

	"its ends were not seen": {is: "blind", seen: unseen(audit.FactHead)},
	"no listing":             {is: "blind", seen: all(headIs(audit.Damaged), unseen(audit.FactListing))},
}}

func TestSnapshotDamaged(t *testing.T) { snapshotDamagedSuite.cases.run(t, snapshotDamaged) }

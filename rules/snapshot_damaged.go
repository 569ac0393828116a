package rules

import (
	"time"

	"backstop/audit"
)

var snapshotDamaged = audit.Rule{
	ID:         "snapshot/damaged",
	Title:      "a snapshot is damaged, or no snapshot at all",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	Needs:      []audit.FactName{audit.FactListing, audit.FactHead},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		last, _, _, _ := newest(o, now)
		var older []audit.Examined
		var found []audit.Finding
		for _, e := range damaged(o) {
			if e.Name != last.Name {
				older = append(older, e)
				continue
			}
			f := audit.Found(audit.Critical, "the newest snapshot, %s, cannot be restored: %s", e.Name, e.Reason).
				About(e.Key).
				Saw(e.Cause+": "+e.Reason, "a snapshot as etcd wrote it").
				Because("%s", howRead(e)).
				Todo("Do NOT restore it: etcd-manager stops the live cluster first, and then fails, again and again.",
					"Save a snapshot by hand now (etcdctl snapshot save), check it with `backstop verify FILE`, and copy it away.",
					"Look at what lies between etcd and the store: the disk of etcd-manager's temporary file on the leader, memory, a proxy or gateway; `backstop verify "+o.Store.URL+"/"+e.Name+"` says what is wrong and where.")
			f.VersionID = e.VersionID
			found = append(found, withLastGood(f, o, now))
		}
		if len(older) > 0 {
			var names []string
			for _, e := range older {
				names = append(names, e.Name)
			}
			first := older[len(older)-1]
			f := audit.Found(audit.Warning, "%s of this store, not the newest, cannot be restored; of %s: %s", plural(len(older), "snapshot"), first.Name, first.Reason).
				About(first.Key).
				Saw(few(names), "snapshots as etcd wrote them").
				Because("%s", howRead(first)).
				Todo("Do NOT restore one of them: etcd-manager stops the live cluster first.",
					"Do NOT delete others of the same time before these are understood; if several are damaged in one way, look for what they went through.")
			f.VersionID = first.VersionID
			found = append(found, withLastGood(f, o, now))
		}
		return found
	},
}

// damaged gives the complete snapshots that were found to be damaged, in the order
// of their names. Those that are too small are left to snapshot/empty-object.
func damaged(o *audit.Observation) []audit.Examined {
	var all []audit.Examined
	for _, s := range o.Listing.Value.Snapshots {
		if !s.Complete() || s.Taken.IsZero() || s.Data.Size < smallestSnapshotBytes {
			continue
		}
		if e, _ := o.Of(s); e.Condition == audit.Damaged {
			all = append(all, e)
		}
	}
	return all
}

// howRead says how deep a snapshot was looked into, and when.
func howRead(e audit.Examined) string {
	what := "it was read to its end at " + stamp(e.At)
	if e.Depth == audit.Headed {
		what = "its first and last bytes were read at " + stamp(e.At)
	}
	if e.Remembered {
		what += ", by an earlier run with the same ledger"
	}
	return what
}

// withLastGood names the newest snapshot that was read and would restore.
func withLastGood(f audit.Finding, o *audit.Observation, now time.Time) audit.Finding {
	if e, _, ok := o.NewestRestorable(now); ok {
		return f.Because("the newest that was read to its end and would restore is %s, revision %d, %s", e.Name, e.Content.Revision, plural(int(e.Content.Keys), "key"))
	}
	return f.Because("none was read to its end that would restore; `backstop audit --verify newest` and `backstop verify` read them")
}

package rules

import (
	"fmt"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
)

var lifecycleSplitsPair = audit.Rule{
	ID:         "lifecycle/splits-pair",
	Title:      "a lifecycle rule treats the two halves of a snapshot differently",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactLifecycle, audit.FactListing, audit.FactVersioning},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		k, ok := keepingOf(o, now)
		if !ok {
			return nil
		}
		var first split
		n := 0
		for _, s := range o.Listing.Value.Snapshots {
			d, ok := k.splits(s)
			if !ok || d.event.At.Sub(now) > p.HorizonWarning {
				continue
			}
			if n == 0 || d.event.At.Before(first.event.At) {
				first = d
			}
			n++
		}
		if n == 0 {
			return nil
		}
		return []audit.Finding{splitFound(first, n, now)}
	},
}

// A split is the first event that takes one half of a snapshot alone.
type split struct {
	event  lifecycle.Event
	object audit.Object
	data   bool // it takes the data, and leaves the meta file
}

// splits tells whether the halves of a snapshot fare differently. They are taken
// to be of one age, so that two that were written on two sides of midnight do not
// count.
func (k keeping) splits(s audit.Snapshot) (split, bool) {
	if !s.Complete() {
		return split{}, false
	}
	data, meta := *s.Data, *s.Meta
	data.LastModified, meta.LastModified = s.Stored(), s.Stored()
	d, dataGoes := k.taken(data)
	m, metaGoes := k.taken(meta)
	switch {
	case !dataGoes && !metaGoes:
		return split{}, false
	case dataGoes && metaGoes && d.At.Equal(m.At) && removes(d) == removes(m):
		return split{}, false
	case dataGoes && (!metaGoes || !m.At.Before(d.At)):
		return split{d, *s.Data, true}, true
	}
	return split{m, *s.Meta, false}, true
}

func splitFound(d split, n int, now time.Time) audit.Finding {
	what, left, then := "the data (etcd.backup.gz)", "its meta file", "etcd-manager goes on listing it, and finds out that the data is gone only when it restores: after it has stopped the live cluster"
	if !d.data {
		what, left, then = "the meta file (_etcd_backup.meta)", "the data", "etcd-manager no longer sees the snapshot, and never cleans the data up"
	}
	return audit.Found(audit.Warning, "lifecycle rule %q %s %s of a snapshot %s and leaves %s as it is: %s. It concerns %s",
		d.event.Rule, does(d.event), what, dated(d.event, now), left, then, plural(n, "snapshot")).
		About(d.object.Key).
		Saw(fmt.Sprintf("%d bytes of the data or of the meta file decide, or a class, or S3's default for small objects", d.object.Size), "both halves deleted, hidden or archived together").
		Todo("Do NOT queue a restore of a snapshot before both of its objects have been read.",
			fmt.Sprintf("Take the size bounds out of rule %q. A transition to an archive class splits every snapshot with data of 128 KiB or more, because S3 does not move the small meta file: let snapshots expire together, and archive copies in a bucket of their own.", d.event.Rule))
}

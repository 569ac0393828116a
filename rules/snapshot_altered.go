package rules

import (
	"strconv"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// An object that S3 dates more than alteredLate after the name of its snapshot,
// between neighbours that it does not, was written again. Two that are late by
// the same amount, give or take sameClock, were written by one slow clock.
var (
	alteredLate = time.Hour
	sameClock   = 10 * time.Minute
)

var snapshotAltered = audit.Rule{
	ID:         "snapshot/altered",
	Title:      "a snapshot was written again, or its meta file belongs to another",
	Severities: onlyCritical,
	Needs:      []audit.FactName{audit.FactListing, audit.FactNewestMeta, audit.FactRestoreMeta},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		var found []audit.Finding
		// What copies a store to a replica or an archive may be late with any
		// object.
		if late := writtenAgain(o.Listing.Value.Snapshots); len(late) > 0 && p.RoleOf(o) == audit.Live {
			var names []string
			for _, s := range late {
				names = append(names, s.Name)
			}
			first := late[0]
			found = append(found, audit.Found(audit.Critical,
				"%s written again at %s, %s after the time in the name; those before and after it were not. etcd-manager writes a snapshot once", written(late), stamp(lastWritten(first)), span(lateness(first))).
				About(o.Store.Key(first.Name)).
				Saw(few(names), "each object written once, within "+span(alteredLate)+" of the name").
				Todo("Do NOT restore it before you know what it holds: download it, and compare it with `etcdutl snapshot status` of its neighbours.",
					"Find out who wrote it: CloudTrail's data events, or the versions of the object where the bucket is versioned. Somebody who can overwrite snapshots can replace them.",
					"If you copied it over itself, as to thaw it or to encrypt it anew, nothing is wrong: ignore this rule for this store until the snapshot is gone."))
		}
		for _, doc := range []audit.Fact[audit.Document]{o.NewestMeta, o.RestoreMeta} {
			if f, ok := foreignMeta(o, doc); ok && (len(found) == 0 || found[len(found)-1].Key != f.Key) {
				found = append(found, f)
			}
		}
		return found
	},
}

// writtenAgain gives the snapshots of which an object is late for its name though
// its neighbours' are not.
func writtenAgain(all []audit.Snapshot) []audit.Snapshot {
	var dated []audit.Snapshot
	for _, s := range all {
		if !s.Taken.IsZero() && !s.Stored().IsZero() {
			dated = append(dated, s)
		}
	}
	var found []audit.Snapshot
	for i, s := range dated {
		if i == 0 || i == len(dated)-1 || lateness(s) <= alteredLate || lateness(dated[i-1]) > alteredLate || lateness(dated[i+1]) > alteredLate {
			continue
		}
		alone := true
		for j, other := range dated {
			if j != i && lateness(other) > alteredLate && (lateness(other)-lateness(s)).Abs() <= sameClock {
				alone = false
			}
		}
		if alone {
			found = append(found, s)
		}
	}
	return found
}

// lateness is how long after its name the later half of a snapshot was written.
func lateness(s audit.Snapshot) time.Duration { return lastWritten(s).Sub(s.Taken) }

func lastWritten(s audit.Snapshot) time.Time {
	last := s.Stored()
	for _, half := range []*audit.Object{s.Data, s.Meta} {
		if half != nil && half.LastModified.After(last) {
			last = half.LastModified
		}
	}
	return last
}

func written(late []audit.Snapshot) string {
	if len(late) == 1 {
		return late[0].Name + " was"
	}
	return plural(len(late), "snapshot") + " were, the first of them " + late[0].Name + ","
}

// foreignMeta finds a meta file whose time is not that of its directory's name:
// etcd-manager takes both from one clock reading.
func foreignMeta(o *audit.Observation, doc audit.Fact[audit.Document]) (audit.Finding, bool) {
	meta, err := etcdmanager.ParseMeta(doc.Value.Body)
	if err != nil || !doc.IsSet() || meta.Timestamp.IsZero() {
		return audit.Finding{}, false
	}
	for _, s := range o.Listing.Value.Snapshots {
		if s.Meta == nil || s.Meta.Key != doc.Value.Key || s.Taken.IsZero() || s.Taken.Unix() == meta.Timestamp.Unix() {
			continue
		}
		return audit.Found(audit.Critical,
			"the meta file of %s says that the snapshot was taken at %s, and the name says %s: the file belongs to another snapshot, or one of the two was written by hand", s.Name, unixTime(meta.Timestamp), stamp(s.Taken)).
			About(s.Meta.Key).
			Saw("timestamp "+strconv.FormatInt(meta.Timestamp.Unix(), 10), "timestamp "+strconv.FormatInt(s.Taken.Unix(), 10)).
			Todo("Do NOT restore it before you know what it holds: download the data, and look with `etcdutl snapshot status`.",
				"If the meta file was written by hand to make a snapshot restorable, correct its timestamp to the second that the name says.",
				"Else find out who writes to the store besides etcd-manager."), true
	}
	return audit.Finding{}, false
}

// unixTime writes a time that may be one that no calendar holds.
func unixTime(t time.Time) string {
	if y := t.Year(); y < 1 || y > 9999 {
		return "second " + strconv.FormatInt(t.Unix(), 10) + " of Unix time"
	}
	return stamp(t)
}

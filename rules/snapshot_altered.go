package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/recovery"
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
	Needs:      []audit.FactName{audit.FactListing, audit.FactNewestMeta, audit.FactRestoreMeta, audit.FactVersions, audit.FactEncryption},
	Supersedes: []audit.Superseded{{Rule: "snapshot/damaged", SameKey: true}},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		var found []audit.Finding
		replaced, equal := rewrittenObjects(o, p)
		for _, r := range replaced {
			found = append(found, overwritten(o, r))
		}
		// What copies a store to a replica or an archive may be late with any
		// object.
		if late := except(writtenAgain(o.Listing.Value.Snapshots), append(replaced, equal...)); len(late) > 0 && p.RoleOf(o) == audit.Live {
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
		for _, f := range otherThanFirst(o, p) {
			if !slices.ContainsFunc(found, func(g audit.Finding) bool { return g.Key == f.Key }) {
				found = append(found, f)
			}
		}
		for _, doc := range []audit.Fact[audit.Document]{o.NewestMeta, o.RestoreMeta} {
			f, ok := foreignMeta(o, doc)
			if ok && !slices.ContainsFunc(found, func(g audit.Finding) bool { return g.Key == f.Key }) {
				found = append(found, f)
			}
		}
		return found
	},
}

// otherThanFirst speaks of the data of snapshots that are not what the ledger saw
// first. A digest that is none, or that a key of KMS makes, says nothing.
func otherThanFirst(o *audit.Observation, p audit.Policy) []audit.Finding {
	if o.Memory == nil {
		return nil
	}
	digests := p.RoleOf(o) == audit.Live && o.Bucket.Encryption.Seen() && !strings.HasPrefix(o.Bucket.Encryption.Value, "aws:kms")
	var found []audit.Finding
	for _, a := range o.Memory.Altered {
		if a.First.Size == a.Now.Size && (!digests || strings.Contains(a.First.ETag+a.Now.ETag, "-")) {
			continue
		}
		found = append(found, audit.Found(audit.Critical, "%s is not what it was when it was first seen, at %s: it was overwritten with another content. etcd-manager writes a snapshot once",
			strings.TrimPrefix(a.Key, o.Store.Key("")), stamp(a.Seen)).
			About(a.Key).
			Saw(fmt.Sprintf("%d bytes, ETag %s, written %s", a.Now.Size, orNone(a.Now.ETag), stamp(a.Now.LastModified)),
				fmt.Sprintf("%d bytes, ETag %s, written %s", a.First.Size, orNone(a.First.ETag), stamp(a.First.LastModified))).
			Todo("Do NOT restore it before you know what it holds: `backstop verify "+o.Store.URL+strings.TrimPrefix(a.Key, o.Store.Prefix)+"`, and compare it with its neighbours.",
				"Find out who wrote it: CloudTrail's data events. Somebody who can overwrite snapshots can replace them.",
				"If you copied it over itself, as to encrypt it anew, nothing is wrong: ignore this rule for this store until the snapshot is gone."))
	}
	return found
}

// A retried upload leaves versions of one content, written within retriedWithin.
var retriedWithin = audit.UploadTime

// rewrittenObjects divides the objects that have several versions into those of
// which the content was replaced, and those that were written again as they were.
func rewrittenObjects(o *audit.Observation, p audit.Policy) (replaced, equal []audit.Rewritten) {
	digests := p.RoleOf(o) == audit.Live && o.Bucket.Encryption.Seen() && !strings.HasPrefix(o.Bucket.Encryption.Value, "aws:kms")
	for _, r := range o.Versions.Value.Rewritten {
		same, differs := true, false
		for i, v := range r.Versions[1:] {
			newer := r.Versions[i]
			same = same && v.Size == newer.Size && v.ETag == newer.ETag && v.ETag != ""
			differs = differs || v.Size != newer.Size || digests && otherDigest(newer, v)
		}
		switch {
		case differs:
			replaced = append(replaced, r)
		case same:
			equal = append(equal, r)
		}
	}
	return replaced, equal
}

// otherDigest reports whether the ETags of two versions of one size show that
// their content differs. They are digests of the content only where an object was
// uploaded in one piece and is not encrypted with a key of KMS.
func otherDigest(newer, older audit.Version) bool {
	md5 := func(v audit.Version) bool { return v.ETag != "" && !strings.Contains(v.ETag, "-") }
	return md5(newer) && md5(older) && newer.ETag != older.ETag && newer.LastModified.Sub(older.LastModified) > retriedWithin
}

func overwritten(o *audit.Observation, r audit.Rewritten) audit.Finding {
	last, first := r.Versions[0], r.Versions[len(r.Versions)-1]
	name := strings.TrimPrefix(r.Key, o.Store.Key(""))
	f := audit.Found(audit.Critical,
		"%s was overwritten at %s with another content: it has %s, the first of %s. etcd-manager writes a snapshot once", name, stamp(last.LastModified), plural(len(r.Versions), "version"), stamp(first.LastModified)).
		About(r.Key).
		Saw(fmt.Sprintf("%d bytes now, %d bytes at first", last.Size, first.Size), "one version, or versions of one content").
		Todo("Do NOT restore it before you know what it holds. The first version is what etcd-manager wrote: aws s3api get-object --bucket "+o.Store.Bucket+" --key "+recovery.Quote(r.Key)+" --version-id "+recovery.Quote(first.VersionID)+" first.gz",
			"Compare the two with `etcdutl snapshot status`, and find out who wrote the second: CloudTrail's data events. Somebody who can overwrite snapshots can replace them.",
			"If two clusters write to this store, each overwrites the other's: see control/shared-store.")
	f.VersionID = last.VersionID
	return f
}

// except leaves out the snapshots of which an object is among those that were
// rewritten: their versions say more than their dates.
func except(late []audit.Snapshot, known []audit.Rewritten) []audit.Snapshot {
	return slices.DeleteFunc(late, func(s audit.Snapshot) bool {
		return slices.ContainsFunc(known, func(r audit.Rewritten) bool {
			return s.Data != nil && s.Data.Key == r.Key || s.Meta != nil && s.Meta.Key == r.Key
		})
	})
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

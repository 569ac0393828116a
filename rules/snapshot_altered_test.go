package rules

import (
	"fmt"
	"testing"
	"time"

	"backstop/audit"
)

// dataLate is a snapshot of which S3 dates the data alone so long after its name.
func dataLate(age, late time.Duration) audit.Snapshot {
	s := taken(age, 50_000)
	s.Data.LastModified = s.Taken.Add(late)
	return s
}

func metaLate(age, late time.Duration) audit.Snapshot {
	s := taken(age, 50_000)
	s.Meta.LastModified = s.Taken.Add(late)
	return s
}

// among puts snapshots between two that are as they should be.
func among(list ...audit.Snapshot) func(o *audit.Observation) {
	list = append([]audit.Snapshot{taken(40*audit.Day, 50_000)}, list...)
	return snapshotsAre(append(list, taken(5*time.Minute, 50_000))...)
}

// metaSays gives the newest snapshot's meta another time.
func metaSays(unix int64) func(o *audit.Observation) {
	return metaIs(fmt.Sprintf(`{"etcdVersion":"3.5.30","timestamp":"%d"}`, unix))
}

// newestTaken is the second in the name of the healthy store's newest snapshot.
var newestTaken = noon.Add(-5 * time.Minute)

// restoring queues a restore of the snapshot before the newest, and reads its
// meta as of another second.
func restoring(off int64) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		s := o.Listing.Value.Snapshots[len(o.Listing.Value.Snapshots)-2]
		queued(s.Name, time.Minute)(o)
		d := meta(o.Store, s, 3, "3.5.30")
		d.Body = fmt.Appendf(nil, `{"etcdVersion":"3.5.30","timestamp":"%d"}`, s.Taken.Unix()+off)
		o.RestoreMeta = audit.Is(d)
	}
}

// A rewrite is one version of an object: how long ago it was written, its size,
// and its ETag.
type rewrite struct {
	ago  time.Duration
	size int64
	etag string
}

// versionsOfData lets the data of a snapshot of ten days have these versions, the
// newest first.
func versionsOfData(list ...rewrite) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		s := dataLate(10*audit.Day, 0)
		s.Data.LastModified = noon.Add(-list[0].ago)
		among(s)(o)
		r := audit.Rewritten{Key: s.Data.Key}
		for i, v := range list {
			r.Versions = append(r.Versions, audit.Version{VersionID: fmt.Sprintf("v%d", len(list)-i), Latest: i == 0,
				Object: audit.Object{Key: s.Data.Key, Size: v.size, ETag: v.etag, LastModified: noon.Add(-v.ago)}})
		}
		o.Versions.Value.Rewritten = append(o.Versions.Value.Rewritten, r)
	}
}

func encryptedBy(algorithm string) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Bucket.Encryption = audit.Is(algorithm) }
}

// Two versions of other contents, and of one.
var (
	otherSize   = versionsOfData(rewrite{9 * audit.Day, 40_000, "b"}, rewrite{10 * audit.Day, 50_000, "a"})
	otherDigits = versionsOfData(rewrite{9 * audit.Day, 50_000, "b"}, rewrite{10 * audit.Day, 50_000, "a"})
	oneContent  = versionsOfData(rewrite{9 * audit.Day, 50_000, "a"}, rewrite{10 * audit.Day, 50_000, "a"})
)

func asReplica(p *audit.Policy) { p.Role = audit.Replica }

// altered says what the ledger saw first of the oldest snapshot's data.
func alteredFrom(change func(first, now *audit.Object)) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		now := o.Listing.Value.Snapshots[0].Data
		now.ETag = "0123456789abcdef0123456789abcdef"
		first := *now
		change(&first, now)
		o.Memory = &audit.Memory{Since: noon.Add(-audit.Day), Last: noon.Add(-time.Hour),
			Altered: []audit.Altered{{Key: now.Key, First: first, Seen: noon.Add(-2 * time.Hour), Now: *now}}}
	}
}

func firstSize(first, _ *audit.Object)  { first.Size = 49_999 }
func otherETag(first, _ *audit.Object)  { first.ETag = "ff23456789abcdef0123456789abcdef" }
func otherParts(first, _ *audit.Object) { first.ETag = "ff23456789abcdef0123456789abcdef-3" }

var snapshotAlteredSuite = suite{limits: []limit{timeLimit("alteredLate", &alteredLate), timeLimit("sameClock", &sameClock), timeLimit("retriedWithin", &retriedWithin)}, cases: cases{
	"the ledger saw another size": {is: "speaks", seen: alteredFrom(firstSize),
		want: []string{"critical: 2026-11-30T10:25:00Z-000001/etcd.backup.gz is not what it was when it was first seen, at 2026-11-30 10:00:00Z"},
		says: []string{"49999 bytes", "50000 bytes", "backstop verify s3://kops/prod.example.com/backups/etcd/main/2026-11-30T10:25:00Z-000001/etcd.backup.gz"}},
	"the ledger saw another digest": {is: "speaks", seen: alteredFrom(otherETag), want: []string{"critical: "}},
	"a digest by a key of KMS":      {is: "silent", seen: all(alteredFrom(otherETag), func(o *audit.Observation) { o.Bucket.Encryption = audit.Is("aws:kms") })},
	"a digest of parts":             {is: "silent", seen: alteredFrom(otherParts)},
	"a digest in a replica":         {is: "silent", seen: alteredFrom(otherETag), policy: func(p *audit.Policy) { p.Role = audit.Replica }},
	"the encryption was not seen":   {is: "blind", seen: all(alteredFrom(otherETag), unseen(audit.FactEncryption))},

	"it has two versions of other sizes": {is: "speaks", seen: otherSize,
		want: []string{"critical: 2026-11-20T12:00:00Z-000001/etcd.backup.gz was overwritten at 2026-11-21 12:00:00Z with another content: it has 2 versions, the first of 2026-11-20 12:00:00Z"},
		says: []string{"40000 bytes now, 50000 bytes at first", "--version-id v1", "control/shared-store"}},
	"it has two versions of other digests": {is: "speaks", seen: otherDigits, want: []string{"critical: was overwritten at 2026-11-21 12:00:00Z"}},
	"one of three differs": {is: "speaks", seen: versionsOfData(rewrite{8 * audit.Day, 50_000, "a"}, rewrite{9 * audit.Day, 40_000, "b"}, rewrite{10 * audit.Day, 50_000, "a"}),
		want: []string{"critical: it has 3 versions"}},
	"two objects have": {is: "speaks", seen: all(otherSize, func(o *audit.Observation) {
		r := o.Versions.Value.Rewritten[0]
		r.Key = o.Listing.Value.Snapshots[0].Data.Key
		o.Versions.Value.Rewritten = append(o.Versions.Value.Rewritten, r)
	}), want: []string{"critical: 2026-11-20T12:00:00Z-000001/etcd.backup.gz was overwritten", "critical: 2026-10-21T12:00:00Z-000001/etcd.backup.gz was overwritten"}},
	"in a replica, of another size": {is: "speaks", seen: otherSize, policy: asReplica, want: []string{"critical: was overwritten"}},

	"written again as it was":             {is: "silent", seen: oneContent},
	"in a replica, of another digest":     {is: "silent", seen: otherDigits, policy: asReplica},
	"under a key of KMS digests are none": {is: "boundary", seen: all(otherDigits, encryptedBy("aws:kms:dsse")), want: []string{"critical: was written again"}},
	"sizes are sizes there too":           {is: "boundary", seen: all(otherSize, encryptedBy("aws:kms")), want: []string{"critical: was overwritten"}},
	"a copy in parts has another digest":  {is: "boundary", seen: versionsOfData(rewrite{9 * audit.Day, 50_000, "b-2"}, rewrite{10 * audit.Day, 50_000, "a"}), want: []string{"critical: was written again"}},
	"a digest that is not told":           {is: "boundary", seen: versionsOfData(rewrite{9 * audit.Day, 50_000, ""}, rewrite{10 * audit.Day, 50_000, "a"}), want: []string{"critical: was written again"}},
	"an upload that is tried again": {is: "boundary", seen: versionsOfData(
		rewrite{10*audit.Day - 10*time.Minute, 50_000, "b"}, rewrite{10 * audit.Day, 50_000, "a"})},
	"and a second later": {is: "boundary", seen: versionsOfData(
		rewrite{10*audit.Day - 10*time.Minute - time.Second, 50_000, "b"}, rewrite{10 * audit.Day, 50_000, "a"}), want: []string{"critical: was overwritten"}},
	"the versions were not seen":                        {is: "blind", seen: all(otherSize, unseen(audit.FactVersions)), want: []string{"critical: was written again"}},
	"default encryption was not seen":                   {is: "blind", seen: all(otherDigits, unseen(audit.FactEncryption)), want: []string{"critical: was written again"}},
	"default encryption was not seen, and sizes differ": {is: "blind", seen: all(otherSize, unseen(audit.FactEncryption)), want: []string{"critical: was overwritten"}},

	"the data was written again": {is: "speaks", seen: among(dataLate(30*audit.Day, 20*audit.Day)),
		want: []string{"critical: 2026-10-31T12:00:00Z-000001 was written again at 2026-11-20 12:00:00Z, 20d after the time in the name; those before and after it were not"},
		says: []string{"Do NOT restore it", "CloudTrail", "copied it over itself"}},
	"the meta was written again": {is: "speaks", seen: among(metaLate(30*audit.Day, 2*time.Hour)), want: []string{"critical: was written again at 2026-10-31 14:00:00Z, 2h after"}},
	"both were":                  {is: "speaks", seen: among(storedLate(30*audit.Day, 2*time.Hour)), want: []string{"critical: was written again"}},
	"a meta without data was":    {is: "speaks", seen: among(withoutData(metaLate(30*audit.Day, 2*time.Hour))), want: []string{"critical: was written again"}},
	"two, far from each other": {is: "speaks", seen: among(dataLate(30*audit.Day, 20*audit.Day), taken(20*audit.Day, 50_000), dataLate(10*audit.Day, audit.Day)),
		want: []string{"critical: 2 snapshots were, the first of them 2026-10-31T12:00:00Z-000001, written again"}, says: []string{"2026-11-20T12:00:00Z-000001"}},
	"the newest meta is of another time": {is: "speaks", seen: metaSays(newestTaken.Unix() - 900),
		want: []string{"critical: the meta file of 2026-11-30T11:55:00Z-000001 says that the snapshot was taken at 2026-11-30 11:40:00Z, and the name says 2026-11-30 11:55:00Z"},
		says: []string{"timestamp 1796039700", "timestamp 1796038800", "_etcd_backup.meta"}},
	"a time that no calendar has":        {is: "speaks", seen: metaSays(1 << 60), want: []string{"critical: was taken at second 1152921504606846976 of Unix time"}},
	"the meta of what is to be restored": {is: "speaks", seen: restoring(1), want: []string{"critical: the meta file of 2026-11-30T11:40:00Z-000001 says"}},

	"an hour may pass":               {is: "boundary", seen: among(dataLate(30*audit.Day, time.Hour))},
	"and no second more":             {is: "boundary", seen: among(dataLate(30*audit.Day, time.Hour+time.Second)), want: []string{"critical: was written again"}},
	"a neighbour that is as late":    {is: "boundary", seen: among(dataLate(30*audit.Day, 20*audit.Day), dataLate(20*audit.Day, time.Hour+time.Second))},
	"the one after may not be late":  {is: "boundary", seen: among(dataLate(30*audit.Day, 20*audit.Day), dataLate(20*audit.Day, time.Hour)), want: []string{"critical: 2026-10-31T12:00:00Z-000001 was written again"}},
	"the one before may not be late": {is: "boundary", seen: among(dataLate(30*audit.Day, time.Hour), dataLate(20*audit.Day, 10*audit.Day)), want: []string{"critical: 2026-11-10T12:00:00Z-000001 was written again"}},
	"one slow clock among three":     {is: "boundary", seen: among(storedLate(30*audit.Day, 3*time.Hour), taken(20*audit.Day, 50_000), storedLate(10*audit.Day, 3*time.Hour+10*time.Minute))},
	"amounts that differ by more":    {is: "boundary", seen: among(dataLate(30*audit.Day, 3*time.Hour), taken(20*audit.Day, 50_000), dataLate(10*audit.Day, 3*time.Hour+10*time.Minute+time.Second)), want: []string{"critical: 2 snapshots were"}},
	"a second off is another":        {is: "boundary", seen: metaSays(newestTaken.Unix() + 1), want: []string{"critical: the meta file"}},
	"the second itself":              {is: "boundary", seen: metaSays(newestTaken.Unix())},
	"no time is none":                {is: "boundary", seen: metaIs(`{"etcdVersion":"3.5.30"}`)},
	"the newest is to be restored": {is: "boundary", seen: func(o *audit.Observation) {
		metaSays(newestTaken.Unix() + 1)(o)
		o.RestoreMeta = o.NewestMeta
	}, want: []string{"critical: the meta file"}},

	"nothing is wrong":                {is: "silent"},
	"the newest has no neighbour":     {is: "silent", seen: snapshotsAre(taken(20*audit.Day, 50_000), dataLate(10*audit.Day, audit.Day))},
	"the oldest has no neighbour":     {is: "silent", seen: snapshotsAre(dataLate(20*audit.Day, audit.Day), taken(10*audit.Day, 50_000))},
	"a copied store":                  {is: "silent", seen: copiedStore},
	"a replica may be late":           {is: "silent", seen: among(dataLate(30*audit.Day, 20*audit.Day)), policy: func(p *audit.Policy) { p.Role = audit.Replica }},
	"a name that is no time":          {is: "silent", seen: all(among(dataLate(30*audit.Day, 20*audit.Day)), eachSnapshot(func(s *audit.Snapshot) { s.Taken = time.Time{} }))},
	"the meta does not parse":         {is: "silent", seen: metaIs("{")},
	"the restored meta fits its name": {is: "silent", seen: restoring(0)},
	"the clock is far ahead":          {is: "silent", seen: among(storedLate(30*audit.Day, -2*time.Hour))},

	"the listing was not seen":         {is: "blind", seen: all(among(dataLate(30*audit.Day, 20*audit.Day)), unseen(audit.FactListing))},
	"the newest meta was not seen":     {is: "blind", seen: all(metaSays(1), unseen(audit.FactNewestMeta))},
	"the meta to restore was not seen": {is: "blind", seen: all(restoring(1), unseen(audit.FactRestoreMeta))},
}}

func TestSnapshotAltered(t *testing.T) { snapshotAlteredSuite.cases.run(t, snapshotAltered) }

package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// Names of snapshots in the healthy store.
const (
	newestName = "2026-11-30T11:55:00Z-000001"
	earlier    = "2026-11-30T11:40:00Z-000001"
)

// restoreOf queues a restore of the newest snapshot, whose meta is as given.
func restoreOf(meta string) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		queued(newestName, time.Minute)(o)
		o.RestoreMeta = o.NewestMeta
		o.RestoreMeta.Value.Body = []byte(meta)
	}
}

var queueBadRestoreSuite = suite{limits: []limit{countLimit("oldestMounted", &oldestMounted), countLimit("newestMounted", &newestMounted)}, cases: cases{
	"no such backup": {is: "speaks", seen: queued("2026-11-30T11:55:00Z-000099", time.Hour),
		want: []string{`critical: the queued restore of "2026-11-30T11:55:00Z-000099" cannot succeed: there is no such backup in the store`},
		says: []string{"BEFORE it looks for the backup", "does so again every 10 to 20 s", "do NOT roll the control plane", "delete-command 2026-11-30T11:55:00Z-000099", "data-trashcan", "_command.json"}},
	"data and no meta": {is: "speaks", seen: all(snapshotsAre(withoutMeta(taken(time.Hour, 50_000)), taken(0, 50_000)), queued("2026-11-30T11:00:00Z-000001", 0)),
		want: []string{"critical: it has data and no meta file"}},
	"meta and no data": {is: "speaks", seen: all(snapshotsAre(withoutData(taken(time.Hour, 50_000)), taken(0, 50_000)), queued("2026-11-30T11:00:00Z-000001", 0)),
		want: []string{"critical: it has a meta file and no data"}},
	"a meta that does not parse": {is: "speaks", seen: restoreOf("{"), want: []string{"critical: its meta file does not parse (offset 1: expected a field name, found the end)"}},
	"etcd 2":                     {is: "speaks", seen: restoreOf(`{"etcdVersion":"2.2.1"}`), want: []string{"critical: it was taken by etcd 2.2.1: this version of etcd-manager does not support etcd v2"}},
	"no version":                 {is: "speaks", seen: restoreOf(`{}`), want: []string{"critical: names no etcd version"}},
	"a damaged one": {is: "speaks", seen: all(queued(newestName, time.Minute), headIs(audit.Damaged)),
		want: []string{"critical: cannot succeed: it is damaged (its meta page counts 30 pages"}, says: []string{"its first and last bytes were read"}},
	"one that is known to be damaged": {is: "speaks", seen: all(queued(earlier, time.Minute), verified("", "", "", "", "", audit.Damaged), each(remembered)),
		want: []string{"critical: it is damaged"}, says: []string{"by an earlier run with the same ledger"}},
	"two commands for nothing": {is: "speaks", seen: all(queued("a", time.Hour), queued("b", time.Minute)),
		want: []string{`critical: the queued restore of "a"`, `critical: the queued restore of "b"`}},
	"the second command names nothing": {is: "speaks", seen: all(restoreOf(`{"etcdVersion":"3.5.30"}`), queued("b", 0)),
		want: []string{`critical: the queued restore of "b" cannot succeed`}},
	"a command without a name": {is: "speaks", seen: queuedBody(`{"restoreBackup":{}}`, noon), want: []string{`critical: the queued restore of ""`}},

	"data that is archived": {is: "speaks", seen: all(restoreOf(`{"etcdVersion":"3.5.30"}`), eachSnapshot(func(s *audit.Snapshot) { s.Data.StorageClass = "GLACIER" })),
		want: []string{"critical: its data is archived in storage class GLACIER and cannot be read"}},
	"data that is archived deeply": {is: "speaks", seen: all(restoreOf(`{"etcdVersion":"3.5.30"}`), eachSnapshot(func(s *audit.Snapshot) { s.Data.StorageClass = "DEEP_ARCHIVE" })),
		want: []string{"critical: its data is archived in storage class DEEP_ARCHIVE"}},
	"one byte less than a snapshot": {is: "boundary", seen: all(restoreOf(`{"etcdVersion":"3.5.30"}`), eachSnapshot(func(s *audit.Snapshot) { s.Data.Size = 255 })),
		want: []string{"critical: its data has 255 bytes, which is less than any snapshot has"}},
	"exactly as many":                                           {is: "boundary", seen: all(restoreOf(`{"etcdVersion":"3.5.30"}`), eachSnapshot(func(s *audit.Snapshot) { s.Data.Size = 256 }))},
	"an archive that is read at once":                           {is: "boundary", seen: all(restoreOf(`{"etcdVersion":"3.5.30"}`), eachSnapshot(func(s *audit.Snapshot) { s.Data.StorageClass = "GLACIER_IR" }))},
	"a bad restore has no time of grace":                        {is: "boundary", seen: queued("a", 0), want: []string{"critical: cannot succeed"}},
	"the oldest etcd 3 has no programs under kops":              {is: "boundary", seen: restoreOf(`{"etcdVersion":"3.0.0"}`), want: []string{"critical: it was taken by etcd 3.0.0: etcd-manager restores it with etcd 3.1.12, and kops gives it the programs of 3.5 to 3.7 alone"}},
	"etcd 3.4 has none either":                                  {is: "boundary", seen: restoreOf(`{"etcdVersion":"3.4.13"}`), want: []string{"critical: kops gives it the programs of 3.5 to 3.7 alone"}},
	"nor has one that is to come":                               {is: "boundary", seen: restoreOf(`{"etcdVersion":"3.8.0"}`), want: []string{"critical: kops gives it the programs of 3.5 to 3.7 alone"}},
	"what the spec asks for is there now":                       {is: "boundary", seen: all(restoreOf(`{"etcdVersion":"3.4.13"}`), specIs(spec(3, "3.4.3"), birth))},
	"another minor version that kops has":                       {is: "boundary", seen: restoreOf(`{"etcdVersion":"3.7.0"}`)},
	"etcd 4 cannot":                                             {is: "boundary", seen: restoreOf(`{"etcdVersion":"4.0.0"}`), want: []string{"critical: etcd-manager restores etcd 3"}},
	"the meta is that of the first command's, not the second's": {is: "boundary", seen: all(queued(earlier, time.Hour), restoreOf(`{"etcdVersion":"2.2.1"}`), queued(newestName, 0)), want: []string{`critical: the queued restore of "` + earlier + `"`}},
	"a name must be the whole name":                             {is: "boundary", seen: queued("2026-11-30T11:55:00Z", time.Hour), want: []string{"critical: there is no such backup"}},

	"nothing is wrong":              {is: "silent"},
	"a good restore":                {is: "silent", seen: restoreOf(`{"etcdVersion":"3.5.30"}`)},
	"a command that does not parse": {is: "silent", seen: queuedBody("{", noon)},
	"a command that asks for none":  {is: "silent", seen: queuedBody("{}", noon)},

	"the spec was not seen, and etcd 3.4 may be there": {is: "blind", seen: all(restoreOf(`{"etcdVersion":"3.4.13"}`), unseen(audit.FactSpec))},
	"the spec was not seen, and it is etcd 2":          {is: "blind", seen: all(restoreOf(`{"etcdVersion":"2.2.1"}`), unseen(audit.FactSpec)), want: []string{"critical: does not support etcd v2"}},
	"the snapshots were not seen":                      {is: "blind", seen: all(queued("a", time.Hour), unseen(audit.FactListing))},
	"the queue was not seen":                           {is: "blind", seen: unseen(audit.FactQueue)},
	"the command was not seen": {is: "blind", seen: func(o *audit.Observation) {
		o.Queue = audit.Is([]audit.Command{{Body: denied[audit.Document]("s3:GetObject")}})
	}},
	"the meta was not seen": {is: "blind", seen: all(queued(newestName, time.Hour), unseen(audit.FactRestoreMeta))},
	"the meta was not seen, and there is no data": {is: "blind", seen: all(snapshotsAre(withoutData(taken(time.Hour, 50_000)), taken(0, 50_000)), queued("2026-11-30T11:00:00Z-000001", 0), unseen(audit.FactRestoreMeta)),
		want: []string{"critical: it has a meta file and no data"}},
}}

func TestQueueBadRestore(t *testing.T) { queueBadRestoreSuite.cases.run(t, queueBadRestore) }

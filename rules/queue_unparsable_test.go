package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

const unreadableCommand = "critical: a queued command cannot be read by etcd-manager: from the next change of leader on, no member becomes leader, and backups and repairs stop"

var queueUnparsableSuite = suite{cases: cases{
	"a command that is cut short": {is: "speaks", seen: queuedBody(`{"timestamp":`, noon.Add(-audit.Day)), want: []string{unreadableCommand},
		never: []string{"Do NOT delete the object"}, says: []string{"offset 13", "control/2026-11-29T12:00:00Z-000000/_command.json", "Delete the object"}},
	"a command that etcd-manager does not have": {is: "speaks", seen: queuedBody(`{"createNewCluster":{}}`, noon), want: []string{unreadableCommand}, says: []string{"expected the field timestamp or restoreBackup"}},
	"an empty object": {is: "speaks", seen: queuedBody("", noon), want: []string{unreadableCommand}},
	"an archived one": {is: "speaks", seen: func(o *audit.Observation) {
		queued(newestName, audit.Day)(o)
		archived(&o.Queue.Value[0].Body)
	}, want: []string{unreadableCommand}, says: []string{"storage class DEEP_ARCHIVE"}},
	"created is missing, and the command keeps the reset away": {is: "speaks", seen: all(loseCreated, queuedBody("{", noon)), want: []string{unreadableCommand},
		says: []string{"Do NOT delete the object before etcd-cluster-created is back", "Put etcd-cluster-created back, then delete the object"}},
	"two bad ones":              {is: "speaks", seen: all(queuedBody("{", noon), queuedBody("[", noon.Add(-time.Hour))), want: []string{unreadableCommand, unreadableCommand}},
	"a bad one among good ones": {is: "speaks", seen: all(queued(newestName, 0), queuedBody("{", noon.Add(-time.Hour)), queued(newestName, time.Minute)), want: []string{unreadableCommand}},

	"braces alone are a command":       {is: "boundary", seen: queuedBody("{}", noon)},
	"one byte after them is too much":  {is: "boundary", seen: queuedBody("{}x", noon), want: []string{unreadableCommand}},
	"white space after them is not":    {is: "boundary", seen: queuedBody("{}\n", noon)},
	"the other spelling is well known": {is: "boundary", seen: queuedBody(`{"restore_backup":{"cluster_spec":{"member_count":1}}}`, noon)},

	"nothing is wrong": {is: "silent"},
	"a good command":   {is: "silent", seen: queued(newestName, audit.Day)},

	"the queue was not seen": {is: "blind", seen: unseen(audit.FactQueue)},
	"the command was not seen": {is: "blind", seen: func(o *audit.Observation) {
		o.Queue = audit.Is([]audit.Command{{Body: denied[audit.Document]("s3:GetObject")}})
	}},
}}

func TestQueueUnparsable(t *testing.T) { queueUnparsableSuite.cases.run(t, queueUnparsable) }

package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

var queuePendingRestoreSuite = suite{ages: true, limits: []limit{timeLimit("restoreGrace", &restoreGrace)}, cases: cases{
	"forgotten for three days": {is: "speaks", seen: queued("2026-11-20T12:00:00Z-000007", 3*audit.Day),
		want:  []string{"critical: a restore of 2026-11-20T12:00:00Z-000007 has been queued for 3d. It runs when etcd-manager's leader next restarts, as in the next rolling update, however old it is: the live cluster is stopped, and set back by 10d, to 2026-11-20 12:00:00Z"},
		never: []string{"names no cluster spec"}, says: []string{"restart etcd-manager on the leader now", "delete-command 2026-11-20T12:00:00Z-000007", "Do NOT restart etcd-manager", "memberCount 3, etcdVersion 3.5.30", "_command.json", "queued 2026-11-27 12:00:00Z"}},
	"the cluster is armed, and must not be restarted yet": {is: "speaks", seen: all(loseBoth, queued(earlier, 3*audit.Day)), want: []string{"critical: a restore of " + earlier}, never: []string{"restart etcd-manager on the leader now"}},
	"two are forgotten":              {is: "speaks", seen: all(queued(earlier, 3*audit.Day), queued(newestName, 2*audit.Day)), want: []string{"critical: a restore of " + earlier, "critical: a restore of " + newestName}},
	"one is forgotten, one is new":   {is: "speaks", seen: all(queued(earlier, 3*audit.Day), queued(newestName, time.Minute)), want: []string{"critical: a restore of " + earlier}},
	"it names no time":               {is: "speaks", seen: queued("before-upgrade", audit.Day), want: []string{"critical: and set back to that snapshot"}},
	"it names a time yet to come":    {is: "speaks", seen: queued("2027-01-01T00:00:00Z-000001", audit.Day), want: []string{"critical: and set back to that snapshot"}},
	"it says nothing of the members": {is: "speaks", seen: queuedBody(`{"restoreBackup":{"backup":"x"}}`, noon.Add(-audit.Day)), want: []string{"critical: a restore of x"}, says: []string{"it names no cluster spec, for which etcd-manager refuses it"}, never: []string{"writes the spec anew"}},

	"half an hour is part of a restore":   {is: "boundary", seen: queued(newestName, 30*time.Minute)},
	"a second more is not":                {is: "boundary", seen: queued(newestName, 30*time.Minute+time.Second), want: []string{"critical: has been queued for 30m"}},
	"a snapshot of now sets back nothing": {is: "boundary", seen: queued("2026-11-30T12:00:00Z-000001", time.Hour), want: []string{"critical: and set back by 0s, to 2026-11-30 12:00:00Z"}},

	"nothing is wrong":              {is: "silent"},
	"a restore that was just asked": {is: "silent", seen: queued(newestName, time.Minute)},
	"a command that asks for none":  {is: "silent", seen: queuedBody("{}", noon.Add(-audit.Day))},
	"a command that does not parse": {is: "silent", seen: queuedBody("{", noon.Add(-audit.Day))},

	"the queue was not seen": {is: "blind", seen: unseen(audit.FactQueue)},
	"the command was not seen": {is: "blind", seen: func(o *audit.Observation) {
		o.Queue = audit.Is([]audit.Command{{Body: denied[audit.Document]("s3:GetObject")}})
	}},
	"the snapshots were not seen": {is: "blind", seen: all(queued(newestName, audit.Day), unseen(audit.FactListing)), want: []string{"critical: has been queued for 24h"}},
}}

func TestQueuePendingRestore(t *testing.T) {
	queuePendingRestoreSuite.cases.run(t, queuePendingRestore)
}

package rules

import (
	"testing"

	"backstop/audit"
)

var auditBlindSuite = suite{cases: cases{
	"old versions may not be listed": {is: "speaks", seen: unseen(audit.FactControlVersions),
		want: []string{"info: not seen: control_versions; wholly or partly blind: control/"},
		says: []string{"control/reset-imminent, control/reset-armed, control/never-initialised, control/altered", "Allow s3:ListBucketVersions to the identity"}},
	"tags may not be read":                         {is: "speaks", seen: unseen(audit.FactTags), want: []string{"info: not seen: tags; wholly or partly blind: lifecycle/deletes-control"}, says: []string{"s3:GetObjectTagging"}},
	"the meta of a queued restore may not be read": {is: "speaks", seen: unseen(audit.FactRestoreMeta), want: []string{"info: not seen: restore_meta; wholly or partly blind: queue/bad-restore"}, says: []string{"s3:GetObject"}},
	"no answer told the time":                      {is: "speaks", seen: unseen(audit.FactClock), want: []string{"info: not seen: clock; wholly or partly blind: audit/clock-skew"}, never: []string{"Allow"}},
	"several are one finding": {is: "speaks", seen: all(unseen(audit.FactControlVersions), unseen(audit.FactVersions), unseen(audit.FactTags), unseen(audit.FactClock)),
		want: []string{"info: not seen: control_versions, versions, tags, clock; wholly or partly blind: control/"},
		says: []string{"control/altered, snapshot/reset-detected, retention/last-good-expiring, bucket/orphan-store, snapshot/altered, retention/noncurrent-growth, lifecycle/deletes-control, lifecycle/archives-control, lifecycle/undo-window-short, lifecycle/disagrees-with-s3, audit/clock-skew", "Allow s3:ListBucketVersions, s3:GetObjectTagging to the identity", "no answer had a Date"}},

	"a necessary fact is another rule's":  {is: "boundary", seen: all(unseen(audit.FactListing), unseen(audit.FactCreated), unseen(audit.FactSpec), unseen(audit.FactQueue), unseen(audit.FactNewestMeta), unseen(audit.FactVersioning), unseen(audit.FactLifecycle))},
	"one that is not necessary beside it": {is: "boundary", seen: all(unseen(audit.FactListing), unseen(audit.FactClock)), want: []string{"info: not seen: clock"}},

	"nothing is wrong":                 {is: "silent"},
	"the bucket keeps no old versions": {is: "silent", seen: unversioned},

	"nothing was looked at": {is: "blind", seen: func(o *audit.Observation) { *o = audit.Observation{} }, want: []string{"info: not seen: control_versions, versions, restore_meta, head, kops, clock"}},
}}

func TestAuditBlind(t *testing.T) { auditBlindSuite.cases.run(t, auditBlind) }

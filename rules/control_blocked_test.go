package rules

import (
	"testing"

	"backstop/audit"
)

var controlBlockedSuite = suite{cases: cases{
	"created is empty": {is: "speaks", seen: createdIs("", birth),
		want: []string{"critical: etcd-cluster-created is empty (0 bytes). Every cycle of etcd-manager ends with an error"},
		says: []string{"no backups", "Write etcd-cluster-created with content", "compare it with `kops get cluster -o yaml`", "control/etcd-cluster-created"}},
	"created is archived": {is: "speaks", seen: archiveCreated,
		want: []string{"critical: etcd-cluster-created is unreadable for everyone (storage class DEEP_ARCHIVE)"}, says: []string{"thaw it and copy it over itself"}},
	"created is empty and spec missing": {is: "speaks", seen: all(loseSpec, createdIs("", birth)),
		want: []string{"critical: empty (0 bytes)"}, says: []string{"Now put etcd-cluster-spec back"}},
	"created is empty, and the snapshots are old": {is: "speaks", seen: all(newestAt(14*audit.Day), createdIs("", birth)),
		want: []string{"critical: empty (0 bytes)"}, says: []string{"14d ago"}},

	"one byte, whatever it is, is content": {is: "boundary", seen: createdIs("x", birth)},
	"no byte is none":                      {is: "boundary", seen: createdIs("", noon), want: []string{"critical: empty (0 bytes)"}},

	"nothing is wrong":       {is: "silent"},
	"created is missing":     {is: "silent", seen: loseCreated},
	"both files are missing": {is: "silent", seen: loseBoth},
	"spec is archived":       {is: "silent", seen: archiveSpec},

	"created was not seen": {is: "blind", seen: unseen(audit.FactCreated)},
	"created may not be decrypted by us, but may be by etcd-manager": {is: "blind", seen: func(o *audit.Observation) { o.Created = denied[audit.Document]("kms:Decrypt") }},
	"spec was not seen, and created is empty":                        {is: "blind", seen: all(unseen(audit.FactSpec), createdIs("", birth)), want: []string{"critical: empty (0 bytes)"}},
	"the snapshots were not seen": {is: "blind", seen: all(unseen(audit.FactListing), createdIs("", birth)),
		want: []string{"critical: empty (0 bytes)"}, says: []string{"the snapshots could not be listed"}},
}}

func TestControlBlocked(t *testing.T) { controlBlockedSuite.cases.run(t, controlBlocked) }

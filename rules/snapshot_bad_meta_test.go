package rules

import (
	"testing"

	"backstop/audit"
)

const badMeta = "warning: the meta file of the newest snapshot cannot be read by etcd-manager, which therefore cannot restore it"

var snapshotBadMetaSuite = suite{cases: cases{
	"it is cut short": {is: "speaks", seen: metaIs(`{"etcdVersion"`), want: []string{badMeta}, says: []string{"offset 14", newestName + "/_etcd_backup.meta"}},
	"it is empty":     {is: "speaks", seen: metaIs(""), want: []string{badMeta}},
	"it is archived":  {is: "speaks", seen: func(o *audit.Observation) { archived(&o.NewestMeta) }, want: []string{badMeta}, says: []string{"storage class DEEP_ARCHIVE"}},

	"braces alone are a meta":       {is: "boundary", seen: metaIs("{}")},
	"one field more is none":        {is: "boundary", seen: metaIs(`{"size":1}`), want: []string{badMeta}, says: []string{"expected the field etcdVersion or timestamp or clusterSpec"}},
	"the other spelling is as good": {is: "boundary", seen: metaIs(`{"etcd_version":"3.5.30","cluster_spec":{"member_count":"3"}}`)},

	"nothing is wrong": {is: "silent"},
	"no snapshots":     {is: "silent", seen: noSnapshots},

	"the meta was not seen": {is: "blind", seen: unseen(audit.FactNewestMeta),
		want: []string{"unknown: the meta file of the newest snapshot could not be seen: get s3://kops/x: access denied"}, says: []string{"Allow s3:GetObject", newestName + "/_etcd_backup.meta"}},
	"neither the listing nor the meta was seen, of which another rule speaks": {is: "blind", seen: all(unseen(audit.FactListing), unseen(audit.FactNewestMeta))},
}}

func TestSnapshotBadMeta(t *testing.T) { snapshotBadMetaSuite.cases.run(t, snapshotBadMeta) }

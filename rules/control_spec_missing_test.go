package rules

import (
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

const (
	stillRun = "Backups still run from the spec that the leader has cached"
	stopped  = "Backups have stopped. Writing the spec back does not help until etcd-manager on the leader is restarted"
)

var controlSpecMissingSuite = suite{ages: true, cases: cases{
	"spec is missing and the snapshots are fresh": {is: "speaks", seen: loseSpec,
		want:  []string{"critical: etcd-cluster-spec is missing. " + stillRun},
		says:  []string{"state latent", "memberCount 3, etcdVersion 3.5.30", "Restart the etcd-manager container on the LEADER"},
		never: []string{"FIRST"}},
	"spec is missing and the snapshots are stale": {is: "speaks", seen: all(newestAt(14*audit.Day), loseSpec),
		want: []string{"critical: etcd-cluster-spec is missing. " + stopped}, says: []string{"state stuck", "14d ago"}},
	"spec is empty":    {is: "speaks", seen: specIs("", birth), want: []string{"critical: etcd-cluster-spec is empty. " + stillRun}},
	"spec is archived": {is: "speaks", seen: archiveSpec, want: []string{"critical: etcd-cluster-spec is unreadable for everyone (storage class DEEP_ARCHIVE)"}},
	"spec is cut short": {is: "speaks", seen: specIs(`{"memberCount": 3,`, birth),
		want: []string{"critical: etcd-cluster-spec is not one that etcd-manager can parse (offset 18: expected a field name, found the end)"}},
	"spec has a field that etcd-manager does not know": {is: "speaks", seen: specIs(`{"memberCount":3,"size":3}`, birth), want: []string{"critical: not one that etcd-manager can parse"}},
	"a delete marker hides spec": {is: "speaks", seen: all(loseSpec, versionsAre(hidden(etcdmanager.SpecPath, noon.Add(-12*time.Hour))...)),
		want: []string{"critical: etcd-cluster-spec is missing"}, says: []string{"hidden by delete marker", "as a lifecycle rule does it; no rule of the bucket does so now", "the last good version of control/etcd-cluster-spec is v-good"}},

	"six hours without a snapshot are not stale": {is: "boundary", seen: all(newestAt(6*time.Hour), loseSpec), want: []string{"critical: " + stillRun}},
	"a second more is":                           {is: "boundary", seen: all(newestAt(6*time.Hour+time.Second), loseSpec), want: []string{"critical: " + stopped}},
	"a cluster of six hours may be without any":  {is: "boundary", seen: all(loseSpec, noSnapshots, bornAtTime(noon.Add(-6*time.Hour))), want: []string{"critical: " + stillRun}},
	"a second older it may not":                  {is: "boundary", seen: all(loseSpec, noSnapshots, bornAtTime(noon.Add(-6*time.Hour-time.Second))), want: []string{"critical: " + stopped}},
	"braces alone are a spec to etcd-manager":    {is: "boundary", seen: specIs("{}", birth)},

	"nothing is wrong":                        {is: "silent"},
	"both files are missing":                  {is: "silent", seen: loseBoth},
	"created is empty":                        {is: "silent", seen: all(loseSpec, createdIs("", birth))},
	"created is archived":                     {is: "silent", seen: all(loseSpec, archiveCreated)},
	"the backups are stale, and spec is good": {is: "silent", seen: newestAt(14 * audit.Day)},

	"spec was not seen":    {is: "blind", seen: unseen(audit.FactSpec)},
	"created was not seen": {is: "blind", seen: all(loseSpec, unseen(audit.FactCreated))},
	"the snapshots were not seen, so nobody knows whether backups run": {is: "blind", seen: all(loseSpec, unseen(audit.FactListing)),
		want: []string{"critical: etcd-cluster-spec is missing"}, says: []string{"the snapshots could not be listed"}, never: []string{"Backups have stopped", "Backups still run"}},
	"created is missing, and the snapshots were not seen":  {is: "blind", seen: all(loseBoth, noTrace, unseen(audit.FactListing))},
	"neither created nor the snapshots were seen":          {is: "blind", seen: all(loseSpec, unseen(audit.FactCreated), unseen(audit.FactListing))},
	"neither spec nor the snapshots were seen":             {is: "blind", seen: all(unseen(audit.FactSpec), unseen(audit.FactListing))},
	"spec is good, and the snapshots were not seen":        {is: "blind", seen: unseen(audit.FactListing)},
	"spec does not parse, and the snapshots were not seen": {is: "blind", seen: all(specIs("{", birth), unseen(audit.FactListing)), want: []string{"critical: etcd-cluster-spec is not one that etcd-manager can parse"}},
	"the versions were not seen": {is: "blind", seen: all(loseSpec, unseen(audit.FactControlVersions)),
		want: []string{"critical: etcd-cluster-spec is missing"}, says: []string{"s3:ListBucketVersions"}},
}}

func TestControlSpecMissing(t *testing.T) { controlSpecMissingSuite.cases.run(t, controlSpecMissing) }

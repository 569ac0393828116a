package rules

import (
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

var controlResetArmedSuite = suite{ages: true, cases: cases{
	"both control files are missing": {is: "speaks", seen: loseBoth,
		want:  []string{"critical: etcd-cluster-spec is missing too. The cluster still serves, but takes no backups"},
		says:  []string{"kops update cluster --yes", "terraform apply", "etcd-manager-ctl configure-cluster", "do NOT restore a backup", "FIRST", "Now put etcd-cluster-spec back", "memberCount 3, etcdVersion 3.5.30", "Restart the etcd-manager container on the LEADER", "the newest snapshot is 2026-11-30T11:55:00Z-000001"},
		never: []string{"Do NOT repair etcd-cluster-spec", "etcd-cluster-spec: "}},
	"spec is without members": {is: "speaks", seen: all(loseCreated, specIs("{}", birth)),
		want:  []string{"critical: etcd-cluster-spec is there but bad"},
		never: []string{"etcd-cluster-spec: "}, says: []string{"Do NOT repair etcd-cluster-spec before etcd-cluster-created is back"}},
	"spec is empty": {is: "speaks", seen: all(loseCreated, specIs("", birth)),
		want: []string{"critical: etcd-cluster-spec is there but bad"},
		says: []string{"Do NOT repair etcd-cluster-spec", "etcd-cluster-spec: offset 0: expected"}},
	"spec has a field that etcd-manager does not know": {is: "speaks", seen: all(loseCreated, specIs(`{"memberCount":3,"foo":1}`, birth)),
		want: []string{"critical: etcd-cluster-spec is there but bad"}, says: []string{"offset 17: expected the field memberCount or etcdVersion"}},
	"spec is archived": {is: "speaks", seen: all(loseCreated, archiveSpec),
		never: []string{"etcd-cluster-spec: "}, want: []string{"critical: etcd-cluster-spec is there but bad"}},
	"a delete marker of midnight hides each": {is: "speaks",
		seen: all(loseBoth, noSnapshots, versionsAre(append(hidden(etcdmanager.CreatedPath, noon.Truncate(audit.Day)), hidden(etcdmanager.SpecPath, noon.Truncate(audit.Day))...)...)),
		want: []string{"critical: etcd-cluster-spec is missing too"},
		says: []string{"control/etcd-cluster-created is hidden by delete marker", "control/etcd-cluster-spec is hidden by delete marker", "as a lifecycle rule does it; no rule of the bucket does so now", "Do NOT only remove the delete marker", "no complete snapshot to restore"}},
	"created was deleted a day after the last backup": {is: "speaks", seen: all(newestAt(2*audit.Day), loseBoth, versionsAre(hidden(etcdmanager.CreatedPath, noon.Add(-audit.Day))...)),
		want: []string{"critical: takes no backups"}, says: []string{"armed since 2026-11-29 12:00:00Z: "}, never: []string{"armed since about"}},
	"created was deleted before the last backup, by other clocks": {is: "speaks", seen: all(newestAt(2*time.Hour), loseBoth, versionsAre(hidden(etcdmanager.CreatedPath, noon.Add(-3*time.Hour))...)),
		want: []string{"critical: takes no backups"}, says: []string{"armed since about 2026-11-30 10:00:00Z: "}},
	"the snapshots are two weeks old": {is: "speaks", seen: all(newestAt(14*audit.Day), loseBoth),
		want: []string{"critical: takes no backups"}, says: []string{"armed since about 2026-11-16 12:00:00Z"}},

	"nothing but kops shows that there was a cluster": {is: "speaks", seen: all(loseBoth, noTrace, kopsCreated(birth)),
		want: []string{"critical: takes no backups"}, says: []string{"kops created the cluster prod.example.com at 2025-10-26 09:30:00Z", "no complete snapshot to restore"}},

	"kops has had it for an hour":   {is: "boundary", seen: all(loseBoth, noTrace, kopsCreated(noon.Add(-time.Hour)))},
	"and for a second more":         {is: "boundary", seen: all(loseBoth, noTrace, kopsCreated(noon.Add(-time.Hour-time.Second))), want: []string{"critical: takes no backups"}},
	"S3's clock is 30 s before us":  {is: "boundary", seen: all(newestAt(-30*time.Second), loseBoth), want: []string{"critical: takes no backups"}, never: []string{"-30s"}},
	"no member in the spec is bad":  {is: "boundary", seen: all(loseCreated, specIs(spec(0, "3.5.30"), birth)), want: []string{"critical: there but bad"}},
	"one member in the spec is not": {is: "boundary", seen: all(loseCreated, specIs(spec(1, "3.5.30"), birth))},
	"an old spec of exactly an hour is no trace": {is: "boundary",
		seen: all(loseCreatedWithoutSnapshots(latest(etcdmanager.SpecPath, "v2", noon), old(etcdmanager.SpecPath, "v1", noon.Add(-time.Hour))), specIs("{}", noon))},
	"a second older it is one": {is: "boundary",
		seen: all(loseCreatedWithoutSnapshots(latest(etcdmanager.SpecPath, "v2", noon), old(etcdmanager.SpecPath, "v1", noon.Add(-time.Hour-time.Second))), specIs("{}", noon)),
		want: []string{"critical: there but bad"}},

	"nothing is wrong":                  {is: "silent"},
	"created is missing alone":          {is: "silent", seen: loseCreated},
	"spec is missing alone":             {is: "silent", seen: loseSpec},
	"nothing was ever here":             {is: "silent", seen: all(loseBoth, noTrace)},
	"it was deleted with its cluster":   {is: "silent", seen: all(deletedIn(noon.Add(-time.Hour)), nothingLeft, versionsAre(hidden(etcdmanager.CreatedPath, noon.Add(-time.Hour))...))},
	"created is empty, spec missing":    {is: "silent", seen: all(loseSpec, createdIs("", birth))},
	"created is archived, spec missing": {is: "silent", seen: all(loseSpec, archiveCreated)},

	"created was not seen":                         {is: "blind", seen: all(loseSpec, unseen(audit.FactCreated))},
	"spec was not seen":                            {is: "blind", seen: all(loseCreated, unseen(audit.FactSpec))},
	"the snapshots were not seen":                  {is: "blind", seen: all(loseBoth, noTrace, unseen(audit.FactListing))},
	"no snapshots, and the versions were not seen": {is: "blind", seen: all(loseBoth, noSnapshots, unseen(audit.FactControlVersions))},
	"the snapshots were not seen, but a delete marker was": {is: "blind", seen: all(loseBoth, unseen(audit.FactListing), versionsAre(hidden(etcdmanager.CreatedPath, noon)...)),
		want: []string{"critical: takes no backups"}, says: []string{"the snapshots could not be listed"}, never: []string{"no complete snapshot"}},
	"the versions were not seen, but snapshots were": {is: "blind", seen: all(loseBoth, unseen(audit.FactControlVersions)),
		want: []string{"critical: takes no backups"}, says: []string{"s3:ListBucketVersions"}},
	"what kops says was not seen": {is: "blind", seen: all(loseBoth, noTrace, kopsCreated(birth), unseen(audit.FactKops))},
	"the newest meta was not seen": {is: "blind", seen: all(loseBoth, unseen(audit.FactNewestMeta)),
		want: []string{"critical: takes no backups"}, says: []string{"the newest snapshot's meta could not be used"}},
}}

func TestControlResetArmed(t *testing.T) { controlResetArmedSuite.cases.run(t, controlResetArmed) }

// What a reset would cost grows with the time that the store has been armed.
func TestCostOfReset(t *testing.T) {
	for _, c := range []struct {
		age  time.Duration
		says string
		kops time.Duration // the daily retention that kops gives
	}{
		{5 * time.Minute, "the last backup was taken 2026-11-30 11:55:00Z", 0},
		{time.Hour, "the last backup was taken", 0},
		{time.Hour + time.Second, "up to 45 min before the last backup", 0},
		{7 * audit.Day, "up to 45 min before the last backup", 0},
		{7*audit.Day + time.Second, "up to 24 h before the last backup", 0},
		{90 * audit.Day, "up to 24 h before the last backup", 0},
		{90*audit.Day + time.Second, "every good snapshot that is older than the daily retention (90 days under kops)", 0},
		{90*audit.Day + time.Second, "up to 24 h before the last backup", 365 * audit.Day},
		{30*audit.Day + time.Second, "every good snapshot that is older than the daily retention (30d, as kops configures it)", 30 * audit.Day},
	} {
		o := healthy()
		newestAt(c.age)(o)
		if c.kops != 0 {
			kopsSays(func(k *audit.Kops) { k.Daily = c.kops })(o)
		}
		if got := costOfReset(o, noon); !strings.Contains(got, c.says) {
			t.Errorf("armed for %v: %q does not say %q", c.age, got, c.says)
		}
	}
	o := healthy()
	all(newestAt(91*audit.Day), kopsSays(func(k *audit.Kops) { k.Daily = 0 }))(o)
	if got := costOfReset(o, noon); !strings.Contains(got, "90 days under kops") {
		t.Errorf("where kops gives no retention: %q", got)
	}
}

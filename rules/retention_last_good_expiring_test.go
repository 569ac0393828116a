package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// resetAt is a store whose cluster was replaced then, with an empty snapshot since,
// and good ones from before it.
func resetAt(at time.Time, good ...audit.Snapshot) func(o *audit.Observation) {
	return all(bornAtTime(at), specIs(specGood, at), versionsOfToday, func(o *audit.Observation) {
		snapshotsAre(append(good, snapshot(o.Store, at.Add(time.Second), 690), taken(time.Minute, 5500))...)(o)
	})
}

var retentionLastGoodExpiringSuite = suite{ages: true, cases: cases{
	"after a reset the newest goes within the hour": {is: "speaks", seen: all(keeps90, resetAt(noon.Add(-20*time.Minute), taken(95*time.Minute, 50_000), taken(50*time.Minute, 50_000), taken(35*time.Minute, 50_000))),
		want: []string{"critical: a new, empty cluster was formed at 2026-11-30 11:40:00Z: the last good snapshot is 2026-11-30T11:25:00Z-000001, and etcd-manager's cleanup (it keeps the earliest of each hour) deletes it on 2026-11-30 12:25:00Z, in 25m"},
		says: []string{"of 3 snapshots that are good the last one, 2026-11-30T10:25:00Z-000001, goes on 2027-02-28", "Copy 2026-11-30T11:25:00Z-000001 to another bucket now"}},
	"the ladder keeps an empty one, the earliest of the hour": {is: "speaks", seen: all(keeps90, resetAt(noon.Add(-5*time.Minute), taken(50*time.Minute, 640), taken(35*time.Minute, 50_000))),
		want: []string{"critical: the last good snapshot is 2026-11-30T11:25:00Z-000001, and etcd-manager's cleanup (it keeps the earliest of each hour) deletes it"}},
	"by lifecycle, before the cleanup": {is: "speaks", seen: all(keeps90, resetAt(noon.Add(-2*audit.Day), taken(3*audit.Day, 50_000)), lifecycleRules(snapshotsOnly(10))),
		want: []string{`critical: the last good snapshot is 2026-11-27T12:00:00Z-000001, and lifecycle rule "snapshots" hides it on 2026-12-08 00:00:00Z, in 7d`}, never: []string{"the last one,"}},
	"armed, and the rule is still there": {is: "speaks", seen: all(keeps90, loseBoth, lifecycleRules(expireAll(90))),
		want: []string{`critical: backups have stopped: the last good snapshot is 2026-11-30T11:55:00Z-000001, and lifecycle rule "prune" hides it on 2027-03-01 00:00:00Z, in 90d`}, never: []string{"cleanup"}},
	"stuck":                {is: "speaks", seen: all(loseSpec, newestAt(10*audit.Day), lifecycleRules(snapshotsOnly(30))), want: []string{"critical: backups have stopped"}},
	"blocked, and overdue": {is: "speaks", seen: all(createdIs("", birth), newestAt(40*audit.Day), lifecycleRules(snapshotsOnly(30))), want: []string{`critical: hides it at any moment`}},
	"to an archive":        {is: "speaks", seen: all(loseBoth, sizeDefault("varies_by_storage_class"), lifecycleRules(transitionRule(10, "GLACIER", prefixed(mainRoot+"20")))), want: []string{"critical: archives it on 2026-12-11"}},
	"the newest is damaged": {is: "speaks", seen: all(keeps90, verified("", audit.Intact, "", "", "", audit.Damaged, audit.Damaged)),
		want: []string{"critical: the newest snapshot is damaged: the last good snapshot is 2026-11-30T10:40:00Z-000001, and etcd-manager's cleanup (it keeps the earliest of each hour) deletes it at any moment"}},
	"the newest is damaged, and others were not read": {is: "speaks", seen: all(keeps90, headIs(audit.Damaged)), want: []string{"critical: the newest snapshot is damaged: the last good snapshot is 2026-11-30T11:40:00Z-000001"}},
	"an older one is damaged":                         {is: "silent", seen: all(keeps90, verified(audit.Damaged, audit.Intact))},
	"without rules, armed":                            {is: "silent", seen: loseBoth},

	"in two years":                      {is: "boundary", seen: all(loseBoth, snapshotsAre(taken(time.Hour, 50_000)), goneAt(midnight.AddDate(0, 0, 730))), at: 12 * time.Hour, want: []string{"critical: in 730d"}},
	"in a second more":                  {is: "boundary", seen: all(loseBoth, snapshotsAre(taken(time.Hour, 50_000)), goneAt(midnight.AddDate(0, 0, 730))), at: 12*time.Hour - time.Second},
	"at this instant":                   {is: "boundary", seen: all(loseBoth, snapshotsAre(taken(time.Hour, 50_000)), goneAt(midnight)), at: 12 * time.Hour, want: []string{"critical: hides it at any moment"}},
	"in a second":                       {is: "boundary", seen: all(loseBoth, snapshotsAre(taken(time.Hour, 50_000)), goneAt(midnight)), at: 12*time.Hour - time.Second, want: []string{"critical: hides it on 2026-12-01 00:00:00Z, in 1s"}},
	"a minute before the birth is none": {is: "boundary", seen: all(keeps90, resetAt(noon.Add(-2*time.Hour), taken(2*time.Hour+birthSlack, 50_000)))},
	"a second more than a minute":       {is: "boundary", seen: all(keeps90, resetAt(noon.Add(-2*time.Hour), taken(2*time.Hour+birthSlack+time.Second, 50_000))), want: []string{"critical: a new, empty cluster"}},

	"a healthy store":             {is: "silent", seen: keeps90},
	"latent: good ones follow":    {is: "silent", seen: all(loseSpec, lifecycleRules(snapshotsOnly(30)))},
	"no empty snapshot, no reset": {is: "silent", seen: all(keeps90, bornAtTime(noon.Add(-2*time.Hour)), snapshotsAre(taken(3*time.Hour, 50_000), taken(time.Minute, 50_000)))},
	"an archive":                  {is: "silent", seen: all(loseBoth, lifecycleRules(expireAll(90))), policy: func(p *audit.Policy) { p.Role = audit.Archive }},
	"the reset was meant": {is: "silent", seen: all(keeps90, resetAt(noon.Add(-2*audit.Day), taken(3*audit.Day, 50_000))),
		policy: func(p *audit.Policy) {
			p.Acknowledged = []audit.Acknowledgement{{Rule: "control/reseeded", Event: "1795867200000000000", Reason: "a rebuild"}}
		}},
	"none is good":           {is: "silent", seen: all(loseBoth, snapshotsAre(taken(time.Hour, 640), archivedOld), lifecycleRules(expireAll(90)))},
	"nothing was ever there": {is: "silent", seen: all(loseBoth, noSnapshots, lifecycleRules(expireAll(90)))},

	"the rules were not seen":     {is: "blind", seen: all(loseBoth, unseen(audit.FactLifecycle))},
	"the snapshots were not seen": {is: "blind", seen: all(loseBoth, lifecycleRules(expireAll(90)), unseen(audit.FactListing))},
	"created was not seen":        {is: "blind", seen: all(lifecycleRules(expireAll(90)), unseen(audit.FactCreated))},
}}

func TestRetentionLastGoodExpiring(t *testing.T) {
	retentionLastGoodExpiringSuite.cases.run(t, retentionLastGoodExpiring)
}

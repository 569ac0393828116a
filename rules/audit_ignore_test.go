package rules

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"backstop/audit"
)

// ignoring adds an ignore that ends so long after noon.
func ignoring(rule string, ends time.Duration) func(p *audit.Policy) {
	return func(p *audit.Policy) {
		p.Ignore = append(p.Ignore, audit.Ignore{Rule: rule, Until: noon.Add(ends), Reason: "booked"})
	}
}

func acknowledging(rule, event string) func(p *audit.Policy) {
	return func(p *audit.Policy) {
		p.Acknowledged = append(p.Acknowledged, audit.Acknowledgement{Rule: rule, Event: event, Reason: "planned"})
	}
}

// entry names the entry of the configuration, and what of it another store
// answers for.
func entry(name string, elsewhere ...string) func(p *audit.Policy) {
	return func(p *audit.Policy) { p.Entry, p.Elsewhere = name, elsewhere }
}

func called(role audit.Role) func(p *audit.Policy) {
	return func(p *audit.Policy) { p.Role = role }
}

// bornAgain is an hour before noon, in the midst of the snapshots.
var bornAgain = noon.Add(-time.Hour)

var bornAgainEvent = strconv.FormatInt(bornAgain.UnixNano(), 10)

func kopsNamesIt(o *audit.Observation) {
	o.Kops = audit.Is(audit.Kops{Known: true, ClusterKnown: true, Cluster: "prod.example.com", Etcd: "main"})
}

var late = newestAt(3 * time.Hour)

var auditIgnoreSuite = suite{ages: true, cases: cases{
	"an ignore has ended": {is: "speaks", seen: late, policy: policies(entry("stores[1]"), ignoring("snapshot/late", -12*time.Hour)),
		want: []string{"info: the ignoring of snapshot/late ended on 2026-11-30, and its findings count again"}, says: []string{"stores[1].ignore[0] of the configuration", "(booked)"}},
	"it ended, and nothing speaks": {is: "speaks", policy: ignoring("snapshot/late", -audit.Day), want: []string{"info: the ignoring of snapshot/late ended"}},
	"an ignore does nothing":       {is: "speaks", policy: ignoring("snapshot/late", audit.Day), want: []string{"info: snapshot/late is ignored and has nothing to say"}, says: []string{"ignore[0]", "Take it out"}},
	"it is information already":    {is: "speaks", seen: createdIs(`{"timestamp":"1"}`, noon.Add(-3*audit.Day)), policy: ignoring("control/altered", audit.Day), want: []string{"info: control/altered is ignored and has nothing to say"}},
	"the second of two":            {is: "speaks", seen: late, policy: policies(ignoring("snapshot/late", audit.Day), ignoring("snapshot/stale", audit.Day)), want: []string{"info: snapshot/stale is ignored"}, says: []string{"ignore[1]"}},
	"an event that is not there":   {is: "speaks", seen: bornAtTime(bornAgain), policy: acknowledging("control/reseeded", "17"), want: []string{"info: control/reseeded does not speak of the event 17"}, says: []string{"acknowledged[0]", "(planned)"}},
	"an assumption has ended":      {is: "speaks", seen: cannotTell, policy: assumed(audit.FactLifecycle, "none", -12*time.Hour), want: []string{"info: the assumption that lifecycle is none ended on 2026-11-30"}, says: []string{"assume[0]", "console"}},
	"one is not needed":            {is: "speaks", policy: assumed(audit.FactLifecycle, "none", audit.Day), want: []string{"info: the assumption that lifecycle is none is not needed"}},
	"one is wrong":                 {is: "speaks", seen: suspended, policy: assumed(audit.FactVersioning, "enabled", audit.Day), want: []string{"info: the assumption that versioning is enabled is wrong"}},
	"one is for a refusal":         {is: "speaks", seen: unseen(audit.FactLifecycle), policy: assumed(audit.FactLifecycle, "none", audit.Day), want: []string{"info: the assumption that lifecycle is none does not count"}, says: []string{"s3:GetLifecycleConfiguration"}},
	"a replica that kops names":    {is: "speaks", seen: kopsNamesIt, policy: called(audit.Replica), want: []string{"info: the configuration calls this store a replica, and kops names it as the one that prod.example.com's etcd main writes to"}},
	"several":                      {is: "speaks", policy: policies(ignoring("snapshot/late", audit.Day), acknowledging("control/reseeded", "17"), assumed(audit.FactLifecycle, "none", audit.Day)), want: []string{"info: the assumption", "info: control/reseeded", "info: snapshot/late"}},

	"an ignore ends in a second":     {is: "boundary", seen: late, policy: ignoring("snapshot/late", time.Second)},
	"it ends now":                    {is: "boundary", seen: late, policy: ignoring("snapshot/late", 0), want: []string{"info: the ignoring of snapshot/late ended"}},
	"an assumption ends in a second": {is: "boundary", seen: cannotTell, policy: assumed(audit.FactLifecycle, "none", time.Second)},
	"that ends now":                  {is: "boundary", seen: cannotTell, policy: assumed(audit.FactLifecycle, "none", 0), want: []string{"info: the assumption that lifecycle is none ended"}},

	"no exceptions":                         {is: "silent"},
	"an ignore that is needed":              {is: "silent", seen: late, policy: ignoring("snapshot/late", audit.Day)},
	"needed, though another explains it":    {is: "silent", seen: all(loseSpec, newestAt(14*audit.Day)), policy: ignoring("snapshot/stale", audit.Day)},
	"needed, though the role says so too":   {is: "silent", seen: late, policy: policies(called(audit.Replica), ignoring("snapshot/late", audit.Day))},
	"an event that is there":                {is: "silent", seen: bornAtTime(bornAgain), policy: acknowledging("control/reseeded", bornAgainEvent)},
	"an assumption that is needed":          {is: "silent", seen: cannotTell, policy: assumed(audit.FactLifecycle, "none", audit.Day)},
	"another store of the entry needs them": {is: "silent", policy: policies(ignoring("snapshot/late", audit.Day), acknowledging("control/reseeded", "17"), assumed(audit.FactLifecycle, "none", audit.Day), entry("stores[0]", "ignore[0]", "acknowledged[0]", "assume[0]"))},
	"a replica":                             {is: "silent", policy: called(audit.Replica)},
	"a live store that kops names":          {is: "silent", seen: kopsNamesIt, policy: called(audit.Live)},

	"the rule could not look":        {is: "blind", seen: unseen(audit.FactListing), policy: ignoring("snapshot/late", audit.Day)},
	"the rule says what is not seen": {is: "blind", seen: unseen(audit.FactVersioning), policy: ignoring("bucket/unversioned", audit.Day)},
	"the event could not be seen":    {is: "blind", seen: unseen(audit.FactCreated), policy: acknowledging("control/reseeded", "17")},
	"it ended, seen or not":          {is: "blind", seen: unseen(audit.FactListing), policy: ignoring("snapshot/late", -audit.Day), want: []string{"info: the ignoring of snapshot/late ended"}},
}}

func TestAuditIgnore(t *testing.T) { auditIgnoreSuite.cases.run(t, auditIgnore) }

// Idle is what the rule would say, by name.
func TestIdle(t *testing.T) {
	o, p := healthy(), audit.DefaultPolicy()
	late(o)
	policies(ignoring("snapshot/stale", audit.Day), ignoring("snapshot/late", audit.Day), ignoring("control/stray", -audit.Day), acknowledging("control/reseeded", "17"), assumed(audit.FactLifecycle, "none", audit.Day))(&p)
	if got := Idle(o, p, noon); !slices.Equal(got, []string{"assume[0]", "acknowledged[0]", "ignore[0]", "ignore[2]"}) {
		t.Errorf("idle: %q", got)
	}
	if got := Idle(o, audit.DefaultPolicy(), noon); got != nil {
		t.Errorf("idle of no exceptions: %q", got)
	}
}

// In a store that is judged whole, an ignored finding is information that says
// until when and why, and the exception is in use.
func TestIgnoredFindingStays(t *testing.T) {
	o, p := healthy(), audit.DefaultPolicy()
	late(o)
	ignoring("snapshot/late", audit.Day)(&p)
	r := audit.Judge(Set, o, p, noon)
	stays := slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return f.Rule == snapshotLate.ID && f.Was == audit.Warning })
	if r.Verdict != audit.OK || !stays || count(r, auditIgnore.ID) != 0 {
		t.Errorf("verdict %s, %+v", r.Verdict, r.Findings)
	}
	r = audit.Judge(Set, o, p, noon.Add(audit.Day))
	if r.Verdict != audit.VerdictCritical || count(r, auditIgnore.ID) != 1 {
		t.Errorf("after its end: %s, %+v", r.Verdict, r.Findings)
	}
}

// A window silences the age of snapshots, and nothing of the control files.
func TestWindowSilencesFreshnessAlone(t *testing.T) {
	p := audit.DefaultPolicy()
	p.Windows = []audit.Window{{Cron: "0 20 * * *", For: 30 * audit.Day, Began: noon.Add(-14 * audit.Day), Reason: "asleep"}}
	o := healthy()
	newestAt(13 * audit.Day)(o)
	if r := audit.Judge(Set, o, p, noon); r.Verdict != audit.OK || count(r, snapshotStale.ID) != 0 {
		t.Errorf("asleep: %s, %+v", r.Verdict, r.Findings)
	}
	for name, change := range map[string]func(o *audit.Observation){
		"both control files are lost": loseBoth, "created is lost": loseCreated, "the spec is lost": loseSpec, "created is archived": archiveCreated,
		"a lifecycle rule": lifecycleRules(expireAll(400)), "a queued restore": queued("2026-11-30T09:00:00Z-000001", time.Hour),
	} {
		o := healthy()
		all(newestAt(13*audit.Day), change)(o)
		awake := audit.Judge(Set, o, audit.DefaultPolicy(), noon)
		asleep := audit.Judge(Set, o, p, noon)
		if asleep.Verdict != audit.VerdictCritical || asleep.State != awake.State {
			t.Errorf("%s: %s, state %s and awake %s", name, asleep.Verdict, asleep.State.Name, awake.State.Name)
		}
		for _, f := range awake.Findings {
			here := slices.ContainsFunc(asleep.Findings, func(g audit.Finding) bool { return g.Rule == f.Rule && g.Severity == f.Severity })
			if quiet := f.Rule == "snapshot/stale"; here == quiet {
				t.Errorf("%s: %s %s: speaks asleep: %t", name, f.Severity, f.Rule, here)
			}
		}
	}
}

// In a replica or an archive an armed, late store is no alarm; a damaged
// snapshot is.
func TestReplica(t *testing.T) {
	for _, role := range []audit.Role{audit.Replica, audit.Archive} {
		o, p := healthy(), audit.DefaultPolicy()
		called(role)(&p)
		all(loseBoth, newestAt(14*audit.Day), queued("2026-11-30T09:00:00Z-000001", time.Hour))(o)
		r := audit.Judge(Set, o, p, noon)
		if r.Verdict != audit.OK || r.State.Name != "armed" || len(r.Findings) == 0 {
			t.Errorf("%s: %s, state %s, %+v", role, r.Verdict, r.State.Name, r.Findings)
		}
		snapshotsAre(taken(time.Hour, 0))(o)
		if r := audit.Judge(Set, o, p, noon); r.Verdict != audit.VerdictCritical {
			t.Errorf("%s with an empty snapshot: %s", role, r.Verdict)
		}
	}
}

package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// keeps is what kops configures etcd-manager to keep of each day.
func keeps(daily time.Duration) func(o *audit.Observation) {
	return kopsSays(func(k *audit.Kops) { k.Daily = daily })
}

// goneAt deletes the snapshots at one midnight.
func goneAt(at time.Time) func(o *audit.Observation) {
	return lifecycleRules(lifecycleRule("snapshots", prefixed(mainRoot+"20"), "<Date>"+at.Format(time.RFC3339)+"</Date>"))
}

var lifecycleCutsLadderSuite = suite{ages: true, cases: cases{
	"30 days of 90": {is: "speaks", seen: all(keeps(90*audit.Day), lifecycleRules(snapshotsOnly(30))),
		want: []string{`warning: lifecycle rule "snapshots" hides every snapshot 30d after it was taken, and one of each day is kept for 90d (as kops configures it): what can be restored reaches back 30d and no further`},
		says: []string{`Let rule "snapshots" spare the snapshots for at least 90d`}},
	"without versions it deletes": {is: "speaks", seen: all(keeps(90*audit.Day), unversioned, lifecycleRules(snapshotsOnly(30))),
		want: []string{`warning: lifecycle rule "snapshots" deletes every snapshot`}},
	"the owner wants more than kops": {is: "speaks", seen: all(keeps(90*audit.Day), lifecycleRules(snapshotsOnly(100))),
		policy: func(p *audit.Policy) { p.KeepDaily, p.Given.KeepDaily = 365*audit.Day, true },
		want:   []string{"warning: kept for 365d (as the configuration says)"}},
	"the field is absent in kops: two years": {is: "speaks", seen: all(keeps(730*audit.Day), lifecycleRules(snapshotsOnly(365))), want: []string{"warning: kept for 730d (as kops configures it)"}},
	"nobody says how long, and 30 days are too few for everybody": {is: "speaks", seen: lifecycleRules(snapshotsOnly(30)),
		want: []string{"warning: one of each day is kept for 90d (as kops has written into the spec of a cluster since 1.27"}},
	"nobody says how long, and 90 days may be meant": {is: "speaks", seen: lifecycleRules(snapshotsOnly(90)),
		want: []string{"info: hides every snapshot 90d after it was taken, and one of each day is kept for 730d (as etcd-manager does by itself)"}, says: []string{"kops writes 90 days"}},
	"by a date, and then each one at once": {is: "speaks", seen: all(keeps(90*audit.Day), goneAt(midnight.AddDate(0, 0, -1))),
		want: []string{"warning: hides every snapshot 0s after it was taken"}},
	"last year's alone": {is: "speaks", seen: all(keeps(90*audit.Day), daily(60), lifecycleRules(lifecycleRule("old", prefixed(mainRoot+"2026-10"), "<Days>30</Days>"))),
		want: []string{`warning: lifecycle rule "old" hides 30 snapshots, the first at any moment (due since 2026-11-02 00:00:00Z), though one of each day is kept for 90d`}},
	"the meta files alone": {is: "speaks", seen: all(keeps(90*audit.Day), lifecycleRules(lifecycleRule("small", "<And><Prefix>"+mainRoot+"20</Prefix><ObjectSizeLessThan>1000</ObjectSizeLessThan></And>", "<Days>30</Days>"))),
		want: []string{`warning: lifecycle rule "small" hides every snapshot 30d`}},
	"an archive": {is: "speaks", seen: all(daily(30), lifecycleRules(snapshotsOnly(60))), policy: func(p *audit.Policy) { p.Role = audit.Archive },
		want: []string{"warning: hides 30 snapshots, the first on 2027-01-01 00:00:00Z, in 31d, though one of each day is kept for 90d"}},
	"an archive whose owner wants two years": {is: "speaks", seen: all(daily(30), lifecycleRules(snapshotsOnly(90))),
		policy: func(p *audit.Policy) { p.Role, p.KeepDaily, p.Given.KeepDaily = audit.Archive, 730*audit.Day, true },
		want:   []string{"warning: hides 30 snapshots, the first on 2027-01-31 00:00:00Z, in 61d"}},

	"a day less than the ladder":                            {is: "boundary", seen: all(keeps(90*audit.Day), lifecycleRules(snapshotsOnly(89))), want: []string{"warning: 89d after it was taken"}},
	"as long as the ladder":                                 {is: "boundary", seen: all(keeps(90*audit.Day), lifecycleRules(snapshotsOnly(90)))},
	"on the day that the ladder ends":                       {is: "boundary", seen: all(noSnapshots, keeps(90*audit.Day), goneAt(midnight)), at: untilMidnight(90 * audit.Day)},
	"a second before that":                                  {is: "boundary", seen: all(noSnapshots, keeps(90*audit.Day), goneAt(midnight)), at: untilMidnight(90*audit.Day - time.Second), want: []string{"warning: 89d after"}},
	"in two years":                                          {is: "boundary", seen: all(noSnapshots, keeps(3*365*audit.Day), goneAt(midnight)), at: untilMidnight(730 * audit.Day), want: []string{"warning: 730d after"}},
	"in a second more":                                      {is: "boundary", seen: all(noSnapshots, keeps(3*365*audit.Day), goneAt(midnight)), at: untilMidnight(730*audit.Day + time.Second)},
	"a snapshot that the ladder wants no more, still there": {is: "boundary", seen: all(snapshotsAre(taken(90*audit.Day, 50_000)), keeps(90*audit.Day), lifecycleRules(lifecycleRule("old", prefixed(mainRoot+"2026-09"), "<Days>30</Days>")))},
	"a second younger": {is: "boundary", seen: all(snapshotsAre(taken(90*audit.Day-time.Second, 50_000)), keeps(90*audit.Day), lifecycleRules(lifecycleRule("old", prefixed(mainRoot+"2026-09"), "<Days>30</Days>"))),
		want: []string{"warning: hides 1 snapshot, the first at any moment"}},
	"in two years, one that is there": {is: "boundary", seen: all(snapshotsAre(taken(time.Hour, 50_000)), keeps(3*365*audit.Day), lifecycleRules(lifecycleRule("old", prefixed(mainRoot+"2026-11-30T1"), "<Date>2028-11-29T00:00:00Z</Date>"))), at: -12 * time.Hour,
		want: []string{"warning: hides 1 snapshot"}},
	"a second earlier": {is: "boundary", seen: all(snapshotsAre(taken(time.Hour, 50_000)), keeps(3*365*audit.Day), lifecycleRules(lifecycleRule("old", prefixed(mainRoot+"2026-11-30T1"), "<Date>2028-11-29T00:00:00Z</Date>"))), at: -12*time.Hour - time.Second},

	"no rules":                                  {is: "silent", seen: keeps(90 * audit.Day)},
	"old versions alone":                        {is: "silent", seen: all(keeps(90*audit.Day), lifecycleRules(noncurrentDays(1)))},
	"another prefix":                            {is: "silent", seen: all(keeps(90*audit.Day), lifecycleRules(lifecycleRule("logs", prefixed("logs/"), "<Days>1</Days>")))},
	"to an archive, unharmed":                   {is: "silent", seen: all(keeps(90*audit.Day), lifecycleRules(transitionRule(1, "GLACIER", prefixed(mainRoot+"20"))))},
	"by a tag that nobody set":                  {is: "silent", seen: all(keeps(90*audit.Day), byTag)},
	"longer, and overdue":                       {is: "silent", seen: all(keeps(90*audit.Day), daily(200), lifecycleRules(snapshotsOnly(120)))},
	"two of one day, of which the later is cut": {is: "silent", seen: all(snapshotsAre(taken(41*audit.Day, 50_000), taken(41*audit.Day-time.Hour, 50_000)), keeps(90*audit.Day), lifecycleRules(lifecycleRule("old", prefixed(mainRoot+"2026-10-20T13"), "<Days>30</Days>")))},
	"incomplete, and names that are no times":   {is: "silent", seen: all(snapshotsAre(byHand("2026-copy"), dataAged(40*audit.Day)), lifecycleRules(lifecycleRule("old", prefixed(mainRoot+"2026-1"), "<Days>1</Days>"))), policy: func(p *audit.Policy) { p.Role = audit.Archive }},

	"the rules were not seen":     {is: "blind", seen: all(keeps(90*audit.Day), unseen(audit.FactLifecycle))},
	"the snapshots were not seen": {is: "blind", seen: all(keeps(90*audit.Day), lifecycleRules(snapshotsOnly(30)), unseen(audit.FactListing))},
	"kops was not seen":           {is: "blind", seen: all(lifecycleRules(snapshotsOnly(90)), unseen(audit.FactKops)), want: []string{"info: kept for 730d"}},
}}

func TestLifecycleCutsLadder(t *testing.T) {
	lifecycleCutsLadderSuite.cases.run(t, lifecycleCutsLadder)
}

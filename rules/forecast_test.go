package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

// line writes an event for comparison: when, what, to what, and what is so then.
func line(e forecast.Event) string {
	day := func(t time.Time) string { return t.Format("2006-01-02T15:04") }
	var b strings.Builder
	b.WriteString(day(e.At))
	if e.Overdue {
		b.WriteString(" overdue")
	}
	if !e.Late.IsZero() {
		b.WriteString(" late " + day(e.Late))
	}
	if !e.To.IsZero() {
		b.WriteString(" to " + day(e.To))
	}
	fmt.Fprintf(&b, " %s", e.Actor)
	if e.Rule != "" {
		fmt.Fprintf(&b, " %q", e.Rule)
	}
	fmt.Fprintf(&b, " %s", e.Action)
	for _, p := range e.Paths {
		b.WriteString(" " + strings.TrimPrefix(p, "control/etcd-cluster-"))
	}
	if e.Versions > 0 {
		fmt.Fprintf(&b, " versions %d", e.Versions)
	}
	if s := e.Snapshots; s != nil {
		fmt.Fprintf(&b, " %d snapshots", s.Count)
		if s.Continues {
			b.WriteString(" and so on")
		}
	}
	if !e.Until.IsZero() {
		b.WriteString(" until " + day(e.Until))
	}
	fmt.Fprintf(&b, " -> %s, %d left, %s", e.State, e.Window.Count, e.Severity)
	if e.IfReset != nil {
		fmt.Fprintf(&b, ", %d if reset", e.IfReset.Count)
	}
	return b.String()
}

// daily are snapshots of the noon of so many days, the last of today, and one of
// a quarter of an hour ago.
func daily(days int) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		var all []audit.Snapshot
		for i := days - 1; i >= 0; i-- {
			all = append(all, snapshot(o.Store, noon.Add(-time.Duration(i)*audit.Day-30*time.Minute), 50_000))
		}
		all = append(all, snapshot(o.Store, noon.Add(-15*time.Minute), 50_000))
		o.Listing.Value.Snapshots = all
		o.NewestMeta = audit.Is(meta(o.Store, all[len(all)-1], 3, "3.5.30"))
	}
}

// keeps90 is what kops configures by default.
var keeps90 = kopsSays(func(k *audit.Kops) { k.Hourly, k.Daily = 7*audit.Day, 90*audit.Day })

// aged makes the control files that old.
func aged(created, spec time.Duration) func(o *audit.Observation) {
	return all(bornAtTime(noon.Add(-created)), specIs(specGood, noon.Add(-spec)), versionsOfToday)
}

// versionsOfToday are the current versions of the control files.
func versionsOfToday(o *audit.Observation) {
	o.ControlVersions = audit.Is([]audit.Version{version(o.Created.Value, o.Created.Value.VersionID, true), version(o.Spec.Value, o.Spec.Value.VersionID, true)})
}

func noncurrentDays(days int) string {
	return fmt.Sprintf("<Rule><ID>old</ID><Status>Enabled</Status><Filter/><NoncurrentVersionExpiration><NoncurrentDays>%d</NoncurrentDays></NoncurrentVersionExpiration></Rule>", days)
}

// snapshotsOnly is a rule for snapshots alone.
func snapshotsOnly(days int) string {
	return lifecycleRule("snapshots", prefixed(mainRoot+"20"), fmt.Sprintf("<Days>%d</Days>", days))
}

type forecastCase struct {
	seen     func(o *audit.Observation)
	policy   func(p *audit.Policy)
	within   time.Duration
	proposed *lifecycle.Configuration
	want     []string // the events but those of the cleanup
	cleanup  []string // those of the cleanup, where they matter
	verdict  audit.Verdict
	state    etcdmanager.State
	final    etcdmanager.State
	noReturn string
	reset    string
	lost     string
	says     []string
	never    []string
}

var forecastCases = map[string]forecastCase{
	"nothing acts but the cleanup": {seen: all(daily(30), keeps90), within: 60 * audit.Day,
		cleanup: []string{`2026-11-30T12:45 retention "the earliest of each hour" deletes 1 snapshots and so on -> running, 33 left, info`},
		verdict: audit.OK, state: "running", final: "running"},
	"spec was rewritten since: created goes first": {seen: all(daily(85), keeps90, aged(85*audit.Day, 20*audit.Day), lifecycleRules(expireAll(90))), within: 120 * audit.Day,
		want: []string{
			`2026-12-06T00:00 lifecycle "prune" hides created -> imminent, 220 left, critical`,
			`2026-12-06T00:00 etcd-manager resets -> running, 220 left, critical`,
			`2027-03-05T00:00 retention "older than the daily retention" loses -> running, 0 left, warning`,
		},
		verdict: audit.VerdictCritical, state: "running", final: "running", noReturn: "2026-12-06T00:00", reset: "2026-12-06T00:00", lost: "2027-03-05T00:00",
		says: []string{"created goes first: reset with nobody touching it. etcd-cluster-spec stays until 2027-02-09 00:00:00Z", "makes a NEW, EMPTY cluster"}},
	"both equally old: armed at best": {seen: all(daily(60), keeps90, aged(60*audit.Day, 60*audit.Day), lifecycleRules(expireAll(90))), within: 150 * audit.Day,
		want: []string{
			`2026-12-31T00:00 lifecycle "prune" hides created spec -> armed, 254 left, warning, 254 if reset`,
			`2027-01-01T00:00 to 2027-03-30T00:00 lifecycle "prune" hides 227 snapshots -> armed, 27 left, warning, 1 if reset`,
			`2027-03-30T23:45 retention "older than the daily retention" would-lose -> armed, 27 left, warning, 0 if reset`,
			`2027-03-31T00:00 lifecycle "prune" hides 27 snapshots -> armed, 0 left, warning, 0 if reset`,
			`2027-03-31T00:00 lifecycle "prune" loses -> armed, 0 left, warning, 0 if reset`,
		},
		verdict: audit.VerdictWarning, state: "running", final: "armed", noReturn: "2026-12-31T00:00", lost: "2027-03-31T00:00",
		says: []string{"armed at best, reset possible", "Backups stop; the next `kops update cluster --yes`"}, never: []string{"nobody touching it. etcd-cluster-spec stays"}},
	"spec goes first, created follows": {seen: all(keeps90, aged(10*audit.Day, 85*audit.Day), lifecycleRules(expireAll(90))), within: 90 * audit.Day,
		want: []string{
			`2026-12-06T00:00 lifecycle "prune" hides spec -> latent, 137 left, critical`,
			`2027-02-19T00:00 lifecycle "prune" hides created -> armed, 6 left, warning, 6 if reset`,
		},
		verdict: audit.VerdictCritical, state: "running", final: "armed", noReturn: "2027-02-19T00:00",
		says: []string{"spec goes first: backups go on until the leader changes, and then stop. etcd-cluster-created stays until 2027-02-19 00:00:00Z"}},
	"without versions it is for good": {seen: all(keeps90, unversioned, aged(89*audit.Day, audit.Day), lifecycleRules(expireAll(90))), within: 20 * audit.Day,
		want: []string{
			`2026-12-02T00:00 lifecycle "prune" deletes created -> imminent, 41 left, critical`,
			`2026-12-02T00:00 etcd-manager resets -> running, 41 left, critical`,
		}, verdict: audit.VerdictCritical, state: "running", final: "running", noReturn: "2026-12-02T00:00", reset: "2026-12-02T00:00"},
	"hidden, destroyed, unmarked: with lag each stage loses a day": {
		seen: all(keeps90, aged(60*audit.Day, 60*audit.Day), lifecycleRules(lifecycleRule("odd", prefixed(mainRoot+"control/"), "<Days>90</Days>")+noncurrentDays(30))), within: 200 * audit.Day,
		want: []string{
			`2026-12-31T00:00 lifecycle "odd" hides created spec until 2027-01-30T00:00 -> armed, 195 left, warning, 195 if reset`,
			`2027-01-30T00:00 late 2027-01-31T00:00 lifecycle "old" destroys created spec -> armed, 195 left, warning, 31 if reset`,
			`2027-03-30T23:55 retention "older than the daily retention" would-lose -> armed, 195 left, warning, 0 if reset`,
			`2027-03-31T00:00 late 2027-04-01T00:00 lifecycle "odd" unmarks created spec versions 2 -> armed, 195 left, info, 0 if reset`,
		}, verdict: audit.VerdictWarning, state: "running", final: "armed", noReturn: "2026-12-31T00:00",
		says: []string{"No version of it is left: it can only be written anew."}},
	"archived, and later deleted": {seen: all(keeps90, aged(60*audit.Day, 60*audit.Day), sizeDefault(lifecycle.VariesByClass), lifecycleRules(transitionRule(70, "GLACIER", prefixed(mainRoot+"control/"))+
		lifecycleRule("odd", prefixed(mainRoot+"control/etcd-cluster-created"), "<Days>90</Days>"))), within: 60 * audit.Day,
		want: []string{
			`2026-12-11T00:00 lifecycle "cold" archives created spec -> blocked, 175 left, warning`,
			`2026-12-31T00:00 lifecycle "odd" hides created -> armed, 175 left, warning, 11 if reset`,
		}, verdict: audit.VerdictWarning, state: "running", final: "armed", noReturn: "2026-12-31T00:00",
		says: []string{"Every cycle of etcd-manager then ends with an error"}},
	"the ladder is cut": {seen: all(daily(60), keeps90, aged(400*audit.Day, 400*audit.Day), lifecycleRules(snapshotsOnly(30))), within: 60 * audit.Day,
		want: []string{
			`2026-11-02T00:00 overdue to 2026-12-31T00:00 lifecycle "snapshots" hides 60 snapshots and so on -> running, 194 left, warning`,
		}, verdict: audit.VerdictWarning, state: "running", final: "running"},
	"lawful pruning is information": {seen: all(daily(60), keeps90, aged(400*audit.Day, 400*audit.Day), lifecycleRules(snapshotsOnly(90))), within: 200 * audit.Day,
		verdict: audit.OK, state: "running", final: "running"},
	"a proposal that is worse": {seen: all(keeps90, aged(60*audit.Day, 20*audit.Day)), proposed: parsed(expireAll(90)), within: 31 * audit.Day,
		want: []string{
			`2026-12-31T00:00 lifecycle "prune" hides created -> imminent, 195 left, warning`,
			`2026-12-31T00:00 etcd-manager resets -> running, 195 left, warning`,
		}, verdict: audit.VerdictWarning, state: "running", final: "running", noReturn: "2026-12-31T00:00", reset: "2026-12-31T00:00"},
	"a proposal without rules": {seen: all(keeps90, aged(60*audit.Day, 20*audit.Day), lifecycleRules(expireAll(90))), proposed: &lifecycle.Configuration{}, within: 31 * audit.Day,
		verdict: audit.OK, state: "running", final: "running"},
	"the rules were not seen": {seen: all(keeps90, unseen(audit.FactLifecycle)), within: 31 * audit.Day,
		verdict: audit.VerdictUnknown, state: "running", final: "running", says: []string{"it does NOT follow that nothing is"}},
	"the rules were not seen, and S3 announces it": {seen: all(keeps90, announced, unseen(audit.FactLifecycle)), within: 31 * audit.Day,
		want:    []string{`2026-12-05T00:00 lifecycle "prune" hides created spec -> armed, 113 left, critical, 113 if reset`},
		says:    []string{"it does NOT follow that nothing is", "as S3's x-amz-expiration header says"},
		verdict: audit.VerdictCritical, state: "running", final: "armed", noReturn: "2026-12-05T00:00"},
	"a rule that is not understood": {seen: all(keeps90, lifecycleRules("<Rule><ID>odd</ID><Status>Enabled</Status><Filter/><Magic>1</Magic></Rule>")), within: 31 * audit.Day,
		verdict: audit.VerdictUnknown, state: "running", final: "running", says: []string{"lifecycle rule odd holds Magic"}},
	"the snapshots were not seen": {seen: all(keeps90, aged(85*audit.Day, 20*audit.Day), lifecycleRules(expireAll(90)), unseen(audit.FactListing)), within: 31 * audit.Day,
		want: []string{
			`2026-12-06T00:00 lifecycle "prune" hides created -> imminent, 0 left, critical`,
			`2026-12-06T00:00 etcd-manager resets -> running, 0 left, critical`,
		}, verdict: audit.VerdictCritical, state: "unknown", final: "running", noReturn: "2026-12-06T00:00", reset: "2026-12-06T00:00",
		says: []string{"what can be restored, is not told"}},
	"created was not seen, but is listed": {seen: all(keeps90, aged(85*audit.Day, 20*audit.Day), controlListed, lifecycleRules(expireAll(90)), unseen(audit.FactCreated)), within: 31 * audit.Day,
		want:    []string{`2026-12-06T00:00 lifecycle "prune" hides created -> imminent, 2 left, critical`, `2026-12-06T00:00 etcd-manager resets -> running, 2 left, critical`},
		verdict: audit.VerdictCritical, state: "unknown", final: "running", noReturn: "2026-12-06T00:00", reset: "2026-12-06T00:00"},
	"armed now, and no rule": {seen: all(keeps90, loseBoth, newestAt(time.Hour)), within: 200 * audit.Day,
		want:    []string{`2027-02-28T10:59 retention "older than the daily retention" would-lose -> armed, 1 left, warning, 0 if reset`},
		verdict: audit.VerdictCritical, state: "armed", final: "armed"},
	"armed now, and the rule is still there": {seen: all(keeps90, loseBoth, newestAt(10*audit.Day), lifecycleRules(expireAll(90))), within: 200 * audit.Day,
		want: []string{
			`2027-02-18T11:59 retention "older than the daily retention" would-lose -> armed, 1 left, warning, 0 if reset`,
			`2027-02-19T00:00 lifecycle "prune" hides 1 snapshots -> armed, 0 left, warning, 0 if reset`,
			`2027-02-19T00:00 lifecycle "prune" loses -> armed, 0 left, warning, 0 if reset`,
		}, verdict: audit.VerdictCritical, state: "armed", final: "armed", lost: "2027-02-19T00:00"},
	"imminent": {seen: all(keeps90, loseCreated, daily(100)), within: 100 * audit.Day,
		want: []string{
			`2026-11-30T12:00 etcd-manager resets -> running, 91 left, critical`,
			`2027-02-28T11:30 retention "older than the daily retention" loses -> running, 0 left, warning`,
		}, verdict: audit.VerdictCritical, state: "imminent", final: "running", reset: "2026-11-30T12:00", lost: "2027-02-28T11:30"},
	"imminent, but for a command that does not parse": {seen: all(keeps90, loseCreated, queuedBody("{", noon)), within: 10 * audit.Day,
		verdict: audit.VerdictCritical, state: "imminent", final: "imminent"},
	"due for months": {seen: all(keeps90, aged(400*audit.Day, 20*audit.Day), lifecycleRules(expireAll(90))), within: 5 * audit.Day,
		want: []string{
			`2026-01-25T00:00 overdue lifecycle "prune" hides created -> imminent, 5 left, critical`,
			`2026-11-30T12:00 etcd-manager resets -> running, 5 left, critical`,
		}, verdict: audit.VerdictCritical, state: "running", final: "running", noReturn: "2026-01-25T00:00", reset: "2026-11-30T12:00"},
	"a replica": {seen: all(aged(85*audit.Day, 20*audit.Day), lifecycleRules(expireAll(90))), policy: func(p *audit.Policy) { p.Role = audit.Replica }, within: 31 * audit.Day,
		want:    []string{`2026-12-06T00:00 lifecycle "prune" hides created -> imminent, 7 left, info`},
		verdict: audit.OK, state: "running", final: "imminent", noReturn: "2026-12-06T00:00"},
	"it stands still though the files are well": {seen: all(keeps90, newestAt(3*audit.Day)), within: 100 * audit.Day,
		verdict: audit.OK, state: "running", final: "running", says: []string{"no backups are taken any more"}},
	"Object Lock makes the cleanup wait": {seen: all(keeps90, lockedFor(30*audit.Day), daily(3)), within: 31 * audit.Day,
		cleanup: []string{`2026-12-30T11:45 retention "the earliest of each hour" deletes 1 snapshots and so on -> running, 200 left, info`},
		verdict: audit.OK, state: "running", final: "running", says: []string{"Object Lock holds every snapshot for 30d"}},
}

// controlListed puts the control files as they are into the listing.
func controlListed(o *audit.Observation) {
	o.Listing.Value.Control = []audit.Object{o.Created.Value.Object, o.Spec.Value.Object}
}

func parsed(rules string) *lifecycle.Configuration {
	c, err := lifecycle.Parse([]byte("<LifecycleConfiguration>" + rules + "</LifecycleConfiguration>"))
	if err != nil {
		panic(err)
	}
	return &c
}

// A store of two years' retention, under a rule that matches everything, far ahead.
func BenchmarkForecast(b *testing.B) {
	o := healthy()
	all(daily(730), aged(700*audit.Day, 600*audit.Day), lifecycleRules(expireAll(720)+noncurrentDays(30)))(o)
	for b.Loop() {
		Forecast(o, audit.DefaultPolicy(), noon, 0, nil)
	}
}

func TestForecast(t *testing.T) {
	for name, c := range forecastCases {
		t.Run(name, func(t *testing.T) {
			o, p := healthy(), audit.DefaultPolicy()
			if c.seen != nil {
				c.seen(o)
			}
			if c.policy != nil {
				c.policy(&p)
			}
			before := asJSON(t, o)
			tl := Forecast(o, p, noon, c.within, c.proposed)
			if asJSON(t, o) != before {
				t.Error("the forecast changed the observation")
			}
			var got, cleanup, text []string
			for _, e := range tl.Events {
				if e.Actor == forecast.ByRetention && e.Snapshots != nil {
					cleanup = append(cleanup, line(e))
				} else {
					got = append(got, line(e))
				}
				text = append(text, e.Meaning, e.Unsure)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("events\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
			if c.cleanup != nil && !slices.Equal(cleanup, c.cleanup) {
				t.Errorf("cleanup\n  %s\nwant\n  %s", strings.Join(cleanup, "\n  "), strings.Join(c.cleanup, "\n  "))
			}
			stamp := func(t time.Time) string {
				if t.IsZero() {
					return ""
				}
				return t.Format("2006-01-02T15:04")
			}
			if tl.Verdict != c.verdict || tl.State != c.state || tl.FinalState != c.final {
				t.Errorf("verdict %s, state %s, at the end %s; want %s, %s, %s", tl.Verdict, tl.State, tl.FinalState, c.verdict, c.state, c.final)
			}
			if stamp(tl.NoReturn) != c.noReturn || stamp(tl.Reset) != c.reset || stamp(tl.Lost) != c.lost {
				t.Errorf("no return %q, reset %q, lost %q; want %q, %q, %q", stamp(tl.NoReturn), stamp(tl.Reset), stamp(tl.Lost), c.noReturn, c.reset, c.lost)
			}
			for _, g := range tl.Gaps {
				text = append(text, g.Reason, g.Means)
			}
			all := strings.Join(append(text, tl.Assumes...), "\n")
			for _, w := range c.says {
				if !strings.Contains(all, w) {
					t.Errorf("nothing says %q:\n%s", w, all)
				}
			}
			for _, w := range c.never {
				if strings.Contains(all, w) {
					t.Errorf("something says %q", w)
				}
			}
		})
	}
}

// All that is overdue goes in S3's next run, in an order that nobody knows: a reset is
// possible then, and later midnights bring it in their order.
func TestForecastSaysThatAResetIsPossible(t *testing.T) {
	for name, c := range map[string]struct {
		created, spec time.Duration
		days          int
		want          time.Time
		says          string
	}{
		"both overdue":      {60 * audit.Day, 50 * audit.Day, 20, noon, "Both control files are overdue, since "},
		"the same midnight": {60 * audit.Day, 60 * audit.Day, 70, midnight.AddDate(0, 0, 10), "Both control files go at the same midnight"},
		"created first":     {60 * audit.Day, 50 * audit.Day, 70, time.Time{}, "created goes first"},
	} {
		o := healthy()
		all(aged(c.created, c.spec), lifecycleRules(expireAll(c.days)))(o)
		tl := Forecast(o, audit.DefaultPolicy(), noon, 0, nil)
		if !tl.ResetPossible.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, tl.ResetPossible, c.want)
		}
		if !slices.ContainsFunc(tl.Events, func(e forecast.Event) bool { return strings.HasPrefix(e.Meaning, c.says) }) {
			t.Errorf("%s: %+v does not say %q", name, tl.Events, c.says)
		}
	}
}

// Of a time before the last write nothing is told, and least of all that all is well.
func TestForecastInventsNoPast(t *testing.T) {
	o := healthy()
	tl := Forecast(o, audit.DefaultPolicy(), noon.AddDate(-6, 0, 0), 0, nil)
	if tl.Verdict != audit.VerdictUnknown || tl.State != etcdmanager.Unknown || tl.Window.Known || tl.FinalWindow.Known || len(tl.Events) > 0 || len(tl.Gaps) != 1 {
		t.Errorf("%+v", tl)
	}
	if why, ok := WrittenAfter(o, noon); ok {
		t.Errorf("of the time of the look: %s", why)
	}
}

// A store of a grown cluster in which nothing can be restored is in trouble now, as
// the audit says.
func TestForecastOfNothingToRestore(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *audit.Observation)
		want   audit.Verdict
	}{
		"no snapshot":         {noSnapshots, audit.VerdictCritical},
		"none in a new store": {all(noSnapshots, bornAtTime(noon.Add(-time.Minute))), audit.OK},
		"some":                {all(), audit.OK},
	} {
		o := healthy()
		c.change(o)
		if tl := Forecast(o, audit.DefaultPolicy(), noon, 0, nil); tl.Verdict != c.want {
			t.Errorf("%s: %s (%s, %s), want %s", name, tl.Verdict, tl.State, tl.Window, c.want)
		}
	}
}

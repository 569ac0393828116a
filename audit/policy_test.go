package audit

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var policyNoon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// judged judges an observation by a policy, at noon.
func judged(o *Observation, p Policy, rules ...Rule) StoreReport {
	return Judge(Ruleset{Rules: rules, State: func(*Observation, Policy, time.Time) StoreState { return StoreState{} }}, o, p, policyNoon)
}

// A window silences the age of snapshots from its beginning to max(2 intervals,
// 1 h) after its end, to the second.
func TestResting(t *testing.T) {
	began := policyNoon
	for name, c := range map[string]struct {
		interval time.Duration
		windows  []Window
		at       time.Duration
		want     bool
	}{
		"no window":                   {0, nil, 0, false},
		"it never began":              {0, []Window{{For: time.Hour}}, 0, false},
		"a second before":             {0, []Window{{For: time.Hour, Began: began}}, -time.Second, false},
		"its first moment":            {0, []Window{{For: time.Hour, Began: began}}, 0, true},
		"within":                      {0, []Window{{For: 11 * time.Hour, Began: began}}, 10 * time.Hour, true},
		"an hour after its end":       {0, []Window{{For: 11 * time.Hour, Began: began}}, 12 * time.Hour, true},
		"and a second":                {0, []Window{{For: 11 * time.Hour, Began: began}}, 12*time.Hour + time.Second, false},
		"two long intervals":          {2 * time.Hour, []Window{{For: 11 * time.Hour, Began: began}}, 15 * time.Hour, true},
		"and a second of those":       {2 * time.Hour, []Window{{For: 11 * time.Hour, Began: began}}, 15*time.Hour + time.Second, false},
		"the second of two counts":    {0, []Window{{For: time.Hour, Began: began.Add(-30 * Day)}, {For: time.Hour, Began: began}}, time.Hour, true},
		"a window of another time":    {0, []Window{{For: time.Hour, Began: began.Add(-30 * Day)}}, 0, false},
		"one that begins in a moment": {0, []Window{{For: 100 * Day, Began: began.Add(time.Second)}}, 0, false},
	} {
		p := DefaultPolicy()
		if c.interval != 0 {
			p.Interval = c.interval
		}
		p.Windows = c.windows
		if got := p.Resting(began.Add(c.at)); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// What kops says counts where the owner has said nothing.
func TestPolicyFor(t *testing.T) {
	o := seen()
	o.Kops = Is(Kops{Known: true, Interval: time.Hour, Hourly: 3 * Day, Daily: 90 * Day})
	p := DefaultPolicy().For(o)
	if p.Interval != time.Hour || p.KeepHourly != 3*Day || p.KeepDaily != 90*Day {
		t.Errorf("kops's word does not count: %+v", p)
	}
	own := DefaultPolicy()
	own.Given = Given{Interval: true, KeepHourly: true, KeepDaily: true}
	if p := own.For(o); !reflect.DeepEqual(p, own) {
		t.Errorf("kops's word counts more than the owner's: %+v", p)
	}
	for name, k := range map[string]Fact[Kops]{
		"none looked at": None[Kops](), "not seen": Unknown[Kops](Why{}), "kops gives nothing": Is(Kops{Known: true}),
		"kops knows no such store": Is(Kops{ClusterKnown: true, Interval: time.Hour}),
	} {
		o.Kops = k
		if p := DefaultPolicy().For(o); !reflect.DeepEqual(p, DefaultPolicy()) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	// Judge goes by it.
	o.Kops = Is(Kops{Known: true, Interval: time.Hour})
	var by time.Duration
	r := rule("a/a")
	r.Check = func(_ *Observation, p Policy, _ time.Time) []Finding { by = p.Interval; return nil }
	if judged(o, DefaultPolicy(), r); by != time.Hour {
		t.Errorf("rules judged by an interval of %v", by)
	}
}

func severities(r StoreReport) []string {
	var s []string
	for _, f := range r.Findings {
		s = append(s, string(f.Severity)+" "+f.Rule+" "+string(f.Was))
	}
	return s
}

// In a replica and an archive nobody reads the control files.
func TestRoles(t *testing.T) {
	speaking := func(ids ...string) []Rule {
		var all []Rule
		for _, id := range ids {
			all = append(all, rule(id, Found(Critical, "x").Todo("mend it")))
		}
		return all
	}
	ofLive := []string{"control/reset-armed", "queue/bad-restore", "snapshot/late", "snapshot/none", "snapshot/stale", "snapshot/events-behind", "snapshot/writer-clock", "snapshot/too-frequent",
		"lifecycle/deletes-control", "lifecycle/archives-control", "bucket/duplicate-tree", "bucket/orphan-store"}
	ofAll := []string{"snapshot/damaged", "snapshot/empty-object", "lifecycle/cuts-ladder", "bucket/public", "audit/store-vanished", "controls/x"}
	for _, role := range []Role{Replica, Archive} {
		p := DefaultPolicy()
		p.Role = role
		r := judged(seen(), p, speaking(ofLive...)...)
		if r.Verdict != OK || r.Role != role || len(r.Findings) != len(ofLive) {
			t.Errorf("%s: verdict %s, role %q, %q", role, r.Verdict, r.Role, severities(r))
		}
		for _, f := range r.Findings {
			if f.Severity != Info || f.Was != Critical || len(f.Do) > 0 || !strings.HasPrefix(f.Message, "of no consequence in a store that is configured as "+string(role)+": x") {
				t.Errorf("%s: %+v", role, f)
			}
		}
		for _, f := range judged(seen(), p, speaking(ofAll...)...).Findings {
			if f.Severity != Critical || f.Was != "" {
				t.Errorf("%s: %+v", role, f)
			}
		}
		o := seen()
		o.Created = Fact[Document]{}
		if r := judged(o, p, rule("control/unseen", Found(Unsure, "x"))); r.Verdict != VerdictUnknown || r.Findings[0].Severity != Unsure {
			t.Errorf("%s: what was not seen is %s, %q", role, r.Verdict, severities(r))
		}
		// A store that a cluster was seen to write to is a live one.
		o = seen()
		o.Kops = Is(Kops{Known: true})
		if r := judged(o, p, speaking("control/reset-armed")...); r.Verdict != VerdictCritical || r.Role != "" {
			t.Errorf("%s, and kops names it: %s %q", role, r.Verdict, r.Role)
		}
	}
	for _, role := range []Role{"", Live} {
		p := DefaultPolicy()
		p.Role = role
		if r := judged(seen(), p, speaking("control/reset-armed")...); r.Verdict != VerdictCritical || r.Role != "" {
			t.Errorf("live as %q: %s %q", role, r.Verdict, r.Role)
		}
	}
}

// An acknowledgement is for one event of one rule, and for good.
func TestAcknowledged(t *testing.T) {
	event := func(s Severity, event string) Finding { f := Found(s, "a reset"); f.Event = event; return f }
	p := DefaultPolicy()
	p.Acknowledged = []Acknowledgement{{Rule: "control/reseeded", Event: "17", Reason: "planned"}}
	for name, c := range map[string]struct {
		rule string
		f    Finding
		want string
	}{
		"the event":            {"control/reseeded", event(Critical, "17"), "info control/reseeded critical"},
		"a new event":          {"control/reseeded", event(Critical, "18"), "critical control/reseeded "},
		"no event":             {"control/reseeded", event(Critical, ""), "critical control/reseeded "},
		"another rule's":       {"control/altered", event(Warning, "17"), "warning control/altered "},
		"information already":  {"control/reseeded", event(Info, "17"), "info control/reseeded "},
		"what was not seen":    {"control/reseeded", event(Unsure, "17"), "unknown control/reseeded "},
		"a warning, the event": {"control/reseeded", event(Warning, "17"), "info control/reseeded warning"},
	} {
		if got := severities(judged(seen(), p, rule(c.rule, c.f))); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	f := judged(seen(), p, rule("control/reseeded", event(Critical, "17"))).Findings[0]
	if f.Message != "acknowledged (planned): a reset" || f.Event != "17" {
		t.Errorf("%+v", f)
	}
	p.Acknowledged[0].Event = ""
	if r := judged(seen(), p, rule("control/reseeded", event(Critical, ""))); r.Verdict != VerdictCritical {
		t.Error("an acknowledgement without an event is for every finding")
	}
}

// A rule is ignored until its end, and not one moment longer.
func TestIgnored(t *testing.T) {
	policy := func(until time.Duration) Policy {
		p := DefaultPolicy()
		p.Ignore = []Ignore{{Rule: "a/a", Until: policyNoon.Add(until), Reason: "booked"}}
		return p
	}
	r := judged(seen(), policy(12*time.Hour), rule("a/a", Found(Critical, "x").Todo("mend it")))
	if f := r.Findings[0]; r.Verdict != OK || f.Severity != Info || f.Was != Critical || f.Message != "ignored until 2026-12-01 (booked): x" || f.Do != nil {
		t.Errorf("%s %+v", r.Verdict, f)
	}
	for name, c := range map[string]struct {
		until time.Duration
		rule  string
		s     Severity
		want  Severity
	}{
		"a second before its end": {time.Second, "a/a", Warning, Info},
		"its end":                 {0, "a/a", Warning, Warning},
		"long ended":              {-100 * Day, "a/a", Critical, Critical},
		"another rule":            {Day, "a/b", Critical, Critical},
		"what was not seen":       {Day, "a/a", Unsure, Unsure},
	} {
		if got := judged(seen(), policy(c.until), rule(c.rule, Found(c.s, "x"))).Findings[0].Severity; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	// An unseen fact makes UNKNOWN, whatever is ignored.
	o := seen()
	o.Bucket.Lifecycle = Fact[Document]{}
	if r := judged(o, policy(Day), rule("a/a", Found(Unsure, "x"))); r.Verdict != VerdictUnknown {
		t.Errorf("ignored away: %s", r.Verdict)
	}
	if got := Until(policyNoon); got != "2026-11-30 12:00:00Z" {
		t.Errorf("an end within a day is written %s", got)
	}
}

// What is ignored does not explain away what is worse; what is not, still does.
func TestIgnoredExplainsNothingAway(t *testing.T) {
	greater := rule("a/greater", Found(Critical, "why"))
	greater.Supersedes = []Superseded{{Rule: "a/lesser"}}
	rules := []Rule{greater, rule("a/lesser", Found(Warning, "what"))}
	p := DefaultPolicy()
	p.Ignore = []Ignore{{Rule: "a/greater", Until: policyNoon.Add(Day), Reason: "r"}}
	if got := severities(judged(seen(), p, rules...)); !slices.Equal(got, []string{"warning a/lesser ", "info a/greater critical"}) {
		t.Errorf("the greater ignored: %q", got)
	}
	p.Ignore = append(p.Ignore, Ignore{Rule: "a/lesser", Until: policyNoon.Add(Day), Reason: "r"})
	if got := severities(judged(seen(), p, rules...)); !slices.Equal(got, []string{"info a/greater critical"}) {
		t.Errorf("both ignored: %q", got)
	}
	p.Ignore = p.Ignore[1:]
	if got := severities(judged(seen(), p, rules...)); !slices.Equal(got, []string{"critical a/greater "}) {
		t.Errorf("the lesser ignored: %q", got)
	}
}

// An event that is acknowledged is known with all that comes of it.
func TestAcknowledgedExplains(t *testing.T) {
	found := Found(Critical, "why")
	found.Event = "17"
	greater := rule("a/greater", found)
	greater.Supersedes = []Superseded{{Rule: "a/lesser"}}
	p := DefaultPolicy()
	p.Acknowledged = []Acknowledgement{{Rule: "a/greater", Event: "17", Reason: "planned"}}
	r := judged(seen(), p, greater, rule("a/lesser", Found(Warning, "what")))
	if got := severities(r); !slices.Equal(got, []string{"info a/greater critical"}) || len(r.Findings[0].Evidence) != 1 {
		t.Errorf("%q, evidence %+v", got, r.Findings[0].Evidence)
	}
}

func assuming(fact FactName, value string) Policy {
	p := DefaultPolicy()
	p.Assume = []Assumption{{Fact: fact, Value: value, Until: policyNoon.Add(Day), Reason: "console"}}
	return p
}

func unable[T any](c Cause) Fact[T] {
	return Unknown[T](Why{Cause: c, Reason: "HTTP 501 NotImplemented"})
}

// An assumption stands in for a provider that cannot tell.
func TestAssume(t *testing.T) {
	blind := func(c Cause) *Observation {
		o := seen()
		o.Bucket.Lifecycle, o.Bucket.Versioning, o.ControlVersions = unable[Document](c), unable[string](c), unable[[]Version](c)
		return o
	}
	var saw *Observation
	look := rule("a/a")
	look.Check = func(o *Observation, _ Policy, _ time.Time) []Finding { saw = o; return nil }

	both := assuming(FactLifecycle, "none")
	both.Assume = append(both.Assume, assuming(FactVersioning, "enabled").Assume...)
	for _, c := range []Cause{CauseUnsupported, CauseForeign, CauseMalformed, CauseNotRecorded} {
		if r := judged(blind(c), both, look); r.Verdict != OK || !r.Checked() {
			t.Errorf("%s: %s, unseen %v", c, r.Verdict, r.Unseen)
		}
		if saw.Bucket.Lifecycle.State != Unset || saw.Bucket.Versioning.Value != "Enabled" || !saw.Bucket.Lifecycle.Assumed || saw.Bucket.Lifecycle.Why == nil {
			t.Errorf("%s: rules saw %+v", c, saw.Bucket)
		}
	}
	for _, c := range []Cause{CauseDenied, CauseCredentials, CauseThrottled, CauseUnreachable, CauseTimeout, CauseNotAsked, CauseRedirect, CauseNoBucket, CauseTooBig, CauseServer, CauseOther} {
		if r := judged(blind(c), both, look); r.Verdict != VerdictUnknown {
			t.Errorf("%s is assumed away: %s", c, r.Verdict)
		}
	}
	if r := judged(blind(CauseUnsupported), assuming(FactLifecycle, "none"), look); r.Verdict != VerdictUnknown {
		t.Errorf("one of two facts is assumed: %s", r.Verdict)
	}
	judged(blind(CauseUnsupported), assuming(FactVersioning, "suspended"), look)
	if saw.Bucket.Versioning.Value != "Suspended" || saw.ControlVersions.Seen() {
		t.Errorf("suspended: %+v, versions %+v", saw.Bucket.Versioning, saw.ControlVersions)
	}
	// A bucket that never had versions has no old ones.
	judged(blind(CauseUnsupported), assuming(FactVersioning, "off"), look)
	if saw.Bucket.Versioning.State != Unset || saw.ControlVersions.State != Unset {
		t.Errorf("off: %+v, versions %+v", saw.Bucket.Versioning, saw.ControlVersions)
	}
	o := blind(CauseUnsupported)
	o.ControlVersions = unable[[]Version](CauseDenied)
	if judged(o, assuming(FactVersioning, "off"), look); saw.ControlVersions.Seen() {
		t.Error("old versions that were refused are assumed away")
	}
	// Its end.
	for at, want := range map[time.Duration]Standing{time.Second: InForce, 0: Expired, -Day: Expired} {
		a := assuming(FactLifecycle, "none").Assume[0]
		a.Until = policyNoon.Add(at)
		if got := a.Standing(blind(CauseUnsupported), policyNoon); got != want {
			t.Errorf("it ends in %v: %s, want %s", at, got, want)
		}
	}
	// The observation is not changed: it is judged many times.
	o = blind(CauseUnsupported)
	before, _ := json.Marshal(o)
	if judged(o, both, look); true {
		if after, _ := json.Marshal(o); string(after) != string(before) {
			t.Errorf("it changed:\n%s\n%s", before, after)
		}
	}
}

// What was seen counts, whatever is assumed.
func TestAssumeAgainstWhatWasSeen(t *testing.T) {
	var saw *Observation
	look := rule("a/a")
	look.Check = func(o *Observation, _ Policy, _ time.Time) []Finding { saw = o; return nil }
	for name, c := range map[string]struct {
		p    Policy
		seen func(o *Observation)
		want Standing
	}{
		"rules, assumed none":          {assuming(FactLifecycle, "none"), func(o *Observation) { o.Bucket.Lifecycle = Is(Document{Body: []byte("x")}) }, Wrong},
		"none, assumed none":           {assuming(FactLifecycle, "none"), nil, Unused},
		"off, assumed enabled":         {assuming(FactVersioning, "enabled"), nil, Wrong},
		"off, assumed off":             {assuming(FactVersioning, "off"), nil, Unused},
		"suspended, assumed enabled":   {assuming(FactVersioning, "enabled"), func(o *Observation) { o.Bucket.Versioning = Is("Suspended") }, Wrong},
		"suspended, assumed suspended": {assuming(FactVersioning, "suspended"), func(o *Observation) { o.Bucket.Versioning = Is("Suspended") }, Unused},
		"a fact that nobody assumes":   {assuming(FactListing, "none"), func(o *Observation) { o.Listing = unable[Listing](CauseUnsupported) }, Unused},
		"refused":                      {assuming(FactLifecycle, "none"), func(o *Observation) { o.Bucket.Lifecycle = unable[Document](CauseDenied) }, Unfit},
	} {
		o := seen()
		if c.seen != nil {
			c.seen(o)
		}
		if got := c.p.Assume[0].Standing(o, policyNoon); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if judged(o, c.p, look); saw != o {
			t.Errorf("%s: rules saw another observation", name)
		}
	}
}

// A policy comes out of a recording as it went in, but for when windows began.
func TestPolicyIsAValue(t *testing.T) {
	p := DefaultPolicy()
	p.Entry, p.Role, p.Given = "stores[3]", Replica, Given{Interval: true}
	p.Windows = []Window{{Cron: "0 20 * * *", For: time.Hour, Reason: "r"}}
	p.Assume = []Assumption{{Fact: FactLifecycle, Value: "none", Until: policyNoon, Reason: "r"}}
	p.Acknowledged = []Acknowledgement{{Rule: "a/a", Event: "1796062108385491150", Reason: "r"}}
	p.Ignore = []Ignore{{Rule: "a/a", Until: policyNoon, Reason: "r"}}
	p.Elsewhere = []string{"ignore[0]"}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back Policy
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(p, back) {
		t.Errorf("%v\n%+v\n%+v", err, p, back)
	}
	if got := p.Names(); !slices.Equal(got, []string{"assume[0]", "acknowledged[0]", "ignore[0]"}) {
		t.Errorf("names %q", got)
	}
}

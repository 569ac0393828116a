package audit

import (
	"math"
	"slices"
	"testing"
	"time"
)

func rule(id string, found ...Finding) Rule {
	return Rule{ID: id, Severities: []Severity{Info, Warning, Unsure, Critical},
		Check: func(*Observation, Policy, time.Time) []Finding { return slices.Clone(found) }}
}

// seen is an observation of which every necessary fact was seen.
func seen() *Observation {
	return &Observation{
		Listing: Is(Listing{}), Created: None[Document](), Spec: None[Document](), Queue: Is([]Command{}), NewestMeta: None[Document](),
		RestoreMeta: None[Document](), ControlVersions: None[[]Version](), ClockOffset: None[time.Duration](), Kops: None[Kops](),
		Bucket: Bucket{Versioning: None[string](), Lifecycle: None[Document]()},
	}
}

func judge(o *Observation, rules ...Rule) StoreReport {
	return Judge(Ruleset{Rules: rules, State: func(*Observation, Policy, time.Time) StoreState { return StoreState{Name: "running"} }}, o, DefaultPolicy(), time.Time{})
}

// The verdict is the worst of what was found and of what was not seen: CRITICAL,
// UNKNOWN, WARNING, OK.
func TestVerdict(t *testing.T) {
	blind := func() *Observation { o := seen(); o.Spec = Fact[Document]{}; return o }
	for name, c := range map[string]struct {
		o     *Observation
		rules []Rule
		want  Verdict
	}{
		"nothing":                         {seen(), nil, OK},
		"info changes nothing":            {seen(), []Rule{rule("a/a", Found(Info, "x"))}, OK},
		"warning":                         {seen(), []Rule{rule("a/a", Found(Warning, "x"))}, VerdictWarning},
		"unknown over warning":            {seen(), []Rule{rule("a/a", Found(Warning, "x")), rule("a/b", Found(Unsure, "x"))}, VerdictUnknown},
		"critical over unknown":           {blind(), []Rule{rule("a/a", Found(Critical, "x"))}, VerdictCritical},
		"unseen, and no rule says so":     {blind(), nil, VerdictUnknown},
		"unseen over warning":             {blind(), []Rule{rule("a/a", Found(Warning, "x"))}, VerdictUnknown},
		"a fact that is not necessary":    {func() *Observation { o := seen(); o.ControlVersions = Fact[[]Version]{}; return o }(), nil, OK},
		"a queued command that is unseen": {func() *Observation { o := seen(); o.Queue.Value = []Command{{}}; return o }(), nil, VerdictUnknown},
		"an observation of nothing":       {&Observation{}, nil, VerdictUnknown},
	} {
		if got := judge(c.o, c.rules...).Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestSupersede(t *testing.T) {
	greater := rule("a/greater", Found(Critical, "why").About("k1"))
	greater.Supersedes = []Superseded{{Rule: "a/lesser"}, {Rule: "a/same-key", SameKey: true}}
	r := judge(seen(), rule("a/lesser", Found(Warning, "what")), rule("a/same-key", Found(Warning, "one").About("k1"), Found(Warning, "two").About("k2")), greater)
	var left []string
	for _, f := range r.Findings {
		left = append(left, f.Message)
	}
	if !slices.Equal(left, []string{"why", "two"}) {
		t.Errorf("left %q", left)
	}
	if e := r.Findings[0].Evidence; len(e) != 2 || e[0] != (Evidence{Rule: "a/lesser", Message: "what"}) || e[1].Message != "one" {
		t.Errorf("evidence %+v", e)
	}
	if r := judge(seen(), rule("a/lesser", Found(Warning, "what")), func() Rule { g := rule("a/greater"); g.Supersedes = greater.Supersedes; return g }()); len(r.Findings) != 1 {
		t.Errorf("a silent rule supersedes: %+v", r.Findings)
	}
}

func TestJudgeRefusesUndeclaredSeverity(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an undeclared severity passed")
		}
	}()
	r := rule("a/a", Found(Critical, "x"))
	r.Severities = []Severity{Warning}
	judge(seen(), r)
}

func TestReport(t *testing.T) {
	store := func(url string, v Verdict, state string) StoreReport {
		return StoreReport{Store: Store{URL: url}, Verdict: v, State: StoreState{Name: state}}
	}
	r := NewReport(time.Time{}, []StoreReport{
		store("d", OK, "running"), store("c", VerdictCritical, "running"), store("b", VerdictCritical, "armed"), store("a", VerdictUnknown, "unknown"), store("e", VerdictCritical, "imminent"),
	}, nil)
	var order string
	for _, s := range r.Stores {
		order += s.Store.URL
	}
	if order != "ebcad" || r.Verdict != VerdictCritical || r.Total != 5 || r.Checked != 5 {
		t.Errorf("order %s, verdict %s, checked %d of %d", order, r.Verdict, r.Checked, r.Total)
	}
	if r := NewReport(time.Time{}, nil, nil); r.Verdict != VerdictUnknown {
		t.Errorf("no stores: %s", r.Verdict)
	}
	if r := NewReport(time.Time{}, []StoreReport{store("a", OK, "running")}, []Problem{{}}); r.Verdict != VerdictUnknown {
		t.Errorf("a place without a store beside a good one: %s", r.Verdict)
	}
}

func TestNewest(t *testing.T) {
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	snap := func(name string, taken, stored time.Duration) Snapshot {
		return Snapshot{Name: name, Taken: noon.Add(-taken), Data: &Object{LastModified: noon.Add(-stored)}, Meta: &Object{LastModified: noon.Add(-stored)}}
	}
	half := snap("half", 0, 0)
	half.Meta = nil
	hand := snap("hand", 0, 0)
	hand.Taken = time.Time{}
	copied := func(ages ...time.Duration) (l []Snapshot) {
		for _, a := range ages {
			l = append(l, snap(a.String(), a, time.Minute))
		}
		return l
	}
	for name, c := range map[string]struct {
		l      []Snapshot
		copied bool
		newest string
		age    time.Duration
	}{
		"by S3's clock, not by name":          {[]Snapshot{snap("slow clock", 40*time.Minute, 10*time.Minute), snap("older", 20*time.Minute, 20*time.Minute)}, false, "slow clock", 10 * time.Minute},
		"half a snapshot does not count":      {[]Snapshot{half, snap("whole", 30*time.Minute, 30*time.Minute)}, false, "whole", 30 * time.Minute},
		"one put there by hand does not":      {[]Snapshot{hand, snap("dated", time.Hour, time.Hour)}, false, "dated", time.Hour},
		"a copied store goes by name":         {copied(50*time.Hour, 30*time.Hour, 20*time.Hour), true, "20h0m0s", 20 * time.Hour},
		"in a copy the future does not count": {append(copied(50*time.Hour, 30*time.Hour), snap("future", -5*time.Hour, time.Minute)), true, "30h0m0s", 30 * time.Hour},
		"a clock slow by hours is no copy":    {[]Snapshot{snap("a", 5*time.Hour, 2*time.Hour), snap("b", 4*time.Hour, time.Hour)}, false, "b", time.Hour},
		"one late snapshot is no copy":        {[]Snapshot{snap("a", 50*time.Hour, time.Hour), snap("b", 3*time.Hour, 3*time.Hour)}, false, "a", time.Hour},
		"the earlier half counts":             {[]Snapshot{{Name: "meta copied", Taken: noon.Add(-9 * time.Hour), Data: &Object{LastModified: noon.Add(-9 * time.Hour)}, Meta: &Object{LastModified: noon}}}, false, "meta copied", 9 * time.Hour},
	} {
		l := Listing{Snapshots: c.l}
		s, at, ok := l.Newest(noon)
		if !ok || s.Name != c.newest || noon.Sub(at) != c.age || l.Copied() != c.copied {
			t.Errorf("%s: newest %q %v old, copied %t; want %q %v %t", name, s.Name, noon.Sub(at), l.Copied(), c.newest, c.age, c.copied)
		}
	}
	if _, _, ok := (Listing{}).Newest(noon); ok {
		t.Error("there is a newest of none")
	}
}

func TestClock(t *testing.T) {
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for offset, want := range map[time.Duration]time.Duration{
		0: 0, time.Minute: 0, -time.Minute: 0, time.Minute + time.Second: time.Minute + time.Second, -25 * time.Hour: -25 * time.Hour,
	} {
		o := &Observation{ClockOffset: Is(offset)}
		if got := o.Clock(noon).Sub(noon); got != want {
			t.Errorf("offset %v: judged %v off, want %v", offset, got, want)
		}
	}
	if got := (&Observation{}).Clock(noon); !got.Equal(noon) {
		t.Errorf("unseen offset: %v", got)
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 119 * time.Second: "119s", 2 * time.Minute: "2m", 119 * time.Minute: "119m", 2 * time.Hour: "2h", 47 * time.Hour: "47h", 48 * time.Hour: "2d", -3 * time.Hour: "-3h", math.MinInt64: "-106751d",
	} {
		if got := Span(d); got != want {
			t.Errorf("Span(%v) = %s, want %s", d, got, want)
		}
	}
}

package rules

import (
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// The dates of the control files: "never" only where everything that could take
// one away was seen.
func TestControlOf(t *testing.T) {
	due := audit.Is(midnight)
	never := audit.None[time.Time]()
	blind := func(cause audit.Cause) audit.Fact[time.Time] {
		return audit.Unknown[time.Time](audit.Why{Cause: cause})
	}
	type want struct {
		created, spec audit.Fact[time.Time]
		state         audit.State // of created
	}
	for name, c := range map[string]struct {
		seen func(o *audit.Observation)
		want want
	}{
		"no rules":             {func(*audit.Observation) {}, want{never, never, audit.Set}},
		"a rule for all":       {expireAt(midnight), want{due, due, audit.Set}},
		"a rule for the rest":  {lifecycleRules(lifecycleRule("old", prefixed(mainRoot+"20"), "<Days>90</Days>")), want{never, never, audit.Set}},
		"a rule for one":       {lifecycleRules(lifecycleRule("one", prefixed(mainRoot+etcdmanager.CreatedPath), "<Date>2026-12-01T00:00:00Z</Date>")), want{due, never, audit.Set}},
		"overdue is a date":    {expireAt(midnight.Add(-30 * audit.Day)), want{audit.Is(midnight.Add(-30 * audit.Day)), audit.Is(midnight.Add(-30 * audit.Day)), audit.Set}},
		"rules not seen":       {lifecycleRefused, want{blind(audit.CauseDenied), blind(audit.CauseDenied), audit.Set}},
		"rules cannot be read": {lifecycleRules("<Rule><ID>x</ID>"), want{blind(audit.CauseMalformed), blind(audit.CauseMalformed), audit.Set}},
		"created is missing":   {all(expireAt(midnight), loseCreated), want{never, due, audit.Unset}},
		"created not seen": {all(expireAt(midnight), func(o *audit.Observation) {
			o.Created = audit.Unknown[audit.Document](audit.Why{Cause: audit.CauseTimeout})
		}),
			want{blind(audit.CauseTimeout), due, audit.Unseen}},
		"nobody looked": {func(o *audit.Observation) { o.Created = audit.Fact[audit.Document]{} }, want{blind(audit.CauseNotAsked), never, audit.Unseen}},
		"S3 says it in a header, the rules were not seen": {all(lifecycleRefused, announced),
			want{audit.Is(time.Date(2026, 12, 5, 0, 0, 0, 0, time.UTC)), audit.Is(time.Date(2026, 12, 5, 0, 0, 0, 0, time.UTC)), audit.Set}},
	} {
		o := healthy()
		c.seen(o)
		got := ControlOf(o, noon)
		if len(got) != 2 || got[0].File != "etcd-cluster-created" || got[1].File != "etcd-cluster-spec" {
			t.Fatalf("%s: %+v", name, got)
		}
		if got[0].State != c.want.state {
			t.Errorf("%s: created is %s, want %s", name, got[0].State, c.want.state)
		}
		for i, want := range []audit.Fact[time.Time]{c.want.created, c.want.spec} {
			is := got[i].Expires
			if is.State != want.State || !is.Value.Equal(want.Value) || !want.Seen() && is.WhyUnseen().Cause != want.Why.Cause {
				t.Errorf("%s: %s expires %+v (%v), want %+v", name, got[i].File, is, is.WhyUnseen(), want)
			}
		}
		if written := got[0].LastModified; c.want.state == audit.Set && !written.Equal(o.Created.Value.LastModified) || c.want.state != audit.Set && !written.IsZero() {
			t.Errorf("%s: created was written %v", name, got[0].LastModified)
		}
	}
}

func lifecycleRefused(o *audit.Observation) {
	o.Bucket.Lifecycle = audit.Unknown[audit.Document](audit.Why{Cause: audit.CauseDenied, Reason: "refused"})
}

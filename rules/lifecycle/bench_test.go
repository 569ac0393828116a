package lifecycle

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"
)

// benchmarkRules are what a careless owner of backups has.
func benchmarkRules(t testing.TB) Configuration {
	return parsed(t, rule("expire", `"Expiration":{"Days":90}`)+","+
		`{"ID":"archive","Status":"Enabled","Filter":{"And":{"Prefix":"k","ObjectSizeGreaterThan":500}},"Transitions":[{"Days":30,"StorageClass":"GLACIER"}]}`+","+
		rule("old", `"NoncurrentVersionExpiration":{"NoncurrentDays":30,"NewerNoncurrentVersions":2},"Expiration":{"ExpiredObjectDeleteMarker":true}`)+","+
		`{"ID":"other","Status":"Enabled","Filter":{"Prefix":"z/"},"Expiration":{"Days":1}}`+","+
		`{"ID":"logs","Status":"Enabled","Filter":{"Prefix":"logs/"},"Expiration":{"Days":7},"NoncurrentVersionExpiration":{"NoncurrentDays":1}}`)
}

func benchmarkStack() []Version {
	stack := []Version{marker("m", june1)}
	for _, id := range []string{"v4", "v3", "v2", "v1"} {
		stack = append(stack, data(id, june1.Add(-time.Duration(len(stack))*day)))
	}
	return stack
}

func TestNextDoesNotAllocate(t *testing.T) {
	c, b, stack := benchmarkRules(t), Bucket{Provider: AWS, Versioning: Enabled}, benchmarkStack()
	for i := range stack {
		if n := testing.AllocsPerRun(100, func() { c.Next(b, stack, i, june15) }); n != 0 {
			t.Errorf("entry %d: %v allocations", i, n)
		}
	}
	b.Provider = Unknown
	if n := testing.AllocsPerRun(100, func() { c.Next(b, stack, 4, june15) }); n != 0 {
		t.Errorf("unknown provider: %v allocations", n)
	}
}

// BenchmarkNext predicts one version under five rules, beside an evaluator that
// follows the user guide without a thought of speed. The figure to look at is
// versions/s on one core, each with all five rules.
func BenchmarkNext(b *testing.B) {
	c, bucket, stack := benchmarkRules(b), Bucket{Provider: AWS, Versioning: Enabled}, benchmarkStack()
	for name, next := range map[string]func(i int){
		"backstop": func(i int) { c.Next(bucket, stack, i, june15) },
		"naive":    func(i int) { naiveNext(c, stack, i, june15) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				next(i % len(stack))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "versions/s")
		})
	}
}

// TestNaiveAgrees keeps the comparison fair: both give the same answers.
func TestNaiveAgrees(t *testing.T) {
	c, b, stack := benchmarkRules(t), Bucket{Provider: AWS, Versioning: Enabled}, benchmarkStack()
	for i := range stack {
		want, _ := c.Next(b, stack, i, june15)
		got := naiveNext(c, stack, i, june15)
		if got.kind != want.Kind || got.kind != None && (!got.at.Equal(want.At) || got.rule != want.Rule) {
			t.Errorf("entry %d: naive %+v, backstop %s", i, got, line(want))
		}
	}
}

// A naiveAction is what some rule would do.
type naiveAction struct {
	at   time.Time
	kind Kind
	rule string
}

// naiveNext collects what every rule would do to a version in a versioned bucket
// and sorts.
func naiveNext(c Configuration, stack []Version, i int, now time.Time) naiveAction {
	var all []naiveAction
	v := stack[i]
	for _, r := range c.Rules {
		if r.Status != "Enabled" || !naiveMatches(r, v) {
			continue
		}
		offer := func(base time.Time, days int, kind Kind) {
			at := base.AddDate(0, 0, days)
			if midnight := at.Truncate(24 * time.Hour); at.After(midnight) {
				at = midnight.AddDate(0, 0, 1)
			}
			all = append(all, naiveAction{at, kind, r.Name()})
		}
		switch {
		case i > 0:
			if x := r.NoncurrentExpiration; x != nil && (x.NewerNoncurrentVersions == nil || i-1 >= *x.NewerNoncurrentVersions) {
				offer(stack[i-1].LastModified, *x.NoncurrentDays, DestroyNoncurrent)
			}
		case v.DeleteMarker:
			if x := r.Expiration; x != nil && x.ExpiredObjectDeleteMarker != nil && len(stack) == 1 {
				offer(v.LastModified, 0, RemoveMarker)
			}
		default:
			if x := r.Expiration; x != nil && x.Days != nil {
				offer(v.LastModified, *x.Days, Hide)
			}
			for _, x := range r.Transitions {
				offer(v.LastModified, *x.Days, Transition)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b naiveAction) int {
		return cmp.Or(later(a.at, now).Truncate(24*time.Hour).Compare(later(b.at, now).Truncate(24*time.Hour)), cmp.Compare(b.kind, a.kind))
	})
	if len(all) == 0 {
		return naiveAction{}
	}
	return all[0]
}

func naiveMatches(r Rule, v Version) bool {
	if r.Filter == nil {
		return true
	}
	for _, p := range []*Predicates{&r.Filter.Predicates, r.Filter.And} {
		switch {
		case p == nil:
		case p.Prefix != nil && !strings.HasPrefix(v.Key, *p.Prefix):
			return false
		case p.ObjectSizeGreaterThan != nil && v.Size <= *p.ObjectSizeGreaterThan:
			return false
		}
	}
	return true
}

func BenchmarkTimeline(b *testing.B) {
	c, bucket, stack := benchmarkRules(b), Bucket{Provider: AWS, Versioning: Enabled}, benchmarkStack()
	b.ReportAllocs()
	for b.Loop() {
		c.Timeline(bucket, stack, june15)
	}
}

func BenchmarkParse(b *testing.B) {
	for name, doc := range map[string]string{"XML": xmlEverything, "JSON": jsonEverything} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse([]byte(doc)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

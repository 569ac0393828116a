package lifecycle

import (
	"testing"
	"time"
)

// benchmarkRules are what a careless owner of backups has.
func benchmarkRules(t testing.TB) Configuration {
	return parsed(t, rule("expire", `"Expiration":{"Days":90}`)+","+
		`{"ID":"archive","Status":"Enabled","Filter":{"And":{"Prefix":"k","ObjectSizeGreaterThan":500}},"Transitions":[{"Days":30,"StorageClass":"GLACIER"}]}`+","+
		rule("old", `"NoncurrentVersionExpiration":{"NoncurrentDays":30,"NewerNoncurrentVersions":2},"Expiration":{"ExpiredObjectDeleteMarker":true}`)+","+
		`{"ID":"other","Status":"Enabled","Filter":{"Prefix":"z/"},"Expiration":{"Days":1}}`)
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

func BenchmarkNext(b *testing.B) {
	c, bucket, stack := benchmarkRules(b), Bucket{Provider: AWS, Versioning: Enabled}, benchmarkStack()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Next(bucket, stack, i%len(stack), june15)
	}
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

package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// BenchmarkJudge judges a healthy store of 255 snapshots by every rule.
func BenchmarkJudge(b *testing.B) {
	o := healthy()
	for i := len(o.Listing.Value.Snapshots); i < 255; i++ {
		o.Listing.Value.Snapshots = append(o.Listing.Value.Snapshots, snapshot(o.Store, noon.Add(-time.Duration(i)*time.Hour), 5000))
	}
	b.ReportAllocs()
	for b.Loop() {
		if r := audit.Judge(Set, o, audit.DefaultPolicy(), noon); r.State.Name != "running" {
			b.Fatal(r.State)
		}
	}
}

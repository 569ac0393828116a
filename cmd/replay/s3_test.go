package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var monday = time.Date(2026, 1, 5, 10, 30, 0, 0, time.UTC)

// TestLifecycle holds the simulated lifecycle runs to S3's documentation.
func TestLifecycle(t *testing.T) {
	for name, c := range map[string]struct {
		versioning, sizes string
		rule              lifecycleRule
		size              int64
		want              map[int]string // what is there after the run of a day
	}{
		"an object lives from N to N+1 days": {rule: lifecycleRule{Expire: 3}, want: map[int]string{3: "STANDARD", 4: ""}},
		"with versioning it is hidden":       {versioning: "Enabled", rule: lifecycleRule{Expire: 3}, want: map[int]string{3: "STANDARD", 4: "marker STANDARD"}},
		"and then destroyed, and its marker removed": {versioning: "Enabled", rule: lifecycleRule{Expire: 3, Noncurrent: 5},
			want: map[int]string{8: "marker STANDARD", 9: ""}},
		"suspended, what was never versioned is destroyed": {versioning: "Suspended", rule: lifecycleRule{Expire: 3}, want: map[int]string{4: "marker"}},
		"a date":                         {rule: lifecycleRule{ExpireDate: moment(monday.Truncate(day).Add(2 * day))}, want: map[int]string{1: "STANDARD", 2: ""}},
		"a small object is not archived": {rule: lifecycleRule{Archive: 3, Class: "GLACIER"}, size: 1000, want: map[int]string{9: "STANDARD"}},
		"a large one is":                 {rule: lifecycleRule{Archive: 3, Class: "GLACIER"}, size: 128 << 10, want: map[int]string{3: "STANDARD", 4: "GLACIER"}},
		"a small one is, where sizes are spoken of": {rule: lifecycleRule{Archive: 3, Class: "GLACIER", LargerThan: 1}, size: 1000, want: map[int]string{4: "GLACIER"}},
		"a small one is, by the older default":      {sizes: "varies_by_storage_class", rule: lifecycleRule{Archive: 3, Class: "GLACIER"}, size: 1000, want: map[int]string{4: "GLACIER"}},
		"another prefix":                            {rule: lifecycleRule{Prefix: "b/", Expire: 1}, want: map[int]string{9: "STANDARD"}},
		"a size above":                              {rule: lifecycleRule{SmallerThan: 1000, Expire: 1}, size: 1000, want: map[int]string{9: "STANDARD"}},
		"a rule that is off":                        {rule: lifecycleRule{Disabled: true, Expire: 1}, want: map[int]string{9: "STANDARD"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{clock: &clock{now: monday}, buckets: map[string]*bucket{}, scenario: &scenario{}}
			c.rule.ID = "r"
			w.makeBucket(bucketEntry{Name: "b", Versioning: c.versioning, Sizes: c.sizes, Lifecycle: []lifecycleRule{c.rule}})
			w.scenario.Buckets = []bucketEntry{{Name: "b"}}
			w.at(midnight(w.now), w.night)
			w.buckets["b"].put(upload{key: "a/x", size: max(1, c.size)})
			for d := 1; d < 10; d++ {
				w.run(monday.Truncate(day).Add(time.Duration(d)*day + time.Minute))
				if want, asked := c.want[d]; asked {
					if got := held(w.buckets["b"]); got != want {
						t.Errorf("day %d: %q, want %q", d, got, want)
					}
				}
			}
		})
	}
}

func held(b *bucket) string {
	var all []string
	for _, s := range b.below("") {
		for _, v := range s.versions {
			switch {
			case v.Marker:
				all = append(all, "marker")
			case v.StorageClass == "":
				all = append(all, "STANDARD")
			default:
				all = append(all, v.StorageClass)
			}
		}
	}
	return strings.Join(all, " ")
}

// TestThinned shows what the cleanup was seen to keep: everything for an hour, the
// earliest of each hour, the earliest of each day, and what it cannot read.
func TestThinned(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	names := []string{
		"2025-12-01T00:00:00Z-000001", // beyond the daily retention
		"2026-03-01T01:00:00Z-000001", "2026-03-01T02:00:00Z-000001",
		"2026-03-10T10:05:00Z-000001", "2026-03-10T10:20:00Z-000001",
		"2026-03-10T11:05:00Z-000001", "2026-03-10T11:20:00Z-000001",
		"2026-03-11T00:00:00Z-000001", // in the future
		"before-upgrade",
	}
	got := fmt.Sprint(thinned(names, now, 7*day, 90*day))
	if want := "[2025-12-01T00:00:00Z-000001 2026-03-01T02:00:00Z-000001 2026-03-10T10:20:00Z-000001]"; got != want {
		t.Errorf("the cleanup deletes\n%s, want\n%s", got, want)
	}
}

package main

import (
	"strings"
	"testing"
	"time"
)

func TestShow(t *testing.T) {
	of := func(wall, cpu time.Duration, mib int64) usage { return usage{wall, cpu, mib << 20} }
	all := []*contestant{
		{name: "ours", measured: []usage{of(5, 6, 40), of(6, 7, 50), of(7, 8, 49)}},
		{name: "a", measured: []usage{of(10, 10, 3), of(10, 10, 3), of(10, 10, 3)}},
		{name: "b", measured: []usage{of(20, 20, 600), of(20, 20, 600), of(20, 20, 600)}},
	}
	var out strings.Builder
	if err := show(&out, all, targets[640]); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"wall beside a: 0.60 (0.50 to 0.70); target at most 0.60: met\n",
		"CPU beside a: 0.70 (0.60 to 0.80); target at most 0.60: MISSED\n",
		"wall beside b: 0.30 (0.25 to 0.35); target at most 0.45: met\n",
		"peak memory, MiB: 49.00 (40.00 to 50.00); target at most 48.00: MISSED\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, out.String())
		}
	}
}

func TestRun(t *testing.T) {
	c := &contestant{name: "sh", command: []string{"sh", "-c", "true | true"}}
	if err := c.run(); err != nil || len(c.measured) != 1 || c.measured[0].wall <= 0 || c.measured[0].rss <= 0 {
		t.Errorf("got %+v, %v", c.measured, err)
	}
	c.command[2] = "echo why; false"
	if err := c.run(); err == nil || !strings.Contains(err.Error(), "why") {
		t.Errorf("got %v", err)
	}
}

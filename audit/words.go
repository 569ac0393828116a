package audit

import (
	"fmt"
	"math"
	"time"
)

// Stamp writes an instant as reports do: UTC, to the second.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// Span writes a length of time in the largest unit that fits twice, so that a
// tired reader compares "3h" with "6h" and not "10800s".
func Span(d time.Duration) string {
	switch {
	case d == math.MinInt64:
		return Span(d + 1) // it has no positive counterpart
	case d < 0:
		return "-" + Span(-d)
	case d >= 2*Day:
		return fmt.Sprintf("%dd", d/Day)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// Plural writes a count with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

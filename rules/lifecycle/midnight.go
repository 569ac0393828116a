package lifecycle

import "time"

const day = 24 * time.Hour

// horizon is the last date the package reports. S3 accepts 2 147 483 647 days,
// which no calendar type downstream survives.
var horizon = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)

// CeilMidnight returns the first midnight UTC that is not before t. S3 rounds
// every age up to it (user guide, intro-lifecycle-rules), so that everything
// written on one UTC day becomes due at one instant.
func CeilMidnight(t time.Time) time.Time {
	floor := floorMidnight(t)
	if floor.Equal(t) {
		return floor
	}
	return floor.Add(day)
}

// RestoreEnd returns when the readable copy of an archived object goes that was
// requested for a number of days (user guide, restoring-objects). Expiration of
// the object itself is not held back by it.
func RestoreEnd(requested time.Time, days int) time.Time {
	return CeilMidnight(addDays(requested, days))
}

// floorMidnight returns the last midnight UTC that is not after t.
func floorMidnight(t time.Time) time.Time {
	sec, perDay := t.Unix(), int64(day/time.Second)
	rest := sec % perDay
	if rest < 0 {
		rest += perDay
	}
	return time.Unix(sec-rest, 0).UTC()
}

// nextMidnight returns the first midnight UTC after t.
func nextMidnight(t time.Time) time.Time {
	return floorMidnight(t).Add(day)
}

// addDays adds days of 24 hours to an instant in UTC and stops at the horizon.
// Negative numbers, which no server accepts, count as zero.
func addDays(t time.Time, days int) time.Time {
	const (
		short = 100_000     // a Duration holds so many days
		limit = 10000 * 366 // beyond it every sum is past the horizon
	)
	sum := t.UTC()
	if days <= short {
		sum = sum.Add(time.Duration(max(days, 0)) * day)
	} else {
		sum = sum.AddDate(0, 0, min(days, limit))
	}
	if sum.After(horizon) {
		return horizon
	}
	return sum
}

// later returns the later of two instants.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

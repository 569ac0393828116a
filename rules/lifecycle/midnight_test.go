package lifecycle

import (
	"math"
	"testing"
	"time"
)

func TestCeilMidnight(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"2014-01-15T10:30:00Z", "2014-01-16T00:00:00Z"},
		{"2014-01-15T00:00:00Z", "2014-01-15T00:00:00Z"},
		{"2014-01-15T23:59:59Z", "2014-01-16T00:00:00Z"},
		{"2024-03-10T23:30:00-05:00", "2024-03-12T00:00:00Z"},
		{"2024-06-05T02:00:00+02:00", "2024-06-05T00:00:00Z"},
		{"1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z"},
		{"1969-12-30T00:00:00Z", "1969-12-30T00:00:00Z"},
		{"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
		{"2024-06-05T00:00:00.000000001Z", "2024-06-06T00:00:00Z"},
	} {
		if got := CeilMidnight(at(t, c.in)); !got.Equal(at(t, c.want)) || got.Location() != time.UTC {
			t.Errorf("CeilMidnight(%s) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestAddDays(t *testing.T) {
	base := at(t, "2024-02-28T12:00:00Z")
	for _, c := range []struct {
		days int
		want time.Time
	}{
		{0, base}, {-5, base}, {1, at(t, "2024-02-29T12:00:00Z")}, {3650, base.Add(3650 * day)},
		{100_000, at(t, "2297-12-13T12:00:00Z")}, {100_001, at(t, "2297-12-14T12:00:00Z")},
		{math.MaxInt32, horizon}, {math.MaxInt, horizon}, {math.MinInt, base},
	} {
		if got := addDays(base, c.days); !got.Equal(c.want) {
			t.Errorf("addDays(%d) = %s, want %s", c.days, got, c.want)
		}
	}
}

func TestRestoreEnd(t *testing.T) {
	if got := RestoreEnd(at(t, "2012-10-15T10:30:00Z"), 3); !got.Equal(at(t, "2012-10-19T00:00:00Z")) {
		t.Errorf("got %s", got)
	}
}

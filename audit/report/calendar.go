package report

import (
	"fmt"
	"strings"
	"time"

	"backstop/audit"
)

// A calendar shows a day in a cell, a week in a column: what is left of that day's
// snapshots. Its shapes differ as well as its colours.
type calendar struct {
	Width, Height int
	Months        []label // above the columns
	Weekdays      []label
	Kinds         []dayKind
	Says          string // the same in a sentence, for who cannot see it
	Missing       string // the days, in words; empty without any
	Damaged       string
}

type label struct {
	X, Y int
	Text string
}

// A dayKind is all the days of which one thing is so.
type dayKind struct {
	Class, Title string
	Path, Mark   string // the cells, and the marks in them
	Days         int
	days         []time.Time
	LegendMark   string
}

// The geometry, in pixels: 13 weeks fit on a phone.
const (
	calendarWeeks = 13
	cellSize      = 18
	cellStep      = 23
	calendarLeft  = 30
	calendarTop   = 18
)

// dayKinds are in the order of the legend. A day is of the first kind, from the
// right, that applies.
var dayKinds = []struct{ class, title, mark string }{
	{"full", "present", ""},
	{"thin", "thinned by etcd-manager", "M%d %dm0 9v9h18v-9z"},
	{"miss", "missing", "M%d %dm5 5l8 8m0 -8l-8 8"},
	{"harm", "damaged", "M%d %dm9 4v6m0 3v1.5"},
	{"sure", "verified", "M%d %dm4.5 9.5l3 3l6 -7"},
}

// newCalendar draws what is there of the last weeks before now. thin is how old a
// snapshot may be before one of each day is enough.
func newCalendar(dots []Dot, now time.Time, thin, interval time.Duration) *calendar {
	if len(dots) == 0 {
		return nil
	}
	today := now.UTC().Truncate(audit.Day)
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	start := monday.AddDate(0, 0, -7*(calendarWeeks-1))
	c := &calendar{Width: calendarLeft + calendarWeeks*cellStep, Height: calendarTop + 7*cellStep}
	for _, k := range dayKinds {
		kind := dayKind{Class: k.class, Title: k.title}
		if k.mark != "" {
			kind.LegendMark = fmt.Sprintf(k.mark, 0, 0)
		}
		c.Kinds = append(c.Kinds, kind)
	}
	byDay := map[time.Time][]Dot{}
	for _, d := range dots {
		day := d.At.UTC().Truncate(audit.Day)
		byDay[day] = append(byDay[day], d)
	}
	first := dots[0].At.UTC().Truncate(audit.Day)
	for day := start; !day.After(today); day = day.AddDate(0, 0, 1) {
		// Of a day before the first snapshot that is left, or one that has only begun,
		// none is expected.
		if kind, ok := kindOf(byDay[day], day, first, now, thin, interval); ok {
			c.add(kind, day, start)
		}
	}
	c.frame(start, today)
	c.say(start, today)
	return c
}

// kindOf gives the index in dayKinds.
func kindOf(dots []Dot, day, first, now time.Time, thin, interval time.Duration) (kind int, ok bool) {
	good, verified, damaged := 0, false, false
	for _, d := range dots {
		verified, damaged = verified || d.Verified, damaged || d.Damaged
		if !d.Damaged {
			good++
		}
	}
	switch {
	case damaged:
		return 3, true
	case verified:
		return 4, true
	case good > 0 && (good > 1 || now.Sub(day) <= thin):
		return 0, true
	case good > 0:
		return 1, true
	case day.Before(first) || now.Sub(day) <= max(2*interval, time.Hour):
		return 0, false
	}
	return 2, true
}

// add draws a day.
func (c *calendar) add(kind int, day, start time.Time) {
	n := int(day.Sub(start) / audit.Day)
	x, y := calendarLeft+n/7*cellStep, calendarTop+n%7*cellStep
	k := &c.Kinds[kind]
	k.Path += fmt.Sprintf("M%d %dh%dv%dh-%dz", x, y, cellSize, cellSize, cellSize)
	if mark := dayKinds[kind].mark; mark != "" {
		k.Mark += fmt.Sprintf(mark, x, y)
	}
	k.Days++
	k.days = append(k.days, day)
}

// frame writes the names of months and weekdays.
func (c *calendar) frame(start, today time.Time) {
	last := time.Month(0)
	for week := range calendarWeeks {
		day := start.AddDate(0, 0, 7*week+6)
		if day.After(today) {
			day = today
		}
		// A name for a single column at the end would be cut off.
		if day.Month() != last && (day.Day() <= 7 || week == 0 && day.Day() <= 20) && week < calendarWeeks-1 {
			c.Months = append(c.Months, label{calendarLeft + week*cellStep, 11, day.Format("Jan")})
		}
		last = day.Month()
	}
	for _, d := range []int{0, 2, 4, 6} {
		c.Weekdays = append(c.Weekdays, label{0, calendarTop + d*cellStep + 13, start.AddDate(0, 0, d).Format("Mon")})
	}
}

func (c *calendar) say(start, today time.Time) {
	var parts []string
	for _, k := range c.Kinds {
		if k.Days > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", audit.Plural(k.Days, "day"), k.Title))
		}
	}
	c.Says = fmt.Sprintf("Snapshots that are left of each day from %s to %s: %s.", start.Format(time.DateOnly), today.Format(time.DateOnly), strings.Join(parts, ", "))
	if len(parts) == 0 {
		c.Says = fmt.Sprintf("Of no day from %s to %s a snapshot is left.", start.Format(time.DateOnly), today.Format(time.DateOnly))
	}
	c.Missing, c.Damaged = spans(c.Kinds[2].days), spans(c.Kinds[3].days)
}

// spans writes days, runs of them as one.
func spans(days []time.Time) string {
	const most = 6
	var all []string
	for i := 0; i < len(days); {
		j := i
		for j+1 < len(days) && days[j+1].Sub(days[j]) == audit.Day {
			j++
		}
		s := days[i].Format(time.DateOnly)
		if j > i {
			s += " to " + days[j].Format(time.DateOnly)
		}
		all = append(all, s)
		i = j + 1
	}
	if len(all) > most {
		all = append(all[:most:most], fmt.Sprintf("and %d more times", len(all)-most))
	}
	return strings.Join(all, ", ")
}

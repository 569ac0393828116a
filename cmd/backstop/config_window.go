package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"backstop/audit"
)

// cronFields are the five that everybody knows.
var cronFields = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// parseCron parses when a window begins, in UTC.
func parseCron(s string, now time.Time) (cron.Schedule, error) {
	if strings.Contains(s, "TZ=") {
		return nil, fmt.Errorf("cron %q names a time zone; windows are in UTC", s)
	}
	schedule, err := cronFields.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("cron %q is not minute, hour, day, month and weekday, as in \"0 20 * * 1-5\": %w", s, err)
	}
	if schedule.Next(now.UTC()).IsZero() {
		return nil, fmt.Errorf("cron %q never comes", s)
	}
	return schedule, nil
}

// windowsBack is how far back the last beginning of a window is looked for.
const windowsBack = 5 * 366 * audit.Day

// begun fills in when each window last began. A cron that cannot be read, as in
// a recording that was changed, began never: nothing is silenced by it.
func begun(windows []audit.Window, now time.Time) []audit.Window {
	filled := slices.Clone(windows)
	for i, w := range filled {
		filled[i].Began = time.Time{}
		if schedule, err := parseCron(w.Cron, now); err == nil {
			filled[i].Began = last(schedule, now.UTC())
		}
	}
	return filled
}

// last gives the last time of a schedule, now included. A schedule knows only
// what comes next, so it is asked from ever further back.
func last(schedule cron.Schedule, now time.Time) time.Time {
	for back := time.Minute; back < 2*windowsBack; back *= 2 {
		var found time.Time
		for t := schedule.Next(now.Add(-back)); !t.IsZero() && !t.After(now); t = schedule.Next(t) {
			found = t
		}
		if !found.IsZero() {
			return found
		}
	}
	return time.Time{}
}

// neverAwake reports whether the windows of a policy leave no moment of the year
// to come in which a backup is expected.
func neverAwake(p audit.Policy, now time.Time) bool {
	var schedules []cron.Schedule
	var windows []audit.Window
	for _, w := range p.Windows {
		if schedule, err := parseCron(w.Cron, now); err == nil {
			schedules, windows = append(schedules, schedule), append(windows, w)
		}
	}
	p.Windows = windows
	for t := now.UTC(); t.Before(now.Add(366 * audit.Day)); {
		end := t
		for i, schedule := range schedules {
			windows[i].Began = last(schedule, t)
			if w := windows[i]; !w.Began.IsZero() && w.Began.Add(w.For+p.FirstSnapshotWithin()).After(end) {
				end = w.Began.Add(w.For + p.FirstSnapshotWithin())
			}
		}
		if !p.Resting(t) {
			return false
		}
		t = end.Add(time.Second)
	}
	return true
}

package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"backstop/audit"
)

// A plot shows a number of each snapshot over time.
type plot struct {
	Title      string
	Line, Area string // paths in a square of 1000 by 100, to be stretched
	Top        string // what the upper edge is; the lower is 0
	From, To   string
	Says       string // the same in a sentence
}

// plotsOf draws what is known of the snapshots: of each its size, and of those that
// were opened what they hold.
func plotsOf(dots []Dot) []plot {
	var size, revision, keys series
	for _, d := range dots {
		if d.Damaged {
			continue
		}
		size.add(d.At, float64(d.Size))
		if d.Verified {
			revision.add(d.At, float64(d.Revision))
			keys.add(d.At, float64(d.Keys))
		}
	}
	var all []plot
	for _, s := range []struct {
		title  string
		series series
		format func(float64) string
	}{{"Size, compressed", size, sizeOf}, {"Revision, of what was verified", revision, amount}, {"Keys, of what was verified", keys, amount}} {
		if p, ok := s.series.plot(s.title, s.format); ok {
			all = append(all, p)
		}
	}
	return all
}

// A series is numbers by time.
type series struct {
	at []time.Time
	of []float64
}

func (s *series) add(at time.Time, v float64) { s.at, s.of = append(s.at, at), append(s.of, v) }

// plot draws a series of two points or more.
func (s series) plot(title string, format func(float64) string) (plot, bool) {
	n := len(s.at)
	if n < 2 || !s.at[n-1].After(s.at[0]) {
		return plot{}, false
	}
	least, most := math.Inf(1), 0.0
	for _, v := range s.of {
		least, most = min(least, v), max(most, v)
	}
	top := most * 1.1
	if top == 0 {
		top = 1
	}
	var line strings.Builder
	whole := float64(s.at[n-1].Sub(s.at[0]))
	for i, at := range s.at {
		line.WriteString(map[bool]string{true: "M", false: "L"}[i == 0])
		fmt.Fprintf(&line, "%s %s", short(1000*float64(at.Sub(s.at[0]))/whole), short(100-100*s.of[i]/top))
	}
	day := func(t time.Time) string { return t.UTC().Format("2 Jan 2006") }
	return plot{Title: title, Line: line.String(), Area: line.String() + "L1000 100L0 100z", Top: format(most), From: day(s.at[0]), To: day(s.at[n-1]),
		Says: fmt.Sprintf("%s: %s on %s, %s on %s; least %s, most %s, over %s.", title, format(s.of[0]), day(s.at[0]), format(s.of[n-1]), day(s.at[n-1]), format(least), format(most), audit.Plural(n, "snapshot"))}, true
}

// short writes a coordinate.
func short(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// sizeOf writes a size in powers of 1024.
func sizeOf(v float64) string {
	for _, unit := range []string{"bytes", "KiB", "MiB", "GiB"} {
		if v < 1024 {
			return strconv.FormatFloat(v, 'f', map[bool]int{true: 0, false: 1}[unit == "bytes" || v >= 100], 64) + " " + unit
		}
		v /= 1024
	}
	return fmt.Sprintf("%.1f TiB", v)
}

func amount(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/store/etcdmanager"
)

// A drawing is a timeline drawn to scale. Places across are in percent of its
// width, so that it is as wide as the page and its letters stay as large as they
// are.
type drawing struct {
	Height  int
	Flags   []flag
	Lanes   []lane
	Ticks   []tick
	Axis    int // where the axis lies
	Says    string
	Heads   []string // what matters, in sentences
	Events  []eventLine
	Assumes []string
	Gaps    []forecast.Gap
	Until   string
	Windows string // what can be restored now
}

// A flag marks an instant, on a pole through all lanes.
type flag struct {
	X          string
	Class      string
	Text       string
	Anchor     string // start or end
	TextX      string
	Y, From, H int
}

// A lane shows one thing over time: bars, or a line.
type lane struct {
	Title    string
	Y, BarY  int
	Bars     []bar
	Line     string // a path in a square of 1000 by 100
	AreaText string
}

// A bar is a time in which one thing is so. Text is empty where it has no room.
type bar struct {
	X, Width string
	Class    string
	Text     string
}

// A tick is a date on the axis. One in between is left out on a phone.
type tick struct {
	X, Anchor, Text string
	Between         bool
}

// An eventLine is an event in words.
type eventLine struct {
	When, Says, Then string
	Severity         audit.Severity
	Meaning, Unsure  string
}

// Pixels from top to bottom.
const (
	flagStep = 20
	laneStep = 48
	barH     = 20
)

// scale says which part of a timeline is drawn.
type scale struct{ from, to time.Time }

// scaleOf takes in what decides and a little more, and a whole timeline in which
// nothing does. What comes long after the rest would leave that no room.
func scaleOf(t forecast.Timeline) scale {
	dates := []time.Time{t.NoReturn, t.Reset, t.Lost}
	for _, c := range t.Control {
		dates = append(dates, c.Gone, c.Until)
	}
	dates = slices.DeleteFunc(dates, func(at time.Time) bool { return !at.After(t.From) || at.After(t.To) })
	if len(dates) == 0 {
		return scale{t.From, t.To}
	}
	slices.SortFunc(dates, time.Time.Compare)
	last := dates[0]
	for _, at := range dates {
		if at.Sub(t.From) <= 4*dates[0].Sub(t.From) {
			last = at
		}
	}
	to := t.From.Add(max(last.Sub(t.From)*23/20, 7*audit.Day))
	if to.After(t.To) {
		to = t.To
	}
	return scale{t.From, to}
}

// x is where an instant lies, in percent.
func (s scale) x(at time.Time) float64 {
	whole := s.to.Sub(s.from)
	if whole <= 0 {
		return 0
	}
	return min(100, max(0, 100*float64(at.Sub(s.from))/float64(whole)))
}

func percent(x float64) string { return fmt.Sprintf("%.2f%%", x) }

// draw draws a timeline.
func draw(t forecast.Timeline) *drawing {
	s := scaleOf(t)
	heads := slices.DeleteFunc(headline(t), func(h string) bool { return h == stateNow[t.State] }) // the state stands above
	// What has happened comes before what may.
	slices.SortStableFunc(heads, func(a, b string) int { return rank(b) - rank(a) })
	d := &drawing{Heads: heads, Assumes: t.Assumes, Gaps: t.Gaps, Windows: t.Window.String(),
		Until: fmt.Sprintf("Until %s: %s; restorable then: %s.", forecast.Minute(t.To), stateAt(t, t.FinalState, t.To), t.FinalWindow)}
	d.flags(t, s)
	y := 14 + flagStep*len(d.Flags)
	if t.Role == "" {
		d.lane(&y, lane{Title: "What etcd-manager does", Bars: stateBars(t, s)})
		for _, c := range t.Control {
			d.lane(&y, lane{Title: strings.TrimPrefix(c.Path, etcdmanager.ControlDir+"/"), Bars: fateBars(c, t, s)})
		}
	}
	if t.Window.Known {
		d.lane(&y, lane{Title: "Snapshots that can be restored", AreaText: fmt.Sprintf("%d now", t.Window.Count), Line: windowLine(t, s)})
	}
	d.Axis = y
	d.Height = y + 20
	for i := range d.Flags {
		d.Flags[i].H = y
	}
	d.ticks(s)
	for _, e := range lines(t) {
		d.Events = append(d.Events, eventLine{When: when(e, t.From), Says: e.Describe() + later(e), Then: then(e), Severity: e.Severity, Meaning: e.Meaning, Unsure: e.Unsure})
	}
	d.Says = "The same in words stands below. From " + forecast.Minute(s.from) + " to " + forecast.Minute(s.to) + ", to scale. " + strings.Join(d.Heads, " ")
	return d
}

// wasReset reports whether the timeline begins after a reset.
func wasReset(t forecast.Timeline) bool { return !t.Reset.IsZero() && t.Reset.Before(t.From) }

// rank of a headline is 1 for a reset that has happened.
func rank(headline string) int {
	if strings.HasPrefix(headline, "RESET on ") {
		return 1
	}
	return 0
}

func (d *drawing) lane(y *int, l lane) {
	l.Y, l.BarY = *y+14, *y+20
	d.Lanes = append(d.Lanes, l)
	*y += laneStep
}

// flags are the instants that decide.
func (d *drawing) flags(t forecast.Timeline, s scale) {
	for _, f := range []struct {
		at          time.Time
		class, text string
		live        bool
	}{
		{t.NoReturn, "noreturn", "Point of no return", true},
		{t.Reset, "reset", "Reset", true},
		{t.Lost, "lost", "Nothing left to restore", false},
	} {
		if f.at.IsZero() || f.live && t.Role != "" || f.at.After(s.to) || f.class == "reset" && f.at.Before(s.from) {
			continue
		}
		x := s.x(f.at)
		text := f.text + ", " + f.at.UTC().Format("2 Jan 2006")
		if !f.at.After(s.from) {
			text = f.text + " passed: any moment"
		}
		fl := flag{X: percent(x), Class: f.class, Text: text, Anchor: "start", TextX: percent(x), Y: 14 + flagStep*len(d.Flags)}
		fl.From = fl.Y - 12
		switch { // it has to fit on a phone
		case x > 60:
			fl.Anchor = "end"
		case x > 40:
			fl.Anchor, fl.TextX, fl.From = "middle", "50%", fl.Y+5
		}
		d.Flags = append(d.Flags, fl)
	}
}

// room reports whether a bar of a width in percent has room for a text, on a phone.
func room(width float64, text string) bool { return width*3.4 >= float64(len(text))*7.4+12 }

// newBar draws a bar, with the first of the texts that has room.
func newBar(s scale, from, to time.Time, class string, texts ...string) bar {
	x := s.x(from)
	width := s.x(to) - x
	b := bar{X: percent(x), Width: percent(width), Class: class}
	for _, text := range texts {
		if room(width, text) {
			b.Text = text
			break
		}
	}
	return b
}

// stateBars are the states, each from the event that leads to it.
func stateBars(t forecast.Timeline, s scale) []bar {
	type span struct {
		at    time.Time
		state etcdmanager.State
	}
	all := []span{{t.From, t.State}}
	for _, e := range t.Events {
		if at := latest(e.At, t.From); e.State != "" && e.State != all[len(all)-1].state && at.Before(s.to) && (len(e.Paths) > 0 || e.Actor == forecast.ByEtcdManager) {
			all = append(all, span{at, e.State})
		}
	}
	var bars []bar
	for i, sp := range all {
		end := s.to
		if i+1 < len(all) {
			end = all[i+1].at
		}
		if end.After(sp.at) {
			class := "is-" + stateClass(sp.state)
			word := stateAt(t, sp.state, sp.at)
			if word != string(sp.state) && class == "is-good" {
				class = "is-poor"
			}
			bars = append(bars, newBar(s, sp.at, end, class, word, string(sp.state)))
		}
	}
	return bars
}

// stateClass says how bad a state is.
func stateClass(s etcdmanager.State) string {
	switch s {
	case etcdmanager.Running, etcdmanager.Bootstrapping:
		return "good"
	case etcdmanager.Latent:
		return "poor"
	case etcdmanager.Unknown, etcdmanager.Uninitialised:
		return "dim"
	}
	return "bad"
}

// fateBars say of a control file when it is there, hidden, and gone.
func fateBars(c forecast.Fate, t forecast.Timeline, s scale) []bar {
	word := cmp.Or(c.Presence, "unseen")
	class := map[string]string{"present": "is-good", "missing": "is-gone", "unseen": "is-dim"}[word]
	class = cmp.Or(class, "is-bad")
	if c.Gone.IsZero() || c.Gone.After(s.to) {
		return []bar{newBar(s, s.from, s.to, class, word)}
	}
	gone := latest(c.Gone, s.from)
	bars := []bar{newBar(s, s.from, gone, class, word)}
	end := s.to
	if !c.Until.IsZero() && c.Until.Before(s.to) {
		end = latest(c.Until, gone)
	}
	switch c.Action {
	case forecast.Hides:
		bars = append(bars, newBar(s, gone, end, "is-hidden", "hidden, can be undeleted", "can be undeleted", "hidden"))
		if end.Before(s.to) {
			bars = append(bars, newBar(s, end, s.to, "is-gone", "gone"))
		}
	case forecast.Archives:
		bars = append(bars, newBar(s, gone, s.to, "is-hidden", "archived"))
	default:
		bars = append(bars, newBar(s, gone, s.to, "is-gone", "deleted"))
	}
	return slices.DeleteFunc(bars, func(b bar) bool { return b.Width == "0.00%" })
}

// windowLine draws how many snapshots can be restored: straight from one date that
// is known to the next.
func windowLine(t forecast.Timeline, s scale) string {
	type point struct {
		at time.Time
		n  int
	}
	all := []point{{t.From, t.Window.Count}}
	for _, e := range t.Events {
		if !e.Window.Known {
			continue
		}
		at := latest(latest(e.At, e.To), t.From)
		if e.Action == forecast.Resets {
			all = append(all, point{at, all[len(all)-1].n}) // it happens at once
		}
		all = append(all, point{at, e.Window.Count})
	}
	all = append(all, point{t.To, t.FinalWindow.Count})
	slices.SortStableFunc(all, func(a, b point) int { return a.at.Compare(b.at) })
	most := 1
	for _, p := range all {
		most = max(most, p.n)
	}
	var b strings.Builder
	for i, p := range all {
		// What lies beyond the edge is drawn too, and cut off there.
		x := 1000 * float64(p.at.Sub(s.from)) / float64(s.to.Sub(s.from))
		fmt.Fprintf(&b, "%s%s %s", map[bool]string{true: "M", false: "L"}[i == 0], short(x), short(96-92*float64(p.n)/float64(most)))
	}
	return b.String()
}

// ticks divide what is drawn into quarters.
func (d *drawing) ticks(s scale) {
	format := "2 Jan"
	if s.to.Sub(s.from) > 270*audit.Day {
		format = "Jan 2006"
	}
	for i := range 5 {
		at := s.from.Add(s.to.Sub(s.from) * time.Duration(i) / 4)
		t := tick{X: percent(float64(25 * i)), Anchor: "middle", Text: at.UTC().Format(format), Between: i%2 == 1}
		switch i {
		case 0:
			t.Anchor, t.Text = "start", "now"
		case 4:
			t.Anchor = "end"
		}
		d.Ticks = append(d.Ticks, t)
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/store/etcdmanager"
)

// ForecastSchema is the version of the JSON form of a [Forecast], published as
// docs/forecast.schema.json.
const ForecastSchema = 1

// A Forecast is the outcome of a run of `backstop forecast`.
type Forecast struct {
	Schema  int           `json:"schema"`
	Verdict audit.Verdict `json:"verdict"`
	From    time.Time     `json:"from"`
	To      time.Time     `json:"to"`
	// Policy names the file whose lifecycle rules were followed in the place of
	// the buckets' own; empty where those were.
	Policy string              `json:"policy,omitempty"`
	Stores []forecast.Timeline `json:"stores"`
	// Problems are places in which no store could be looked at.
	Problems []audit.Problem `json:"problems,omitempty"`
}

// NewForecast puts timelines together, the worst first. No stores and no problems
// make UNKNOWN too.
func NewForecast(stores []forecast.Timeline, problems []audit.Problem, policy string) Forecast {
	f := Forecast{Schema: ForecastSchema, Verdict: audit.OK, Policy: policy, Stores: slices.Clone(stores), Problems: problems}
	if len(stores) == 0 || len(problems) > 0 {
		f.Verdict = audit.VerdictUnknown
	}
	for i, s := range stores {
		if s.Verdict.Worse(f.Verdict) {
			f.Verdict = s.Verdict
		}
		if i == 0 || s.From.Before(f.From) {
			f.From = s.From
		}
		if s.To.After(f.To) {
			f.To = s.To
		}
	}
	if f.Stores == nil {
		f.Stores = []forecast.Timeline{}
	}
	slices.SortStableFunc(f.Stores, func(a, b forecast.Timeline) int {
		return cmp.Or(worseFirst(a.Verdict, b.Verdict), firstLoss(a).Compare(firstLoss(b)), cmp.Compare(a.Store.URL, b.Store.URL))
	})
	return f
}

func worseFirst(a, b audit.Verdict) int {
	switch {
	case a.Worse(b):
		return -1
	case b.Worse(a):
		return 1
	}
	return 0
}

// firstLoss is when the first thing happens that somebody should know of.
func firstLoss(t forecast.Timeline) time.Time {
	for _, e := range t.Events {
		if e.Severity != audit.Info {
			return e.At
		}
	}
	return t.To.AddDate(1, 0, 0)
}

// A ForecastFormat writes a forecast.
type ForecastFormat func(w io.Writer, f Forecast, o Options) error

// ForecastFormats are all formats of a forecast by the name that --output takes.
var ForecastFormats = map[string]ForecastFormat{"json": ForecastJSON, "markdown": ForecastMarkdown, "text": ForecastText}

// ForecastNamed gives a format, or an error that lists them.
func ForecastNamed(name string) (ForecastFormat, error) {
	if f, ok := ForecastFormats[name]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("there is no output format %q; there are %s", name, strings.Join(ForecastNames(), ", "))
}

// ForecastNames lists the formats.
func ForecastNames() []string {
	var names []string
	for name := range ForecastFormats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ForecastJSON writes the forecast as docs/forecast.schema.json has it. Durations
// are nanoseconds, times RFC 3339 in UTC.
func ForecastJSON(w io.Writer, f Forecast, _ Options) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(f)
}

// shownTimelines are the stores that a forecast is to show.
func shownTimelines(f Forecast, o Options) []forecast.Timeline {
	if !o.Quiet {
		return f.Stores
	}
	return slices.DeleteFunc(slices.Clone(f.Stores), func(t forecast.Timeline) bool { return t.Verdict == audit.OK })
}

// forecastSummary is the line that a hurried reader looks at.
func forecastSummary(f Forecast) string {
	s := audit.Plural(len(f.Stores), "store") + " foretold until " + f.To.UTC().Format(time.DateOnly)
	if f.To.IsZero() {
		s = "no store was looked at"
	}
	if f.Policy != "" {
		s += " under the lifecycle rules of " + f.Policy
	}
	resets, were, armed := 0, 0, 0
	for _, t := range f.Stores {
		switch {
		case !t.Reset.IsZero() && t.Reset.Before(t.From):
			were++
		case !t.Reset.IsZero():
			resets++
		case !t.NoReturn.IsZero():
			armed++
		}
	}
	if resets > 0 {
		s += "; " + audit.Plural(resets, "cluster") + " will be reset with nobody touching anything"
	}
	if were > 0 {
		s += "; " + audit.Plural(were, "cluster") + " reset already"
	}
	if armed > 0 {
		s += "; " + audit.Plural(armed, "cluster") + " will lose etcd-cluster-created"
	}
	if n := len(f.Problems); n > 0 {
		s += "; " + audit.Plural(n, "place") + " not looked at"
	}
	return s
}

// headline says in a few sentences what matters of a timeline, the worst first.
func headline(t forecast.Timeline) []string {
	var all []string
	live := t.Role == ""
	if s := stateNow[t.State]; s != "" && live {
		all = append(all, s)
	}
	if !t.NoReturn.IsZero() && live {
		created := t.Control[0]
		when := "POINT OF NO RETURN " + forecast.Minute(t.NoReturn) + ", in " + audit.Span(t.NoReturn.Sub(t.From))
		if !t.NoReturn.After(t.From) {
			when = "POINT OF NO RETURN passed on " + forecast.Minute(t.NoReturn) + ": it may happen at any moment. Until it does"
		} else {
			when += ". Until then"
		}
		all = append(all, when+fmt.Sprintf(" it is enough to switch lifecycle rule %q off.", created.Rule))
	}
	switch {
	case t.Reset.IsZero() || !live:
	case t.Reset.Before(t.From):
		all = append(all, "RESET on "+forecast.Minute(t.Reset)+": a new, empty cluster took the place of the old one. What can be restored, here and below, is what is left of the old one.")
	default:
		all = append(all, "RESET "+since(t.Reset, t.From)+", with nobody touching anything.")
	}
	if !t.ResetPossible.IsZero() && live {
		all = append(all, "RESET POSSIBLE "+since(t.ResetPossible, t.From)+", with nobody touching anything: both control files go in one run, and created may go first.")
	}
	if !t.Lost.IsZero() {
		all = append(all, "NOTHING LEFT TO RESTORE from "+forecast.Minute(t.Lost)+" on, in "+audit.Span(t.Lost.Sub(t.From))+".")
	}
	if quiet(t) {
		all = append(all, "No lifecycle rule takes a control file until "+t.To.UTC().Format(time.DateOnly)+".")
	}
	return all
}

// stateNow says of each state in which something is wrong what that is.
var stateNow = map[etcdmanager.State]string{
	etcdmanager.Armed:         "ARMED NOW: etcd-cluster-created is missing, backups have stopped, and whoever writes a good spec resets the cluster. `backstop plan` says what to do.",
	etcdmanager.Imminent:      "RESET IMMINENT: etcd-cluster-created is missing and the spec is there. `backstop plan` says what to do.",
	etcdmanager.Latent:        "LATENT NOW: the spec is missing or bad; backups go on until the leader changes. `backstop plan` says what to do.",
	etcdmanager.Stuck:         "STUCK NOW: the spec is missing or bad, and backups have stopped. `backstop plan` says what to do.",
	etcdmanager.Blocked:       "BLOCKED NOW: etcd-cluster-created is empty or unreadable, and every cycle of etcd-manager fails. `backstop plan` says what to do.",
	etcdmanager.Uninitialised: "UNINITIALISED: no cluster was ever formed here.",
}

// quiet reports whether it is known that nothing happens to the control files.
func quiet(t forecast.Timeline) bool {
	for _, g := range t.Gaps {
		if g.Necessary {
			return false
		}
	}
	for _, c := range t.Control {
		if !c.Gone.IsZero() || c.Presence != "present" {
			return false
		}
	}
	return t.Role == ""
}

func since(at, from time.Time) string {
	if !at.After(from) {
		return "at any moment"
	}
	return "from " + forecast.Minute(at) + " on, in " + audit.Span(at.Sub(from))
}

// when is the date of an event for people.
func when(e forecast.Event, from time.Time) string {
	s := forecast.Minute(e.At)
	if e.Overdue {
		s = "any moment, due since " + s
	}
	if !e.To.IsZero() {
		s += " to " + forecast.Minute(e.To)
	}
	return s
}

// later says what date S3's usual lag would give.
func later(e forecast.Event) string {
	if e.Late.IsZero() {
		return ""
	}
	return " (or " + forecast.Minute(e.Late) + ", because S3 acts late)"
}

// lines are the events that people are shown: what etcd-manager's cleanup does
// between two others is one line, and not one for each of its rules.
func lines(t forecast.Timeline) []forecast.Event {
	var all []forecast.Event
	cleanup := -1
	for _, e := range t.Events {
		churn := e.Actor == forecast.ByRetention && e.Snapshots != nil
		switch {
		case e.Snapshots == nil:
			cleanup = -1
		case churn && cleanup >= 0:
			merge(&all[cleanup], e)
			continue
		case churn:
			cleanup = len(all)
		}
		all = append(all, e)
	}
	return all
}

// merge adds a span of the cleanup to another.
func merge(to *forecast.Event, e forecast.Event) {
	s := *to.Snapshots
	s.Count += e.Snapshots.Count
	s.Continues = s.Continues || e.Snapshots.Continues
	if e.Snapshots.First.Before(s.First) {
		s.First = e.Snapshots.First
	}
	if e.Snapshots.Last.After(s.Last) {
		s.Last = e.Snapshots.Last
	}
	end := e.At
	if e.To.After(end) {
		end = e.To
	}
	if end.After(to.To) && end.After(to.At) {
		to.To, to.Window, to.IfReset = end, e.Window, e.IfReset
	}
	to.Snapshots, to.Rule = &s, ""
}

// asNew is said of a state that comes after a reset.
const asNew = ", as a new, empty cluster"

// stateAt names a state, and says whose it is after a reset.
func stateAt(t forecast.Timeline, s etcdmanager.State, at time.Time) string {
	if t.Reset.IsZero() || at.Before(t.Reset) || s == etcdmanager.Imminent {
		return string(s)
	}
	return string(s) + asNew
}

// then says what is so after an event.
func then(e forecast.Event) string {
	s := "restorable then: " + e.Window.String()
	if !e.To.IsZero() {
		s = "restorable when it is done: " + e.Window.String()
	}
	if e.IfReset != nil && *e.IfReset != e.Window {
		s += "; after a reset: " + e.IfReset.String()
	}
	return s
}

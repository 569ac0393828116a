package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"backstop/audit"
)

// A score is what is counted, over all scenarios.
type score struct {
	falseCritical, falseWarning, falseUnknown int
	lived                                     time.Duration // of clusters that were well
	disasters, found                          int
	differences                               int // between an audit in memory and over HTTP
}

// month is what is meant by one of 90 days' three.
const month = 30 * day

// warningTarget is how many false warnings of a cluster in a month are too many.
const warningTarget = 0.1

func (s score) perMonth() float64 {
	if s.lived == 0 {
		return 0
	}
	return float64(s.falseWarning) * float64(month) / float64(s.lived)
}

func (s score) met() bool {
	return s.falseCritical == 0 && s.falseUnknown == 0 && s.perMonth() < warningTarget && s.found == s.disasters && s.differences == 0
}

func (s *score) add(t score) {
	s.falseCritical += t.falseCritical
	s.falseWarning += t.falseWarning
	s.falseUnknown += t.falseUnknown
	s.lived += t.lived
	s.disasters += t.disasters
	s.found += t.found
	s.differences += t.differences
}

// last is the line with which the table ends.
func (s score) last() string {
	return fmt.Sprintf("false critical: %d, false warning per cluster-month: %.3f, disasters found: %d of %d", s.falseCritical, s.perMonth(), s.found, s.disasters)
}

// score counts.
func (a *watch) score() score {
	s := score{lived: a.lived, disasters: len(a.injected)}
	if a.mirror != nil {
		s.differences = a.mirror.differences
	}
	for _, e := range a.episodes {
		switch {
		case e.excused || e.severity == audit.Info:
		case e.severity == audit.Critical:
			s.falseCritical++
		case e.severity == audit.Unsure:
			s.falseUnknown++
		default:
			s.falseWarning++
		}
	}
	for _, d := range a.injected {
		if d.met(time.Duration(a.scenario.Audit)) {
			s.found++
		}
	}
	return s
}

// A result is what came of a scenario, part by part.
type result struct {
	*scenario
	parts []*watch
}

func (r *result) score() (total score) {
	for _, a := range r.parts {
		total.add(a.score())
	}
	return total
}

// day is how far the slowest part has come.
func (r *result) day() int {
	least := r.Days
	for _, a := range r.parts {
		least = min(least, int(a.now.Sub(a.begun)/day))
	}
	return least
}

// print writes what was counted of a scenario, and every case that is not as it
// should be.
func (r *result) print(w io.Writer) error {
	var clusters, audits, stores int
	var episodes []*episode
	for _, a := range r.parts {
		clusters, stores, audits = clusters+len(a.clusters), stores+a.stores, max(audits, a.audits)
		episodes = append(episodes, a.episodes...)
	}
	fmt.Fprintf(w, "%s: %d clusters, %d days, %d audits of %d stores in all, %.1f cluster-months without a disaster\n",
		r.Name, clusters, r.Days, audits, stores, float64(r.score().lived)/float64(month))
	for _, a := range r.parts {
		if m := a.mirror; m != nil {
			fmt.Fprintf(w, "over HTTP: %d audits with %d findings and verdicts, of which %d differ from those in memory\n", m.audits, m.findings, m.differences)
		}
	}
	printEpisodes(w, episodes)
	return r.printDisasters(w)
}

// printEpisodes counts them by rule, and then tells of each that is false.
func printEpisodes(w io.Writer, episodes []*episode) {
	type counts struct{ info, true, false int }
	by := map[string]*counts{}
	for _, e := range episodes {
		if by[e.rule] == nil {
			by[e.rule] = &counts{}
		}
		switch {
		case e.severity == audit.Info:
			by[e.rule].info++
		case e.excused:
			by[e.rule].true++
		default:
			by[e.rule].false++
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "episodes\tinfo\ttrue\tfalse\t")
	for _, rule := range slices.Sorted(maps.Keys(by)) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t\n", rule, by[rule].info, by[rule].true, by[rule].false)
	}
	_ = t.Flush() // an error of w shows at the end
	for _, e := range episodes {
		if !e.excused && e.severity != audit.Info {
			fmt.Fprintf(w, "FALSE %s %s %s  %s to %s: %s\n", e.severity, e.rule, e.subject, audit.Stamp(e.from), audit.Stamp(e.to), e.message)
		}
	}
}

func (r *result) printDisasters(w io.Writer) error {
	if r.score().disasters == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "disaster\tof\tsaid by\tcounted from\tfound")
	for _, a := range r.parts {
		for _, d := range a.injected {
			d.print(t, time.Duration(r.Audit))
		}
	}
	return t.Flush()
}

func (d *injected) print(t io.Writer, step time.Duration) {
	for i, x := range d.event.Expect {
		says, met := d.verdict(i, step)
		if !met {
			says += "  <-- not as wanted"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", d.event.Do, d.name+"/"+x.Etcd, strings.TrimSpace(x.Severity+" "+x.Rule), x.After, says)
	}
}

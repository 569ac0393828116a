package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"backstop/audit"
)

type mergeOptions struct {
	auditOptions
	maxAge time.Duration
}

func (p *program) mergeCommand() *cobra.Command {
	o := &mergeOptions{}
	c := &cobra.Command{
		Use:   "merge REPORT...",
		Short: "Put the reports of a run's shards together",
		Long: `Put the JSON reports of a run's shards together, and report as if one run had looked
at everything: what concerns a whole bucket stands once, and metrics and
notifications are told of all stores.

REPORT is what a shard wrote with "audit --shard INDEX/COUNT -o json=REPORT". A shard of
which the report is missing, cannot be read, is older than --max-age, or was written by
another version or another run, is a place that was not audited: the verdict is then
UNKNOWN or worse.
` + exitHelp,
		Example: `  backstop merge shard-0.json shard-1.json shard-2.json shard-3.json
  backstop merge reports/*.json -o text -o html=fleet.html --pushgateway http://pushgateway:9091`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.merge(c.Context(), args, o)
		},
	}
	f := c.Flags()
	o.flags = f
	o.addReport(f)
	f.StringVar(&o.config, "config", "", "configuration `file` (YAML), for --notify")
	f.DurationVar(&o.maxAge, "max-age", time.Hour, "oldest that a report may be; 0 is no limit")
	o.addTelling(f)
	o.addTerminal(f)
	return c
}

func (p *program) merge(ctx context.Context, files []string, o *mergeOptions) error {
	if o.maxAge < 0 {
		return usagef("--max-age is %v, want 0 or more", o.maxAge)
	}
	if err := o.checkTerminal(); err != nil {
		return err
	}
	w, err := p.reporting(&o.auditOptions)
	if err != nil {
		return err
	}
	d, err := p.delivery(nil, &o.auditOptions, time.Time{})
	if err != nil {
		return err
	}
	return d.watched(ctx, func() error {
		r, looked, err := mergeFiles(files, o.maxAge, p.now().UTC())
		if err != nil {
			return err
		}
		d.args = looked
		return w.finish(ctx, d, r)
	})
}

// mergeFiles reads the reports of a run and puts them together. It also gives the
// places that the run looked at.
func mergeFiles(files []string, maxAge time.Duration, now time.Time) (audit.Report, []string, error) {
	m := merger{now: now, maxAge: maxAge, have: map[int]part{}}
	for _, f := range files {
		r, err := readReport(f)
		if err != nil {
			m.problem(f, "cannot be used: "+err.Error())
			continue
		}
		m.parts = append(m.parts, part{f, r})
	}
	if len(m.parts) == 0 {
		return audit.Report{}, nil, &failure{status: exitUsage, err: fmt.Errorf("none of the reports can be used: %s", m.problems[0].Message),
			hint: "merge reads what `backstop audit --shard INDEX/COUNT -o json=FILE` wrote"}
	}
	if err := m.sift(); err != nil {
		return audit.Report{}, nil, err
	}
	var reports []audit.Report
	for i := range m.run.Of {
		if one, ok := m.have[i]; ok {
			reports = append(reports, one.report)
		} else {
			m.missing(i)
		}
	}
	return audit.Merge(reports, m.problems), m.run.Looked, nil
}

// A part is the report of a shard, and where it was read.
type part struct {
	file   string
	report audit.Report
}

// A merger finds the reports that are of one run.
type merger struct {
	now      time.Time
	maxAge   time.Duration
	parts    []part
	run      audit.Shard // what the newest report says of the run
	have     map[int]part
	problems []audit.Problem
}

// sift takes the newest report's word for what the run is, and keeps those that are of
// the same.
func (m *merger) sift() error {
	newest := slices.MaxFunc(m.parts, func(a, b part) int { return a.report.Judged.Compare(b.report.Judged) })
	m.run = *newest.report.Shard
	for _, one := range m.parts {
		s := *one.report.Shard
		age := m.now.Sub(one.report.Judged)
		switch {
		case s.Of != m.run.Of || !slices.Equal(s.Looked, m.run.Looked):
			m.problem(one.file, fmt.Sprintf("is of another run: it is %s of [%s], and %s is %s of [%s]", s, strings.Join(s.Looked, " "), newest.file, m.run, strings.Join(m.run.Looked, " ")))
		case s.Version != m.run.Version:
			m.problem(one.file, fmt.Sprintf("was written by backstop %s, and %s by backstop %s", s.Version, newest.file, m.run.Version))
		case m.maxAge > 0 && age > m.maxAge:
			m.problem(one.file, fmt.Sprintf("is %s old, which is more than %s: what it says of %s may be over", audit.Span(age), audit.Span(m.maxAge), s))
		default:
			if other, twice := m.have[s.Index]; twice {
				return usagef("%s and %s are both of %s: give one of them", other.file, one.file, s)
			}
			m.have[s.Index] = one
		}
	}
	return nil
}

// problem says that a file is of no use.
func (m *merger) problem(file, what string) {
	m.problems = append(m.problems, audit.Problem{Target: file, Cause: audit.CauseNoReport, Message: "the report " + file + " " + what,
		Do: "Run the shard again, and merge anew. Until then nothing is known of its stores."})
}

// missing says that nothing is known of a shard.
func (m *merger) missing(index int) {
	s := audit.Shard{Index: index, Of: m.run.Of}
	m.problems = append(m.problems, audit.Problem{Target: s.String(), Cause: audit.CauseNoReport, Message: "there is no report of " + s.String() + " that can be used: its stores were not looked at",
		Do: "See why the shard did not end (in Kubernetes the log of the pod with the completion index " + strconv.Itoa(index) + "), run it again, and merge anew."})
}

// readReport reads the report of a shard.
func readReport(file string) (audit.Report, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return audit.Report{}, err
	}
	var r audit.Report
	if err := json.Unmarshal(body, &r); err != nil {
		return audit.Report{}, fmt.Errorf("it is no whole JSON document: %w", err)
	}
	switch s := cmp.Or(r.Shard, &audit.Shard{}); {
	case r.Schema != audit.ReportSchema:
		return audit.Report{}, fmt.Errorf("it has schema %d, and this backstop reads %d", r.Schema, audit.ReportSchema)
	case r.Shard == nil:
		return audit.Report{}, fmt.Errorf("it is no report of a shard: it has looked at everything by itself")
	case s.Of < 1 || s.Index < 0 || s.Index >= s.Of || len(r.Stores) != r.Total || r.Judged.IsZero():
		return audit.Report{}, fmt.Errorf("it contradicts itself: %s with %d of %d stores", s, len(r.Stores), r.Total)
	}
	return r, nil
}

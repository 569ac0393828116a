package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"backstop/audit"
	"backstop/audit/report"
)

type auditOptions struct {
	options
	output   []string
	failOn   string
	exitZero bool
	rules    []string
	quiet    bool
	watch    time.Duration
	metrics  metricsOptions
	notify   bool
	state    string
	verified []string
	shard    string
	shards   int
}

func (p *program) auditCommand() *cobra.Command {
	o := &auditOptions{}
	c := &cobra.Command{
		Use:   "audit [STORE...]",
		Short: "Look at backup stores, judge them, report",
		Long: `Look at backup stores, judge them, and report, the worst first.

STORE is s3://BUCKET[/PREFIX] or a directory. Every backup store below it is
found by its layout, and so is every folder of snapshots of Juju's etcd charm. Without STORE the configuration's stores are looked at, or
else $KOPS_STATE_STORE.
` + exitHelp,
		Example: `  backstop audit s3://kops-state
  backstop audit s3://kops-state/prod.example.com/backups/etcd/main --watch 10s
  backstop audit ./copy-of-bucket --at 2027-01-15
  backstop audit s3://kops-state --record seen.json -o json=report.json -o text
  backstop audit s3://kops-state --textfile /var/lib/prometheus/node-exporter`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.audit(c.Context(), args, o)
		},
	}
	f := c.Flags()
	o.addLooking(f)
	o.addReport(f)
	f.StringSliceVar(&o.rules, "rules", nil, "judge by these `rules` alone, separated by commas")
	f.DurationVar(&o.watch, "watch", 0, "look again every `interval`, and print what changes, until interrupted")
	f.StringArrayVar(&o.verified, "verified", nil, "`file` that backstop verify -o json wrote, for the calendar and the plots of -o html; repeatable")
	o.addTelling(f)
	o.addShard(f)
	f.StringVar(&o.record, "record", "", "write what was seen to `file`, for --replay")
	return c
}

func (p *program) audit(ctx context.Context, args []string, o *auditOptions) error {
	o.charm = true
	if err := o.check(); err != nil {
		return err
	}
	at, err := o.parseAt()
	if err != nil {
		return err
	}
	if err := p.parseShard(o); err != nil {
		return err
	}
	set, err := ruleset(o.rules)
	if err != nil {
		return err
	}
	w, err := p.reporting(o)
	if err != nil {
		return err
	}
	for _, out := range o.output {
		if o.watch > 0 && out != "text" {
			return usagef("--watch prints lines for a person: it goes with -o text alone, and not with -o %s", out)
		}
	}
	if o.watch < 0 || o.watch > 0 && (o.replay != "" || !at.IsZero()) {
		return usagef("--watch looks again and again: it goes with a positive interval, and not with --replay or --at")
	}
	d, err := p.delivery(args, o, at)
	if err != nil {
		return err
	}
	return d.watched(ctx, func() error {
		drawn, err := newDetails(o.verified)
		if err != nil {
			return &failure{status: exitUsage, err: err}
		}
		var keep func(sight, audit.StoreReport)
		if slices.ContainsFunc(o.output, isHTML) {
			keep = drawn.keep
		}
		r, err := p.assess(ctx, args, &o.options, set, at, keep)
		if err != nil {
			return err
		}
		w.details = drawn.byStore
		w.watching = func() error { return p.watch(ctx, args, o, set, r) }
		return w.finish(ctx, d, r)
	})
}

// addReport adds the flags that say how to report.
func (o *auditOptions) addReport(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.output, "output", "o", []string{"text"}, "`FORMAT[=FILE]`, repeatable; formats: "+strings.Join(formatNames(), ", "))
	f.StringVar(&o.failOn, "fail-on", "warning", "least verdict with an exit status of its own: warning or critical (UNKNOWN always has)")
	f.BoolVar(&o.exitZero, "exit-zero", false, "exit with 0 for any verdict that was delivered")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "leave out stores that are OK")
}

// addTelling adds the flags that say whom to tell.
func (o *auditOptions) addTelling(f *pflag.FlagSet) {
	o.metrics.add(f)
	f.BoolVar(&o.notify, "notify", false, "tell the configuration's channels what was found, and what is over")
	f.StringVar(&o.state, "state", "", "`file` that remembers what --notify has told")
}

// A reporting is how a report is made known.
type reporting struct {
	outs     []output[report.Format]
	failOn   audit.Verdict
	exitZero bool
	watch    bool
	watching func() error
	details  map[string]report.Detail
}

// reporting reads the flags of addReport.
func (p *program) reporting(o *auditOptions) (*reporting, error) {
	w := &reporting{exitZero: o.exitZero, watch: o.watch > 0}
	var err error
	if w.failOn, err = parseFailOn(o.failOn); err == nil {
		w.outs, err = outputs(p, &o.options, o.output, o.quiet, formatNamed)
	}
	return w, err
}

// finish writes a report and tells everybody. Its verdict is the exit status.
func (w *reporting) finish(ctx context.Context, d *delivery, r audit.Report) error {
	for _, out := range w.outs {
		out.Details = w.details
		if err := out.write(func(to io.Writer) error { return out.format(to, r, out.Options) }); err != nil {
			return &failure{status: exitInternal, err: fmt.Errorf("write report: %w", err)}
		}
	}
	d.tell(ctx, r)
	if w.watch {
		return w.watching()
	}
	if s := statusOf(r, w.failOn, w.exitZero); s != exitOK {
		return status(s)
	}
	return nil
}

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

func (p *program) planCommand() *cobra.Command {
	o := &planOptions{}
	c := &cobra.Command{
		Use:   "plan [STORE...]",
		Short: "Print what to do now, in order, with contents and commands to paste",
		Long: `Print what to do about a store that is armed, imminent, latent, stuck or
blocked: the order of repair, with the contents of the control files and the
commands that put them back. Of other stores it prints what their critical
findings say. It runs nothing.

Of a cluster that was reset, and with --restore of any that has lost its data, it says
which snapshots of main and events to restore together, why each newer one is not it,
what is lost, how long they are there, and the commands in their order. For that it
reads snapshots to their end, from the newest on: at most --open of each store, and
one more for comparison, in 1 GiB of memory. What was not read is called not verified.

Exit status: 0 there is nothing to do, 2 there is, 3 it could not be told.
`,
		Example: "  backstop plan s3://kops-state/prod.example.com/backups/etcd/main\n  backstop plan --restore --before 2026-11-30T18:00:00Z s3://kops-state/prod.example.com",
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.plan(c.Context(), args, o)
		},
	}
	f := c.Flags()
	o.addLooking(f)
	f.BoolVar(&o.restore, "restore", false, "the cluster has lost its data: plan a restore of the newest snapshots that are good")
	f.StringVar(&o.before, "before", "", "plan a restore of snapshots that were taken before this `time` (RFC 3339, or a date)")
	f.IntVar(&o.open, "open", 5, "how many `snapshots` of a store may be read to find a good one; 0 reads none, and verifies none")
	return c
}

// planOptions are the flags of plan.
type planOptions struct {
	options
	restore bool
	before  string
	open    int
}

// asked gives the time of --before, zero for none, and whether a restore is asked
// for.
func (o *planOptions) asked() (before time.Time, restore bool, err error) {
	if o.open < 0 {
		return before, false, usagef("--open is %d, want 0 or more", o.open)
	}
	if o.before == "" {
		return before, o.restore, nil
	}
	before, ok := parseTime(o.before)
	if !ok {
		return before, false, usagef("--before is %q, want a time such as 2026-11-30T18:00:00Z, or a date", o.before)
	}
	return before, true, nil
}

func (p *program) plan(ctx context.Context, args []string, o *planOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	at, err := o.parseAt()
	if err != nil {
		return err
	}
	before, restore, err := o.asked()
	if err != nil {
		return err
	}
	set, _ := ruleset(nil)
	steps := map[string][]recovery.Step{}
	v := &planner{before: before, asked: restore, judge: judge{p: p, set: set, at: at, recorded: o.replay != "", latest: at}}
	v.each = func(seen sight, s audit.StoreReport) {
		if s.Role == "" { // in a replica or an archive there is nothing to repair
			steps[s.Store.ID()] = recovery.Repair(seen.Observation, etcdmanager.State(s.State.Name))
		}
	}
	problems, usage, err := p.see(ctx, args, &o.options, v)
	if err != nil {
		return err
	}
	r := v.report(problems, usage)
	plans, err := p.restorations(ctx, v, r, o)
	if err != nil {
		return err
	}
	return p.printPlans(r, steps, plans)
}

// printPlans prints the plan of each store, and gives the exit status.
func (p *program) printPlans(r audit.Report, steps map[string][]recovery.Step, plans map[string]*restoration) error {
	worst := exitOK
	for i, s := range r.Stores {
		if i > 0 {
			fmt.Fprintln(p.stdout)
		}
		if planned := planStore(p.stdout, s, steps[s.Store.ID()], plans[s.Store.ID()]); planned == exitCritical || worst == exitOK {
			worst = planned
		}
	}
	for _, pr := range r.Problems {
		fmt.Fprintf(p.stdout, "not looked at: %s: %s\n", report.Printable(pr.Target), report.Printable(pr.Message))
	}
	if worst == exitOK && (len(r.Problems) > 0 || len(r.Stores) == 0) {
		worst = exitUnknown
	}
	if s, ok := blindStatus(r); ok && worst == exitUnknown {
		worst = s
	}
	if worst != exitOK {
		return status(worst)
	}
	return nil
}

// planStore prints the plan of one store, and gives 0, 2 or 3. A restore stands in
// the place of a repair.
func planStore(w io.Writer, s audit.StoreReport, steps []recovery.Step, restore *restoration) int {
	fmt.Fprintf(w, "%s  %s\n", s.State.Name, report.Printable(s.Store.URL))
	for _, f := range s.Findings {
		if f.Severity == audit.Critical {
			fmt.Fprintf(w, "\n%s: %s\n", f.Rule, report.Printable(f.Message))
			if len(steps) == 0 && restore == nil {
				printSteps(w, plain(f.Do))
			}
		}
	}
	if restore != nil {
		return restore.print(w, s)
	}
	if len(steps) > 0 {
		fmt.Fprintf(w, "\nThe order of repair. It matters; nothing below has been run.\n")
		printSteps(w, steps)
	}
	switch {
	case len(steps) > 0 || s.Verdict == audit.VerdictCritical:
		return exitCritical
	case !s.Checked():
		for _, u := range s.Unseen {
			if u.Necessary {
				fmt.Fprintf(w, "could not be told: %s was not seen: %s\n", u.Fact, report.Printable(u.Reason))
			}
		}
		return exitUnknown
	}
	fmt.Fprintln(w, "nothing to repair")
	return exitOK
}

func plain(do []string) []recovery.Step {
	var steps []recovery.Step
	for _, d := range do {
		steps = append(steps, recovery.Step{Do: d})
	}
	return steps
}

func printSteps(w io.Writer, steps []recovery.Step) {
	for i, s := range steps {
		fmt.Fprintf(w, "\n%2d. %s\n", i+1, report.Printable(s.Do))
		for _, c := range s.Commands {
			for _, line := range strings.Split(c, "\n") {
				fmt.Fprintf(w, "      %s\n", report.Printable(line))
			}
		}
	}
}

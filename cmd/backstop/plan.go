package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

func (p *program) planCommand() *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "plan [STORE...]",
		Short: "Print what to do now, in order, with contents and commands to paste",
		Long: `Print what to do about a store that is armed, imminent, latent, stuck or
blocked: the order of repair, with the contents of the control files and the
commands that put them back. Of other stores it prints what their critical
findings say. It runs nothing.

Exit status: 0 there is nothing to do, 2 there is, 3 it could not be told.
`,
		Example: "  backstop plan s3://kops-state/prod.example.com/backups/etcd/main",
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.plan(c.Context(), args, o)
		},
	}
	o.addLooking(c.Flags())
	return c
}

func (p *program) plan(ctx context.Context, args []string, o *options) error {
	if err := o.check(); err != nil {
		return err
	}
	at, err := o.parseAt()
	if err != nil {
		return err
	}
	set, _ := ruleset(nil)
	steps := map[string][]recovery.Step{}
	r, err := p.assess(ctx, args, o, set, at, func(seen sight, s audit.StoreReport) {
		if s.Role == "" { // in a replica or an archive there is nothing to repair
			steps[s.Store.ID()] = recovery.Repair(seen.Observation, etcdmanager.State(s.State.Name))
		}
	})
	if err != nil {
		return err
	}
	worst := exitOK
	for i, s := range r.Stores {
		if i > 0 {
			fmt.Fprintln(p.stdout)
		}
		if planned := planStore(p.stdout, s, steps[s.Store.ID()]); planned == exitCritical || worst == exitOK {
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

// planStore prints the plan of one store, and gives 0, 2 or 3.
func planStore(w io.Writer, s audit.StoreReport, steps []recovery.Step) int {
	fmt.Fprintf(w, "%s  %s\n", s.State.Name, report.Printable(s.Store.URL))
	for _, f := range s.Findings {
		if f.Severity == audit.Critical {
			fmt.Fprintf(w, "\n%s: %s\n", f.Rule, report.Printable(f.Message))
			if len(steps) == 0 {
				printSteps(w, plain(f.Do))
			}
		}
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

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/store/etcdmanager"
)

func (p *program) gateCommand() *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "gate [STORE...]",
		Short: "Say whether kops update or terraform apply may run now",
		Long: `Say whether ` + "`kops update cluster --yes` or `terraform apply`" + ` may run now. Both write
etcd-cluster-spec, and it was at that command that clusters were lost.

It judges the listing, the control files and the queue, and nothing else: GO for
a store that is running, bootstrapping or uninitialised with an empty queue,
CANNOT TELL if one of them was not seen, else NO GO. Stores that the configuration
calls a replica or an archive are skipped.

Exit status: 0 GO, 2 NO GO, 3 CANNOT TELL.
`,
		Example: "  backstop gate s3://kops-state/prod.example.com && kops update cluster --yes",
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.gate(c.Context(), args, o)
		},
	}
	o.addLooking(c.Flags())
	return c
}

func (p *program) gate(ctx context.Context, args []string, o *options) error {
	if err := o.check(); err != nil {
		return err
	}
	at, err := o.parseAt()
	if err != nil {
		return err
	}
	set, _ := ruleset(nil)
	queued := map[string]int{}
	r, err := p.assess(ctx, args, o, set, at, func(seen sight, s audit.StoreReport) {
		queued[s.Store.ID()] = len(seen.Observation.Queue.Value)
	})
	if err != nil {
		return err
	}
	go_, blocked, unsure := 0, 0, len(r.Problems)
	for _, s := range r.Stores {
		word, why := passes(s, queued[s.Store.ID()])
		switch word {
		case "GO":
			go_++
		case "NO GO":
			blocked++
		case "SKIPPED":
		default:
			unsure++
		}
		fmt.Fprintf(p.stdout, "%-11s  %s  %s: %s\n", word, s.State.Name, report.Printable(s.Store.URL), report.Printable(why))
	}
	p.beyondGate(r)
	for _, pr := range r.Problems {
		fmt.Fprintf(p.stdout, "%-11s  %s: %s\n", "CANNOT TELL", report.Printable(pr.Target), report.Printable(pr.Message))
	}
	switch {
	case blocked > 0:
		fmt.Fprintf(p.stdout, "NO GO: do not run kops update cluster or terraform apply now; `backstop plan` says what to do first\n")
		return status(exitCritical)
	case unsure > 0 || go_ == 0:
		fmt.Fprintf(p.stdout, "CANNOT TELL: do not run kops update cluster or terraform apply before this is seen\n")
		return status(exitUnknown)
	}
	fmt.Fprintf(p.stdout, "GO: %s\n", audit.Plural(go_, "store"))
	return nil
}

// beyondGate mentions what the gate does not judge and a person would want to
// know before changing anything.
func (p *program) beyondGate(r audit.Report) {
	for _, s := range r.Stores {
		for _, f := range s.Findings {
			if f.Severity == audit.Critical && !strings.HasPrefix(f.Rule, "control/") && !strings.HasPrefix(f.Rule, "queue/") {
				fmt.Fprintf(p.stdout, "%-11s  %s: %s: %s\n", "but", report.Printable(s.Store.URL), f.Rule, report.Printable(f.Message))
			}
		}
	}
}

// passes judges one store for the gate.
func passes(s audit.StoreReport, queued int) (word, why string) {
	if s.Role != "" {
		return "SKIPPED", "it is configured as " + string(s.Role) + ": kops writes nothing there, and no etcd-manager reads it"
	}
	switch etcdmanager.State(s.State.Name) {
	case etcdmanager.Running, etcdmanager.Bootstrapping, etcdmanager.Uninitialised, etcdmanager.Unknown:
	default:
		return "NO GO", "the store is " + s.State.Name
	}
	for _, f := range s.Findings {
		if f.Rule == "audit/store-vanished" && f.Severity == audit.Critical {
			return "NO GO", f.Message
		}
	}
	if queued > 0 {
		return "NO GO", audit.Plural(queued, "command") + " queued: the restart that follows an update would run it"
	}
	for _, u := range s.Unseen {
		switch u.Fact {
		case audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactQueue:
			return "CANNOT TELL", string(u.Fact) + " was not seen: " + u.Reason
		}
	}
	if s.State.Name == string(etcdmanager.Unknown) {
		return "CANNOT TELL", "nothing tells a new cluster from one that lost its files"
	}
	if s.State.Name == string(etcdmanager.Running) {
		return "GO", "both control files are there, the queue is empty"
	}
	return "GO", "nothing shows an earlier cluster that could be lost, the queue is empty"
}

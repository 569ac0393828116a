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
	"backstop/rules"
	"backstop/rules/lifecycle"
	"backstop/rules/lint"
	"backstop/store"
)

type lintOptions struct {
	options
	output            []string
	failOn            string
	exitZero          bool
	quiet             bool
	against           []string
	prefixes          []string
	buckets           []string
	parameters        []string
	parameterDefaults bool
	allowNothing      bool
}

func (p *program) lintCommand() *cobra.Command {
	o := &lintOptions{}
	c := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Say what infrastructure code would do to backup stores, before it is applied",
		Long: `Say what infrastructure code would do to backup stores, before it is applied:
which lifecycle rule would delete or archive which control files and snapshots,
and when; and whether a plan writes, moves or deletes a control file.

FILE is a lifecycle configuration as the AWS CLI has it (JSON) or the S3 API
(XML), a plan from ` + "`terraform show -json plan.out`" + ` (also OpenTofu's), a
CloudFormation template (JSON or YAML, also CDK's), or the output of
` + "`pulumi preview --json`" + `. The format is told by what is in it. - is stdin.

What the code is held against: stores that are looked at now (--against), a
recording of ` + "`backstop audit --record`" + ` (--replay), or, without any access, the
places where stores are (--prefix). Without these it is the configuration's
stores, or $KOPS_STATE_STORE.

What is known only when the code is applied is read in the worst way, and what
then may happen is UNKNOWN. A store that could not be looked at is UNKNOWN, too.

Exit status: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN; 64 usage, or a FILE that is
of no format or broken; 69 no store could be reached, 70 internal error, 75 try
again, 77 permission denied on every store, 78 bad configuration, 130 and 143
interrupted. --fail-on critical gives 0 for WARNING, never for UNKNOWN.
`,
		Example: `  terraform plan -out plan.out && terraform show -json plan.out > plan.json
  backstop lint plan.json --against s3://kops-state -o markdown=comment.md -o text
  backstop lint lifecycle.json --replay seen.json -o sarif=backstop.sarif
  backstop lint template.yaml --prefix s3://kops-state/prod.example.com/backups/etcd/main`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.lint(c.Context(), args, o)
		},
	}
	f := c.Flags()
	o.addLooking(f)
	f.StringArrayVar(&o.against, "against", nil, "`STORE` to hold the code against, repeatable: s3://BUCKET[/PREFIX] or a directory")
	f.StringArrayVar(&o.prefixes, "prefix", nil, "a place where a store is, without looking, repeatable: s3://BUCKET/PREFIX, or a `PREFIX` in any bucket")
	f.StringArrayVar(&o.buckets, "bucket", nil, "`[SOURCE=]NAME`, repeatable: which bucket a configuration is for, where the code does not say; SOURCE is its address or logical id")
	f.StringArrayVar(&o.parameters, "parameter", nil, "`NAME=VALUE` of a CloudFormation parameter, repeatable")
	f.BoolVar(&o.parameterDefaults, "parameter-defaults", false, "take a CloudFormation parameter's default where --parameter has no value")
	f.BoolVar(&o.allowNothing, "allow-nothing", false, "files in which there is nothing to judge are fine")
	f.StringArrayVarP(&o.output, "output", "o", []string{"text"}, "`FORMAT[=FILE]`, repeatable; formats: "+strings.Join(report.LintNames(), ", "))
	f.StringVar(&o.failOn, "fail-on", "warning", "least verdict with an exit status of its own: warning or critical (UNKNOWN always has)")
	f.BoolVar(&o.exitZero, "exit-zero", false, "exit with 0 for any verdict that was delivered")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "leave out information")
	f.StringVar(&o.record, "record", "", "write what was seen of the stores to `file`, for --replay")
	return c
}

func (p *program) lint(ctx context.Context, args []string, o *lintOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	at, err := o.parseAt()
	if err != nil {
		return err
	}
	failOn, err := parseFailOn(o.failOn)
	if err != nil {
		return err
	}
	outs, err := outputs(p, &o.options, o.output, o.quiet, report.LintNamed)
	if err != nil {
		return err
	}
	in := lint.Input{AllowNothing: o.allowNothing, Foresee: foresee}
	if in.Files, err = p.readCode(args, o); err != nil {
		return err
	}
	for _, f := range in.Files {
		for _, pr := range f.Proposals {
			for _, r := range pr.Readings {
				o.proposed = append(o.proposed, r.Configuration)
			}
		}
	}
	looked, err := p.lintStores(ctx, &in, o, at)
	if err != nil {
		return err
	}
	r := lint.Judge(in)
	for _, out := range outs {
		with := report.LintOptions{Options: out.Options, Rules: lintRules(), Version: versionString(), FailOn: failOn}
		if err := out.write(func(w io.Writer) error { return out.format(w, r, with) }); err != nil {
			return &failure{status: exitInternal, err: fmt.Errorf("write report: %w", err)}
		}
	}
	if s := lintStatus(r, looked, failOn, o.exitZero); s != exitOK {
		return status(s)
	}
	return nil
}

// lintStores adds what the code is held against. It gives a report on the stores
// that were looked at.
func (p *program) lintStores(ctx context.Context, in *lint.Input, o *lintOptions, at time.Time) (audit.Report, error) {
	var looked audit.Report
	if in.Now = at; at.IsZero() {
		in.Now = p.now().UTC()
	}
	if p.looks(o) {
		j := &judge{p: p, set: audit.Ruleset{State: rules.StateOf}, at: at, recorded: o.replay != "", latest: at}
		kept := &recorder{viewer: j} // what the code does to one store may depend on another
		problems, usage, err := p.see(ctx, o.against, &o.options, kept)
		if err != nil {
			return looked, err
		}
		looked = j.report(problems, usage)
		in.Problems, in.Places = problems, o.places
		in.Stores = append(in.Stores, lintSights(kept.sights, looked)...)
		if in.Now = looked.Judged; looked.Judged.IsZero() {
			in.Now = p.now().UTC()
		}
	}
	for _, prefix := range o.prefixes {
		st := lint.Store{Policy: audit.DefaultPolicy(), Now: in.Now, Prefix: strings.Trim(prefix, "/")}
		if strings.Contains(prefix, "://") {
			t, err := store.ParseTarget(prefix)
			if err != nil || t.Bucket == "" {
				return looked, usagef("--prefix is %q, want s3://BUCKET/PREFIX, or a key prefix", prefix)
			}
			st.Bucket, st.Prefix = t.Bucket, t.Prefix
		}
		in.Stores = append(in.Stores, st)
	}
	return looked, nil
}

// looks reports whether there is a store to look at, or a recording.
func (p *program) looks(o *lintOptions) bool {
	if len(o.against) > 0 || o.replay != "" {
		return true
	}
	kops, _ := p.env("KOPS_STATE_STORE")
	return len(o.prefixes) == 0 && (o.config != "" || kops != "")
}

// lintSights puts what was seen together with how it was judged.
func lintSights(sights []sight, judged audit.Report) []lint.Store {
	byID := map[string]audit.StoreReport{}
	for _, s := range judged.Stores {
		byID[s.Store.ID()] = s
	}
	var all []lint.Store
	for _, s := range sights {
		j := byID[s.Observation.Store.ID()]
		all = append(all, lint.Store{Observation: s.Observation, Policy: s.Policy, State: j.State, Unseen: j.Unseen, Now: j.Judged})
	}
	return all
}

// lintStatus gives the exit status: the verdict's, or sysexits' where no store was
// seen for one reason and nothing worse was found.
func lintStatus(r audit.LintReport, looked audit.Report, failOn audit.Verdict, exitZero bool) int {
	if r.Verdict != audit.VerdictUnknown {
		looked = audit.Report{}
	}
	looked.Verdict = r.Verdict
	return statusOf(looked, failOn, exitZero)
}

// foresee tells what becomes of a store under lifecycle rules.
func foresee(st *lint.Store, config *lifecycle.Configuration) audit.Fact[audit.Future] {
	return report.FutureOf(rules.Forecast(st.Observation, st.Policy, st.Now, 0, config))
}

// lintRules are what formats say about the rules.
func lintRules() []report.LintRule {
	var all []report.LintRule
	for _, r := range lint.All {
		page, _ := lint.Page(r.ID) // a test holds that each has one
		worst := audit.Info
		for _, s := range r.Severities {
			if s.Worse(worst) {
				worst = s
			}
		}
		all = append(all, report.LintRule{ID: r.ID, Title: r.Title, Severity: worst, Page: page})
	}
	return all
}

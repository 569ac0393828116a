package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/rules"
	"backstop/rules/suggest"
)

type suggestOptions struct {
	options
	output []string
	quiet  bool
}

func (p *program) suggestCommand() *cobra.Command {
	o := &suggestOptions{}
	c := &cobra.Command{
		Use:   "suggest [STORE...]",
		Short: "Print lifecycle rules for a bucket that provably take no control file",
		Long: `Print a lifecycle configuration for a bucket with backup stores that satisfies the
scanners which demand one (prowler s3_bucket_lifecycle_enabled, Checkov CKV2_AWS_61
and CKV_AWS_300, Security Hub S3.10 and S3.13, Steampipe), takes no control file,
keeps the ladder of snapshots and splits none.

It ends unfinished uploads, bounds the old versions of snapshots, prunes snapshots
where a prefix separates them from everything else, and keeps the harmless rules that
the bucket has. What it does and does not, and why, is said on stderr; stdout has the
configuration alone. It is proven first, by the forecast and by the rules of the
audit, for every store below STORE; where that fails nothing is printed but the
reason. It applies nothing.

Formats: json (for aws s3api put-bucket-lifecycle-configuration), terraform
(aws_s3_bucket_lifecycle_configuration), cloudformation (AWS::S3::Bucket).

Exit status: 0 a configuration was printed, 3 nothing could be shown to be safe;
64 usage, among it STOREs in several buckets; from 69 on as for audit.
`,
		Example: `  backstop suggest s3://kops-state > lifecycle.json
  backstop suggest s3://kops-state -o terraform=lifecycle.tf`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.suggest(c.Context(), args, o)
		},
	}
	f := c.Flags()
	o.addLooking(f)
	f.StringArrayVarP(&o.output, "output", "o", []string{"json"}, "`FORMAT[=FILE]`, repeatable; formats: "+strings.Join(suggestionNames(), ", "))
	f.BoolVarP(&o.quiet, "quiet", "q", false, "do not say what was done and why")
	return c
}

// A suggestionFormat writes a suggestion.
type suggestionFormat func(s suggest.Suggestion) ([]byte, error)

var suggestionFormats = map[string]suggestionFormat{
	"json": func(s suggest.Suggestion) ([]byte, error) { return s.Rules.JSON() },
	"terraform": func(s suggest.Suggestion) ([]byte, error) {
		return s.Rules.Terraform(identifier(s.Bucket), s.Bucket,
			"Suggested by backstop, and proven to take no control file of etcd-manager.",
			"It replaces all lifecycle rules of the bucket: there must be no other resource for them.")
	},
	"cloudformation": func(s suggest.Suggestion) ([]byte, error) { return s.Rules.CloudFormation("Bucket", s.Bucket) },
}

func suggestionNames() []string { return slices.Sorted(maps.Keys(suggestionFormats)) }

func suggestionNamed(name string) (suggestionFormat, error) {
	if f, ok := suggestionFormats[name]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("there is no output format %q; there are %s", name, strings.Join(suggestionNames(), ", "))
}

// identifier makes of a bucket's name one for a resource.
func identifier(bucket string) string {
	id := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '_'
	}, bucket)
	if id == "" || id[0] < 'a' {
		id = "bucket_" + id
	}
	return id
}

func (p *program) suggest(ctx context.Context, args []string, o *suggestOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	at, err := o.parseAt()
	if err != nil {
		return err
	}
	outs, err := outputs(p, &o.options, o.output, o.quiet, suggestionNamed)
	if err != nil {
		return err
	}
	v := &gatherer{judge: judge{p: p, set: audit.Ruleset{State: rules.Set.State}, at: at, recorded: o.replay != ""}}
	problems, usage, err := p.see(ctx, args, &o.options, v)
	if err != nil {
		return err
	}
	if err := v.oneBucket(); err != nil {
		return err
	}
	if len(problems) > 0 {
		return p.unproven(v, problems, usage)
	}
	s, err := suggest.For(v.stores)
	if errors.Is(err, suggest.ErrUnproven) {
		fmt.Fprintf(p.stderr, "backstop: %s\n", report.Printable(err.Error()))
		return p.unproven(v, nil, usage)
	}
	if err != nil {
		return &failure{status: exitInternal, err: err}
	}
	for _, out := range outs {
		if err := out.write(func(w io.Writer) error { return writeSuggestion(w, out.format, s) }); err != nil {
			return &failure{status: exitInternal, err: fmt.Errorf("write suggestion: %w", err)}
		}
	}
	if !o.quiet {
		p.explainSuggestion(s)
	}
	return nil
}

func writeSuggestion(w io.Writer, format suggestionFormat, s suggest.Suggestion) error {
	body, err := format(s)
	if err != nil {
		return err
	}
	_, err = w.Write(body)
	return err
}

// explainSuggestion says on stderr what was done and why.
func (p *program) explainSuggestion(s suggest.Suggestion) {
	for _, n := range s.Notes {
		text := n.Text
		if n.Rule != "" {
			text = fmt.Sprintf("%q: %s", n.Rule, text)
		}
		fmt.Fprintf(p.stderr, "%-10s %s\n", n.What, report.Printable(text))
	}
}

// unproven ends a run that printed no configuration.
func (p *program) unproven(v *gatherer, problems []audit.Problem, usage audit.Usage) error {
	for _, pr := range problems {
		fmt.Fprintf(p.stderr, "backstop: nothing is suggested: %s: %s\n", report.Printable(pr.Target), report.Printable(pr.Message))
	}
	if s, ok := blindStatus(v.judge.report(problems, usage)); ok {
		return status(s)
	}
	return status(exitUnknown)
}

// A gatherer keeps every store that is shown.
type gatherer struct {
	judge
	stores []suggest.Store
}

// expect implements viewer.
func (g *gatherer) expect(policies []audit.Policy) {
	g.stores = make([]suggest.Store, len(policies))
	g.judge.expect(make([]audit.Policy, len(policies)))
}

// show implements viewer.
func (g *gatherer) show(i int, s sight) {
	now := g.clock(s.Observation)
	s.Policy.Windows = begun(s.Policy.Windows, now)
	g.stores[i] = suggest.Store{Observation: s.Observation, Policy: s.Policy, Now: now}
	g.judge.judge(i, s, now)
}

// oneBucket refuses stores of several buckets: a configuration is for one.
func (g *gatherer) oneBucket() error {
	var names []string
	for _, s := range g.stores {
		name := strings.TrimSpace(s.Observation.Store.Bucket + " " + s.Observation.Store.Endpoint)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return nil
	}
	return usagef("a lifecycle configuration is for one bucket, and these stores are in %d: %s; give a STORE in one of them", len(names), strings.Join(names, ", "))
}

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
	"backstop/rules/forecast"
)

type forecastOptions struct {
	options
	output   []string
	policy   string
	within   string
	failOn   string
	exitZero bool
	quiet    bool
}

func (p *program) forecastCommand() *cobra.Command {
	o := &forecastOptions{}
	c := &cobra.Command{
		Use:   "forecast [STORE...]",
		Short: "Tell what will be deleted when, by what, and what follows",
		Long: `Tell what becomes of backup stores if nobody touches them: which lifecycle rule
takes which control file on which day, what etcd-manager then does, how its own
cleanup thins the snapshots, and what can be restored at each date.

Dates are the first instants at which something can happen; S3 acts hours or days
later. What was not seen is named, with what therefore is not told.

With --policy the lifecycle rules of a file are followed in the place of the buckets'
own: what the bucket would do with them. A file is AWS's JSON or XML, which is followed
for any bucket, or one of the other formats of lint (a Terraform plan as JSON,
CloudFormation, Pulumi), whose buckets are told apart by name; - is stdin. With --at the state
and what can be restored at that time are told as well; a time before the look
makes it the time that the timeline begins at.

Exit status as for audit: 2 when a loss is due within horizon.critical (7 d), or the
store is in trouble now, 1 when one is due within horizon.warning (2 y), 3 when
something needed was not seen and nothing worse is known, else 0.
` + exitHelp,
		Example: `  backstop forecast s3://kops-state
  backstop forecast s3://kops-state --policy lifecycle.json
  backstop forecast --replay seen.json --at 2027-06-01 -o markdown`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.forecast(c.Context(), args, o)
		},
	}
	f := c.Flags()
	o.addLooking(f)
	f.Lookup("at").Usage = "tell the state at this `time` too (RFC 3339, or a date)"
	f.StringArrayVarP(&o.output, "output", "o", []string{"text"}, "`FORMAT[=FILE]`, repeatable; formats: "+strings.Join(report.ForecastNames(), ", "))
	f.StringVar(&o.policy, "policy", "", "follow the lifecycle rules of `file` (AWS JSON or XML, Terraform plan JSON, CloudFormation, Pulumi) and not the bucket's")
	f.StringVar(&o.within, "within", "2y", "how far to look, as in 90d or 2y")
	f.StringVar(&o.failOn, "fail-on", "warning", "least verdict with an exit status of its own: warning or critical (UNKNOWN always has)")
	f.BoolVar(&o.exitZero, "exit-zero", false, "exit with 0 for any verdict that was delivered")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "leave out stores that are OK")
	f.StringVar(&o.record, "record", "", "write what was seen to `file`, for --replay")
	return c
}

func (p *program) forecast(ctx context.Context, args []string, o *forecastOptions) error {
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
	within, err := parseDuration(o.within)
	if err != nil || within < audit.Day || within > maxWithin {
		return usagef("--within is %q, want a length of time from 1d to 10y, such as 90d or 2y", o.within)
	}
	outs, err := outputs(p, &o.options, o.output, o.quiet, report.ForecastNamed)
	if err != nil {
		return err
	}
	policy, err := p.readPolicy(o.policy)
	if err != nil {
		return err
	}
	v := &foreseer{judge: judge{p: p, set: audit.Ruleset{State: rules.Set.State}, recorded: o.replay != ""}, at: at, within: within, policy: policy}
	problems, usage, err := p.see(ctx, args, &o.options, v)
	if err != nil {
		return err
	}
	if err := policy.missed(); err != nil {
		return err
	}
	f := report.NewForecast(v.timelines, problems, policy.name())
	for _, out := range outs {
		if err := out.write(func(w io.Writer) error { return out.format(w, f, out.Options) }); err != nil {
			return &failure{status: exitInternal, err: fmt.Errorf("write forecast: %w", err)}
		}
	}
	// What was seen of nothing at all has a status of its own, as in an audit.
	seen := v.judge.report(problems, usage)
	seen.Verdict = f.Verdict
	if s := statusOf(seen, failOn, o.exitZero); s != exitOK {
		return status(s)
	}
	return nil
}

// maxWithin is how far a forecast can look: beyond that nobody plans.
const maxWithin = 10 * 365 * audit.Day

// parseFailOn reads --fail-on.
func parseFailOn(s string) (audit.Verdict, error) {
	v, ok := map[string]audit.Verdict{"warning": audit.VerdictWarning, "critical": audit.VerdictCritical}[strings.ToLower(s)]
	if !ok {
		return "", usagef("--fail-on is %q, want warning or critical", s)
	}
	return v, nil
}

// A foreseer makes the timeline of each store when it is shown, and judges of it by
// no rule, for what was not seen.
type foreseer struct {
	judge
	// at is a time to tell of, or, where it lies before a look, the time to tell
	// from; zero for neither.
	at        time.Time
	within    time.Duration
	policy    *proposal // nil for the buckets' own rules
	timelines []forecast.Timeline
}

// expect implements viewer.
func (f *foreseer) expect(policies []audit.Policy) {
	f.timelines = make([]forecast.Timeline, len(policies))
	f.judge.expect(make([]audit.Policy, len(policies)))
}

// show implements viewer.
func (f *foreseer) show(i int, s sight) {
	now := f.clock(s.Observation)
	if !f.at.IsZero() && f.at.Before(now) {
		now = f.at
	}
	s.Policy.Windows = begun(s.Policy.Windows, now)
	in := rules.Foresee(s.Observation, s.Policy, now, f.within, f.policy.rules(s.Observation.Store.Bucket))
	if f.at.After(now) {
		in.At = f.at
	}
	f.timelines[i] = forecast.Of(in)
	f.judge.judge(i, s, now)
}

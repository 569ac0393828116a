package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"backstop/audit"
	"backstop/audit/report"
)

func (p *program) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Check a configuration file, or print what it comes to",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return &failure{status: exitUsage, err: errors.New("config wants to know what to do"), hint: "backstop config validate, or backstop config print"}
		},
	}
	c.AddCommand(p.configValidateCommand(), p.configPrintCommand())
	return c
}

func (p *program) configValidateCommand() *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "validate --config FILE",
		Short: "List every mistake in a configuration file",
		Long: `List every mistake in a configuration file, each with its line. It looks at
nothing but the file.

Exit status: 0 it is whole, 78 it is not.
`,
		Example: "  backstop config validate --config backstop.yaml",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.validate(o)
		},
	}
	c.Flags().StringVar(&o.config, "config", "", "configuration `file` (YAML)")
	return c
}

func (p *program) validate(o *options) error {
	if o.config == "" {
		return &failure{status: exitUsage, err: errors.New("there is no configuration to validate"), hint: "give --config FILE, or set BACKSTOP_CONFIG"}
	}
	body, err := os.ReadFile(o.config)
	if err != nil {
		return &failure{status: exitConfig, err: fmt.Errorf("read configuration: %w", err)}
	}
	c, wrong := parseConfig(body, p.now())
	for _, m := range wrong {
		fmt.Fprintf(p.stdout, "%s: %s\n", report.Printable(o.config), report.Printable(m.String()))
	}
	if len(wrong) > 0 {
		fmt.Fprintf(p.stdout, "%s\n", audit.Plural(len(wrong), "mistake"))
		return status(exitConfig)
	}
	fmt.Fprintf(p.stdout, "%s: valid; it names %s%s\n", report.Printable(o.config), audit.Plural(len(c.stores), "place"), c.notify.count())
	return nil
}

func (p *program) configPrintCommand() *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "print",
		Short: "Print the configuration that is in effect, as YAML",
		Long: `Print the configuration that is in effect, as YAML: what flags, BACKSTOP_
variables, the file and the defaults come to, for each place that an audit
without arguments would look at. A user or password in a URL is masked, and what
a file of a secret holds is not read.

Exit status: 0, or 78 where the configuration has a mistake.
`,
		Example: "  backstop config print --config backstop.yaml",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.printConfig(o)
		},
	}
	o.addReaching(c.Flags())
	return c
}

func (p *program) printConfig(o *options) error {
	if err := o.checkReaching(); err != nil {
		return err
	}
	c, err := p.readConfig(o)
	if err != nil {
		return err
	}
	flags, err := o.settings()
	if err != nil {
		return err
	}
	ts, err := p.effective(c, nil, o)
	if err != nil {
		return err
	}
	out := printedConfig{Version: 1, MaxRequestsPerSecond: c.maxPerSecond(o), Defaults: printedSettings(flags.on(c.defaults.on(audit.DefaultPolicy()))), Stores: []printedStore{}}
	for _, t := range ts {
		out.Stores = append(out.Stores, printed(t))
	}
	out.Notify = c.notify.print()
	var doc yaml.Node
	if err := doc.Encode(out); err != nil {
		return &failure{status: exitInternal, err: fmt.Errorf("print configuration: %w", err)}
	}
	notGiven(&doc)
	e := yaml.NewEncoder(p.stdout)
	e.SetIndent(2)
	return errors.Join(e.Encode(&doc), e.Close())
}

// orKops follows a default in place of which kops's word would count.
const orKops = " or-kops"

// notGiven makes comments of the marks that orKops left.
func notGiven(n *yaml.Node) {
	if value, ok := strings.CutSuffix(n.Value, orKops); ok {
		n.Value, n.LineComment = value, "# the default, if kops says nothing else"
	}
	for _, below := range n.Content {
		notGiven(below)
	}
}

// A printedConfig is a configuration as it is written: what is printed can be
// read again.
type printedConfig struct {
	Version              int            `yaml:"version"`
	MaxRequestsPerSecond float64        `yaml:"max_requests_per_second"`
	Defaults             printedPolicy  `yaml:"defaults"`
	Stores               []printedStore `yaml:"stores"`
	Notify               *printedNotify `yaml:"notify,omitempty"`
}

type printedPolicy struct {
	Interval string `yaml:"interval"`
	Keep     struct {
		Hourly string `yaml:"hourly"`
		Daily  string `yaml:"daily"`
	} `yaml:"keep"`
	Horizon struct {
		Critical string `yaml:"critical"`
		Warning  string `yaml:"warning"`
	} `yaml:"horizon"`
}

type printedStore struct {
	configTarget  `yaml:",inline"`
	printedPolicy `yaml:",inline"`
	Role          audit.Role      `yaml:"role"`
	Windows       []printedWindow `yaml:"windows,omitempty"`
	Assume        []printedAssume `yaml:"assume,omitempty"`
	Acknowledged  []printedEvent  `yaml:"acknowledged,omitempty"`
	Ignore        []printedIgnore `yaml:"ignore,omitempty"`
}

type printedWindow struct {
	Cron   string `yaml:"cron"`
	For    string `yaml:"for"`
	Reason string `yaml:"reason"`
}

type printedAssume struct {
	Fact   audit.FactName `yaml:"fact"`
	Value  string         `yaml:"value"`
	Until  string         `yaml:"until"`
	Reason string         `yaml:"reason"`
}

type printedEvent struct {
	Rule   string `yaml:"rule"`
	Event  string `yaml:"event"`
	Reason string `yaml:"reason"`
}

type printedIgnore struct {
	Rule   string `yaml:"rule"`
	Until  string `yaml:"until"`
	Reason string `yaml:"reason"`
}

func printedSettings(p audit.Policy) printedPolicy {
	kopsable := func(d time.Duration, given bool) string {
		if given {
			return lengthText(d)
		}
		return lengthText(d) + orKops
	}
	var out printedPolicy
	out.Interval = kopsable(p.Interval, p.Given.Interval)
	out.Keep.Hourly, out.Keep.Daily = kopsable(p.KeepHourly, p.Given.KeepHourly), kopsable(p.KeepDaily, p.Given.KeepDaily)
	out.Horizon.Critical, out.Horizon.Warning = lengthText(p.HorizonCritical), lengthText(p.HorizonWarning)
	return out
}

// untilText writes the end of an exception so that it can be read again.
func untilText(t time.Time) string {
	if t = t.UTC(); t.Truncate(audit.Day).Equal(t) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339Nano)
}

func printed(t target) printedStore {
	s := printedStore{configTarget: t.configTarget, printedPolicy: printedSettings(t.policy), Role: t.policy.Role}
	s.URL, s.EndpointURL = masked(s.URL), masked(s.EndpointURL)
	if s.Role == "" {
		s.Role = audit.Live
	}
	for _, w := range t.policy.Windows {
		s.Windows = append(s.Windows, printedWindow{w.Cron, lengthText(w.For), w.Reason})
	}
	for _, a := range t.policy.Assume {
		s.Assume = append(s.Assume, printedAssume{a.Fact, a.Value, untilText(a.Until), a.Reason})
	}
	for _, a := range t.policy.Acknowledged {
		s.Acknowledged = append(s.Acknowledged, printedEvent(a))
	}
	for _, i := range t.policy.Ignore {
		s.Ignore = append(s.Ignore, printedIgnore{i.Rule, untilText(i.Until), i.Reason})
	}
	return s
}

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"backstop/alerts/notify"
	"backstop/audit/report"
)

type notifyOptions struct {
	options
	channels []string
}

func (p *program) notifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "notify",
		Short: "Try the channels of the configuration",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return &failure{status: exitUsage, err: errors.New("notify wants to know what to do"), hint: "backstop notify test; to tell what is wrong: backstop audit --notify"}
		},
	}
	c.AddCommand(p.notifyTestCommand())
	return c
}

func (p *program) notifyTestCommand() *cobra.Command {
	o := &notifyOptions{}
	c := &cobra.Command{
		Use:   "test --config FILE",
		Short: "Tell every channel of a test, and that it is over",
		Long: `Tell every channel of the configuration of an alert that is a test, and then that
it is over. A dead-man's switch hears of a run that ended well.

Exit status: 0 all were told, 74 some were not.
`,
		Example: "  backstop notify test --config backstop.yaml --channel pager",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.notifyTest(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.config, "config", "", "configuration `file` (YAML)")
	c.Flags().StringSliceVar(&o.channels, "channel", nil, "try the channels of these `names` alone, separated by commas")
	return c
}

func (p *program) notifyTest(ctx context.Context, o *notifyOptions) error {
	c, err := p.readConfig(&o.options)
	if err != nil {
		return err
	}
	tests := c.notify.tests(p)
	var names []string
	for _, t := range tests {
		names = append(names, t.name)
	}
	for _, want := range o.channels {
		if !slices.Contains(names, want) {
			return usagef("--channel: there is no channel %q; there are %s", want, strings.Join(names, ", "))
		}
	}
	if len(tests) == 0 {
		return &failure{status: exitUsage, err: errors.New("there is nobody to tell"), hint: "give --config FILE with channels under notify; see docs/notifications.md"}
	}
	failed := false
	for _, t := range tests {
		if len(o.channels) > 0 && !slices.Contains(o.channels, t.name) {
			continue
		}
		outcome := "told of a test, and that it is over"
		if err := t.run(ctx); err != nil {
			failed, outcome = true, "FAILED: "+report.Printable(oneLine(err))
		}
		fmt.Fprintf(p.stdout, "%s: %s\n", t.name, outcome)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if failed {
		return status(exitUndelivered)
	}
	return nil
}

// A channelTest tries one channel.
type channelTest struct {
	name string
	run  func(context.Context) error
}

// tests are the tests of all channels, in the order of the file.
func (n notifyConfig) tests(p *program) []channelTest {
	var all []channelTest
	for _, of := range n.printed {
		for _, c := range n.channels {
			if c.Name == of.Name {
				notifier := &notify.Notifier{Client: p.client()}
				all = append(all, channelTest{c.Name, func(ctx context.Context) error { return notifier.Test(ctx, c, p.now().UTC()) }})
			}
		}
		for _, d := range n.deadmen {
			if d.Name == of.Name {
				all = append(all, channelTest{d.Name, func(ctx context.Context) error {
					run, err := d.Begin(ctx, p.client())
					return errors.Join(err, run.End(ctx, exitOK, "This is a test by `backstop notify test`."))
				}})
			}
		}
	}
	return all
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"backstop/alerts"
	"backstop/alerts/deliver"
	"backstop/alerts/notify"
	"backstop/audit"
	"backstop/rules"
)

// A delivery tells others than the caller what an audit found: metrics,
// notifications, the dead-man's switches.
type delivery struct {
	p       *program
	args    []string
	options *auditOptions
	gateway *alerts.Pushgateway

	config   notifyConfig
	notifier *notify.Notifier // nil without --notify

	report audit.Report // of the audit, once it is there
	failed []error
}

// delivery prepares to tell. Others are told of the present, and of all of it.
func (p *program) delivery(args []string, o *auditOptions, at time.Time) (*delivery, error) {
	d := &delivery{p: p, args: args, options: o}
	const told = "--textfile, --pushgateway and --notify tell"
	switch {
	case !o.metrics.wanted() && !o.notify && o.state != "":
		return nil, usagef("--state is for --notify")
	case !o.metrics.wanted() && !o.notify:
		return d, nil
	case o.replay != "" || !at.IsZero():
		return nil, usagef(told + " what is so now: they do not go with --replay or --at; -o prometheus=FILE does")
	case len(o.rules) > 0:
		return nil, usagef(told + " everything: they do not go with --rules; -o prometheus=FILE does")
	case o.watch > 0:
		return nil, usagef(told + " the outcome of one audit: they do not go with --watch")
	}
	var err error
	if d.gateway, err = o.metrics.check(p.client()); err == nil && o.notify {
		err = d.readNotify()
	}
	return d, err
}

// readNotify reads whom to notify.
func (d *delivery) readNotify() error {
	c, err := d.p.readConfig(&d.options.options)
	if err != nil {
		return err
	}
	d.config = c.notify
	if len(d.config.printed) == 0 {
		return &failure{status: exitUsage, err: errors.New("--notify: there is nobody to tell"), hint: "give --config FILE with channels under notify; see docs/notifications.md"}
	}
	for _, c := range d.config.channels {
		if d.options.state == "" && c.Type != notify.Alertmanager {
			return &failure{status: exitUsage, err: fmt.Errorf("--notify: without --state FILE nobody would know what the channel %s was told, and when that is over", c.Name),
				hint: "give --state a file that outlives the run; only Alertmanager and dead-man's switches can do without"}
		}
	}
	d.notifier = &notify.Notifier{Channels: d.config.channels, Client: d.p.client()}
	return nil
}

// client makes requests that must arrive.
func (p *program) client() deliver.Client {
	var c deliver.Client
	if p.testOnlyDeliver != nil {
		p.testOnlyDeliver(&c)
	}
	return c
}

// watched runs an audit under the eyes of the dead-man's switches, and makes a
// failure of what could not be delivered.
func (d *delivery) watched(ctx context.Context, run func() error) error {
	runs := make([]*notify.Run, len(d.config.deadmen))
	for i, dead := range d.config.deadmen {
		dead.Fails = failsFrom(dead.failOn)
		var err error
		runs[i], err = dead.Begin(ctx, d.p.client())
		d.failed = append(d.failed, err)
	}
	err := run()
	ended := d.p.exitStatus(err)
	// Also a run that is interrupted says how it ended, if that goes quickly.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	for _, run := range runs {
		d.failed = append(d.failed, run.End(last, ended, d.lastWords(err)))
	}
	if undelivered := errors.Join(d.failed...); undelivered != nil {
		var s status
		if err == nil || errors.As(err, &s) {
			return d.undelivered(undelivered)
		}
		log := d.p.logger(&d.options.options)
		log.Error().Msg(oneLine(undelivered))
	}
	return err
}

// failsFrom says which exit statuses a switch takes for a failure. Not to know is
// one always.
func failsFrom(v audit.Verdict) func(int) bool {
	return func(status int) bool {
		return status != exitOK && (status != exitWarning || v == audit.VerdictWarning)
	}
}

// lastWords are what a switch keeps of a run.
func (d *delivery) lastWords(err error) string {
	if d.report.Schema == 0 {
		return oneLine(err)
	}
	return firstLine(d.report)
}

// undelivered is the failure of a run whose report could not be delivered to all.
func (d *delivery) undelivered(err error) error {
	return &failure{status: exitUndelivered, err: errors.New(oneLine(err)),
		hint: "the report itself was written; what could not be delivered is told again by the next run"}
}

func oneLine(err error) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// tell tells everybody of a report. It tries everything.
func (d *delivery) tell(ctx context.Context, r audit.Report) {
	d.report = r
	results := alerts.Of(r)
	scope := alerts.ScopeOf(d.args, r)
	if d.notifier != nil {
		var err error
		results.Notifications, err = d.notify(ctx, r, scope)
		d.failed = append(d.failed, err)
	}
	d.failed = append(d.failed, d.options.metrics.tell(ctx, d.gateway, results, scope))
}

// notify tells the channels, and remembers what they were told.
func (d *delivery) notify(ctx context.Context, r audit.Report, scope alerts.Scope) (notify.Counts, error) {
	file := d.options.state
	state, err := readState(file)
	next, counts, e := d.notifier.Tell(ctx, state, notify.Round{
		Report: r, Rules: rules.All, Scope: scope, Now: d.p.now().UTC(), Runbooks: d.config.runbooks, Forgetful: file == "",
	})
	err = errors.Join(err, e)
	if file != "" {
		err = errors.Join(err, writeState(file, next))
	}
	return counts, err
}

// readState reads what was told before. One that cannot be read is put aside, so
// that it hinders one run and no more: what it knew of is told anew.
func readState(file string) (notify.State, error) {
	if file == "" {
		return notify.State{}, nil
	}
	body, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return notify.State{}, nil
	}
	var s notify.State
	if err == nil {
		s, err = notify.ParseState(body)
	}
	if err == nil {
		return s, nil
	}
	err = fmt.Errorf("read the state %s: %w", file, err)
	aside := file + ".unreadable"
	if e := os.Rename(file, aside); e != nil {
		return notify.State{}, errors.Join(err, e)
	}
	return notify.State{}, fmt.Errorf("%w; it is %s now, and whatever it had raised must be resolved by hand", err, aside)
}

func writeState(file string, s notify.State) error {
	body, err := s.Marshal()
	if err == nil {
		err = writeFile(file, func(w io.Writer) error { _, err := w.Write(body); return err })
	}
	if err != nil {
		return fmt.Errorf("write the state %s: %w", file, err)
	}
	return nil
}

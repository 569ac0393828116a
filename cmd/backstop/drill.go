package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"backstop/audit/report"
	"backstop/store/drill"
	"backstop/store/snapshot"
)

// drillOptions are the flags of drill.
type drillOptions struct {
	verifyOptions
	etcdBin      []string
	scratch      string
	startTimeout time.Duration
}

func (p *program) drillCommand() *cobra.Command {
	o := &drillOptions{}
	c := &cobra.Command{
		Use:   "drill SNAPSHOT",
		Short: "Restore a snapshot for trial with a real etcd, and compare",
		Long: `Restore a snapshot for trial, on this machine: verify it, restore it with etcd's own
tool into a scratch directory, start a real etcd on that, and compare the server's
revision, its number of keys and its HashKV with what was found in the snapshot.
SNAPSHOT is given as for verify. A damaged one is refused before anything is
restored.

It takes an etcd of the minor version that wrote the snapshot: etcd and etcdutl (for
3.4 etcd and etcdctl), in a directory given with --etcd-bin or on PATH. The server
listens on sockets in the scratch directory, which nobody but you can open, and on
no port; nothing of a cluster is touched. Processes and directory are gone at the
end, also after an error or a signal. The directory needs room for the compressed
snapshot and twice its database; the server takes memory of about twice the database.

Exit status: 0 restored, and equal; 2 the snapshot is damaged, etcd would not restore
it or run on it, or the server holds something else; 3 it could not be tried: the
snapshot was not read, there is no etcd of its version, there was no room or no time.
`,
		Example: "  backstop drill --etcd-bin /opt/etcd-v3.6.12 s3://kops-state/prod.example.com/backups/etcd/main/2026-11-30T18:06:47Z-000006",
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.drill(c.Context(), args, o)
		},
	}
	f := c.Flags()
	o.addVerifying(f)
	f.StringArrayVar(&o.etcdBin, "etcd-bin", nil, "`directory` with etcd, etcdutl and etcdctl, looked at before PATH; repeatable")
	f.StringVar(&o.scratch, "scratch", "", "`directory` to make the scratch directory in (default: the system's)")
	f.DurationVar(&o.startTimeout, "start-timeout", 5*time.Minute, "how long the restored etcd may take to answer")
	return c
}

// A drilled is a drill's report as docs/drill.schema.json has it.
type drilled struct {
	Format int    `json:"backstop_drill"`
	Name   string `json:"name"`
	drill.Report
}

func (p *program) drill(ctx context.Context, args []string, o *drillOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	limit, err := o.checkVerify()
	switch {
	case err != nil:
		return err
	case len(args) != 1:
		return usagef("%d snapshots are given; want one: a file, s3://BUCKET/KEY, or - for standard input", len(args))
	case o.startTimeout <= 0:
		return usagef("--start-timeout is %v, want more than 0", o.startTimeout)
	}
	d, err := p.drillOne(ctx, args[0], o, limit)
	if err != nil {
		return err
	}
	if o.output == "json" {
		if err := writeJSON(p.stdout, d); err != nil {
			return &failure{status: exitInternal, err: fmt.Errorf("write the result: %w", err)}
		}
	} else {
		p.tellDrilled(d, &o.options)
	}
	if code := drilledStatus(d.Outcome); code != exitOK {
		return status(code)
	}
	return nil
}

// drillOne drills one snapshot. Its error is why the program has to end.
func (p *program) drillOne(ctx context.Context, arg string, o *drillOptions, limit int64) (drilled, error) {
	in, err := p.openSnapshot(ctx, arg, &o.verifyOptions)
	d := drilled{Format: 1, Name: in.name}
	if err != nil {
		if ends(ctx, err) {
			return d, err
		}
		d.Outcome, d.Reason = drill.Untried, err.Error()
		d.Snapshot = snapshot.Result{Verdict: snapshot.Unverified, Cause: snapshot.NotRead, Reason: err.Error()}
		return d, nil
	}
	defer func() { _ = in.Close() }() // it was read, or is given up
	bar := p.newBar(in.name, in.size)
	d.Report, err = drill.Run(ctx, &watched{in, bar}, drill.Options{
		Snapshot: snapshot.Options{Size: in.size, Tail: in.tail, MaxMemory: limit},
		Dirs:     o.etcdBin, Scratch: o.scratch, StartTimeout: o.startTimeout, Now: p.now,
		Step: func(what string) {
			bar.done()
			fmt.Fprintf(p.stderr, "backstop: %s\n", report.Printable(what))
		},
	})
	bar.done()
	return d, err
}

// drilledStatus gives the exit status of an outcome.
func drilledStatus(o drill.Outcome) int {
	switch o {
	case drill.Restored:
		return exitOK
	case drill.Damaged, drill.Refused, drill.Different:
		return exitCritical
	}
	return exitUnknown
}

// outcomeColors are those of the verdicts that have the same exit status.
var outcomeColors = map[int]string{exitOK: "\x1b[32m", exitCritical: "\x1b[31m", exitUnknown: "\x1b[35m"}

// tellDrilled writes a report for people.
func (p *program) tellDrilled(d drilled, o *options) {
	color, _ := p.terminal(o)
	word := fmt.Sprintf("%-9s", strings.ToUpper(string(d.Outcome)))
	if color {
		word = outcomeColors[drilledStatus(d.Outcome)] + word + "\x1b[0m"
	}
	line := func(format string, args ...any) {
		fmt.Fprintf(p.stdout, "  %s\n", report.Printable(fmt.Sprintf(format, args...)))
	}
	fmt.Fprintf(p.stdout, "%s  %s\n", word, report.Printable(d.Name))
	if d.Reason != "" {
		line("%s", d.Reason)
	}
	if d.Hint != "" {
		line("what to do: %s", d.Hint)
	}
	for _, remark := range d.Snapshot.Remarks {
		line("remark: %s", remark)
	}
	for _, c := range d.Checks {
		line("%s", checked(c))
	}
	if d.Tools != nil {
		line("etcd %s (%s), because %s", d.Tools.Version, d.Tools.Etcd, d.Because)
	}
	if d.StartSeconds > 0 {
		line("restored in %.1f s; the server answered after %.1f s", d.RestoreSeconds, d.StartSeconds)
	}
}

// checked says what one comparison gave.
func checked(c drill.Check) string {
	word := "="
	if !c.Equal {
		word = "DIFFERS"
	}
	if c.Ignored {
		word = "?"
	}
	s := fmt.Sprintf("%-8s  %d in the snapshot, %d on the server  %s", c.What, c.Snapshot, c.Server, word)
	if c.Note != "" {
		s += "  (" + c.Note + ")"
	}
	return s
}

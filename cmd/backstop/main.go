// Command backstop audits etcd-manager backup stores, and says so before
// somebody's cluster is reset. It reads, and never writes to what it audits.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"backstop/alerts/deliver"
)

func main() {
	ctx := untilSignal(context.Background())
	p := &program{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, now: time.Now, env: os.LookupEnv}
	os.Exit(p.run(os.Args[1:]))
}

// A caught signal is why a context ended.
type caught struct{ os.Signal }

func (c caught) Error() string { return c.String() }

// untilSignal ends the context at the first signal. The second kills the
// program, as if nobody caught it.
func untilSignal(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		cancel(caught{<-signals})
		signal.Stop(signals)
	}()
	return ctx
}

// A program is the command with its surroundings, so that tests can give it
// others.
type program struct {
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	now    func() time.Time // the only clock of the program
	env    func(string) (string, bool)

	// testOnlyS3 changes how S3 is reached: tests are less patient.
	testOnlyS3 func(*s3Settings)
	// testOnlyDeliver does the same for notifications.
	testOnlyDeliver func(*deliver.Client)
}

// Exit statuses besides the verdicts. Verdicts have Nagios's codes; the
// program's own failures have those of sysexits.h, so that they are never taken
// for a verdict.
const (
	exitOK          = 0
	exitWarning     = 1
	exitCritical    = 2
	exitUnknown     = 3
	exitUsage       = 64
	exitUnavailable = 69
	exitInternal    = 70
	exitUndelivered = 74 // EX_IOERR
	exitTryAgain    = 75
	exitDenied      = 77
	exitConfig      = 78
	exitInterrupted = 130
	exitTerminated  = 143
)

// A failure ends the program with a status and a line for people.
type failure struct {
	status int
	err    error
	hint   string // what to do
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func usagef(format string, args ...any) error {
	return &failure{status: exitUsage, err: fmt.Errorf(format, args...)}
}

// A status ends the program with an exit status and nothing more to say.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// run carries out one command line and gives the exit status.
func (p *program) run(args []string) int {
	root := p.root()
	root.SetArgs(args)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	err := root.ExecuteContext(p.ctx)
	var s status
	var f *failure
	switch {
	case err == nil, errors.As(err, &s):
	case p.interrupted(err):
		fmt.Fprintln(p.stderr, "backstop: interrupted")
	case errors.As(err, &f):
		fmt.Fprintf(p.stderr, "backstop: error: %v\n", f.err)
		if f.hint != "" {
			fmt.Fprintf(p.stderr, "backstop: hint: %s\n", f.hint)
		}
	default:
		// What cobra itself refuses: an unknown command, flag or argument.
		fmt.Fprintf(p.stderr, "backstop: error: %s\nbackstop: hint: see `backstop --help`\n", strings.Join(strings.Fields(err.Error()), " "))
	}
	return p.exitStatus(err)
}

// interrupted reports whether a signal ended what ended with an error.
func (p *program) interrupted(err error) bool {
	return p.ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// exitStatus is the status that an error ends the program with.
func (p *program) exitStatus(err error) int {
	var s status
	var f *failure
	var c caught
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &s):
		return int(s)
	case p.interrupted(err) && errors.As(context.Cause(p.ctx), &c) && c.Signal == syscall.SIGTERM:
		return exitTerminated
	case p.interrupted(err):
		return exitInterrupted
	case errors.As(err, &f):
		return f.status
	}
	return exitUsage
}

const exitHelp = `
Exit status: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN (something could not be
looked at, or no store was found); 64 usage, 69 no store could be reached,
70 internal error, 74 metrics or notifications could not be delivered,
75 try again, 77 permission denied on every store, 78 bad configuration,
130 and 143 interrupted.
`

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "backstop",
		Short: "Audit etcd-manager backup stores before they reset your cluster",
		Long: `backstop looks at the backup stores of etcd-manager (kops) in S3 and tells
whether the control files and recent snapshots are there, what will delete
them and when, and what to do. It only reads.
` + exitHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(
		p.auditCommand(),
		p.mergeCommand(),
		p.planCommand(),
		p.gateCommand(),
		p.forecastCommand(),
		p.suggestCommand(),
		p.lintCommand(),
		p.verifyCommand(),
		p.preflightCommand(),
		p.diffCommand(),
		p.drillCommand(),
		p.explainCommand(),
		p.configCommand(),
		p.doctorCommand(),
		p.serveCommand(),
		p.notifyCommand(),
		p.demoCommand(),
		p.manCommand(),
		p.versionCommand(),
	)
	return root
}

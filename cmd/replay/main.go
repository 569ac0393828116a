package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// Exit statuses.
const (
	exitMet    = 0
	exitMissed = 1  // a target was missed
	exitUsage  = 64 // the command line, or a scenario, is wrong
	exitFailed = 70 // the replay could not be made

	exitInterrupted = 130 // the table is of the time before
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprintln(stderr, "usage: replay [flags] SCENARIO...") }
	check := flags.Bool("check", false, "read the scenarios, and do nothing")
	parts := flags.Int("parts", 1, "so many parts of the clusters live side by side, each in a world of its own: clusters that share a bucket are divided")
	quiet := flags.Bool("quiet", false, "no progress")
	if err := flags.Parse(args); err != nil || flags.NArg() == 0 {
		flags.Usage()
		return exitUsage
	}
	debug.SetGCPercent(400) // an audit leaves nothing behind, and there are many
	var scenarios []*scenario
	for _, file := range flags.Args() {
		s, err := openScenario(file)
		if err != nil {
			fmt.Fprintln(stderr, err)
			return exitUsage
		}
		scenarios = append(scenarios, s)
	}
	if *check {
		return exitMet
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	progress := stderr
	if *quiet {
		progress = io.Discard
	}
	total, err := replay(ctx, scenarios, max(1, *parts), stdout, progress)
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case err != nil:
		fmt.Fprintln(stderr, "replay:", err)
		return exitFailed
	case !total.met():
		return exitMissed
	}
	return exitMet
}

// openScenario reads a file. The error has a line for each mistake in it.
func openScenario(file string) (*scenario, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the scenario: %w", err)
	}
	s, err := readScenario(body)
	var wrong mistakes
	if errors.As(err, &wrong) {
		text := ""
		for _, m := range wrong {
			text += fmt.Sprintf("%s:%d: %s\n", file, m.line, m.text)
		}
		return nil, errors.New(text[:len(text)-1])
	}
	return s, err
}

// replay lives through scenarios, each in so many parts at a time, and prints what
// came of them.
func replay(ctx context.Context, scenarios []*scenario, parts int, w, progress io.Writer) (score, error) {
	var total score
	for _, s := range scenarios {
		r, err := live(ctx, s, parts, progress)
		if err != nil && ctx.Err() == nil {
			return total, err
		}
		if err := r.print(w); err != nil {
			return total, err
		}
		total.add(r.score())
		if ctx.Err() != nil {
			fmt.Fprintf(w, "interrupted on day %d of %d of %s: what follows is of the time before\n", r.day(), s.Days, s.Name)
			break
		}
	}
	if _, err := fmt.Fprintln(w, total.last()); err != nil {
		return total, err
	}
	return total, ctx.Err()
}

// live lives through one scenario.
func live(ctx context.Context, s *scenario, parts int, progress io.Writer) (*result, error) {
	r := &result{scenario: s}
	for i := range parts {
		r.parts = append(r.parts, newWatch(newWorld(s, part{i, parts})))
	}
	var all errgroup.Group
	for i, a := range r.parts {
		all.Go(func() error {
			return a.run(ctx, func(a *watch) {
				if i == 0 && a.now.Truncate(day).Equal(a.now) {
					fmt.Fprintf(progress, "\r%s: day %d of %d ", s.Name, int(a.now.Sub(a.begun)/day), s.Days)
				}
			})
		})
	}
	err := all.Wait()
	fmt.Fprint(progress, "\r")
	return r, err
}

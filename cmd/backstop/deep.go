package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"backstop/audit"
	"backstop/store"
	"backstop/store/ledger"
)

// deepOptions are the flags that say what of snapshots is read and remembered.
type deepOptions struct {
	verify      string
	ledger      string
	maxDuration time.Duration
	maxMemory   string
}

func (o *deepOptions) add(f *pflag.FlagSet) {
	f.StringVar(&o.verify, "verify", "", "read snapshots to their end: `newest`, new, all or K/N, the Kth of N parts; new and all need --ledger")
	f.StringVar(&o.ledger, "ledger", "", "`file` that remembers what was seen and verified, so that it need not be read again")
	f.DurationVar(&o.maxDuration, "max-duration", 0, "how long --verify may read; what is left is told, and the next run with the same --ledger goes on; 0 is no limit")
	f.StringVar(&o.maxMemory, "max-memory", "1GiB", "the most that a snapshot's summary may take with --verify; beyond that it is not verified")
}

// A deepLook stands between the look and its viewer: it adds what the ledger
// remembers of each store, and reads snapshots. To say how much it will read before
// it reads, it keeps all stores until they have been looked at.
type deepLook struct {
	viewer
	p           *program
	options     *options
	ledger      *ledger.Ledger // may be nil
	choice      *store.Choice  // nil to read nothing
	maxMemory   int64
	maxDuration time.Duration

	found  *store.Found
	sights []sight

	mu     sync.Mutex
	failed error // the first time that the ledger could not be used
}

// deepLook gives what --verify and --ledger ask for; nil for nothing.
func (p *program) deepLook(o *auditOptions, at time.Time) (*deepLook, error) {
	d := &deepLook{p: p, options: &o.options, maxDuration: o.deep.maxDuration}
	var err error
	if d.maxMemory, err = parseSize(o.deep.maxMemory); err != nil {
		return nil, usagef("--max-memory: %w", err)
	}
	switch {
	case o.deep.verify == "" && o.deep.ledger == "":
		return nil, nil
	case o.replay != "" || !at.IsZero() || o.watch > 0:
		return nil, usagef("--verify and --ledger are for what is there now, once: they do not go with --replay, --at or --watch")
	case o.deep.maxDuration < 0:
		return nil, usagef("--max-duration is %v, want 0 for no limit, or more", o.deep.maxDuration)
	}
	if o.deep.verify != "" {
		c, err := store.ParseChoice(o.deep.verify)
		if err != nil {
			return nil, usagef("--verify: %w", err)
		}
		if c.NeedsMemory() && o.deep.ledger == "" {
			return nil, &failure{status: exitUsage, err: fmt.Errorf("--verify %s needs --ledger FILE: without it every run would read everything", c),
				hint: "--verify newest and --verify K/N, one part of N, do without"}
		}
		d.choice = &c
	}
	if o.deep.ledger != "" {
		if d.ledger, err = openLedger(o.deep.ledger); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// openLedger opens a ledger, and says what to do about one that is of no use.
func openLedger(file string) (*ledger.Ledger, error) {
	l, err := ledger.Open(file, 0)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, ledger.ErrBusy):
		return nil, &failure{status: exitTryAgain, err: err, hint: "auditors hold it for moments only; see which process does (fuser " + file + ")"}
	case errors.Is(err, ledger.ErrNewer):
		return nil, &failure{status: exitUsage, err: err, hint: "use that backstop, or another file: losing a ledger loses no truth, only memory"}
	case errors.Is(err, ledger.ErrForeign):
		return nil, &failure{status: exitUsage, err: err, hint: "give another file, or move this one away: losing a ledger loses no truth, only memory"}
	}
	return nil, &failure{status: exitUndelivered, err: err, hint: "audit without --ledger until that is mended: it is memory, and no verdict needs it"}
}

// over puts the deep look before a viewer, for the stores that were found.
func (d *deepLook) over(v viewer, found *store.Found) { d.viewer, d.found = v, found }

func (d *deepLook) expect(policies []audit.Policy) {
	d.sights = make([]sight, len(policies))
	d.viewer.expect(policies)
}

// show implements viewer.
func (d *deepLook) show(i int, s sight) {
	if d.ledger != nil {
		d.trouble(d.ledger.Recall(s.Observation))
		d.trouble(d.ledger.Note(s.Observation))
	}
	if d.choice == nil {
		d.viewer.show(i, s)
		return
	}
	s.Observation.Verification.Asked = d.choice.String()
	d.sights[i] = s
}

// trouble notes that the ledger could not be used. The audit goes on without.
func (d *deepLook) trouble(err error) {
	if err == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == nil {
		d.failed = err
		log := d.p.logger(d.options)
		log.Error().Msg(oneLine(err))
	}
}

// failure is why the ledger could not be used.
func (d *deepLook) failure() error {
	if d == nil {
		return nil
	}
	return d.failed
}

// finish reads what is to be read, once all stores have been looked at, and shows
// them. The newest of each store come first, so that a time limit takes the rest.
func (d *deepLook) finish(ctx context.Context, bill *bill) error {
	if d.choice == nil {
		return nil
	}
	chosen := make([][]audit.Snapshot, len(d.sights))
	var bytes int64
	n, stores := 0, 0
	for i, s := range d.sights {
		chosen[i] = d.choice.Of(s.Observation, s.Observation.Clock(d.p.now().UTC()))
		for _, c := range chosen[i] {
			bytes += c.Data.Size
		}
		if n += len(chosen[i]); len(chosen[i]) > 0 {
			stores++
		}
	}
	d.announce(n, stores, bytes)
	if err := d.read(ctx, chosen, bytes); err != nil {
		return err
	}
	for i, s := range d.sights {
		bill.add(s.Observation)
		d.viewer.show(i, s)
	}
	return nil
}

// announce says how much will be read, before it is.
func (d *deepLook) announce(n, stores int, bytes int64) {
	if !d.choice.NeedsMemory() {
		log := d.p.logger(d.options)
		log.Info().Int("snapshots", n).Int64("bytes", bytes).Str("verify", d.choice.String()).Msg("reading snapshots")
		return
	}
	fmt.Fprintf(d.p.stderr, "backstop: --verify %s: %s of %s to read, %s (%d bytes)\n",
		d.choice, audit.Plural(n, "snapshot"), audit.Plural(stores, "store"), size(bytes), bytes)
}

// read reads the first of each store, and then the others.
func (d *deepLook) read(ctx context.Context, chosen [][]audit.Snapshot, bytes int64) error {
	limited, cancel := ctx, func() {}
	if d.maxDuration > 0 {
		limited, cancel = context.WithTimeoutCause(ctx, d.maxDuration, store.ErrTimeIsUp)
	}
	defer cancel()
	bar := d.p.newBar("verifying", bytes)
	defer bar.done()
	v := &store.Verifier{MaxMemory: d.maxMemory, Now: d.p.now, Progress: func(n int) { bar.add(int64(n)) }}
	if d.ledger != nil {
		v.Keep = func(s audit.Store, e audit.Examined) { d.trouble(d.ledger.Keep(s, e)) }
	}
	for _, first := range []bool{true, false} {
		for i, s := range d.sights {
			part := chosen[i][min(1, len(chosen[i])):]
			if first {
				part = chosen[i][:min(1, len(chosen[i]))]
			}
			v.Read(limited, d.found.Bucket(i), s.Observation, part)
			if err := ctx.Err(); err != nil {
				return err // what was read is in the ledger
			}
		}
	}
	return nil
}

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"backstop/audit"
	"backstop/audit/report"
)

// watch looks again and again, and prints a line for each store whose state,
// verdict or newest snapshot has changed, and the findings that came and went:
// what a person needs who is putting files back.
func (p *program) watch(ctx context.Context, args []string, o *auditOptions, set audit.Ruleset, before audit.Report) error {
	fmt.Fprintf(p.stdout, "watching every %v; ^C ends it\n", o.watch)
	tick := time.NewTicker(o.watch)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		now, err := p.assess(ctx, args, &o.options, set, time.Time{}, nil)
		if err != nil {
			return err
		}
		p.changes(before, now)
		before = now
	}
}

// changes prints what differs between two reports.
func (p *program) changes(before, now audit.Report) {
	old := map[string]audit.StoreReport{}
	for _, s := range before.Stores {
		old[s.Store.ID()] = s
	}
	at := now.Judged.UTC().Format("15:04:05Z")
	for _, s := range now.Stores {
		was, known := old[s.Store.ID()]
		delete(old, s.Store.ID())
		if !known {
			was.State.Name = "not seen before"
		}
		if line := summary(s); line != summary(was) {
			from := ""
			if was.State.Name != s.State.Name {
				from = was.State.Name + " -> "
			}
			fmt.Fprintf(p.stdout, "%s  %s%s\n", at, from, line)
		}
		p.findingsChanged(at, was.Findings, s.Findings)
	}
	for _, s := range old {
		fmt.Fprintf(p.stdout, "%s  gone: %s\n", at, report.Printable(s.Store.URL))
	}
	for _, pr := range now.Problems {
		if slices.Contains(before.Problems, pr) {
			continue
		}
		fmt.Fprintf(p.stdout, "%s  not audited: %s: %s\n", at, report.Printable(pr.Target), report.Printable(pr.Message))
	}
}

func (p *program) findingsChanged(at string, was, is []audit.Finding) {
	id := func(f audit.Finding) string { return string(f.Severity) + " " + f.Rule + " " + f.Key }
	old, present := map[string]bool{}, map[string]bool{}
	for _, f := range was {
		old[id(f)] = true
	}
	for _, f := range is {
		present[id(f)] = true
		if !old[id(f)] {
			fmt.Fprintf(p.stdout, "%s    new:  %s %s: %s\n", at, f.Severity, f.Rule, report.Printable(f.Message))
		}
	}
	for _, f := range was {
		if !present[id(f)] {
			fmt.Fprintf(p.stdout, "%s    gone: %s %s\n", at, f.Severity, f.Rule)
		}
	}
}

// summary is the line of a store without what changes by itself.
func summary(s audit.StoreReport) string {
	newest := "no snapshots"
	if s.Newest != nil {
		newest = "newest " + audit.Stamp(s.Newest.At)
	}
	pending := ""
	if s.State.RestorePending {
		pending = "+restore-pending"
	}
	return fmt.Sprintf("%s%s  %s  %s  %s, %s", s.State.Name, pending, s.Verdict, report.Printable(s.Store.URL), audit.Plural(s.Snapshots, "snapshot"), newest)
}

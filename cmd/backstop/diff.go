package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"backstop/store/snapshot"
)

func (p *program) diffCommand() *cobra.Command {
	o := &verifyOptions{}
	c := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Tell what changed between two snapshots, by resource and namespace",
		Long: `Tell what changed from one etcd snapshot to another: keys that were added,
changed and removed, and what they take, by Kubernetes resource and namespace.
BEFORE and AFTER are given as for verify, and are verified as they are read: of a
damaged one nothing is told.

A key has changed when its value has. One that was written again with the same value
has not, so that a snapshot and its restored copy are the same. Bytes are what the
newest record of a key takes in the database.

Each is read once, and nothing is written. Of BEFORE 32 bytes a key are kept while
AFTER is read, and that takes 16 bytes a record more than verify, whatever the values
are; --max-memory bounds both together.

Exit status: 0 nothing changed, 1 something did, 2 one of them is damaged, or no
snapshot, 3 one was not read.
`,
		Example: "  backstop diff s3://kops-state/prod.example.com/backups/etcd/main/2026-11-30T18:06:47Z-000006 now.db",
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.diff(c.Context(), args, o)
		},
	}
	o.addVerifying(c.Flags())
	c.Flags().Lookup("max-memory").Usage = "the most that both snapshots' summaries may take; beyond that they are not compared"
	return c
}

// A compared is two snapshots and what changed.
type compared struct {
	Format int      `json:"backstop_diff"`
	Before verified `json:"before"`
	After  verified `json:"after"`
	// Notes are what to know before the numbers are read.
	Notes []string `json:"notes,omitempty"`
	// Total and Resources are only there where both could be read.
	Total     *snapshot.Change `json:"total,omitempty"`
	Resources []resourceChange `json:"resources,omitempty"`
}

// A resourceChange is what changed of one resource.
type resourceChange struct {
	Name string `json:"name"`
	snapshot.Change
	// Namespaces divide it; none where the resource has none.
	Namespaces []namespaceChange `json:"namespaces,omitempty"`
}

// A namespaceChange is what changed of one resource in one namespace.
type namespaceChange struct {
	Name string `json:"name"`
	snapshot.Change
}

func (p *program) diff(ctx context.Context, args []string, o *verifyOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	limit, err := o.checkVerify()
	switch {
	case err != nil:
		return err
	case len(args) != 2:
		return usagef("%d snapshots are given; want BEFORE and AFTER, each a file, s3://BUCKET/KEY, or - for standard input", len(args))
	case count(args, "-") > 1:
		return usagef("- is given twice, and standard input can be read once")
	}
	d, err := p.compare(ctx, args[0], args[1], o, limit)
	if err != nil {
		return err
	}
	if o.output == "json" {
		if err := writeJSON(p.stdout, d); err != nil {
			return &failure{status: exitInternal, err: fmt.Errorf("write the difference: %w", err)}
		}
	} else {
		p.tellCompared(d, &o.options)
	}
	if code := d.status(); code != exitOK {
		return status(code)
	}
	return nil
}

// compare reads both snapshots, and the second in what memory the first leaves.
func (p *program) compare(ctx context.Context, before, after string, o *verifyOptions, limit int64) (d compared, err error) {
	d.Format = 1
	was := snapshot.NewInventory()
	if d.Before, err = p.verifyOne(ctx, before, o, snapshot.Options{MaxMemory: limit, Inventory: was}); err != nil {
		return d, err
	}
	is := was.Another()
	if d.After, err = p.verifyOne(ctx, after, o, snapshot.Options{MaxMemory: max(limit-was.Bytes(), 1), Inventory: is}); err != nil {
		return d, err
	}
	if d.Before.Facts == nil || d.After.Facts == nil {
		return d, nil
	}
	all, err := snapshot.Compare(was, is)
	if err != nil {
		return d, &failure{status: exitInternal, err: err}
	}
	d.Total, d.Resources = &all.Change, byResource(all.Places)
	d.Notes = notes(d.Before.Facts, d.After.Facts)
	return d, nil
}

// byResource puts the namespaces of each resource together. The places are sorted.
func byResource(places []snapshot.PlaceChange) []resourceChange {
	var all []resourceChange
	for _, at := range places {
		if n := len(all); n == 0 || all[n-1].Name != at.Resource {
			all = append(all, resourceChange{Name: at.Resource})
		}
		r := &all[len(all)-1]
		r.Add(at.Change)
		if at.Namespace != "" {
			r.Namespaces = append(r.Namespaces, namespaceChange{at.Namespace, at.Change})
		}
	}
	return all
}

// notes says what the facts show before keys are looked at.
func notes(before, after *snapshot.Facts) []string {
	var all []string
	switch strangers := noneInCommon(before.Members, after.Members); {
	case strangers:
		all = append(all, "they have no etcd member in common: between them the cluster was made anew, by a restore or by a reset, or they are of two clusters")
	case before.Revision > after.Revision:
		all = append(all, fmt.Sprintf("the first is the newer one, by its revision (%d and %d): it reads as if time ran backwards", before.Revision, after.Revision))
	}
	if before.Keys > 0 && after.Keys == 0 {
		all = append(all, "the second holds nothing, as after a reset")
	}
	return all
}

// noneInCommon reports whether two clusters, of which the members are known, share
// none.
func noneInCommon(a, b []snapshot.Member) bool {
	ids := map[string]bool{}
	for _, m := range a {
		ids[m.ID] = true
	}
	for _, m := range b {
		if ids[m.ID] {
			return false
		}
	}
	return len(a) > 0 && len(b) > 0
}

// status gives the exit status.
func (d compared) status() int {
	switch code := verifiedStatus([]verified{d.Before, d.After}); {
	case code == exitCritical || code == exitUnknown:
		return code
	case d.Total == nil || d.Total.Same():
		return exitOK
	}
	return exitWarning
}

// writeJSON writes a document of ours.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

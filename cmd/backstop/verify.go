package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"backstop/store"
	"backstop/store/snapshot"
)

// verifyOptions are the flags of verify besides those that say how S3 is reached.
type verifyOptions struct {
	options
	output    string
	maxMemory string
	pace      store.Pace
}

func (p *program) verifyCommand() *cobra.Command {
	o := &verifyOptions{}
	c := &cobra.Command{
		Use:   "verify SNAPSHOT...",
		Short: "Read snapshots to their end and say whether they would restore",
		Long: `Read etcd snapshots to their end and say whether they would restore, and what
they hold. SNAPSHOT is a file, s3://BUCKET/KEY, or - for standard input; a
directory of etcd-manager's, or its prefix in S3, stands for the etcd.backup.gz
in it. Snapshots may be gzipped, as etcd-manager stores them, or plain, as
` + "`etcdctl snapshot save`" + ` writes them.

It checks gzip's checksum and that nothing follows, the length, the sha256
trailer, every page of the database that the tree leads to, and every record. It
writes no file, and its memory grows with the number of keys, and not with their
values.

Exit status: 0 intact; 1 restorable, but there is something to know first (a
torn meta page, no key in it); 2 damaged, or no snapshot; 3 not read. Of several
the worst counts: 2, then 3, then 1.
`,
		Example: "  backstop verify s3://kops-state/prod.example.com/backups/etcd/main/2026-11-30T18:06:47Z-000006\n  backstop verify -o json snapshot.db | jq .snapshots[0].facts.revision",
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.fromEnvironment(c); err != nil {
				return err
			}
			return p.verify(c.Context(), args, o)
		},
	}
	o.addVerifying(c.Flags())
	return c
}

// A verified is one snapshot and what was found out.
type verified struct {
	Name string `json:"name"`
	// Size is the length as stored, in bytes; 0 where it was not known before.
	Size int64 `json:"stored_bytes,omitempty"`
	snapshot.Result
}

func (p *program) verify(ctx context.Context, args []string, o *verifyOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	limit, err := o.checkVerify()
	if err != nil {
		return err
	}
	switch n := count(args, "-"); {
	case len(args) == 0:
		return usagef("no SNAPSHOT: want a file, s3://BUCKET/KEY, or - for standard input")
	case n > 1:
		return usagef("- is given %d times, and standard input can be read once", n)
	}
	all := make([]verified, len(args))
	for i, arg := range args {
		if all[i], err = p.verifyOne(ctx, arg, o, snapshot.Options{MaxMemory: limit}); err != nil {
			return err
		}
		if o.output == "text" {
			p.tellVerified(all[i], &o.options)
		}
	}
	if o.output == "json" {
		if err := writeVerified(p.stdout, all); err != nil {
			return &failure{status: exitInternal, err: fmt.Errorf("write the result: %w", err)}
		}
	} else if len(all) > 1 {
		fmt.Fprintln(p.stdout, sumUp(all))
	}
	if code := verifiedStatus(all); code != exitOK {
		return status(code)
	}
	return nil
}

func count(all []string, want string) int {
	n := 0
	for _, s := range all {
		if s == want {
			n++
		}
	}
	return n
}

// checkVerify gives --max-memory in bytes.
func (o *verifyOptions) checkVerify() (int64, error) {
	if !slices.Contains([]string{"text", "json"}, o.output) {
		return 0, usagef("--output is %q, want text or json", o.output)
	}
	n, err := parseSize(o.maxMemory)
	if err != nil {
		return 0, usagef("--max-memory: %w", err)
	}
	return n, nil
}

// parseSize parses a number of bytes, as in 512MiB or 1GiB.
func parseSize(s string) (int64, error) {
	for suffix, unit := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if digits, ok := strings.CutSuffix(s, suffix); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 32)
			if err != nil || n <= 0 {
				break
			}
			return n * unit, nil
		}
	}
	return 0, fmt.Errorf("%q is not a size; want one such as 512MiB or 2GiB", s)
}

// verifyOne reads one snapshot. How long it is, and how it ends, is found out
// here. Its error is why the program has to end.
func (p *program) verifyOne(ctx context.Context, arg string, o *verifyOptions, how snapshot.Options) (verified, error) {
	in, err := p.openSnapshot(ctx, arg, o)
	if err != nil {
		if ends(ctx, err) {
			return verified{}, err
		}
		return verified{Name: in.name, Result: snapshot.Result{Verdict: snapshot.Unverified, Cause: snapshot.NotRead, Reason: err.Error()}}, nil
	}
	defer func() { _ = in.Close() }() // it was read, or is given up
	bar := p.newBar(in.name, in.size)
	how.Size, how.Tail = in.size, in.tail
	r := snapshot.Verify(&watched{in, bar}, how)
	bar.done()
	if err := ctx.Err(); err != nil {
		return verified{}, err
	}
	return verified{in.name, in.size, r}, nil
}

// ends reports whether a snapshot that could not be opened ends the program: for
// what is wrong with the command line, or because it was interrupted.
func ends(ctx context.Context, err error) bool {
	var f *failure
	return errors.As(err, &f) || ctx.Err() != nil
}

// watched is a reader that shows how far it is.
type watched struct {
	io.Reader
	bar *progressBar
}

// Read reads and shows.
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	w.bar.add(int64(n))
	return n, err
}

// verifiedStatus gives the exit status for what was found.
func verifiedStatus(all []verified) int {
	has := map[snapshot.Verdict]bool{}
	for _, v := range all {
		has[v.Verdict] = true
	}
	switch {
	case has[snapshot.Damaged]:
		return exitCritical
	case has[snapshot.Unverified]:
		return exitUnknown
	case has[snapshot.Restorable]:
		return exitWarning
	}
	return exitOK
}

// writeVerified writes the results as docs/verify.schema.json has them.
func writeVerified(w io.Writer, all []verified) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		Format    int        `json:"backstop_verify"`
		Snapshots []verified `json:"snapshots"`
	}{1, all})
}

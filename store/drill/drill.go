package drill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/klauspost/compress/gzip"

	"backstop/store/snapshot"
)

// Options say how to drill.
type Options struct {
	// Snapshot is how the snapshot is verified, which comes first.
	Snapshot snapshot.Options
	// Dirs are where to look for etcd's programs before PATH.
	Dirs []string
	// Scratch is where the scratch directory is made; empty for the system's place
	// for such. It needs room for the compressed snapshot and twice its database.
	Scratch string
	// StartTimeout is how long the restored server may take to answer.
	StartTimeout time.Duration
	// Now is the clock that measures.
	Now func() time.Time
	// Step is told what is being done; nil for nobody.
	Step func(what string)
}

// An Outcome is how a drill ended.
type Outcome string

// The outcomes.
const (
	// Restored: the server runs, and holds what the snapshot holds.
	Restored Outcome = "restored"
	// Damaged: the snapshot is damaged, and nothing was restored.
	Damaged Outcome = "damaged"
	// Refused: etcd's own tool would not restore it, or its server not run on it.
	Refused Outcome = "refused"
	// Different: the server runs, and holds something else.
	Different Outcome = "different"
	// Untried: it could not be tried, or not to the end. Nothing is known.
	Untried Outcome = "untried"
)

// A Report is what a drill came to.
type Report struct {
	Outcome Outcome `json:"outcome"`
	// Reason says why it is not Restored, Hint what to do about that.
	Reason string `json:"reason,omitempty"`
	Hint   string `json:"hint,omitempty"`
	// Snapshot is what verifying gave.
	Snapshot snapshot.Result `json:"snapshot"`
	// Minor is the minor version of etcd that it takes, Because how that shows.
	Minor   string `json:"minor,omitempty"`
	Because string `json:"because,omitempty"`
	Tools   *Tools `json:"tools,omitempty"`
	// Checks are what was compared.
	Checks []Check `json:"checks,omitempty"`
	// RestoreSeconds is how long the tool took, StartSeconds how long the server
	// took until it answered.
	RestoreSeconds float64 `json:"restore_seconds,omitempty"`
	StartSeconds   float64 `json:"start_seconds,omitempty"`
}

// Names in the scratch directory.
const (
	rawFile    = "snapshot.raw"
	plainFile  = "snapshot.db"
	dataDir    = "data"
	memberName = "default"
)

// Run drills the snapshot that in gives. Whatever keeps it from a result is told as
// Untried; its error is that ctx has ended.
func Run(ctx context.Context, in io.Reader, o Options) (Report, error) {
	// The kernel ends a child with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d := &drill{Options: o}
	err := d.inScratch(ctx, in)
	if ctx.Err() != nil {
		return d.r, ctx.Err()
	}
	var missing *Missing
	switch {
	case d.r.Outcome != "":
	case errors.As(err, &missing):
		d.ended(Untried, missing.Error(), missing.Hint())
	default:
		d.ended(Untried, err.Error(), "")
	}
	return d.r, nil
}

// A drill is one drill.
type drill struct {
	Options
	dir string
	r   Report
}

// ended notes how it ended.
func (d *drill) ended(o Outcome, reason, hint string) {
	d.r.Outcome, d.r.Reason, d.r.Hint = o, reason, hint
}

func (d *drill) step(format string, args ...any) {
	if d.Step != nil {
		d.Step(fmt.Sprintf(format, args...))
	}
}

// inScratch makes the scratch directory, drills in it and removes it. Nobody else
// may look into it.
func (d *drill) inScratch(ctx context.Context, in io.Reader) (err error) {
	dir, err := os.MkdirTemp(d.Scratch, "backstop-drill-")
	if err != nil {
		return fmt.Errorf("make a scratch directory: %w", err)
	}
	defer func() {
		if gone := os.RemoveAll(dir); gone != nil {
			d.step("the scratch directory could not be removed: %v; it holds the cluster's secrets, remove it by hand", gone)
		}
	}()
	if d.dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if n := len(filepath.Join(d.dir, clientSocket)); n > maxSocketPath {
		return fmt.Errorf("the path of the scratch directory, %s, is too long for a socket; give a shorter one with --scratch", d.dir)
	}
	if err := d.verify(in); err != nil || d.r.Outcome != "" {
		return err
	}
	return d.restore(ctx)
}

// maxSocketPath is how long the path of a unix socket may be (unix(7): 108 bytes
// with the zero at its end; some systems have 104).
const maxSocketPath = 103

// verify reads the snapshot, and keeps a copy of what it reads. Only an intact one
// is restored.
func (d *drill) verify(in io.Reader) error {
	raw, err := os.OpenFile(filepath.Join(d.dir, rawFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = raw.Close() }() // for the ways out before the end
	d.r.Snapshot = snapshot.Verify(io.TeeReader(in, raw), d.Options.Snapshot)
	switch s := d.r.Snapshot; {
	case s.Verdict == snapshot.Damaged:
		d.ended(Damaged, "the snapshot is damaged, and was not restored: "+s.Reason, "`backstop plan` names the newest snapshot that is intact")
		return nil
	case s.Facts == nil:
		d.ended(Untried, "the snapshot was not verified, and so not restored: "+s.Reason, "")
		return nil
	}
	if err := raw.Close(); err != nil {
		return fmt.Errorf("write the snapshot to %s: %w", d.dir, err)
	}
	return nil
}

// restore restores a verified snapshot and compares.
func (d *drill) restore(ctx context.Context) error {
	f := d.r.Snapshot.Facts
	d.r.Minor, d.r.Because = Minor(f)
	if f.AuthEnabled {
		d.ended(Untried, "etcd's own authentication is on in this snapshot: a restored server would not answer without a user's password", "restore it by hand, and ask with etcdctl --user")
		return nil
	}
	tools, err := find(ctx, d.r.Minor, d.r.Because, d.Dirs)
	if err != nil {
		return err
	}
	d.r.Tools = &tools
	if err := d.inflate(); err != nil {
		return fmt.Errorf("inflate the snapshot in %s: %w", d.dir, err)
	}
	if err := d.runRestore(ctx, tools); err != nil || d.r.Outcome != "" {
		return err
	}
	return d.serve(ctx, tools)
}

// inflate makes the file that etcd's tool reads.
func (d *drill) inflate() error {
	raw, plain := filepath.Join(d.dir, rawFile), filepath.Join(d.dir, plainFile)
	if !d.r.Snapshot.Gzip {
		return os.Rename(raw, plain)
	}
	in, err := os.Open(raw)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was read
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(plain, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, z)
	return errors.Join(err, out.Close(), os.Remove(raw))
}

// runRestore runs etcd's own tool.
func (d *drill) runRestore(ctx context.Context, t Tools) error {
	d.step("restoring with %s %s", t.Restore, t.Version)
	begun := d.Now()
	said, err := run(ctx, d.dir, t.Restore, "snapshot", "restore", plainFile, "--data-dir", dataDir, "--name", memberName,
		"--initial-cluster", memberName+"=unix://"+peerSocket, "--initial-advertise-peer-urls", "unix://"+peerSocket)
	d.r.RestoreSeconds = d.Now().Sub(begun).Seconds()
	if refused(err, said) {
		d.ended(Refused, fmt.Sprintf("%s snapshot restore refuses it (%v); %s", t.Restore, err, lastWords(said)), "keep the snapshot: backstop found nothing wrong with it")
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s snapshot restore did not end by itself (%w); %s", t.Restore, err, lastWords(said))
	}
	return os.Remove(filepath.Join(d.dir, plainFile))
}

// serve runs the server and compares what it says.
func (d *drill) serve(ctx context.Context, t Tools) error {
	d.step("starting %s %s on what was restored", t.Etcd, t.Version)
	begun := d.Now()
	s, err := start(ctx, t, d.dir)
	if err != nil {
		return fmt.Errorf("start %s: %w", t.Etcd, err)
	}
	defer s.close()
	wait, cancel := context.WithTimeout(ctx, d.StartTimeout)
	defer cancel()
	err = s.ready(wait)
	d.r.StartSeconds = d.Now().Sub(begun).Seconds()
	var died *dead
	if errors.As(err, &died) && refused(died.err, died.log) {
		d.ended(Refused, "restored, and the server does not run on it: "+died.Error(), "keep the snapshot: backstop found nothing wrong with it")
		return nil
	}
	if err != nil {
		return err
	}
	d.step("asking it what it holds")
	return d.compare(ctx, s)
}

package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"backstop/audit"
	"backstop/store/snapshot"
)

// A Verifier reads snapshots to their end. It reads one at a time, because each may
// take as much memory as MaxMemory says.
type Verifier struct {
	MaxMemory int64 // bytes; 0 is the verifier's own default
	Now       func() time.Time
	// Progress is told of the bytes that have come, as stored; it may be nil.
	Progress func(n int)
	// Keep is given what was found in a snapshot as soon as it is known; it may be
	// nil.
	Keep func(s audit.Store, e audit.Examined)
}

// Read reads snapshots of a store, in their order, and puts what it finds into the
// observation. It never fails: when the context ends, what was not read is counted
// as left, with the reason.
func (v *Verifier) Read(ctx context.Context, b Bucket, o *audit.Observation, snapshots []audit.Snapshot) {
	b = b.Fork()
	defer func() { o.Usage.Add(b.Usage()) }()
	for i, s := range snapshots {
		if ctx.Err() != nil {
			v.leave(ctx, o, len(snapshots)-i)
			return
		}
		e, n := v.one(ctx, b, s)
		o.Verification.Bytes += n
		if n > 0 {
			o.Verification.Opened++
		}
		if ctx.Err() != nil && e.Condition == audit.Unverified {
			v.leave(ctx, o, len(snapshots)-i)
			return
		}
		if known, ok := o.Of(s); ok && known.Depth.Reaches(audit.Parsed) && e.Condition == audit.Unverified {
			o.Verification.Left++ // what an earlier run found is so still
			o.Verification.LeftWhy = e.Reason
			continue
		}
		o.Verification.Snapshots = with(o.Verification.Snapshots, e)
		if v.Keep != nil && lasting(e) {
			v.Keep(o.Store, e)
		}
	}
}

func (v *Verifier) leave(ctx context.Context, o *audit.Observation, n int) {
	o.Verification.Left += n
	o.Verification.LeftWhy = "it was interrupted"
	if errors.Is(context.Cause(ctx), ErrTimeIsUp) {
		o.Verification.LeftWhy = "the time for it was up (--max-duration)"
	}
}

// ErrTimeIsUp is the cause with which a context ends when as much time was spent on
// reading as may be.
var ErrTimeIsUp = errors.New("the time for verifying was up")

// lasting reports whether what was found is so for as long as the object is there.
func lasting(e audit.Examined) bool {
	return e.Condition != audit.Unverified || e.Cause == string(snapshot.TooBig)
}

// with puts e in the place of what was known of the snapshot, or where its name
// belongs.
func with(all []audit.Examined, e audit.Examined) []audit.Examined {
	i, found := slices.BinarySearchFunc(all, e, func(a, b audit.Examined) int { return cmp.Compare(a.Name, b.Name) })
	if !found {
		return slices.Insert(all, i, e)
	}
	all[i] = e
	return all
}

// one reads a snapshot whose data is there to its end, and gives what it found and
// how many bytes came.
func (v *Verifier) one(ctx context.Context, b Bucket, s audit.Snapshot) (audit.Examined, int64) {
	e := examined(s, v.Now)
	in, err := b.Open(ctx, OpenInput{Key: s.Data.Key, ETag: s.Data.ETag})
	unread := func(cause, reason string) (audit.Examined, int64) {
		e.Condition, e.Cause, e.Reason = audit.Unverified, cause, reason
		return e, 0
	}
	switch {
	case errors.Is(err, ErrMissing):
		return unread("gone", "it is there no more since the store was listed")
	case err != nil:
		return unread(string(why(err).Cause), err.Error())
	case in.Unreadable != "":
		return unread("archived", "it is "+in.Unreadable)
	}
	defer func() { _ = in.Close() }() // it was read, or is given up
	e.VersionID = in.VersionID
	if in.Size != s.Data.Size {
		return unread(string(audit.CauseMalformed), fmt.Sprintf("it has %d bytes, and the listing shows %d of the same object", in.Size, s.Data.Size))
	}
	r := snapshot.Verify(&counting{in, v.Progress}, snapshot.Options{Size: in.Size, Tail: tailOf(ctx, b, in), MaxMemory: v.MaxMemory})
	if r.Verdict == snapshot.Damaged {
		e.Depth = audit.Parsed // as far as there is something to parse
	}
	e = conclude(e, r)
	e.At = v.Now().UTC()
	return e, r.Read
}

// tailFrom is from how many bytes on it is worth a request to know the end of a
// snapshot before it is read.
const tailFrom = 1 << 20

// tailOf reads the end of an object; nil where that is not to be had. Then a wrong
// length shows later.
func tailOf(ctx context.Context, b Bucket, s Stream) []byte {
	if s.Size < tailFrom {
		return nil
	}
	end, err := b.Part(ctx, PartInput{Key: s.Key, From: -snapshot.TailSize, ETag: s.ETag})
	if err != nil || end.Unreadable != "" {
		return nil
	}
	return end.Body
}

// counting tells of the bytes that come.
type counting struct {
	Stream
	tell func(n int)
}

// Read reads and tells.
func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Stream.Read(p)
	if c.tell != nil && n > 0 {
		c.tell(n)
	}
	return n, err
}

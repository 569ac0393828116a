package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"backstop/audit"
	"backstop/store/snapshot"
)

// head looks at the first and last bytes of the newest snapshot, in two requests,
// or in one where the first bytes are all.
func (l *look) head() {
	if !l.o.Listing.IsSet() {
		l.o.Head = audit.Unknown[audit.Examined](*l.o.Listing.Why)
		return
	}
	newest, _, ok := l.o.Listing.Value.Newest(l.now())
	if !ok {
		l.o.Head = audit.None[audit.Examined]()
		return
	}
	e, err := head(l.ctx, l.b, newest, l.now)
	if err != nil {
		l.o.Head = audit.Unknown[audit.Examined](why(err))
		return
	}
	l.o.Head = audit.Is(e)
}

// head examines a snapshot whose data is there to the depth Headed.
func head(ctx context.Context, b Bucket, s audit.Snapshot, now func() time.Time) (audit.Examined, error) {
	e := examined(s, now)
	if s.Data.Size == 0 {
		return e, nil // snapshot/empty-object speaks of it
	}
	first, err := b.Part(ctx, PartInput{Key: s.Data.Key, Length: snapshot.HeadSize, ETag: s.Data.ETag})
	if err != nil {
		return e, err
	}
	e.VersionID = first.VersionID
	if first.Unreadable != "" {
		e.Condition, e.Cause, e.Reason = audit.Unverified, "archived", "it is "+first.Unreadable
		return e, nil
	}
	if first.Size != s.Data.Size {
		return e, &Error{Op: "get part of object", Object: b.URL(s.Data.Key), Cause: audit.CauseMalformed,
			Err: fmt.Errorf("it has %d bytes, and the listing shows %d of the same object", first.Size, s.Data.Size)}
	}
	tail := first.Body
	if int64(len(tail)) < first.Size {
		last, err := b.Part(ctx, PartInput{Key: s.Data.Key, From: -snapshot.TailSize, ETag: s.Data.ETag})
		if err != nil {
			return e, err
		}
		tail = last.Body
	}
	e.Depth = audit.Headed
	return conclude(e, snapshot.Head(first.Body, snapshot.Options{Size: first.Size, Tail: tail})), nil
}

// examined begins to tell of a snapshot of which nothing was read yet.
func examined(s audit.Snapshot, now func() time.Time) audit.Examined {
	return audit.Examined{Name: s.Name, Key: s.Data.Key, ETag: s.Data.ETag, Size: s.Data.Size,
		Depth: audit.Listed, Condition: audit.Plausible, At: now().UTC()}
}

// conclude adds what the verifier says.
func conclude(e audit.Examined, r snapshot.Result) audit.Examined {
	e.Condition, e.Cause, e.Reason = audit.Condition(r.Verdict), string(r.Cause), r.Reason
	if r.Hashed {
		e.Depth = audit.Hashed
	}
	if f := r.Facts; f != nil {
		e.Depth, e.Content = audit.Parsed, content(f)
	}
	return e
}

// content puts the verifier's facts into the audit's words.
func content(f *snapshot.Facts) *audit.Content {
	c := &audit.Content{
		Revision: f.Revision, CompactRevision: f.CompactRevision, ConsistentIndex: f.ConsistentIndex, Term: f.Term,
		StorageVersion: f.StorageVersion, ClusterVersion: f.ClusterVersion, Removed: f.RemovedMembers,
		Keys: f.Keys, KeyBytes: f.KeyBytes, KubernetesKeys: f.KubernetesKeys,
		Size: f.Size, SHA256: f.SHA256, Hash: f.Hash, HashKV: f.HashKV,
	}
	for _, m := range f.Members {
		c.Members = append(c.Members, m.ID)
	}
	for _, r := range f.Resources {
		c.Resources = append(c.Resources, audit.ResourceCount{Name: r.Name, Keys: r.Keys})
	}
	return c
}

// VerifyOptions say how a snapshot is to be read.
type VerifyOptions struct {
	MaxMemory int64 // bytes that the verifier may keep; 0 is its default
	Now       func() time.Time
	// Progress is told of the bytes that have come, as stored; it may be nil.
	Progress func(n int)
}

// Verify reads a snapshot whose data is there to its end, and gives what it found
// and how many bytes came. It never fails: what could not be read is Unverified,
// with its cause.
func Verify(ctx context.Context, b Bucket, s audit.Snapshot, o VerifyOptions) (audit.Examined, int64) {
	e := examined(s, o.Now)
	in, err := b.Open(ctx, OpenInput{Key: s.Data.Key, ETag: s.Data.ETag})
	switch {
	case errors.Is(err, ErrMissing):
		e.Condition, e.Cause, e.Reason = audit.Unverified, "gone", "it is there no more since the store was listed"
		return e, 0
	case err != nil:
		e.Condition, e.Cause, e.Reason = audit.Unverified, string(why(err).Cause), err.Error()
		return e, 0
	case in.Unreadable != "":
		e.Condition, e.Cause, e.Reason = audit.Unverified, "archived", "it is "+in.Unreadable
		return e, 0
	}
	defer func() { _ = in.Close() }() // it was read, or is given up
	e.VersionID = in.VersionID
	if in.Size != s.Data.Size {
		e.Condition, e.Cause = audit.Unverified, string(audit.CauseMalformed)
		e.Reason = fmt.Sprintf("it has %d bytes, and the listing shows %d of the same object", in.Size, s.Data.Size)
		return e, 0
	}
	r := snapshot.Verify(&counting{in, o.Progress}, snapshot.Options{Size: in.Size, Tail: tailOf(ctx, b, in), MaxMemory: o.MaxMemory})
	if r.Verdict == snapshot.Damaged {
		e.Depth = audit.Parsed // as far as there is something to parse
	}
	e = conclude(e, r)
	e.At = o.Now().UTC()
	return e, r.Read
}

// tailOf reads the end of an object; nil where that is not to be had. Then a wrong
// length shows later.
func tailOf(ctx context.Context, b Bucket, s Stream) []byte {
	if s.Size < snapshot.TailSize {
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

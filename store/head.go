package store

import (
	"context"
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

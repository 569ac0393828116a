package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"backstop/audit"
)

// A storeRecord is what is remembered of a store.
type storeRecord struct {
	Since     time.Time   `json:"since"`
	Last      time.Time   `json:"last"`
	Created   audit.Noted `json:"created,omitzero"`
	Spec      audit.Noted `json:"spec,omitzero"`
	Lifecycle audit.Noted `json:"lifecycle,omitzero"`
	Window    audit.Reach `json:"window,omitzero"`
}

// An objectRecord is what is remembered of the data of one snapshot.
type objectRecord struct {
	First audit.Object `json:"first"` // without its key
	Seen  time.Time    `json:"seen"`
	// Examined is what was found in it; nil as long as it was not opened.
	Examined *audit.Examined `json:"examined,omitempty"`
}

// windowFor is how long the longest window is remembered: one that shrank for good
// is told for that long.
const windowFor = 30 * audit.Day

// Recall puts what is remembered of a store into its observation. Of snapshots that
// are there no more, or are other objects by now, nothing is.
func (l *Ledger) Recall(o *audit.Observation) error {
	err := l.view(func(tx *bbolt.Tx) error {
		o.Verification.Remembers = true
		r, ok, err := storeOf(tx, o.Store)
		if err != nil || !ok {
			return err
		}
		o.Memory = &audit.Memory{Since: r.Since, Last: r.Last, Created: r.Created, Spec: r.Spec, Lifecycle: r.Lifecycle, Window: r.Window}
		return recallObjects(tx, o)
	})
	if err != nil {
		return fmt.Errorf("read the ledger %s: %w", l.path, err)
	}
	return nil
}

func storeOf(tx *bbolt.Tx, s audit.Store) (r storeRecord, ok bool, err error) {
	body := tx.Bucket(storesBucket).Get([]byte(s.ID()))
	if body == nil {
		return r, false, nil
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return r, false, fmt.Errorf("%w: of store %s: %w", ErrForeign, s.URL, err)
	}
	return r, true, nil
}

func recallObjects(tx *bbolt.Tx, o *audit.Observation) error {
	objects := tx.Bucket(objectsBucket).Bucket([]byte(o.Store.ID()))
	if objects == nil {
		return nil
	}
	for _, s := range o.Listing.Value.Snapshots {
		if s.Data == nil {
			continue
		}
		r, ok, err := objectOf(objects, s.Data.Key)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if differs(r.First, *s.Data) && len(o.Memory.Altered) < audit.AlteredLimit {
			r.First.Key = s.Data.Key
			o.Memory.Altered = append(o.Memory.Altered, audit.Altered{Key: s.Data.Key, First: r.First, Seen: r.Seen, Now: *s.Data})
		}
		if e := r.Examined; e != nil && e.Is(*s.Data) {
			e.Remembered = true
			o.Verification.Snapshots = append(o.Verification.Snapshots, *e)
		}
	}
	return nil
}

func objectOf(objects *bbolt.Bucket, key string) (r objectRecord, ok bool, err error) {
	body := objects.Get([]byte(key))
	if body == nil {
		return r, false, nil
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return r, false, fmt.Errorf("%w: of object %s: %w", ErrForeign, key, err)
	}
	return r, true, nil
}

// differs reports whether an object is not the one that it was. A date alone says
// nothing: a copy over itself has a new one.
func differs(first, now audit.Object) bool {
	return first.Size != now.Size || first.ETag != now.ETag && first.ETag != "" && now.ETag != ""
}

// Note remembers what was seen of a store, and forgets what is there no more. What
// was not seen changes nothing.
func (l *Ledger) Note(o *audit.Observation) error {
	err := l.update(func(tx *bbolt.Tx) error {
		r, _, err := storeOf(tx, o.Store)
		if err != nil {
			return err
		}
		if err := put(tx.Bucket(storesBucket), o.Store.ID(), r.after(o)); err != nil || !o.Listing.IsSet() {
			return err
		}
		objects, err := tx.Bucket(objectsBucket).CreateBucketIfNotExists([]byte(o.Store.ID()))
		if err != nil {
			return err
		}
		if err := forget(objects, o); err != nil {
			return err
		}
		return noteObjects(objects, o)
	})
	if err != nil {
		return fmt.Errorf("write the ledger %s: %w", l.path, err)
	}
	return nil
}

// after gives the record once a look has been made.
func (r storeRecord) after(o *audit.Observation) storeRecord {
	at := o.Ended
	if r.Since.IsZero() {
		r.Since = at
	}
	r.Last = at
	for doc, noted := range map[*audit.Fact[audit.Document]]*audit.Noted{&o.Created: &r.Created, &o.Spec: &r.Spec, &o.Bucket.Lifecycle: &r.Lifecycle} {
		if now, ok := audit.RecordOf(*doc); ok {
			*noted = noted.After(now, at)
		}
	}
	if oldest, written, ok := o.Listing.Value.Oldest(); ok {
		now := audit.Reach{Length: at.Sub(written), Oldest: oldest.Name, At: at}
		if now.Length >= r.Window.Length || at.Sub(r.Window.At) > windowFor {
			r.Window = now
		}
	}
	return r
}

// forget drops the objects that a complete listing lacks.
func forget(objects *bbolt.Bucket, o *audit.Observation) error {
	listed := map[string]bool{}
	for _, s := range o.Listing.Value.Snapshots {
		if s.Data != nil {
			listed[s.Data.Key] = true
		}
	}
	var gone [][]byte
	err := objects.ForEach(func(key, _ []byte) error {
		if !listed[string(key)] {
			gone = append(gone, bytes.Clone(key))
		}
		return nil
	})
	for _, key := range gone {
		if err == nil {
			err = objects.Delete(key)
		}
	}
	return err
}

// noteObjects adds the objects that are new.
func noteObjects(objects *bbolt.Bucket, o *audit.Observation) error {
	for _, s := range o.Listing.Value.Snapshots {
		if s.Data == nil || objects.Get([]byte(s.Data.Key)) != nil {
			continue
		}
		first := *s.Data
		first.Key = ""
		if err := put(objects, s.Data.Key, objectRecord{First: first, Seen: o.Ended}); err != nil {
			return err
		}
	}
	return nil
}

// Keep remembers what was found in a snapshot, so that it need not be opened again.
func (l *Ledger) Keep(s audit.Store, e audit.Examined) error {
	err := l.update(func(tx *bbolt.Tx) error {
		objects, err := tx.Bucket(objectsBucket).CreateBucketIfNotExists([]byte(s.ID()))
		if err != nil {
			return err
		}
		r, ok, err := objectOf(objects, e.Key)
		if err != nil {
			return err
		}
		if !ok {
			r = objectRecord{First: audit.Object{Size: e.Size, ETag: e.ETag}, Seen: e.At}
		}
		r.Examined = &e
		return put(objects, e.Key, r)
	})
	if err != nil {
		return fmt.Errorf("write the ledger %s: %w", l.path, err)
	}
	return nil
}

func put(b *bbolt.Bucket, key string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put([]byte(key), body)
}

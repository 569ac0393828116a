package audit

import "time"

// A Memory is what a ledger holds of a store from earlier runs: what was there when
// it was seen first, and what has changed since. Without it every rule still tells
// the truth about what is there; it tells what is there no more, too.
type Memory struct {
	// Since is when the store was seen first, and Last when it was seen last
	// before this look, by the auditor's clock.
	Since time.Time `json:"since"`
	Last  time.Time `json:"last"`
	// Created, Spec and Lifecycle are the documents as they were when they were
	// seen last.
	Created   Noted `json:"created,omitzero"`
	Spec      Noted `json:"spec,omitzero"`
	Lifecycle Noted `json:"lifecycle,omitzero"`
	// Window is the longest time that snapshots reached back, of late.
	Window Reach `json:"window,omitzero"`
	// Altered are the objects with the data of a snapshot that are not as they
	// were when they were seen first, at most AlteredLimit of them.
	Altered []Altered `json:"altered,omitempty"`
}

// AlteredLimit bounds Memory.Altered.
const AlteredLimit = 20

// A Noted is a document as it was seen last, and what it was before it changed.
type Noted struct {
	// Seen says that it was ever seen; what it holds counts only then.
	Seen bool   `json:"seen,omitempty"`
	Now  Record `json:"now,omitzero"`
	// Before is what it was until it was seen changed at Changed; zero when no
	// change was ever seen.
	Before  Record    `json:"before,omitzero"`
	Changed time.Time `json:"changed,omitzero"`
}

// A Record is a document as it was at one time.
type Record struct {
	// Missing says that it was not there.
	Missing      bool      `json:"missing,omitempty"`
	Body         []byte    `json:"body,omitempty"`
	VersionID    string    `json:"version_id,omitempty"`
	LastModified time.Time `json:"last_modified,omitzero"`
}

// A Reach is how far back a store's snapshots reach.
type Reach struct {
	Length time.Duration `json:"length"` // from the oldest to the look
	Oldest string        `json:"oldest"` // the name of the oldest
	At     time.Time     `json:"at"`     // of the look
}

// An Altered is an object that is not as it was when it was seen first.
type Altered struct {
	Key   string    `json:"key"`
	First Object    `json:"first"`
	Seen  time.Time `json:"seen"` // when it was seen so
	Now   Object    `json:"now"`
}

// RecordOf gives a document as a ledger notes it; ok is false where it was not
// seen.
func RecordOf(f Fact[Document]) (r Record, ok bool) {
	if !f.Seen() {
		return Record{}, false
	}
	if !f.IsSet() {
		return Record{Missing: true}, true
	}
	return Record{Body: f.Value.Body, VersionID: f.Value.VersionID, LastModified: f.Value.LastModified}, true
}

// After gives what is noted of a document that is seen as r at a time.
func (n Noted) After(r Record, at time.Time) Noted {
	switch {
	case !n.Seen:
		return Noted{Seen: true, Now: r}
	case n.Now.same(r):
		return n
	}
	return Noted{Seen: true, Now: r, Before: n.Now, Changed: at}
}

func (r Record) same(s Record) bool {
	return r.Missing == s.Missing && string(r.Body) == string(s.Body) && r.VersionID == s.VersionID && r.LastModified.Equal(s.LastModified)
}

package lifecycle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// errNotWritable says why a rule cannot be written.
var errNotWritable = errors.New("it holds what only MinIO knows, or what was not understood")

// Writable reports whether nothing of the rules is lost when they are written: they
// hold no element that only MinIO knows, and none that was not understood.
func (c Configuration) Writable() error {
	for _, n := range c.Notes {
		if n.Why != OldName {
			return fmt.Errorf("%s: %w", n.Field, errNotWritable)
		}
	}
	for i := range c.Rules {
		r := &c.Rules[i]
		if r.DelMarkerExpirationDays != nil || r.Expiration != nil && r.Expiration.AllVersions || len(r.scope().Unknown) > 0 {
			return fmt.Errorf("rule %q: %w", c.name(i), errNotWritable)
		}
	}
	return nil
}

// JSON writes the rules as `aws s3api put-bucket-lifecycle-configuration
// --lifecycle-configuration` reads them, every rule in the newer of the two schemas.
// The transition size default is no part of that document: it is a parameter of its
// own.
func (c Configuration) JSON() ([]byte, error) {
	if err := c.Writable(); err != nil {
		return nil, fmt.Errorf("write lifecycle configuration: %w", err)
	}
	type document struct{ Rules []jsonRule }
	d := document{Rules: []jsonRule{}}
	for i := range c.Rules {
		d.Rules = append(d.Rules, c.Rules[i].json())
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		return nil, fmt.Errorf("write lifecycle configuration: %w", err)
	}
	return b.Bytes(), nil
}

type jsonRule struct {
	ID                             string `json:",omitempty"`
	Status                         string
	Filter                         jsonFilter
	Expiration                     *jsonExpiration      `json:",omitempty"`
	Transitions                    []jsonTransition     `json:",omitempty"`
	NoncurrentVersionExpiration    *jsonNoncurrent      `json:",omitempty"`
	NoncurrentVersionTransitions   []jsonNoncurrentMove `json:",omitempty"`
	AbortIncompleteMultipartUpload *jsonAbort           `json:",omitempty"`
}

type jsonFilter struct {
	jsonPredicate
	And *jsonAnd `json:",omitempty"`
}

type jsonPredicate struct {
	Prefix                *string `json:",omitempty"`
	Tag                   *Tag    `json:",omitempty"`
	ObjectSizeGreaterThan *int64  `json:",omitempty"`
	ObjectSizeLessThan    *int64  `json:",omitempty"`
}

type jsonAnd struct {
	Prefix                *string `json:",omitempty"`
	Tags                  []Tag   `json:",omitempty"`
	ObjectSizeGreaterThan *int64  `json:",omitempty"`
	ObjectSizeLessThan    *int64  `json:",omitempty"`
}

type jsonExpiration struct {
	Days                      *int   `json:",omitempty"`
	Date                      string `json:",omitempty"`
	ExpiredObjectDeleteMarker *bool  `json:",omitempty"`
}

type jsonTransition struct {
	Days         *int   `json:",omitempty"`
	Date         string `json:",omitempty"`
	StorageClass string
}

type jsonNoncurrent struct {
	NoncurrentDays          *int `json:",omitempty"`
	NewerNoncurrentVersions *int `json:",omitempty"`
}

type jsonNoncurrentMove struct {
	jsonNoncurrent
	StorageClass string
}

type jsonAbort struct {
	DaysAfterInitiation *int `json:",omitempty"`
}

func (r *Rule) json() jsonRule {
	j := jsonRule{ID: r.ID, Status: r.Status, Filter: r.jsonFilter()}
	if x := r.Expiration; x != nil {
		j.Expiration = &jsonExpiration{Days: x.Days, Date: isoDate(x.Date), ExpiredObjectDeleteMarker: x.ExpiredObjectDeleteMarker}
	}
	for _, t := range r.Transitions {
		j.Transitions = append(j.Transitions, jsonTransition{Days: t.Days, Date: isoDate(t.Date), StorageClass: t.StorageClass})
	}
	if x := r.NoncurrentExpiration; x != nil {
		j.NoncurrentVersionExpiration = &jsonNoncurrent{x.NoncurrentDays, x.NewerNoncurrentVersions}
	}
	for _, t := range r.NoncurrentTransitions {
		j.NoncurrentVersionTransitions = append(j.NoncurrentVersionTransitions, jsonNoncurrentMove{jsonNoncurrent{t.NoncurrentDays, t.NewerNoncurrentVersions}, t.StorageClass})
	}
	if a := r.AbortMultipart; a != nil {
		j.AbortIncompleteMultipartUpload = &jsonAbort{a.DaysAfterInitiation}
	}
	return j
}

// Scope is what a rule selects: its filter, of whichever schema, as one set of
// predicates that must all hold.
func (r Rule) Scope() Predicates { return r.scope() }

// plain flattens the filter of a rule as S3 takes it: an empty prefix beside other
// predicates says nothing, and is left out.
func (r *Rule) plain() (p Predicates, predicates int) {
	p = r.scope()
	p.Tags = p.Tags[:len(p.Tags):len(p.Tags)]
	n := len(p.Tags)
	for _, bound := range []*int64{p.ObjectSizeGreaterThan, p.ObjectSizeLessThan} {
		if bound != nil {
			n++
		}
	}
	if p.prefix() == "" {
		p.Prefix = nil
	} else {
		n++
	}
	return p, n
}

func (r *Rule) jsonFilter() jsonFilter {
	p, n := r.plain()
	if n > 1 {
		return jsonFilter{And: &jsonAnd{p.Prefix, p.Tags, p.ObjectSizeGreaterThan, p.ObjectSizeLessThan}}
	}
	one := jsonPredicate{Prefix: p.Prefix, ObjectSizeGreaterThan: p.ObjectSizeGreaterThan, ObjectSizeLessThan: p.ObjectSizeLessThan}
	if len(p.Tags) == 1 {
		one.Tag = &p.Tags[0]
	}
	return jsonFilter{jsonPredicate: one}
}

// isoDate writes a date as S3 reads it; empty for none.
func isoDate(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func itoa(n *int) string { return strconv.Itoa(*n) }

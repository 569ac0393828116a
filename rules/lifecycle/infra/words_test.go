package infra

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"backstop/rules/lifecycle"
)

// words writes a configuration in a line for each rule, so that a table can be
// read.
func words(c lifecycle.Configuration) []string {
	var all []string
	for _, r := range c.Rules {
		parts := []string{r.Name(), r.Status}
		if r.Prefix != nil {
			parts = append(parts, "own prefix "+*r.Prefix)
		}
		parts = append(parts, filterWords(r.Filter)...)
		parts = append(parts, actionWords(r)...)
		all = append(all, strings.Join(parts, " | "))
	}
	return all
}

func filterWords(f *lifecycle.Filter) []string {
	if f == nil {
		return nil
	}
	out := []string{"filter{" + predicateWords(&f.Predicates) + "}"}
	if f.And != nil {
		out[0] = "and{" + predicateWords(f.And) + "}"
	}
	return out
}

func predicateWords(p *lifecycle.Predicates) string {
	var all []string
	if p.Prefix != nil {
		all = append(all, "prefix="+*p.Prefix)
	}
	for _, t := range p.Tags {
		all = append(all, t.Key+"="+t.Value)
	}
	if p.ObjectSizeGreaterThan != nil {
		all = append(all, fmt.Sprintf(">%d", *p.ObjectSizeGreaterThan))
	}
	if p.ObjectSizeLessThan != nil {
		all = append(all, fmt.Sprintf("<%d", *p.ObjectSizeLessThan))
	}
	return strings.Join(all, " ")
}

func number64(n *int) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}

func actionWords(r lifecycle.Rule) []string {
	var all []string
	if x := r.Expiration; x != nil {
		s := "expire"
		if x.Days != nil {
			s += " " + number64(x.Days)
		}
		if !x.Date.IsZero() {
			s += " " + x.Date.Format("2006-01-02")
		}
		if x.ExpiredObjectDeleteMarker != nil {
			s += fmt.Sprintf(" marker=%v", *x.ExpiredObjectDeleteMarker)
		}
		all = append(all, s)
	}
	for _, t := range r.Transitions {
		s := t.StorageClass
		if t.Days != nil {
			s += " " + number64(t.Days)
		}
		if !t.Date.IsZero() {
			s += " " + t.Date.Format("2006-01-02")
		}
		all = append(all, s)
	}
	if x := r.NoncurrentExpiration; x != nil {
		all = append(all, "old "+number64(x.NoncurrentDays)+" keep "+number64(x.NewerNoncurrentVersions))
	}
	for _, t := range r.NoncurrentTransitions {
		all = append(all, "old "+t.StorageClass+" "+number64(t.NoncurrentDays)+" keep "+number64(t.NewerNoncurrentVersions))
	}
	if r.AbortMultipart != nil {
		all = append(all, "abort "+number64(r.AbortMultipart.DaysAfterInitiation))
	}
	return all
}

// mustRead reads a document that is whole.
func mustRead(t *testing.T, doc string, o Options) Document {
	t.Helper()
	d, err := Read([]byte(doc), o)
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	return d
}

// only gives the only proposal of a document.
func only(t *testing.T, d Document) Proposal {
	t.Helper()
	if len(d.Proposals) != 1 {
		t.Fatalf("%d proposals, want 1: %+v", len(d.Proposals), d.Proposals)
	}
	return d.Proposals[0]
}

func same2(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

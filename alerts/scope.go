package alerts

import (
	"slices"
	"strings"

	"backstop/audit"
)

// A Scope says which stores a run would have found, were they there: of these, one
// that is not in the report has vanished. Make one with [ScopeOf].
type Scope struct {
	below   []string // the places that were looked at; none means all that there are
	without []string // places that gave nothing
	blind   bool     // something was not seen that may have led to any store
}

// ScopeOf is the scope of a run that looked below these places, or at everything
// where there are none. What could not be looked at has not vanished. Where a place
// could not be listed, or what kops says of a cluster could not be read, nobody knows
// which stores that would have led to, be it in other buckets: then none has.
func ScopeOf(below []string, r audit.Report) Scope {
	s := Scope{below: below}
	for _, p := range r.Problems {
		if slices.Contains(certain(), string(p.Cause)) {
			s.without = append(s.without, p.Target)
		} else {
			s.blind = true
		}
	}
	for _, st := range r.Stores {
		s.blind = s.blind || blind(&st, audit.FactListing)
	}
	return s
}

// Holds reports whether a store, by its label, would have been found.
func (s Scope) Holds(label string) bool {
	in := func(place string) bool { return below(label, valid(place)) }
	return !s.blind && !slices.ContainsFunc(s.without, in) && (len(s.below) == 0 || slices.ContainsFunc(s.below, in))
}

// below reports whether the store of a label is the place, or lies in it.
func below(label, place string) bool {
	url, _, _ := strings.Cut(label, " at ")
	place = strings.TrimRight(place, "/")
	return url == place || strings.HasPrefix(url, place+"/")
}

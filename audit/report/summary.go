package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"backstop/audit"
)

// This file holds what several formats say in the same way.

// severities are in the order in which reports count them.
var severities = []audit.Severity{audit.Critical, audit.Unsure, audit.Warning, audit.Info}

// count counts the findings of a severity. One that concerns a whole bucket
// counts once for each store that it endangers.
func count(r audit.Report, s audit.Severity) int {
	n := 0
	for _, st := range r.Stores {
		for _, f := range st.Findings {
			if f.Severity == s {
				n++
			}
		}
	}
	return n
}

// summary says in one line what was found and how much was looked at.
func summary(r audit.Report) string {
	var counts []string
	for _, s := range severities {
		if n := count(r, s); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	found := "nothing found"
	if len(counts) > 0 {
		found = "found " + strings.Join(counts, ", ")
	}
	line := fmt.Sprintf("%s; checked %d of %s", found, r.Checked, audit.Plural(r.Total, "store"))
	if n := len(r.Problems); n > 0 {
		line += "; " + audit.Plural(n, "place") + " not audited"
	}
	if r.Shard != nil {
		line += "; " + r.Shard.String() + " alone"
	}
	return line
}

// requests counts what the run asked of S3.
func requests(r audit.Report) int {
	n := 0
	for _, of := range r.Usage.Requests {
		n += of
	}
	return n
}

// shown are the stores that a report is to show.
func shown(r audit.Report, o Options) []audit.StoreReport {
	if !o.Quiet {
		return r.Stores
	}
	var some []audit.StoreReport
	for _, s := range r.Stores {
		if s.Verdict != audit.OK {
			some = append(some, s)
		}
	}
	return some
}

// leftOut says how many stores are not shown; empty for none.
func leftOut(r audit.Report, o Options) string {
	if n := len(r.Stores) - len(shown(r, o)); n > 0 {
		return "Not shown: " + audit.Plural(n, "store") + " with the verdict OK."
	}
	return ""
}

// stateName is the word that a store's line begins with.
func stateName(s audit.StoreReport) string {
	if s.State.RestorePending {
		return s.State.Name + "+restore-pending"
	}
	return s.State.Name
}

// role says behind a store's name that it is no live one: its state and the age of
// its snapshots then mean something else.
func role(s audit.StoreReport) string {
	if s.Role == "" {
		return ""
	}
	return " (" + string(s.Role) + ")"
}

// listed reports whether the store's snapshots were seen.
func listed(s audit.StoreReport) bool {
	return !slices.ContainsFunc(s.Unseen, func(u audit.UnseenFact) bool { return u.Fact == audit.FactListing })
}

// newestAge is the age of the newest snapshot, where one was seen.
func newestAge(s audit.StoreReport) (age time.Duration, ok bool) {
	if !listed(s) || s.Newest == nil {
		return 0, false
	}
	return s.Judged.Sub(s.Newest.At), true
}

// snapshots says how many there are, and how old the newest is.
func snapshots(s audit.StoreReport) string {
	if !listed(s) {
		return "snapshots not seen"
	}
	if s.Newest == nil {
		return "no snapshots"
	}
	return audit.Plural(s.Snapshots, "snapshot") + ", newest " + newest(s)
}

// newest is the cell of a table that says how old the newest snapshot is.
func newest(s audit.StoreReport) string {
	age, ok := newestAge(s)
	switch {
	case !listed(s):
		return "not seen"
	case !ok:
		return "none"
	}
	return fmt.Sprintf("%s (%s ago)", audit.Stamp(s.Newest.At), audit.Span(max(0, age)))
}

// number is the cell of a table that says how many snapshots there are.
func number(s audit.StoreReport) string {
	if !listed(s) {
		return "not seen"
	}
	return strconv.Itoa(s.Snapshots)
}

// ofStore leaves out what concerns the whole bucket.
func ofStore(found []audit.Finding) []audit.Finding {
	var own []audit.Finding
	for _, f := range found {
		if f.Scope != "bucket" {
			own = append(own, f)
		}
	}
	return own
}

// A bucketReport is what was found of a whole bucket.
type bucketReport struct {
	name     string
	findings []audit.Finding
}

// buckets puts together what concerns whole buckets, each finding once and not
// for each of the bucket's stores. Buckets of one name at two endpoints are two.
func buckets(stores []audit.StoreReport) []bucketReport {
	type bucket struct{ name, endpoint string }
	type key struct {
		bucket
		rule, message string
	}
	seen := map[key]int{}
	first := map[key]audit.Finding{}
	known := map[bucket]bool{}
	namesakes := map[string]int{}
	var order []key
	for _, s := range stores {
		for _, f := range s.Findings {
			if f.Scope != "bucket" {
				continue
			}
			k := key{bucket{s.Store.Bucket, s.Store.Endpoint}, f.Rule, f.Message}
			if seen[k]++; seen[k] == 1 {
				order = append(order, k)
				first[k] = f
			}
			if !known[k.bucket] {
				known[k.bucket] = true
				namesakes[k.name]++
			}
		}
	}
	slices.SortStableFunc(order, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.endpoint, b.endpoint))
	})
	var all []bucketReport
	for i, k := range order {
		if i == 0 || k.bucket != order[i-1].bucket {
			b := bucketReport{name: k.name}
			if namesakes[k.name] > 1 {
				b.name += " at " + cmp.Or(k.endpoint, "AWS")
			}
			all = append(all, b)
		}
		f := first[k]
		if seen[k] > 1 {
			f.Message += fmt.Sprintf(" (concerns %d stores)", seen[k])
		}
		b := &all[len(all)-1]
		b.findings = append(b.findings, f)
	}
	return all
}

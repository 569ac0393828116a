package alerts

import (
	"fmt"
	"strings"
	"time"

	"backstop/audit"
)

// Results are the last finished results of everything that is known. They are a
// value: whoever has new ones hands over other Results, and changes none.
type Results struct {
	// Stores are the stores that are known, each once, in any order.
	Stores []Result
	// Problems are the places that gave no store to report on when they were
	// last looked at.
	Problems []audit.Problem
	// Ran is when an audit last ended, of any store; zero before the first.
	Ran time.Time
	// Usage is what everything since the start of the program cost.
	Usage audit.Usage
	// Notifications counts those since the start of the program. A channel
	// with nothing sent yet counts 0.
	Notifications map[Notification]int
	// Reload is how the configuration was last read; nil where that happens once.
	Reload *Reload
}

// A Reload is the last attempt to read the configuration.
type Reload struct {
	OK bool
	// Succeeded is when the configuration in force was read.
	Succeeded time.Time
}

// A Probe is the last quick look at a store's control files between two audits.
type Probe struct {
	// OK says that there was an answer: the control files are as they were, or the
	// store was looked at whole.
	OK bool
	// Succeeded is when there last was one; zero for never.
	Succeeded time.Time
}

// A Result is the last finished result of one store.
type Result struct {
	Store audit.Store
	// Report is nil for a store that was never audited.
	Report *audit.StoreReport
	// Probe is nil for a store that was never probed.
	Probe *Probe
}

// A Notification is counted by the channel's name and what became of it.
type Notification struct {
	Channel string
	Outcome string // Sent or Failed
}

// What becomes of a notification.
const (
	Sent   = "sent"
	Failed = "failed"
)

// Of gives the results of one run that looked at everything.
func Of(r audit.Report) Results {
	out := Results{Problems: r.Problems, Ran: r.Judged, Usage: r.Usage}
	if len(r.Stores) > 0 {
		out.Ran = time.Time{}
	}
	for i := range r.Stores {
		s := &r.Stores[i]
		out.Stores = append(out.Stores, Result{Store: s.Store, Report: s})
		if s.Observed.After(out.Ran) {
			out.Ran = s.Observed
		}
	}
	return out
}

// Label is the value of the label store. At another endpoint than AWS's the same
// URL is another store.
func Label(s audit.Store) string { return at(s.URL, s.Endpoint) }

// BucketLabel is the value of the label store for what concerns a whole bucket.
func BucketLabel(s audit.Store) string {
	if strings.HasPrefix(s.URL, "s3://") {
		return at("s3://"+s.Bucket, s.Endpoint)
	}
	return at(s.Bucket, s.Endpoint)
}

func at(url, endpoint string) string {
	if endpoint != "" {
		url += " at " + endpoint
	}
	return valid(url)
}

// valid makes text fit for a label: a directory's name may be any bytes.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// A names gives each store its own value of the label store, so that no two
// series are the same whatever the stores are called.
type names map[string]bool

func (n names) own(label string) string {
	name := label
	for i := 2; n[name]; i++ {
		name = fmt.Sprintf("%s #%d", label, i)
	}
	n[name] = true
	return name
}

package main

import (
	"time"

	"backstop/audit"
)

// An injected disaster is an event that must be found.
type injected struct {
	*cluster
	event *event
	m     *manager
	at    time.Time
	found []hit // of each expectation
}

// A hit is when an expectation came true.
type hit struct {
	sign  time.Time // the first of which there was something to be seen
	found time.Time // zero while it was not
}

// inject notes a disaster. From now on everything that is said of the cluster, and
// of its bucket, follows from it.
func (w *world) inject(c *cluster, e *event) {
	d := &injected{cluster: c, event: e, m: c.manager(e.Etcd), at: w.now, found: make([]hit, len(e.Expect))}
	w.injected = append(w.injected, d)
	if c.struck.IsZero() {
		c.struck = w.now
		w.excused = append(w.excused, excuse{cluster: c.name, bucket: c.state.name, from: w.now})
		for _, m := range c.managers {
			m.lost, m.stopped = time.Time{}, time.Time{}
		}
	}
}

// check looks for what was expected in what is said.
func (d *injected) check(now time.Time, said []saying, open map[string]*episode) {
	for i, x := range d.event.Expect {
		h := &d.found[i]
		if h.sign.IsZero() {
			h.sign = d.sign(x)
		}
		if !h.found.IsZero() || h.sign.IsZero() && x.Ahead == 0 {
			continue
		}
		for _, s := range said {
			if s.Rule == x.Rule && (x.Severity == "" || string(s.Severity) == x.Severity) && d.concerns(s, x.Etcd) {
				h.found = now
				if x.After == "event" {
					h.found = later(open[s.Rule+" "+s.subject].from, d.at)
				}
				break
			}
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// concerns reports whether a finding is about the store of an etcd cluster, or about
// its bucket as a whole.
func (d *injected) concerns(s saying, etcd string) bool {
	m := d.cluster.manager(etcd)
	return s.cluster == d.name && (s.Scope == "bucket" || s.subject+"/" == "s3://"+m.bucket.name+"/"+m.root || s.subject == d.storeURL(etcd))
}

// sign is when there was first something to be seen; zero while there is not.
func (d *injected) sign(x expectation) time.Time {
	switch x.After {
	case "loss":
		return d.cluster.manager(x.Etcd).lost
	case "stop":
		return d.cluster.manager(x.Etcd).stored
	}
	return d.at
}

// verdict says how an expectation ended, and whether it was met.
func (d *injected) verdict(i int, step time.Duration) (says string, met bool) {
	x, h := d.event.Expect[i], d.found[i]
	within := or(time.Duration(x.Within), step)
	switch {
	case h.found.IsZero():
		return "MISSED", false
	case x.Ahead > 0:
		lost := d.cluster.manager(x.Etcd).lost
		if lost.IsZero() {
			return "nothing was lost in the end", false
		}
		ahead := lost.Sub(h.found)
		return "announced " + audit.Span(ahead) + " ahead", ahead >= time.Duration(x.Ahead)
	case h.found.Sub(h.sign) > within:
		return "LATE: after " + audit.Span(h.found.Sub(h.sign)), false
	}
	return "after " + audit.Span(max(0, h.found.Sub(h.sign))), true
}

func (d *injected) met(step time.Duration) bool {
	for i := range d.event.Expect {
		if _, met := d.verdict(i, step); !met {
			return false
		}
	}
	return true
}

package lifecycle

import (
	"slices"
	"time"
)

// noncurrent offers the actions of a rule on a noncurrent version or marker.
func (e *evaluation) noncurrent(r *Rule) {
	switch {
	case e.b.versioning() == Off:
		e.block(blockUnversioned)
	case r.NoncurrentExpiration == nil && len(r.NoncurrentTransitions) == 0:
		e.block(blockCurrentOnly)
	default:
		e.noncurrentExpiration(r.NoncurrentExpiration)
		e.noncurrentTransitions(r)
	}
}

// noncurrentExpiration offers the destruction of a noncurrent version. S3
// requires NoncurrentDays; MinIO takes a retained number alone, at any age.
func (e *evaluation) noncurrentExpiration(x *NoncurrentExpiration) {
	if x == nil || x.NoncurrentDays == nil && !(e.rd.extensions && x.NewerNoncurrentVersions != nil) {
		return
	}
	k := candidate{kind: DestroyNoncurrent, rule: e.rule}
	if e.aged(&k, x.NoncurrentDays, x.NewerNoncurrentVersions) {
		e.offer(k)
	}
}

// noncurrentTransitions offers class changes of noncurrent data. A marker has
// no data to move (inferred).
func (e *evaluation) noncurrentTransitions(r *Rule) {
	if e.s.v.DeleteMarker && len(r.NoncurrentTransitions) > 0 {
		e.block(blockMarkerKept)
		return
	}
	for i := range r.NoncurrentTransitions {
		t := &r.NoncurrentTransitions[i]
		if t.NoncurrentDays == nil {
			continue
		}
		k := candidate{kind: Transition, rule: e.rule, class: t.StorageClass}
		if e.allowed(r, &k) && e.aged(&k, t.NoncurrentDays, t.NewerNoncurrentVersions) {
			e.offer(k)
		}
	}
}

// aged dates a noncurrent action: the age since the version was replaced must
// have run out and enough newer noncurrent versions must exist. It reports
// false if too few exist now (API reference, NoncurrentVersionExpiration).
func (e *evaluation) aged(k *candidate, days, newer *int) bool {
	n := 0
	if days != nil {
		n = *days
	}
	k.at, k.latest = e.due(e.s.since, n)
	if newer == nil || *newer <= 0 {
		return true
	}
	if e.newerNoncurrent() < *newer {
		e.block(blockRetained)
		return false
	}
	e.counted(k, e.s.stack[max(e.s.i-*newer-1, 0)].LastModified)
	return true
}

// counted moves an action behind the moment at which enough newer noncurrent
// versions existed: the creation of the one that made the last of them
// noncurrent.
func (e *evaluation) counted(k *candidate, created time.Time) {
	at, latest := e.due(created, 0)
	if at.After(k.at) {
		k.byAge, k.at = k.at, at
	}
	k.latest = later(k.latest, latest)
}

// newerNoncurrent is how many newer noncurrent versions count. Markers are
// among them, which is the earlier of two undocumented readings.
func (e *evaluation) newerNoncurrent() int {
	if e.newer >= 0 {
		return e.newer
	}
	return e.s.i - 1
}

// spared is how many newer noncurrent versions MinIO counts: those its own pass
// leaves alone. It is -1 for servers that count all.
func (e *evaluation) spared() int {
	if !e.rd.extensions || e.s.i == 0 || !e.c.counts() {
		return -1
	}
	var s subject
	var found outcome
	above := evaluation{c: e.c, b: e.b, s: &s, now: e.now, rd: e.rd, found: &found}
	for i := 1; i < e.s.i; i++ {
		s, found = subjectAt(e.s.stack, i), outcome{}
		above.run()
		if found.best.kind != DestroyNoncurrent || found.best.at.After(e.now) {
			above.newer++
		}
	}
	return above.newer
}

// counted reports whether the transition waits for newer versions.
func (t NoncurrentTransitionAction) counted() bool { return t.NewerNoncurrentVersions != nil }

// counts reports whether any rule retains a number of versions.
func (c *Configuration) counts() bool {
	for i := range c.Rules {
		if r := &c.Rules[i]; r.retains(0) || slices.ContainsFunc(r.NoncurrentTransitions, NoncurrentTransitionAction.counted) {
			return true
		}
	}
	return false
}

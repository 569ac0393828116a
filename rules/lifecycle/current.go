package lifecycle

// current offers the actions of a rule on current data.
func (e *evaluation) current(r *Rule) {
	if r.Expiration != nil {
		e.expire(r.Expiration)
	}
	for i := range r.Transitions {
		e.transition(r, &r.Transitions[i])
	}
	if r.Expiration == nil && len(r.Transitions) == 0 {
		e.block(blockNoncurrentOnly)
	}
}

// expire offers the expiration of current data by age and by date.
func (e *evaluation) expire(x *Expiration) {
	kind, d := e.expiry()
	all := x.AllVersions && e.extensions()
	if all {
		kind, d = Expire, 0
	}
	if x.Days != nil {
		at, latest := e.due(e.s.v.LastModified, *x.Days)
		e.offer(candidate{kind: kind, rule: e.rule, at: at, latest: latest, all: all, doubt: d})
	}
	if !x.Date.IsZero() {
		at := later(x.Date, e.s.v.LastModified)
		e.offer(candidate{kind: kind, rule: e.rule, at: at, latest: at, all: all, doubt: d})
	}
	e.blockMarkerOnly(x)
}

// blockMarkerOnly notes that an expiration speaks of delete markers only.
func (e *evaluation) blockMarkerOnly(x *Expiration) {
	switch {
	case x.ExpiredObjectDeleteMarker == nil:
	case *x.ExpiredObjectDeleteMarker:
		e.block(blockMarkerOnly)
	default:
		e.block(blockFlagFalse)
	}
}

// extensions reports whether the server obeys MinIO's additional elements. It
// refuses them on buckets with Object Lock.
func (e *evaluation) extensions() bool {
	return e.rd.extensions && !e.b.ObjectLock
}

// expiry is what Expiration does to current data (user guide,
// intro-lifecycle-rules). An id other than null shows that versioning was
// enabled once and can no longer be off, so that such a version is only hidden.
func (e *evaluation) expiry() (Kind, doubt) {
	switch e.b.versioning() {
	case Off:
		return Expire, 0
	case Enabled:
		return Hide, 0
	case Suspended:
		if e.s.v.null() {
			return Expire, 0
		}
		return Hide, 0
	}
	if e.s.v.null() {
		return Expire, doubtVersioning
	}
	return Hide, 0
}

// directory offers what a rule can do in a directory bucket: Expiration.Days
// (user guide, directory-buckets-objects-lifecycle).
func (e *evaluation) directory(r *Rule) {
	if e.s.i > 0 || e.s.v.DeleteMarker { // cannot be, the bucket has no versions
		e.block(blockUnversioned)
		return
	}
	if r.Expiration == nil || r.Expiration.Days == nil || r.Filter.byTags() {
		e.block(blockDirectory)
		return
	}
	at, latest := e.due(e.s.v.LastModified, *r.Expiration.Days)
	e.offer(candidate{kind: Expire, rule: e.rule, at: at, latest: latest})
}

// marker offers the removal of a current delete marker. Data beneath protects
// it (user guide, lifecycle-configuration-examples), except from MinIO's
// DelMarkerExpiration.
func (e *evaluation) marker(r *Rule) {
	if r.DelMarkerExpirationDays != nil && e.extensions() {
		at, latest := e.due(e.s.v.LastModified, *r.DelMarkerExpirationDays)
		e.offer(candidate{kind: RemoveMarker, rule: e.rule, at: at, latest: latest, all: true})
	}
	switch {
	case len(e.s.stack) > 1:
		e.block(blockMarkerCovers)
	case e.b.versioning() == Off:
		e.block(blockUnversioned)
	case r.Expiration == nil:
		e.block(blockNoncurrentOnly)
	default:
		e.loneMarker(r.Expiration)
	}
}

// loneMarker offers the clean-up of a marker that covers nothing: at once by
// the flag, by the marker's own age with Days, and by Date (inferred).
func (e *evaluation) loneMarker(x *Expiration) {
	if x.ExpiredObjectDeleteMarker != nil && *x.ExpiredObjectDeleteMarker {
		e.removeMarker(0)
	} else {
		e.blockMarkerOnly(x)
	}
	if x.Days != nil {
		e.removeMarker(*x.Days)
	}
	switch {
	case x.Date.IsZero() || e.rd.keepMarkerByDate:
	case e.rd.markerAtOnce:
		e.removeMarker(0)
	default:
		at := later(x.Date, e.s.v.LastModified)
		e.offer(candidate{kind: RemoveMarker, rule: e.rule, at: at, latest: at})
	}
}

// removeMarker offers the removal of a lone marker at an age in days.
func (e *evaluation) removeMarker(days int) {
	if e.rd.markerAtOnce {
		days = 0
	}
	at, latest := e.due(e.s.v.LastModified, days)
	e.offer(candidate{kind: RemoveMarker, rule: e.rule, at: at, latest: latest})
}

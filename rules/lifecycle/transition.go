package lifecycle

// transition offers a class change of current data.
func (e *evaluation) transition(r *Rule, t *TransitionAction) {
	k := candidate{kind: Transition, rule: e.rule, class: t.StorageClass}
	if !e.allowed(r, &k) {
		return
	}
	if t.Days != nil {
		k.at, k.latest = e.due(e.s.v.LastModified, *t.Days)
		e.offer(k)
	}
	if !t.Date.IsZero() {
		k.at = later(t.Date, e.s.v.LastModified)
		k.latest = k.at
		e.offer(k)
	}
}

// allowed reports whether the version can change to the candidate's class at
// all. What S3 cannot do it skips silently (user guide,
// lifecycle-transition-general-considerations).
func (e *evaluation) allowed(r *Rule, k *candidate) bool {
	switch from := classOf(e.s.v.StorageClass); {
	case e.rd.noClasses:
		e.block(blockWaterfall)
		return false
	case e.rd.tiers:
		if from != standard || k.class == "" || k.class == e.s.v.StorageClass {
			e.block(blockWaterfall)
			return false
		}
		return true
	case !flows(e.s.v, classOf(k.class)):
		e.block(blockWaterfall)
		return false
	case from == otherClass:
		k.doubt |= doubtClass
	}
	return e.largeEnough(r, k)
}

// largeEnough applies the transition size default. A rule with any size bound
// is free of it; a mode nobody stated is read as the older one, which archives
// small objects.
func (e *evaluation) largeEnough(r *Rule, k *candidate) bool {
	if e.s.v.Size >= minimumSize || r.Filter.bySize() {
		return true
	}
	if e.c.DefaultMinimumSize == AllClasses128K || !classOf(k.class).archive() {
		e.block(blockBelow128K)
		return false
	}
	if e.c.DefaultMinimumSize != VariesByClass {
		k.doubt |= doubtSizeDefault
	}
	return true
}

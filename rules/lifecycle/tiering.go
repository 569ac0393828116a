package lifecycle

import "time"

// Tiering is one Intelligent-Tiering archive configuration of a bucket. It
// archives objects of class INTELLIGENT_TIERING that nobody read for some days
// (user guide, intelligent-tiering-overview).
type Tiering struct {
	ID string
	// Status must be "Enabled" for the configuration to work.
	Status string
	// Filter selects objects by prefix and tags; nil means all.
	Filter *Filter
	Tiers  []Tier
}

// Tier is an archive tier and the days without access after which objects move
// into it.
type Tier struct {
	// AccessTier is ARCHIVE_ACCESS or DEEP_ARCHIVE_ACCESS.
	AccessTier string
	Days       int
}

// tiering offers the moves into archive tiers. Objects under 128 KiB are never
// moved.
func (e *evaluation) tiering() {
	if e.s.v.DeleteMarker || classOf(e.s.v.StorageClass) != intelligentTiering || len(e.b.IntelligentTiering) == 0 {
		return
	}
	if e.s.v.Size < minimumSize {
		e.block(blockBelow128K)
		return
	}
	for i := range e.b.IntelligentTiering {
		e.tieringRule(i, &e.b.IntelligentTiering[i])
	}
}

// tieringRule offers the moves of one archive configuration.
func (e *evaluation) tieringRule(i int, t *Tiering) {
	r := Rule{Filter: t.Filter, Status: t.Status}
	m, d := r.matches(e.s.v, &readingAWS)
	switch {
	case m == No:
		e.block(blockNoMatch)
		return
	case !r.Enabled():
		e.block(blockDisabled)
		return
	}
	e.begin(^i, d)
	for _, tier := range t.Tiers {
		if classOf(tier.AccessTier) >= classOf(e.s.v.ArchiveStatus) {
			continue
		}
		at := e.lastAccess().Add(time.Duration(min(max(tier.Days, 0), 36500)) * day)
		e.offer(candidate{kind: Transition, rule: ^i, class: tier.AccessTier, at: at, latest: at, lower: true})
	}
	e.settle()
}

// lastAccess is the latest instant known at which the object was not idle. S3
// does not show accesses, so everything counted from it is a lower bound. No
// rounding is documented.
func (e *evaluation) lastAccess() time.Time {
	return later(later(e.s.v.LastModified, e.s.v.LastAccess), e.s.access).UTC()
}

package lifecycle

import (
	"slices"
	"time"
)

// Warning is something S3 accepts and an owner of backups would not want, or
// should know.
type Warning struct {
	// ID is a stable identifier in capitals.
	ID string
	// Rule is the name of the rule, empty for the configuration as a whole.
	Rule string
	// Index is the index of the rule, -1 for the configuration.
	Index int
}

// The identifiers of warnings that need no knowledge of the keys in a bucket.
const (
	// WarnExpireWholeBucket: an enabled rule expires everything.
	WarnExpireWholeBucket = "EXPIRE_WHOLE_BUCKET"
	// WarnArchiveWholeBucket: an enabled rule moves everything to GLACIER or
	// DEEP_ARCHIVE.
	WarnArchiveWholeBucket = "ARCHIVE_WHOLE_BUCKET"
	// WarnSizeFilter: a size bound that admits objects under 128 KiB lifts the
	// default that would keep them from changing class.
	WarnSizeFilter = "SIZE_FILTER_DISABLES_128K_DEFAULT"
	// WarnDateRule: a rule with a date acts on every later write as well.
	WarnDateRule = "DATE_RULE"
	// WarnDateInPast: the date of an enabled rule has passed.
	WarnDateInPast = "DATE_IN_PAST"
	// WarnCountUndermined: another rule destroys the versions one retains.
	WarnCountUndermined = "COUNT_UNDERMINED"
	// WarnLongerRule: a rule on part of a broader rule's objects is longer and
	// protects nothing.
	WarnLongerRule = "LONGER_RULE_NO_PROTECTION"
	// WarnSuspendedDestroys: expiration of null versions in a suspended bucket
	// destroys them.
	WarnSuspendedDestroys = "SUSPENDED_DESTROYS"
	// WarnLockDoesNotHide: Object Lock keeps data and not its visibility.
	WarnLockDoesNotHide = "LOCK_DOES_NOT_HIDE"
	// WarnTiering: objects of INTELLIGENT_TIERING are archived without a rule.
	WarnTiering = "IT_ARCHIVE_TIER"
	// WarnMarkersAccumulate: nothing ever removes lone markers.
	WarnMarkersAccumulate = "MARKERS_ACCUMULATE"
	// WarnNoEffect: the rule does nothing in this bucket.
	WarnNoEffect = "NO_EFFECT"
	// WarnNoNoncurrentRule: hidden versions are never freed.
	WarnNoNoncurrentRule = "NO_NONCURRENT_RULE"
	// WarnDropsRule: a rule of the live configuration is not in the new one.
	WarnDropsRule = "DROPS_EXISTING_RULE"
	// WarnLegacySchema: rules have a Prefix of their own.
	WarnLegacySchema = "LEGACY_PREFIX_SCHEMA"
	// WarnNewerAboveDocumented: more than 100 versions are to be retained.
	WarnNewerAboveDocumented = "NEWER_NONCURRENT_ABOVE_DOCUMENTED"
	// WarnNoID: the rule has no ID.
	WarnNoID = "ID_MISSING"
	// WarnMinIOExtension: an element with which MinIO destroys whole stacks.
	WarnMinIOExtension = "MINIO_EXTENSION"
)

// Warnings returns what is dangerous or pointless about the configuration in a
// bucket. Which keys are affected only [Configuration.Timeline] can tell.
func (c Configuration) Warnings(b Bucket, now time.Time) []Warning {
	w := warner{c: &c, b: &b, now: now}
	w.whole()
	for i := range c.Rules {
		w.i, w.r = i, &c.Rules[i]
		w.always()
		if w.r.Enabled() {
			w.enabled()
		}
	}
	return w.warnings
}

// Drops returns a warning for each rule of the live configuration that a
// proposed one lacks: a PUT replaces the whole (user guide,
// how-to-set-lifecycle-configuration-intro). Rules are compared by name.
func (c Configuration) Drops(live Configuration) []Warning {
	var dropped []Warning
	for i := range live.Rules {
		name := live.name(i)
		kept := func(r Rule) bool { return r.ID == name }
		if !slices.ContainsFunc(c.Rules, kept) {
			dropped = append(dropped, Warning{ID: WarnDropsRule, Rule: name, Index: i})
		}
	}
	return dropped
}

// warner collects warnings.
type warner struct {
	c        *Configuration
	b        *Bucket
	now      time.Time
	r        *Rule
	i        int
	warnings []Warning
}

// on warns about the current rule where a condition holds.
func (w *warner) on(condition bool, id string) {
	if condition {
		w.warnings = append(w.warnings, Warning{ID: id, Rule: w.c.name(w.i), Index: w.i})
	}
}

// whole warns about the configuration as a whole.
func (w *warner) whole() {
	versioned := w.b.versioning() == Enabled || w.b.versioning() == Suspended
	expires, cleans, noncurrent := false, false, false
	for i := range w.c.Rules {
		if r := &w.c.Rules[i]; r.Enabled() {
			expires = expires || r.expires()
			cleans = cleans || r.Expiration != nil
			noncurrent = noncurrent || r.NoncurrentExpiration != nil
		}
	}
	w.wholeOn(versioned && noncurrent && !cleans, WarnMarkersAccumulate)
	w.wholeOn(versioned && expires && !noncurrent, WarnNoNoncurrentRule)
	w.wholeOn(expires && w.b.ObjectLock, WarnLockDoesNotHide)
	w.wholeOn(expires && w.b.versioning() == Suspended, WarnSuspendedDestroys)
	w.wholeOn(slices.ContainsFunc(w.b.IntelligentTiering, func(t Tiering) bool { return t.Status == "Enabled" }), WarnTiering)
}

func (w *warner) wholeOn(condition bool, id string) {
	if condition {
		w.warnings = append(w.warnings, Warning{ID: id, Index: -1})
	}
}

// always warns about a rule whatever its status.
func (w *warner) always() {
	r := w.r
	w.on(r.ID == "", WarnNoID)
	w.on(r.Prefix != nil && r.Filter == nil, WarnLegacySchema)
	w.on(r.retains(100), WarnNewerAboveDocumented)
	w.on(r.DelMarkerExpirationDays != nil || r.Expiration != nil && r.Expiration.AllVersions, WarnMinIOExtension)
}

// enabled warns about what an enabled rule does.
func (w *warner) enabled() {
	r := w.r
	w.on(r.everything() && r.expires(), WarnExpireWholeBucket)
	w.on(r.everything() && r.archives(), WarnArchiveWholeBucket)
	w.on(r.transits() && r.Filter.admitsSmall(), WarnSizeFilter)
	w.on(r.dated(func(t time.Time) bool { return true }), WarnDateRule)
	w.on(r.dated(func(t time.Time) bool { return !t.After(w.now) }), WarnDateInPast)
	w.on(w.idle(), WarnNoEffect)
	w.on(w.undermined(), WarnCountUndermined)
	w.on(w.shadowed(), WarnLongerRule)
}

// idle reports whether the rule does nothing at all in this bucket.
func (w *warner) idle() bool {
	r := w.r
	current := r.expires() || r.Expiration != nil && r.Expiration.ExpiredObjectDeleteMarker != nil && *r.Expiration.ExpiredObjectDeleteMarker
	noncurrent := r.NoncurrentExpiration != nil || len(r.NoncurrentTransitions) > 0
	return !current && len(r.Transitions) == 0 && r.AbortMultipart == nil && r.DelMarkerExpirationDays == nil &&
		(!noncurrent || w.b.versioning() == Off)
}

// undermined reports whether another enabled rule destroys noncurrent versions
// of the same keys without retaining any.
func (w *warner) undermined() bool {
	if !w.r.retains(0) {
		return false
	}
	return w.other(func(o *Rule) bool {
		return o.NoncurrentExpiration != nil && !o.retains(0) && (o.covers(w.r) || w.r.covers(o))
	})
}

// shadowed reports whether a broader enabled rule expires earlier.
func (w *warner) shadowed() bool {
	x := w.r.Expiration
	if x == nil || x.Days == nil {
		return false
	}
	return w.other(func(o *Rule) bool {
		y := o.Expiration
		return y != nil && y.Days != nil && *y.Days < *x.Days && o.covers(w.r) && !w.r.covers(o)
	})
}

// other reports whether any other enabled rule satisfies a condition.
func (w *warner) other(condition func(*Rule) bool) bool {
	for i := range w.c.Rules {
		if o := &w.c.Rules[i]; i != w.i && o.Enabled() && condition(o) {
			return true
		}
	}
	return false
}

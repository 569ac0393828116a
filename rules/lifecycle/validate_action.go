package lifecycle

import (
	"slices"
	"time"
)

// actions checks what the rule does.
func (k *checker) actions() {
	r := k.r
	if !r.acts() && !k.hasNoteOnAction() {
		k.add(CodeInvalidRequest, "Action", "The rule has no action.")
	}
	k.expiration()
	k.transitions()
	k.mixed()
	k.expirationAfterTransitions()
	k.noncurrentExpiration()
	k.noncurrentTransitions()
	k.abort()
}

// acts reports whether the rule has an action of S3.
func (r *Rule) acts() bool {
	return r.Expiration != nil || len(r.Transitions) > 0 || r.NoncurrentExpiration != nil ||
		len(r.NoncurrentTransitions) > 0 || r.AbortMultipart != nil
}

// hasNoteOnAction reports whether something that is not read may have been
// meant as the action.
func (k *checker) hasNoteOnAction() bool {
	return slices.ContainsFunc(k.notes[k.i], func(n Note) bool {
		return n.Why != OldName && n.Why != Repeated && !within(n.Field, "Filter")
	})
}

// expiration checks Expiration (API reference, LifecycleExpiration).
func (k *checker) expiration() {
	x := k.r.Expiration
	if x == nil {
		return
	}
	k.expirationParts(x)
	if x.Days != nil && *x.Days < 1 {
		k.add(CodeInvalidArgument, "Expiration.Days", "Expiration.Days is %d; it must be a positive whole number.", *x.Days)
	}
	k.midnight("Expiration.Date", x.Date)
	if x.ExpiredObjectDeleteMarker != nil && *x.ExpiredObjectDeleteMarker {
		k.unfiltered("Expiration.ExpiredObjectDeleteMarker", "ExpiredObjectDeleteMarker")
	}
}

// expirationParts checks that exactly one part is there. A false flag counts
// (recorded).
func (k *checker) expirationParts(x *Expiration) {
	n := 0
	for _, present := range []bool{x.Days != nil, !x.Date.IsZero(), x.ExpiredObjectDeleteMarker != nil} {
		if present {
			n++
		}
	}
	if n > 1 || n == 0 && !k.hasNote("Expiration") {
		k.add(CodeMalformedXML, "Expiration", "Expiration needs exactly one of Days, Date and ExpiredObjectDeleteMarker; it has %d.", n)
	}
}

// midnight checks that a date is midnight UTC. Dates in the past are legal.
func (k *checker) midnight(field string, t time.Time) {
	if !t.IsZero() && !t.Equal(floorMidnight(t)) {
		k.add(CodeInvalidArgument, field, "%s is %s; a Date must be at midnight UTC.", field, t.UTC().Format(time.RFC3339))
	}
}

// unfiltered checks that the filter of an action that knows no objects has
// neither tags nor size bounds (user guide, lifecycle-configuration-examples).
func (k *checker) unfiltered(field, action string) {
	if k.r.Filter.byTags() {
		k.add(CodeInvalidRequest, field, "%s cannot be combined with Tags in the filter.", action)
	}
	if k.r.Filter.bySize() {
		k.add(CodeInvalidRequest, field, "%s cannot be combined with an object Size in the filter.", action)
	}
}

// abort checks AbortIncompleteMultipartUpload.
func (k *checker) abort() {
	const field = "AbortIncompleteMultipartUpload"
	a := k.r.AbortMultipart
	switch {
	case a == nil:
		return
	case a.DaysAfterInitiation == nil:
		if !k.hasNote(field) {
			k.add(CodeMalformedXML, field+".DaysAfterInitiation", "%s needs DaysAfterInitiation.", field)
		}
	case *a.DaysAfterInitiation < 1:
		k.add(CodeInvalidArgument, field+".DaysAfterInitiation", "DaysAfterInitiation of %s is %d; it must be a positive whole number.",
			field, *a.DaysAfterInitiation)
	}
	k.unfiltered(field, field)
}

// mixed checks that the rule counts either days or dates (user guide,
// lifecycle-configuration-examples). The clean-up of markers goes with both.
func (k *checker) mixed() {
	x, days, dates := k.r.Expiration, 0, 0
	for _, t := range k.r.Transitions {
		if t.Days != nil {
			days++
		} else if !t.Date.IsZero() {
			dates++
		}
	}
	switch {
	case days > 0 && dates > 0:
		k.add(CodeInvalidRequest, "Transitions", "Transitions mix Days and Date.")
	case x != nil && (x.Days != nil && dates > 0 || !x.Date.IsZero() && days > 0):
		k.add(CodeInvalidRequest, "Expiration", "Expiration and Transitions mix Days and Date.")
	}
}

// expirationAfterTransitions checks that data expires strictly after it last
// changes class.
func (k *checker) expirationAfterTransitions() {
	x := k.r.Expiration
	if x == nil {
		return
	}
	for _, t := range k.r.Transitions {
		if x.Days != nil && t.Days != nil && *x.Days <= *t.Days {
			k.add(CodeInvalidArgument, "Expiration.Days", "Expiration.Days is %d; it must be greater than the %d days of the transition to %s.",
				*x.Days, *t.Days, t.StorageClass)
			return
		}
		if !x.Date.IsZero() && !t.Date.IsZero() && !x.Date.After(t.Date) {
			k.add(CodeInvalidArgument, "Expiration.Date", "Expiration.Date must be later than the Date of the transition to %s.", t.StorageClass)
			return
		}
	}
}

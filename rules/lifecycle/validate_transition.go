package lifecycle

import (
	"cmp"
	"slices"
	"time"
)

// Fields of class changes.
const (
	fieldTransitions = "Transitions"
	fieldNoncurrent  = "NoncurrentVersionTransitions"
)

// step is a class change in the order of time, whether of current or noncurrent
// versions, by days or by date.
type step struct {
	days   int
	date   time.Time
	byDate bool
	class  string
}

// transitions checks the class changes of current versions.
func (k *checker) transitions() {
	var steps []step
	for _, t := range k.r.Transitions {
		k.class(fieldTransitions+".StorageClass", t.StorageClass)
		if (t.Days == nil) == t.Date.IsZero() {
			if t.Days != nil || !k.hasNote(fieldTransitions) {
				k.add(CodeMalformedXML, fieldTransitions, "A transition needs exactly one of Days and Date.")
			}
			continue
		}
		k.midnight(fieldTransitions+".Date", t.Date)
		s := step{date: t.Date, byDate: t.Days == nil, class: t.StorageClass}
		if t.Days != nil {
			s.days = *t.Days
			k.minimumDays(fieldTransitions+".Days", s)
		}
		steps = append(steps, s)
	}
	k.sequence(fieldTransitions, "Days", steps)
}

// noncurrentTransitions checks the class changes of noncurrent versions.
func (k *checker) noncurrentTransitions() {
	var steps []step
	for _, t := range k.r.NoncurrentTransitions {
		field := fieldNoncurrent + ".StorageClass"
		if t.StorageClass == "" {
			field = fieldNoncurrent
		}
		k.class(field, t.StorageClass)
		k.retained(fieldNoncurrent+".NewerNoncurrentVersions", t.NewerNoncurrentVersions)
		if t.NoncurrentDays == nil {
			if !k.hasNote(fieldNoncurrent) {
				k.add(CodeMalformedXML, fieldNoncurrent, "A noncurrent version transition needs NoncurrentDays.")
			}
			continue
		}
		s := step{days: *t.NoncurrentDays, class: t.StorageClass}
		k.minimumDays(fieldNoncurrent+".NoncurrentDays", s)
		steps = append(steps, s)
	}
	k.sequence(fieldNoncurrent, "NoncurrentDays", steps)
}

// class checks a target class. Nothing moves back to STANDARD.
func (k *checker) class(field, name string) {
	switch name {
	case "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE":
	case "STANDARD", "REDUCED_REDUNDANCY":
		k.add(CodeInvalidArgument, field, "Nothing can change to storage class %s.", name)
	case "":
		if !k.hasNote(field) {
			k.add(CodeMalformedXML, field, "The StorageClass is missing.")
		}
	default:
		k.add(CodeMalformedXML, field, "%q is not a storage class objects can change to.", name)
	}
}

// minimumDays checks the least age for a class (user guide,
// lifecycle-transition-general-considerations).
func (k *checker) minimumDays(field string, s step) {
	least := 0
	if s.class == "STANDARD_IA" || s.class == "ONEZONE_IA" {
		least = 30
	}
	switch {
	case s.days < 0:
		k.add(CodeInvalidArgument, field, "%s is %d; it must not be negative.", field, s.days)
	case s.days < least:
		k.add(CodeInvalidArgument, field, "A transition to %s needs at least %d days; this one has %d.", s.class, least, s.days)
	}
}

// sequence checks the steps of one rule against each other. Two rules may break
// the order and the gaps; that costs money and nothing else.
func (k *checker) sequence(field, days string, steps []step) {
	for i, s := range steps {
		if slices.ContainsFunc(steps[:i], func(t step) bool { return t.class == s.class }) {
			k.add(CodeInvalidRequest, field+".StorageClass", "Two transitions of the rule go to %s.", s.class)
			return
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.days, b.days), a.date.Compare(b.date), cmp.Compare(coldness(a.class), coldness(b.class)))
	})
	for i := range max(len(steps)-1, 0) {
		k.pair(field, days, steps[i], steps[i+1])
	}
}

// pair checks two consecutive steps: the colder class comes later, and not too
// soon.
func (k *checker) pair(field, days string, first, second step) {
	switch {
	case first.byDate != second.byDate:
	case coldness(first.class) > coldness(second.class):
		k.add(CodeInvalidArgument, field+"."+unit(first, days), "The transition to %s must come before the one to %s.", second.class, first.class)
	case first.byDate:
		if !second.date.After(first.date) {
			k.add(CodeInvalidArgument, field+".Date", "The transition to %s must come later than the one to %s.", second.class, first.class)
		}
	case second.days-first.days < max(gap(first.class), 1):
		k.add(CodeInvalidArgument, field+"."+days, "The transition to %s must come at least %d days after the one to %s.",
			second.class, max(gap(first.class), 1), first.class)
	}
}

func unit(s step, days string) string {
	if s.byDate {
		return "Date"
	}
	return days
}

// gap is the least number of days an object must stay in a class before the
// same rule may move it on.
func gap(class string) int {
	switch class {
	case "STANDARD_IA", "ONEZONE_IA":
		return 30
	case "GLACIER_IR", "GLACIER":
		return 90
	}
	return 0
}

// coldness orders classes along the waterfall.
func coldness(class string) int {
	return slices.Index([]string{"STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE"}, class)
}

// noncurrentExpiration checks NoncurrentVersionExpiration.
func (k *checker) noncurrentExpiration() {
	const field = "NoncurrentVersionExpiration.NoncurrentDays"
	x := k.r.NoncurrentExpiration
	if x == nil {
		return
	}
	k.retained("NoncurrentVersionExpiration.NewerNoncurrentVersions", x.NewerNoncurrentVersions)
	switch {
	case x.NoncurrentDays == nil:
		if !k.hasNote(field) {
			k.add(CodeMalformedXML, field, "NoncurrentVersionExpiration needs NoncurrentDays, also besides NewerNoncurrentVersions.")
		}
	case *x.NoncurrentDays < 1:
		k.add(CodeInvalidArgument, field, "NoncurrentDays is %d; it must be a positive whole number.", *x.NoncurrentDays)
	default:
		k.noncurrentOrder(field, *x.NoncurrentDays)
	}
}

// noncurrentOrder checks that noncurrent versions go strictly after they last
// change class.
func (k *checker) noncurrentOrder(field string, days int) {
	for _, t := range k.r.NoncurrentTransitions {
		if t.NoncurrentDays != nil && days <= *t.NoncurrentDays {
			k.add(CodeInvalidArgument, field, "NoncurrentDays is %d; it must be greater than the %d days of the transition to %s.",
				days, *t.NoncurrentDays, t.StorageClass)
			return
		}
	}
}

// retained checks a retained number of versions. 100 is the documented limit,
// and more was accepted (recorded).
func (k *checker) retained(field string, n *int) {
	if n != nil && *n < 1 {
		k.add(CodeInvalidArgument, field, "NewerNoncurrentVersions is %d; it must be a positive whole number.", *n)
	}
}

package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Error codes of PutBucketLifecycleConfiguration; all come with status 400
// except InvalidBucketState.
const (
	CodeMalformedXML       = "MalformedXML"       // the document breaks the schema
	CodeInvalidRequest     = "InvalidRequest"     // elements do not go together
	CodeInvalidArgument    = "InvalidArgument"    // a value is out of range
	CodeInvalidBucketState = "InvalidBucketState" // the bucket excludes lifecycle
)

// Limits of a configuration (user guide, intro-lifecycle-rules).
const (
	maxRules    = 1000
	maxIDLength = 255
)

// Problem is a reason for which S3 refuses a configuration.
type Problem struct {
	// Code is the error code of S3, empty where nobody recorded it.
	Code string
	// OrCode is another code seen for the same problem.
	OrCode string
	// Rule is the name of the rule, empty for the configuration as a whole.
	Rule string
	// Index is the index of the rule, -1 for the configuration.
	Index int
	// Field is the path of the element at fault, with the plural names of the
	// JSON form, such as "Transitions.Days". "Action" stands for all actions.
	Field string
	// Message is a sentence.
	Message string
}

// checker collects problems.
type checker struct {
	c        *Configuration
	r        *Rule
	i        int
	problems []Problem
	// notes are those of the reading by rule, ids the rules by ID.
	notes map[int][]Note
	ids   map[string]int
}

// newChecker prepares for the rules of a configuration.
func newChecker(c *Configuration) *checker {
	k := &checker{c: c, i: -1, notes: map[int][]Note{}, ids: map[string]int{}}
	for _, n := range c.Notes {
		k.notes[n.Rule] = append(k.notes[n.Rule], n)
	}
	return k
}

// each calls a check for every rule up to the thousandth. A configuration with
// more is refused for that.
func (k *checker) each(check func()) {
	for i := range min(len(k.c.Rules), maxRules) {
		k.i, k.r = i, &k.c.Rules[i]
		check()
	}
	k.i, k.r = -1, nil
}

// Validate returns every reason for which S3 would refuse the configuration for
// a general purpose bucket: none if it would be accepted. S3 reads the document
// before it looks at the values and answers with one problem only, so the first
// of the result is the likely answer.
//
// Constraints come from the API reference (LifecycleRule, LifecycleExpiration,
// NoncurrentVersionExpiration and so on) and the user guide
// (lifecycle-transition-general-considerations, intro-lifecycle-rules); most
// codes are recorded.
func (c Configuration) Validate() []Problem {
	k := newChecker(&c)
	k.whole()
	k.each(k.rule)
	k.schema()
	return sorted(k.problems)
}

// ValidateFor is Validate for a particular bucket: it adds what directory
// buckets and MFA delete exclude.
func (c Configuration) ValidateFor(b Bucket) []Problem {
	k := newChecker(&c)
	k.problems = c.Validate()
	if b.MFADelete && len(c.Rules) > 0 {
		k.add(CodeInvalidBucketState, "MFADelete", "The bucket has MFA delete, which excludes any lifecycle configuration.")
	}
	if b.DirectoryBucket {
		k.each(k.directory)
	}
	return sorted(k.problems)
}

// rule checks the current rule.
func (k *checker) rule() {
	k.header()
	k.filter()
	k.actions()
}

// sorted puts what the document's form violates before the rest.
func sorted(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Compare(stage(a.Code), stage(b.Code))
	})
	return problems
}

func stage(code string) int {
	switch code {
	case CodeInvalidBucketState:
		return 0
	case CodeMalformedXML:
		return 1
	}
	return 2
}

// add records a problem of the current rule.
func (k *checker) add(code, field, format string, args ...any) {
	p := Problem{Code: code, Index: k.i, Field: field, Message: fmt.Sprintf(format, args...)}
	if k.i >= 0 {
		p.Rule = k.c.name(k.i)
	}
	k.problems = append(k.problems, p)
}

// whole checks the configuration itself and the notes of its reading.
func (k *checker) whole() {
	if n := len(k.c.Rules); n == 0 || n > maxRules {
		k.add(CodeMalformedXML, "Rules", "A configuration has 1 to %d rules; this one has %d.", maxRules, n)
		k.problems[0].OrCode = CodeInvalidRequest
	}
	switch k.c.DefaultMinimumSize {
	case "", AllClasses128K, VariesByClass:
	default:
		k.add(CodeInvalidRequest, "TransitionDefaultMinimumObjectSize",
			"TransitionDefaultMinimumObjectSize is %q; it must be %s or %s.", k.c.DefaultMinimumSize, AllClasses128K, VariesByClass)
	}
	for _, n := range k.c.Notes {
		k.i = n.Rule
		k.noted(n)
	}
	k.i = -1
}

// noted turns a note into a problem. Names of the older API are still read.
func (k *checker) noted(n Note) {
	switch n.Why {
	case UnknownElement:
		k.add(CodeMalformedXML, n.Field, "%s is not an element of a lifecycle configuration.", n.Field)
	case Extension:
		k.add(CodeMalformedXML, n.Field, "%s is an element that only MinIO knows.", n.Field)
	case Malformed:
		k.add(CodeMalformedXML, n.Field, "%s cannot be read: %q.", n.Field, n.Text)
	case Repeated:
		k.add(CodeMalformedXML, n.Field, "%s occurs more than once.", n.Field)
	}
}

// hasNote reports whether the reading left a note on a field of the rule, or on
// anything within it.
func (k *checker) hasNote(field string) bool {
	return slices.ContainsFunc(k.notes[k.i], func(n Note) bool {
		return n.Why != OldName && within(n.Field, field)
	})
}

// within reports whether a path is a field or lies in it.
func within(path, field string) bool {
	return path == field || len(path) > len(field) && path[:len(field)] == field && path[len(field)] == '.'
}

// header checks ID, Status and the presence of a filter.
func (k *checker) header() {
	if n := utf8.RuneCountInString(k.r.ID); n > maxIDLength {
		k.add(CodeInvalidArgument, "ID", "The ID has %d characters; %d are allowed.", n, maxIDLength)
	}
	if i, taken := k.ids[k.r.ID]; taken && k.r.ID != "" {
		k.add(CodeInvalidArgument, "ID", "The ID of rule %d is that of rule %d; it must be unique.", k.i+1, i+1)
	} else {
		k.ids[k.r.ID] = k.i
	}
	if k.r.Status != "Enabled" && k.r.Status != "Disabled" && !k.hasNote("Status") {
		k.add(CodeMalformedXML, "Status", "Status is %q; it must be exactly Enabled or Disabled.", k.r.Status)
	}
	k.target()
}

// target checks that there is exactly one of Filter and Prefix.
func (k *checker) target() {
	switch {
	case k.r.Filter != nil && k.r.Prefix != nil:
		k.add(CodeMalformedXML, "Prefix", "The rule has both Filter and a Prefix of its own; it must have one of them.")
	case k.r.Filter == nil && k.r.Prefix == nil && !k.hasNote("Prefix"):
		k.add(CodeMalformedXML, "Filter", "The rule has neither Filter nor Prefix; an empty Filter means the whole bucket.")
	}
}

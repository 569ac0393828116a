package infra

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"backstop/rules/lifecycle"
)

// A builder makes the rules of one reading, and reads what is unknown in the
// worst way that S3 takes.
type builder struct {
	Reading
	unknown []string
	faults  []string
	rule    int // index of the rule at hand
}

// begin begins a rule.
func (b *builder) begin(path string, n *node) {
	b.rule = len(b.Rules)
	b.Rules = append(b.Rules, lifecycle.Rule{Position: b.rule + 1})
	b.Lines = append(b.Lines, n.lineOf())
	b.Paths = append(b.Paths, path)
}

// current is the rule at hand.
func (b *builder) current() *lifecycle.Rule { return &b.Rules[b.rule] }

// doubt notes that a value is unknown, and what it was read as.
func (b *builder) doubt(k DoubtKind, path, readAs string) {
	b.unknown = append(b.unknown, path)
	b.Doubts = append(b.Doubts, Doubt{Rule: b.rule, Path: path, Kind: k, ReadAs: readAs})
}

func (b *builder) fault(path, format string, args ...any) {
	b.faults = append(b.faults, path+": "+fmt.Sprintf(format, args...))
}

// anyRule stands for a rule of which nothing is known.
func (b *builder) anyRule(path string, n *node) {
	b.begin(path, n)
	r := b.current()
	r.Status, r.Filter = "Enabled", &lifecycle.Filter{}
	r.Expiration = &lifecycle.Expiration{Days: new(1)}
	r.NoncurrentExpiration = &lifecycle.NoncurrentExpiration{NoncurrentDays: new(1)}
	b.doubt(Scope, path, "a rule that expires the whole bucket after 1 day")
}

// word reads a text that selects something, as a class does.
func (b *builder) word(n *node, path, worst string, k DoubtKind) string {
	if n.is(unknown) || isPlaceholder(n) {
		b.doubt(k, path, worst)
		return worst
	}
	if n.there() && !n.scalar() {
		b.fault(path, "want a text")
	}
	return n.str()
}

// count reads a whole number; nil where there is none. An unknown one is the
// worst.
func (b *builder) count(n *node, path string, worst int64, k DoubtKind) *int64 {
	switch {
	case n.is(unknown) || isPlaceholder(n):
		b.doubt(k, path, strconv.FormatInt(worst, 10))
		return &worst
	case !n.there() || n.str() == "" && n.scalar():
		return nil
	}
	v, ok := whole(n.str())
	if !ok {
		b.fault(path, "%q is not a whole number", shorten(n.str()))
		return nil
	}
	return &v
}

// days is count for ages and numbers of versions.
func (b *builder) days(n *node, path string, worst int) *int {
	v := b.count(n, path, int64(worst), Timing)
	if v == nil {
		return nil
	}
	return new(int(min(max(*v, math.MinInt32), math.MaxInt32)))
}

// positive is days where the tool writes an unset number as 0, and S3 takes no 0.
func (b *builder) positive(n *node, path string, worst int) *int {
	v := b.days(n, path, worst)
	if v != nil && *v == 0 {
		return nil
	}
	return v
}

// longPast is what a date that is not known is read as: everything is due.
var longPast = time.Unix(0, 0).UTC()

// date reads a date; zero where there is none.
func (b *builder) date(n *node, path string) time.Time {
	switch {
	case n.is(unknown) || isPlaceholder(n):
		b.doubt(Timing, path, "a date that has passed")
		return longPast
	case n.str() == "":
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700"} {
		if t, err := time.Parse(layout, n.str()); err == nil {
			return t.UTC()
		}
	}
	b.fault(path, "%q is not a date", shorten(n.str()))
	return time.Time{}
}

// expiration reads the action on current versions from its three parts. The
// tools leave out what the tool's schema fills in: days before the marker flag.
func (b *builder) expiration(days, date, marker *node, path string, names [3]string) *lifecycle.Expiration {
	x := &lifecycle.Expiration{}
	if date.there() && (date.is(unknown) || date.str() != "") {
		x.Date = b.date(date, join(path, names[1]))
		if days.is(unknown) { // it is the date's absence that would give it a value
			return x
		}
	}
	x.Days = b.positive(days, join(path, names[0]), 1)
	switch {
	case x.Days != nil || !x.Date.IsZero():
	case marker.is(unknown):
		b.doubt(Scope, join(path, names[2]), "true")
		x.ExpiredObjectDeleteMarker = new(true)
	default:
		x.ExpiredObjectDeleteMarker = new(marker.truth())
	}
	return x
}

// tags reads a map of tags.
func (b *builder) tags(n *node, path string) []lifecycle.Tag {
	if n.is(unknown) {
		b.doubt(Scope, path, "no condition")
		return nil
	}
	var all []lifecycle.Tag
	for _, m := range n.membersOf() {
		if m.is(unknown) {
			b.doubt(Scope, path+"."+m.name, "no condition")
			continue
		}
		all = append(all, lifecycle.Tag{Key: m.name, Value: m.str()})
	}
	return all
}

// membersOf gives the members of an object; none of anything else.
func (n *node) membersOf() []member {
	if n == nil {
		return nil
	}
	return n.members
}

// sizeAbove reads the lower bound of sizes. One that is not known admits
// everything, and lifts S3's default for small objects all the same.
func (b *builder) sizeAbove(n *node, path string) *int64 { return b.count(n, path, 0, Scope) }

// sizeBelow reads the upper bound of sizes.
func (b *builder) sizeBelow(n *node, path string) *int64 {
	const petabytes = 1 << 50 // more than any object has
	return b.count(n, path, petabytes, Scope)
}

// whole parses a whole number, also as 30.0 and 3e1, as JSON writers may have it.
func whole(s string) (int64, bool) {
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return v, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// isPlaceholder recognises what Pulumi writes for a value that it does not know
// yet: in a field for a number or a word, any UUID is one.
func isPlaceholder(n *node) bool { return n.is(text) && uuid.MatchString(n.text) }

// shorten bounds what an error repeats of a document.
func shorten(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// join joins a path and a name.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

package lifecycle_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"backstop/store/storetest"
)

// ages are how long ago the objects are written, oldest first.
var ages = []time.Duration{25 * 24 * time.Hour, 10 * 24 * time.Hour, 0}

// A ruleSet is what one random owner has: keys below a prefix of their own, and
// rules that speak of them.
type ruleSet struct {
	prefix string
	rules  []string // XML
	puts   [][]storetest.Object
}

// A generator makes rule sets. The same seed makes the same ones.
type generator struct {
	*rand.Rand
	today time.Time
}

// chance is true in so many of a hundred cases.
func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

func choose[T any](g generator, from ...T) T { return from[g.IntN(len(from))] }

// set makes a rule set. In a versioned bucket its keys have several versions and
// delete markers.
func (g generator) set(prefix string, versioned bool) ruleSet {
	s := ruleSet{prefix: prefix, puts: make([][]storetest.Object, len(ages))}
	for range 1 + g.IntN(5) {
		s.rules = append(s.rules, g.rule(prefix, len(s.rules)))
	}
	for _, key := range []string{"a", "a/1", "a/2", "a/b/1", "ab", "b/1", "b/2", "c", "c/", "d é+%"} {
		g.history(&s, prefix+key, versioned)
	}
	return s
}

// history writes one key at some of the ages, at least once.
func (g generator) history(s *ruleSet, key string, versioned bool) {
	written := false
	for i := range ages {
		last := i == len(ages)-1
		if !g.chance(45) && (!last || written) {
			continue
		}
		o := storetest.Object{Key: key, Tags: g.tags(2)}
		switch {
		case versioned && g.chance(20):
			o = storetest.Object{Key: key, Marker: true}
		case g.chance(30):
			o.Body = make([]byte, 3000)
		default:
			o.Body = []byte("x")
		}
		s.puts[i] = append(s.puts[i], o)
		written = true
	}
}

// tags gives at most n tags.
func (g generator) tags(n int) map[string]string {
	tags := map[string]string{}
	for range g.IntN(n + 1) {
		tags[choose(g, "x", "y")] = choose(g, "1", "2")
	}
	return tags
}

// rule makes a rule about keys below a prefix.
func (g generator) rule(below string, n int) string {
	status := "Enabled"
	if g.chance(15) {
		status = "Disabled"
	}
	filter, tagged := g.filter(below + choose(g, "", "", "a", "a/", "a/b/", "b/", "c", "z/"))
	return fmt.Sprintf("<Rule><ID>%sr%d</ID>%s<Status>%s</Status>%s</Rule>", strings.ReplaceAll(below, "/", "-"), n, filter, status, g.actions(tagged))
}

// filter writes a filter in one of the forms that S3 takes.
func (g generator) filter(prefix string) (xml string, tagged bool) {
	tags := ""
	for k, v := range g.tags(2) {
		if g.chance(60) {
			tags += fmt.Sprintf("<Tag><Key>%s</Key><Value>%s</Value></Tag>", k, v)
		}
	}
	in := "<Prefix>" + prefix + "</Prefix>"
	switch n := strings.Count(tags, "<Tag>"); {
	case g.chance(6):
		return "<Filter><And>" + in + "<ObjectSizeGreaterThan>1000</ObjectSizeGreaterThan></And></Filter>", false
	case n == 1 && prefix == "":
		return "<Filter>" + tags + "</Filter>", true
	case n > 0:
		return "<Filter><And>" + in + tags + "</And></Filter>", true
	case prefix == "" && g.chance(50):
		return "<Filter/>", false
	case g.chance(30):
		return in, false // the older schema
	}
	return "<Filter>" + in + "</Filter>", false
}

// actions writes one or two actions. A filter by tags forbids the removal of
// delete markers.
func (g generator) actions(tagged bool) string {
	noncurrent := fmt.Sprintf("<NoncurrentVersionExpiration><NoncurrentDays>%d</NoncurrentDays>", 1+g.IntN(14))
	if g.chance(10) {
		noncurrent += fmt.Sprintf("<NewerNoncurrentVersions>%d</NewerNoncurrentVersions>", 1+g.IntN(2))
	}
	noncurrent += "</NoncurrentVersionExpiration>"
	days := fmt.Sprintf("<Expiration><Days>%d</Days></Expiration>", 1+g.IntN(40))
	switch n := g.IntN(10); {
	case n < 4:
		return days
	case n < 6:
		return days + noncurrent
	case n < 7:
		at := g.today.AddDate(0, 0, g.IntN(20)-3)
		return "<Expiration><Date>" + at.Format("2006-01-02T15:04:05Z") + "</Date></Expiration>"
	case n < 8 && !tagged:
		return "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>" + noncurrent
	}
	return noncurrent
}

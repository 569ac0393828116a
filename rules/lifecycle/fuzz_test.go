package lifecycle

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func FuzzParse(f *testing.F) {
	for _, doc := range []string{xmlEverything, jsonEverything, `{"LifecycleConfiguration":{"Rule":{"Transition":{"Days":1e3}}}}`,
		`<LifecycleConfiguration><Rule><Filter><And/></Filter><DelMarkerExpiration><Days>1</Days></DelMarkerExpiration></Rule></LifecycleConfiguration>`} {
		f.Add([]byte(doc))
	}
	if raw, err := os.ReadFile("testdata/cases.json"); err == nil {
		for _, l := range strings.Split(string(raw), "\n") {
			if _, policy, ok := strings.Cut(l, `"policy":`); ok {
				f.Add([]byte(policy[:strings.LastIndex(policy, "}]}")+3]))
			}
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		c, err := Parse(doc)
		if err != nil {
			return
		}
		stack := []Version{data("v3", june1), marker("m", june1), data(NullVersion, june1.Add(-day)), data("v1", june1.Add(-9*day))}
		for _, b := range []Bucket{{}, {Provider: AWS, Versioning: Enabled}, {Provider: MinIO, Versioning: Suspended}, {Provider: RGW, DirectoryBucket: true}} {
			c.ValidateFor(b)
			c.Warnings(b, june15)
			c.Drops(c)
			checkCourse(t, c, b, stack, june15, 0)
		}
	})
}

func FuzzTimeline(f *testing.F) {
	for i := range 64 {
		seed := make([]byte, 96)
		for j := range seed {
			seed[j] = byte((i*131 + j*j*31 + j*i*7) >> (i % 3))
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed []byte) {
		g := generator{seed: seed}
		b, stack, c, extra := g.bucket(), g.stack(), g.configuration(), g.expiration()
		now := june1.Add(time.Duration(g.n(100)-50) * 6 * time.Hour)
		base := checkCourse(t, c, b, stack, now, 0)
		checkCourse(t, c, b, stack, now, time.Hour)
		extended := func(r Rule) bool { return r.DelMarkerExpirationDays != nil }
		if c.counts() || slices.ContainsFunc(c.Rules, extended) {
			return // the new rule may remove what another needs to act: newer versions, or the marker on top
		}
		more := Configuration{DefaultMinimumSize: c.DefaultMinimumSize, Rules: append(slices.Clone(c.Rules), extra)}
		compareLives(t, stack, now, base, checkCourse(t, more, b, stack, now, 0))
		if t.Failed() {
			t.Logf("bucket %+v\nnow %s\nstack %+v\nrules %s\nextra %s", b, now, stack, dump(c.Rules...), dump(extra))
		}
	})
}

// checkCourse follows a stack and fails if the course is endless, goes back in
// time or leaves something undone.
func checkCourse(t *testing.T, c Configuration, b Bucket, stack []Version, now time.Time, lag time.Duration) Course {
	t.Helper()
	course := c.Follow(b, stack, now, lag)
	if len(course.Events) >= 8*len(stack)+16 {
		t.Fatalf("endless: %s", lines(course.Events))
	}
	clock := now
	for _, ev := range course.Events {
		if ev.Run(now).Before(clock) {
			t.Fatalf("back in time: %s", lines(course.Events))
		}
		if ev.Latest.Before(ev.At) || ev.Overdue != !ev.At.After(now) || ev.Kind == None || ev.Rule == "" {
			t.Fatalf("contradiction: %+v", ev)
		}
		clock = ev.Run(now)
	}
	return course
}

// ends returns until when each version exists and until when it is current.
func ends(now time.Time, course Course) (destroyed, hidden map[string]time.Time) {
	destroyed, hidden = map[string]time.Time{}, map[string]time.Time{}
	for _, ev := range course.Events {
		run := ev.Run(now)
		if ev.Kind.permanent() {
			first(destroyed, ev.VersionID, run)
		}
		if ev.Kind == Hide || ev.Kind == Expire {
			first(hidden, ev.VersionID, run)
		}
		if ev.Destroys != "" {
			first(destroyed, ev.Destroys, run)
		}
	}
	return destroyed, hidden
}

// first keeps the first instant of an id: the null id can come again.
func first(m map[string]time.Time, id string, at time.Time) {
	if _, ok := m[id]; !ok {
		m[id] = at
	}
}

// compareLives fails if anything of the stack lives longer in the second course.
func compareLives(t *testing.T, stack []Version, now time.Time, base, more Course) {
	t.Helper()
	destroyed, hidden := ends(now, base)
	destroyedMore, hiddenMore := ends(now, more)
	for _, v := range stack {
		for what, pair := range map[string][2]map[string]time.Time{"exists": {destroyed, destroyedMore}, "is current": {hidden, hiddenMore}} {
			was, ok := pair[0][v.VersionID]
			if is, still := pair[1][v.VersionID]; ok && (!still || is.After(was)) {
				t.Errorf("%s %s longer with another rule:\n%s\n--\n%s", v.VersionID, what, lines(base.Events), lines(more.Events))
			}
		}
	}
}

// generator makes buckets, stacks and rules of the bytes of a seed.
type generator struct{ seed []byte }

// n returns a number from 0 to limit-1.
func (g *generator) n(limit int) int {
	if len(g.seed) == 0 {
		return 0
	}
	b := g.seed[0]
	g.seed = g.seed[1:]
	return int(b) % limit
}

func pick[T any](g *generator, from ...T) T { return from[g.n(len(from))] }

func (g *generator) bucket() Bucket {
	return Bucket{
		Provider:        pick(g, AWS, AWS, AWS, AWS, Unknown, MinIO, RGW, B2, R2, GCS, Wasabi),
		Versioning:      pick(g, Off, Enabled, Enabled, Suspended, Unknown),
		DirectoryBucket: g.n(20) == 1,
		IntelligentTiering: []Tiering{{ID: "i", Status: "Enabled", Tiers: []Tier{{"ARCHIVE_ACCESS", 1 + g.n(9)},
			{"DEEP_ARCHIVE_ACCESS", 1 + g.n(9)}}}},
	}
}

var someClasses = []string{"", "STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE", "COLD"}

func (g *generator) stack() []Version {
	var stack []Version
	modified := june1
	null := -1
	if g.n(2) == 1 {
		null = g.n(5)
	}
	for i := range g.n(6) {
		v := data(fmt.Sprintf("v%d", i), modified)
		if i == null {
			v.VersionID = NullVersion
		}
		v.DeleteMarker = g.n(4) == 1
		v.Size = int64(pick(g, 0, 40, 1<<20))
		v.StorageClass = pick(g, someClasses...)
		v.TagsKnown = g.n(3) > 0
		v.LegalHold = g.n(9) == 1
		if g.n(4) == 1 {
			v.Tags = map[string]string{"a": "b"}
		}
		if g.n(5) == 1 {
			v.RetainUntil = modified.Add(time.Duration(g.n(99)) * 11 * time.Hour)
		}
		v.ReplicationStatus = pick(g, "", "", "", "", "COMPLETED", "PENDING")
		stack = append(stack, v)
		modified = modified.Add(-time.Duration(g.n(60)) * 2 * time.Hour)
	}
	return stack
}

func (g *generator) configuration() Configuration {
	c := Configuration{DefaultMinimumSize: pick(g, "", AllClasses128K, VariesByClass)}
	for i := range g.n(5) {
		r := g.rule(fmt.Sprintf("r%d", i))
		for range g.n(3) {
			r.Transitions = append(r.Transitions, TransitionAction{Days: new(g.n(6)), StorageClass: pick(g, someClasses...)})
		}
		for range g.n(3) {
			r.NoncurrentTransitions = append(r.NoncurrentTransitions, NoncurrentTransitionAction{NoncurrentDays: new(g.n(6)),
				StorageClass: pick(g, someClasses...)})
		}
		if g.n(12) == 1 && r.NoncurrentExpiration != nil {
			r.NoncurrentExpiration.NewerNoncurrentVersions = new(g.n(4))
		}
		if g.n(12) == 1 {
			r.DelMarkerExpirationDays = new(g.n(4))
		}
		c.Rules = append(c.Rules, r)
	}
	return c
}

// rule is a rule with expirations only.
func (g *generator) rule(id string) Rule {
	r := Rule{ID: id, Status: pick(g, "Enabled", "Enabled", "Enabled", "Disabled"), Filter: &Filter{}}
	switch g.n(6) {
	case 1:
		r.Filter.Tags = []Tag{{"a", "b"}}
	case 2:
		r.Filter.ObjectSizeGreaterThan = new(int64(g.n(50)))
	case 3:
		r.Filter.Prefix = new(pick(g, "k", "x"))
	}
	switch g.n(6) {
	case 1, 2:
		r.Expiration = &Expiration{Days: new(g.n(9))}
	case 3:
		r.Expiration = &Expiration{Date: june1.Truncate(day).Add(time.Duration(g.n(9)) * day)}
	case 4:
		r.Expiration = &Expiration{ExpiredObjectDeleteMarker: new(true)}
	}
	if g.n(2) == 1 {
		r.NoncurrentExpiration = &NoncurrentExpiration{NoncurrentDays: new(g.n(9))}
	}
	return r
}

// expiration is an enabled rule that expires something.
func (g *generator) expiration() Rule {
	r := g.rule("extra")
	r.Status = "Enabled"
	if r.Expiration == nil && r.NoncurrentExpiration == nil {
		r.Expiration = &Expiration{Days: new(1 + g.n(9))}
	}
	return r
}

// dump writes rules for a failure.
func dump(rules ...Rule) string {
	var s strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&s, "\n%s %s", r.ID, r.Status)
		if f := r.Filter; f != nil {
			fmt.Fprintf(&s, " tags %v greater %v prefix %v", f.Tags, f.ObjectSizeGreaterThan != nil, f.Prefix != nil)
		}
		if x := r.Expiration; x != nil {
			if x.Days != nil {
				fmt.Fprintf(&s, " expire %d", *x.Days)
			}
			fmt.Fprintf(&s, " date %s marker %v", x.Date.Format(time.DateOnly), x.ExpiredObjectDeleteMarker != nil)
		}
		if x := r.NoncurrentExpiration; x != nil {
			fmt.Fprintf(&s, " noncurrent %d", *x.NoncurrentDays)
		}
		for _, x := range r.Transitions {
			fmt.Fprintf(&s, " move %d %s", *x.Days, x.StorageClass)
		}
		for _, x := range r.NoncurrentTransitions {
			fmt.Fprintf(&s, " noncurrent move %d %s", *x.NoncurrentDays, x.StorageClass)
		}
	}
	return s.String()
}

// No header is more than a date and a rule, and what S3 writes is read as it was meant.
func FuzzExpirationHeader(f *testing.F) {
	for _, h := range []string{`expiry-date="Fri, 23 Dec 2026 00:00:00 GMT", rule-id="prune"`, `rule-id="a%20b", expiry-date="2026-12-23T00:00:00Z"`, `expiry-date="`, `expiry-date="", rule-id="\""`, "%zz", ""} {
		f.Add(h, int32(20_000))
	}
	f.Fuzz(func(t *testing.T, s string, days int32) {
		if date, rule, ok := ParseExpirationHeader(s); !ok && (rule != "" || !date.IsZero()) {
			t.Errorf("%q: no date, and yet %v %q", s, date, rule)
		}
		want := time.Unix(0, 0).UTC().AddDate(0, 0, int(days)%3_000_000)
		if strings.ContainsAny(s, `"%`) || want.Year() < 1 || want.Year() > 9999 {
			return
		}
		header := fmt.Sprintf("expiry-date=%q, rule-id=\"%s\"", want.Format("Mon, 02 Jan 2006 15:04:05 GMT"), s)
		if date, rule, ok := ParseExpirationHeader(header); !ok || !date.Equal(want) || rule != s {
			t.Errorf("%s: %v %q %t", header, date, rule, ok)
		}
	})
}

package lifecycle

import (
	"testing"
	"time"
)

var (
	june1  = time.Date(2024, 6, 1, 10, 0, 0, 0, time.UTC)
	june15 = time.Date(2024, 6, 15, 12, 0, 0, 0, time.UTC)
)

// next is the line of the next event, or the reason for none.
func next(c Configuration, b Bucket, stack []Version, i int, now time.Time) string {
	ev, ok := c.Next(b, stack, i, now)
	if !ok {
		return string(ev.Reason)
	}
	return line(ev)
}

func TestNextOutsideTheStack(t *testing.T) {
	for _, i := range []int{-1, 0, 1} {
		if ev, ok := (Configuration{}).Next(Bucket{}, nil, i, june1); ok || ev.Reason != ReasonNoSuchVersion {
			t.Errorf("entry %d: %+v", i, ev)
		}
	}
}

func TestNextByVersioning(t *testing.T) {
	c := parsed(t, rule("e", `"Expiration":{"Days":3}`))
	for _, x := range []struct {
		versioning Versioning
		id, want   string
	}{
		{Off, "", "2024-06-05T00:00 expire  by e"},
		{Enabled, "v", "2024-06-05T00:00 hide v by e"},
		{Enabled, NullVersion, "2024-06-05T00:00 hide null by e"},
		{Suspended, "v", "2024-06-05T00:00 hide v by e"},
		{Suspended, NullVersion, "2024-06-05T00:00 expire null by e"},
		{Unknown, "v", "2024-06-05T00:00 hide v by e"},
		{Unknown, NullVersion, "2024-06-05T00:00 expire null by e (versioning unknown)"},
		{Unknown, "", "2024-06-05T00:00 expire  by e (versioning unknown)"},
	} {
		stack := []Version{data(x.id, june1)}
		if got := next(c, Bucket{Provider: AWS, Versioning: x.versioning}, stack, 0, june1); got != x.want {
			t.Errorf("%s %q: got %s, want %s", x.versioning, x.id, got, x.want)
		}
	}
}

func TestNextSuspendedSideEffects(t *testing.T) {
	c := parsed(t, rule("e", `"Expiration":{"Days":3}`))
	b := Bucket{Provider: AWS, Versioning: Suspended}
	ev, _ := c.Next(b, []Version{data("v", june1), data(NullVersion, june1)}, 0, june1)
	if ev.Destroys != NullVersion || ev.Marker != NullVersion {
		t.Errorf("the null version beneath is not named: %+v", ev)
	}
	ev, _ = c.Next(b, []Version{data(NullVersion, june1), data("v", june1)}, 0, june1)
	if ev.Destroys != "" || ev.Marker != NullVersion || ev.Reader != Missing {
		t.Errorf("an expired null version leaves a null marker: %+v", ev)
	}
}

func TestNextLocks(t *testing.T) {
	destroy := parsed(t, rule("n", `"NoncurrentVersionExpiration":{"NoncurrentDays":3}`))
	b := Bucket{Provider: AWS, Versioning: Enabled, ObjectLock: true}
	held, retained := data("v1", june1), data("v1", june1)
	held.LegalHold = true
	retained.RetainUntil = at(t, "2025-01-01T08:00:00Z")
	top := data("v2", june1)

	ev, ok := destroy.Next(b, []Version{top, held}, 1, june15)
	if ok || ev.Reason != ReasonLegalHold || !ev.At.Equal(at(t, "2024-06-05T00:00:00Z")) {
		t.Errorf("hold: %+v", ev)
	}
	if got := next(destroy, b, []Version{top, retained}, 1, june15); got != "2025-01-02T00:00 destroy-noncurrent v1 by n" {
		t.Errorf("retention: %s", got)
	}
	if got := next(parsed(t, rule("e", `"Expiration":{"Days":3}`)), b, []Version{held}, 0, june15); got != "2024-06-05T00:00 hide v1 by e" {
		t.Errorf("a hold does not keep data visible: %s", got)
	}
}

func TestNextReplication(t *testing.T) {
	c := parsed(t, rule("e", `"Expiration":{"Days":3}`))
	for status, want := range map[string]string{"PENDING": "replication-pending", "FAILED": "replication-failed",
		"COMPLETED": "2024-06-05T00:00 hide v by e", "REPLICA": "2024-06-05T00:00 hide v by e"} {
		v := data("v", june1)
		v.ReplicationStatus = status
		if got := next(c, Bucket{Provider: AWS, Versioning: Enabled}, []Version{v}, 0, june1); got != want {
			t.Errorf("%s: got %s, want %s", status, got, want)
		}
	}
}

func TestNextDoubt(t *testing.T) {
	tag := `{"ID":"t","Status":"Enabled","Filter":{"Tag":{"Key":"a","Value":"b"}},"Expiration":{"Days":3}}`
	unread := data("v", june1)
	unread.TagsKnown = false
	undated := data("v", time.Time{})
	odd := data("v", june1)
	odd.StorageClass = "SNOW"
	tiny := data("v", june1)
	tiny.Size = 40
	noMode := parsed(t, rule("a", `"Transitions":[{"Days":3,"StorageClass":"GLACIER"}]`))
	noMode.DefaultMinimumSize = ""
	archive := parsed(t, rule("a", `"Transitions":[{"Days":3,"StorageClass":"GLACIER"}]`))
	aws, unknown := Bucket{Provider: AWS, Versioning: Enabled}, Bucket{Versioning: Enabled}
	for _, c := range []struct {
		name string
		cfg  Configuration
		b    Bucket
		v    Version
		want string
	}{
		{"tags", parsed(t, tag), aws, unread, "2024-06-05T00:00 hide v by t (tags not read)"},
		{"tags, certain rule on the same day", parsed(t, tag+","+rule("e", `"Expiration":{"Days":3}`)), aws, unread,
			"2024-06-05T00:00 hide v by e"},
		{"tags, certain rule later", parsed(t, tag+","+rule("e", `"Expiration":{"Days":4}`)), aws, unread,
			"2024-06-05T00:00 hide v by t (tags not read)"},
		{"tags, read otherwise", parsed(t, tag), aws, data("v", june1), "no-match"},
		{"predicate", parsed(t, `{"ID":"p","Status":"Enabled","Filter":{"Suffix":"k"},"Expiration":{"Days":3}}`), aws, unread,
			"2024-06-05T00:00 hide v by p (filter predicate not understood)"},
		{"size default", noMode, aws, tiny, "2024-06-05T00:00 transition v by a (GLACIER) (transition size default not stated)"},
		{"large object under it", noMode, aws, data("v", june1), "2024-06-05T00:00 transition v by a (GLACIER)"},
		{"provider", parsed(t, rule("e", `"Expiration":{"Days":3}`)), unknown, unread, "2024-06-05T00:00 hide v by e (provider unverified)"},
		{"provider and tags", parsed(t, tag), unknown, unread, "2024-06-05T00:00 hide v by t (provider unverified; tags not read)"},
		{"no date", parsed(t, rule("e", `"Expiration":{"Days":3}`)), aws, undated,
			"0001-01-04T00:00 hide v by e (modification time missing)"},
		{"class", archive, aws, odd, "2024-06-05T00:00 transition v by a (GLACIER) (storage class not known)"},
	} {
		if got := next(c.cfg, c.b, []Version{c.v}, 0, june1); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// A doubtful transition of the same day must not put off a certain marker.
func TestNextDoubtDelaysNothing(t *testing.T) {
	c := parsed(t, `{"ID":"t","Status":"Enabled","Filter":{"Tag":{"Key":"a","Value":"b"}},"Transitions":[{"Days":3,"StorageClass":"GLACIER"}]},`+
		rule("e", `"Expiration":{"Days":3}`))
	v := data("v", june1)
	v.TagsKnown = false
	if got := next(c, Bucket{Provider: AWS, Versioning: Enabled}, []Version{v}, 0, june1); got != "2024-06-05T00:00 hide v by e" {
		t.Error(got)
	}
	v.TagsKnown, v.Tags = true, map[string]string{"a": "b"}
	if got := next(c, Bucket{Provider: AWS, Versioning: Enabled}, []Version{v}, 0, june1); got != "2024-06-05T00:00 transition v by t (GLACIER)" {
		t.Error(got)
	}
}

func TestNextByProvider(t *testing.T) {
	midnight := time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)
	expire := rule("e", `"Expiration":{"Days":3}`)
	small := data("", june1)
	small.Size = 40
	archive := rule("a", `"Transitions":[{"Days":0,"StorageClass":"DEEP_ARCHIVE"}]`)
	tie := rule("a", `"Transitions":[{"Days":3,"StorageClass":"GLACIER"}]`) + "," + expire
	for _, c := range []struct {
		name, rules string
		provider    Provider
		versioning  Versioning
		v           Version
		want        string
	}{
		{"exact midnight, AWS", expire, AWS, Off, data("", midnight), "2024-06-04T00:00 expire  by e"},
		{"exact midnight, MinIO", expire, MinIO, Off, data("", midnight), "2024-06-05T00:00 expire  by e"},
		{"exact midnight, RGW", expire, RGW, Off, data("", midnight), "2024-06-04T00:00 expire  by e"},
		{"small object, AWS", archive, AWS, Off, small, "below-128K"},
		{"small object, MinIO", archive, MinIO, Off, small, "2024-06-01T10:00 transition  by a (DEEP_ARCHIVE)"},
		{"small object, unknown", archive, Unknown, Off, small, "2024-06-01T10:00 transition  by a (DEEP_ARCHIVE) (provider unverified)"},
		{"no classes", archive, Wasabi, Off, data("", june1), "waterfall"},
		{"tie, AWS", tie, AWS, Enabled, data("v", june1), "2024-06-05T00:00 transition v by a (GLACIER)"},
		{"tie, MinIO", tie, MinIO, Enabled, data("v", june1), "2024-06-05T00:00 hide v by e"},
		{"R2 has no versions", expire, R2, Enabled, data("v", june1), "2024-06-05T00:00 expire v by e"},
		{"B2 always has", expire, B2, Off, data("v", june1), "2024-06-05T00:00 hide v by e"},
		{"test double", expire, Moto, Off, data("", june1), "provider-never-runs"},
		{"lone marker, by age, AWS", rule("e", `"Expiration":{"Days":30}`), AWS, Enabled, marker("m", june1), "2024-07-02T00:00 remove-marker m by e"},
		{"lone marker, by age, RGW", rule("e", `"Expiration":{"Days":30}`), RGW, Enabled, marker("m", june1), "2024-06-01T10:00 remove-marker m by e"},
		{"lone marker, by date, AWS", rule("e", `"Expiration":{"Date":"2024-08-01T00:00:00Z"}`), AWS, Enabled, marker("m", june1), "2024-08-01T00:00 remove-marker m by e"},
		{"lone marker, by date, RGW", rule("e", `"Expiration":{"Date":"2024-08-01T00:00:00Z"}`), RGW, Enabled, marker("m", june1), "2024-06-01T10:00 remove-marker m by e"},
		{"zero days, Scality", rule("e", `"Expiration":{"Days":0}`), Scality, Off, data("", june1), "2024-06-02T00:00 expire  by e"},
	} {
		b := Bucket{Provider: c.provider, Versioning: c.versioning}
		if got := next(parsed(t, c.rules), b, []Version{c.v}, 0, june1); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestNextRGWTakesTheLatestOfARule(t *testing.T) {
	c := parsed(t, rule("r", `"Transitions":[{"Days":1,"StorageClass":"COLD"}],"Expiration":{"Days":5}`))
	b := Bucket{Provider: RGW, Versioning: Enabled}
	if got := next(c, b, []Version{data("v", june1)}, 0, june15); got != "2024-06-07T00:00 hide v by r" {
		t.Error(got)
	}
	if got := next(c, b, []Version{data("v", june1)}, 0, june1); got != "2024-06-03T00:00 transition v by r (COLD)" {
		t.Error(got)
	}
	c = parsed(t, rule("r", `"Transitions":[{"Days":5,"StorageClass":"COLD"}],"Expiration":{"Days":5}`))
	if got := next(c, b, []Version{data("v", june1)}, 0, june1); got != "2024-06-07T00:00 hide v by r" {
		t.Error(got)
	}
}

func TestNextTiersStayReadable(t *testing.T) {
	c := parsed(t, rule("r", `"Transitions":[{"Days":1,"StorageClass":"GLACIER"}]`))
	for provider, want := range map[Provider]Reader{AWS: Archived, MinIO: Readable, RGW: Readable, OVH: Archived} {
		ev, _ := c.Next(Bucket{Provider: provider, Versioning: Off}, []Version{data("", june1)}, 0, june1)
		if ev.Reader != want {
			t.Errorf("%s: %s, want %s", provider, ev.Reader, want)
		}
	}
}

func TestNextMinIOExtensions(t *testing.T) {
	all := parsed(t, rule("all", `"Expiration":{"Days":3,"ExpiredObjectAllVersions":true}`))
	del := parsed(t, rule("del", `"DelMarkerExpiration":{"Days":3}`))
	stack := []Version{data("v2", june1), data("v1", june1)}
	covered := []Version{marker("m", june1), data("v1", june1)}
	for _, c := range []struct {
		name  string
		cfg   Configuration
		b     Bucket
		stack []Version
		all   bool
		want  string
	}{
		{"all versions", all, Bucket{Provider: MinIO, Versioning: Enabled}, stack, true, "2024-06-05T00:00 expire v2 by all"},
		{"all versions, unknown", all, Bucket{Versioning: Enabled}, stack, true, "2024-06-05T00:00 expire v2 by all (provider unverified)"},
		{"all versions, AWS", all, Bucket{Provider: AWS, Versioning: Enabled}, stack, false, "2024-06-05T00:00 hide v2 by all"},
		{"all versions, locked", all, Bucket{Provider: MinIO, Versioning: Enabled, ObjectLock: true}, stack, false, "2024-06-05T00:00 hide v2 by all"},
		{"marker", del, Bucket{Provider: MinIO, Versioning: Enabled}, covered, true, "2024-06-05T00:00 remove-marker m by del"},
		{"marker, AWS", del, Bucket{Provider: AWS, Versioning: Enabled}, covered, false, "marker-with-versions"},
	} {
		ev, _ := c.cfg.Next(c.b, c.stack, 0, june1)
		if got := next(c.cfg, c.b, c.stack, 0, june1); got != c.want || ev.AllVersions != c.all {
			t.Errorf("%s: got %s (all versions %v), want %s", c.name, got, ev.AllVersions, c.want)
		}
	}
}

func TestNextMinIOCount(t *testing.T) {
	c := parsed(t, rule("n", `"NoncurrentVersionExpiration":{"NewerNoncurrentVersions":1}`)+`,{"ID":"x","Status":"Enabled",`+
		`"Filter":{"Tag":{"Key":"x","Value":"x"}},"NoncurrentVersionExpiration":{"NoncurrentDays":1}}`)
	stack := []Version{data("v4", june1), data("v3", june1), data("v2", june1), data("v1", june1)}
	stack[1].Tags = map[string]string{"x": "x"}
	b := Bucket{Provider: MinIO, Versioning: Enabled}
	if got := next(c, b, stack, 2, june15); got != "newer-noncurrent-retained" {
		t.Errorf("a version its own pass removes does not count: %s", got)
	}
	if got := next(c, b, stack, 3, june15); got != "2024-06-01T10:00 destroy-noncurrent v1 by n" {
		t.Errorf("no days means any age: %s", got)
	}
	b.Provider = AWS
	if got := next(c, b, stack, 3, june15); got != "no-match" {
		t.Errorf("AWS requires days: %s", got)
	}
}

func TestNextCountComesLate(t *testing.T) {
	c := parsed(t, rule("n", `"NoncurrentVersionExpiration":{"NoncurrentDays":2,"NewerNoncurrentVersions":1}`))
	may := time.Date(2024, 5, 1, 9, 0, 0, 0, time.UTC)
	stack := []Version{data("v3", june1), data("v2", may), data("v1", may.Add(-day))}
	ev, _ := c.Next(Bucket{Provider: AWS, Versioning: Enabled}, stack, 2, june15)
	if !ev.At.Equal(at(t, "2024-06-02T00:00:00Z")) || !ev.ByAge.Equal(at(t, "2024-05-04T00:00:00Z")) {
		t.Errorf("at %s, by age %s", ev.At, ev.ByAge)
	}
}

func TestNextTiering(t *testing.T) {
	b := Bucket{Provider: AWS, Versioning: Off, IntelligentTiering: []Tiering{{ID: "cold", Status: "Enabled", Tiers: []Tier{
		{AccessTier: "DEEP_ARCHIVE_ACCESS", Days: 180}, {AccessTier: "ARCHIVE_ACCESS", Days: 90}}}}}
	v := data("", june1)
	v.StorageClass = "INTELLIGENT_TIERING"
	if got := next(Configuration{}, b, []Version{v}, 0, june1); got != "2024-08-30T10:00 transition  by it:cold (ARCHIVE_ACCESS)" {
		t.Error(got)
	}
	v.ArchiveStatus = "ARCHIVE_ACCESS"
	if got := next(Configuration{}, b, []Version{v}, 0, june1); got != "2024-11-28T10:00 transition  by it:cold (DEEP_ARCHIVE_ACCESS)" {
		t.Error(got)
	}
	if !v.ArchivedNow() {
		t.Error("an archive tier is unreadable now")
	}
	v.Size = 1000
	if got := next(Configuration{}, b, []Version{v}, 0, june1); got != "below-128K" {
		t.Error(got)
	}
	c := parsed(t, rule("r", `"Transitions":[{"Days":1,"StorageClass":"GLACIER_IR"}]`))
	v.Size = 1 << 20
	if got := next(c, Bucket{Provider: AWS, Versioning: Off}, []Version{v}, 0, june1); got != "waterfall" {
		t.Errorf("from an archive tier: %s", got)
	}
}

func TestNextDirectoryBucket(t *testing.T) {
	b := Bucket{Provider: AWS, DirectoryBucket: true}
	v := data("", june1)
	v.StorageClass = "EXPRESS_ONEZONE"
	for rules, want := range map[string]string{
		rule("e", `"Expiration":{"Days":3}`):                                      "2024-06-05T00:00 expire  by e",
		rule("e", `"Expiration":{"Date":"2024-06-02"}`):                           "directory-bucket",
		rule("e", `"Transitions":[{"Days":3,"StorageClass":"GLACIER"}]`):          "directory-bucket",
		rule("e", `"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":3}`):   "abort-only",
		rule("e", `"NoncurrentVersionExpiration":{"NoncurrentDays":3}`):           "directory-bucket",
		rule("e", `"Expiration":{"Days":3},"Transitions":[{"StorageClass":"x"}]`): "2024-06-05T00:00 expire  by e",
	} {
		if got := next(parsed(t, rules), b, []Version{v}, 0, june1); got != want {
			t.Errorf("%s: got %s, want %s", rules, got, want)
		}
	}
}

func TestReasons(t *testing.T) {
	top, below := data("v2", june1), data("v1", june1)
	enabled, off := Bucket{Provider: AWS, Versioning: Enabled}, Bucket{Provider: AWS, Versioning: Off}
	noncurrent := rule("n", `"NoncurrentVersionExpiration":{"NoncurrentDays":3}`)
	for _, c := range []struct {
		rules string
		b     Bucket
		stack []Version
		i     int
		want  Reason
	}{
		{"", enabled, []Version{top}, 0, ReasonNoLifecycle},
		{noncurrent, enabled, []Version{top}, 0, ReasonNoncurrentOnly},
		{noncurrent, off, []Version{top, below}, 1, ReasonUnversioned},
		{rule("e", `"Expiration":{"ExpiredObjectDeleteMarker":true}`), enabled, []Version{top}, 0, ReasonMarkerOnly},
		{rule("e", `"Expiration":{"Days":1}`), off, []Version{marker("m", june1)}, 0, ReasonUnversioned},
		{noncurrent, enabled, []Version{marker("m", june1)}, 0, ReasonNoncurrentOnly},
	} {
		if ev, ok := parsed(t, c.rules).Next(c.b, c.stack, c.i, june1); ok || ev.Reason != c.want {
			t.Errorf("%s: got %s %s, want %s", c.rules, ev.Kind, ev.Reason, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		Kind(99).String(): "invalid", Provider(99).String(): "invalid", Provider(Unknown).String(): "unknown",
		Versioning(Unknown).String(): "unknown", Off.String(): "off", Suspended.String(): "suspended",
		LocalStack.String(): "LocalStack", Transition.String(): "transition", Missing.String(): "missing",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if MinIO.Caveat() == "" || RGW.Caveat() == "" || Provider(Unknown).Caveat() == "" || AWS.Caveat() != "" {
		t.Error("caveats")
	}
}

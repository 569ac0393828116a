package lifecycle

import (
	"testing"
	"time"
)

func TestTimelines(t *testing.T) {
	enabled := Bucket{Provider: AWS, Versioning: Enabled}
	suspended := Bucket{Provider: AWS, Versioning: Suspended}
	unread := data("v", june1)
	unread.TagsKnown = false
	for _, c := range []struct {
		name, rules string
		b           Bucket
		stack       []Version
		now         time.Time
		want        string
	}{
		{"a tie takes two days", rule("a", `"Transitions":[{"Days":3,"StorageClass":"GLACIER"}]`) + "," + rule("e", `"Expiration":{"Days":3}`),
			enabled, []Version{data("v", june1)}, june1,
			"2024-06-05T00:00 transition v by a (GLACIER)\n2024-06-06T00:00 hide v by e"},
		{"no versions, no tie", rule("a", `"Transitions":[{"Days":3,"StorageClass":"GLACIER"}]`) + "," + rule("e", `"Expiration":{"Days":3}`),
			Bucket{Provider: AWS, Versioning: Off}, []Version{data("", june1)}, june1, "2024-06-05T00:00 expire  by e"},
		{"a null version leaves a marker that goes by its own age", rule("e", `"Expiration":{"Days":3}`),
			suspended, []Version{data(NullVersion, june1)}, june1,
			"2024-06-05T00:00 expire null by e\n2024-06-08T00:00 remove-marker null by e"},
		{"a marker over older versions stays", rule("e", `"Expiration":{"Days":3}`),
			suspended, []Version{data(NullVersion, june1), data("v1", june1)}, june1, "2024-06-05T00:00 expire null by e"},
		{"late S3: what is overdue runs now, the rest follows from now", rule("e", `"Expiration":{"Days":3},"NoncurrentVersionExpiration":{"NoncurrentDays":2}`),
			enabled, []Version{data("v2", june1), data("v1", june1)}, june15,
			"2024-06-04T00:00 destroy-noncurrent v1 by e\n2024-06-05T00:00 hide v2 by e\n" +
				"2024-06-18T00:00 destroy-noncurrent v2 by e\n2024-06-19T00:00 remove-marker marker-1 by e"},
		{"a marker that becomes lone goes in the same run", rule("n", `"NoncurrentVersionExpiration":{"NoncurrentDays":2},"Expiration":{"ExpiredObjectDeleteMarker":true}`),
			enabled, []Version{marker("m", june1), data("v1", june1)}, june1,
			"2024-06-04T00:00 destroy-noncurrent v1 by n\n2024-06-04T00:00 remove-marker m by n"},
		{"doubt is inherited", `{"ID":"t","Status":"Enabled","Filter":{"Tag":{"Key":"a","Value":"b"}},"Expiration":{"Days":3}},` +
			rule("n", `"NoncurrentVersionExpiration":{"NoncurrentDays":2},"Expiration":{"ExpiredObjectDeleteMarker":true}`),
			enabled, []Version{unread}, june1,
			"2024-06-05T00:00 hide v by t (tags not read)\n2024-06-07T00:00 destroy-noncurrent v by n (tags not read)\n" +
				"2024-06-07T00:00 remove-marker marker-1 by n (tags not read)"},
		{"the whole stack at once", rule("all", `"Expiration":{"Days":3,"ExpiredObjectAllVersions":true}`),
			Bucket{Provider: MinIO, Versioning: Enabled}, []Version{data("v2", june1), data("v1", june1)}, june1, "2024-06-05T00:00 expire v2 by all"},
		{"a replaced version keeps its date", rule("n", `"NoncurrentVersionExpiration":{"NoncurrentDays":2}`),
			enabled, []Version{data("v3", june15), data("v2", june1), data("v1", june1)}, june15,
			"2024-06-04T00:00 destroy-noncurrent v1 by n\n2024-06-18T00:00 destroy-noncurrent v2 by n"},
		{"zero noncurrent days wait for the day after hiding", rule("r", `"Expiration":{"Days":3},"NoncurrentVersionTransitions":[{"NoncurrentDays":0,"StorageClass":"GLACIER"}]`),
			enabled, []Version{data("v", june1)}, june1,
			"2024-06-05T00:00 hide v by r\n2024-06-06T00:00 transition v by r (GLACIER)"},
		{"nothing", "", enabled, []Version{data("v", june1)}, june1, ""},
		{"nobody", rule("e", `"Expiration":{"Days":3}`), enabled, nil, june1, ""},
	} {
		if got := lines(parsed(t, c.rules).Timeline(c.b, c.stack, c.now)); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestTimelineIsTheEarliestCourse(t *testing.T) {
	c := parsed(t, rule("r", `"Expiration":{"Days":3},"NoncurrentVersionExpiration":{"NoncurrentDays":2}`))
	b := Bucket{Provider: AWS, Versioning: Enabled}
	stack := []Version{data("v", june1)}
	early, late := c.Follow(b, stack, june1, 0), c.Follow(b, stack, june1, time.Hour)
	want := "2024-06-05T00:00 hide v by r\n2024-06-08T00:00 destroy-noncurrent v by r\n2024-06-09T00:00 remove-marker marker-1 by r"
	if got := lines(late.Events); got != want {
		t.Errorf("late:\n%s", got)
	}
	if got := early.Events[0].Until; !got.Equal(at(t, "2024-06-07T00:00:00Z")) {
		t.Errorf("time to undo ends %s", got)
	}
	if ev := early.Events[1]; !ev.Ambiguous || !ev.Latest.Equal(ev.At.Add(day)) {
		t.Errorf("a marker stamped at midnight is ambiguous: %+v", ev)
	}
	if len(early.Final) != 0 || len(stack) != 1 || stack[0].DeleteMarker {
		t.Errorf("final %v, stack %v", early.Final, stack)
	}
}

func TestEventRun(t *testing.T) {
	e := Event{At: june1}
	if !e.Run(june15).Equal(june15) || !e.Run(june1.Add(-day)).Equal(june1) {
		t.Error("an event runs at its date, or now if that has passed")
	}
}

// Long stacks are rare and must not hang the caller.
func TestTimelineOfALongStack(t *testing.T) {
	c := parsed(t, rule("r", `"Expiration":{"Days":3},"NoncurrentVersionExpiration":{"NoncurrentDays":2}`))
	var stack []Version
	for i := range 2000 {
		stack = append(stack, data("v", june1.Add(-time.Duration(i)*time.Hour)))
	}
	if got := len(c.Timeline(Bucket{Provider: AWS, Versioning: Enabled}, stack, june1)); got != 2002 {
		t.Errorf("%d events", got)
	}
}

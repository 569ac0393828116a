package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// at reads an instant.
func at(t testing.TB, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// parsed reads a configuration, given as its rules in JSON.
func parsed(t testing.TB, rules string) Configuration {
	t.Helper()
	c, err := Parse([]byte(`{"TransitionDefaultMinimumObjectSize":"` + AllClasses128K + `","Rules":[` + rules + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rule is an enabled rule on the whole bucket.
func rule(id, action string) string {
	return fmt.Sprintf(`{"ID":%q,"Status":"Enabled","Filter":{},%s}`, id, action)
}

// data is a version of a megabyte without tags.
func data(id string, modified time.Time) Version {
	return Version{Key: "k", VersionID: id, Size: 1 << 20, LastModified: modified, TagsKnown: true}
}

// marker is a delete marker.
func marker(id string, modified time.Time) Version {
	return Version{Key: "k", VersionID: id, LastModified: modified, DeleteMarker: true}
}

// line writes an event for comparison.
func line(e Event) string {
	s := fmt.Sprintf("%s %s %s by %s", e.At.Format("2006-01-02T15:04"), e.Kind, e.VersionID, e.Rule)
	for _, more := range []string{e.Class, e.Unsure} {
		if more != "" {
			s += " (" + more + ")"
		}
	}
	return s
}

// lines writes events, one a line.
func lines(events []Event) string {
	var all []string
	for _, e := range events {
		all = append(all, line(e))
	}
	return strings.Join(all, "\n")
}

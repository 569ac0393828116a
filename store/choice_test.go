package store

import (
	"slices"
	"testing"
	"time"

	"backstop/audit"
)

// A choice takes what it says, the newest first, and nothing that cannot be read.
func TestChoice(t *testing.T) {
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	o := &audit.Observation{Queue: audit.Is([]audit.Command{{Body: audit.Is(audit.Document{Body: []byte(`{"timestamp":"1","restoreBackup":{"backup":"b"}}`)})}})}
	for i, name := range []string{"a", "b", "c", "d", "archived", "empty", "half"} {
		taken := noon.Add(time.Duration(i-10) * time.Minute)
		s := audit.Snapshot{Name: name, Taken: taken, Data: &audit.Object{Key: name, Size: 1000, LastModified: taken}, Meta: &audit.Object{LastModified: taken}}
		switch name {
		case "archived":
			s.Data.StorageClass = "GLACIER"
		case "empty":
			s.Data.Size = 0
		case "half":
			s.Meta = nil
		}
		o.Listing.Value.Snapshots = append(o.Listing.Value.Snapshots, s)
	}
	o.Listing.State = audit.Set
	known := func(name string, at time.Duration) audit.Examined {
		return audit.Examined{Name: name, Key: name, Size: 1000, Depth: audit.Parsed, Condition: audit.Intact, At: noon.Add(-at)}
	}
	for _, c := range []struct {
		choice string
		known  []audit.Examined
		want   []string
	}{
		{"newest", nil, []string{"b"}}, // the newest complete one is empty: nothing to read
		{"new", nil, []string{"b", "d", "c", "a"}},
		{"new", []audit.Examined{known("b", 1), known("c", 2)}, []string{"d", "a"}},
		{"newest", []audit.Examined{known("b", 1)}, nil},
		{"all", []audit.Examined{known("a", 3*time.Hour), known("b", time.Hour), known("c", 2*time.Hour)}, []string{"b", "d", "a", "c"}},
		{"1/1", nil, []string{"b", "d", "c", "a"}},
	} {
		choice, err := ParseChoice(c.choice)
		if err != nil {
			t.Fatal(err)
		}
		o.Verification.Snapshots = c.known
		var got []string
		for _, s := range choice.Of(o, noon) {
			got = append(got, s.Name)
		}
		if !slices.Equal(got, c.want) || choice.String() != c.choice {
			t.Errorf("%s, of which %d are known: got %q, want %q", choice, len(c.known), got, c.want)
		}
	}
}

package lifecycle

import (
	"testing"
	"time"
)

func TestMatches(t *testing.T) {
	tagged := Version{Key: "a/b", Size: 100, TagsKnown: true, Tags: map[string]string{"k": "v", "empty": ""}}
	unread := Version{Key: "a/b", Size: 100}
	gone := Version{Key: "a/b", DeleteMarker: true, Size: 999}
	for _, c := range []struct {
		name, selection string
		v               Version
		want            Match
	}{
		{"neither", `"x":1`, tagged, Yes},
		{"own prefix", `"Prefix":"a/"`, tagged, Yes},
		{"own prefix of another", `"Prefix":"b/"`, tagged, No},
		{"own prefix besides an empty one", `"Prefix":"b/","Filter":{"Prefix":""}`, tagged, No},
		{"own prefix besides another", `"Prefix":"b/","Filter":{"Prefix":"a"}`, tagged, Yes},
		{"slash in front", `"Filter":{"Prefix":"/a"}`, tagged, No},
		{"no wildcard", `"Filter":{"Prefix":"*"}`, tagged, No},
		{"asterisk in key", `"Filter":{"Prefix":"*"}`, Version{Key: "*x"}, Yes},
		{"tag", `"Filter":{"Tag":{"Key":"k","Value":"v"}}`, tagged, Yes},
		{"tag case", `"Filter":{"Tag":{"Key":"K","Value":"v"}}`, tagged, No},
		{"empty value", `"Filter":{"Tag":{"Key":"empty","Value":""}}`, tagged, Yes},
		{"empty value of absent tag", `"Filter":{"Tag":{"Key":"none","Value":""}}`, tagged, No},
		{"tags not read", `"Filter":{"Tag":{"Key":"k","Value":"v"}}`, unread, Unknown},
		{"tags not read, size excludes", `"Filter":{"And":{"ObjectSizeGreaterThan":100,"Tags":[{"Key":"k","Value":"v"}]}}`, unread, No},
		{"tags not read, prefix excludes", `"Filter":{"And":{"Prefix":"z","Tags":[{"Key":"k","Value":"v"}]}}`, unread, No},
		{"marker has no tags", `"Filter":{"Tag":{"Key":"k","Value":"v"}}`, gone, No},
		{"marker is empty", `"Filter":{"ObjectSizeLessThan":1}`, gone, Yes},
		{"marker is not large", `"Filter":{"ObjectSizeGreaterThan":0}`, gone, No},
		{"bounds exclude themselves", `"Filter":{"ObjectSizeLessThan":100}`, tagged, No},
		{"not understood", `"Filter":{"Suffix":"b"}`, tagged, Unknown},
		{"not understood, prefix excludes", `"Filter":{"And":{"Prefix":"b","Suffix":"b"}}`, tagged, No},
		{"side by side", `"Filter":{"Prefix":"a","ObjectSizeLessThan":50}`, tagged, No},
		{"side by side with And", `"Filter":{"Prefix":"b","And":{"Prefix":"a"}}`, tagged, No},
		{"malformed size", `"Filter":{"ObjectSizeLessThan":"big"}`, tagged, Unknown},
	} {
		cfg := parsed(t, `{"Status":"Disabled",`+c.selection+`}`)
		if got := cfg.Rules[0].Matches(c.v); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	if No.String() != "no" || Yes.String() != "yes" || Match(Unknown).String() != "unknown" {
		t.Error("names")
	}
}

func TestMarkersUnderOtherProviders(t *testing.T) {
	old := marker("m", time.Date(2024, 1, 1, 1, 0, 0, 0, time.UTC))
	bySize := parsed(t, `{"ID":"s","Status":"Enabled","Filter":{"ObjectSizeGreaterThan":1},"Expiration":{"Days":1}}`)
	byTag := parsed(t, `{"ID":"t","Status":"Enabled","Filter":{"Tag":{"Key":"k","Value":"v"}},"Expiration":{"ExpiredObjectDeleteMarker":true}}`)
	byDate := parsed(t, rule("d", `"Expiration":{"Date":"2024-02-01"}`))
	for _, c := range []struct {
		name     string
		cfg      Configuration
		provider Provider
		want     bool
	}{
		{"size, AWS", bySize, AWS, false}, {"size, MinIO", bySize, MinIO, true}, {"size, unknown", bySize, Unknown, true},
		{"tag, AWS", byTag, AWS, false}, {"tag, RGW", byTag, RGW, true},
		{"date, AWS", byDate, AWS, true}, {"date, MinIO", byDate, MinIO, false}, {"date, unknown", byDate, Unknown, true},
		{"no rule, AWS", Configuration{}, AWS, false}, {"no rule, B2", Configuration{}, B2, true},
	} {
		_, ok := c.cfg.Next(Bucket{Versioning: Enabled, Provider: c.provider}, []Version{old}, 0, old.LastModified)
		if ok != c.want {
			t.Errorf("%s: marker removed %v, want %v", c.name, ok, c.want)
		}
	}
}

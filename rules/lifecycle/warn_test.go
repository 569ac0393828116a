package lifecycle

import (
	"strings"
	"testing"
)

// warned writes the identifiers of warnings with their rules.
func warned(warnings []Warning) string {
	var all []string
	for _, w := range warnings {
		all = append(all, strings.TrimSuffix(w.ID+":"+w.Rule, ":"))
	}
	return strings.Join(all, " ")
}

func TestWarnings(t *testing.T) {
	plain := Bucket{Provider: AWS, Versioning: Off}
	enabled := Bucket{Provider: AWS, Versioning: Enabled}
	prefixed := func(id, prefix, action string) string {
		return `{"ID":"` + id + `","Status":"Enabled","Filter":{"Prefix":"` + prefix + `"},` + action + `}`
	}
	for _, c := range []struct {
		name, rules string
		b           Bucket
		want        string
	}{
		{"nothing", prefixed("a", "x/", `"Expiration":{"Days":1}`), plain, ""},
		{"whole bucket", rule("a", `"Expiration":{"Days":1}`), plain, "EXPIRE_WHOLE_BUCKET:a"},
		{"disabled", `{"ID":"a","Status":"Disabled","Filter":{},"Expiration":{"Days":1}}`, plain, ""},
		{"no id", `{"Status":"Enabled","Filter":{"Prefix":"x"},"Expiration":{"Days":1}}`, plain, "ID_MISSING:rule 1"},
		{"dates", prefixed("a", "x/", `"Expiration":{"Date":"2030-01-01"}`), plain, "DATE_RULE:a"},
		{"past dates", prefixed("a", "x/", `"Transitions":[{"Date":"2020-01-01","StorageClass":"GLACIER_IR"}]`), plain, "DATE_RULE:a DATE_IN_PAST:a"},
		{"count", prefixed("a", "x/", `"NoncurrentVersionExpiration":{"NoncurrentDays":1,"NewerNoncurrentVersions":200}`) + "," +
			prefixed("b", "", `"NoncurrentVersionExpiration":{"NoncurrentDays":9},"Expiration":{"ExpiredObjectDeleteMarker":true}`), enabled,
			"NEWER_NONCURRENT_ABOVE_DOCUMENTED:a COUNT_UNDERMINED:a"},
		{"count of other keys", prefixed("a", "x/", `"NoncurrentVersionExpiration":{"NoncurrentDays":1,"NewerNoncurrentVersions":2}`) + "," +
			prefixed("b", "y/", `"NoncurrentVersionExpiration":{"NoncurrentDays":9},"Expiration":{"ExpiredObjectDeleteMarker":true}`), enabled, ""},
		{"longer", prefixed("a", "x/", `"Expiration":{"Days":99}`) + "," + prefixed("b", "", `"Expiration":{"Days":9}`), plain,
			"LONGER_RULE_NO_PROTECTION:a EXPIRE_WHOLE_BUCKET:b"},
		{"suspended", prefixed("a", "x/", `"Expiration":{"Days":1}`), Bucket{Provider: AWS, Versioning: Suspended}, "NO_NONCURRENT_RULE SUSPENDED_DESTROYS"},
		{"lock", prefixed("a", "x/", `"Expiration":{"Days":1},"NoncurrentVersionExpiration":{"NoncurrentDays":1}`),
			Bucket{Provider: AWS, Versioning: Enabled, ObjectLock: true}, "LOCK_DOES_NOT_HIDE"},
		{"tiering", "", Bucket{Provider: AWS, IntelligentTiering: []Tiering{{Status: "Enabled"}}}, "IT_ARCHIVE_TIER"},
		{"markers", prefixed("a", "x/", `"NoncurrentVersionExpiration":{"NoncurrentDays":1}`), enabled, "MARKERS_ACCUMULATE"},
		{"no versions", prefixed("a", "x/", `"NoncurrentVersionExpiration":{"NoncurrentDays":1}`), plain, "NO_EFFECT:a"},
		{"extension", prefixed("a", "x/", `"DelMarkerExpiration":{"Days":1}`), plain, "MINIO_EXTENSION:a"},
		{"size", `{"ID":"a","Status":"Enabled","Filter":{"And":{"Prefix":"x","ObjectSizeGreaterThan":131071}},"Transitions":[{"Days":1,"StorageClass":"GLACIER"}]}`, plain, ""},
	} {
		if got := warned(parsed(t, c.rules).Warnings(c.b, june15)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestDrops(t *testing.T) {
	live := parsed(t, rule("a", `"Expiration":{"Days":1}`)+","+rule("b", `"Expiration":{"Days":1}`))
	if got := warned(parsed(t, rule("b", `"Expiration":{"Days":9}`)).Drops(live)); got != "DROPS_EXISTING_RULE:a" {
		t.Error(got)
	}
}

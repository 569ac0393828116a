package lifecycle

import (
	"fmt"
	"strings"
	"testing"
)

// verdict writes the problems, one a line.
func verdict(problems []Problem) string {
	var all []string
	for _, p := range problems {
		all = append(all, strings.TrimSpace(p.Code+" "+p.Field))
	}
	return strings.Join(all, "\n")
}

func TestValidate(t *testing.T) {
	r := func(action string) string { return rule("r", action) }
	filtered := func(filter, action string) string {
		return fmt.Sprintf(`{"ID":"r","Status":"Enabled","Filter":%s,%s}`, filter, action)
	}
	old := func(id, prefix, action string) string {
		return fmt.Sprintf(`{"ID":%q,"Status":"Enabled","Prefix":%q,%s}`, id, prefix, action)
	}
	const expire, abort = `"Expiration":{"Days":7}`, `"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":7}`
	for _, c := range []struct{ rules, want string }{
		{r(expire), ""},
		{``, "MalformedXML Rules"},
		{`{"Status":"Enabled","Filter":{},` + expire + `}`, ""},
		{filtered(`{"Prefix":"a","Tag":{"Key":"k","Value":"v"}}`, expire), "MalformedXML Filter"},
		{filtered(`{"And":{}}`, expire), "MalformedXML Filter.And"},
		{filtered(`{"And":{"Tags":[{"Key":"k","Value":"v"}]}}`, expire), "MalformedXML Filter.And"},
		{filtered(`{"And":{"Tags":[{"Key":"k","Value":"v"},{"Key":"l","Value":"v"}]}}`, expire), ""},
		{filtered(`{"And":{"ObjectSizeGreaterThan":9,"ObjectSizeLessThan":9}}`, expire), "InvalidRequest ObjectSizeGreaterThan"},
		{filtered(`{"ObjectSizeGreaterThan":1099511627776001}`, expire), "InvalidRequest ObjectSizeGreaterThan"},
		{filtered(`{"ObjectSizeGreaterThan":0}`, expire), ""},
		{filtered(`{"Tag":{"Key":"k","Value":"v"}}`, `"Expiration":{"ExpiredObjectDeleteMarker":true}`), "InvalidRequest Expiration.ExpiredObjectDeleteMarker"},
		{filtered(`{"And":{"Prefix":"","ObjectSizeLessThan":9}}`, `"Expiration":{"ExpiredObjectDeleteMarker":true}`), "InvalidRequest Expiration.ExpiredObjectDeleteMarker"},
		{filtered(`{"Tag":{"Key":"k","Value":"v"}}`, abort), "InvalidRequest AbortIncompleteMultipartUpload"},
		{r(`"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":0}`), "InvalidArgument AbortIncompleteMultipartUpload.DaysAfterInitiation"},
		{r(`"AbortIncompleteMultipartUpload":{}`), "MalformedXML AbortIncompleteMultipartUpload.DaysAfterInitiation"},
		{r(`"Expiration":{"Days":-1}`), "InvalidArgument Expiration.Days"},
		{r(`"Expiration":{"Days":"x"}`), "MalformedXML Expiration.Days"},
		{r(`"Expiration":{"Date":"2030-01-01T00:00:00+02:00"}`), "InvalidArgument Expiration.Date"},
		{r(`"Expiration":{"Days":7},"Expiration":{"Days":7}`), "MalformedXML Expiration"},
		{r(`"Transitions":[{"StorageClass":"GLACIER"}]`), "MalformedXML Transitions"},
		{r(`"Transitions":[{"Days":1,"Date":"2030-01-01","StorageClass":"GLACIER"}]`), "MalformedXML Transitions"},
		{r(`"Transitions":[{"Days":1,"StorageClass":"STANDARD"}]`), "InvalidArgument Transitions.StorageClass"},
		{r(`"Transitions":[{"Days":1,"StorageClass":"REDUCED_REDUNDANCY"}]`), "InvalidArgument Transitions.StorageClass"},
		{r(`"Transitions":[{"Days":-1,"StorageClass":"GLACIER"}]`), "InvalidArgument Transitions.Days"},
		{r(`"Transitions":[{"Days":29,"StorageClass":"ONEZONE_IA"}]`), "InvalidArgument Transitions.Days"},
		{r(`"Transitions":[{"Days":30,"StorageClass":"STANDARD_IA"},{"Days":59,"StorageClass":"GLACIER"}]`), "InvalidArgument Transitions.Days"},
		{r(`"Transitions":[{"Days":90,"StorageClass":"DEEP_ARCHIVE"},{"Days":0,"StorageClass":"GLACIER_IR"}]`), ""},
		{r(`"Transitions":[{"Days":5,"StorageClass":"GLACIER"},{"Days":5,"StorageClass":"DEEP_ARCHIVE"}]`), "InvalidArgument Transitions.Days"},
		{r(`"Transitions":[{"Date":"2030-01-02","StorageClass":"GLACIER"},{"Date":"2030-01-01","StorageClass":"DEEP_ARCHIVE"}]`), "InvalidArgument Transitions.Date"},
		{r(`"Transitions":[{"Date":"2030-01-01","StorageClass":"GLACIER"},{"Date":"2030-01-01","StorageClass":"DEEP_ARCHIVE"}]`), "InvalidArgument Transitions.Date"},
		{r(`"Transitions":[{"Date":"2030-01-01T01:00:00Z","StorageClass":"GLACIER"}]`), "InvalidArgument Transitions.Date"},
		{r(`"Transitions":[{"Date":"2030-01-01","StorageClass":"GLACIER_IR"},{"Days":200,"StorageClass":"DEEP_ARCHIVE"}]`), "InvalidRequest Transitions"},
		{r(`"Transitions":[{"Days":7,"StorageClass":"GLACIER"}],` + expire), "InvalidArgument Expiration.Days"},
		{r(`"Transitions":[{"Days":6,"StorageClass":"GLACIER"}],` + expire), ""},
		{r(`"Transitions":[{"Date":"2030-01-01","StorageClass":"GLACIER"}],"Expiration":{"Date":"2030-01-01"}`), "InvalidArgument Expiration.Date"},
		{r(`"Transitions":[{"Date":"2030-01-01","StorageClass":"GLACIER"}],` + expire), "InvalidRequest Expiration"},
		{r(`"Transitions":[{"Days":1,"StorageClass":"GLACIER"}],"Expiration":{"Date":"2030-01-01"}`), "InvalidRequest Expiration"},
		{r(`"Transitions":[{"Date":"2030-01-01","StorageClass":"GLACIER"}],"Expiration":{"ExpiredObjectDeleteMarker":true}`), ""},
		{r(`"NoncurrentVersionExpiration":{"NoncurrentDays":9,"NewerNoncurrentVersions":500}`), ""},
		{r(`"NoncurrentVersionTransitions":[{"NoncurrentDays":1,"StorageClass":"GLACIER","NewerNoncurrentVersions":0}]`), "InvalidArgument NoncurrentVersionTransitions.NewerNoncurrentVersions"},
		{r(`"NoncurrentVersionTransitions":[{"NoncurrentDays":9,"StorageClass":"GLACIER"}],"NoncurrentVersionExpiration":{"NoncurrentDays":9}`), "InvalidArgument NoncurrentVersionExpiration.NoncurrentDays"},
		{r(`"NoncurrentVersionTransitions":[{"NoncurrentDays":9,"StorageClass":"GLACIER"}],"Transitions":[{"Days":0,"StorageClass":"GLACIER"}]`), ""},
		{r(`"NoncurrentVersionTransitions":[{"NoncurrentDays":9,"StorageClass":"GLACIER"},{"NoncurrentDays":99,"StorageClass":"GLACIER"}]`), "InvalidRequest NoncurrentVersionTransitions.StorageClass"},
		{r(`"NoncurrentVersionTransitions":[{"NoncurrentDays":9,"StorageClass":"GLACIER"},{"NoncurrentDays":90,"StorageClass":"DEEP_ARCHIVE"}]`), "InvalidArgument NoncurrentVersionTransitions.NoncurrentDays"},
		{r(`"Unheard":{}`), "MalformedXML Unheard"},
		{r(`"Transition":{"Days":1,"StorageClass":"GLACIER"}`), ""},
		{r(`"Expiration":{"Days":1,"ExpiredObjectAllVersions":true}`), "MalformedXML Expiration.ExpiredObjectAllVersions"},
		{old("a", "x/", expire) + "," + old("b", "y/", expire), ""},
		{old("a", "x/", expire) + "," + old("b", "x/y", abort), ""},
		{old("a", "x/", abort) + "," + old("b", "x/y", abort), "InvalidRequest Prefix"},
		{old("a", "x/", `"Transitions":[{"Days":1,"StorageClass":"GLACIER"}]`) + "," + old("b", "x", `"Transitions":[{"Days":9,"StorageClass":"GLACIER"}]`), "InvalidRequest Prefix"},
		{old("a", "x/", `"NoncurrentVersionExpiration":{"NoncurrentDays":9}`) + "," + old("b", "x", `"NoncurrentVersionExpiration":{"NoncurrentDays":8}`), "InvalidRequest Prefix"},
		{old("a", "x/", `"NoncurrentVersionExpiration":{"NoncurrentDays":9}`) + "," + old("b", "x", `"NoncurrentVersionTransitions":[{"NoncurrentDays":1,"StorageClass":"GLACIER"}]`), ""},
		{old("a", "x/", expire) + "," + old("b", "", `"Expiration":{"ExpiredObjectDeleteMarker":true}`), ""},
		{old("a", "x/", `"NoncurrentVersionTransitions":[{"NoncurrentDays":9,"StorageClass":"GLACIER","NewerNoncurrentVersions":1}]`), "InvalidRequest NoncurrentVersionTransitions.NewerNoncurrentVersions"},
	} {
		got := parsed(t, c.rules).Validate()
		if verdict(got) != c.want {
			t.Errorf("%s: got %s, want %s", c.rules, verdict(got), c.want)
		}
		for _, p := range got {
			if !strings.HasSuffix(p.Message, ".") || p.Index < 0 != (p.Rule == "") {
				t.Errorf("%s: %+v", c.rules, p)
			}
		}
	}
}

func TestValidateSize(t *testing.T) {
	c := Configuration{}
	for range maxRules {
		c.Rules = append(c.Rules, Rule{Status: "Enabled", Filter: &Filter{}, Expiration: &Expiration{Days: new(1)}})
	}
	if got := c.Validate(); len(got) != 0 {
		t.Errorf("a thousand rules: %v", got)
	}
	c.Rules = append(c.Rules, c.Rules[0])
	if got := c.Validate(); len(got) != 1 || got[0].Field != "Rules" || got[0].OrCode != CodeInvalidRequest {
		t.Errorf("a thousand and one: %v", got)
	}
}

// S3 reads the form before the values, so that is what it complains of.
func TestValidateOrder(t *testing.T) {
	c := parsed(t, rule("r", `"Expiration":{"Days":0}`)+","+rule("r", `"Expiration":{}`))
	want := "MalformedXML Expiration\nInvalidArgument Expiration.Days\nInvalidArgument ID"
	if got := verdict(c.Validate()); got != want {
		t.Errorf("got %s", got)
	}
}

func TestValidateForBucket(t *testing.T) {
	directory, mfa := Bucket{Provider: AWS, DirectoryBucket: true}, Bucket{Provider: AWS, Versioning: Enabled, MFADelete: true}
	for _, c := range []struct {
		rules string
		b     Bucket
		want  string
	}{
		{rule("r", `"Expiration":{"Days":1}`), directory, ""},
		{rule("r", `"Expiration":{"Date":"2030-01-01"}`), directory, "Expiration.Date"},
		{rule("r", `"Expiration":{"ExpiredObjectDeleteMarker":true}`), directory, "Expiration.ExpiredObjectDeleteMarker"},
		{`{"ID":"r","Status":"Enabled","Filter":{"Tag":{"Key":"k","Value":"v"}},"Expiration":{"Days":1}}`, directory, "Filter.Tag"},
		{rule("r", `"Expiration":{"Days":1}`), mfa, "InvalidBucketState MFADelete"},
	} {
		if got := verdict(parsed(t, c.rules).ValidateFor(c.b)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.rules, got, c.want)
		}
	}
}

package lifecycle

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

const xmlEverything = `<?xml version="1.0" encoding="UTF-8"?>
<!-- as a server prints it -->
<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Rule>
    <Status>Enabled</Status>
    <ID>one</ID>
    <Filter><And><Prefix>a/</Prefix><Tag><Key>k</Key><Value>v</Value></Tag><Tag><Key>l</Key><Value></Value></Tag>
      <ObjectSizeGreaterThan>500</ObjectSizeGreaterThan><ObjectSizeLessThan>64000</ObjectSizeLessThan></And></Filter>
    <Transition><Days>30</Days><StorageClass>STANDARD_IA</StorageClass></Transition>
    <Transition><Days>90</Days><StorageClass>GLACIER</StorageClass></Transition>
    <Expiration><Days> 365 </Days></Expiration>
    <NoncurrentVersionTransition><NoncurrentDays>30</NoncurrentDays><StorageClass>GLACIER</StorageClass></NoncurrentVersionTransition>
    <NoncurrentVersionExpiration><NoncurrentDays>60</NoncurrentDays><NewerNoncurrentVersions>5</NewerNoncurrentVersions></NoncurrentVersionExpiration>
    <AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload>
  </Rule>
  <Rule><Filter>
  </Filter><Status>Disabled</Status><Expiration><Date>2030-01-01T00:00:00.000Z</Date></Expiration></Rule>
  <Rule><Prefix/><Status>Enabled</Status><Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration></Rule>
</LifecycleConfiguration>`

const jsonEverything = `{"Rules": [
  {"ID": "one", "Status": "Enabled",
   "Filter": {"And": {"Prefix": "a/", "Tags": [{"Key": "k", "Value": "v"}, {"Key": "l", "Value": ""}],
     "ObjectSizeGreaterThan": 500, "ObjectSizeLessThan": 64000}},
   "Transitions": [{"Days": 30, "StorageClass": "STANDARD_IA"}, {"Days": 90, "StorageClass": "GLACIER"}],
   "Expiration": {"Days": 365},
   "NoncurrentVersionTransitions": [{"NoncurrentDays": 30, "StorageClass": "GLACIER"}],
   "NoncurrentVersionExpiration": {"NoncurrentDays": 60, "NewerNoncurrentVersions": 5},
   "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}},
  {"Status": "Disabled", "Filter": {}, "Expiration": {"Date": "2030-01-01T00:00:00+00:00"}},
  {"Status": "Enabled", "Prefix": "", "Expiration": {"ExpiredObjectDeleteMarker": true}}]}`

func TestParseFormsAgree(t *testing.T) {
	want := Configuration{Rules: []Rule{
		{ID: "one", Position: 1, Status: "Enabled",
			Filter: &Filter{And: &Predicates{Prefix: new("a/"), Tags: []Tag{{"k", "v"}, {"l", ""}},
				ObjectSizeGreaterThan: new(int64(500)), ObjectSizeLessThan: new(int64(64000))}},
			Transitions:           []TransitionAction{{Days: new(30), StorageClass: "STANDARD_IA"}, {Days: new(90), StorageClass: "GLACIER"}},
			Expiration:            &Expiration{Days: new(365)},
			NoncurrentTransitions: []NoncurrentTransitionAction{{NoncurrentDays: new(30), StorageClass: "GLACIER"}},
			NoncurrentExpiration:  &NoncurrentExpiration{NoncurrentDays: new(60), NewerNoncurrentVersions: new(5)},
			AbortMultipart:        &AbortMultipart{DaysAfterInitiation: new(7)}},
		{Position: 2, Status: "Disabled", Filter: &Filter{},
			Expiration: &Expiration{Date: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}},
		{Position: 3, Status: "Enabled", Prefix: new(""), Expiration: &Expiration{ExpiredObjectDeleteMarker: new(true)}},
	}}
	wrapped := `{"Bucket": "b", "LifecycleConfiguration": ` + jsonEverything + `}`
	for _, doc := range []string{xmlEverything, jsonEverything, "\ufeff" + xmlEverything, "\ufeff \n" + jsonEverything, wrapped} {
		got, err := Parse([]byte(doc))
		if err != nil {
			t.Fatalf("%.40s: %v", doc, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%.40s: got %+v, want %+v", doc, got, want)
		}
	}
}

func TestParseFails(t *testing.T) {
	deepXML := strings.Repeat("<a>", 100000)
	deepJSON := `{"Rules":` + strings.Repeat("[", 100000)
	deepObject := strings.Repeat(`{"Rules":`, 100000)
	for _, doc := range []string{
		"", " \n", "Rules: []", "[]", "<", "<LifecycleConfiguration>", "<LifecycleConfiguration><Rule></LifecycleConfiguration>",
		"<NotificationConfiguration/>", "<LifecycleConfiguration/><LifecycleConfiguration/>", "{", `{"rule": []}`, `{"Rules": []} x`,
		`{"Rules": [}`, "<?xml version='1.0' encoding='EBCDIC'?><LifecycleConfiguration/>", deepXML, deepJSON, deepObject,
	} {
		if c, err := Parse([]byte(doc)); err == nil {
			t.Errorf("Parse(%.60q) = %+v, want an error", doc, c)
		}
	}
}

func TestParseRoots(t *testing.T) {
	for _, root := range []string{"LifecycleConfiguration", "LifeCycleConfiguration", "BucketLifecycleConfiguration"} {
		doc := fmt.Sprintf("<%[1]s><Rule><Status>Enabled</Status></Rule></%[1]s>", root)
		if c, err := Parse([]byte(doc)); err != nil || len(c.Rules) != 1 || len(c.Notes) != 0 {
			t.Errorf("%s: %+v, %v", root, c, err)
		}
	}
}

func TestParseNotes(t *testing.T) {
	x := func(rule string) string {
		return "<LifecycleConfiguration><Rule>" + rule + "</Rule></LifecycleConfiguration>"
	}
	j := func(rule string) string { return `{"Rules":[` + rule + `]}` }
	for _, c := range []struct {
		doc  string
		want Note
	}{
		{x("<Expiration><Days>30.5</Days></Expiration>"), Note{Malformed, 0, "Expiration.Days", "30.5"}},
		{x("<Expiration><Days/></Expiration>"), Note{Malformed, 0, "Expiration.Days", ""}},
		{x("<Expiration><Days>1</Days><Days>2</Days></Expiration>"), Note{Repeated, 0, "Expiration.Days", ""}},
		{x("<Expiration><Date>2017-13-45</Date></Expiration>"), Note{Malformed, 0, "Expiration.Date", "2017-13-45"}},
		{x("<Expiration>soon</Expiration>"), Note{Malformed, 0, "Expiration", "soon"}},
		{x("<Transitions><Days>1</Days></Transitions>"), Note{UnknownElement, 0, "Transitions", ""}},
		{x("<Filter><Tag><Key>k</Key></Tag></Filter>"), Note{Malformed, 0, "Filter.Tag", ""}},
		{x("<Expiration><ExpiredObjectAllVersions>true</ExpiredObjectAllVersions></Expiration>"),
			Note{Extension, 0, "Expiration.ExpiredObjectAllVersions", ""}},
		{x("<DelMarkerExpiration><Days>3</Days></DelMarkerExpiration>"), Note{Extension, 0, "DelMarkerExpiration", ""}},
		{x("<NoncurrentVersionExpiration><MaxNoncurrentVersions>4</MaxNoncurrentVersions></NoncurrentVersionExpiration>"),
			Note{Extension, 0, "NoncurrentVersionExpiration.MaxNoncurrentVersions", "4"}},
		{"<LifecycleConfiguration><Extra>1</Extra></LifecycleConfiguration>", Note{UnknownElement, -1, "Extra", "1"}},
		{j(`{"Filter": {"Suffix": ".tmp"}}`), Note{UnknownElement, 0, "Filter.Suffix", ".tmp"}},
		{j(`{"Expiration": {"Days": 3, "Days": 30}}`), Note{Repeated, 0, "Expiration.Days", ""}},
		{j(`{"Transition": {"Days": 3}}`), Note{OldName, 0, "Transition", ""}},
		{j(`{"Transitions": [{"Days": 1}], "Transitions": [{"Days": 2}]}`), Note{Repeated, 0, "Transitions", ""}},
		{j(`{"Status": {"a": 1}}`), Note{Malformed, 0, "Status", ""}},
		{j(`{"Expiration": {"ExpiredObjectDeleteMarker": "maybe"}}`), Note{Malformed, 0, "Expiration.ExpiredObjectDeleteMarker", "maybe"}},
	} {
		got, err := Parse([]byte(c.doc))
		if err != nil || len(got.Notes) != 1 || got.Notes[0] != c.want {
			t.Errorf("%s: notes %+v, %v; want %+v", c.doc, got.Notes, err, c.want)
		}
	}
}

func TestParseDates(t *testing.T) {
	want := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, date := range []string{`"2030-01-01T00:00:00Z"`, `"2030-01-01T00:00:00.000Z"`, `"2030-01-01T00:00:00+00:00"`, `"2030-01-01"`,
		`"2030-01-01T02:00:00+02:00"`, `"2030-01-01T00:00:00"`, `"20300101T000000Z"`, `1893456000`, `1893456000.0`} {
		c, err := Parse([]byte(`{"Rules":[{"Expiration":{"Date":` + date + `}}]}`))
		if err != nil || !c.Rules[0].Expiration.Date.Equal(want) {
			t.Errorf("%s: %+v, %v", date, c, err)
		}
	}
}

// A document can be long without being deep; nothing may take quadratic time.
func TestParseLongDocuments(t *testing.T) {
	const n = 30000
	for _, doc := range []string{
		"<LifecycleConfiguration>" + strings.Repeat("<Rule/>", n) + "</LifecycleConfiguration>",
		"<LifecycleConfiguration><Rule>" + strings.Repeat("a<!---->", n) + "</Rule></LifecycleConfiguration>",
		`{"Rules":[{` + strings.Repeat(`"a":1,`, n) + `"b":1}]}`,
		`{"Rules":[` + strings.Repeat(`{"ID":"a"},`, n) + `{}]}`,
	} {
		begin := time.Now()
		c, err := Parse([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		c.Validate()
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%.40s took %s", doc, took)
		}
	}
}

func TestRuleName(t *testing.T) {
	for _, c := range []struct {
		r    Rule
		want string
	}{{Rule{ID: "a", Position: 2}, "a"}, {Rule{Position: 3}, "rule 3"}, {Rule{}, "rule"}} {
		if got := c.r.Name(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	c := Configuration{Rules: []Rule{{}, {}}}
	if got := c.name(1); got != "rule 2" {
		t.Errorf("got %q", got)
	}
}

package lifecycle

import "testing"

func TestParseExpirationHeader(t *testing.T) {
	for _, c := range []struct {
		header, date, rule string
	}{
		{`expiry-date="Fri, 21 Dec 2012 00:00:00 GMT", rule-id="prune"`, "2012-12-21T00:00:00Z", "prune"},
		{`rule-id="prune", expiry-date="Fri, 21 Dec 2012 00:00:00 GMT"`, "2012-12-21T00:00:00Z", "prune"},
		{`expiry-date="Fri, 21 Dec 2012 00:00:00 GMT", rule-id="Rule%20for%20testfile"`, "2012-12-21T00:00:00Z", "Rule for testfile"},
		{`expiry-date="Fri, 21 Dec 2012 00:00:00 GMT", rule-id="Rule for 100%"`, "2012-12-21T00:00:00Z", "Rule for 100%"},
		{`expiry-date="Fri, 21 Dec 2012 00:00:00 GMT", rule-id="say "no""`, "2012-12-21T00:00:00Z", `say "no"`},
		{`expiry-date="Fri, 21 Dec 2012 00:00:00 GMT"`, "2012-12-21T00:00:00Z", ""},
		{`expiry-date="2012-12-21T00:00:00Z", rule-id="iso"`, "2012-12-21T00:00:00Z", "iso"},
		{`expiry-date="soon", rule-id="a"`, "", ""},
		{`expiry-date="Fri, 21 Dec 2012`, "", ""},
		{`NotImplemented`, "", ""},
		{``, "", ""},
	} {
		date, rule, ok := ParseExpirationHeader(c.header)
		if ok != (c.date != "") || rule != c.rule || ok && !date.Equal(at(t, c.date)) {
			t.Errorf("%s: %s, %q, %v", c.header, date, rule, ok)
		}
	}
}

func TestExpirationHeaderLeavesDoubtOut(t *testing.T) {
	c := parsed(t, `{"ID":"t","Status":"Enabled","Filter":{"Tag":{"Key":"a","Value":"b"}},"Expiration":{"Days":1}},`+
		rule("e", `"Expiration":{"Days":9}`))
	v := data("v", at(t, "2024-06-05T12:00:00Z"))
	v.TagsKnown = false
	date, name, ok := c.ExpirationHeader(Bucket{Provider: AWS, Versioning: Off}, v)
	if !ok || name != "e" || !date.Equal(at(t, "2024-06-15T00:00:00Z")) {
		t.Errorf("got %s %s %v", date, name, ok)
	}
	if _, _, ok := c.ExpirationHeader(Bucket{Provider: AWS, DirectoryBucket: true}, v); ok {
		t.Error("a directory bucket announces nothing")
	}
	if _, _, ok := c.ExpirationHeader(Bucket{Provider: AWS}, marker("m", v.LastModified)); ok {
		t.Error("a delete marker announces nothing")
	}
}

func TestExpirationHeaderNamesAPastDate(t *testing.T) {
	c := parsed(t, rule("d", `"Expiration":{"Date":"2024-06-03T00:00:00Z"}`))
	date, name, ok := c.ExpirationHeader(Bucket{Provider: AWS, Versioning: Off}, data("", at(t, "2024-06-05T12:00:00Z")))
	if !ok || name != "d" || !date.Equal(at(t, "2024-06-03T00:00:00Z")) {
		t.Errorf("got %s %s %v", date, name, ok)
	}
}

package lifecycle

import (
	"strconv"
	"strings"
	"time"
)

// httpDates are the date formats of HTTP, and ISO 8601 for servers that do not
// keep to them.
var httpDates = []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.RFC3339}

// ParseExpirationHeader reads x-amz-expiration, in which S3 itself announces
// when and by which rule a current version expires:
//
//	expiry-date="Fri, 23 Dec 2026 00:00:00 GMT", rule-id="prune"
//
// It is an oracle for the package's own dates. The API reference says that the
// rule id is URL-encoded; recorded answers show it plain; both are taken. It
// reports false where there is no date.
//
// Absence proves nothing: S3 leaves the header out for requests with a version
// id, noncurrent versions, transitions and rules about delete markers
// (recorded).
func ParseExpirationHeader(header string) (date time.Time, rule string, ok bool) {
	value, found := quoted(header, "expiry-date")
	if !found {
		return time.Time{}, "", false
	}
	for _, layout := range httpDates {
		if t, err := time.Parse(layout, value); err == nil {
			rule, _ = quoted(header, "rule-id")
			return t.UTC(), unescape(rule), true
		}
	}
	return time.Time{}, "", false
}

// quoted returns a quoted parameter. An id may contain quotes, so the last one
// before the other parameter or the end closes it.
func quoted(header, name string) (string, bool) {
	_, rest, ok := strings.Cut(header, name+`="`)
	if !ok {
		return "", false
	}
	for _, other := range []string{`", expiry-date="`, `", rule-id="`} {
		if before, _, ok := strings.Cut(rest, other); ok {
			return before, true
		}
	}
	end := strings.LastIndexByte(rest, '"')
	if end < 0 {
		return "", false
	}
	return rest[:end], true
}

// unescape resolves %XX sequences. Text that is not entirely in that encoding
// was not encoded and stays.
func unescape(s string) string {
	parts := strings.Split(s, "%")
	for i, part := range parts[1:] {
		if len(part) < 2 {
			return s
		}
		b, err := strconv.ParseUint(part[:2], 16, 8)
		if err != nil {
			return s
		}
		parts[i+1] = string([]byte{byte(b)}) + part[2:]
	}
	return strings.Join(parts, "")
}

// ExpirationHeader predicts what S3 answers in x-amz-expiration to a request
// for the current version without a version id: the earliest expiration by days
// or date and the rule stored first among equals (recorded). It reports false
// where the header is absent, and leaves out rules of which it cannot tell
// whether they match.
func (c Configuration) ExpirationHeader(b Bucket, current Version) (date time.Time, rule string, ok bool) {
	if current.DeleteMarker || b.DirectoryBucket {
		return time.Time{}, "", false
	}
	rd := b.Provider.reading()
	e := evaluation{rd: rd}
	for i := range c.Rules {
		r := &c.Rules[i]
		if m, _ := r.matches(&current, &rd); m != Yes || !r.Enabled() || r.Expiration == nil {
			continue
		}
		if at, found := e.announced(r.Expiration, current.LastModified); found && (!ok || at.Before(date)) {
			date, rule, ok = at, c.name(i), true
		}
	}
	return date, rule, ok
}

// announced is the earlier date of an expiration by days or date. A date that
// has passed is announced as it is, though the object be younger (measured on
// Ceph RGW 16.2.15).
func (e *evaluation) announced(x *Expiration, created time.Time) (time.Time, bool) {
	at, ok := time.Time{}, false
	if x.Days != nil {
		at, _ = e.due(created, *x.Days)
		ok = true
	}
	if !x.Date.IsZero() && (!ok || x.Date.Before(at)) {
		at, ok = x.Date, true
	}
	return at, ok
}

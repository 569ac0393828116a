package lifecycle

import (
	"strconv"
	"strings"
	"time"
)

// single returns the only child of the name, nil if there is none.
func (b *builder) single(n *node, path, name string) *node {
	all := n.all(name)
	if len(all) == 0 {
		return nil
	}
	if len(all) > 1 {
		b.note(Repeated, join(path, name), "")
	}
	return all[0]
}

// list returns the children that make up a list. XML repeats the singular name,
// JSON has an array under the plural; the other name is taken with a note.
func (b *builder) list(n *node, path, singular, plural string) []*node {
	proper, other, why := plural, singular, OldName
	if b.xml {
		proper, other, why = singular, plural, UnknownElement
	}
	all := n.all(proper, other)
	for _, c := range all {
		switch {
		case c.name == other:
			b.note(why, join(path, other), "")
		case c.repeated:
			b.note(Repeated, join(path, c.name), "")
		}
	}
	return all
}

// text returns the value of a child as written, nil if it is absent.
func (b *builder) text(n *node, path, name string) *string {
	c := b.single(n, path, name)
	switch {
	case c == nil:
		return nil
	case len(c.children) > 0 || !c.scalar && !b.xml:
		b.note(Malformed, join(path, name), "")
		return nil
	}
	return new(string(c.text))
}

// class returns a storage class, empty if absent.
func (b *builder) class(n *node, path string) string {
	if s := b.text(n, path, "StorageClass"); s != nil {
		return *s
	}
	return ""
}

// trimmed is text without the space around it.
func (b *builder) trimmed(n *node, path, name string) (string, bool) {
	s := b.text(n, path, name)
	if s == nil {
		return "", false
	}
	return strings.TrimSpace(*s), true
}

// size returns a whole number, nil if it is absent or malformed.
func (b *builder) size(n *node, path, name string) *int64 {
	s, ok := b.trimmed(n, path, name)
	if !ok {
		return nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		b.note(Malformed, join(path, name), s)
		return nil
	}
	return &v
}

// number is size for day and version counts.
func (b *builder) number(n *node, path, name string) *int {
	v := b.size(n, path, name)
	if v == nil {
		return nil
	}
	return new(int(*v))
}

// flag returns a boolean, nil if it is absent or malformed.
func (b *builder) flag(n *node, path, name string) *bool {
	s, ok := b.trimmed(n, path, name)
	if !ok {
		return nil
	}
	switch s {
	case "true", "1":
		return new(true)
	case "false", "0":
		return new(false)
	}
	b.note(Malformed, join(path, name), s)
	return nil
}

// dateLayouts are the ISO 8601 forms that servers and tools write.
var dateLayouts = []string{time.RFC3339Nano, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700",
	"20060102T150405Z0700"}

// date returns an instant in UTC, zero if it is absent or malformed.
func (b *builder) date(n *node, path, name string) time.Time {
	s, ok := b.trimmed(n, path, name)
	if !ok {
		return time.Time{}
	}
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil && !t.IsZero() {
			return t.UTC()
		}
	}
	if t, ok := epoch(s); ok && !b.xml {
		return t
	}
	b.note(Malformed, join(path, name), s)
	return time.Time{}
}

// epoch reads seconds since 1970, which SDKs write into JSON.
func epoch(s string) (time.Time, bool) {
	const year9999 = 253402300799
	seconds, err := strconv.ParseFloat(s, 64)
	if err != nil || !(seconds >= 0 && seconds <= year9999) {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(seconds * 1000)).UTC(), true
}

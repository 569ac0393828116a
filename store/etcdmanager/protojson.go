package etcdmanager

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A field is a field of a message: its two names, and how to read its value.
type field struct {
	camel, snake string
	read         func(*reader) error
}

func textField(camel, snake string, to *string) field {
	return field{camel, snake, func(r *reader) (err error) {
		*to, err = r.text("a string for " + camel)
		return err
	}}
}

func intField[T int32 | int64](camel, snake string, to *T) field {
	bits := 64
	if _, short := any(to).(*int32); short {
		bits = 32
	}
	return field{camel, snake, func(r *reader) error {
		n, err := r.integer(camel, bits)
		*to = T(n)
		return err
	}}
}

// objectField is a message in a message. begin is called when there is one, and
// gives its fields.
func objectField(camel, snake string, begin func() []field) field {
	return field{camel, snake, func(r *reader) error {
		return r.object(camel, begin())
	}}
}

// A reader reads JSON as package protojson of google.golang.org/protobuf does.
// It goes only as deep as the fields it is given, and past no value that it has
// no field for, so nesting in the input cannot make it recurse.
type reader struct {
	in []byte
	at int
}

// readDocument reads an object that is all of b.
func readDocument(b []byte, fields []field) error {
	r := reader{in: b}
	if err := r.object("", fields); err != nil {
		return err
	}
	if r.space(); r.at < len(r.in) {
		return r.expected(r.at, "the end")
	}
	return nil
}

// object reads the value of the field called name; the outermost has no name.
func (r *reader) object(name string, fields []field) error {
	if !r.skip('{') {
		if name != "" {
			name = " for " + name
		}
		return r.expected(r.at, `"{"`+name)
	}
	if r.skip('}') {
		return nil
	}
	seen := make([]bool, len(fields))
	for {
		if err := r.member(fields, seen); err != nil {
			return err
		}
		if r.skip('}') {
			return nil
		}
		if !r.skip(',') {
			return r.expected(r.at, `"," or "}"`)
		}
	}
}

// member reads a name and the value that belongs to it.
func (r *reader) member(fields []field, seen []bool) error {
	r.space()
	start := r.at
	name, err := r.text("a field name")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(fields, func(f field) bool { return name == f.camel || name == f.snake })
	if i < 0 {
		names := make([]string, len(fields))
		for i, f := range fields {
			names[i] = f.camel
		}
		return r.expected(start, "the field "+strings.Join(names, " or "))
	}
	// A null, or the other spelling, counts.
	if seen[i] {
		return r.expected(start, fields[i].camel+" only once")
	}
	seen[i] = true
	if !r.skip(':') {
		return r.expected(r.at, `":"`)
	}
	r.space()
	// If more than null follows, the caller trips over it.
	if bytes.HasPrefix(r.in[r.at:], []byte("null")) {
		r.at += len("null")
		return nil
	}
	return fields[i].read(r)
}

// integer reads a whole number of so many bits, which may be quoted, and may be
// written with a fraction or an exponent.
func (r *reader) integer(name string, bits int) (int64, error) {
	start := r.at
	refuse := func() (int64, error) {
		return 0, r.expected(start, fmt.Sprintf("a whole number of %d bits for %s", bits, name))
	}
	var num number
	if start < len(r.in) && r.in[start] == '"' {
		s, err := r.text("a number")
		if err != nil {
			return 0, err
		}
		var n int
		num, n = scanNumber(s)
		if n == 0 || n < len(s) {
			return refuse()
		}
	} else {
		var n int
		num, n = scanNumber(string(r.in[start:]))
		if n == 0 {
			return refuse()
		}
		// If more than a number follows, the caller trips over it.
		r.at += n
	}
	n, ok := num.integer(bits)
	if !ok {
		return refuse()
	}
	return n, nil
}

// text reads a string; what says what it is good for.
func (r *reader) text(what string) (string, error) {
	if r.at == len(r.in) || r.in[r.at] != '"' {
		return "", r.expected(r.at, what)
	}
	r.at++
	var out []byte
	for r.at < len(r.in) {
		c, n := utf8.DecodeRune(r.in[r.at:])
		switch {
		case c == utf8.RuneError && n == 1:
			return "", r.expected(r.at, "UTF-8")
		case c < ' ':
			return "", r.expected(r.at, "a control character to be escaped")
		case c == '"':
			r.at++
			return string(out), nil
		case c == '\\':
			c, err := r.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, c)
		default:
			out = append(out, r.in[r.at:r.at+n]...)
			r.at += n
		}
	}
	return "", r.expected(r.at, "the end of the string")
}

// escape reads an escape sequence, or the two that make a surrogate pair.
func (r *reader) escape() (rune, error) {
	rest := r.in[r.at:]
	if len(rest) >= 2 && rest[1] == 'u' {
		c, ok := hexEscape(rest)
		n := 6
		if ok && utf16.IsSurrogate(c) {
			low, _ := hexEscape(rest[n:])
			c = utf16.DecodeRune(c, low)
			ok = c != unicode.ReplacementChar
			n = 12
		}
		if !ok {
			return 0, r.expected(r.at, `\u and the code of a character`)
		}
		r.at += n
		return c, nil
	}
	if len(rest) >= 2 {
		const letters, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
		if i := strings.IndexByte(letters, rest[1]); i >= 0 {
			r.at += 2
			return rune(meanings[i]), nil
		}
	}
	return 0, r.expected(r.at, `an escape sequence (\" \\ \/ \b \f \n \r \t \u)`)
}

// hexEscape reads \u and four hexadecimal digits.
func hexEscape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	c, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(c), err == nil
}

// skip goes past white space, and past c if that comes next.
func (r *reader) skip(c byte) bool {
	r.space()
	if r.at < len(r.in) && r.in[r.at] == c {
		r.at++
		return true
	}
	return false
}

// space goes past white space.
func (r *reader) space() {
	for r.at < len(r.in) && strings.IndexByte(" \n\r\t", r.in[r.at]) >= 0 {
		r.at++
	}
}

// expected makes the error of what should be at an offset, and what is.
func (r *reader) expected(at int, what string) error {
	found := "the end"
	if at < len(r.in) {
		found = fmt.Sprintf("%#q", excerpt(r.in[at:]))
	}
	return fmt.Errorf("offset %d: expected %s, found %s", at, what, found)
}

// excerpt gives the string, word or character at the beginning of b, but no
// more than an error has room for.
func excerpt(b []byte) string {
	b = b[:min(len(b), 40)]
	n := 0
	switch b[0] {
	case '"':
		for n = 1; n < len(b) && b[n] != '"'; n++ {
			if b[n] == '\\' {
				n++
			}
		}
		n++
	case '\\':
		n = len(`\u0000`)
	default:
		for n < len(b) && (isDigit(b[n]) || strings.IndexByte("+-._", b[n]) >= 0 || 'a' <= b[n]|0x20 && b[n]|0x20 <= 'z') {
			n++
		}
	}
	if n == 0 {
		_, n = utf8.DecodeRune(b)
	}
	return string(b[:min(n, len(b))])
}

package report

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable makes text that came out of a bucket safe to show: a key may hold
// line breaks, escape sequences, and marks that turn the direction of writing.
// What cannot be shown is escaped as in Go.
func Printable(s string) string {
	if strings.IndexFunc(s, unsafeRune) < 0 {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if unsafeRune(c) {
			q := strconv.QuoteToASCII(string(c))
			b.WriteString(q[1 : len(q)-1])
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

func unsafeRune(c rune) bool {
	return !unicode.IsPrint(c) || unicode.Is(unicode.Bidi_Control, c) || c == unicode.ReplacementChar
}

package etcdmanager

import (
	"strconv"
	"strings"
)

// A number is the parts of a JSON number as they are written, save that a whole
// part of 0 is empty.
type number struct {
	negative         bool
	whole, frac, exp string
}

// scanNumber reads the number at the beginning of s, and gives its length, 0 if
// there is none that can be whole.
func scanNumber(s string) (num number, length int) {
	rest := s
	if strings.HasPrefix(rest, "-") {
		num.negative, rest = true, rest[1:]
	}
	if strings.HasPrefix(rest, "0") {
		rest = rest[1:]
	} else if num.whole, rest = cutDigits(rest); num.whole == "" {
		return number{}, 0
	}
	if len(rest) >= 2 && rest[0] == '.' && isDigit(rest[1]) {
		num.frac, rest = cutDigits(rest[1:])
	}
	// protojson takes an e without digits for no exponent, so long as it is not
	// the last byte: {"memberCount":3e} is 3, and "3e" is nothing.
	if len(rest) >= 2 && (rest[0] == 'e' || rest[0] == 'E') {
		sign := ""
		if rest = rest[1:]; rest[0] == '+' || rest[0] == '-' {
			sign, rest = rest[:1], rest[1:]
		}
		num.exp, rest = cutDigits(rest)
		if sign != "" && num.exp == "" {
			return number{}, 0
		}
		num.exp = sign + num.exp
	}
	return num, len(s) - len(rest)
}

// integer gives the number if it is whole and fits.
func (num number) integer(bits int) (int64, bool) {
	frac := strings.TrimRight(num.frac, "0")
	digits := num.whole + frac
	if digits == "" {
		return 0, true
	}
	var exp int64
	if num.exp != "" {
		var err error
		if exp, err = strconv.ParseInt(num.exp, 10, 32); err != nil {
			return 0, false
		}
	}
	// protojson counts digits, with leading zeros, before it looks at them.
	const maxDigits = 20
	if int64(len(num.whole))+exp > maxDigits {
		return 0, false
	}
	if zeros := exp - int64(len(frac)); zeros >= 0 {
		digits += strings.Repeat("0", int(zeros))
	} else {
		keep := int64(len(digits)) + zeros
		if keep < 0 || strings.Trim(digits[keep:], "0") != "" {
			return 0, false
		}
		digits = digits[:keep]
	}
	if num.negative {
		digits = "-" + digits
	}
	n, err := strconv.ParseInt(digits, 10, bits)
	return n, err == nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// cutDigits cuts s behind the digits that it begins with.
func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return s[:i], s[i:]
}

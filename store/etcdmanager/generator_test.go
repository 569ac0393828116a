package etcdmanager

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator makes documents that are nearly right.
type generator struct{ *rand.Rand }

func (g generator) pick(of ...string) string { return of[g.IntN(len(of))] }

// rarely is the odd choice, one time in fifty.
func (g generator) rarely(usual, odd string) string {
	if g.IntN(50) == 0 {
		return odd
	}
	return usual
}

func (g generator) document() string {
	switch g.IntN(3) {
	case 0:
		return g.space() + g.spec() + g.space()
	case 1:
		return g.object(
			[2]string{g.pick("etcdVersion", "etcd_version"), g.text()},
			[2]string{"timestamp", g.number()},
			[2]string{g.pick("clusterSpec", "cluster_spec"), g.spec()})
	}
	return g.object(
		[2]string{"timestamp", g.number()},
		[2]string{g.pick("restoreBackup", "restore_backup"), g.object(
			[2]string{g.pick("clusterSpec", "cluster_spec"), g.spec()},
			[2]string{"backup", g.text()})})
}

func (g generator) spec() string {
	return g.object(
		[2]string{g.pick("memberCount", "member_count"), g.number()},
		[2]string{g.pick("etcdVersion", "etcd_version"), g.text()})
}

// object makes an object of some of the members, in any order.
func (g generator) object(members ...[2]string) string {
	g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	if g.IntN(4) == 0 {
		members = members[:g.IntN(len(members))]
	}
	if len(members) > 0 && g.IntN(50) == 0 {
		members = append(members, members[0])
	}
	var b strings.Builder
	b.WriteString("{" + g.space())
	for i, m := range members {
		if i > 0 {
			b.WriteString("," + g.space())
		}
		value := g.rarely(m[1], g.pick("null", "true", "false", "[]", "{}", `""`, "0", "nul", "NULL"))
		b.WriteString(`"` + g.rarely(m[0], g.pick("foo", "", "@type", "[etcd.x]", strings.ToUpper(m[0]), strings.ToLower(m[0]))) + `"`)
		b.WriteString(g.space() + ":" + g.space() + value + g.space())
	}
	return b.String() + "}"
}

func (g generator) space() string {
	return g.pick("", "", "", " ", "  ", "\n", "\r\n", "\t")
}

func (g generator) digits() string {
	return g.pick("0", "1", "3", "00", "10", "05", "2147483647", "2147483648", "9223372036854775807",
		"9223372036854775808", "1796061977", "1796062643731613748", "20", "19", "21", "100000000000000000000000",
		"99999999999", strings.Repeat("0", g.IntN(25)), fmt.Sprint(g.Uint64()>>g.IntN(64)))
}

// number makes a number, often one with a whole value in disguise.
func (g generator) number() string {
	n := g.pick("", "", "-") + g.pick("0", "1", "3", "3000", "1796061977")
	if g.IntN(4) == 0 {
		n = g.pick("", "-") + g.digits()
	}
	if g.IntN(6) == 0 {
		n += "." + g.pick("0", "000", g.digits())
	}
	if g.IntN(6) == 0 {
		n += g.pick("e", "E") + g.pick("", "+", "-") + g.pick(g.digits(), fmt.Sprint(g.IntN(24)), "")
	}
	n = g.rarely(n, g.pick("", "-", ".5", "+1", "Infinity", "NaN", "0x10", "1_000", n+n, n+".", n+"e"))
	if g.IntN(3) == 0 {
		n = `"` + g.rarely(n, g.pick(" "+n, n+" ", `\u0033`, n+`\n`, "\u00a0"+n, "null", `\"3\"`)) + `"`
	}
	return n
}

func (g generator) text() string {
	var b strings.Builder
	b.WriteByte('"')
	for range g.IntN(5) {
		b.WriteString(g.pick("3.6.11", "2026-11-30T18:06:17Z-000005", "é", "😀", "\uFFFD", "\u2028", "\x7f",
			`\"`, `\\`, `\/`, `\n`, `\u00e9`, `\u0000`, `\ud83d\ude00`, "{", "}", ",", ":", " "))
		b.WriteString(g.rarely("", g.pick("\n", "\x00", "\xff", "\xed\xa0\x80", "\xf4\x90\x80\x80", `\`, `\u`, `\u12`,
			`\ud83d`, `\ude00`, `\ud83d\u0041`, `\ud83dx`, `\ud83d\`, `\x41`, `\U00000041`, `"`)))
	}
	return b.String() + `"`
}

// mutate changes s a little: a byte lost, doubled, swapped or replaced, a stretch
// lost or doubled, a token put in.
func (g generator) mutate(s string) string {
	if s == "" {
		return g.token()
	}
	i := g.IntN(len(s))
	j := i + 1 + g.IntN(min(len(s)-i, 12))
	switch g.IntN(8) {
	case 0:
		return s[:i] + s[i+1:]
	case 1:
		return s[:j] + s[i:]
	case 2:
		return s[:i] + s[j:]
	case 3:
		return s[:i] + string(byte(g.IntN(256))) + s[i+1:]
	case 4:
		b := []byte(s)
		b[i] = byte(g.IntN(256))
		return string(b)
	case 5:
		return s[:i]
	case 6:
		return s[:i] + g.token() + s[j:]
	}
	return s[:i] + g.token() + s[i:]
}

func (g generator) token() string {
	return g.pick("{", "}", "[", "]", ",", ":", `"`, `\`, "null", "true", "0", "1", "-", "+", ".", "e", "E", " ", "\n",
		"\x00", "\xff", "\uFEFF", "//", "/*", `\u0041`, `\ud800`, `"memberCount"`, `"timestamp":1`, `"timestamp":null,`,
		`"etcdVersion":""`, g.number(), g.text())
}

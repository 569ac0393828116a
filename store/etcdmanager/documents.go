package etcdmanager

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A ClusterSpec is what a cluster is meant to be: message ClusterSpec of
// etcd-manager's pkg/apis/etcd/etcdapi.proto. A field that is absent, null or
// zero is all one to etcd-manager, and zero here.
type ClusterSpec struct {
	MemberCount int32
	EtcdVersion string
}

// A BackupInfo is the content of a backup's meta file: message BackupInfo of
// etcd-manager's pkg/apis/etcd/etcdapi.proto.
type BackupInfo struct {
	// EtcdVersion is the version that ran when the backup was taken.
	EtcdVersion string
	// Timestamp is when the backup was named, in whole seconds, UTC. It is the
	// zero Time if absent or 0, which are the same to etcd-manager. Any other
	// value of the document is Timestamp.Unix(), even one that no calendar
	// holds: compare such a Timestamp with others only after a look at its year.
	Timestamp time.Time
	// ClusterSpec is the spec in force at the time, nil if absent or null.
	ClusterSpec *ClusterSpec
}

// A Command is an entry of the command queue: message Command of etcd-manager's
// pkg/apis/etcd/etcdapi.proto. Its only action is restoreBackup; one with none
// is well formed and stays in the queue without effect.
type Command struct {
	// Timestamp is when the command was queued, UTC, the zero Time if absent
	// or 0.
	Timestamp time.Time
	// Nanos is the same as the document has it, Unix time in nanoseconds.
	// etcd-manager orders the queue by it, so a command without a timestamp
	// comes first (pkg/commands/vfs.go).
	Nanos int64
	// Restore is the restore that is asked for, nil if absent or null.
	Restore *RestoreBackup
}

// A RestoreBackup asks for a backup to be restored: message
// RestoreBackupCommand of etcd-manager's pkg/apis/etcd/etcdapi.proto.
type RestoreBackup struct {
	Backup string // the name of the backup, a directory of the store
	// ClusterSpec is what to restore into, nil if absent or null; without one
	// etcd-manager refuses the command (pkg/controller/controller.go).
	ClusterSpec *ClusterSpec
}

// ParseSpec reads control/etcd-cluster-spec as etcd-manager does.
//
// etcd-manager reads this document, the meta file and the commands with
// protojson.Unmarshal (pkg/apis/etcd/json.go), which is stricter than
// encoding/json: no unknown, repeated or differently cased field, nothing before
// or behind the object, no invalid UTF-8. ParseSpec, [ParseMeta] and
// [ParseCommand] accept and refuse exactly what it does since protobuf 1.36.12.
// Before, and so presumably in etcd-manager v3.0.20260707, it read only the start
// of a quoted number, "3 x" as 3 (golang/protobuf#1703); that is refused here.
//
// Their errors say what was expected, and at which offset in bytes.
func ParseSpec(b []byte) (ClusterSpec, error) {
	var s ClusterSpec
	if err := readDocument(b, s.fields()); err != nil {
		return ClusterSpec{}, err
	}
	return s, nil
}

// ParseMeta reads a backup's _etcd_backup.meta as etcd-manager does: see
// [ParseSpec]. The timestamp is Unix time in seconds (pkg/backup/vfs.go).
func ParseMeta(b []byte) (BackupInfo, error) {
	var info BackupInfo
	var seconds int64
	err := readDocument(b, []field{
		textField("etcdVersion", "etcd_version", &info.EtcdVersion),
		intField("timestamp", "timestamp", &seconds),
		specField(&info.ClusterSpec),
	})
	if err != nil {
		return BackupInfo{}, err
	}
	if seconds != 0 {
		info.Timestamp = time.Unix(seconds, 0).UTC()
	}
	return info, nil
}

// ParseCommand reads a _command.json as etcd-manager does: see [ParseSpec]. The
// timestamp is Unix time in nanoseconds (pkg/commands/vfs.go). One command that
// does not parse hides the whole queue from etcd-manager.
func ParseCommand(b []byte) (Command, error) {
	var c Command
	err := readDocument(b, []field{
		intField("timestamp", "timestamp", &c.Nanos),
		objectField("restoreBackup", "restore_backup", func() []field {
			c.Restore = new(RestoreBackup)
			return []field{
				specField(&c.Restore.ClusterSpec),
				textField("backup", "backup", &c.Restore.Backup),
			}
		}),
	})
	if err != nil {
		return Command{}, err
	}
	if c.Nanos != 0 {
		c.Timestamp = time.Unix(0, c.Nanos).UTC()
	}
	return c, nil
}

// CreatedTimestamp gives the time that control/etcd-cluster-created holds, Unix
// time in nanoseconds, UTC. ok is false where there is none, or 0.
//
// etcd-manager writes it with encoding/json and never reads it: any content but
// an empty one will do (pkg/commands/vfs.go, MarkClusterCreated and
// IsNewCluster). So no content is wrong, other fields may stand beside it, and
// the number may be quoted.
func CreatedTimestamp(b []byte) (t time.Time, ok bool) {
	var doc struct {
		Timestamp json.RawMessage `json:"timestamp"`
	}
	if json.Unmarshal(b, &doc) != nil {
		return time.Time{}, false
	}
	r := reader{in: doc.Timestamp}
	nanos, err := r.integer("timestamp", 64)
	if err != nil || nanos == 0 {
		return time.Time{}, false
	}
	return time.Unix(0, nanos).UTC(), true
}

// FormatSpec gives the bytes of control/etcd-cluster-spec as kops writes them
// (pkg/model/components/etcdmanager/model.go): json.MarshalIndent, no newline
// at the end. What etcd-manager writes differs in white space.
func FormatSpec(s ClusterSpec) []byte {
	b, err := json.MarshalIndent(struct {
		MemberCount int32  `json:"memberCount,omitempty"`
		EtcdVersion string `json:"etcdVersion,omitempty"`
	}(s), "", "  ")
	if err != nil {
		panic(err) // a number and a string always marshal
	}
	return b
}

// FormatCreated gives the bytes of control/etcd-cluster-created as etcd-manager
// writes them for a cluster that was created at t (pkg/commands/vfs.go). They
// are never empty, whatever t, but only a year from 1678 to 2262 can be told in
// nanoseconds.
func FormatCreated(t time.Time) []byte {
	return fmt.Appendf(nil, `{"timestamp":%d}`, t.UnixNano())
}

// A Version is a version of etcd, without the pre-release and build that may
// follow.
type Version struct {
	Major, Minor, Patch int
}

// ParseVersion reads MAJOR.MINOR.PATCH, each without leading zeros, as semver
// has it: a pre-release (-rc.1) and a build (+x) may follow, a v may lead.
//
// This is what names a version to etcd-manager, because it looks for the
// program in a directory of that exact name, leading v or not
// (BindirForEtcdVersion, pkg/etcd/etcdprocess.go). Where it only asks for the
// family it reads more, 3.5 as 3.5.0: [Restorable] does so too.
func ParseVersion(s string) (Version, bool) {
	return parseSemver(strings.TrimPrefix(s, "v"))
}

// Restorable says with which version of etcd etcd-manager restores a backup
// whose meta file names etcdVersion, or why it cannot. It refuses etcd 2
// (RunEtcdFromBackup, pkg/etcd/restore.go), replaces the versions it knows by
// one of the same family (EtcdVersionForRestore, pkg/etcdversions/mappings.go),
// and takes newer ones as they are. The program of that version must be there
// besides, which only the machine can tell.
//
// It finds out at the restore, when the live cluster's data is already put
// aside.
func Restorable(etcdVersion string) (restoreWith, why string, ok bool) {
	if strings.HasPrefix(etcdVersion, "2.") {
		return "", "this version of etcd-manager does not support etcd v2", false
	}
	if etcdVersion == "" {
		return "", "the meta file names no etcd version", false
	}
	v, ok := parseSemver(normalise(etcdVersion))
	if !ok {
		return "", fmt.Sprintf("%q is not a version: expected MAJOR.MINOR.PATCH", etcdVersion), false
	}
	if v.Major != 3 {
		return "", fmt.Sprintf("unknown etcd version %q: etcd-manager restores etcd 3", etcdVersion), false
	}
	switch {
	case v.Minor <= 1:
		return "3.1.12", "", true
	case v.Minor == 2 && v.Patch <= 18:
		return "3.2.18", "", true
	case v.Minor == 2:
		return "3.2.24", "", true
	case v.Minor == 3 && v.Patch <= 10:
		return "3.3.10", "", true
	case v.Minor == 3 && v.Patch <= 13:
		return "3.3.13", "", true
	case v.Minor == 3:
		return "3.3.17", "", true
	case v.Minor == 4 && v.Patch <= 3:
		return "3.4.3", "", true
	case v.Minor == 4:
		return "3.4.13", "", true
	case v.Minor == 5:
		return "3.5.30", "", true
	case v.Minor == 6:
		return "3.6.11", "", true
	}
	if _, exact := ParseVersion(etcdVersion); !exact {
		return "", fmt.Sprintf("unknown etcd version %q: expected MAJOR.MINOR.PATCH", etcdVersion), false
	}
	return strings.TrimPrefix(etcdVersion, "v"), "", true
}

// normalise makes of s what semver.ParseTolerant of github.com/blang/semver
// parses in its place: no space around, no leading v, no leading zeros, and
// zeros for what a short version leaves out.
func normalise(s string) string {
	parts := strings.SplitN(strings.TrimPrefix(strings.TrimSpace(s), "v"), ".", 3)
	for i, p := range parts {
		if len(p) > 1 {
			p = strings.TrimLeft(p, "0")
			if p == "" || p[0] < '0' || p[0] > '9' {
				p = "0" + p
			}
			parts[i] = p
		}
	}
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	return strings.Join(parts, ".")
}

// parseSemver accepts what semver.Parse of github.com/blang/semver does, except
// a number that an int cannot hold.
func parseSemver(s string) (Version, bool) {
	s, build, hasBuild := strings.Cut(s, "+")
	s, pre, hasPre := strings.Cut(s, "-")
	if hasBuild && !allIdentifiers(build, false) || hasPre && !allIdentifiers(pre, true) {
		return Version{}, false
	}
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return Version{}, false
	}
	var n [3]int
	for i, p := range parts {
		u, ok := parseNumeral(p)
		if !ok || u > math.MaxInt {
			return Version{}, false
		}
		n[i] = int(u)
	}
	return Version{n[0], n[1], n[2]}, true
}

// allIdentifiers reports whether s is identifiers of semver, joined by dots.
// Those of a pre-release are in a sense ordered, so a number among them must be
// a proper one.
func allIdentifiers(s string, preRelease bool) bool {
	for id := range strings.SplitSeq(s, ".") {
		digits := true
		for _, c := range []byte(id) {
			switch {
			case '0' <= c && c <= '9':
			case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '-':
				digits = false
			default:
				return false
			}
		}
		if id == "" {
			return false
		}
		if _, ok := parseNumeral(id); preRelease && digits && !ok {
			return false
		}
	}
	return true
}

// parseNumeral reads digits without leading zeros.
func parseNumeral(s string) (uint64, bool) {
	if len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// A field is a field of a message: its two names, and how to read its value.
type field struct {
	camel, snake string
	read         func(*reader) error
}

func (s *ClusterSpec) fields() []field {
	return []field{
		intField("memberCount", "member_count", &s.MemberCount),
		textField("etcdVersion", "etcd_version", &s.EtcdVersion),
	}
}

func specField(to **ClusterSpec) field {
	return objectField("clusterSpec", "cluster_spec", func() []field {
		*to = new(ClusterSpec)
		return (*to).fields()
	})
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

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// cutDigits cuts s behind the digits that it begins with.
func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return s[:i], s[i:]
}

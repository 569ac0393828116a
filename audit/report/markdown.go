package report

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"

	"backstop/audit"
)

// Markdown writes the report for a ticket or for a comment in CI: the verdict
// first, then a table of the stores, then what was found of each, the worst
// first, with what to do. Its tables are GitHub's; it has no HTML and no links.
func Markdown(w io.Writer, r audit.Report, o Options) error {
	m := &markdown{w: bufio.NewWriter(w)}
	m.line("# %s: %s", r.Verdict, summary(r))
	m.paragraph("Judged as of " + audit.Stamp(r.Judged) + ".")
	m.stores(shown(r, o))
	if s := leftOut(r, o); s != "" {
		m.paragraph(s)
	}
	for _, s := range shown(r, o) {
		if own := ofStore(s.Findings); len(own) > 0 {
			m.section(escaped(stateName(s))+": "+code(s.Store.URL), own)
		}
	}
	for _, b := range buckets(r.Stores) {
		m.section("Bucket "+code(b.name), b.findings)
	}
	for i, p := range r.Problems {
		if i == 0 {
			m.line("\n## Not audited")
		}
		m.line("\n### %s\n", code(p.Target))
		m.line("%s", escaped(p.Message))
		if p.Do != "" {
			m.todo([]string{p.Do})
		}
	}
	return m.w.Flush()
}

type markdown struct{ w *bufio.Writer }

// line writes a line of Markdown: what comes from a bucket has to be escaped in
// the arguments.
func (m *markdown) line(format string, args ...any) {
	fmt.Fprintf(m.w, format+"\n", args...)
}

func (m *markdown) paragraph(s string) { m.line("\n%s", escaped(s)) }

func (m *markdown) stores(stores []audit.StoreReport) {
	if len(stores) == 0 {
		return
	}
	m.line("\n| State | Verdict | Store | Snapshots | Newest |")
	m.line("| --- | --- | --- | ---: | --- |")
	for _, s := range stores {
		m.line("| %s | %s | %s | %s | %s |", escaped(stateName(s)), s.Verdict, code(s.Store.URL)+role(s), number(s), escaped(newest(s)))
	}
}

func (m *markdown) section(title string, found []audit.Finding) {
	m.line("\n## %s", title)
	for _, f := range found {
		m.finding(f)
	}
}

func (m *markdown) finding(f audit.Finding) {
	m.line("\n### %s %s", strings.ToUpper(string(f.Severity)), code(f.Rule))
	if f.Key != "" {
		subject := code(f.Key)
		if f.VersionID != "" {
			subject += " version " + code(f.VersionID)
		}
		m.line("\n%s", subject)
	}
	m.paragraph(f.Message)
	var facts []string
	if f.Observed != "" {
		facts = append(facts, "Seen: "+escaped(f.Observed))
	}
	if f.Expected != "" {
		facts = append(facts, "Expected: "+escaped(f.Expected))
	}
	for _, e := range f.Evidence {
		also := "Also: "
		if e.Rule != "" {
			also += code(e.Rule) + ": "
		}
		facts = append(facts, also+escaped(e.Message))
	}
	for i, fact := range facts {
		if i == 0 {
			m.line("")
		}
		m.line("- %s", fact)
	}
	m.todo(f.Do)
}

func (m *markdown) todo(steps []string) {
	if len(steps) == 0 {
		return
	}
	m.line("\nWhat to do:\n")
	for i, s := range steps {
		m.line("%d. %s", i+1, escaped(s))
	}
}

// code writes a name as code, within which no forge finds a mention, a
// reference, a link or an emoji. What would end the code, a table's cell, or the
// text's being text where a renderer looks for HTML first, stands between two
// pieces of code as an entity.
func code(s string) string {
	s = Printable(s)
	var b strings.Builder
	for s != "" {
		i := strings.IndexAny(s, special)
		switch i {
		case 0:
			b.WriteString(entity(s[0]))
			s = s[1:]
			continue
		case -1:
			i = len(s)
		}
		if s[0] == ' ' && s[i-1] == ' ' && strings.Trim(s[:i], " ") != "" { // one at each end would be stripped
			b.WriteString("` " + s[:i] + " `")
		} else {
			b.WriteString("`" + s[:i] + "`")
		}
		s = s[i:]
	}
	return b.String()
}

// special are the characters that are entities wherever they stand.
const special = "<>&|`"

func entity(c byte) string {
	switch c {
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '&':
		return "&amp;"
	}
	return fmt.Sprintf("&#%d;", c)
}

// A command is what a rule puts between backticks in its prose.
var command = regexp.MustCompile("(^|[ (])`([^` ](?:[^`]*[^` ])?)`($|[ .,:;)])")

// escaped writes prose so that it is shown as it is. Commands between backticks
// become code.
func escaped(s string) string {
	s = strings.Join(strings.Fields(Printable(s)), " ")
	var b strings.Builder
	for s != "" {
		at := command.FindStringSubmatchIndex(s)
		if at == nil {
			break
		}
		b.WriteString(words(s[:at[3]], b.Len() == 0))
		b.WriteString(code(s[at[4]:at[5]]))
		s = s[at[6]:]
	}
	b.WriteString(words(s, b.Len() == 0))
	return b.String()
}

// words escapes prose without commands. first says that it begins a line.
func words(s string, first bool) string {
	parts := strings.Split(s, " ")
	for i, p := range parts {
		if !catching.MatchString(p) {
			parts[i] = word(p, first && i == 0)
			continue
		}
		core := strings.TrimLeft(p, "([\"'")
		before := p[:len(p)-len(core)]
		core = strings.TrimRight(core, ".,:;)]\"'")
		after := p[len(before)+len(core):]
		parts[i] = word(before, first && i == 0) + code(core) + word(after, false)
	}
	return strings.Join(parts, " ")
}

// catching are words in which a forge finds a mention, a reference, a link, a
// formula, a command, an emoji or a dash, some of them even behind a backslash.
var catching = regexp.MustCompile(`[@#$]|://|(?i:www\.)|(?i:mailto:|xmpp:)|[!%~&^][\pL\pN_"]|:[\w+-]*[A-Za-z+-][\w+-]*:|^--|^/[a-z]`)

// word escapes one word.
func word(s string, first bool) string {
	var b strings.Builder
	for i, c := range s {
		if strings.ContainsRune(special, c) {
			b.WriteString(entity(byte(c)))
			continue
		}
		structural := strings.ContainsRune(`\*_[]{}~`, c)
		if first && i == 0 { // a list, a heading, a command to the forge
			structural = structural || strings.ContainsRune("-+=:/!", c)
		}
		if first && i > 0 && (c == '.' || c == ')') { // a numbered list
			structural = strings.Trim(s[:i], "0123456789") == ""
		}
		if structural {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

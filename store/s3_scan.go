package store

import "bytes"

// scanPage reads the answers to listings that servers really send, in a twentieth
// of the time that encoding/xml takes: an audit reads hundreds of thousands of
// entries. It knows a part of XML only: one root without attributes but S3's own
// namespace, elements without attributes, ASCII, no comments, no CDATA. It says no
// to everything else, to what is malformed, cut short or another document as well;
// encoding/xml then reads the answer and says what is wrong. So it need not tell
// the ways to be wrong apart, and what it says yes to, encoding/xml reads in the
// same way: that is what FuzzScanPage holds it to.
func scanPage(body []byte, root string) (page, bool) {
	s := scanner{in: body}
	s.take(declaration)
	s.space()
	if !s.take("<"+root+">") && !s.take("<"+root+` xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`) {
		return page{}, false
	}
	p := page{entries: make([]entry, 0, min(bytes.Count(body, []byte("<Key>")), maxPage))}
	for {
		name, leaf := s.open()
		switch {
		case s.failed:
			return page{}, false
		case name == nil:
			s.close([]byte(root))
			s.space()
			return p, !s.failed && s.at == len(s.in)
		case isEntry(root, string(name)):
			p.entries = append(p.entries, s.entry(name, leaf))
		default:
			s.pageField(&p, name, leaf)
		}
	}
}

// maxPage is how many entries a page has in S3.
const maxPage = 1000

const declaration = `<?xml version="1.0" encoding="UTF-8"?>`

// A scanner goes through a document. Once it has failed it stays so, and what it
// gives is of no use.
type scanner struct {
	in     []byte
	at     int
	failed bool
}

// pageField reads an element that concerns the whole page.
func (s *scanner) pageField(p *page, name []byte, leaf bool) {
	switch string(name) {
	case "IsTruncated":
		s.into(&p.truncated, name, leaf)
	case "EncodingType":
		s.into(&p.encoding, name, leaf)
	case "NextContinuationToken":
		s.into(&p.nextToken, name, leaf)
	case "NextKeyMarker":
		s.into(&p.nextKeyMarker, name, leaf)
	case "NextVersionIdMarker":
		s.into(&p.nextVersionMark, name, leaf)
	case "CommonPrefixes":
		s.failed = true // they are not listed often
	default:
		s.skip(name, leaf, 0)
	}
}

// entry reads the elements of an entry.
func (s *scanner) entry(name []byte, leaf bool) entry {
	e := entry{marker: string(name) == "DeleteMarker"}
	for !leaf && !s.failed {
		field, empty := s.open()
		if field == nil {
			s.close(name)
			break
		}
		switch string(field) {
		case "Key":
			s.into(&e.key, field, empty)
		case "VersionId":
			s.into(&e.version, field, empty)
		case "IsLatest":
			s.into(&e.latest, field, empty)
		case "LastModified":
			s.into(&e.modified, field, empty)
		case "ETag":
			s.into(&e.etag, field, empty)
		case "Size":
			s.into(&e.size, field, empty)
		case "StorageClass":
			s.into(&e.storage, field, empty)
		default:
			s.skip(field, empty, 0)
		}
	}
	return e
}

// into reads the text of an element that has no others in it. One that comes twice
// is for encoding/xml to judge.
func (s *scanner) into(to *[]byte, name []byte, leaf bool) {
	if *to != nil {
		s.failed = true
		return
	}
	*to = []byte{}
	if !leaf {
		*to = s.text()
		s.close(name)
	}
}

// maxScanDepth is how deep elements that nobody asks for may be nested: an owner
// has one level.
const maxScanDepth = 4

// skip goes past an element and what is in it.
func (s *scanner) skip(name []byte, leaf bool, depth int) {
	if depth == maxScanDepth {
		s.failed = true
	}
	for !leaf && !s.failed {
		s.text()
		inner, empty := s.open()
		if inner == nil {
			s.close(name)
			return
		}
		s.skip(inner, empty, depth+1)
	}
}

// open goes past white space and a start tag, and gives its name. leaf says that
// the element is empty and has ended. Before an end tag, the name is nil.
func (s *scanner) open() (name []byte, leaf bool) {
	s.space()
	rest := s.in[s.at:]
	if len(rest) < 2 || rest[0] != '<' {
		s.failed = true
		return nil, false
	}
	if rest[1] == '/' {
		return nil, false
	}
	n := 1
	for n < len(rest) && isNameByte(rest[n]) {
		n++
	}
	name = rest[1:n]
	s.at += n
	if leaf = s.take("/>"); !leaf && !s.take(">") || len(name) == 0 || name[0] <= '9' {
		s.failed = true
	}
	return name, leaf
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// close goes past the end tag of an element.
func (s *scanner) close(name []byte) {
	rest := s.in[s.at:]
	n := len(name)
	if len(rest) < n+3 || rest[0] != '<' || rest[1] != '/' || !bytes.Equal(rest[2:2+n], name) || rest[2+n] != '>' {
		s.failed = true
		return
	}
	s.at += n + 3
}

// take goes past a string if it comes next.
func (s *scanner) take(next string) bool {
	rest := s.in[s.at:]
	if len(rest) < len(next) || string(rest[:len(next)]) != next {
		return false
	}
	s.at += len(next)
	return true
}

// space goes past white space.
func (s *scanner) space() {
	for s.at < len(s.in) && (s.in[s.at] == '\n' || s.in[s.at] == ' ' || s.in[s.at] == '\t') {
		s.at++
	}
}

// text reads up to the next tag.
func (s *scanner) text() []byte {
	rest := s.in[s.at:]
	escaped := false
	for i, c := range rest {
		switch {
		case c == '<':
			s.at += i
			if escaped {
				return s.unescape(rest[:i])
			}
			return rest[:i:i]
		case c == '&':
			escaped = true
		case c < ' ' && c != '\n' && c != '\t' || c > '~' || c == '>':
			s.failed = true // line ends to make one of, UTF-8 to check, and ]]>
			return nil
		}
	}
	s.failed = true
	return nil
}

// entities are the references that listings hold; ETags have quotes.
var entities = [][2]string{{"&quot;", `"`}, {"&#34;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&#39;", "'"}, {"&apos;", "'"}}

// unescape resolves references.
func (s *scanner) unescape(text []byte) []byte {
	out := make([]byte, 0, len(text))
next:
	for len(text) > 0 {
		i := bytes.IndexByte(text, '&')
		if i < 0 {
			return append(out, text...)
		}
		out, text = append(out, text[:i]...), text[i:]
		for _, e := range entities {
			if len(text) >= len(e[0]) && string(text[:len(e[0])]) == e[0] {
				out, text = append(out, e[1]...), text[len(e[0]):]
				continue next
			}
		}
		s.failed = true
		return nil
	}
	return out
}

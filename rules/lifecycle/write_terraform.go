package lifecycle

import (
	"fmt"
	"strconv"
	"strings"
)

// Terraform writes the rules as an aws_s3_bucket_lifecycle_configuration (provider
// hashicorp/aws 4 or later) with a name for the resource. There must be no other for
// the bucket: the last writer wins. comments stand above it, a line each.
func (c Configuration) Terraform(resource, bucket string, comments ...string) ([]byte, error) {
	if err := c.Writable(); err != nil {
		return nil, fmt.Errorf("write Terraform: %w", err)
	}
	w := &terraform{}
	for _, s := range comments {
		w.line("# %s", strings.Join(strings.Fields(s), " "))
	}
	w.block("resource %s %s", []any{hclString("aws_s3_bucket_lifecycle_configuration"), hclString(resource)}, func() {
		w.line("bucket = %s", hclString(bucket))
		for i := range c.Rules {
			w.line("")
			w.rule(&c.Rules[i], c.name(i))
		}
	})
	return []byte(w.b.String()), nil
}

// terraform writes blocks with an indent.
type terraform struct {
	b     strings.Builder
	depth int
}

func (w *terraform) line(format string, args ...any) {
	if format != "" {
		w.b.WriteString(strings.Repeat("  ", w.depth))
	}
	fmt.Fprintf(&w.b, format+"\n", args...)
}

func (w *terraform) block(head string, args []any, body func()) {
	w.line(head+" {", args...)
	w.depth++
	body()
	w.depth--
	w.line("}")
}

// rule writes one rule. Terraform wants an id for each.
func (w *terraform) rule(r *Rule, name string) {
	w.block("rule", nil, func() {
		w.line("id     = %s", hclString(name))
		w.line("status = %s", hclString(r.Status))
		w.line("")
		w.filter(r)
		if x := r.Expiration; x != nil {
			w.block("expiration", nil, func() { w.expiration(x) })
		}
		for _, t := range r.Transitions {
			w.block("transition", nil, func() {
				w.number("days", t.Days)
				w.date(isoDate(t.Date))
				w.line("storage_class = %s", hclString(t.StorageClass))
			})
		}
		if x := r.NoncurrentExpiration; x != nil {
			w.block("noncurrent_version_expiration", nil, func() {
				w.number("noncurrent_days", x.NoncurrentDays)
				w.number("newer_noncurrent_versions", x.NewerNoncurrentVersions)
			})
		}
		for _, t := range r.NoncurrentTransitions {
			w.block("noncurrent_version_transition", nil, func() {
				w.number("noncurrent_days", t.NoncurrentDays)
				w.number("newer_noncurrent_versions", t.NewerNoncurrentVersions)
				w.line("storage_class = %s", hclString(t.StorageClass))
			})
		}
		if a := r.AbortMultipart; a != nil {
			w.block("abort_incomplete_multipart_upload", nil, func() { w.number("days_after_initiation", a.DaysAfterInitiation) })
		}
	})
}

func (w *terraform) expiration(x *Expiration) {
	w.number("days", x.Days)
	w.date(isoDate(x.Date))
	if x.ExpiredObjectDeleteMarker != nil {
		w.line("expired_object_delete_marker = %t", *x.ExpiredObjectDeleteMarker)
	}
}

// filter writes what the rule selects; an empty block is the whole bucket.
func (w *terraform) filter(r *Rule) {
	p, n := r.plain()
	if n == 0 {
		w.line("filter {}")
		return
	}
	w.block("filter", nil, func() {
		if n == 1 {
			w.predicates(p, false)
			return
		}
		w.block("and", nil, func() { w.predicates(p, true) })
	})
}

// predicates writes the predicates of a filter; in an and block tags are a map.
func (w *terraform) predicates(p Predicates, and bool) {
	if p.Prefix != nil {
		w.line("prefix = %s", hclString(*p.Prefix))
	}
	if p.ObjectSizeGreaterThan != nil {
		w.line("object_size_greater_than = %d", *p.ObjectSizeGreaterThan)
	}
	if p.ObjectSizeLessThan != nil {
		w.line("object_size_less_than = %d", *p.ObjectSizeLessThan)
	}
	switch {
	case len(p.Tags) == 0:
	case and:
		w.block("tags =", nil, func() {
			for _, t := range p.Tags {
				w.line("%s = %s", hclString(t.Key), hclString(t.Value))
			}
		})
	default:
		w.block("tag", nil, func() {
			w.line("key   = %s", hclString(p.Tags[0].Key))
			w.line("value = %s", hclString(p.Tags[0].Value))
		})
	}
}

func (w *terraform) number(name string, n *int) {
	if n != nil {
		w.line("%s = %s", name, itoa(n))
	}
}

func (w *terraform) date(s string) {
	if s != "" {
		w.line("date = %s", hclString(s))
	}
}

// hclString writes a string that HCL reads back as it is: it takes ${ and %{ for
// templates, and knows fewer escapes than Go.
func hclString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case (c == '$' || c == '%') && strings.HasPrefix(s[i+1:], "{"):
			b.WriteRune(c)
			b.WriteRune(c)
		case c < ' ' || c == 0x7f || c == 0xFFFD:
			b.WriteString(`\u`)
			h := strconv.FormatInt(int64(c), 16)
			b.WriteString(strings.Repeat("0", 4-len(h)) + h)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/store/snapshot"
)

// shownNamespaces is how many namespaces of a resource are written for people.
const shownNamespaces = 8

// tellCompared writes what changed for people: what changed most comes first, and
// what did not is left out.
func (p *program) tellCompared(d compared, o *options) {
	for _, v := range []verified{d.Before, d.After} {
		if v.Facts == nil {
			p.tellVerified(v, o)
		}
	}
	if d.Total == nil {
		fmt.Fprintln(p.stdout, "not compared: of what is not intact nothing is told")
		return
	}
	p.tellSide("before", d.Before)
	p.tellSide("after", d.After)
	for _, n := range d.Notes {
		fmt.Fprintf(p.stdout, "note    %s\n", n)
	}
	if d.Total.Same() {
		fmt.Fprintf(p.stdout, "\nnothing changed: the same %s with the same values\n", audit.Plural(int(d.Total.KeysAfter), "key"))
		return
	}
	fmt.Fprintln(p.stdout)
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "before\tafter\tadded\tchanged\tremoved\tbytes\t ") // the last cell is not aligned
	row(w, *d.Total, "everything")
	same := 0
	for _, r := range mostChanged(d.Resources, func(r resourceChange) snapshot.Change { return r.Change }) {
		if r.Same() {
			same++
			continue
		}
		row(w, r.Change, r.Name)
		namespaceRows(w, r.Namespaces)
	}
	_ = w.Flush() // as with every line to stdout
	if same > 0 {
		fmt.Fprintf(p.stdout, "%s did not change\n", audit.Plural(same, "resource"))
	}
}

// tellSide writes what one of the two is.
func (p *program) tellSide(side string, v verified) {
	fmt.Fprintf(p.stdout, "%-6s  %s\n        revision %d, %s, sha256 %.12s\n", side, report.Printable(v.Name), v.Facts.Revision, audit.Plural(int(v.Facts.Keys), "key"), v.Facts.SHA256)
	for _, remark := range v.Remarks {
		fmt.Fprintf(p.stdout, "        remark: %s\n", report.Printable(remark))
	}
}

// mostChanged sorts by how many keys changed in some way, the most first.
func mostChanged[T any](all []T, of func(T) snapshot.Change) []T {
	touched := func(v T) int64 { c := of(v); return c.Added + c.Changed + c.Removed }
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(touched(b), touched(a)) })
	return all
}

// namespaceRows writes the namespaces in which most changed.
func namespaceRows(w *tabwriter.Writer, all []namespaceChange) {
	all = slices.DeleteFunc(slices.Clone(all), func(n namespaceChange) bool { return n.Same() })
	all = mostChanged(all, func(n namespaceChange) snapshot.Change { return n.Change })
	for _, n := range all[:min(len(all), shownNamespaces)] {
		row(w, n.Change, "  "+n.Name)
	}
	if more := len(all) - shownNamespaces; more > 0 {
		fmt.Fprintf(w, "\t\t\t\t\t\t    and %s more (-o json has all)\n", audit.Plural(more, "namespace"))
	}
}

func row(w *tabwriter.Writer, c snapshot.Change, name string) {
	fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%s\t  %s\n", c.KeysBefore, c.KeysAfter,
		signed("+", c.Added), signed("~", c.Changed), signed("-", c.Removed), growth(c.BytesAfter-c.BytesBefore), report.Printable(name))
}

// signed writes a number with a sign, and nothing for none.
func signed(sign string, n int64) string {
	if n == 0 {
		return "."
	}
	return fmt.Sprintf("%s%d", sign, n)
}

// growth writes by how many bytes something has grown.
func growth(n int64) string {
	switch {
	case n == 0:
		return "."
	case n < 0:
		return "-" + strings.TrimSpace(size(-n))
	}
	return "+" + size(n)
}

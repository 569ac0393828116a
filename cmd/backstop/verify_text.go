package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/store/snapshot"
)

// tellVerified writes a result for people.
func (p *program) tellVerified(v verified, o *options) {
	color, _ := p.terminal(o)
	word := fmt.Sprintf("%-10s", strings.ToUpper(string(v.Verdict)))
	if color {
		word = paint[v.Verdict] + word + "\x1b[0m"
	}
	fmt.Fprintf(p.stdout, "%s  %s\n", word, report.Printable(v.Name))
	for _, line := range told(v.Result) {
		fmt.Fprintf(p.stdout, "  %s\n", report.Printable(line))
	}
}

// paint gives the colors that audit gives to OK, WARNING, CRITICAL and UNKNOWN.
var paint = map[snapshot.Verdict]string{
	snapshot.Intact: "\x1b[32m", snapshot.Restorable: "\x1b[33m", snapshot.Damaged: "\x1b[31m", snapshot.Unverified: "\x1b[35m",
}

// told says what was found, a line each.
func told(r snapshot.Result) []string {
	var lines []string
	if r.Verdict == snapshot.Unverified {
		lines = append(lines, string(r.Cause)+": "+r.Reason)
	}
	for _, d := range r.Damage {
		lines = append(lines, string(d.Cause)+": "+d.What)
	}
	if r.MoreDamage > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", r.MoreDamage))
	}
	for _, remark := range r.Remarks {
		lines = append(lines, "remark: "+remark)
	}
	if r.Facts != nil {
		lines = append(lines, facts(r.Facts)...)
	}
	return lines
}

// facts says what an intact snapshot holds.
func facts(f *snapshot.Facts) []string {
	lines := []string{
		fmt.Sprintf("revision %d, compacted to %d; %s, %s of history", f.Revision, f.CompactRevision,
			audit.Plural(int(f.Keys), "key"), audit.Plural(int(f.Revisions), "record")),
		fmt.Sprintf("%s, raft index %d%s; %s", writtenBy(f), f.ConsistentIndex, raftTerm(f), members(f)),
		fmt.Sprintf("database %s, %s in use; hash %08x, hashkv %d, sha256 %.12s", size(f.Size), size(f.InUse), f.Hash, f.HashKV, f.SHA256),
	}
	if len(f.Resources) > 0 {
		lines = append(lines, resources(f.Resources))
	}
	if f.Leases > 0 || f.LeasedKeys > 0 {
		lines = append(lines, fmt.Sprintf("%s, %s bound to one", audit.Plural(int(f.Leases), "lease"), audit.Plural(int(f.LeasedKeys), "key")))
	}
	if f.AuthEnabled {
		lines = append(lines, "etcd's authentication was on")
	}
	return lines
}

// writtenBy says which etcd wrote it, as far as that shows.
func writtenBy(f *snapshot.Facts) string {
	switch {
	case f.StorageVersion != "":
		return "etcd, storage version " + f.StorageVersion
	case f.Term != 0:
		return "etcd 3.5"
	case f.ClusterVersion != "":
		return "etcd, cluster version " + f.ClusterVersion
	}
	return "etcd 3.4 or older"
}

func raftTerm(f *snapshot.Facts) string {
	if f.Term == 0 {
		return ""
	}
	return fmt.Sprintf(", term %d", f.Term)
}

func members(f *snapshot.Facts) string {
	var names []string
	for _, m := range f.Members {
		names = append(names, cmp.Or(m.Name, "(unnamed)")+" ("+m.ID+")")
	}
	if len(names) == 0 {
		return "no members"
	}
	return strings.Join(names, ", ")
}

// resources says how many keys there are of each, the most first.
func resources(all []snapshot.Resource) string {
	const shown = 12
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b snapshot.Resource) int { return cmp.Compare(b.Keys, a.Keys) })
	var words []string
	for _, r := range all[:min(len(all), shown)] {
		words = append(words, fmt.Sprintf("%s %d", r.Name, r.Keys))
	}
	if n := len(all) - shown; n > 0 {
		words = append(words, fmt.Sprintf("%d more (-o json has all)", n))
	}
	return strings.Join(words, ", ")
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// sumUp is the last line after several snapshots.
func sumUp(all []verified) string {
	n := map[snapshot.Verdict]int{}
	for _, v := range all {
		n[v.Verdict]++
	}
	var parts []string
	for _, v := range []snapshot.Verdict{snapshot.Intact, snapshot.Restorable, snapshot.Damaged, snapshot.Unverified} {
		if n[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[v], v))
		}
	}
	return fmt.Sprintf("%s: %s", audit.Plural(len(all), "snapshot"), strings.Join(parts, ", "))
}

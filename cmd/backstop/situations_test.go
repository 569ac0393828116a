package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"backstop/audit"
)

// A situation is how a cluster's backups stand at some moment, in words, and all
// that backstop says of it. Each is built as it comes about in life, in a fake S3
// with kops's documents and a configuration where it takes them, and looked at by
// the whole program.
//
//	go test ./cmd/backstop -run Situations -v
//
// prints them by name, each with what is said of it.
type situation struct {
	name string
	is   func(w *scene)
	// want is all that is found.
	want found
	// says are words that must stand somewhere in the findings, never those
	// that must not.
	says, never []string
	// order are words of what is to be done first of all, in their order.
	order []string
}

// found says for each store, by the end of its URL, its state, its verdict, and
// every finding with its severity, the most urgent first; and for each place that
// was not audited, why.
type found map[string]string

var situations = slices.Concat(births, lives, accidents, lifecycles, oddities, kopsSays, snapshots, servers)

func TestSituations(t *testing.T) {
	names := map[string]bool{}
	for _, s := range situations {
		if names[s.name] {
			t.Errorf("%q is there twice", s.name)
		}
		names[s.name] = true
		t.Run(s.name, func(t *testing.T) {
			w := newScene(t)
			s.is(w)
			r, res := w.look()
			got := foundIn(r)
			for _, line := range lines(got) {
				t.Log(line)
			}
			if !maps.Equal(got, s.want) {
				t.Errorf("found\n  %s\nwant\n  %s\n%s", strings.Join(lines(got), "\n  "), strings.Join(lines(s.want), "\n  "), wordsOf(r))
			}
			s.checkWords(t, r)
			if v := worstOf(r); r.Verdict != v || res.code != exitOf[v] && res.code < exitUsage {
				t.Errorf("the run is %s with exit status %d, and the worst of it %s", r.Verdict, res.code, v)
			}
		})
	}
}

// mustBe are situations of which the table must have one at least, by the words that
// their names begin with.
var mustBe = []string{
	"new cluster", "planned and acknowledged reset", "hibernated nightly", "deleted cluster in a versioned bucket", "deleted with the store elsewhere",
	"copied store and the old tree", "snapshots-only archive", "replication target", "2-year ladder with the kops field absent", "HA suffixes",
	"leader restarting hourly", "rolling update", "scale 3→1 by the owner", "scale 3→1 by accident", "spec rewritten today before the roll",
	"cilium and events stores nearly empty", "shared store", "kops and backups in different buckets", "MinIO", "R2", "RGW", "Spaces",
	"Object Lock with default retention", "writer clock slow", "writer clock fast", "our clock a day off", "cleanup during our listing", "upload in progress",
}

func TestSituationsAreAllThere(t *testing.T) {
	for _, words := range mustBe {
		if !slices.ContainsFunc(situations, func(s situation) bool { return strings.HasPrefix(s.name, words) }) {
			t.Errorf("there is no situation %q", words)
		}
	}
	if len(situations) < 50 {
		t.Errorf("%d situations, want at least 50", len(situations))
	}
}

var exitOf = map[audit.Verdict]int{audit.OK: exitOK, audit.VerdictWarning: exitWarning, audit.VerdictUnknown: exitUnknown, audit.VerdictCritical: exitCritical}

// foundIn puts a report into the words of the table.
func foundIn(r audit.Report) found {
	got := found{}
	for _, s := range r.Stores {
		state := s.State.Name
		if s.State.RestorePending {
			state += "+restore-pending"
		}
		line := fmt.Sprintf("%s %s", state, s.Verdict)
		if s.Role != "" {
			line = string(s.Role) + ", " + line
		}
		for i, f := range s.Findings {
			line += []string{": ", ", "}[min(i, 1)] + string(f.Severity) + " " + f.Rule
		}
		got[shortURL(s.Store.URL)] = line
	}
	for _, p := range r.Problems {
		got["not audited: "+p.Target] = string(p.Cause)
	}
	return got
}

// shortURL leaves out what is the same in most situations.
func shortURL(u string) string {
	return strings.TrimPrefix(strings.TrimPrefix(u, "s3://kops-state/prod.example.com/backups/etcd/"), "s3://")
}

func lines(f found) []string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(f)) {
		all = append(all, k+": "+f[k])
	}
	return all
}

// worstOf is what the verdict of a run must be: the worst of its stores', and
// UNKNOWN where some place was not audited.
func worstOf(r audit.Report) audit.Verdict {
	v := audit.OK
	if len(r.Problems) > 0 || len(r.Stores) == 0 {
		v = audit.VerdictUnknown
	}
	for _, s := range r.Stores {
		if s.Verdict.Worse(v) {
			v = s.Verdict
		}
	}
	return v
}

// wordsOf is all that a report says, a line each.
func wordsOf(r audit.Report) string {
	var b strings.Builder
	for _, s := range r.Stores {
		for _, f := range s.Findings {
			fmt.Fprintf(&b, "%s %s %s\n  %s\n  seen: %s\n  expected: %s\n", f.Severity, f.Rule, f.Key, f.Message, f.Observed, f.Expected)
			for _, e := range f.Evidence {
				fmt.Fprintf(&b, "  also: %s %s\n", e.Rule, e.Message)
			}
			for _, d := range f.Do {
				fmt.Fprintf(&b, "  do: %s\n", d)
			}
		}
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "%s: %s\n  do: %s\n", p.Target, p.Message, p.Do)
	}
	return b.String()
}

func (s situation) checkWords(t *testing.T, r audit.Report) {
	t.Helper()
	text := wordsOf(r)
	for _, words := range s.says {
		if !strings.Contains(text, words) {
			t.Errorf("nothing says %q:\n%s", words, text)
		}
	}
	for _, words := range s.never {
		if strings.Contains(text, words) {
			t.Errorf("something says %q:\n%s", words, text)
		}
	}
	if len(s.order) == 0 {
		return
	}
	var steps []string
	if len(r.Stores) > 0 && len(r.Stores[0].Findings) > 0 {
		steps = r.Stores[0].Findings[0].Do
	}
	at := 0
	for _, words := range s.order {
		for at < len(steps) && !strings.Contains(steps[at], words) {
			at++
		}
		if at == len(steps) {
			t.Errorf("%q is not in its place in\n%s", words, strings.Join(steps, "\n"))
			return
		}
		at++
	}
}

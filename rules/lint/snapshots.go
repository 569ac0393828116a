package lint

import (
	"fmt"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
)

var splitsBackupPair = Rule{
	ID:         "lint/splits-backup-pair",
	Title:      "a lifecycle rule treats the two halves of a snapshot differently",
	Severities: warnOrInfo,
	configuration: func(s *subject) []audit.LintFinding {
		return s.each(func(i int) (audit.LintFinding, bool) {
			if !s.rule(i).Enabled() || s.doubtful(i) {
				return audit.LintFinding{}, false
			}
			n, example := s.split(i)
			if n == 0 {
				return audit.LintFinding{}, false
			}
			f := s.found(audit.Warning, i, "rule `%s` separates data from meta: %s. etcd-manager lists a snapshot by its meta file, so that one stays listed which cannot be restored.", s.rule(i).Name(), example)
			if n > 1 {
				f.Finding = f.Because("so in %d snapshots", n)
			}
			f.Finding = f.Todo("Take size and tag conditions out of rules for snapshots, and do not rely on the 128 KB default: use a prefix alone.")
			return f, true
		})
	},
}

// split counts the snapshots whose halves a rule takes apart, with an example.
func (s *subject) split(i int) (n int, example string) {
	c := alone(s.reading.Configuration, i)
	for _, st := range s.stores {
		b := s.lifecycleBucket(st)
		for _, p := range st.snapshots() {
			if !s.mayPart(i, p) {
				continue
			}
			data, hasData := taken(c, b, p.data)
			meta, hasMeta := taken(c, b, p.meta)
			if (hasData || hasMeta) && (hasData != hasMeta || data.Kind != meta.Kind) && doubtOf(data.Event) == "" && doubtOf(meta.Event) == "" {
				if n++; n == 1 {
					example = halves(p, data, meta, hasData, hasMeta)
				}
			}
		}
	}
	return n, example
}

// mayPart reports whether a rule may treat the halves differently: it matches one
// of them, or moves them, which S3's default for small objects may keep one from.
func (s *subject) mayPart(i int, p pair) bool {
	data, meta := s.rule(i).Matches(p.data.version), s.rule(i).Matches(p.meta.version)
	return data != meta || data != lifecycle.No && len(s.rule(i).Transitions) > 0
}

func halves(p pair, data, meta fate, hasData, hasMeta bool) string {
	half := func(t target, f fate, ok bool) string {
		if !ok {
			return fmt.Sprintf("%s (%d bytes) stays", t.version.Key, t.version.Size)
		}
		return fmt.Sprintf("%s (%d bytes) is %s", t.version.Key, t.version.Size, what(f.Event))
	}
	return half(p.data, data, hasData) + ", " + half(p.meta, meta, hasMeta)
}

var retentionShorter = Rule{
	ID:         "lint/retention-shorter-than-tool",
	Title:      "a lifecycle rule deletes snapshots that etcd-manager would keep",
	Severities: warnOrInfo,
	configuration: func(s *subject) []audit.LintFinding {
		return s.each(func(i int) (audit.LintFinding, bool) {
			x := s.rule(i).Expiration
			if x == nil || x.Days == nil || s.doubtful(i) {
				return audit.LintFinding{}, false
			}
			st := s.longestKept(i)
			if st == nil {
				return audit.LintFinding{}, false
			}
			severity, keep, whose := audit.Info, st.keepDaily(), "as etcd-manager does by itself"
			if st.Observation != nil {
				sure := false
				if keep, whose, sure = forecast.Kept(st.Observation, st.Policy.For(st.Observation), time.Duration(*x.Days)*audit.Day); sure {
					severity = audit.Warning
				}
			}
			f := s.found(severity, i, "rule `%s` leaves snapshots of %s, and one of each day is kept for %s (%s) in %s.", s.rule(i).Name(), plural(*x.Days, "day"), span(keep), whose, st.url())
			f.Finding = f.Saw(plural(*x.Days, "day"), "at least "+span(keep)).
				Todo("Let etcd-manager thin its own snapshots (backupRetentionDays in kops), or make the rule longer than that. If the shorter time is meant, say so as `keep` in the configuration.")
			return f, true
		})
	},
}

// longestKept gives the store that loses the most to a rule that is shorter than
// etcd-manager's own retention; nil where none does.
func (s *subject) longestKept(i int) *Store {
	var worst *Store
	limit := int64(*s.rule(i).Expiration.Days)
	for _, st := range s.stores {
		if days := int64(st.keepDaily() / audit.Day); days > limit && s.matchesSnapshots(st, i) && (worst == nil || st.keepDaily() > worst.keepDaily()) {
			worst = st
		}
	}
	return worst
}

func (s *subject) matchesSnapshots(st *Store, i int) bool {
	if !s.rule(i).Enabled() {
		return false
	}
	for _, p := range st.snapshots() {
		if s.rule(i).Matches(p.data.version) == lifecycle.Yes {
			return true
		}
	}
	return false
}

package lint

import (
	"fmt"
	"slices"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
	"backstop/rules/lifecycle/infra"
	"backstop/store/etcdmanager"
)

var expireControl = Rule{
	ID:         "lint/expire-control",
	Title:      "a lifecycle rule will delete or hide etcd-manager's control files",
	Severities: harm,
	supersedes: []string{"lint/expire-whole-bucket", "lint/retention-shorter-than-tool", "lint/date-rule", "lint/date-in-past", "lint/lock-does-not-hide", "lint/suspended-destroys"},
	configuration: func(s *subject) []audit.LintFinding {
		return s.each(func(i int) (audit.LintFinding, bool) {
			fates := s.fates(i, gone)
			if len(fates) == 0 {
				return audit.LintFinding{}, false
			}
			f := s.found(s.certainty(i, fates), i, "%s: it will %s %s. %s", reach(s.radius(i)), verb(earliest(fates).Event), files(fates), s.consequence(fates))
			f.Key = earliest(fates).target.version.Key
			f.Observed, f.Expected = fmt.Sprintf("%s: %s", what(earliest(fates).Event), earliest(fates).when()), "no enabled rule that matches a control file"
			f.Finding = s.supported(f.Finding, i, fates).Todo(
				s.stop()+" The rule acts on what is there already, and no narrower, longer or second rule protects a key from it.",
				s.narrow(i))
			return f, true
		})
	},
}

var archiveControl = Rule{
	ID:         "lint/archive-control",
	Title:      "a lifecycle rule will move etcd-manager's control files to a class that nobody can read",
	Severities: harm,
	supersedes: []string{"lint/archive-whole-bucket", "lint/size-filter-disables-128k-default", "lint/date-rule", "lint/date-in-past"},
	configuration: func(s *subject) []audit.LintFinding {
		return s.each(func(i int) (audit.LintFinding, bool) {
			fates := s.fates(i, archived)
			if len(fates) == 0 {
				return audit.LintFinding{}, false
			}
			first := earliest(fates)
			f := s.found(s.certainty(i, fates), i, "%s: it will move to storage class %s %s. Nobody can read that class before it is thawed: etcd-manager then ends every cycle with an error, makes no backups, and replaces no lost member.",
				reach(s.radius(i)), first.Class, files(fates))
			f.Key = first.target.version.Key
			f.Observed, f.Expected = fmt.Sprintf("%s: %s", what(first.Event), first.when()), "no transition to an archive class that matches a control file"
			f.Finding = s.supported(f.Finding, i, fates).Todo(s.stop()+" A thaw ends, and the file is unreadable again.", s.narrow(i))
			if s.reading.DefaultMinimumSize == "" {
				f.Finding = f.Todo("If S3's default for small objects is to protect them, say so in the file: \"TransitionDefaultMinimumObjectSize\": \"" + lifecycle.AllClasses128K + "\".")
			}
			return f, true
		})
	},
}

var protectedOnlyBy128K = Rule{
	ID:         "lint/protected-only-by-128k",
	Title:      "nothing but S3's default for small objects keeps a rule from archiving the control files",
	Severities: warnOrInfo,
	supersedes: []string{"lint/archive-whole-bucket"},
	configuration: func(s *subject) []audit.LintFinding {
		return s.each(func(i int) (audit.LintFinding, bool) {
			if s.reading.DefaultMinimumSize != lifecycle.AllClasses128K || len(s.fates(i, archived)) > 0 {
				return audit.LintFinding{}, false
			}
			strict := *s.reading
			strict.DefaultMinimumSize = lifecycle.VariesByClass
			would := (&subject{file: s.file, proposal: s.proposal, stores: s.stores, now: s.now, reading: &strict}).fates(i, archived)
			if len(would) == 0 {
				return audit.LintFinding{}, false
			}
			by := "the configuration says " + lifecycle.AllClasses128K
			if s.proposal.Implied {
				by = "the file does not say, and S3 then takes " + lifecycle.AllClasses128K
			}
			f := s.found(audit.Warning, i, "nothing but S3's default for objects under 128 KB keeps rule `%s` from moving to storage class %s %s (%s). A size filter in the rule, or the other default, ends that.",
				s.rule(i).Name(), earliest(would).Class, files(would), by)
			f.Finding = f.Todo(s.narrow(i))
			return f, true
		})
	},
}

// minUndo is how long an old version of a control file should be there to be
// brought back.
const minUndo = 30

var undoWindowShort = Rule{
	ID:         "lint/undo-window-short",
	Title:      "old versions of the control files are deleted too soon to undo a mistake",
	Severities: warnOrInfo,
	configuration: func(s *subject) []audit.LintFinding {
		return s.each(func(i int) (audit.LintFinding, bool) {
			x := s.rule(i).NoncurrentExpiration
			if x == nil || x.NoncurrentDays == nil || *x.NoncurrentDays >= minUndo || s.doubtful(i) || !s.matchesControl(i) || s.unversioned() {
				return audit.LintFinding{}, false
			}
			f := s.found(audit.Warning, i, "rule `%s` deletes old versions of the control files %s after they were hidden or replaced: that is all the time there is to bring them back.", s.rule(i).Name(), plural(*x.NoncurrentDays, "day"))
			f.Finding = f.Saw(plural(*x.NoncurrentDays, "day"), fmt.Sprintf("at least %d days", minUndo)).
				Todo(fmt.Sprintf("Raise NoncurrentDays to %d or more for prefixes that hold control files. They have some 50 bytes: it costs nothing.", minUndo))
			return f, true
		})
	},
}

// fates are those of the stores' control files under one rule alone, of a kind.
func (s *subject) fates(i int, kind func(lifecycle.Event) bool) []fate {
	if !s.rule(i).Enabled() {
		return nil
	}
	c := alone(s.reading.Configuration, i)
	undated := len(s.doubts(i, infra.Timing)) > 0
	var all []fate
	for _, st := range s.stores {
		for _, t := range st.control() {
			for _, e := range c.Timeline(s.lifecycleBucket(st), []lifecycle.Version{t.version}, st.Now) {
				if kind(e) {
					all = append(all, fate{Event: e, target: t, undated: undated})
					break
				}
			}
		}
	}
	return all
}

// certainty is how sure the harm is: of a rule whose scope is known, to a file of
// which everything is known that decides.
func (s *subject) certainty(i int, fates []fate) audit.Severity {
	sure := func(f fate) bool { return doubtOf(f.Event) == "" }
	if len(s.doubts(i, infra.Scope)) > 0 || !slices.ContainsFunc(fates, sure) {
		return audit.Unsure
	}
	return audit.Critical
}

// matchesControl reports whether a rule is for control files of the stores.
func (s *subject) matchesControl(i int) bool {
	if !s.rule(i).Enabled() {
		return false
	}
	for _, st := range s.stores {
		for _, t := range st.control() {
			if s.rule(i).Matches(t.version) == lifecycle.Yes {
				return true
			}
		}
	}
	return false
}

// unversioned reports whether no store's bucket was ever versioned.
func (s *subject) unversioned() bool {
	return !slices.ContainsFunc(s.stores, func(st *Store) bool { return s.lifecycleBucket(st).Versioning != lifecycle.Off })
}

// files says which control files go, and when.
func files(fates []fate) string {
	first := map[string]fate{}
	for _, f := range fates {
		if g, ok := first[f.target.path]; !ok || f.At.Before(g.At) {
			first[f.target.path] = f
		}
	}
	created, hasCreated := first[etcdmanager.CreatedPath]
	spec, hasSpec := first[etcdmanager.SpecPath]
	switch {
	case hasCreated && hasSpec && created.when() == spec.when():
		return etcdmanager.CreatedFile + " and " + etcdmanager.SpecFile + " " + created.when()
	case hasCreated && hasSpec:
		return etcdmanager.CreatedFile + " " + created.when() + ", " + etcdmanager.SpecFile + " " + spec.when()
	case hasCreated:
		return etcdmanager.CreatedFile + " " + created.when()
	}
	return etcdmanager.SpecFile + " " + spec.when()
}

// consequence says what etcd-manager does then, in the store that loses its files
// first.
func (s *subject) consequence(fates []fate) string {
	st := earliest(fates).target.store
	var created, spec time.Time
	for _, f := range fates {
		switch {
		case f.target.store != st:
		case f.target.path == etcdmanager.CreatedPath:
			created = f.At
		default:
			spec = f.At
		}
	}
	switch {
	case created.IsZero():
		return "Backups then stop when the leader next changes."
	case !spec.IsZero() && !created.Equal(spec) && earliest(fates).undated:
		return "Which of them goes first depends on the age: the cluster is reset to an empty one, with nobody touching it or by the next `kops update cluster --yes`."
	case !spec.IsZero() && forecast.OneRun(created, spec, st.Now):
		return forecast.Together(created, spec) + ": backups stop, and the next `kops update cluster --yes` or terraform apply resets the cluster to an empty one. Reset possible at once: if S3 removes created more than 10 s before spec, that needs nobody."
	case spec.IsZero(), created.Before(spec):
		return "created goes first: etcd-manager then makes a NEW, EMPTY cluster within seconds, with nobody touching it."
	}
	return "spec goes first: backups stop when the leader changes, and once created follows the next `kops update cluster --yes` resets the cluster to an empty one."
}

// supported adds what supports a finding about control files: what is not known,
// what happens in each store, and what happens today already.
func (s *subject) supported(f audit.Finding, i int, fates []fate) audit.Finding {
	if c := s.proposal.Change; c == infra.Unchanged || c == infra.Stands || c == infra.Forgets {
		f = f.Because("the rule is in force already: the code leaves it as it is")
	}
	for _, d := range s.doubts(i, infra.Scope) {
		f = f.Because("%s is known only when the code is applied; read as %s", d.Path, d.ReadAs)
	}
	for _, d := range s.doubts(i, infra.Timing) {
		f = f.Because("%s is known only when the code is applied, so that the date is not: read as %s", d.Path, d.ReadAs)
	}
	const most = 5
	for n, g := range fates {
		if n == most {
			f = f.Because("and %s more", plural(len(fates)-most, "control file"))
			break
		}
		line := fmt.Sprintf("%s: %s %s", g.target.version.Key, what(g.Event), g.when())
		if !g.target.seen {
			line += " (it was not seen there)"
		}
		if unsure := doubtOf(g.Event); unsure != "" {
			line += " (assuming the worse: " + unsure + ")"
		}
		f = f.Because("%s; %s", line, s.today(g.target))
	}
	return f
}

// today says what the rules in force do to a target.
func (s *subject) today(t target) string {
	switch before := s.before(t.store, t); {
	case before.IsSet() && !t.seen:
		return fmt.Sprintf("by the rules in force it is %s as well, by rule `%s`", before.Value.What, before.Value.Rule)
	case before.IsSet():
		return fmt.Sprintf("by the rules in force it is %s on %s, by rule `%s`", before.Value.What, stamp(before.Value.At), before.Value.Rule)
	case before.Seen():
		return "the rules in force leave it alone"
	default:
		return "the rules in force were not seen"
	}
}

// stop says what not to do.
func (s *subject) stop() string {
	if s.proposal.Change.Writes() {
		return "Do NOT apply it."
	}
	return "Disable the rule now: this change neither makes nor mends it."
}

// narrow says how to keep a rule away from the control files.
func (s *subject) narrow(i int) string {
	var prefixes []string
	for _, st := range s.stores {
		prefixes = append(prefixes, fmt.Sprintf("%q", st.key("20")))
	}
	where := "the store's prefix and the digits of the century"
	if len(prefixes) > 0 {
		where = list(prefixes)
	}
	return fmt.Sprintf("Narrow the prefix of rule `%s` so that it does not match control/. The only prefix that separates the snapshots from control/ is their year: %s, a rule for each store.", s.rule(i).Name(), where)
}

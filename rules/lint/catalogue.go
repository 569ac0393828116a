package lint

import (
	"fmt"
	"slices"
	"strings"

	"backstop/audit"
	"backstop/rules/lifecycle"
)

// This file holds the rules that package lifecycle decides by the configuration
// alone. Of a rule that touches no store they are information.

// warned makes the check of a rule that speaks where package lifecycle warns.
func warned(id string, severity audit.Severity, say func(s *subject, i int) (message string, do []string)) func(s *subject) []audit.LintFinding {
	return func(s *subject) []audit.LintFinding {
		return s.over(func() []audit.LintFinding {
			var all []audit.LintFinding
			for _, w := range s.reading.Configuration.Warnings(s.lifecycleBucket(s.any()), s.now) {
				if w.ID != id || w.Index >= 0 && s.doubtful(w.Index) {
					continue
				}
				message, do := say(s, w.Index)
				f := s.found(s.weight(severity, w.Index), w.Index, "%s", message)
				f.Finding = f.Todo(do...)
				all = append(all, f)
			}
			return all
		})
	}
}

// weight is the severity of a warning about a rule, or about the configuration.
func (s *subject) weight(severity audit.Severity, i int) audit.Severity {
	if severity == audit.Info {
		return audit.Info
	}
	if i >= 0 {
		return s.severity(i, severity)
	}
	for k := range s.reading.Rules {
		if expires(s.rule(k)) && s.severity(k, severity) == severity {
			return severity
		}
	}
	return audit.Info
}

var expireWholeBucket = Rule{
	ID:         "lint/expire-whole-bucket",
	Title:      "a lifecycle rule expires every object of the bucket",
	Severities: warnOrInfo,
	configuration: warned(lifecycle.WarnExpireWholeBucket, audit.Warning, func(s *subject, i int) (string, []string) {
		return fmt.Sprintf("rule `%s` has no condition: it expires every object of the bucket (%s). If a backup store lies in it, its control files go too.", s.rule(i).Name(), s.bucket()),
			[]string{"Give the rule a prefix, or hold it against the stores of the bucket: --against s3://BUCKET."}
	}),
}

var archiveWholeBucket = Rule{
	ID:         "lint/archive-whole-bucket",
	Title:      "a lifecycle rule archives every object of the bucket",
	Severities: warnOrInfo,
	configuration: warned(lifecycle.WarnArchiveWholeBucket, audit.Warning, func(s *subject, i int) (string, []string) {
		return fmt.Sprintf("rule `%s` has no condition: it moves every object of the bucket (%s) to a class that cannot be read before it is thawed.", s.rule(i).Name(), s.bucket()),
			[]string{"Give the rule a prefix, or hold it against the stores of the bucket: --against s3://BUCKET."}
	}),
}

var sizeFilter = Rule{
	ID:         "lint/size-filter-disables-128k-default",
	Title:      "a size condition lifts S3's default that keeps small objects from changing class",
	Severities: warnOrInfo,
	configuration: warned(lifecycle.WarnSizeFilter, audit.Warning, func(s *subject, i int) (string, []string) {
		return fmt.Sprintf("rule `%s` has a size condition that lets objects under 128 KB through. Such a condition replaces S3's default for small objects, so that the rule moves them, too.", s.rule(i).Name()),
			[]string{"Take the size condition out, or raise ObjectSizeGreaterThan to 131071."}
	}),
}

var dateRule = Rule{
	ID:         "lint/date-rule",
	Title:      "a lifecycle rule has a date: it acts on everything that is written later, too",
	Severities: warnOrInfo,
	configuration: warned(lifecycle.WarnDateRule, audit.Warning, func(s *subject, i int) (string, []string) {
		return fmt.Sprintf("rule `%s` has a date. That is not for once: from that day on it acts on every object that matches, at the first run after it was written.", s.rule(i).Name()),
			[]string{"Use days. For a clean-up of once, delete the objects, and not by a rule."}
	}),
}

var dateInPast = Rule{
	ID:         "lint/date-in-past",
	Title:      "the date of a lifecycle rule has passed: it acts at once",
	Severities: warnOrInfo,
	supersedes: []string{"lint/date-rule"},
	configuration: warned(lifecycle.WarnDateInPast, audit.Warning, func(s *subject, i int) (string, []string) {
		return fmt.Sprintf("the date of rule `%s` has passed: everything that matches is due as soon as the configuration is written, and so is whatever is written later.", s.rule(i).Name()),
			[]string{"Use days."}
	}),
}

var countUndermined = Rule{
	ID:         "lint/count-undermined",
	Title:      "another rule deletes the old versions that a rule retains",
	Severities: warnOrInfo,
	configuration: warned(lifecycle.WarnCountUndermined, audit.Warning, func(s *subject, i int) (string, []string) {
		return fmt.Sprintf("rule `%s` retains a number of old versions, and another rule for the same keys deletes them without retaining any: the number protects nothing.", s.rule(i).Name()),
			[]string{"Give NewerNoncurrentVersions to every rule for old versions of these keys, or merge them."}
	}),
}

var longerRule = Rule{
	ID:         "lint/longer-rule-no-protection",
	Title:      "a narrower, longer rule is thought to protect, and does not",
	Severities: warnOrInfo,
	configuration: warned(lifecycle.WarnLongerRule, audit.Warning, func(s *subject, i int) (string, []string) {
		return fmt.Sprintf("rule `%s` is longer than another rule that matches the same keys. The shortest rule wins: nothing exempts a key from a broader rule.", s.rule(i).Name()),
			[]string{"Narrow the broader rule. A longer one changes nothing."}
	}),
}

var suspendedDestroys = Rule{
	ID:         "lint/suspended-destroys",
	Title:      "expiration in a bucket with suspended versioning destroys what has the version null",
	Severities: warnOrInfo,
	configuration: warned(lifecycle.WarnSuspendedDestroys, audit.Warning, func(*subject, int) (string, []string) {
		return "the bucket's versioning is suspended: expiration puts a delete marker with the version null in place, which destroys what was written since. Nothing brings that back.",
			[]string{"Enable versioning before the configuration is written, or narrow its rules."}
	}),
}

var lockDoesNotHide = Rule{
	ID:         "lint/lock-does-not-hide",
	Title:      "Object Lock keeps the data and not its visibility",
	Severities: onlyInfo,
	configuration: warned(lifecycle.WarnLockDoesNotHide, audit.Info, func(*subject, int) (string, []string) {
		return "the bucket has Object Lock, and the configuration expires objects. A locked version is kept, but it is hidden under a delete marker all the same: its readers see that it is missing.",
			[]string{"Do not rely on Object Lock for control files: keep rules away from them."}
	}),
}

var tieringArchives = Rule{
	ID:         "lint/it-archive-tier",
	Title:      "Intelligent-Tiering archives objects without any lifecycle rule",
	Severities: warnOrInfo,
	configuration: func(s *subject) []audit.LintFinding {
		found := warned(lifecycle.WarnTiering, audit.Info, func(*subject, int) (string, []string) {
			return "the bucket has an Intelligent-Tiering archive configuration: objects of that class that nobody reads for 90 days or more become unreadable until they are restored, and a listing does not show it.",
				[]string{"Keep the store's prefix out of the archive configuration, or its objects out of the class."}
		})(s)
		moves := slices.ContainsFunc(s.reading.Rules, func(r lifecycle.Rule) bool {
			return r.Enabled() && slices.ContainsFunc(r.Transitions, func(t lifecycle.TransitionAction) bool { return t.StorageClass == "INTELLIGENT_TIERING" })
		})
		for i := range found {
			if moves && len(s.stores) > 0 && !s.maybe {
				found[i].Severity = audit.Warning
			}
		}
		return found
	},
}

var markersAccumulate = Rule{
	ID:         "lint/markers-accumulate",
	Title:      "nothing ever removes delete markers that have nothing beneath them",
	Severities: onlyInfo,
	configuration: warned(lifecycle.WarnMarkersAccumulate, audit.Info, func(*subject, int) (string, []string) {
		return "old versions are deleted, and the delete markers that are left over are not: they pile up, and listings become slow.",
			[]string{"Add ExpiredObjectDeleteMarker to a rule. It touches no data."}
	}),
}

var noNoncurrentRule = Rule{
	ID:         "lint/no-noncurrent-rule",
	Title:      "expiration in a versioned bucket frees nothing, because old versions are kept for ever",
	Severities: onlyInfo,
	configuration: warned(lifecycle.WarnNoNoncurrentRule, audit.Info, func(*subject, int) (string, []string) {
		return "the configuration hides objects of a versioned bucket, and nothing deletes the versions beneath: storage grows without end.",
			[]string{"Add NoncurrentVersionExpiration, of 30 days or more."}
	}),
}

var legacySchema = Rule{
	ID:         "lint/legacy-prefix-schema",
	Title:      "a rule has a Prefix of its own, which is the older form",
	Severities: onlyInfo,
	configuration: warned(lifecycle.WarnLegacySchema, audit.Info, func(s *subject, i int) (string, []string) {
		return fmt.Sprintf("rule `%s` has a Prefix of its own and no Filter. That form does not mix with the newer one, and knows no NewerNoncurrentVersions.", s.rule(i).Name()),
			[]string{"Write Filter: {Prefix: …}."}
	}),
}

var newerAboveDocumented = Rule{
	ID:         "lint/newer-noncurrent-above-documented",
	Title:      "a rule retains more old versions than S3 documents",
	Severities: onlyInfo,
	configuration: warned(lifecycle.WarnNewerAboveDocumented, audit.Info, func(s *subject, i int) (string, []string) {
		return fmt.Sprintf("rule `%s` retains more than 100 old versions, which S3's documentation excludes. S3 has been seen to take it.", s.rule(i).Name()), nil
	}),
}

var idMissing = Rule{
	ID:         "lint/id-missing",
	Title:      "a rule has no ID, so that S3 makes one up",
	Severities: onlyInfo,
	configuration: warned(lifecycle.WarnNoID, audit.Info, func(s *subject, i int) (string, []string) {
		return fmt.Sprintf("%s has no ID: S3 makes one up, and it is another one after each change. Reports and alerts cannot name the rule.", s.rule(i).Name()),
			[]string{"Give the rule an ID."}
	}),
}

var noEffect = Rule{
	ID:         "lint/no-effect",
	Title:      "a rule does nothing",
	Severities: onlyInfo,
	configuration: func(s *subject) []audit.LintFinding {
		idle := warned(lifecycle.WarnNoEffect, audit.Info, func(s *subject, i int) (string, []string) {
			return fmt.Sprintf("rule `%s` does nothing in this bucket.", s.rule(i).Name()), nil
		})(s)
		return append(idle, s.each(func(i int) (audit.LintFinding, bool) {
			near := s.nearMiss(i)
			if near == "" {
				return audit.LintFinding{}, false
			}
			prefix, _ := prefixOf(s.rule(i))
			return s.found(audit.Info, i, "rule `%s` has the prefix `%s`, which matches nothing in the store: a prefix is compared with the key's beginning, as it is. %s begins with %q.", s.rule(i).Name(), prefix, near, strings.Trim(prefix, "/*")), true
		})...)
	},
}

// nearMiss gives a key that a rule's prefix would match if S3 took it for a path
// or a pattern.
func (s *subject) nearMiss(i int) string {
	prefix, _ := prefixOf(s.rule(i))
	meant := strings.Trim(prefix, "/*")
	if meant == "" || meant == strings.TrimSuffix(prefix, "/") || !s.rule(i).Enabled() {
		return ""
	}
	for _, st := range s.stores {
		key := st.control()[0].version.Key
		if strings.HasPrefix(key, meant) && !strings.HasPrefix(key, prefix) {
			return key
		}
	}
	return ""
}

var dropsExistingRule = Rule{
	ID:         "lint/drops-existing-rule",
	Title:      "a rule that is in force is not in the proposed configuration, and so ends",
	Severities: onlyInfo,
	configuration: func(s *subject) []audit.LintFinding {
		live, ok := s.inForce()
		if !ok || s.maybe || len(s.proposal.Readings) > 1 || s.proposal.Change == "stands" {
			return nil
		}
		var all []audit.LintFinding
		for _, w := range s.reading.Configuration.Drops(live) {
			if len(s.proposal.Unknown) > 0 && len(s.reading.Rules) <= 1 {
				return nil // which rules there will be is not known
			}
			f := s.found(audit.Info, -1, "rule `%s` is in force and not in the proposed configuration. A PUT replaces the whole configuration: the rule ends.", w.Rule)
			f.LifecycleRule = w.Rule
			all = append(all, f)
		}
		return all
	},
}

// inForce gives the configuration that the proposed one replaces.
func (s *subject) inForce() (lifecycle.Configuration, bool) {
	for _, st := range s.stores {
		if live := st.live(); live.Seen() {
			return live.Value, true
		}
	}
	if s.proposal.Before != nil {
		return *s.proposal.Before, true
	}
	return lifecycle.Configuration{}, false
}

var minioExtension = Rule{
	ID:         "lint/minio-extension",
	Title:      "an element that only MinIO knows destroys every version of a key",
	Severities: []audit.Severity{audit.Critical, audit.Unsure, audit.Warning, audit.Info},
	configuration: func(s *subject) []audit.LintFinding {
		if st := s.any(); st == nil || st.provider() == lifecycle.AWS {
			return nil // S3 refuses it: lint/rejected speaks
		}
		found := warned(lifecycle.WarnMinIOExtension, audit.Warning, func(s *subject, i int) (string, []string) {
			return fmt.Sprintf("rule `%s` has an element with which MinIO deletes every version of a key, delete markers and all: nothing can be brought back.", s.rule(i).Name()),
				[]string{"Take ExpiredObjectAllVersions and DelMarkerExpiration out."}
		})(s)
		for i := range found {
			if found[i].Severity == audit.Warning && slices.ContainsFunc(s.reading.Rules, func(r lifecycle.Rule) bool {
				return r.Name() == found[i].LifecycleRule && r.Enabled() && s.matchesNamed(r.Name())
			}) {
				found[i].Severity = s.weighed(audit.LintFinding{Finding: audit.Finding{Severity: audit.Critical}}, true, "").Severity
			}
		}
		return found
	},
}

// matchesNamed is matchesControl by a rule's name.
func (s *subject) matchesNamed(name string) bool {
	return slices.ContainsFunc(s.reading.Rules, func(r lifecycle.Rule) bool { return r.Name() == name }) &&
		s.matchesControl(slices.IndexFunc(s.reading.Rules, func(r lifecycle.Rule) bool { return r.Name() == name }))
}

var rejected = Rule{
	ID:         "lint/rejected",
	Title:      "S3 would refuse the configuration, and the one in force would stay",
	Severities: []audit.Severity{audit.Warning, audit.Unsure, audit.Info},
	configuration: func(s *subject) []audit.LintFinding {
		return append(s.faults(), s.over(func() []audit.LintFinding {
			if len(s.reading.Rules) == 0 && !s.reading.Written {
				return nil // no configuration: a DELETE, and no PUT
			}
			var all []audit.LintFinding
			for _, p := range s.reading.Configuration.ValidateFor(s.lifecycleBucket(s.any())) {
				if p.Index >= 0 && s.doubtful(p.Index) {
					continue
				}
				severity, who := s.refusal(p)
				f := s.found(severity, p.Index, "%s would refuse the configuration (%s, %s): %s The change then does not land, and the rules in force stay.", who, coded(p), p.Field, p.Message)
				f.Finding = f.Todo("Mend it, and lint it again.")
				all = append(all, f)
			}
			return all
		})...)
	},
}

// refusal says how bad it is that S3 would refuse, and who would. Another server
// may take what AWS refuses: what AWS's grammar does not hold, nobody can foretell
// there.
func (s *subject) refusal(p lifecycle.Problem) (audit.Severity, string) {
	st := s.any()
	if st == nil || st.provider() == lifecycle.AWS {
		return audit.Warning, "S3"
	}
	foreign := func(n lifecycle.Note) bool {
		return n.Rule == p.Index && n.Field == p.Field && (n.Why == lifecycle.UnknownElement || n.Why == lifecycle.Malformed)
	}
	if slices.ContainsFunc(s.reading.Notes, foreign) {
		return audit.Unsure, "AWS"
	}
	return audit.Info, "AWS"
}

func coded(p lifecycle.Problem) string {
	if p.Code == "" {
		return "its code is not known"
	}
	return p.Code
}

// faults are what the tool, or the reader, does not understand.
func (s *subject) faults() []audit.LintFinding {
	var all []audit.LintFinding
	for _, fault := range s.proposal.Faults {
		all = append(all, s.found(audit.Warning, -1, "the configuration cannot be as it is written: %s.", fault))
	}
	return all
}

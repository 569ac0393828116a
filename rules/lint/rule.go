package lint

import (
	"embed"
	"fmt"
	"strings"

	"backstop/audit"
)

// A Rule is one way in which infrastructure code can harm a backup store.
type Rule struct {
	// ID is lint/what-is-wrong. It is never reused.
	ID string
	// Title says in a few words what is wrong when the rule speaks.
	Title string
	// Severities are those that the rule's findings may have.
	Severities []audit.Severity
	// supersedes are lesser rules that say of the same lifecycle rule what this
	// one says, too: their findings become evidence of this one's.
	supersedes []string
	// configuration judges one lifecycle configuration, and whole all that there
	// is. A rule has one of them.
	configuration func(s *subject) []audit.LintFinding
	whole         func(j *judgement) []audit.LintFinding
}

// May reports whether the rule declares the severity.
func (r Rule) May(s audit.Severity) bool {
	for _, d := range r.Severities {
		if d == s {
			return true
		}
	}
	return false
}

// All are the rules, in the order of the index.
var All = []Rule{
	writesSpec,
	changesControlFile,
	deletesControlFile,
	movesBackupStore,
	deletesBucket,
	expireControl,
	archiveControl,
	minioExtension,
	protectedOnlyBy128K,
	expireWholeBucket,
	archiveWholeBucket,
	sizeFilter,
	splitsBackupPair,
	retentionShorter,
	undoWindowShort,
	dateRule,
	dateInPast,
	countUndermined,
	longerRule,
	suspendedDestroys,
	lockDoesNotHide,
	tieringArchives,
	rejected,
	twoConfigurations,
	markersAccumulate,
	noNoncurrentRule,
	noEffect,
	dropsExistingRule,
	legacySchema,
	newerAboveDocumented,
	idMissing,
	unknownValue,
	unreadablePart,
	storeInTrouble,
	storeNotSeen,
	notJudged,
	nothingFound,
	remark,
}

//go:embed *.md
var pages embed.FS

// Named gives the rule of an id.
func Named(id string) (Rule, bool) {
	for _, r := range All {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}

// Page gives the runbook page of a rule, in Markdown.
func Page(id string) (string, error) {
	b, err := pages.ReadFile(Stem(id) + ".md")
	if err != nil {
		return "", fmt.Errorf("read the page of rule %s: %w", id, err)
	}
	return string(b), nil
}

// Stem is the name of a rule's page, without extension.
func Stem(id string) string {
	return strings.ReplaceAll(strings.TrimPrefix(id, "lint/"), "-", "_")
}

// Index lists the rules, a line each.
func Index() string {
	var b strings.Builder
	for _, r := range All {
		var s []string
		for _, v := range r.Severities {
			s = append(s, string(v))
		}
		fmt.Fprintf(&b, "%-40s %-18s %s\n", r.ID, strings.Join(s, ","), r.Title)
	}
	return b.String()
}

// Short names for what every sentence needs.
var (
	stamp  = audit.Stamp
	span   = audit.Span
	plural = audit.Plural
)

// Lists of severities that the literals share.
var (
	harm       = []audit.Severity{audit.Critical, audit.Unsure}
	onlyInfo   = []audit.Severity{audit.Info}
	warnOrInfo = []audit.Severity{audit.Warning, audit.Info}
)

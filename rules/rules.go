package rules

import (
	"embed"
	"fmt"
	"strings"

	"backstop/audit"
)

// All are the rules, in the order of the index.
var All = append(looking[:len(looking):len(looking)], auditAssumed, auditIgnore, auditBlind)

// looking are the rules that look at a store. Those that remain speak of what
// these could not see, and of the exceptions that the configuration makes.
var looking = []audit.Rule{
	controlResetImminent,
	controlResetArmed,
	controlSpecMissing,
	controlBlocked,
	controlNeverInitialised,
	controlUnseen,
	controlSpecShrinks,
	controlSpecMismatch,
	controlReseeded,
	controlNotReread,
	controlAltered,
	controlSharedStore,
	controlStray,
	queueBadRestore,
	queuePendingRestore,
	queueUnparsable,
	snapshotNone,
	snapshotStale,
	snapshotLate,
	snapshotIncomplete,
	snapshotEmptyObject,
	snapshotWriterClock,
	snapshotTooFrequent,
	snapshotArchived,
	snapshotBadMeta,
	snapshotUnrestorableVersion,
	snapshotKnownBadVersion,
	snapshotEventsBehind,
	snapshotCopiedStore,
	snapshotAltered,
	retentionLastGoodExpiring,
	retentionCleanupIneffective,
	retentionWriterLocked,
	retentionNoncurrentGrowth,
	lifecycleDeletesControl,
	lifecycleArchivesControl,
	lifecycleCutsLadder,
	lifecycleSplitsPair,
	lifecycleUndoWindowShort,
	lifecycleDeletesKopsState,
	lifecycleDisagreesWithS3,
	lifecycleUnseen,
	bucketUnversioned,
	bucketPublic,
	bucketHygiene,
	bucketDuplicateTree,
	bucketOrphanStore,
	auditStoreVanished,
	auditClockSkew,
	auditProviderUnverified,
}

// Set is what audit.Judge judges by.
var Set = audit.Ruleset{Rules: All, State: StateOf, Control: ControlOf}

//go:embed audit_*.md bucket_*.md control_*.md lifecycle_*.md queue_*.md retention_*.md snapshot_*.md
var pages embed.FS

// Named gives the rule of an id.
func Named(id string) (audit.Rule, bool) {
	for _, r := range All {
		if r.ID == id {
			return r, true
		}
	}
	return audit.Rule{}, false
}

// Page gives the runbook page of a rule, in Markdown.
func Page(id string) (string, error) {
	b, err := pages.ReadFile(Stem(id) + ".md")
	if err != nil {
		return "", fmt.Errorf("read the page of rule %s: %w", id, err)
	}
	return string(b), nil
}

// Stem is the name of a rule's files, without extension.
func Stem(id string) string { return strings.NewReplacer("/", "_", "-", "_").Replace(id) }

// Severities lists are shared by the literals.
var (
	onlyCritical = []audit.Severity{audit.Critical}
	onlyWarning  = []audit.Severity{audit.Warning}
	onlyInfo     = []audit.Severity{audit.Info}
	onlyUnknown  = []audit.Severity{audit.Unsure}
)

// Short names for what every sentence needs.
var (
	stamp  = audit.Stamp
	span   = audit.Span
	plural = audit.Plural
)

// Index lists the rules, a line each, as `backstop explain` and rules/README.md
// show them.
func Index() string {
	var b strings.Builder
	for _, r := range All {
		var s []string
		for _, v := range r.Severities {
			s = append(s, string(v))
		}
		fmt.Fprintf(&b, "%-28s %-18s %s\n", r.ID, strings.Join(s, ","), r.Title)
	}
	return b.String()
}

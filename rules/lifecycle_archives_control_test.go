package rules

import (
	"fmt"
	"testing"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
)

// transitionRule archives what its filter matches at an age of so many days.
func transitionRule(days int, class, filter string) string {
	return fmt.Sprintf("<Rule><ID>cold</ID><Status>Enabled</Status><Filter>%s</Filter><Transition><Days>%d</Days><StorageClass>%s</StorageClass></Transition></Rule>", filter, days, class)
}

// sizeDefault is what the server says of small objects.
func sizeDefault(mode string) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Bucket.TransitionSizeDefault = mode }
}

const anySize = "<ObjectSizeGreaterThan>0</ObjectSizeGreaterThan>"

// writtenAgo makes both control files that old.
func writtenAgo(d time.Duration) func(o *audit.Observation) {
	return all(bornAtTime(noon.Add(-d)), specIs(specGood, noon.Add(-d)))
}

var lifecycleArchivesControlSuite = suite{ages: true, cases: cases{
	"everything to Glacier, small objects too": {is: "speaks", seen: all(lifecycleRules(transitionRule(1, "GLACIER", "")), sizeDefault(lifecycle.VariesByClass)),
		want: []string{`critical: lifecycle rule "cold" is due since 2025-10-28 00:00:00Z to move control/etcd-cluster-created to storage class GLACIER`, "critical: move control/etcd-cluster-spec"},
		says: []string{"Every cycle of etcd-manager then ends with an error", "Backups then stop when the leader next changes", `"prod.example.com/backups/etcd/main/20"`}},
	"a size bound replaces the default": {is: "speaks", seen: all(lifecycleRules(transitionRule(1, "DEEP_ARCHIVE", anySize)), sizeDefault(lifecycle.AllClasses128K)),
		want: []string{"critical: move control/etcd-cluster-created to storage class DEEP_ARCHIVE", "critical: etcd-cluster-spec"}},
	"the server does not say its default": {is: "speaks", seen: lifecycleRules(transitionRule(1, "GLACIER", "")),
		want: []string{"critical: created", "critical: spec"}, says: []string{"assuming the worse: transition size default not stated"}},
	"only the default protects them": {is: "speaks", seen: all(lifecycleRules(transitionRule(1, "GLACIER", "")), sizeDefault(lifecycle.AllClasses128K)),
		want: []string{"warning: nothing but S3's default for small objects keeps lifecycle rule \"cold\" from moving control/etcd-cluster-created", "warning: etcd-cluster-spec"}},

	"in seven days": {is: "boundary", seen: all(lifecycleRules(transitionRule(90, "GLACIER", anySize)), writtenAgo(83*audit.Day)), at: 12 * time.Hour,
		want: []string{"critical: will on 2026-12-08 00:00:00Z, in 7d, move", "critical: spec"}},
	"a second more": {is: "boundary", seen: all(lifecycleRules(transitionRule(90, "GLACIER", anySize)), writtenAgo(83*audit.Day)), at: 12*time.Hour - time.Second,
		want: []string{"warning: will on 2026-12-08 00:00:00Z", "warning: spec"}},
	"in two years":          {is: "boundary", seen: all(lifecycleRules(transitionRule(731, "GLACIER", anySize)), writtenAgo(0)), at: 36 * time.Hour, want: []string{"warning: created", "warning: spec"}},
	"a second more of that": {is: "boundary", seen: all(lifecycleRules(transitionRule(731, "GLACIER", anySize)), writtenAgo(0)), at: 36*time.Hour - time.Second},
	"the same of the default": {is: "boundary", seen: all(lifecycleRules(transitionRule(731, "GLACIER", "")), writtenAgo(0), sizeDefault(lifecycle.AllClasses128K)), at: 36 * time.Hour,
		want: []string{"warning: nothing but", "warning: nothing but"}},
	"a second more of the default": {is: "boundary", seen: all(lifecycleRules(transitionRule(731, "GLACIER", "")), writtenAgo(0), sizeDefault(lifecycle.AllClasses128K)), at: 36*time.Hour - time.Second},
	"at that very instant":         {is: "boundary", seen: all(lifecycleRules(transitionRule(90, "GLACIER", anySize)), writtenAgo(83*audit.Day)), at: 7*audit.Day + 12*time.Hour, want: []string{"critical: is due since 2026-12-08", "critical: spec"}},

	"a class that stays readable":    {is: "silent", seen: all(lifecycleRules(transitionRule(30, "STANDARD_IA", anySize)), sizeDefault(lifecycle.VariesByClass))},
	"the snapshots alone":            {is: "silent", seen: all(lifecycleRules(transitionRule(1, "GLACIER", prefixed(mainRoot+"20"))), sizeDefault(lifecycle.VariesByClass))},
	"deleted before: another rule's": {is: "silent", seen: all(lifecycleRules(transitionRule(90, "GLACIER", "")+expireAll(30)), writtenAgo(10*audit.Day), sizeDefault(lifecycle.VariesByClass))},
	"no rules":                       {is: "silent"},
	"missing files go nowhere":       {is: "silent", seen: all(loseBoth, lifecycleRules(transitionRule(1, "GLACIER", anySize)))},
	"archived already: control/blocked's": {is: "silent", seen: all(lifecycleRules(transitionRule(1, "GLACIER", anySize)), func(o *audit.Observation) {
		o.Created.Value.StorageClass, o.Spec.Value.StorageClass = "GLACIER", "DEEP_ARCHIVE"
	})},
	"a configuration that cannot be parsed": {is: "blind", seen: func(o *audit.Observation) { o.Bucket.Lifecycle = audit.Is(audit.Document{Body: []byte("<no")}) }},
	"the rules were not seen":               {is: "blind", seen: unseen(audit.FactLifecycle)},
	"the spec was not seen":                 {is: "blind", seen: all(lifecycleRules(transitionRule(1, "GLACIER", anySize)), unseen(audit.FactSpec)), want: []string{"critical: created"}},
}}

func TestLifecycleArchivesControl(t *testing.T) {
	lifecycleArchivesControlSuite.cases.run(t, lifecycleArchivesControl)
}

package rules

import (
	"fmt"
	"testing"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
)

// bySize is a rule for snapshots with a size bound.
func bySize(bound string, days int) func(o *audit.Observation) {
	return lifecycleRules(lifecycleRule("size", "<And><Prefix>"+mainRoot+"20</Prefix>"+bound+"</And>", fmt.Sprintf("<Days>%d</Days>", days)))
}

const (
	over1K  = "<ObjectSizeGreaterThan>1000</ObjectSizeGreaterThan>"
	under1K = "<ObjectSizeLessThan>1000</ObjectSizeLessThan>"
)

// straddling is a snapshot whose halves lie on two sides of midnight.
func straddling(o *audit.Observation) {
	s := snapshot(o.Store, noon.Add(-12*time.Hour-2500*time.Millisecond), 50_000)
	snapshotsAre(s)(o)
}

// big makes the data larger than what S3's default spares.
var big = eachSnapshot(func(s *audit.Snapshot) { s.Data.Size = 5 << 20 })

var lifecycleSplitsPairSuite = suite{ages: true, cases: cases{
	"the data by its size": {is: "speaks", seen: bySize(over1K, 30),
		want: []string{`warning: lifecycle rule "size" hides the data (etcd.backup.gz) of a snapshot on 2026-12-31 00:00:00Z, in 30d and leaves its meta file as it is: etcd-manager goes on listing it`},
		says: []string{"after it has stopped the live cluster", "It concerns 7 snapshots", "etcd.backup.gz"}},
	"the meta file by its size": {is: "speaks", seen: bySize(under1K, 30),
		want: []string{`warning: hides the meta file (_etcd_backup.meta) of a snapshot on 2026-12-31`}, says: []string{"etcd-manager no longer sees the snapshot, and never cleans the data up"}},
	"a plain archive rule, because S3 moves no small object": {is: "speaks", seen: all(big, sizeDefault(lifecycle.AllClasses128K), lifecycleRules(transitionRule(30, "GLACIER", prefixed(mainRoot+"20")))),
		want: []string{`warning: lifecycle rule "cold" moves to GLACIER the data (etcd.backup.gz) of a snapshot on 2026-12-31`}},
	"archived at 30 days, both gone at 90": {is: "speaks", seen: all(big, sizeDefault(lifecycle.AllClasses128K), lifecycleRules(transitionRule(30, "GLACIER", prefixed(mainRoot+"20"))+snapshotsOnly(90))),
		want: []string{`warning: moves to GLACIER the data`}},
	"one day apart, by two rules": {is: "speaks", seen: lifecycleRules(snapshotsOnly(90) + lifecycleRule("size", "<And><Prefix>"+mainRoot+"20</Prefix>"+over1K+"</And>", "<Days>89</Days>")),
		want: []string{`warning: lifecycle rule "size" hides the data`}},
	"some of them alone": {is: "speaks", seen: all(sized(5_000_000, 50_000, 50_000), sizeDefault(lifecycle.AllClasses128K), lifecycleRules(transitionRule(30, "GLACIER", prefixed(mainRoot+"20")))),
		want: []string{"warning: It concerns 1 snapshot"}},
	"due for long": {is: "speaks", seen: all(daily(60), bySize(over1K, 30)), want: []string{"warning: at any moment (due since 2026-11-02 00:00:00Z)"}, says: []string{"It concerns 61 snapshots"}},
	"one archived, the other gone, on one day": {is: "speaks", seen: all(big, sizeDefault(lifecycle.AllClasses128K), lifecycleRules(transitionRule(30, "GLACIER", prefixed(mainRoot+"20"))+lifecycleRule("size", "<And><Prefix>"+mainRoot+"20</Prefix>"+under1K+"</And>", "<Days>30</Days>"))),
		want: []string{"warning: moves to GLACIER the data"}},

	"in two years":                          {is: "boundary", seen: all(snapshotsAre(taken(time.Hour, 50_000)), bySize(over1K, 730)), at: 12 * time.Hour, want: []string{"warning: in 730d"}},
	"in a second more":                      {is: "boundary", seen: all(snapshotsAre(taken(time.Hour, 50_000)), bySize(over1K, 730)), at: 12*time.Hour - time.Second},
	"at this very instant":                  {is: "boundary", seen: all(snapshotsAre(taken(time.Hour, 50_000)), bySize(over1K, 30)), at: 30*audit.Day + 12*time.Hour, want: []string{"warning: at any moment"}},
	"in a second":                           {is: "boundary", seen: all(snapshotsAre(taken(time.Hour, 50_000)), bySize(over1K, 30)), at: 30*audit.Day + 12*time.Hour - time.Second, want: []string{"warning: in 1s"}},
	"a bound that both are above":           {is: "boundary", seen: bySize("<ObjectSizeGreaterThan>129</ObjectSizeGreaterThan>", 30)},
	"a bound that the meta file just fails": {is: "boundary", seen: bySize("<ObjectSizeGreaterThan>130</ObjectSizeGreaterThan>", 30), want: []string{"warning: hides the data"}},

	"no rules":                       {is: "silent"},
	"both expire":                    {is: "silent", seen: lifecycleRules(snapshotsOnly(30))},
	"both stay small":                {is: "silent", seen: all(sizeDefault(lifecycle.AllClasses128K), lifecycleRules(transitionRule(30, "GLACIER", prefixed(mainRoot+"20"))))},
	"both are moved":                 {is: "silent", seen: all(big, sizeDefault(lifecycle.VariesByClass), lifecycleRules(transitionRule(30, "GLACIER", prefixed(mainRoot+"20"))))},
	"on two sides of midnight":       {is: "silent", seen: all(straddling, lifecycleRules(snapshotsOnly(30)))},
	"one is gone already":            {is: "silent", seen: all(snapshotsAre(dataAged(audit.Day)), bySize(over1K, 30))},
	"to a class that can be read":    {is: "silent", seen: all(big, sizeDefault(lifecycle.AllClasses128K), lifecycleRules(transitionRule(30, "STANDARD_IA", prefixed(mainRoot+"20"))))},
	"both expire before the archive": {is: "silent", seen: all(big, sizeDefault(lifecycle.AllClasses128K), lifecycleRules(transitionRule(90, "GLACIER", prefixed(mainRoot+"20"))+snapshotsOnly(30)))},

	"the rules were not seen":     {is: "blind", seen: unseen(audit.FactLifecycle)},
	"the snapshots were not seen": {is: "blind", seen: all(bySize(over1K, 30), unseen(audit.FactListing))},
}}

func TestLifecycleSplitsPair(t *testing.T) {
	lifecycleSplitsPairSuite.cases.run(t, lifecycleSplitsPair)
}

package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// memory says what the ledger holds of the store.
func memory(change func(m *audit.Memory)) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		m := &audit.Memory{Since: noon.Add(-90 * audit.Day), Last: noon.Add(-time.Hour)}
		for doc, noted := range map[*audit.Fact[audit.Document]]*audit.Noted{&o.Created: &m.Created, &o.Spec: &m.Spec, &o.Bucket.Lifecycle: &m.Lifecycle} {
			if r, ok := audit.RecordOf(*doc); ok {
				*noted = audit.Noted{Seen: true, Now: r}
			}
		}
		change(m)
		o.Memory = m
	}
}

// hadRules is what the ledger knows of the lifecycle rules: as of the last look, and
// since when they are so.
func hadRules(before string) func(o *audit.Observation) {
	return memory(func(m *audit.Memory) { m.Lifecycle.Now = ruleRecord(before) })
}

func ruleRecord(rules string) audit.Record {
	if rules == "" {
		return audit.Record{Missing: true}
	}
	return audit.Record{Body: []byte("<LifecycleConfiguration>" + rules + "</LifecycleConfiguration>")}
}

// changedAgo is a change that an earlier run has seen.
func changedAgo(before string, ago time.Duration) func(o *audit.Observation) {
	return memory(func(m *audit.Memory) { m.Lifecycle.Before, m.Lifecycle.Changed = ruleRecord(before), noon.Add(-ago) })
}

var lifecycleChangedSuite = suite{ages: true, limits: []limit{timeLimit("changedNews", &changedNews)}, cases: cases{
	"a rule came":                {is: "speaks", seen: all(lifecycleRules(expireAll(90)), hadRules("")), want: []string{`info: the bucket's lifecycle rules are not those that they were: "prune" came. Seen at 2026-11-30 12:00:00Z`}, says: []string{"1 rule: \"prune\"", "no rules"}},
	"a rule went":                {is: "speaks", seen: hadRules(expireAll(90)), want: []string{`info: "prune" went`}},
	"it changed":                 {is: "speaks", seen: all(lifecycleRules(expireAll(30)), hadRules(expireAll(90))), want: []string{`info: "prune" changed`}},
	"three days ago":             {is: "speaks", seen: all(lifecycleRules(expireAll(30)), changedAgo(expireAll(90), 3*audit.Day)), want: []string{`info: Seen at 2026-11-27 12:00:00Z`}},
	"it cannot be read any more": {is: "speaks", seen: all(lifecycleRules("<Rule>"), hadRules(expireAll(90))), want: []string{"info: one of the two cannot be read"}},

	"nothing changed":           {is: "silent", seen: all(lifecycleRules(expireAll(90)), hadRules(expireAll(90)))},
	"without a ledger":          {is: "silent", seen: lifecycleRules(expireAll(90))},
	"the ledger never saw it":   {is: "silent", seen: all(lifecycleRules(expireAll(90)), memory(func(m *audit.Memory) { m.Lifecycle = audit.Noted{} }))},
	"the server writes it anew": {is: "silent", seen: all(lifecycleRules(expireAll(90)), hadRules("\n  "+expireAll(90)))},
	"seven days ago":            {is: "boundary", seen: all(lifecycleRules(expireAll(30)), changedAgo(expireAll(90), 7*audit.Day)), want: []string{"info: "}},
	"a second more":             {is: "boundary", seen: all(lifecycleRules(expireAll(30)), changedAgo(expireAll(90), 7*audit.Day+time.Second))},

	"the rules were not seen": {is: "blind", seen: all(hadRules(expireAll(90)), unseen(audit.FactLifecycle))},
}}

func TestLifecycleChanged(t *testing.T) { lifecycleChangedSuite.cases.run(t, lifecycleChanged) }

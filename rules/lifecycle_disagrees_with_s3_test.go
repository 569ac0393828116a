package rules

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"backstop/audit"
)

// says lets S3 announce a date for the control files, or for created alone.
func says(at time.Time, rule string, docs ...func(o *audit.Observation) *audit.Document) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		if len(docs) == 0 {
			docs = append(docs, createdOf, specOf)
		}
		for _, d := range docs {
			d(o).Expiration = fmt.Sprintf("expiry-date=%q, rule-id=%q", at.Format(http.TimeFormat), rule)
		}
	}
}

func createdOf(o *audit.Observation) *audit.Document { return &o.Created.Value }
func specOf(o *audit.Observation) *audit.Document    { return &o.Spec.Value }
func metaOf(o *audit.Observation) *audit.Document    { return &o.NewestMeta.Value }

// dueAt is when the rule of 407 days takes the healthy store's control files.
var dueAt = time.Date(2026, 12, 8, 0, 0, 0, 0, time.UTC)

var lifecycleDisagreesWithS3Suite = suite{ages: true, limits: []limit{timeLimit("headerTolerance", &headerTolerance)}, cases: cases{
	"a week earlier than we say": {is: "speaks", seen: all(lifecycleRules(expireAll(407)), says(dueAt.AddDate(0, 0, -7), "prune")),
		want: []string{`warning: S3 itself announces that rule "prune" expires this object on 2026-12-01 00:00:00Z, and by the rules that were seen it is rule "prune" on 2026-12-08 00:00:00Z`},
		says: []string{"etcd-cluster-spec: S3 announces", "look again tomorrow", "act on the earlier of the two dates"}},
	"a week later": {is: "speaks", seen: all(lifecycleRules(expireAll(407)), says(dueAt.AddDate(0, 0, 7), "prune")), want: []string{"warning: on 2026-12-15"}},
	"a rule that was not seen": {is: "speaks", seen: says(dueAt, "hidden", createdOf),
		want: []string{`warning: S3 itself announces that rule "hidden" expires this object on 2026-12-08 00:00:00Z, and no rule that was seen does`}, never: []string{"etcd-cluster-spec"}},
	"of the newest meta":               {is: "speaks", seen: all(lifecycleRules(snapshotsOnly(90)), says(dueAt, "snapshots", metaOf)), want: []string{"warning: on 2026-12-08"}, says: []string{"_etcd_backup.meta"}},
	"another server without versions":  {is: "speaks", seen: all(unversioned, behind("https://minio.example.com"), says(dueAt, "hidden")), want: []string{"warning: no rule that was seen does"}},
	"what the owner assumes is wrong":  {is: "speaks", seen: all(func(o *audit.Observation) { o.Bucket.Lifecycle.Assumed = true }, says(dueAt, "hidden")), want: []string{"warning: no rule"}},
	"one is due, and the other is not": {is: "speaks", seen: all(lifecycleRules(expireAll(390)), says(dueAt, "prune")), want: []string{"warning: on 2026-12-08 00:00:00Z, and by the rules that were seen it is rule \"prune\" on 2026-11-21"}},

	"a day apart":                   {is: "boundary", seen: all(lifecycleRules(expireAll(407)), says(dueAt.AddDate(0, 0, 1), "prune"))},
	"a day and a second apart":      {is: "boundary", seen: all(lifecycleRules(expireAll(407)), says(dueAt.AddDate(0, 0, 1).Add(time.Second), "prune")), want: []string{"warning: "}},
	"a day earlier":                 {is: "boundary", seen: all(lifecycleRules(expireAll(407)), says(dueAt.AddDate(0, 0, -1), "prune"))},
	"both are due, at this instant": {is: "boundary", seen: all(lifecycleRules(expireAll(390)), says(noon, "prune"))},
	"one is due in a second":        {is: "boundary", seen: all(lifecycleRules(expireAll(390)), says(noon.Add(time.Second), "prune")), want: []string{"warning: "}},
	"ours is due at this instant":   {is: "boundary", seen: all(lifecycleRules(expireAll(407)), says(dueAt.AddDate(0, 0, -9), "prune")), at: dueAt.Sub(noon)},
	"ours is due in a second":       {is: "boundary", seen: all(lifecycleRules(expireAll(407)), says(dueAt.AddDate(0, 0, -9), "prune")), at: dueAt.Sub(noon) - time.Second, want: []string{"warning: "}},

	"they agree":                    {is: "silent", seen: all(lifecycleRules(expireAll(407)), says(dueAt, "prune"))},
	"S3 announces nothing":          {is: "silent", seen: lifecycleRules(expireAll(407))},
	"Ceph, versioned":               {is: "silent", seen: all(behind("https://rgw.example.com"), says(dueAt, "hidden"))},
	"no date in it":                 {is: "silent", seen: func(o *audit.Observation) { o.Created.Value.Expiration = "never" }},
	"a configuration of no meaning": {is: "silent", seen: all(lifecycleBody("{"), says(dueAt, "hidden"))},

	"the rules were not seen":        {is: "blind", seen: all(says(dueAt, "hidden"), unseen(audit.FactLifecycle))},
	"tags decide, and were not read": {is: "blind", seen: all(byTag, says(dueAt, "by-tag"), unseen(audit.FactTags), func(o *audit.Observation) { o.Spec.Value.Tags = o.Created.Value.Tags })},
	"created was not seen":           {is: "blind", seen: all(says(dueAt, "hidden", createdOf), unseen(audit.FactCreated))},
}}

func TestLifecycleDisagreesWithS3(t *testing.T) {
	lifecycleDisagreesWithS3Suite.cases.run(t, lifecycleDisagreesWithS3)
}

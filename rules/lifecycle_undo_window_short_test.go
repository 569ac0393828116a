package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// newerNoncurrent retains so many old versions besides the age.
func newerNoncurrent(days, newer string) func(o *audit.Observation) {
	return lifecycleRules("<Rule><ID>old</ID><Status>Enabled</Status><Filter/><NoncurrentVersionExpiration><NoncurrentDays>" + days + "</NoncurrentDays><NewerNoncurrentVersions>" + newer + "</NewerNoncurrentVersions></NoncurrentVersionExpiration></Rule>")
}

var lifecycleUndoWindowShortSuite = suite{limits: []limit{timeLimit("undoShortest", &undoShortest)}, cases: cases{
	"a week": {is: "speaks", seen: lifecycleRules(noncurrentDays(7)),
		want: []string{`warning: if a control file were deleted now, lifecycle rule "old" would destroy its content in 7d`},
		says: []string{"Set NoncurrentDays of rule \"old\" to 30 or more", "at least 30d"}, never: []string{"assuming the worse"}},
	"of created alone": {is: "speaks", seen: all(loseSpec, lifecycleRules(noncurrentDays(1))), want: []string{"warning: in 36h"}},
	"of spec alone":    {is: "speaks", seen: all(loseCreated, lifecycleRules(noncurrentDays(1))), want: []string{"warning: in 36h"}},
	"by tags that were not read": {is: "speaks", seen: all(unseen(audit.FactTags), lifecycleRules("<Rule><ID>tagged</ID><Status>Enabled</Status><Filter><Tag><Key>keep</Key><Value>no</Value></Tag></Filter><NoncurrentVersionExpiration><NoncurrentDays>7</NoncurrentDays></NoncurrentVersionExpiration></Rule>")),
		want: []string{"warning: in 7d (assuming the worse: tags not read)"}},
	"MinIO's removal of everything under a marker": {is: "speaks", seen: all(noLock, behind("https://minio.example.com"), lifecycleRules("<Rule><ID>dm</ID><Status>Enabled</Status><Filter/><DelMarkerExpiration><Days>3</Days></DelMarkerExpiration></Rule>")),
		want: []string{`warning: lifecycle rule "dm" would destroy its content in 3d`}},

	"29 days, a second after midnight":             {is: "boundary", seen: lifecycleRules(noncurrentDays(29)), at: 12*time.Hour + time.Second, want: []string{"warning: in 29d"}},
	"30 days, at midnight":                         {is: "boundary", seen: lifecycleRules(noncurrentDays(30)), at: 12 * time.Hour},
	"29 days, at midnight":                         {is: "boundary", seen: lifecycleRules(noncurrentDays(29)), at: 12 * time.Hour, want: []string{"warning: in 29d"}},
	"30 days, a second before midnight, and a day": {is: "boundary", seen: lifecycleRules(noncurrentDays(30)), at: 12*time.Hour - time.Second},
	"one that was deleted today":                   {is: "boundary", seen: all(loseBoth, lifecycleRules(noncurrentDays(7)))},
	"29 days, at the second before midnight":       {is: "boundary", seen: lifecycleRules(noncurrentDays(29)), at: 12*time.Hour - time.Second, want: []string{"warning: in 29d"}},

	"no rules":                      {is: "silent"},
	"a month":                       {is: "silent", seen: lifecycleRules(noncurrentDays(30))},
	"one version is kept":           {is: "silent", seen: newerNoncurrent("1", "1")},
	"snapshots alone":               {is: "silent", seen: lifecycleRules("<Rule><ID>old</ID><Status>Enabled</Status><Filter><Prefix>" + mainRoot + "20</Prefix></Filter><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration></Rule>")},
	"never versioned":               {is: "silent", seen: all(unversioned, lifecycleRules(noncurrentDays(1)))},
	"suspended: bucket/unversioned": {is: "silent", seen: all(suspended, lifecycleRules(noncurrentDays(1)))},
	"a rule for current ones":       {is: "silent", seen: lifecycleRules(expireAll(1))},

	"the rules were not seen": {is: "blind", seen: unseen(audit.FactLifecycle)},
	"versioning was not seen": {is: "blind", seen: all(lifecycleRules(noncurrentDays(7)), unseen(audit.FactVersioning))},
	"neither file was seen":   {is: "blind", seen: all(lifecycleRules(noncurrentDays(7)), unseen(audit.FactCreated), unseen(audit.FactSpec))},
}}

func TestLifecycleUndoWindowShort(t *testing.T) {
	lifecycleUndoWindowShortSuite.cases.run(t, lifecycleUndoWindowShort)
}

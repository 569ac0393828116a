package rules

import (
	"testing"

	"backstop/audit"
)

// oldVersions lets old versions hold so many bytes, and what is current so many.
func oldVersions(noncurrent, current int64) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Versions.Value.Noncurrent, o.Versions.Value.NoncurrentBytes = 7000, noncurrent
		o.Listing.Value.Bytes = current
	}
}

const (
	gib      = 1 << 30
	pastDays = "<NoncurrentVersionExpiration><NoncurrentDays>400</NoncurrentDays></NoncurrentVersionExpiration>"
)

func noncurrentRule(status, filter, action string) func(o *audit.Observation) {
	return lifecycleRules("<Rule><ID>old</ID><Status>" + status + "</Status><Filter>" + filter + "</Filter>" + action + "</Rule>")
}

var retentionNoncurrentGrowthSuite = suite{
	limits: []limit{countLimit("noncurrentTimes", &noncurrentTimes), bytesLimit("noncurrentFloor", &noncurrentFloor)},
	cases: cases{
		"old versions hold ten times as much": {is: "speaks", seen: oldVersions(20*gib, 2*gib),
			want: []string{"warning: 7000 old versions of snapshots and other objects here hold 20.0 GiB, and what is current holds 2.0 GiB: no lifecycle rule removes them"},
			says: []string{"Do NOT add a rule with an Expiration", "NoncurrentVersionExpiration alone", "30 days or more"}},
		"there are more than were counted": {is: "speaks", seen: all(oldVersions(20*gib, gib), func(o *audit.Observation) { o.Versions.Value.More = true }),
			want: []string{"warning: at least 7000 old versions"}},
		"nothing is current":              {is: "speaks", seen: all(noSnapshots, oldVersions(2048*gib, 0)), want: []string{"warning: hold 2.0 TiB, and what is current holds 0 bytes"}},
		"a rule that hides what is there": {is: "speaks", seen: all(oldVersions(20*gib, gib), noncurrentRule("Enabled", "", "<Expiration><Days>900</Days></Expiration>")), want: []string{"warning: no lifecycle rule removes them"}},
		"the rule is switched off":        {is: "speaks", seen: all(oldVersions(20*gib, gib), noncurrentRule("Disabled", "", pastDays)), want: []string{"warning: "}},
		"the rule is for another store":   {is: "speaks", seen: all(oldVersions(20*gib, gib), noncurrentRule("Enabled", prefixed("old/"), pastDays)), want: []string{"warning: "}},
		"the rule keeps a number of them": {is: "speaks", seen: all(oldVersions(20*gib, gib), noncurrentRule("Enabled", "", "<NoncurrentVersionExpiration><NewerNoncurrentVersions>5</NewerNoncurrentVersions></NoncurrentVersionExpiration>")), want: []string{"warning: "}},

		"three times as much":         {is: "boundary", seen: oldVersions(6*gib, 2*gib)},
		"and one byte more":           {is: "boundary", seen: oldVersions(6*gib+1, 2*gib), want: []string{"warning: "}},
		"a GiB is something":          {is: "boundary", seen: oldVersions(gib, 1000), want: []string{"warning: hold 1.0 GiB, and what is current holds 1000 bytes"}},
		"a byte less is not":          {is: "boundary", seen: oldVersions(gib-1, 1000)},
		"a rule removes them late":    {is: "boundary", seen: all(oldVersions(20*gib, gib), noncurrentRule("Enabled", "", pastDays))},
		"a rule that may remove them": {is: "boundary", seen: all(oldVersions(20*gib, gib), noncurrentRule("Enabled", "<Tag><Key>a</Key><Value>b</Value></Tag>", pastDays))},

		"nothing is wrong":                 {is: "silent"},
		"the bucket keeps no old versions": {is: "silent", seen: unversioned},

		"the versions were not seen": {is: "blind", seen: all(oldVersions(20*gib, gib), unseen(audit.FactVersions))},
		"the listing was not seen":   {is: "blind", seen: all(oldVersions(20*gib, gib), unseen(audit.FactListing))},
		"the rules were not seen":    {is: "blind", seen: all(oldVersions(20*gib, gib), unseen(audit.FactLifecycle)), want: []string{"warning: whether a lifecycle rule removes them was not seen"}},
	},
}

func TestRetentionNoncurrentGrowth(t *testing.T) {
	retentionNoncurrentGrowthSuite.cases.run(t, retentionNoncurrentGrowth)
}

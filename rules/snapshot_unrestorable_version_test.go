package rules

import (
	"fmt"
	"testing"

	"backstop/audit"
)

// ranVersion makes the newest snapshot one of this version, and asks for another
// in the spec.
func ranVersion(ran, asked string) func(o *audit.Observation) {
	return all(metaIs(fmt.Sprintf(`{"etcdVersion":%q,"clusterSpec":{"memberCount":3}}`, ran)), specIs(spec(3, asked), birth))
}

var snapshotUnrestorableVersionSuite = suite{limits: []limit{countLimit("oldestMounted", &oldestMounted), countLimit("newestMounted", &newestMounted)}, cases: cases{
	"a version of before an upgrade": {is: "speaks", seen: ranVersion("3.4.13", "3.5.30"),
		want: []string{"critical: the newest snapshot was taken by etcd 3.4.13, and cannot be restored: etcd-manager restores it with etcd 3.4.13, and kops gives it the programs of 3.5 to 3.7 alone"},
		says: []string{"_etcd_backup.meta", "another version than the spec's", "Do NOT queue a restore", "etcdutl of the same minor version"}},
	"a version that still runs":   {is: "speaks", seen: ranVersion("3.4.13", "3.4.13"), want: []string{"warning: taken by etcd 3.4.13"}, says: []string{"a newer kops will not have them"}},
	"a version of long ago":       {is: "speaks", seen: ranVersion("2.2.1", "3.5.30"), want: []string{"critical: taken by etcd 2.2.1, and cannot be restored: this version of etcd-manager does not support etcd v2"}},
	"no version":                  {is: "speaks", seen: metaIs("{}"), want: []string{"critical: taken by etcd no version, and cannot be restored: the meta file names no etcd version"}},
	"no version that is one":      {is: "speaks", seen: ranVersion("custom", "3.5.30"), want: []string{`critical: "custom" is not a version`}},
	"a word, as the spec has it":  {is: "speaks", seen: ranVersion("custom", "custom"), want: []string{`warning: "custom" is not a version`}},
	"a version that went too far": {is: "speaks", seen: ranVersion("3.8.1", "3.6.11"), want: []string{"critical: etcd-manager restores it with etcd 3.8.1"}},

	"a word, and another in the spec": {is: "speaks", seen: ranVersion("custom", "other"), want: []string{`critical: "custom" is not a version`}},
	"the same minor of another major": {is: "speaks", seen: ranVersion("2.5.0", "3.5.30"), want: []string{"critical: taken by etcd 2.5.0"}},
	"the oldest that is mounted":      {is: "boundary", seen: ranVersion("3.5.0", "3.6.11")},
	"the newest that is mounted":      {is: "boundary", seen: ranVersion("3.7.0", "3.6.11")},
	"a newer one is a newer kops's":   {is: "boundary", seen: ranVersion("3.8.1", "3.8.1")},
	"short versions are read":         {is: "boundary", seen: ranVersion("3.5", "3.6.11")},
	"a patch does not matter":         {is: "boundary", seen: ranVersion("3.4.13", "3.4.3"), want: []string{"warning: taken by etcd 3.4.13"}},
	"a spec without a version":        {is: "boundary", seen: all(ranVersion("3.4.13", ""), specIs(`{"memberCount":3}`, birth)), want: []string{"warning: taken by etcd 3.4.13"}, says: []string{"is not known"}},
	"a spec that is missing":          {is: "boundary", seen: all(ranVersion("3.4.13", "3.5.30"), loseSpec), want: []string{"warning: taken by etcd 3.4.13"}},

	"nothing is wrong":        {is: "silent"},
	"the meta does not parse": {is: "silent", seen: metaIs("{")},
	"there is no snapshot":    {is: "silent", seen: noSnapshots},

	"the newest meta was not seen": {is: "blind", seen: all(ranVersion("3.4.13", "3.5.30"), unseen(audit.FactNewestMeta))},
	"spec was not seen":            {is: "blind", seen: all(ranVersion("3.4.13", "3.5.30"), unseen(audit.FactSpec)), want: []string{"warning: taken by etcd 3.4.13"}},
}}

func TestSnapshotUnrestorableVersion(t *testing.T) {
	snapshotUnrestorableVersionSuite.cases.run(t, snapshotUnrestorableVersion)
}

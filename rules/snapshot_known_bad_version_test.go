package rules

import (
	"testing"

	"backstop/audit"
)

func ran(version string) func(o *audit.Observation) {
	return metaIs(`{"etcdVersion":"` + version + `"}`)
}

var snapshotKnownBadVersionSuite = suite{cases: cases{
	"3.5.1": {is: "speaks", seen: ran("3.5.1"), want: []string{"warning: the newest snapshot was taken by etcd 3.5.1, a release with which members can silently hold different data"},
		says: []string{"hashkv", "_etcd_backup.meta"}},
	"the same with a v":   {is: "speaks", seen: ran("v3.5.1"), want: []string{"warning: taken by etcd v3.5.1"}},
	"a release candidate": {is: "speaks", seen: ran("3.5.0-rc.1"), want: []string{"warning: taken by etcd 3.5.0-rc.1"}},

	"3.5.0":  {is: "boundary", seen: ran("3.5.0"), want: []string{"warning: 3.5.0"}},
	"3.5.2":  {is: "boundary", seen: ran("3.5.2"), want: []string{"warning: 3.5.2"}},
	"3.5.3":  {is: "boundary", seen: ran("3.5.3")},
	"3.5.4":  {is: "boundary", seen: ran("3.5.4")},
	"3.5.5":  {is: "boundary", seen: ran("3.5.5"), want: []string{"warning: 3.5.5"}},
	"3.5.6":  {is: "boundary", seen: ran("3.5.6")},
	"3.4.20": {is: "boundary", seen: ran("3.4.20")},
	"3.4.21": {is: "boundary", seen: ran("3.4.21"), want: []string{"warning: 3.4.21"}},
	"3.4.22": {is: "boundary", seen: ran("3.4.22")},
	"3.6.1":  {is: "boundary", seen: ran("3.6.1")},
	"4.5.1":  {is: "boundary", seen: ran("4.5.1")},

	"nothing is wrong":        {is: "silent"},
	"the meta does not parse": {is: "silent", seen: metaIs("3.5.1")},
	"a word for a version":    {is: "silent", seen: ran("custom")},
	"there is no snapshot":    {is: "silent", seen: noSnapshots},

	"the newest meta was not seen": {is: "blind", seen: all(ran("3.5.1"), unseen(audit.FactNewestMeta))},
}}

func TestSnapshotKnownBadVersion(t *testing.T) {
	snapshotKnownBadVersionSuite.cases.run(t, snapshotKnownBadVersion)
}

package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

var elsewhere = moved("s3://other/prod.example.com/backups/etcd/main")

var bucketDuplicateTreeSuite = suite{cases: cases{
	"the backups are elsewhere": {is: "speaks", seen: elsewhere,
		want: []string{"warning: the kops cluster prod.example.com keeps its backups at s3://other/prod.example.com/backups/etcd/main, and here is a tree of its etcd too: whoever restores may take the wrong one; the newest snapshot is 2026-11-30T11:55:00Z-000001"},
		says: []string{"do NOT roll it before the new place has both control files", "role archive"}},
	"kops has no such etcd any more":  {is: "speaks", seen: moved(""), want: []string{"warning: the kops cluster prod.example.com has no etcd cluster main any more, and here is a tree"}},
	"elsewhere in the same bucket":    {is: "speaks", seen: moved("s3://kops/backups/main"), want: []string{"warning: keeps its backups at s3://kops/backups/main"}},
	"snapshots without control files": {is: "speaks", seen: all(elsewhere, loseBoth), want: []string{"warning: here is a tree"}},

	"created alone is a tree":   {is: "boundary", seen: all(elsewhere, noSnapshots, loseSpec), want: []string{"warning: here is a tree"}},
	"spec alone is a tree":      {is: "boundary", seen: all(elsewhere, noSnapshots, loseCreated), want: []string{"warning: here is a tree"}},
	"nothing is no tree":        {is: "boundary", seen: all(elsewhere, loseBoth, noTrace)},
	"half a snapshot is a tree": {is: "boundary", seen: all(elsewhere, loseBoth, snapshotsAre(withoutMeta(taken(time.Hour, 50_000)))), want: []string{"warning: here is a tree"}},
	"elsewhere is here":         {is: "boundary", seen: moved("s3://kops/prod.example.com/backups/etcd/main")},
	"with a slash at its end":   {is: "boundary", seen: moved("s3://kops/prod.example.com/backups/etcd/main/")},
	"of a copy only the key can be compared": {is: "boundary", seen: all(moved("s3://theirs/prod.example.com/backups/etcd/main"), func(o *audit.Observation) {
		o.Store.URL, o.Store.Bucket = "/tmp/copy/prod.example.com/backups/etcd/main", "/tmp/copy"
	})},

	"nothing is wrong":      {is: "silent"},
	"kops names the store":  {is: "silent", seen: kopsSays(nil)},
	"kops knows no cluster": {is: "silent", seen: orphan},

	"what kops says was not seen": {is: "blind", seen: all(elsewhere, unseen(audit.FactKops))},
	"the listing was not seen":    {is: "blind", seen: all(elsewhere, unseen(audit.FactListing)), want: []string{"warning: the snapshots could not be listed"}},
	"nor were the control files":  {is: "blind", seen: all(elsewhere, unseen(audit.FactListing), unseen(audit.FactCreated), unseen(audit.FactSpec))},
}}

func TestBucketDuplicateTree(t *testing.T) {
	bucketDuplicateTreeSuite.cases.run(t, bucketDuplicateTree)
}

package rules

import (
	"testing"

	"backstop/audit"
)

var bucketOrphanStoreSuite = suite{cases: cases{
	"kops knows no such cluster": {is: "speaks", seen: orphan,
		want: []string{"warning: the kops state store s3://kops does not list the cluster prod.example.com: it was deleted, or is described elsewhere. The age of its snapshots is therefore not judged; the newest snapshot is 2026-11-30T11:55:00Z-000001"},
		says: []string{"role archive", "do NOT let anything recreate it"}},
	"nor one that the place would tell": {is: "speaks", seen: all(orphan, func(o *audit.Observation) { o.Store.Cluster = "" }), want: []string{"warning: does not list this store's cluster"}},
	"with nothing but control files":    {is: "speaks", seen: all(orphan, noSnapshots), want: []string{"warning: there is no complete snapshot"}},

	"kops knows the cluster":     {is: "boundary", seen: moved("s3://other/x")},
	"nothing of a store is left": {is: "boundary", seen: all(orphan, loseBoth, noTrace)},

	"nothing is wrong":     {is: "silent"},
	"kops names the store": {is: "silent", seen: kopsSays(nil)},

	"what kops says was not seen": {is: "blind", seen: all(orphan, unseen(audit.FactKops))},
	"the listing was not seen":    {is: "blind", seen: all(orphan, unseen(audit.FactListing)), want: []string{"warning: the snapshots could not be listed"}},
}}

func TestBucketOrphanStore(t *testing.T) { bucketOrphanStoreSuite.cases.run(t, bucketOrphanStore) }

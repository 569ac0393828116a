package rules

import (
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// deletedIn is a store of a cluster of which kops's documents were deleted.
func deletedIn(at time.Time) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Kops = audit.Is(audit.Kops{StateStore: "s3://kops", Deleted: at}) }
}

// nothingLeft is a store in which nothing is left.
var nothingLeft = all(loseBoth, noTrace, func(o *audit.Observation) { o.Listing = audit.Is(audit.Listing{}) })

var bucketOrphanStoreSuite = suite{cases: cases{
	"kops knows no such cluster": {is: "speaks", seen: orphan,
		want: []string{"warning: the kops state store s3://kops does not list the cluster prod.example.com: it was deleted, or is described elsewhere. The age of its snapshots is therefore not judged; the newest snapshot is 2026-11-30T11:55:00Z-000001"},
		says: []string{"role archive", "do NOT let anything recreate it"}},
	"nor one that the place would tell": {is: "speaks", seen: all(orphan, func(o *audit.Observation) { o.Store.Cluster = "" }), want: []string{"warning: does not list this store's cluster"}},
	"with nothing but control files":    {is: "speaks", seen: all(orphan, noSnapshots), want: []string{"warning: there is no complete snapshot"}},

	"its documents were deleted": {is: "speaks", seen: deletedIn(noon.Add(-time.Hour)), want: []string{"warning: does not list the cluster prod.example.com: its documents there were deleted at 2026-11-30 11:00:00Z, or is described elsewhere"}},
	"all was deleted with them": {is: "speaks", seen: all(deletedIn(noon.Add(-time.Hour)), nothingLeft, versionsAre(hidden(etcdmanager.CreatedPath, noon.Add(-time.Hour))...)),
		want: []string{"warning: all of this store was deleted, and the kops state store s3://kops does not list the cluster prod.example.com: its documents there were deleted at 2026-11-30 11:00:00Z"},
		says: []string{"hidden by delete marker", "If the cluster was deleted on purpose, nothing is to be done"}},
	"all was deleted, and kops has no trace of it": {is: "speaks", seen: all(orphan, nothingLeft, versionsAre(hidden(etcdmanager.CreatedPath, noon.Add(-time.Hour))...)), want: []string{"warning: all of this store was deleted"}},

	"a rule deleted the documents at midnight":   {is: "boundary", seen: all(deletedIn(noon.Truncate(audit.Day)), nothingLeft)},
	"a second past midnight it was none":         {is: "boundary", seen: all(deletedIn(noon.Truncate(audit.Day).Add(time.Second)), nothingLeft), want: []string{"warning: all of this store was deleted"}},
	"a rule hid created at midnight":             {is: "boundary", seen: all(orphan, nothingLeft, versionsAre(hidden(etcdmanager.CreatedPath, noon.Truncate(audit.Day))...))},
	"behind a server with rules of its own time": {is: "boundary", seen: all(deletedIn(noon.Add(-time.Hour)), nothingLeft, behind("https://s3.example.org"), lifecycleRules(expireAll(90)))},
	"behind a server without rules":              {is: "boundary", seen: all(deletedIn(noon.Add(-time.Hour)), nothingLeft, behind("https://s3.example.org")), want: []string{"warning: all of this store was deleted"}},
	"kops knows the cluster":                     {is: "boundary", seen: moved("s3://other/x")},
	"nothing of a store is left":                 {is: "boundary", seen: all(orphan, loseBoth, noTrace)},

	"nothing is wrong":     {is: "silent"},
	"kops names the store": {is: "silent", seen: kopsSays(nil)},

	"what kops says was not seen":             {is: "blind", seen: all(orphan, unseen(audit.FactKops))},
	"the rules behind a server were not seen": {is: "blind", seen: all(deletedIn(noon.Add(-time.Hour)), nothingLeft, behind("https://s3.example.org"), unseen(audit.FactLifecycle))},
	"the versions were not seen":              {is: "blind", seen: all(orphan, nothingLeft, unseen(audit.FactControlVersions))},
	"the listing was not seen":                {is: "blind", seen: all(orphan, unseen(audit.FactListing)), want: []string{"warning: the snapshots could not be listed"}},
}}

func TestBucketOrphanStore(t *testing.T) { bucketOrphanStoreSuite.cases.run(t, bucketOrphanStore) }

package rules

import (
	"testing"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

func namedByConfig(o *audit.Observation) { o.Store.NamedBy = "config" }

// vanishedStore is named by the configuration, and nothing of it is there.
var vanishedStore = all(namedByConfig, loseBoth, noTrace, func(o *audit.Observation) { o.Listing = audit.Is(audit.Listing{}) })

// noBucket is what is seen when the bucket does not exist.
func noBucket(o *audit.Observation) {
	why := audit.Why{Cause: audit.CauseNoBucket, Reason: "get the versioning of s3://kops: the bucket does not exist (HTTP 404 NoSuchBucket)"}
	*o = audit.Observation{Store: o.Store, Begun: o.Begun, Ended: o.Ended, ClockOffset: o.ClockOffset}
	o.Listing = audit.Unknown[audit.Listing](why)
	o.Created, o.Spec = audit.Unknown[audit.Document](why), audit.Unknown[audit.Document](why)
	o.NewestMeta, o.RestoreMeta = audit.Unknown[audit.Document](why), audit.Unknown[audit.Document](why)
	o.Queue = audit.Unknown[[]audit.Command](why)
	o.ControlVersions = audit.Unknown[[]audit.Version](why)
	o.Bucket = audit.Bucket{Name: "kops", Versioning: audit.Unknown[string](why), Lifecycle: audit.Unknown[audit.Document](why)}
}

const gone = "critical: the config names this store, and nothing of it is there: no control file, no snapshot, no command"

var auditStoreVanishedSuite = suite{cases: cases{
	"the configuration names it, and it is empty": {is: "speaks", seen: vanishedStore, want: []string{gone}, never: []string{"created right now"}, says: []string{"do NOT run kops update cluster --yes", "etcdctl snapshot save", "backupStore"}},
	"the bucket is gone":                          {is: "speaks", seen: all(namedByConfig, noBucket), want: []string{gone}},
	"delete markers are left of it":               {is: "speaks", seen: all(vanishedStore, versionsAre(hidden(etcdmanager.CreatedPath, noon)...)), want: []string{gone}, says: []string{"hidden by delete marker"}},

	"kops names it, and it is empty": {is: "speaks", seen: all(vanishedStore, kopsSays(nil), namedByKops), want: []string{"critical: kops names this store, and nothing of it is there"},
		says: []string{"If the cluster is being created right now"}, never: []string{"the kops names", "out of the configuration"}},
	"the cluster is gone too": {is: "speaks", seen: all(vanishedStore, orphan), want: []string{"warning: the config names this store, and nothing of it is there: no control file, no snapshot, no command. The kops state store s3://kops knows no such cluster either"},
		says: []string{"take the store out of the configuration"}},
	"the cluster keeps its backups elsewhere": {is: "speaks", seen: all(vanishedStore, moved("s3://other/x")), want: []string{gone}},

	"another program's object is nothing of it": {is: "boundary", seen: all(vanishedStore, strays(1)), want: []string{gone}},
	"one snapshot is something":                 {is: "boundary", seen: all(vanishedStore, snapshotsAre(taken(0, 50_000)))},
	"half a snapshot is something":              {is: "boundary", seen: all(vanishedStore, snapshotsAre(withoutMeta(taken(0, 50_000))))},
	"created is something":                      {is: "boundary", seen: all(vanishedStore, bornAtTime(birth))},
	"an empty created is something":             {is: "boundary", seen: all(vanishedStore, createdIs("", birth))},
	"spec is something":                         {is: "boundary", seen: all(vanishedStore, specIs(specGood, birth))},
	"a command is something":                    {is: "boundary", seen: all(vanishedStore, queued("x", 0))},

	"nothing is wrong":                        {is: "silent", seen: namedByConfig},
	"nobody says that it should exist":        {is: "silent", seen: all(vanishedStore, func(o *audit.Observation) { o.Store.NamedBy = "" })},
	"nobody names it, and the bucket is gone": {is: "silent", seen: noBucket},
	"armed is not gone":                       {is: "silent", seen: all(namedByConfig, loseBoth)},

	"the listing was not seen":                             {is: "blind", seen: all(vanishedStore, unseen(audit.FactListing))},
	"what kops says was not seen":                          {is: "blind", seen: all(vanishedStore, orphan, unseen(audit.FactKops)), want: []string{gone}},
	"created was not seen":                                 {is: "blind", seen: all(vanishedStore, unseen(audit.FactCreated))},
	"spec was not seen":                                    {is: "blind", seen: all(vanishedStore, unseen(audit.FactSpec))},
	"the queue was not seen":                               {is: "blind", seen: all(vanishedStore, unseen(audit.FactQueue))},
	"versioning was refused to us, and the store is there": {is: "blind", seen: all(namedByConfig, unseen(audit.FactVersioning))},
	"versioning was not seen":                              {is: "blind", seen: all(vanishedStore, unseen(audit.FactVersioning)), want: []string{gone}},
}}

func TestAuditStoreVanished(t *testing.T) { auditStoreVanishedSuite.cases.run(t, auditStoreVanished) }

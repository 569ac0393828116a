package rules

import (
	"strings"
	"testing"

	"backstop/audit"
)

// because hides created for a reason of the given cause.
func because(c audit.Cause) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Created = audit.Unknown[audit.Document](audit.Why{Cause: c, Reason: "get s3://kops/x: " + string(c)})
	}
}

var controlUnseenSuite = suite{cases: cases{
	"created was refused to us": {is: "speaks", seen: unseen(audit.FactCreated),
		want: []string{"unknown: created could not be seen: get s3://kops/x: access denied (HTTP 403 AccessDenied)"},
		says: []string{"Allow s3:GetObject to the identity", "nobody can tell a running cluster from one that is armed"}},
	"spec was refused to us": {is: "speaks", seen: unseen(audit.FactSpec), want: []string{"unknown: spec could not be seen"},
		says: []string{"nobody can tell an armed store from one that is about to be reset"}},
	"spec was refused to us, and created is missing": {is: "speaks", seen: all(loseCreated, unseen(audit.FactSpec)),
		want: []string{"unknown: etcd-cluster-created is missing, so this store is armed or about to be reset, and which of the two was not seen: get s3://kops/x: access denied"},
		says: []string{"either way etcd-cluster-created goes back FIRST"}},
	"spec was refused to us, and no cluster was ever there": {is: "speaks", seen: all(loseCreated, noTrace, unseen(audit.FactSpec)), want: []string{"unknown: spec could not be seen"}, never: []string{"armed or about to be reset"}},
	"the queue was refused to us, and created is missing":   {is: "speaks", seen: all(loseCreated, unseen(audit.FactQueue)), want: []string{"unknown: queue could not be seen"}, never: []string{"which of the two"}},
	"the listing was refused to us": {is: "speaks", seen: unseen(audit.FactListing), want: []string{"unknown: listing could not be seen"},
		says: []string{"s3:ListBucket", "whether snapshots exist"}},
	"the queue was refused to us": {is: "speaks", seen: unseen(audit.FactQueue), want: []string{"unknown: queue could not be seen"},
		says: []string{"whether the next restart of the leader restores an old backup"}},
	"a command was refused to us": {is: "speaks", seen: func(o *audit.Observation) {
		o.Queue.Value = append(o.Queue.Value, audit.Command{Body: denied[audit.Document]("s3:GetObject")})
	}, want: []string{"unknown: queue could not be seen"}},
	"the key was refused to us": {is: "speaks", seen: func(o *audit.Observation) { o.Created = denied[audit.Document]("kms:Decrypt") },
		want: []string{"unknown: created could not be seen"}, says: []string{"Allow kms:Decrypt on the key"}},
	"we were throttled": {is: "speaks", seen: because(audit.CauseThrottled), want: []string{"unknown: created could not be seen"}, says: []string{"Run it again"}},
	"we were too slow":  {is: "speaks", seen: because(audit.CauseTimeout), want: []string{"unknown: created could not be seen"}, says: []string{"--timeout"}},

	"two facts for one reason are one finding": {is: "boundary", seen: all(unseen(audit.FactCreated), unseen(audit.FactSpec)),
		want: []string{"unknown: created could not be seen"}, says: []string{"unseen: created, spec"}},
	"two facts for two reasons are two": {is: "boundary", seen: all(unseen(audit.FactCreated), unseen(audit.FactListing)),
		want: []string{"unknown: listing could not be seen", "unknown: created could not be seen"}},
	"created and snapshots are missing, and the versions were not seen": {is: "boundary", seen: all(loseCreated, noSnapshots, unseen(audit.FactControlVersions)),
		want: []string{"unknown: control_versions could not be seen"}, says: []string{"a cluster that is being born from one that lost its files", "s3:ListBucketVersions"}},
	"one snapshot tells as much as the versions":        {is: "boundary", seen: all(loseCreated, snapshotsAre(taken(0, 50_000)), unseen(audit.FactControlVersions))},
	"while created is there, the versions tell nothing": {is: "boundary", seen: all(noSnapshots, unseen(audit.FactControlVersions))},

	"nothing is wrong":                     {is: "silent"},
	"both files are missing":               {is: "silent", seen: loseBoth},
	"created is archived":                  {is: "silent", seen: archiveCreated},
	"other rules speak of versioning":      {is: "silent", seen: unseen(audit.FactVersioning)},
	"other rules speak of the lifecycle":   {is: "silent", seen: unseen(audit.FactLifecycle)},
	"other rules speak of the newest meta": {is: "silent", seen: unseen(audit.FactNewestMeta)},
	"other rules speak of the clock":       {is: "silent", seen: unseen(audit.FactClock)},

	"nothing was looked at": {is: "blind", seen: func(o *audit.Observation) { *o = audit.Observation{} },
		want: []string{"unknown: listing could not be seen: it was not looked at"}, says: []string{"unseen: listing, created, spec, queue"}},
	"the listing and the versions were not seen, and created is missing": {is: "blind", seen: all(loseCreated, unseen(audit.FactListing), unseen(audit.FactControlVersions)),
		want: []string{"unknown: listing could not be seen"}},
}}

func TestControlUnseen(t *testing.T) { controlUnseenSuite.cases.run(t, controlUnseen) }

// For every cause there is something to do.
func TestRemedies(t *testing.T) {
	for c, words := range map[audit.Cause]string{
		audit.CauseDenied:      "Allow s3:GetObject",
		audit.CauseCredentials: "valid credentials",
		audit.CauseThrottled:   "Run it again",
		audit.CauseServer:      "Run it again",
		audit.CauseTimeout:     "--timeout",
		audit.CauseUnreachable: "--endpoint-url",
		audit.CauseUnsupported: "The provider cannot tell",
		audit.CauseForeign:     "does not answer as S3 does",
		audit.CauseMalformed:   "does not answer as S3 does",
		audit.CauseRedirect:    "--region",
		audit.CauseNoBucket:    "Check the bucket's name",
		audit.CauseOther:       "run backstop again",
		audit.CauseNotAsked:    "run backstop again",
		audit.CauseTooBig:      "run backstop again",
	} {
		if got := remedy(audit.Why{Cause: c, Permission: "s3:GetObject"}); !strings.Contains(got, words) {
			t.Errorf("%s: %q does not say %q", c, got, words)
		}
	}
}

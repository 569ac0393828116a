package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

func noLock(o *audit.Observation) { o.Bucket.ObjectLock = audit.None[audit.ObjectLock]() }

func mfaDelete(o *audit.Observation) { o.Bucket.MFADelete = true }

func noEncryption(o *audit.Observation) { o.Bucket.Encryption = audit.None[string]() }

func unfinished(n int, oldest time.Duration) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Bucket.Uploads = audit.Is(audit.Uploads{Count: n, Oldest: noon.Add(-oldest)})
	}
}

var bucketHygieneSuite = suite{ages: true, limits: []limit{timeLimit("leftOver", &leftOver)}, cases: cases{
	"everything at once is one finding": {is: "speaks", seen: all(noLock, noBlock, noEncryption, unfinished(3, 30*audit.Day)),
		want: []string{"info: the bucket could be kept better: neither Object Lock nor MFA delete is on, so whoever may delete versions can delete everything for good; public access is not blocked on the bucket itself (BlockPublicAcls, IgnorePublicAcls, BlockPublicPolicy, RestrictPublicBuckets); there is no default encryption; 3 multipart uploads begun and never finished, the oldest 2026-10-31 12:00:00Z"},
		says: []string{"legal hold", "AbortIncompleteMultipartUpload", "all four settings"}},
	"MFA delete locks the cleanup out": {is: "speaks", seen: mfaDelete, want: []string{"info: MFA delete is on, so etcd-manager's cleanup can delete nothing"}},
	"no lock":                          {is: "speaks", seen: noLock, want: []string{"info: neither Object Lock nor MFA delete is on"}},
	"no encryption":                    {is: "speaks", seen: noEncryption, want: []string{"info: there is no default encryption"}},
	"more uploads than were counted": {is: "speaks", seen: func(o *audit.Observation) {
		unfinished(1000, 30*audit.Day)(o)
		o.Bucket.Uploads.Value.More = true
	}, want: []string{"info: over 1000 multipart uploads"}},

	"an upload of a day may be under way": {is: "boundary", seen: unfinished(1, audit.Day)},
	"a second more is left behind":        {is: "boundary", seen: unfinished(1, audit.Day+time.Second), want: []string{"info: 1 multipart upload begun and never finished"}},
	"one setting of four":                 {is: "boundary", seen: unrestricted, want: []string{"info: (RestrictPublicBuckets)"}},
	"and each of the others": {is: "boundary", seen: blocking(func(b *audit.PublicAccessBlock) { *b = audit.PublicAccessBlock{RestrictPublicBuckets: true} }),
		want: []string{"info: (BlockPublicAcls, IgnorePublicAcls, BlockPublicPolicy)"}},
	"MFA delete stands for the lock":            {is: "boundary", seen: all(noLock, mfaDelete), want: []string{"info: MFA delete is on"}, never: []string{"neither"}},
	"without versions there is nothing to lock": {is: "boundary", seen: all(unversioned, noLock)},
	"nor with suspended ones":                   {is: "boundary", seen: all(suspended, noLock)},

	"nothing is wrong": {is: "silent"},

	"versioning was not seen":     {is: "blind", seen: all(noLock, unseen(audit.FactVersioning))},
	"the lock was not seen":       {is: "blind", seen: all(noLock, unseen(audit.FactObjectLock))},
	"the block was not seen":      {is: "blind", seen: all(noBlock, unseen(audit.FactPublicAccessBlock))},
	"the encryption was not seen": {is: "blind", seen: all(noEncryption, unseen(audit.FactEncryption))},
	"the uploads were not seen":   {is: "blind", seen: all(unfinished(1, 30*audit.Day), unseen(audit.FactUploads))},
}}

func TestBucketHygiene(t *testing.T) { bucketHygieneSuite.cases.run(t, bucketHygiene) }

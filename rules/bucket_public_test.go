package rules

import (
	"testing"

	"backstop/audit"
)

func publicPolicy(public bool) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Bucket.PublicPolicy = audit.Is(public) }
}

func blocking(change func(b *audit.PublicAccessBlock)) func(o *audit.Observation) {
	return func(o *audit.Observation) { change(&o.Bucket.PublicAccessBlock.Value) }
}

func unrestricted(o *audit.Observation) {
	blocking(func(b *audit.PublicAccessBlock) { b.RestrictPublicBuckets = false })(o)
}

func noBlock(o *audit.Observation) {
	o.Bucket.PublicAccessBlock = audit.None[audit.PublicAccessBlock]()
}

var bucketPublicSuite = suite{cases: cases{
	"nothing is blocked": {is: "speaks", seen: all(publicPolicy(true), noBlock), want: []string{"critical: S3 judges the bucket's policy as public: a snapshot of etcd holds every secret of its cluster"},
		says: []string{"put-public-access-block --bucket kops", "rotate"}},
	"behind another server": {is: "speaks", seen: all(publicPolicy(true), noBlock, behind("https://s3.example.org")), want: []string{"warning: the server judges the bucket's policy as public (some servers do so"}},

	"all is blocked but what counts": {is: "boundary", seen: all(publicPolicy(true), unrestricted), want: []string{"critical: S3 judges"}},
	"what counts is blocked":         {is: "boundary", seen: publicPolicy(true)},
	"a policy that is not public":    {is: "boundary", seen: all(publicPolicy(false), noBlock)},

	"nothing is wrong":         {is: "silent"},
	"neither policy nor block": {is: "silent", seen: noBlock},

	"the policy's status was not seen": {is: "blind", seen: all(noBlock, unseen(audit.FactPublicPolicy))},
	"the block was not seen":           {is: "blind", seen: all(publicPolicy(true), unseen(audit.FactPublicAccessBlock)), want: []string{"critical: S3 judges"}},
}}

func TestBucketPublic(t *testing.T) { bucketPublicSuite.cases.run(t, bucketPublic) }

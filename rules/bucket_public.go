package rules

import (
	"time"

	"backstop/audit"
)

var bucketPublic = audit.Rule{
	ID:         "bucket/public",
	Title:      "the bucket's policy lets everybody in",
	Severities: []audit.Severity{audit.Critical, audit.Warning},
	Scope:      "bucket",
	Needs:      []audit.FactName{audit.FactPublicPolicy, audit.FactPublicAccessBlock},
	AnyLayout:  true,
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		public, block := o.Bucket.PublicPolicy, o.Bucket.PublicAccessBlock
		if !public.IsSet() || !public.Value || block.IsSet() && block.Value.RestrictPublicBuckets {
			return nil
		}
		severity, how := audit.Critical, "S3 judges the bucket's policy as public"
		if o.Store.Endpoint != "" {
			// Ceph 16 says so of a policy that allows one named user something.
			severity, how = audit.Warning, "the server judges the bucket's policy as public (some servers do so of every policy that allows somebody something: look at it)"
		}
		return []audit.Finding{audit.Found(severity,
			"%s: a snapshot of etcd holds every secret of its cluster, and whoever may write here can replace the cluster", how).
			Saw("a public policy, and public buckets not restricted", "a policy for named principals alone").
			Todo("Do NOT only correct the policy: first shut everybody out, with RestrictPublicBuckets: aws s3api put-public-access-block --bucket "+o.Bucket.Name+" --public-access-block-configuration BlockPublicAcls=true,IgnorePublicAcls=true,BlockPublicPolicy=true,RestrictPublicBuckets=true",
				"Then take the statement with Principal \"*\" out of the policy, there and where the bucket is defined.",
				"Take every secret in these clusters for known, as far as the server's logs do not show otherwise: rotate service account keys, certificates and what Secrets hold.")}
	},
}

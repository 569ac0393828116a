package store

import "backstop/audit"

// Actions are the IAM actions that each method of [Bucket] needs. A test holds
// that every method is here, and makes deploy/iam-policy.json from it; a method
// that asks S3 for nothing has none. The names are from AWS's service
// authorization reference for Amazon S3: HeadBucket and ListObjectsV2 are
// s3:ListBucket.
var Actions = map[string][]string{
	"List":         {"s3:ListBucket"},
	"Folders":      {"s3:ListBucket"},
	"ListVersions": {"s3:ListBucketVersions"},
	"Get":          {"s3:GetObject"},
	"Open":         {"s3:GetObject"},
	"Unchanged":    {"s3:GetObject"},
	"Tags":         {"s3:GetObjectTagging"},
	"Versioning":   {"s3:GetBucketVersioning"},
	"Lifecycle":    {"s3:GetLifecycleConfiguration"},
	"Region":       {"s3:ListBucket"},

	"ObjectLock":        {"s3:GetBucketObjectLockConfiguration"},
	"PublicAccessBlock": {"s3:GetBucketPublicAccessBlock"},
	"PolicyStatus":      {"s3:GetBucketPolicyStatus"},
	"Encryption":        {"s3:GetEncryptionConfiguration"},
	"Uploads":           {"s3:ListBucketMultipartUploads"},

	"ClockOffset": nil,
	"Endpoint":    nil,
	"Fork":        nil,
	"Name":        nil,
	"URL":         nil,
	"Usage":       nil,
}

// FactActions are the actions by which each fact is learned. The clock takes
// none: it comes with every answer.
var FactActions = map[audit.FactName]string{
	audit.FactListing: "s3:ListBucket", audit.FactControlVersions: "s3:ListBucketVersions", audit.FactVersions: "s3:ListBucketVersions",
	audit.FactCreated: "s3:GetObject", audit.FactSpec: "s3:GetObject", audit.FactQueue: "s3:GetObject",
	audit.FactNewestMeta: "s3:GetObject", audit.FactRestoreMeta: "s3:GetObject", audit.FactKops: "s3:GetObject",
	audit.FactKopsState:  "s3:ListBucket",
	audit.FactTags:       "s3:GetObjectTagging",
	audit.FactVersioning: "s3:GetBucketVersioning", audit.FactLifecycle: "s3:GetLifecycleConfiguration",
	audit.FactObjectLock: "s3:GetBucketObjectLockConfiguration", audit.FactPublicAccessBlock: "s3:GetBucketPublicAccessBlock",
	audit.FactPublicPolicy: "s3:GetBucketPolicyStatus", audit.FactEncryption: "s3:GetEncryptionConfiguration",
	audit.FactUploads: "s3:ListBucketMultipartUploads",
}

// ObjectActions are those of the actions that a policy allows on objects, and
// not on the bucket.
var ObjectActions = []string{"s3:GetObject", "s3:GetObjectTagging"}

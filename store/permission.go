package store

// Actions are the IAM actions that each method of [Bucket] needs. A test holds
// that every method is here, and makes deploy/iam-policy.json from it; a method
// that asks S3 for nothing has none. The names are from AWS's service
// authorization reference for Amazon S3: HeadBucket and ListObjectsV2 are
// s3:ListBucket.
var Actions = map[string][]string{
	"List":         {"s3:ListBucket"},
	"ListVersions": {"s3:ListBucketVersions"},
	"Get":          {"s3:GetObject"},
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

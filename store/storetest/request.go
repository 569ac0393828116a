package storetest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// defaultRegion is where buckets live unless SetRegion moves them.
const defaultRegion = "us-east-1"

// A Request is a request as the fake saw it.
type Request struct {
	// Operation is the name of the API, as ListObjectsV2; empty for what the
	// fake does not know.
	Operation string
	Bucket    string
	Key       string
	Method    string
	Query     url.Values
	Header    http.Header
	// Region is the one that the request is signed for.
	Region string
	// Attempt counts the requests with this method and URL, this one included,
	// since the fake was made or ResetRequests.
	Attempt int
}

// An operation is a call that the fake knows.
type operation struct {
	name   string
	action string   // the IAM action that it needs
	params []string // the query parameters that it knows
	do     func(c *call) error
}

// Calls are told apart by method, by whether there is a key, and by the one
// query parameter that names a sub-resource. List has no calls of other kinds
// than the auditor's.
var operations = map[string]operation{
	"HEAD bucket":                  {"HeadBucket", "s3:ListBucket", nil, (*call).headBucket},
	"GET bucket list-type":         {"ListObjectsV2", "s3:ListBucket", []string{"prefix", "delimiter", "start-after", "continuation-token", "max-keys", "encoding-type"}, (*call).listObjects},
	"GET bucket versions":          {"ListObjectVersions", "s3:ListBucketVersions", []string{"prefix", "key-marker", "version-id-marker", "max-keys", "encoding-type"}, (*call).listVersions},
	"GET bucket versioning":        {"GetBucketVersioning", "s3:GetBucketVersioning", nil, (*call).getVersioning},
	"GET bucket lifecycle":         {"GetBucketLifecycleConfiguration", "s3:GetLifecycleConfiguration", nil, (*call).getLifecycle},
	"GET bucket object-lock":       {"GetObjectLockConfiguration", "s3:GetBucketObjectLockConfiguration", nil, (*call).getObjectLock},
	"GET bucket publicAccessBlock": {"GetPublicAccessBlock", "s3:GetBucketPublicAccessBlock", nil, (*call).getPublicAccessBlock},
	"GET bucket policyStatus":      {"GetBucketPolicyStatus", "s3:GetBucketPolicyStatus", nil, (*call).getPolicyStatus},
	"GET bucket encryption":        {"GetBucketEncryption", "s3:GetEncryptionConfiguration", nil, (*call).getEncryption},
	"GET bucket uploads":           {"ListMultipartUploads", "s3:ListBucketMultipartUploads", []string{"prefix", "max-uploads", "encoding-type"}, (*call).listUploads},
	"GET bucket location":          {"GetBucketLocation", "s3:GetBucketLocation", nil, (*call).getLocation},
	"GET object":                   {"GetObject", "s3:GetObject", []string{"versionId"}, (*call).getObject},
	"HEAD object":                  {"HeadObject", "s3:GetObject", []string{"versionId"}, (*call).getObject},
	"GET object tagging":           {"GetObjectTagging", "s3:GetObjectTagging", []string{"versionId"}, (*call).getTagging},
}

// subresources are the parameters that make another call of a request.
var subresources = []string{
	"list-type", "versions", "versioning", "lifecycle", "location", "tagging",
	"object-lock", "publicAccessBlock", "policyStatus", "encryption", "uploads",
}

// An apiError is an error answer of S3.
type apiError struct {
	status        int
	code, message string
	region        string // where to go instead
	class         string // StorageClass of InvalidObjectState
}

func (e *apiError) Error() string { return e.code + ": " + e.message }

func refuse(status int, code, message string) error {
	return &apiError{status: status, code: code, message: message}
}

// route finds the operation, and the bucket and key that it is about.
func (c *call) route(r *http.Request) (operation, error) {
	bucket, key, hasKey := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	query := r.URL.Query()
	c.req = Request{Bucket: bucket, Key: key, Method: r.Method, Query: query, Header: r.Header.Clone(), Region: signedFor(r)}
	name := r.Method + " bucket"
	if hasKey && key != "" {
		name = r.Method + " object"
	}
	for _, sub := range subresources {
		if query.Has(sub) {
			name += " " + sub
		}
	}
	op, ok := operations[name]
	if !ok || bucket == "" {
		return op, refuse(http.StatusNotImplemented, "NotImplemented", "The fake does not know "+name+".")
	}
	for p := range query {
		if !slices.Contains(op.params, p) && !strings.HasSuffix(name, " "+p) && (p != "x-id" || query.Get(p) != op.name) {
			return operation{}, refuse(http.StatusNotImplemented, "NotImplemented", "The fake does not know the parameter "+p+" of "+op.name+".")
		}
	}
	c.req.Operation = op.name
	return op, nil
}

// signedFor gives the region of a SigV4 credential scope,
// KEY/DATE/REGION/s3/aws4_request; empty for an unsigned request.
func signedFor(r *http.Request) string {
	_, scope, ok := strings.Cut(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=")
	parts := strings.Split(scope, "/")
	if !ok || len(parts) < 4 {
		return ""
	}
	return parts[2]
}

// admit checks what S3 checks before it looks at the call itself.
func (c *call) admit(r *http.Request, op operation) error {
	if c.req.Region == "" && !c.fake.anonymous {
		return refuse(http.StatusForbidden, "AccessDenied", "Access Denied")
	}
	if c.fake.checkTime && !c.fake.signedNow(r) {
		return refuse(http.StatusForbidden, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large.")
	}
	c.bucket = c.fake.buckets[c.req.Bucket]
	if c.bucket == nil {
		return refuse(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist")
	}
	if want := c.bucket.region; want != "" && c.req.Region != "" && c.req.Region != want {
		return wrongRegion(http.StatusMovedPermanently, want)
	}
	if op.action == "s3:ListBucket" || op.action == "s3:ListBucketVersions" {
		c.header.Set("X-Amz-Bucket-Region", c.region())
		if only := c.bucket.listOnly; only != nil && !strings.HasPrefix(r.URL.Query().Get("prefix"), *only) {
			return refuse(http.StatusForbidden, "AccessDenied", "Access Denied")
		}
	}
	if c.bucket.denied[op.action] || c.bucket.denied[op.name] {
		return refuse(http.StatusForbidden, "AccessDenied", "User is not authorized to perform: "+op.action)
	}
	return nil
}

// wrongRegion is how S3 sends a client to the bucket's region; an empty region
// does not name it.
func wrongRegion(status int, region string) error {
	e := &apiError{status, "PermanentRedirect", "The bucket you are attempting to access must be addressed using the specified endpoint.", region, ""}
	switch status {
	case http.StatusTemporaryRedirect:
		e.code, e.message = "TemporaryRedirect", "Please re-send this request to the specified temporary endpoint."
	case http.StatusBadRequest:
		e.code, e.message = "AuthorizationHeaderMalformed", "The authorization header is malformed; the region is wrong; expecting '"+region+"'"
	}
	return e
}

func (c *call) region() string {
	if c.bucket.region != "" {
		return c.bucket.region
	}
	return defaultRegion
}

package storetest

import (
	"net/http"
	"time"
)

// A Server is a server that speaks S3 and is not AWS: how it answers those calls
// that it answers otherwise. docs/providers.md says of each whether that was
// measured or read.
type Server struct {
	Name    string
	answers map[string]Fault // by operation
}

// unknown is how a server says that it does not know a call.
var unknown = Fault{Kind: Refused, Status: http.StatusNotImplemented, Code: "NotImplemented", Message: "A header you provided implies functionality that is not implemented."}

// another is a document in place of the right one.
func another(xml string) Fault { return Fault{Kind: Foreign, Body: []byte(xml)} }

// The servers. Where a setting of a bucket is answered, it is that of a bucket of
// which it was never set.
var (
	// RGW is Ceph 16.2.15, measured: a call that it does not know is answered
	// with a listing, and a public access block that is not there with one that
	// blocks nothing.
	RGW = Server{"Ceph RGW", map[string]Fault{
		"GetBucketEncryption": {Kind: Foreign},
		"GetPublicAccessBlock": another("<BlockPublicAccessBlockConfiguration><BlockPublicAcls>false</BlockPublicAcls><IgnorePublicAcls>false</IgnorePublicAcls>" +
			"<BlockPublicPolicy>false</BlockPublicPolicy><RestrictPublicBuckets>false</RestrictPublicBuckets></BlockPublicAccessBlockConfiguration>"),
		"GetBucketPolicyStatus": another("<PolicyStatus><IsPublic>FALSE</IsPublic></PolicyStatus>"),
	}}
	// MinIO is the build of February 2026, measured.
	MinIO = Server{"MinIO", map[string]Fault{
		"GetPublicAccessBlock":  unknown,
		"GetBucketPolicyStatus": another("<PolicyStatus><IsPublic>FALSE</IsPublic></PolicyStatus>"),
	}}
	// Versitygw is versitygw 1.8.0, measured.
	Versitygw = Server{"versitygw", map[string]Fault{
		"GetBucketLifecycleConfiguration": unknown,
		"GetPublicAccessBlock":            unknown,
		"GetBucketEncryption":             unknown,
	}}
	// R2 is Cloudflare's, as its list of calls has it. The answer to a listing
	// of versions was recorded by others.
	R2 = Server{"Cloudflare R2", map[string]Fault{
		"GetBucketVersioning":        unknown,
		"ListObjectVersions":         unknown,
		"GetObjectLockConfiguration": unknown,
		"GetPublicAccessBlock":       unknown,
		"GetBucketPolicyStatus":      unknown,
		"GetBucketEncryption":        another("<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>"),
	}}
	// Spaces is DigitalOcean's, as its documentation has it: NotImplemented for
	// what it does not know.
	Spaces = Server{"DigitalOcean Spaces", map[string]Fault{
		"GetObjectLockConfiguration": unknown,
		"GetPublicAccessBlock":       unknown,
		"GetBucketEncryption":        unknown,
	}}
)

// Be makes the fake answer as the server does, in place of other faults. None of
// them says what S3 says of small objects beside the lifecycle rules.
func (f *Fake) Be(s Server) {
	f.Fault(func(r Request) *Fault {
		if fault, ok := s.answers[r.Operation]; ok {
			return &fault
		}
		return nil
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.buckets {
		b.sizeDefault = ""
	}
}

// maxSkew is by how much the time that a request is signed for may differ from
// S3's.
const maxSkew = 15 * time.Minute

// CheckTime makes the fake refuse requests that are signed for another time, as
// S3 does. Requests are signed by the machine's clock, so the fake's must then
// be near it, or far from it on purpose.
func (f *Fake) CheckTime() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checkTime = true
}

// signedNow reports whether a request is signed for the time that it is.
func (f *Fake) signedNow(r *http.Request) bool {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	return err != nil || f.clock().Sub(at).Abs() <= maxSkew
}

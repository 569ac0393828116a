package main

import (
	"strings"

	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// Servers that are not AWS, each with what it cannot tell, and what may be refused
// to us.
var servers = []situation{
	{name: "MinIO: it has no public access block",
		is:   func(w *scene) { w.behind(storetest.MinIO); w.prod() },
		want: found{"main": "running OK: info audit/blind"},
		says: []string{"not seen: public_access_block; "}},
	{name: "MinIO: with a rule over the whole bucket",
		is:   func(w *scene) { w.behind(storetest.MinIO); w.lifecycle(expireAfter(500)); w.prod() },
		want: found{"main": "running WARNING: warning lifecycle/deletes-control, info audit/blind, info audit/provider-unverified"}},
	{name: "R2: it has no versions, and cannot tell that it has none",
		is:   func(w *scene) { w.behind(storetest.R2); w.lifecycle(r2Default); w.prod() },
		want: found{"main": "running UNKNOWN: unknown bucket/unversioned, info audit/blind, info audit/provider-unverified"},
		says: []string{"the provider does not support this call (HTTP 501 NotImplemented)"}},
	{name: "R2: the owner has looked into its console, and the configuration says so",
		is: func(w *scene) {
			w.behind(storetest.R2)
			w.lifecycle(r2Default)
			w.prod()
			w.config = "- url: s3://kops-state\n  assume:\n  - {fact: versioning, value: \"off\", until: 2027-06-30, reason: R2 keeps no versions}\n"
		},
		want: found{"main": "running WARNING: warning bucket/unversioned, info audit/assumed, info audit/blind, info audit/provider-unverified"}},
	{name: "R2: both control files are gone, and nobody can tell whether they can be brought back",
		is: func(w *scene) {
			w.behind(storetest.R2)
			w.lifecycle(r2Default)
			w.state.SetVersioning("")
			w.prod().stops(hour).loses(hour, etcdmanager.CreatedPath, etcdmanager.SpecPath)
		},
		want: found{"main": "armed CRITICAL: critical control/reset-armed, unknown bucket/unversioned, info audit/blind, info audit/provider-unverified"},
		says: []string{"whether an old version of a control file can be brought back was not seen"}},
	{name: "RGW: it does not know default encryption, and answers with a listing",
		is:   func(w *scene) { w.behind(storetest.RGW); w.prod() },
		want: found{"main": "running OK: info audit/blind, info bucket/hygiene"},
		says: []string{"not seen: encryption"}},
	{name: "Spaces: it has neither Object Lock nor a public access block nor default encryption",
		is:   func(w *scene) { w.behind(storetest.Spaces); w.prod() },
		want: found{"main": "running OK: info audit/blind"},
		says: []string{"not seen: object_lock, public_access_block, encryption"}},
	{name: "versitygw: it cannot tell its lifecycle rules, also if there are none",
		is:   func(w *scene) { w.behind(storetest.Versitygw); w.prod() },
		want: found{"main": "running UNKNOWN: unknown lifecycle/unseen, info audit/blind, info audit/provider-unverified"}},
	{name: "versitygw: the owner says that there are no rules",
		is: func(w *scene) {
			w.behind(storetest.Versitygw)
			w.prod()
			w.config = "- url: s3://kops-state\n  assume:\n  - {fact: lifecycle, value: none, until: 2027-06-30, reason: its rules live in a file}\n"
		},
		want: found{"main": "running OK: info audit/assumed, info audit/blind"}},
	{name: "versitygw: what the owner says has ended",
		is: func(w *scene) {
			w.behind(storetest.Versitygw)
			w.prod()
			w.config = "- url: s3://kops-state\n  assume:\n  - {fact: lifecycle, value: none, until: 2026-06-30, reason: its rules live in a file}\n"
		},
		want: found{"main": "running UNKNOWN: unknown lifecycle/unseen, info audit/blind, info audit/ignore, info audit/provider-unverified"}},
	{name: "a proxy answers with a page of its own when it is asked for lifecycle rules",
		is: func(w *scene) {
			w.prod()
			w.fails("GetBucketLifecycleConfiguration", storetest.Fault{Kind: storetest.Foreign, Body: []byte("<html><body>Sign in</body></html>")})
		},
		want: found{"main": "running UNKNOWN: unknown lifecycle/unseen"}},
	{name: "S3 asks to slow down whenever created is read",
		is: func(w *scene) {
			w.prod()
			w.fault = func(r storetest.Request) *storetest.Fault {
				if r.Operation == "GetObject" && r.Key == mainRoot+"/"+etcdmanager.CreatedPath {
					return &storetest.Fault{Kind: storetest.Refused, Status: 503, Code: "SlowDown"}
				}
				return nil
			}
		},
		want: found{"main": "unknown UNKNOWN: unknown control/unseen"}},

	{name: "we may list the store and nothing else of the bucket, and the control files are gone",
		is: func(w *scene) {
			w.prod().stops(hour).loses(hour, etcdmanager.CreatedPath, etcdmanager.SpecPath)
			w.state.Deny("s3:GetBucketVersioning", "s3:GetLifecycleConfiguration", "s3:ListBucketVersions")
		},
		want:  found{"main": "armed CRITICAL: critical control/reset-armed, unknown bucket/unversioned, unknown lifecycle/unseen, info audit/blind"},
		order: repairOrder},
	{name: "we may not list, and get 403 for what is there and for what is not",
		is: func(w *scene) {
			w.prod().loses(hour, etcdmanager.CreatedPath)
			w.state.Deny("s3:ListBucket")
			w.places = []string{"s3://kops-state/" + mainRoot}
		},
		want: found{"main": "unknown UNKNOWN: unknown control/unseen, unknown control/unseen, info audit/blind"}},
	{name: "we may not see old versions",
		is:   func(w *scene) { w.prod(); w.state.Deny("s3:ListBucketVersions") },
		want: found{"main": "running OK: info audit/blind"}},
	{name: "we may not see old versions, and a new cluster is being born, or an old one about to be reset",
		is: func(w *scene) {
			w.tree(mainRoot).spec(5*minute, 3, "3.5.30")
			w.state.Deny("s3:ListBucketVersions")
		},
		want: found{"main": "unknown UNKNOWN: unknown control/unseen, info audit/blind"}},
	{name: "the key of created is refused to us, and not to etcd-manager",
		is:   func(w *scene) { w.prod().sealed(etcdmanager.CreatedPath) },
		want: found{"main": "unknown UNKNOWN: unknown control/unseen"},
		says: []string{"Allow kms:Decrypt on the key"}},
	{name: "the key of created is refused to us, and backups have stopped",
		is:   func(w *scene) { w.prod().stops(day).sealed(etcdmanager.CreatedPath) },
		want: found{"main": "unknown CRITICAL: critical snapshot/stale, unknown control/unseen"}},
	{name: "the listing breaks off, and the spec is missing",
		is: func(w *scene) {
			w.prod().loses(hour, etcdmanager.SpecPath)
			w.fails("ListObjectsV2", storetest.Fault{Kind: storetest.Tokenless})
			w.places = []string{"s3://kops-state/" + mainRoot}
		},
		want: found{"main": "unknown CRITICAL: critical control/spec-missing, unknown control/unseen, info audit/blind"}},
	{name: "kops's documents time out, and all else is well",
		is: func(w *scene) {
			w.prod()
			w.fault = func(r storetest.Request) *storetest.Fault {
				if r.Operation == "GetObject" && !strings.HasPrefix(r.Key, mainRoot) {
					return &storetest.Fault{Kind: storetest.Refused, Status: 503, Code: "SlowDown"}
				}
				return nil
			}
		},
		want: found{"main": "running OK: info audit/blind", "not audited: s3://kops-state/prod.example.com": "throttled"}},
}

// r2Default is the rule that every bucket of R2 has.
const r2Default = "<Rule><ID>Default Multipart Abort Rule</ID><Status>Enabled</Status><Filter/><AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>"

// behind puts the buckets behind another server than AWS.
func (w *scene) behind(s storetest.Server) { w.server = &s }

// fails lets every call of an operation fail.
func (w *scene) fails(operation string, fault storetest.Fault) {
	w.fault = func(r storetest.Request) *storetest.Fault {
		if r.Operation == operation {
			return &fault
		}
		return nil
	}
}

// sealed encrypts a control file with a key that we may not use.
func (s *tree) sealed(path string) *tree {
	o, _ := s.b.Stat(s.key(path))
	s.b.Purge(s.key(path))
	s.b.Put(s.key(path), o.Body, storetest.WithTime(o.Time), storetest.SealedBy("AccessDenied"))
	return s
}

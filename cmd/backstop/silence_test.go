package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// wholeStore is a healthy store that makes an audit use every S3 call: versioned,
// with a harmless lifecycle rule that asks for tags.
func wholeStore(t *testing.T, now time.Time) (*storetest.Fake, *storetest.Bucket, string) {
	t.Helper()
	fake, b, endpoint := served(t, now, nil)
	b.SetVersioning("Enabled")
	b.Fill(mustArchive(t, "healthy"))
	b.SetLifecycle([]byte(`<LifecycleConfiguration><Rule><ID>tagged</ID><Status>Enabled</Status><Filter><Tag><Key>scratch</Key><Value>yes</Value></Tag></Filter><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>`))
	return fake, b, endpoint
}

// queuedBackup is what the queue of busyStore asks to restore.
const queuedBackup = "2026-11-30T18:06:17Z-000005"

// busyStore is wholeStore with a restore that was queued a minute ago, and with
// kops's documents of its cluster.
func busyStore(t *testing.T, now time.Time) (*storetest.Fake, string) {
	t.Helper()
	fake, b, endpoint := wholeStore(t, now)
	queued := now.Add(-time.Minute)
	b.Put(mainStore+etcdmanager.ControlDir+"/"+etcdmanager.FormatName(queued, 0)+"/"+etcdmanager.CommandFile,
		fmt.Appendf(nil, `{"timestamp":"%d","restoreBackup":{"clusterSpec":{"memberCount":1,"etcdVersion":"3.6.11"},"backup":%q}}`, queued.UnixNano(), queuedBackup), storetest.WithTime(queued))
	spec := clusterSpec{name: "prod.example.com", created: at("2026-11-30T18:00:00Z"), members: 1, version: "3.6.11"}.yaml("s3://kops")
	for _, name := range []string{"config", "cluster-completed.spec"} {
		b.Put("prod.example.com/"+name, spec, storetest.WithTime(at("2026-11-30T18:00:00Z")))
	}
	return fake, endpoint
}

// An s3Call is one call of an audit, however often it is tried.
type s3Call struct{ operation, key, query string }

func callOf(r storetest.Request) s3Call { return s3Call{r.Operation, r.Key, r.Query.Encode()} }

// fact is what an audit learns by the call, and the permission that it takes.
func (c s3Call) fact() (fact audit.FactName, permission string) {
	switch {
	case c.operation == "ListObjectsV2" && (strings.Contains(c.query, "%2Fpki%2F") || strings.Contains(c.query, "%2Fsecrets%2F")):
		return audit.FactKopsState, "s3:ListBucket"
	case c.operation == "ListObjectsV2":
		return audit.FactListing, "s3:ListBucket"
	case c.operation == "ListObjectVersions":
		return audit.FactVersions, "s3:ListBucketVersions"
	case c.operation == "GetBucketVersioning":
		return audit.FactVersioning, "s3:GetBucketVersioning"
	case c.operation == "GetBucketLifecycleConfiguration":
		return audit.FactLifecycle, "s3:GetLifecycleConfiguration"
	case c.operation == "GetObjectLockConfiguration":
		return audit.FactObjectLock, "s3:GetBucketObjectLockConfiguration"
	case c.operation == "GetPublicAccessBlock":
		return audit.FactPublicAccessBlock, "s3:GetBucketPublicAccessBlock"
	case c.operation == "GetBucketPolicyStatus":
		return audit.FactPublicPolicy, "s3:GetBucketPolicyStatus"
	case c.operation == "GetBucketEncryption":
		return audit.FactEncryption, "s3:GetEncryptionConfiguration"
	case c.operation == "ListMultipartUploads":
		return audit.FactUploads, "s3:ListBucketMultipartUploads"
	case c.operation == "GetObjectTagging":
		return audit.FactTags, "s3:GetObjectTagging"
	case strings.HasSuffix(c.key, etcdmanager.CreatedFile):
		return audit.FactCreated, "s3:GetObject"
	case strings.HasSuffix(c.key, etcdmanager.SpecFile):
		return audit.FactSpec, "s3:GetObject"
	case strings.HasSuffix(c.key, etcdmanager.CommandFile):
		return audit.FactQueue, "s3:GetObject"
	case strings.Contains(c.key, queuedBackup):
		return audit.FactRestoreMeta, "s3:GetObject"
	case !strings.Contains(c.key, "/backups/"):
		return audit.FactKops, "s3:GetObject"
	case strings.HasSuffix(c.key, etcdmanager.MetaFile):
		return audit.FactNewestMeta, "s3:GetObject"
	}
	return "", ""
}

// The ways in which each call fails in turn. 404 is the answer "there is none"
// for an object and for lifecycle rules; here it comes with a code that S3 does
// not give to the call.
var failures = map[string]storetest.Fault{
	"403":                   {Kind: storetest.Refused, Status: 403, Code: "AccessDenied", Message: "Access Denied"},
	"404":                   {Kind: storetest.Refused, Status: 404, Code: "NotFound", Message: "not found"},
	"405":                   {Kind: storetest.Refused, Status: 405, Code: "MethodNotAllowed", Message: "no"},
	"500":                   {Kind: storetest.Refused, Status: 500, Code: "InternalError", Message: "oops"},
	"501":                   {Kind: storetest.Refused, Status: 501, Code: "NotImplemented", Message: "no"},
	"503 until retries end": {Kind: storetest.Refused, Status: 503, Code: "SlowDown", Message: "slow down"},
	"bare 502":              {Kind: storetest.Bare, Status: 502},
	"timeout":               {Kind: storetest.Stalled},
	"stall in the body":     {Kind: storetest.StalledBody},
	"reset":                 {Kind: storetest.Reset},
	"reset in the body":     {Kind: storetest.ResetBody},
	"truncated body":        {Kind: storetest.Truncated},
	"malformed XML":         {Kind: storetest.Malformed},
	"foreign document":      {Kind: storetest.Foreign},
	"empty body":            {Kind: storetest.Empty},
	"redirect to nowhere":   {Kind: storetest.Redirected},
}

// Every S3 call of an audit fails in turn, in every way: the verdict is never
// OK where a necessary fact is unseen, and a finding names the fact.
func TestNoSilentOK(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	fake, endpoint := busyStore(t, now)
	target := []string{"s3://kops", "--endpoint-url", endpoint}
	whole, _ := reportOf(t, now, target...)
	if whole.Verdict != audit.OK {
		t.Fatalf("the whole store is not OK: %s %q", whole.Verdict, findings(whole))
	}
	var calls []s3Call
	for _, r := range fake.Requests() {
		if c := callOf(r); !slices.Contains(calls, c) {
			calls = append(calls, c)
		}
	}
	if len(calls) < 18 {
		t.Fatalf("an audit made only the calls %v", calls)
	}
	for _, c := range calls {
		fact, permission := c.fact()
		if fact == "" {
			t.Errorf("no fact is known for the call %v", c)
			continue
		}
		for how, fault := range failures {
			if c.operation == "GetObject" && slices.Contains([]storetest.FaultKind{storetest.Malformed, storetest.Foreign, storetest.Empty}, fault.Kind) {
				continue // any bytes are an object; what rules make of them is their own tests' matter
			}
			t.Run(fmt.Sprintf("%s %s/%s", c.operation, fact, how), func(t *testing.T) {
				fake.Fault(func(r storetest.Request) *storetest.Fault {
					if callOf(r) == c {
						return &fault
					}
					return nil
				})
				defer fake.Fault(nil)
				// What stalls is waited for; all else has the time that a
				// busy machine needs.
				patience := "30s"
				if fault.Kind == storetest.Stalled || fault.Kind == storetest.StalledBody {
					patience = "1s"
				}
				r, res := reportOf(t, now, append(target, "--timeout", patience)...)
				judgeSilence(t, r, res, fact, permission, fault)
			})
		}
	}
}

func judgeSilence(t *testing.T, r audit.Report, res result, fact audit.FactName, permission string, fault storetest.Fault) {
	t.Helper()
	if fact == audit.FactKops && (r.Verdict == audit.OK || res.code == 0) {
		t.Errorf("kops's word was not read: verdict %s, exit %d", r.Verdict, res.code)
	}
	if fact.IsNecessary() && (r.Verdict != audit.VerdictUnknown || r.Checked != 0 || res.code == 0) {
		t.Errorf("%s unseen: verdict %s, checked %d, exit %d: %q", fact, r.Verdict, r.Checked, res.code, findings(r))
	}
	if strings.Contains(res.stderr, "goroutine") {
		t.Errorf("a stack trace: %s", res.stderr)
	}
	var says []string
	for _, s := range r.Stores {
		for _, f := range s.Findings {
			if strings.Contains(f.Observed+f.Message, string(fact)) {
				says = append(says, f.Message+" "+strings.Join(f.Do, " "))
			}
		}
	}
	for _, p := range r.Problems {
		says = append(says, p.Message+" "+p.Do)
	}
	if len(says) == 0 {
		t.Errorf("%s unseen: no finding names it: %+v", fact, r.Stores)
	}
	if fault.Status == 403 && !strings.Contains(strings.Join(says, " "), permission) {
		t.Errorf("%s refused: no finding names %s: %q", fact, permission, says)
	}
}

// An auditor who may not list is answered 403 for what is not there, too: it must
// not take that for missing, nor for present.
func TestWithoutListBucket(t *testing.T) {
	now := at("2026-11-30T18:08:05Z")
	for name, files := range map[string][]storetest.File{"healthy": mustArchive(t, "healthy"), "armed": mustArchive(t, "armed")} {
		_, b, endpoint := served(t, now, files)
		b.Deny("s3:ListBucket")
		r, res := reportOf(t, now, "s3://kops/prod.example.com/backups/etcd/main", "--endpoint-url", endpoint)
		if r.Verdict != audit.VerdictUnknown || r.Stores[0].State.Name == "armed" {
			t.Errorf("%s: verdict %s, state %s, exit %d", name, r.Verdict, r.Stores[0].State.Name, res.code)
		}
	}
}

// With a condition on the prefix, ListBucket answers for the store alone, and S3
// still gives 403 for a key that is not there. The complete listing tells that it
// is missing.
func TestPrefixConditionOnListBucket(t *testing.T) {
	now := at("2026-11-30T18:08:05Z")
	_, b, endpoint := served(t, now, mustArchive(t, "armed"))
	b.DenyListExceptPrefix("prod.example.com/backups/etcd/main/")
	r, _ := reportOf(t, now, "s3://kops/prod.example.com/backups/etcd/main", "--endpoint-url", endpoint)
	if got := findings(r); r.Stores[0].State.Name != "armed" || !slices.Contains(got, "critical control/reset-armed") {
		t.Errorf("state %s, found %q", r.Stores[0].State.Name, got)
	}
}

// A refusal of the key is a refusal to us, and no sign that etcd-manager cannot
// read the file.
func TestKMSRefusalIsUnknown(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	_, b, endpoint := wholeStore(t, now)
	for _, f := range mustArchive(t, "healthy") {
		if strings.HasSuffix(f.Key, etcdmanager.CreatedFile) {
			b.Purge(f.Key)
			b.Put(f.Key, f.Body, storetest.WithTime(f.Time), storetest.SealedBy("AccessDenied"))
		}
	}
	r, _ := reportOf(t, now, "s3://kops", "--endpoint-url", endpoint)
	said := strings.Join(r.Stores[0].Findings[0].Do, " ")
	if r.Verdict != audit.VerdictUnknown || r.Stores[0].State.Name != "unknown" || !strings.Contains(said, "kms:Decrypt") {
		t.Errorf("verdict %s, state %s, do %q", r.Verdict, r.Stores[0].State.Name, said)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"backstop/audit"
	"backstop/store/storetest"
	"backstop/store/storetest/rgwtest"
)

// readsLastModified are the rules whose findings RGW cannot give as the archive
// does, because it dates every object when the test puts it there.
var readsLastModified = map[string]string{
	"snapshot/late":                "age of the newest snapshot",
	"snapshot/stale":               "age of the newest snapshot",
	"snapshot/writer-clock":        "name against LastModified",
	"snapshot/copied-store":        "name against LastModified: put today, every store is a copy",
	"snapshot/incomplete":          "age of data without meta",
	"control/altered":              "time inside created against LastModified",
	"control/spec-mismatch":        "age of the spec",
	"control/not-reread":           "control files against the newest snapshot",
	"control/never-initialised":    "age of the spec",
	"queue/pending-restore":        "age of the command",
	"retention/last-good-expiring": "whether backups go on: put today, the newest counts by its name",
}

// rgwDeviates are differences of RGW 16.2.15 from S3 that change a finding.
var rgwDeviates = map[string]string{
	"audit/blind":    "default encryption: a listing comes instead, in every audit",
	"bucket/public":  "a policy that allows one user something counts as public",
	"bucket/hygiene": "a public access block that was never set is four times false, where the archive's bucket has one",
}

// rgwTellsNot are facts that RGW does not tell the auditor: it refuses the public
// access block for all that the policy allows it, and has no default encryption.
var rgwTellsNot = []audit.FactName{audit.FactPublicAccessBlock, audit.FactEncryption}

// rgwKnowsNot are actions of the policy that RGW refuses to read.
var rgwKnowsNot = []string{"s3:GetEncryptionConfiguration"}

// throughRGW puts an archived store into a bucket of a real gateway.
func throughRGW(t *testing.T, name string) (g *rgwtest.RGW, c *rgwtest.Client, bucket string) {
	t.Helper()
	g = rgwtest.Shared(t)
	c = g.Client()
	bucket = c.Bucket(t)
	for _, f := range mustArchive(t, name) {
		c.Add(t, bucket, storetest.Object{Key: f.Key, Body: f.Body})
	}
	signAs(t, g.AccessKey, g.SecretKey)
	return g, c, bucket
}

func signAs(t *testing.T, access, secret string) {
	t.Setenv("AWS_ACCESS_KEY_ID", access)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
}

func TestRealStoresThroughRGW(t *testing.T) {
	for name, want := range realStores {
		t.Run(name, func(t *testing.T) {
			g, _, bucket := throughRGW(t, name)
			r, _ := reportOf(t, time.Now(), "--interval", "25s", "s3://"+bucket, "--endpoint-url", g.Endpoint)
			if len(r.Stores) != 1 {
				t.Fatalf("%d stores: %+v", len(r.Stores), r.Problems)
			}
			if s := r.Stores[0]; s.State.Name != want.state || s.State.RestorePending != want.pending || s.Checked() != true {
				t.Errorf("state %+v, unseen %+v, want %s", s.State, s.Unseen, want.state)
			}
			timeless := func(found []string) []string {
				return slices.DeleteFunc(slices.Clone(found), func(f string) bool {
					_, rule, _ := strings.Cut(f, " ")
					return readsLastModified[rule] != "" || rgwDeviates[rule] != ""
				})
			}
			got := timeless(findings(r))
			if expect := timeless(append([]string{"warning bucket/unversioned"}, want.find...)); !sameSet(got, expect) {
				t.Errorf("found %q, want %q", got, expect)
			}
		})
	}
}

// A user who may do exactly what deploy/iam-policy.json says completes the audit,
// can write nothing, and leaves the bucket as it was, byte for byte and version
// for version.
func TestReadOnlyUserOnRGW(t *testing.T) {
	g := rgwtest.Shared(t)
	owner := g.Client()
	bucket := owner.Bucket(t)
	owner.SetVersioning(t, bucket, "Enabled")
	for _, f := range mustArchive(t, "healthy") {
		owner.Add(t, bucket, storetest.Object{Key: f.Key, Body: f.Body})
	}
	owner.SetLifecycle(t, bucket, []byte(`<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Rule><ID>tagged</ID><Status>Enabled</Status><Filter><Tag><Key>scratch</Key><Value>yes</Value></Tag></Filter><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>`))
	auditor := g.User(t, "auditor")
	owner.SetPolicy(t, bucket, bucketPolicy(t, bucket, "auditor"))
	before := owner.Digest(t, bucket)

	signAs(t, auditor.AccessKey, auditor.SecretKey)
	r, res := reportOf(t, time.Now(), "s3://"+bucket, "--endpoint-url", g.Endpoint)
	if len(r.Stores) != 1 || !slices.Equal(unseenFacts(r.Stores[0]), rgwTellsNot) || r.Checked != 1 {
		t.Fatalf("the audit is not complete: exit %d, %+v %+v\n%s", res.code, r.Stores, r.Problems, res.stderr)
	}
	for _, op := range []string{"ListObjectsV2", "ListObjectVersions", "GetObject", "GetObjectTagging", "GetBucketVersioning", "GetBucketLifecycleConfiguration",
		"GetObjectLockConfiguration", "GetPublicAccessBlock", "GetBucketPolicyStatus", "ListMultipartUploads"} {
		if r.Usage.Requests[op] == 0 {
			t.Errorf("the audit made no %s: the test shows nothing of it (%v)", op, r.Usage.Requests)
		}
	}
	for what, err := range map[string]error{
		"put":    put(t, auditor, bucket),
		"delete": remove(t, auditor, bucket),
	} {
		if err == nil {
			t.Errorf("the auditor may %s an object", what)
		}
	}
	if after := owner.Digest(t, bucket); after != before {
		t.Errorf("the bucket has changed:\n%s\n---\n%s", before, after)
	}
}

func unseenFacts(r audit.StoreReport) []audit.FactName {
	var names []audit.FactName
	for _, u := range r.Unseen {
		names = append(names, u.Fact)
	}
	return names
}

func put(t *testing.T, c *rgwtest.Client, bucket string) error {
	_, err := c.S3.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("x"), Body: strings.NewReader("x")})
	return err
}

func remove(t *testing.T, c *rgwtest.Client, bucket string) error {
	_, err := c.S3.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String("prod.example.com/backups/etcd/main/control/etcd-cluster-created")})
	return err
}

// bucketPolicy makes the identity policy of deploy/ one of a bucket, for one
// user.
func bucketPolicy(t *testing.T, bucket, user string) string {
	t.Helper()
	body, err := os.ReadFile("../../deploy/iam-policy.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range rgwKnowsNot {
		body = bytes.ReplaceAll(body, []byte(`"`+action+`",`), nil)
	}
	var policy struct {
		Version   string
		Statement []map[string]any
	}
	if err := json.Unmarshal(bytes.ReplaceAll(body, []byte("BUCKET"), []byte(bucket)), &policy); err != nil {
		t.Fatal(err)
	}
	for _, s := range policy.Statement {
		s["Principal"] = map[string]any{"AWS": []string{"arn:aws:iam:::user/" + user}}
	}
	out, err := json.Marshal(policy)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

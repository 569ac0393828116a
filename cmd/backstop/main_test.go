package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/alerts/deliver"
	"backstop/audit"
	"backstop/store"
	"backstop/store/storetest"
	"backstop/store/storetest/rgwtest"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestMain keeps the machine's AWS configuration out of the tests.
func TestMain(m *testing.M) {
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "BACKSTOP_") && name != "BACKSTOP_REQUIRE_REAL" || name == "KOPS_STATE_STORE" {
			os.Unsetenv(name)
		}
	}
	for name, v := range map[string]string{
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1",
	} {
		os.Setenv(name, v)
	}
	code := m.Run()
	rgwtest.Stop()
	os.Exit(code)
}

// A result is what one command line did.
type result struct {
	code           int
	stdout, stderr string
}

// command runs a command line at a time, with little patience for S3.
func command(t *testing.T, now time.Time, args ...string) result {
	t.Helper()
	return commandIn(t, t.Context(), now, nil, args...)
}

func commandIn(t *testing.T, ctx context.Context, now time.Time, env map[string]string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	p := &program{ctx: ctx, stdin: strings.NewReader(""), stdout: &out, stderr: &errs, now: func() time.Time { return now },
		env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		testOnlyS3: func(o *store.S3Options) {
			o.RetryDelay = time.Millisecond
			o.HTTPClient = &http.Client{Transport: http.DefaultTransport}
		},
		testOnlyDeliver: func(c *deliver.Client) { c.Delay = time.Millisecond }}
	code := p.run(args)
	return result{code, out.String(), errs.String()}
}

// report runs an audit with JSON output and parses it.
func reportOf(t *testing.T, now time.Time, args ...string) (audit.Report, result) {
	t.Helper()
	r := command(t, now, append([]string{"audit", "-o", "json"}, args...)...)
	var rep audit.Report
	if err := json.Unmarshal([]byte(r.stdout), &rep); err != nil {
		t.Fatalf("backstop audit %q: exit %d, not JSON (%v)\n%s\n%s", args, r.code, err, r.stdout, r.stderr)
	}
	return rep, r
}

// findings lists severity and rule of a report's findings, in order, but for
// what every bucket of a test is told, that it is not on AWS.
func findings(r audit.Report) []string {
	var all []string
	for _, s := range r.Stores {
		for _, f := range s.Findings {
			if f.Rule != "audit/provider-unverified" {
				all = append(all, string(f.Severity)+" "+f.Rule)
			}
		}
	}
	return all
}

func mustArchive(t *testing.T, name string) []storetest.File {
	t.Helper()
	files, err := storetest.Archive(name)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// copied unpacks an archived store, with a bucket.json that says that the bucket
// was never versioned, has no lifecycle rules, and is else well kept.
func copied(t *testing.T, files []storetest.File) string {
	t.Helper()
	dir := t.TempDir()
	if err := storetest.Unpack(dir, files); err != nil {
		t.Fatal(err)
	}
	facts := `{"backstop_bucket": 1, "root": ".", "name": "kops", "versioning": {}, "lifecycle": null,
		"object_lock": {"ObjectLockConfiguration": {"ObjectLockEnabled": "Enabled"}},
		"public_access_block": {"PublicAccessBlockConfiguration": {"BlockPublicAcls": true, "IgnorePublicAcls": true, "BlockPublicPolicy": true, "RestrictPublicBuckets": true}},
		"policy_status": {"PolicyStatus": {"IsPublic": false}}, "uploads": null,
		"encryption": {"ServerSideEncryptionConfiguration": {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]}}}`
	if err := os.WriteFile(filepath.Join(dir, store.DirFacts), []byte(facts), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// wellKept are settings of a bucket with which nothing is wrong.
func wellKept() storetest.Settings {
	return storetest.Settings{
		ObjectLock:        &audit.ObjectLock{},
		PublicAccessBlock: &audit.PublicAccessBlock{BlockPublicACLs: true, IgnorePublicACLs: true, BlockPublicPolicy: true, RestrictPublicBuckets: true},
		PublicPolicy:      new(bool),
		Encryption:        "AES256",
	}
}

// served puts an archived store into a fake S3 whose clock stands at now.
func served(t *testing.T, now time.Time, files []storetest.File) (fake *storetest.Fake, b *storetest.Bucket, endpoint string) {
	t.Helper()
	fake = storetest.NewFake(func() time.Time { return now })
	b = fake.CreateBucket("kops")
	b.Configure(wellKept())
	b.Fill(files)
	return fake, b, fake.URL(t)
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// golden holds got against testdata/name, and rewrites it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; make it with: go test ./cmd/... -update", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if that is right: go test ./cmd/... -update\n--- got\n%s\n--- want\n%s", name, got, want)
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

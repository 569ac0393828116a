package store_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store"
	"backstop/store/storetest"
)

// A directory keeps the contract of a Bucket, with what it cannot hold told by
// a bucket.json beside it.
func TestDirContract(t *testing.T) {
	storetest.Contract(t, storetest.Backend{Config: true, Settings: true, Open: func(t *testing.T, c storetest.Contents) (store.Bucket, func() string) {
		dir := filepath.Join(t.TempDir(), "bucket")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, o := range c.Objects {
			if err := storetest.Unpack(dir, []storetest.File{{Key: o.Key, Body: o.Body, Time: orNoon(o.Time)}}); err != nil {
				t.Fatal(err)
			}
		}
		facts := map[string]any{"backstop_bucket": 1, "root": "bucket", "versioning": map[string]string{"Status": c.Versioning}, "tags": map[string]any{}, "versions": nil}
		addSettings(facts, c)
		facts["lifecycle"] = nil
		if c.Lifecycle != nil {
			facts["lifecycle"] = string(c.Lifecycle)
		}
		writeJSON(t, filepath.Join(filepath.Dir(dir), store.DirFacts), facts)
		b, prefix, err := store.OpenDir(dir)
		if err != nil || prefix != "" {
			t.Fatalf("OpenDir: prefix %q, %v", prefix, err)
		}
		return b, func() string { return digestDir(t, dir) }
	}})
}

// addSettings writes settings as the AWS CLI prints them.
func addSettings(facts map[string]any, c storetest.Contents) {
	type object = map[string]any
	s := c.Settings
	if s.MFADelete {
		facts["versioning"] = object{"Status": c.Versioning, "MFADelete": "Enabled"}
	}
	for _, part := range []string{"object_lock", "public_access_block", "policy_status", "encryption", "uploads"} {
		facts[part] = nil
	}
	if s.ObjectLock != nil {
		lock := object{"ObjectLockEnabled": "Enabled"}
		if s.ObjectLock.Mode != "" {
			lock["Rule"] = object{"DefaultRetention": object{"Mode": s.ObjectLock.Mode, "Days": s.ObjectLock.Retention / audit.Day}}
		}
		facts["object_lock"] = object{"ObjectLockConfiguration": lock}
	}
	if b := s.PublicAccessBlock; b != nil {
		facts["public_access_block"] = object{"PublicAccessBlockConfiguration": object{
			"BlockPublicAcls": b.BlockPublicACLs, "IgnorePublicAcls": b.IgnorePublicACLs, "BlockPublicPolicy": b.BlockPublicPolicy, "RestrictPublicBuckets": b.RestrictPublicBuckets,
		}}
	}
	if s.PublicPolicy != nil {
		facts["policy_status"] = object{"PolicyStatus": object{"IsPublic": *s.PublicPolicy}}
	}
	if s.Encryption != "" {
		facts["encryption"] = object{"ServerSideEncryptionConfiguration": object{"Rules": []any{object{"ApplyServerSideEncryptionByDefault": object{"SSEAlgorithm": s.Encryption}, "BucketKeyEnabled": false}}}}
	}
	if len(s.Uploads) > 0 {
		var list []any
		for _, u := range s.Uploads {
			list = append(list, object{"UploadId": "u", "Key": u.Key, "Initiated": u.Begun, "StorageClass": "STANDARD"})
		}
		facts["uploads"] = object{"Uploads": list, "RequestCharged": nil, "Prefix": ""}
	}
}

func orNoon(t time.Time) time.Time {
	if t.IsZero() {
		return noon
	}
	return t
}

func writeJSON(t *testing.T, name string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func digestDir(t *testing.T, dir string) string {
	t.Helper()
	var s strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		s.WriteString(path + " " + info.ModTime().String() + " " + string(body) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.String()
}

// The bucket is the directory that bucket.json names; without one it is the
// directory that was given.
func TestDirRoot(t *testing.T) {
	top := t.TempDir()
	deep := filepath.Join(top, "copy", "prod", "backups")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, prefix, err := store.OpenDir(deep); err != nil || prefix != "" {
		t.Errorf("without bucket.json: prefix %q, %v", prefix, err)
	}
	for name, c := range map[string]struct{ at, root, prefix string }{
		"in the directory":         {deep, ".", ""},
		"beside the bucket":        {top, "copy", "prod/backups"},
		"in the bucket":            {filepath.Join(top, "copy"), ".", "prod/backups"},
		"of another directory":     {top, "elsewhere", ""},
		"a name that begins alike": {top, "cop", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(c.at, store.DirFacts)
			writeJSON(t, file, map[string]any{"backstop_bucket": 1, "root": c.root})
			defer os.Remove(file)
			if _, prefix, err := store.OpenDir(deep); err != nil || prefix != c.prefix {
				t.Errorf("prefix %q, %v, want %q", prefix, err, c.prefix)
			}
		})
	}
}

func TestDirFactsAreStrict(t *testing.T) {
	for name, c := range map[string]struct{ body, says string }{
		"no JSON":         {"versioning: on", "invalid character"},
		"misspelt":        {`{"backstop_bucket": 1, "root": ".", "lifecylce": null}`, "lifecylce"},
		"another format":  {`{"backstop_bucket": 2, "root": "."}`, "want 1"},
		"no root":         {`{"backstop_bucket": 1}`, `"root" is missing`},
		"versions no map": {`{"backstop_bucket": 1, "root": ".", "versions": []}`, `"versions"`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, store.DirFacts), []byte(c.body), 0o644); err != nil {
				t.Fatal(err)
			}
			_, _, err := store.OpenDir(dir)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "docs/directories.md") {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// What the AWS CLI prints goes into bucket.json as it is.
func TestDirFactsAreTheCLIsOutput(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, store.DirFacts), []byte(`{"backstop_bucket": 1, "root": ".", "name": "kops",
		"versioning": {"Status": "Enabled", "MFADelete": "Disabled"},
		"versions": {"Versions": [{"ETag": "\"x\"", "ChecksumAlgorithm": ["CRC32"], "Size": 33, "StorageClass": "STANDARD", "Key": "control/etcd-cluster-created", "VersionId": "v1", "IsLatest": false, "LastModified": "2026-11-30T18:04:15+00:00", "Owner": {"ID": "me"}}],
			"DeleteMarkers": [{"Key": "control/etcd-cluster-created", "VersionId": "m1", "IsLatest": true, "LastModified": "2026-12-01T00:00:00+00:00"}], "RequestCharged": null, "Prefix": ""},
		"listing": {"Contents": [{"Key": "a", "LastModified": "2026-11-30T18:04:15+00:00", "ETag": "\"y\"", "Size": 1, "StorageClass": "GLACIER", "Owner": {}}], "RequestCharged": null}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	b, _, err := store.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := b.Versioning(t.Context()); v != (store.Versioning{Status: "Enabled"}) || err != nil {
		t.Errorf("versioning %+v, %v", v, err)
	}
	var ids []string
	for v, err := range b.ListVersions(t.Context(), "control/") {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, v.VersionID)
	}
	if strings.Join(ids, " ") != "m1 v1" {
		t.Errorf("versions %q, want the newest first", ids)
	}
	for o, err := range b.List(t.Context(), store.ListInput{}) {
		if err != nil || o.Key != "a" || o.StorageClass != "GLACIER" || !o.LastModified.Equal(time.Date(2026, 11, 30, 18, 4, 15, 0, time.UTC)) {
			t.Errorf("listed %+v, %v", o, err)
		}
	}
	if d, err := b.Get(t.Context(), "a", 10); err != nil || d.Unreadable == "" {
		t.Errorf("an archived object: %+v, %v", d, err)
	}
}

// A directory alone does not tell what only a bucket knows, and says what would.
func TestDirWithoutFacts(t *testing.T) {
	b, _, err := store.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, versioning := b.Versioning(t.Context())
	_, lifecycle := b.Lifecycle(t.Context())
	_, tags := b.Tags(t.Context(), "a")
	_, lock := b.ObjectLock(t.Context())
	_, block := b.PublicAccessBlock(t.Context())
	_, policy := b.PolicyStatus(t.Context())
	_, encryption := b.Encryption(t.Context())
	_, uploads := b.Uploads(t.Context(), "")
	for what, err := range map[string]error{
		"versioning": versioning, "lifecycle": lifecycle, "tags": tags,
		"object_lock": lock, "public_access_block": block, "policy_status": policy, "encryption": encryption, "uploads": uploads,
	} {
		var e *store.Error
		if !errors.As(err, &e) || e.Cause != audit.CauseNotRecorded || !strings.Contains(err.Error(), store.DirFacts) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A part that does not say what it should is not seen, and is no "no".
func TestDirFactsThatSayNothing(t *testing.T) {
	for name, c := range map[string]struct {
		body  string
		cause audit.Cause
	}{
		"versioning":          {`{"Status": "Perhaps"}`, audit.CauseForeign},
		"versioning ":         {`"on"`, audit.CauseMalformed},
		"object_lock":         {`{}`, audit.CauseForeign},
		"object_lock ":        {`{"ObjectLockConfiguration": {"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": {"Mode": "SOFT", "Days": 1}}}}`, audit.CauseForeign},
		"object_lock  ":       {`[]`, audit.CauseMalformed},
		"public_access_block": {`{"PublicAccessBlockConfiguration": {}}`, audit.CauseForeign},
		"policy_status":       {`{"PolicyStatus": {}}`, audit.CauseForeign},
		"encryption":          {`{"ServerSideEncryptionConfiguration": {"Rules": []}}`, audit.CauseForeign},
		"uploads":             {`{"Uploads": [{"Key": "a"}]}`, audit.CauseMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			part := strings.TrimSpace(name)
			writeJSON(t, filepath.Join(dir, store.DirFacts), map[string]any{"backstop_bucket": 1, "root": ".", part: json.RawMessage(c.body)})
			b, _, err := store.OpenDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			_, versioning := b.Versioning(t.Context())
			_, lock := b.ObjectLock(t.Context())
			_, block := b.PublicAccessBlock(t.Context())
			_, policy := b.PolicyStatus(t.Context())
			_, encryption := b.Encryption(t.Context())
			_, uploads := b.Uploads(t.Context(), "")
			got := map[string]error{"versioning": versioning, "object_lock": lock, "public_access_block": block, "policy_status": policy, "encryption": encryption, "uploads": uploads}[part]
			var e *store.Error
			if !errors.As(got, &e) || e.Cause != c.cause || errors.Is(got, store.ErrMissing) || !strings.HasSuffix(e.Object, store.DirFacts) {
				t.Errorf("got %v, want the cause %s", got, c.cause)
			}
		})
	}
}

// A symbolic link does not lead out of the copy, and is not left out silently.
func TestDirDoesNotFollowLinksOut(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	b, _, err := store.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := b.Get(t.Context(), "link", 10); err == nil {
		t.Errorf("read %q through a link out of the copy", d.Body)
	}
	var listed error
	for _, err := range b.List(t.Context(), store.ListInput{}) {
		listed = err
	}
	if listed == nil {
		t.Error("the listing is complete without the link")
	}
}

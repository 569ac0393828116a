package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"backstop/store/snapshot"
	"backstop/store/snapshot/snapshottest"
	"backstop/store/storetest"
)

var verifyTime = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

// snapshotFiles writes snapshots into a directory, as etcdctl saves them.
func snapshotFiles(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), snapshottest.Plain(t, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestVerifyFiles(t *testing.T) {
	dir := snapshotFiles(t, "healthy-v3.6", "post-reset-v3.6", "torn-meta0-resealed", "wrong-sha", "plain-text")
	in := func(names ...string) []string {
		args := []string{"verify"}
		for _, n := range names {
			args = append(args, filepath.Join(dir, n))
		}
		return args
	}
	tests := map[string]struct {
		args []string
		code int
		says []string
	}{
		"intact":      {in("healthy-v3.6"), 0, []string{"INTACT ", "revision 84, compacted to 57; 1097 keys", "storage version 3.6.0", "e36 (f415ea577c2fe481)", "hash bba8c966, hashkv 3372758807", "pods 318"}},
		"remark":      {in("torn-meta0-resealed"), 1, []string{"RESTORABLE ", "remark: meta page 0 is damaged", "1097 keys"}},
		"damaged":     {in("wrong-sha"), 2, []string{"DAMAGED ", "trailer: its bytes were changed"}},
		"none":        {in("plain-text"), 2, []string{"DAMAGED ", "not-a-snapshot: "}},
		"not there":   {in("nowhere"), 3, []string{"UNVERIFIED ", "not-read: ", "no such file"}},
		"no snapshot": {[]string{"verify", dir}, 3, []string{"UNVERIFIED ", "etcd.backup.gz: no such file"}},
		"too big":     {append(in("healthy-v3.6"), "--max-memory", "1MiB"), 3, []string{"UNVERIFIED ", "too-big: it needs more memory than it may have (1 MiB)"}},
		"several": {in("healthy-v3.6", "torn-meta0-resealed", "nowhere", "wrong-sha"), 2, []string{
			"INTACT ", "RESTORABLE ", "UNVERIFIED ", "DAMAGED ", "4 snapshots: 1 intact, 1 restorable, 1 damaged, 1 unverified\n",
		}},
		"not read is worse than a remark": {in("torn-meta0-resealed", "nowhere"), 3, []string{"2 snapshots: 1 restorable, 1 unverified\n"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := command(t, verifyTime, test.args...)
			if r.code != test.code || r.stderr != "" {
				t.Errorf("exit %d, want %d; stderr %q", r.code, test.code, r.stderr)
			}
			for _, s := range test.says {
				if !strings.Contains(r.stdout, s) {
					t.Errorf("it does not say %q:\n%s", s, r.stdout)
				}
			}
		})
	}
}

// A directory of etcd-manager's stands for the snapshot in it.
func TestVerifyDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "2026-11-30T18:06:47Z-000006")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "etcd.backup.gz"), snapshottest.Gzipped(t, "post-reset-v3.6"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := command(t, verifyTime, "verify", dir); r.code != 0 || !strings.Contains(r.stdout, "INTACT      "+dir+"/etcd.backup.gz\n") {
		t.Errorf("exit %d: %s", r.code, r.stdout)
	}
}

func TestVerifyUsage(t *testing.T) {
	for name, args := range map[string][]string{
		"no snapshot":        {},
		"standard in twice":  {"-", "-"},
		"a bucket":           {"s3://backups"},
		"another provider's": {"gs://backups/k"},
		"a format":           {"-o", "xml", "x"},
		"a size":             {"--max-memory", "12", "x"},
		"a size of none":     {"--max-memory", "0MiB", "x"},
		"a time limit":       {"--timeout", "0s", "x"},
	} {
		if r := command(t, verifyTime, append([]string{"verify"}, args...)...); r.code != exitUsage || !strings.Contains(r.stderr, "backstop: error: ") || r.stdout != "" {
			t.Errorf("%s: exit %d: %s%s", name, r.code, r.stdout, r.stderr)
		}
	}
}

// verifyIn runs verify with something on its standard input.
func verifyIn(t *testing.T, stdin []byte, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	p := &program{ctx: t.Context(), stdin: bytes.NewReader(stdin), stdout: &out, stderr: &out, now: func() time.Time { return verifyTime },
		env: func(string) (string, bool) { return "", false }}
	return p.run(append([]string{"verify"}, args...)), out.String()
}

func TestVerifyStandardInput(t *testing.T) {
	for name, in := range map[string][]byte{"gzipped": snapshottest.Gzipped(t, "post-reset-v3.6"), "plain": snapshottest.Plain(t, "post-reset-v3.6")} {
		if code, out := verifyIn(t, in, "-"); code != 0 || !strings.HasPrefix(out, "INTACT      standard input\n") {
			t.Errorf("%s: exit %d: %s", name, code, out)
		}
		if code, out := verifyIn(t, in[:len(in)/2], "-"); code != 2 || !strings.HasPrefix(out, "DAMAGED ") {
			t.Errorf("%s, half of it: exit %d: %s", name, code, out)
		}
	}
}

// The JSON is as its schema says, whatever the verdict.
func TestVerifyJSON(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/verify.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"post-reset-v3.6", "empty-fresh-v3.6", "torn-meta0-resealed", "not-etcd-bbolt", "plain-text", "bad-kv-proto"}
	dir := snapshotFiles(t, names...)
	args := []string{"verify", "-o", "json", filepath.Join(dir, "nowhere")}
	for _, n := range names {
		args = append(args, filepath.Join(dir, n))
	}
	r := command(t, verifyTime, args...)
	var doc any
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || r.code != 2 {
		t.Fatalf("exit %d, %v: %s", r.code, err, r.stdout)
	}
	if err := schema.Validate(doc); err != nil {
		t.Error(err)
	}
	var got struct {
		Snapshots []struct {
			Name    string
			Verdict snapshot.Verdict
			Facts   *struct{ Revision int64 }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || len(got.Snapshots) != len(args)-3 {
		t.Fatalf("%d snapshots, %v", len(got.Snapshots), err)
	}
	if s := got.Snapshots[0]; s.Verdict != snapshot.Unverified || s.Facts != nil {
		t.Errorf("got %+v", s)
	}
}

// inBucket is a fake with snapshots in it, as etcd-manager lays them out.
func inBucket(t *testing.T) (*storetest.Fake, string) {
	t.Helper()
	f := storetest.NewFake(func() time.Time { return verifyTime })
	b := f.CreateBucket("kops")
	b.Put("c/backups/etcd/main/2026-11-30T18:06:47Z-000006/etcd.backup.gz", snapshottest.Gzipped(t, "post-reset-v3.6"))
	changed := snapshottest.Plain(t, "post-reset-v3.6")
	changed[len(changed)-1] ^= 1
	b.Put("c/backups/etcd/main/2026-11-30T18:21:47Z-000007/etcd.backup.gz", snapshottest.Gzip(changed))
	b.Put("cold", []byte("x"), storetest.WithClass("GLACIER"))
	b.Put("tiny", []byte("x"))
	b.Put("plain.db", snapshottest.Plain(t, "post-reset-v3.6"))
	return f, f.URL(t)
}

func TestVerifyS3(t *testing.T) {
	f, endpoint := inBucket(t)
	before := f.Digest()
	const main = "s3://kops/c/backups/etcd/main/"
	tests := map[string]struct {
		args     []string
		code     int
		says     string
		requests int
	}{
		"an object":          {[]string{main + "2026-11-30T18:06:47Z-000006/etcd.backup.gz"}, 0, "INTACT      " + main + "2026-11-30T18:06:47Z-000006/etcd.backup.gz\n", 2},
		"a backup":           {[]string{main + "2026-11-30T18:06:47Z-000006/"}, 0, "INTACT      " + main + "2026-11-30T18:06:47Z-000006/etcd.backup.gz\n", 3},
		"a damaged backup":   {[]string{main + "2026-11-30T18:21:47Z-000007"}, 2, "trailer: its bytes were changed", 3},
		"a plain one":        {[]string{"s3://kops/plain.db"}, 0, "INTACT ", 2},
		"what is archived":   {[]string{"s3://kops/cold"}, 3, "not-read: read s3://kops/cold: it is archived in storage class GLACIER", 1},
		"what is none":       {[]string{"s3://kops/tiny"}, 2, "not-a-snapshot", 1},
		"what is not there":  {[]string{main + "2026-11-30T18:06:47Z-000009"}, 3, "not-read: get object " + main + "2026-11-30T18:06:47Z-000009: does not exist", 2},
		"no bucket":          {[]string{"s3://none/k"}, 3, "not-read: get object s3://none/k: the bucket does not exist", 1},
		"one and another":    {[]string{"s3://kops/plain.db", main + "2026-11-30T18:21:47Z-000007"}, 2, "2 snapshots: 1 intact, 1 damaged\n", 5},
		"from two providers": {[]string{"s3://kops/plain.db", "/dev/null"}, 2, "2 snapshots: 1 intact, 1 damaged\n", 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f.ResetRequests()
			r := command(t, verifyTime, append([]string{"verify", "--endpoint-url", endpoint}, test.args...)...)
			if r.code != test.code || !strings.Contains(r.stdout, test.says) || r.stderr != "" {
				t.Errorf("exit %d, want %d and %q:\n%s%s", r.code, test.code, test.says, r.stdout, r.stderr)
			}
			if n := len(f.Requests()); n != test.requests {
				t.Errorf("%d requests, want %d", n, test.requests)
			}
		})
	}
	if f.Digest() != before {
		t.Error("verify changed the bucket")
	}
}

// A body that does not come is not read, and never damaged.
func TestVerifyS3Fails(t *testing.T) {
	for name, test := range map[string]struct {
		fault storetest.Fault
		says  string
	}{
		"denied": {storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "AccessDenied"}, "access denied"},
		// In the end no connection is to be had.
		"cut off":         {storetest.Fault{Kind: storetest.Truncated}, "s3://kops/plain.db: "},
		"reset":           {storetest.Fault{Kind: storetest.ResetBody}, "s3://kops/plain.db: "},
		"standing still":  {storetest.Fault{Kind: storetest.StalledBody}, "s3://kops/plain.db: "},
		"a proxy's page":  {storetest.Fault{Kind: storetest.Foreign, Body: []byte("<html>"), Header: http.Header{"Last-Modified": nil}}, "not the document that was asked for"},
		"a slow service":  {storetest.Fault{Kind: storetest.Refused, Status: 503, Code: "SlowDown"}, "slow down"},
		"bad credentials": {storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "InvalidAccessKeyId"}, "InvalidAccessKeyId"},
	} {
		t.Run(name, func(t *testing.T) {
			f, endpoint := inBucket(t)
			n := 0
			f.Fault(func(r storetest.Request) *storetest.Fault {
				if n++; test.fault.Kind != storetest.Refused && test.fault.Kind != storetest.Foreign && n > 3 {
					return &storetest.Fault{Kind: storetest.Reset} // so that halves do not add up
				}
				return &test.fault
			})
			r := command(t, verifyTime, "verify", "--endpoint-url", endpoint, "--timeout", "300ms", "s3://kops/plain.db")
			if r.code != exitUnknown || !strings.Contains(r.stdout, "UNVERIFIED ") || !strings.Contains(r.stdout, "not-read: ") || !strings.Contains(r.stdout, test.says) {
				t.Errorf("exit %d, want %d and %q:\n%s%s", r.code, exitUnknown, test.says, r.stdout, r.stderr)
			}
		})
	}
}

func TestVerifyInterrupted(t *testing.T) {
	f, endpoint := inBucket(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.Fault(func(storetest.Request) *storetest.Fault {
		cancel()
		return &storetest.Fault{Kind: storetest.StalledBody}
	})
	if r := commandIn(t, ctx, verifyTime, nil, "verify", "--endpoint-url", endpoint, "s3://kops/plain.db"); r.code != exitInterrupted || r.stdout != "" {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.stderr)
	}
}

func TestProgressBar(t *testing.T) {
	at := verifyTime
	var out bytes.Buffer
	b := &progressBar{w: &out, now: func() time.Time { return at }, width: 80, name: "s3://kops/a/long/name/etcd.backup.gz", size: 100 << 20, begun: at, shown: at}
	b.add(1 << 20)
	if out.Len() > 0 {
		t.Errorf("it is drawn at once: %q", out.String())
	}
	at = at.Add(time.Second)
	b.add(24 << 20)
	if got, want := out.String(), "\r [######..................]  25% of 100.0 MiB, 25.0 MiB/s, 3s left\x1b[K"; !strings.HasSuffix(strings.Replace(got, "\rp.gz", "\r", 1), want[1:]) || len(got) > 80+len("\r\x1b[K") {
		t.Errorf("got %q", got)
	}
	b.done()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("it is left behind: %q", out.String())
	}
	b.size = 0
	if got := b.line(2 * time.Second); got != "s3://kops/a/long/name/etcd.backup.gz  25.0 MiB, 12.5 MiB/s" {
		t.Errorf("without a size: %q", got)
	}
	b.width = 10
	if got := b.line(time.Second); len(got) > 9 {
		t.Errorf("on a narrow terminal: %q", got)
	}
	var none *progressBar
	none.add(1)
	none.done()
}

// The file that is verified may be one that a program is still writing.
func TestVerifyFileThatChanges(t *testing.T) {
	name := filepath.Join(t.TempDir(), "growing")
	if err := os.WriteFile(name, snapshottest.Plain(t, "post-reset-v3.6"), 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := openFile(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	if err := os.Truncate(name, in.size/2); err != nil {
		t.Fatal(err)
	}
	if got := snapshot.Verify(in, snapshot.Options{Size: in.size, Tail: in.tail}); got.Verdict != snapshot.Unverified || !strings.Contains(got.Reason, "became shorter") {
		t.Errorf("a file that became shorter: %s, %s", got.Verdict, got.Reason)
	}
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"backstop/audit"
	"backstop/rules"
	"backstop/rules/lint"
	"backstop/store/storetest"
)

const plans = "../../rules/lifecycle/infra/testdata/"

// code writes a file for a test and gives its name.
func code(t *testing.T, name, body string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

const (
	wholeBucket = `{"Rules":[{"ID":"expire-30d","Status":"Enabled","Filter":{"Prefix":""},"Expiration":{"Days":30}}]}`
	harmless    = `{"Rules":[{"ID":"uploads","Status":"Enabled","Filter":{},"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":7}}]}`
	shortRule   = `{"Rules":[{"ID":"short","Status":"Enabled","Filter":{"Prefix":"prod.example.com/backups/etcd/main/20"},"Expiration":{"Days":60}}]}`
)

// lintedState is the kops plan for the bucket of the tests.
func lintedState(t *testing.T, plan string) string {
	t.Helper()
	body, err := os.ReadFile(plans + plan)
	if err != nil {
		t.Fatal(err)
	}
	return code(t, plan, strings.ReplaceAll(string(body), "kops-state", "kops"))
}

// What a person sees, word for word, and the exit status for CI.
func TestLintOutputs(t *testing.T) {
	now := at("2026-12-20T09:00:00Z")
	for name, c := range map[string]struct {
		store string
		file  func(t *testing.T) string
		args  []string
		code  int
	}{
		"lint-whole-bucket.txt": {"healthy", func(t *testing.T) string { return code(t, "lifecycle.json", wholeBucket) }, nil, 2},
		"lint-whole-bucket.md":  {"healthy", func(t *testing.T) string { return code(t, "lifecycle.json", wholeBucket) }, []string{"-o", "markdown"}, 2},
		"lint-harmless.txt":     {"healthy", func(t *testing.T) string { return code(t, "lifecycle.json", harmless) }, nil, 0},
		"lint-short.txt":        {"healthy", func(t *testing.T) string { return code(t, "lifecycle.json", shortRule) }, nil, 1},
		"lint-kops-armed.txt":   {"armed", func(t *testing.T) string { return lintedState(t, "kops-create.json") }, nil, 2},
		"lint-kops-healthy.txt": {"healthy", func(t *testing.T) string { return lintedState(t, "kops-create.json") }, nil, 2},
		"lint-kops-nothing.txt": {"healthy", func(t *testing.T) string { return lintedState(t, "kops-nothing.json") }, nil, 0},
		"lint-kops-move.txt":    {"healthy", func(t *testing.T) string { return lintedState(t, "kops-move.json") }, nil, 2},
		"lint-kops-destroy.txt": {"healthy", func(t *testing.T) string { return lintedState(t, "kops-destroy.json") }, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			_, b, endpoint := served(t, now, mustArchive(t, c.store))
			versioned(b)
			file := c.file(t)
			r := command(t, now, append([]string{"lint", file, "--against", "s3://kops", "--endpoint-url", endpoint}, c.args...)...)
			if r.code != c.code {
				t.Errorf("exit %d, want %d\n%s%s", r.code, c.code, r.stdout, r.stderr)
			}
			out := strings.ReplaceAll(r.stdout, filepath.Dir(file)+"/", "")
			golden(t, name, out)
		})
	}
}

// The verdict's status, --fail-on and --exit-zero; and that nothing is OK which was
// not held against a store.
func TestLintExitStatus(t *testing.T) {
	now := at("2026-12-20T09:00:00Z")
	_, b, endpoint := served(t, now, mustArchive(t, "healthy"))
	versioned(b)
	fake, _, denied := served(t, now, mustArchive(t, "healthy"))
	fake.Fault(func(storetest.Request) *storetest.Fault {
		return &storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "AccessDenied", Message: "no"}
	})
	bad, good, short := code(t, "a.json", wholeBucket), code(t, "b.json", harmless), code(t, "c.json", shortRule)
	create := lintedState(t, "kops-create.json")
	live := []string{"--against", "s3://kops", "--endpoint-url", endpoint}
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"safe":                             {append([]string{good}, live...), 0},
		"a warning":                        {append([]string{short}, live...), 1},
		"a warning that may pass":          {append([]string{short, "--fail-on", "critical"}, live...), 0},
		"critical":                         {append([]string{bad}, live...), 2},
		"critical, but deliver it":         {append([]string{bad, "--exit-zero"}, live...), 0},
		"the worst of several files":       {append([]string{good, bad, short}, live...), 2},
		"no store":                         {[]string{good}, 3},
		"no store, and a warning":          {[]string{bad}, 3},
		"no store, warnings may pass":      {[]string{bad, "--fail-on", "critical"}, 3},
		"a prefix, safe":                   {[]string{good, "--prefix", "s3://kops/prod.example.com/backups/etcd/main"}, 0},
		"a prefix, critical":               {[]string{bad, "--prefix", "prod.example.com/backups/etcd/main"}, 2},
		"a prefix, and a spec":             {[]string{create, "--prefix", "s3://kops/prod.example.com/backups/etcd/main"}, 3},
		"nothing to judge":                 {append([]string{plans + "v5-destroy.json"}, live...), 3},
		"a store that refuses":             {[]string{good, "--against", "s3://kops", "--endpoint-url", denied}, 77},
		"a store that refuses, and a spec": {[]string{create, "--against", "s3://kops", "--endpoint-url", denied}, 77},
		"a bucket that is not there":       {[]string{good, "--against", "s3://nobucket", "--endpoint-url", endpoint}, 3},
		"a bucket by hand":                 {append([]string{bad, "--bucket", "elsewhere"}, live...), 3},
		"the right bucket by hand":         {append([]string{bad, "--bucket", "kops"}, live...), 2},
	} {
		t.Run(name, func(t *testing.T) {
			if r := command(t, now, append([]string{"lint"}, c.args...)...); r.code != c.code {
				t.Errorf("exit %d, want %d\n%s%s", r.code, c.code, r.stdout, r.stderr)
			}
		})
	}
}

// One clear line for what cannot be linted.
func TestLintBadInput(t *testing.T) {
	now := at("2026-12-20T09:00:00Z")
	good := code(t, "b.json", harmless)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no file":                 {nil, "requires at least 1 arg"},
		"a file that is not":      {[]string{"none.json"}, "read none.json: no such file"},
		"a folder":                {[]string{t.TempDir()}, "is a directory"},
		"an empty file":           {[]string{code(t, "x", "")}, "it is empty"},
		"Terraform's source":      {[]string{code(t, "main.tf", `resource "x" "y" {}`)}, "terraform show -json"},
		"another document":        {[]string{code(t, "x.json", `{"a":1}`)}, "want a lifecycle configuration"},
		"a format":                {[]string{good, "-o", "yaml"}, "there are json, junit, markdown, sarif, text"},
		"two on stdout":           {[]string{good, "-o", "json", "-o", "text"}, "2 formats would go to stdout"},
		"a bar":                   {[]string{good, "--fail-on", "never"}, "--fail-on"},
		"a prefix":                {[]string{good, "--prefix", "gs://x/y"}, "--prefix"},
		"a parameter":             {[]string{good, "--parameter", "x"}, "NAME=VALUE"},
		"a bucket of nobody":      {[]string{good, "--bucket", "x=y"}, "no lifecycle configuration or object of the files is x"},
		"a bucket without name":   {[]string{good, "--bucket", "x="}, "--bucket"},
		"a store with a typo":     {[]string{good, "--against", "s3:/x"}, "looks like a URL with a typo"},
		"a time":                  {[]string{good, "--at", "soon"}, "--at"},
		"a recording and a STORE": {[]string{good, "--replay", good, "--against", "s3://x"}, "give no STORE with it"},
		"no recording":            {[]string{good, "--replay", good}, "replay"},
	} {
		t.Run(name, func(t *testing.T) {
			r := command(t, now, append([]string{"lint"}, c.args...)...)
			if r.code != exitUsage || !strings.Contains(r.stderr, c.says) || strings.Count(r.stderr, "\n") > 2 || r.stdout != "" {
				t.Errorf("exit %d, %q, %q", r.code, r.stderr, r.stdout)
			}
		})
	}
}

// A plan comes through a pipe, too.
func TestLintStdin(t *testing.T) {
	now := at("2026-12-20T09:00:00Z")
	var out, errs strings.Builder
	p := &program{ctx: t.Context(), stdin: strings.NewReader(wholeBucket), stdout: &out, stderr: &errs, now: func() time.Time { return now }, env: func(string) (string, bool) { return "", false }}
	if code := p.run([]string{"lint", "-", "--prefix", "x"}); code != 2 || !strings.HasPrefix(out.String(), "stdin  aws-json") {
		t.Errorf("exit %d\n%s%s", code, out.String(), errs.String())
	}
	if r := command(t, now, "lint", "-"); r.code != exitUsage || !strings.Contains(r.stderr, "lint -: it is empty") {
		t.Errorf("exit %d, %q", r.code, r.stderr)
	}
}

// What was recorded lets lint run where nobody may look: it says the same, and of
// places where nothing was it knows that, too.
func TestLintReplay(t *testing.T) {
	now := at("2026-12-20T09:00:00Z")
	_, b, endpoint := served(t, now, mustArchive(t, "healthy"))
	versioned(b)
	seen := filepath.Join(t.TempDir(), "seen.json")
	if r := command(t, now, "audit", "s3://kops", "--endpoint-url", endpoint, "--record", seen); r.code > 3 {
		t.Fatal(r.stderr)
	}
	for _, file := range []string{code(t, "a.json", wholeBucket), lintedState(t, "kops-create.json")} {
		live := command(t, now, "lint", file, "--against", "s3://kops", "--endpoint-url", endpoint)
		replayed := command(t, now.Add(time.Hour), "lint", file, "--replay", seen)
		if live.stdout != replayed.stdout || live.code != replayed.code {
			t.Errorf("replayed differently: exit %d and %d\n%s\n%s", live.code, replayed.code, live.stdout, replayed.stdout)
		}
	}
	if r := command(t, now, "lint", code(t, "a.json", wholeBucket), "--replay", seen, "--at", "2026-12-30T00:00:00Z"); !strings.Contains(r.stdout, "in 24h") {
		t.Errorf("a day before: %s", r.stdout)
	}
}

// Tags that only the proposed rule asks for are read, so that it is not UNKNOWN
// what can be seen.
func TestLintReadsTags(t *testing.T) {
	now := at("2026-12-20T09:00:00Z")
	file := code(t, "a.json", `{"Rules":[{"ID":"cold","Status":"Enabled","Filter":{"Tag":{"Key":"tier","Value":"cold"}},"Expiration":{"Days":30}}]}`)
	_, b, endpoint := served(t, now, mustArchive(t, "healthy"))
	versioned(b)
	if r := command(t, now, "lint", file, "--against", "s3://kops", "--endpoint-url", endpoint); r.code != 0 {
		t.Errorf("no file has tags: exit %d\n%s", r.code, r.stdout)
	}
	r := command(t, now, "lint", file, "--prefix", "prod.example.com/backups/etcd/main")
	if r.code != 3 || !strings.Contains(r.stdout, "tags not read") {
		t.Errorf("nobody looked: exit %d\n%s", r.code, r.stdout)
	}
}

// CloudFormation's parameters, and a bucket that only the deployment names.
func TestLintCloudFormation(t *testing.T) {
	now := at("2026-12-20T09:00:00Z")
	file := code(t, "t.yaml", "Parameters:\n  Days: {Type: Number, Default: 30}\n  Name: {Type: String}\nResources:\n  Store:\n    Type: AWS::S3::Bucket\n    DeletionPolicy: Retain\n    Properties:\n      BucketName: !Ref Name\n      LifecycleConfiguration:\n        Rules:\n          - {Id: r, Status: Enabled, ExpirationInDays: !Ref Days}\n")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 3, "--bucket Store=NAME"},
		{[]string{"--bucket", "Store=kops"}, 2, "read as 1"},
		{[]string{"--bucket", "Store=kops", "--parameter-defaults"}, 2, "30d after"},
		{[]string{"--parameter", "Name=kops", "--parameter", "Days=7"}, 2, "7d after"},
	} {
		r := command(t, now, append([]string{"lint", file, "--prefix", "s3://kops/prod.example.com/backups/etcd/main"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stdout, c.says) {
			t.Errorf("%q: exit %d\n%s%s", c.args, r.code, r.stdout, r.stderr)
		}
	}
}

// The configuration's stores are what the code is held against where nobody says.
func TestLintUsesTheConfiguration(t *testing.T) {
	now := at("2026-12-20T09:00:00Z")
	dir := copied(t, mustArchive(t, "healthy"))
	config := code(t, "backstop.yaml", "version: 1\ndefaults:\n  keep: {daily: 60d}\nstores:\n  - url: "+dir+"\n")
	r := command(t, now, "lint", code(t, "c.json", shortRule), "--config", config)
	if r.code != 0 || !strings.Contains(r.stdout, "held against 1 store") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r = commandIn(t, t.Context(), now, map[string]string{"KOPS_STATE_STORE": dir}, "lint", code(t, "c.json", harmless))
	if r.code != 0 || !strings.Contains(r.stdout, "held against 1 store") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// Several reports at once, each as its schema has it.
func TestLintReports(t *testing.T) {
	now := at("2026-12-20T09:00:00Z")
	schema, err := jsonschema.NewCompiler().Compile("../../docs/lint.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	_, _, endpoint := served(t, now, mustArchive(t, "armed"))
	dir := t.TempDir()
	for _, args := range [][]string{
		{code(t, "a.json", wholeBucket), "--against", "s3://kops", "--endpoint-url", endpoint}, {code(t, "a.json", wholeBucket), "--against", "s3://none", "--endpoint-url", endpoint},
		{lintedState(t, "kops-create.json"), plans + "v5-update.json", plans + "v3-create.json", "--against", "s3://kops", "--endpoint-url", endpoint, "--prefix", "s3://acme-prod-etcd/x"},
		{code(t, "a.json", wholeBucket)},
	} {
		out := filepath.Join(dir, "r")
		r := command(t, now, append([]string{"lint", "-o", "json", "-o", "sarif=" + out + ".sarif", "-o", "junit=" + out + ".xml", "-o", "markdown=" + out + ".md", "-o", "text=" + out + ".txt"}, args...)...)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(r.stdout))
		if err != nil {
			t.Fatalf("%q: %v\n%s%s", args, err, r.stdout, r.stderr)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%q: %v", args, err)
		}
		var rep audit.LintReport
		if err := json.Unmarshal([]byte(r.stdout), &rep); err != nil || rep.Schema != audit.LintSchema {
			t.Errorf("%q: %v", args, err)
		}
		for _, ext := range []string{".sarif", ".xml", ".md", ".txt"} {
			if body, err := os.ReadFile(out + ext); err != nil || len(body) < 100 {
				t.Errorf("%s: %d bytes, %v", ext, len(body), err)
			}
		}
	}
	bad, _ := jsonschema.UnmarshalJSON(strings.NewReader(`{"schema":1,"verdict":"FINE","judged":"x","files":[],"stores":[],"findings":[],"usage":{"bytes":0}}`))
	if schema.Validate(bad) == nil {
		t.Error("the schema accepts a verdict that there is not")
	}
}

// Lint rules are explained as the others are.
func TestExplainLint(t *testing.T) {
	now := at("2026-12-20T09:00:00Z")
	for _, rule := range lint.All {
		r := command(t, now, "explain", rule.ID)
		if r.code != 0 || !strings.HasPrefix(r.stdout, "# "+rule.ID) {
			t.Errorf("explain %s: exit %d, %.40q", rule.ID, r.code, r.stdout)
		}
	}
	if r := command(t, now, "explain"); strings.Count(r.stdout, "\n") != len(rules.All)+len(lint.All) {
		t.Errorf("the list has %d lines for %d rules", strings.Count(r.stdout, "\n"), len(rules.All)+len(lint.All))
	}
	if r := command(t, now, "explain", "expire-control"); r.code != exitUsage || !strings.Contains(r.stderr, "did you mean lint/expire-control?") {
		t.Errorf("exit %d, %q", r.code, r.stderr)
	}
}

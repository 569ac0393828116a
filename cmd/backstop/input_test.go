package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"backstop/store/storetest"
)

// Bad input ends with one clear line that says what to do, and with a documented
// status; never with a stack trace.
func TestBadInput(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	fake, _, endpoint := served(t, now, nil)
	fake.CreateBucket("unrelated").Put("a/b", []byte("x"))
	refused := func(code string) string {
		f, _, url := served(t, now, mustArchive(t, "healthy"))
		f.Fault(func(storetest.Request) *storetest.Fault {
			return &storetest.Fault{Kind: storetest.Refused, Status: 403, Code: code, Message: code}
		})
		return url
	}
	closed := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return "http://" + l.Addr().String()
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	config := func(body string) string {
		name := filepath.Join(t.TempDir(), "backstop.yaml")
		if err := os.WriteFile(name, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says []string // on stdout or stderr
	}{
		"unknown bucket":               {[]string{"audit", "s3://nobucket", "--endpoint-url", endpoint}, 3, []string{"s3://nobucket", "the bucket does not exist", "Check the name"}},
		"empty bucket":                 {[]string{"audit", "s3://kops", "--endpoint-url", endpoint}, 3, []string{"no etcd-manager backup store below s3://kops", "Check the bucket"}},
		"no store under the prefix":    {[]string{"audit", "s3://unrelated/a", "--endpoint-url", endpoint}, 3, []string{"no etcd-manager backup store below s3://unrelated/a"}},
		"no such directory":            {[]string{"audit", filepath.Join(dir, "none")}, 3, []string{"there is no such directory", "s3://NAME"}},
		"a file for a directory":       {[]string{"audit", file}, 3, []string{"it is a file"}},
		"an empty directory":           {[]string{"audit", t.TempDir()}, 3, []string{"no etcd-manager backup store"}},
		"one slash":                    {[]string{"audit", "s3:/kops"}, 64, []string{"typo", "s3://BUCKET[/PREFIX]"}},
		"no colon":                     {[]string{"audit", "s3//kops"}, 64, []string{"typo"}},
		"unknown scheme":               {[]string{"audit", "s4://kops"}, 64, []string{`the scheme "s4" is not known`}},
		"another cloud":                {[]string{"audit", "gs://kops"}, 64, []string{"Google Cloud Storage"}},
		"no bucket":                    {[]string{"audit", "s3://"}, 64, []string{"not the name of a bucket"}},
		"a bucket with a space":        {[]string{"audit", "s3://my bucket/x"}, 64, []string{"not the name of a bucket"}},
		"no STORE":                     {[]string{"audit"}, 64, []string{"no STORE", "--config", "KOPS_STATE_STORE"}},
		"unknown flag":                 {[]string{"audit", "--frobnicate"}, 64, []string{"unknown flag", "--help"}},
		"unknown command":              {[]string{"adit"}, 64, []string{"unknown command", "--help"}},
		"unknown format":               {[]string{"audit", "-o", "pdf", dir}, 64, []string{`no output format "pdf"`, "html, json, markdown, nagios, prometheus, text"}},
		"two formats to stdout":        {[]string{"audit", "-o", "json", "-o", "text", dir}, 64, []string{"FORMAT=FILE"}},
		"unknown rule":                 {[]string{"audit", "--rules", "control/typo", dir}, 64, []string{`no rule "control/typo"`}},
		"unknown fail-on":              {[]string{"audit", "--fail-on", "never", dir}, 64, []string{"--fail-on"}},
		"bad time":                     {[]string{"audit", "--at", "yesterday", dir}, 64, []string{"--at", "2027-01-15"}},
		"bad interval":                 {[]string{"audit", "--interval", "soon", dir}, 64, []string{"--interval"}},
		"zero interval":                {[]string{"audit", "--interval", "0s", dir}, 64, []string{"--interval"}},
		"bad timeout":                  {[]string{"audit", "--timeout", "-1s", dir}, 64, []string{"--timeout"}},
		"bad endpoint":                 {[]string{"audit", "s3://kops", "--endpoint-url", "localhost:9000"}, 64, []string{"--endpoint-url", "https://"}},
		"configuration, bad endpoint":  {[]string{"audit", "--config", config("version: 1\nstores:\n- url: s3://abc\n  endpoint_url: x\n")}, 78, []string{"endpoint_url"}},
		"bad color":                    {[]string{"audit", "--color", "blue", dir}, 64, []string{"--color"}},
		"bad log level":                {[]string{"audit", "--log-level", "loud", dir}, 64, []string{"--log-level"}},
		"a rate below nothing":         {[]string{"audit", "--max-requests-per-second", "-1", dir}, 64, []string{"--max-requests-per-second is -1"}},
		"a rate that is none":          {[]string{"config", "print", "--max-requests-per-second", "NaN"}, 64, []string{"--max-requests-per-second is NaN"}},
		"no concurrency":               {[]string{"audit", "--concurrency", "0", dir}, 64, []string{"--concurrency"}},
		"watch a recording":            {[]string{"audit", "--watch", "1s", "--replay", "x"}, 64, []string{"--watch"}},
		"watch as JSON":                {[]string{"audit", "--watch", "1s", "-o", "json", dir}, 64, []string{"--watch", "-o text"}},
		"replay and STORE":             {[]string{"audit", "--replay", "x", dir}, 64, []string{"--replay"}},
		"replay nothing":               {[]string{"audit", "--replay", filepath.Join(dir, "none")}, 64, []string{"no such file", "--record"}},
		"replay what is no recording":  {[]string{"audit", "--replay", file}, 64, []string{"EOF", "--record"}},
		"expired credentials":          {[]string{"audit", "s3://kops", "--endpoint-url", refused("ExpiredToken")}, 77, []string{"ExpiredToken", "aws sts get-caller-identity"}},
		"unknown access key":           {[]string{"audit", "s3://kops", "--endpoint-url", refused("InvalidAccessKeyId")}, 77, []string{"InvalidAccessKeyId", "credentials"}},
		"wrong secret":                 {[]string{"audit", "s3://kops", "--endpoint-url", refused("SignatureDoesNotMatch")}, 77, []string{"SignatureDoesNotMatch"}},
		"denied everywhere":            {[]string{"audit", "s3://kops/prod.example.com", "--endpoint-url", refused("AccessDenied")}, 77, []string{"s3:ListBucket", "UNKNOWN"}},
		"unknown profile":              {[]string{"audit", "s3://kops", "--profile", "nobody", "--endpoint-url", endpoint}, 77, []string{"nobody"}},
		"nobody listens":               {[]string{"audit", "s3://kops", "--endpoint-url", closed()}, 69, []string{"connection refused", "--endpoint-url"}},
		"no such configuration":        {[]string{"audit", "--config", filepath.Join(dir, "none.yaml")}, 78, []string{"no such file"}},
		"empty configuration":          {[]string{"audit", "--config", config("")}, 78, []string{"it is empty"}},
		"configuration, unknown key":   {[]string{"audit", "--config", config("version: 1\nstors: []\n")}, 78, []string{"line 2", "stors"}},
		"configuration, key of store":  {[]string{"audit", "--config", config("version: 1\nstores:\n- url: s3://a-bucket\n  regoin: x\n")}, 78, []string{"line 4", "regoin"}},
		"configuration, version":       {[]string{"audit", "--config", config("version: 2\n")}, 78, []string{"version is 2, want 1"}},
		"configuration, no url":        {[]string{"audit", "--config", config("version: 1\nstores:\n- region: x\n")}, 78, []string{"stores[0]: url is missing"}},
		"configuration, bad url":       {[]string{"audit", "--config", config("version: 1\nstores:\n- url: s3:/x\n")}, 78, []string{"stores[0]", "typo"}},
		"configuration, twice":         {[]string{"audit", "--config", config("version: 1\nstores:\n- url: s3://abc\n- url: s3://abc\n")}, 78, []string{"stores[1]", "named twice"}},
		"configuration, duration":      {[]string{"audit", "--config", config("version: 1\ndefaults:\n  interval: 15\n")}, 78, []string{"15m, 90d or 2y"}},
		"configuration, horizons":      {[]string{"audit", "--config", config("version: 1\nstores:\n- url: s3://abc\n  horizon: {critical: 90d, warning: 7d}\n")}, 78, []string{"horizon.critical"}},
		"configuration, two documents": {[]string{"audit", "--config", config("version: 1\n---\nversion: 1\n")}, 78, []string{"more than one"}},
		"unknown rule to explain":      {[]string{"explain", "armed"}, 64, []string{`no rule "armed"`, "control/reset-armed"}},
		"gate without a store":         {[]string{"gate", t.TempDir()}, 3, []string{"CANNOT TELL"}},
		"plan without a store":         {[]string{"plan", t.TempDir()}, 3, []string{"not looked at"}},
		"environment: a bad value":     {[]string{"audit", dir}, 64, []string{"BACKSTOP_CONCURRENCY"}},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{}
			if strings.HasPrefix(name, "environment") {
				env["BACKSTOP_CONCURRENCY"] = "many"
			}
			r := commandIn(t, t.Context(), now, env, c.args...)
			all := r.stdout + r.stderr
			if r.code != c.code {
				t.Errorf("exit %d, want %d\n%s", r.code, c.code, all)
			}
			for _, w := range c.says {
				if !strings.Contains(all, w) {
					t.Errorf("it does not say %q:\n%s", w, all)
				}
			}
			if strings.Contains(all, "goroutine") || strings.Contains(all, "panic") {
				t.Errorf("a stack trace:\n%s", all)
			}
			if n := strings.Count(r.stderr, "\n"); n > 2 {
				t.Errorf("%d lines on stderr, want an error and a hint:\n%s", n, r.stderr)
			}
		})
	}
}

// Without any credentials the SDK's own long search ends in one line.
func TestNoCredentials(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	now := at("2026-11-30T18:07:10Z")
	_, _, endpoint := served(t, now, nil)
	r := command(t, now, "audit", "s3://kops", "--endpoint-url", endpoint)
	if r.code != 77 || !strings.Contains(r.stdout, "no usable AWS credentials") || !strings.Contains(r.stdout, "AWS_PROFILE") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// Where the configuration names the store, its absence is not a mistake of the
// person who asks.
func TestStoreVanished(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	_, _, endpoint := served(t, now, nil)
	for _, url := range []string{"s3://kops/prod.example.com/backups/etcd/main", "s3://kops", "s3://nobucket/prod.example.com/backups/etcd/main"} {
		name := filepath.Join(t.TempDir(), "backstop.yaml")
		if err := os.WriteFile(name, []byte("version: 1\nstores:\n- url: "+url+"\n  endpoint_url: "+endpoint+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		r, res := reportOf(t, now, "--config", name)
		if res.code != 2 || len(r.Stores) != 1 || findings(r)[0] != "critical audit/store-vanished" {
			t.Errorf("%s: exit %d, %q %+v", url, res.code, findings(r), r.Problems)
		}
	}
}

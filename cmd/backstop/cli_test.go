package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"backstop/audit"
	"backstop/rules"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// What a person sees, word for word. The pages are in testdata.
func TestOutputs(t *testing.T) {
	for name, c := range map[string]struct {
		stores []string // archives, each put below a folder of its name where there are several
		at     string
		change func(b *storetest.Bucket)
		args   []string
		code   int
	}{
		"audit-healthy.txt":       {[]string{"healthy"}, "2026-11-30T18:07:10Z", versioned, []string{"audit"}, 0},
		"audit-armed.txt":         {[]string{"armed"}, "2026-11-30T18:08:05Z", nil, []string{"audit"}, 2},
		"audit-several.txt":       {[]string{"healthy", "trigger", "post-reset", "created-only-clean"}, "2026-11-30T18:09:10Z", nil, []string{"audit"}, 2},
		"audit-several-quiet.txt": {[]string{"healthy", "armed"}, "2026-11-30T18:08:10Z", versioned, []string{"audit", "--quiet", "--rules", "control/reset-armed"}, 2},
		"audit-bootstrapping.txt": {[]string{"healthy"}, "2026-11-30T18:07:10Z", specOnly, []string{"audit"}, 0},
		"plan-armed.txt":          {[]string{"armed"}, "2026-11-30T18:08:05Z", nil, []string{"plan"}, 2},
		"plan-imminent.txt":       {[]string{"trigger"}, "2026-11-30T18:08:25Z", nil, []string{"plan"}, 2},
		"plan-hidden.txt":         {[]string{"healthy"}, "2027-03-02T08:00:00Z", hidden, []string{"plan"}, 2},
		"plan-queued.txt":         {[]string{"pending-restore-clean"}, "2026-11-30T19:10:00Z", loseControl, []string{"plan"}, 2},
		"plan-latent.txt":         {[]string{"created-only-clean"}, "2026-11-30T18:07:10Z", nil, []string{"plan"}, 2},
		"plan-post-reset.txt":     {[]string{"post-reset"}, "2026-11-30T18:09:08Z", nil, []string{"plan"}, 2},
		"plan-restore.txt":        {[]string{"healthy"}, "2026-11-30T18:07:10Z", nil, []string{"plan", "--restore"}, 2},
		"plan-blocked.txt":        {[]string{"healthy"}, "2026-11-30T18:07:10Z", emptyCreated, []string{"plan"}, 2},
		"plan-healthy.txt":        {[]string{"healthy"}, "2026-11-30T18:07:10Z", versioned, []string{"plan"}, 0},
		"gate-go.txt":             {[]string{"healthy"}, "2026-11-30T18:07:10Z", nil, []string{"gate"}, 0},
		"gate-armed.txt":          {[]string{"armed", "healthy"}, "2026-11-30T18:08:05Z", nil, []string{"gate"}, 2},
		"gate-queued.txt":         {[]string{"pending-restore-clean"}, "2026-11-30T18:33:00Z", nil, []string{"gate"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			now := at(c.at)
			_, b, endpoint := served(t, now, nil)
			for _, s := range c.stores {
				files := mustArchive(t, s)
				if len(c.stores) > 1 {
					for i := range files {
						files[i].Key = strings.Replace(files[i].Key, "prod.example.com", s+".example.com", 1)
					}
				}
				b.Fill(files)
			}
			if c.change != nil {
				c.change(b)
			}
			r := command(t, now, append(c.args, "s3://kops", "--endpoint-url", endpoint)...)
			if r.code != c.code {
				t.Errorf("exit %d, want %d\n%s%s", r.code, c.code, r.stdout, r.stderr)
			}
			golden(t, name, strings.ReplaceAll(versionIDs.ReplaceAllString(r.stdout, "VERSION"), endpoint, "http://127.0.0.1:9000"))
		})
	}
}

var versionIDs = regexp.MustCompile(`[A-Za-z0-9_-]{32}`)

const mainStore = "prod.example.com/backups/etcd/main/"

func versioned(b *storetest.Bucket) { b.SetVersioning("Enabled") }

// hidden is the store after a lifecycle rule has hidden both control files.
func hidden(b *storetest.Bucket) {
	b.SetVersioning("Enabled")
	midnight := storetest.WithTime(at("2027-03-01T00:00:00Z"))
	b.Delete(mainStore+etcdmanager.CreatedPath, midnight)
	b.Delete(mainStore+etcdmanager.SpecPath, midnight)
	b.SetLifecycle([]byte(demoRule))
}

func loseControl(b *storetest.Bucket) {
	b.Purge(mainStore + etcdmanager.CreatedPath)
	b.Purge(mainStore + etcdmanager.SpecPath)
}

func emptyCreated(b *storetest.Bucket) { b.Put(mainStore+etcdmanager.CreatedPath, nil) }

// specOnly is a cluster that is being born: kops has written the spec.
func specOnly(b *storetest.Bucket) {
	b.SetVersioning("Enabled")
	for _, key := range b.Keys() {
		if key != mainStore+etcdmanager.SpecPath {
			b.Purge(key)
		}
	}
}

// A cluster that is being created pages nobody.
func TestBootstrappingIsOK(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	_, b, endpoint := served(t, now, mustArchive(t, "healthy"))
	specOnly(b)
	r, _ := reportOf(t, now, "s3://kops", "--endpoint-url", endpoint)
	if r.Verdict != audit.OK || r.Stores[0].State.Name != "bootstrapping" {
		t.Errorf("verdict %s, state %s, %q", r.Verdict, r.Stores[0].State.Name, findings(r))
	}
}

// Every JSON report is as the published schema has it.
func TestJSONSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range realStores {
		_, _, endpoint := served(t, at(c.at), mustArchive(t, name))
		for _, args := range [][]string{
			{"s3://kops", "--endpoint-url", endpoint}, {"s3://nobucket", "--endpoint-url", endpoint},
			{t.TempDir()}, {copied(t, mustArchive(t, name))},
		} {
			r := command(t, at(c.at), append([]string{"audit", "-o", "json"}, args...)...)
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(r.stdout))
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, r.stdout)
			}
			if err := schema.Validate(doc); err != nil {
				t.Errorf("%s %q: %v", name, args, err)
			}
		}
	}
	// A schema that accepts anything would prove nothing.
	bad, _ := jsonschema.UnmarshalJSON(strings.NewReader(`{"schema":1,"verdict":"FINE","judged":"x","checked":0,"total":0,"stores":[],"usage":{"bytes":0}}`))
	if schema.Validate(bad) == nil {
		t.Error("the schema accepts a verdict that there is not")
	}
}

// What was recorded is judged the same elsewhere, and as of another time.
func TestRecordAndReplay(t *testing.T) {
	now := at("2026-12-01T09:00:00Z")
	_, b, endpoint := served(t, now, mustArchive(t, "healthy"))
	b.SetVersioning("Enabled")
	b.SetLifecycle([]byte(demoRule))
	seen := filepath.Join(t.TempDir(), "seen.json")
	live, _ := reportOf(t, now, "s3://kops", "--endpoint-url", endpoint, "--record", seen)
	again, _ := reportOf(t, now.Add(1000*time.Hour), "--replay", seen)
	a, _ := json.Marshal(live)
	c, _ := json.Marshal(again)
	if string(a) != string(c) {
		t.Errorf("replayed differently:\n%s\n%s", a, c)
	}
	later, res := reportOf(t, now, "--replay", seen, "--at", "2027-02-27")
	if got := findings(later); res.code != 2 || !strings.Contains(strings.Join(got, " "), "critical lifecycle/deletes-control") {
		t.Errorf("two days before the deletion: exit %d, %q", res.code, got)
	}
}

func TestExitStatus(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	_, _, endpoint := served(t, now, mustArchive(t, "healthy")) // WARNING: unversioned
	_, _, armed := served(t, now, mustArchive(t, "armed"))
	dir := t.TempDir()
	if err := storetest.Unpack(dir, mustArchive(t, "healthy")); err != nil { // UNKNOWN: a bare directory
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"s3://kops", "--endpoint-url", endpoint}, 1},
		{[]string{"s3://kops", "--endpoint-url", endpoint, "--fail-on", "critical"}, 0},
		{[]string{"s3://kops", "--endpoint-url", armed, "--fail-on", "critical"}, 2},
		{[]string{"s3://kops", "--endpoint-url", armed, "--exit-zero"}, 0},
		{[]string{dir}, 3},
		{[]string{dir, "--fail-on", "critical"}, 3},
		{[]string{dir, "--exit-zero"}, 0},
		{[]string{dir, "--rules", "snapshot/stale"}, 3}, // fewer rules do not see more
	} {
		if r := command(t, now, append([]string{"audit"}, c.args...)...); r.code != c.code {
			t.Errorf("%q: exit %d, want %d\n%s%s", c.args, r.code, c.code, r.stdout, r.stderr)
		}
	}
}

func TestOutputToFiles(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	_, _, endpoint := served(t, now, mustArchive(t, "healthy"))
	dir := t.TempDir()
	file := filepath.Join(dir, "report.json")
	r := command(t, now, "audit", "s3://kops", "--endpoint-url", endpoint, "-o", "json="+file, "-o", "text")
	body, err := os.ReadFile(file)
	if err != nil || !json.Valid(body) || !strings.Contains(r.stdout, "WARNING") {
		t.Errorf("file %q (%v), stdout %q", body, err, r.stdout)
	}
	r = command(t, now, "audit", "s3://kops", "--endpoint-url", endpoint, "-o", "json="+filepath.Join(dir, "none", "x"))
	if r.code != exitInternal || !strings.Contains(r.stderr, "no such file") {
		t.Errorf("into no directory: exit %d, %q", r.code, r.stderr)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestColors(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	dir := copied(t, mustArchive(t, "healthy"))
	if r := command(t, now, "audit", dir); strings.Contains(r.stdout, "\x1b") {
		t.Error("colors without a terminal")
	}
	if r := command(t, now, "audit", dir, "--color", "always"); !strings.Contains(r.stdout, "\x1b[33m") {
		t.Error("no colors with --color always")
	}
}

// Names in a bucket are not to be trusted with a terminal.
func TestHostileNamesAreEscaped(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	_, b, endpoint := served(t, now, mustArchive(t, "healthy"))
	b.Put(mainStore+"control/\x1b[2J\u202eevil\nOK: nothing found", []byte("x"))
	r := command(t, now, "audit", "s3://kops", "--endpoint-url", endpoint)
	if strings.ContainsAny(r.stdout, "\x1b\u202e") || strings.Contains(r.stdout, "\nOK: nothing found") || !strings.Contains(r.stdout, `\x1b[2J\u202eevil\n`) {
		t.Errorf("printed as it is: %q", r.stdout)
	}
}

// A writer that does something when a line has been printed.
type lineWriter struct {
	mu   sync.Mutex
	text strings.Builder
	on   func(all string)
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.text.Write(p)
	all := w.text.String()
	w.mu.Unlock()
	w.on(all)
	return len(p), nil
}

// During a repair the state line changes as the files come back: created first,
// then the spec, then a new snapshot.
func TestWatchARepair(t *testing.T) {
	now := at("2026-11-30T18:08:05Z")
	_, b, endpoint := served(t, now, mustArchive(t, "armed"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	step := 0
	var files []storetest.File = mustArchive(t, "healthy")
	restore := func(path string) {
		for _, f := range files {
			if f.Key == mainStore+path {
				b.Put(f.Key, f.Body)
			}
		}
	}
	w := &lineWriter{}
	w.on = func(all string) {
		switch {
		case step == 0 && strings.Contains(all, "watching every"):
			step = 1
			restore(etcdmanager.CreatedPath)
		case step == 1 && strings.Contains(all, "armed -> latent"):
			step = 2
			restore(etcdmanager.SpecPath)
		case step == 2 && strings.Contains(all, "latent -> running"):
			step = 3
			name := etcdmanager.FormatName(now, 7)
			b.Put(mainStore+name+"/"+etcdmanager.DataFile, make([]byte, 5000))
			b.Put(mainStore+name+"/"+etcdmanager.MetaFile, []byte(`{"etcdVersion":"3.6.11"}`))
		case step == 3 && strings.Contains(all, "7 snapshots"):
			step = 4
			cancel()
		}
	}
	p := &program{ctx: ctx, stdout: w, stderr: w, now: func() time.Time { return now }, env: func(string) (string, bool) { return "", false }}
	code := p.run([]string{"audit", "s3://kops", "--endpoint-url", endpoint, "--watch", "5ms"})
	if step != 4 || code != exitInterrupted {
		t.Errorf("ended at step %d with %d:\n%s", step, code, w.text.String())
	}
	for _, line := range []string{"gone: critical control/reset-armed", "new:  critical control/spec-missing", "gone: critical control/spec-missing"} {
		if !strings.Contains(w.text.String(), line) {
			t.Errorf("it does not say %q:\n%s", line, w.text.String())
		}
	}
}

func TestExplain(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	for _, rule := range rules.All {
		r := command(t, now, "explain", rule.ID)
		if r.code != 0 || !strings.HasPrefix(r.stdout, "# "+rule.ID) {
			t.Errorf("explain %s: exit %d, %.40q", rule.ID, r.code, r.stdout)
		}
	}
}

func TestVersionAndCompletion(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	if r := command(t, now, "version"); r.code != 0 || !strings.HasPrefix(r.stdout, "backstop ") {
		t.Errorf("version: %d %q", r.code, r.stdout)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if r := command(t, now, "completion", shell); r.code != 0 || !strings.Contains(r.stdout, "backstop") {
			t.Errorf("completion %s: %d", shell, r.code)
		}
	}
}

// The demo tells the whole incident, by the true audit, and the states come in
// their order.
func TestDemo(t *testing.T) {
	for _, name := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		t.Setenv(name, os.Getenv(name)) // the demo sets them for its process
	}
	r := command(t, at("2030-01-01T00:00:00Z"), "demo")
	if r.code != 0 {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	rest := r.stdout
	for _, word := range []string{
		"OK: nothing found", "exit status 0",
		"will hide etcd-cluster-created on 2027-03-01 00:00:00Z, in 89d", "exit status 1",
		"CRITICAL lifecycle/deletes-control", "exit status 2",
		"armed  ", "CRITICAL control/reset-armed", "a lifecycle rule did it",
		"imminent  ", "CRITICAL control/reset-imminent",
		"CRITICAL control/reseeded", "Copy 2027-02-28T00:00:00Z-",
	} {
		_, after, ok := strings.Cut(rest, word)
		if !ok {
			t.Fatalf("%q does not follow in its place:\n%s", word, r.stdout)
		}
		rest = after
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// realSnapshot is a snapshot that a real etcd-manager wrote, by its name in the
// store post-reset.
func realSnapshot(t *testing.T, dir, name string) string {
	t.Helper()
	return filepath.Join(dir, "prod.example.com", "backups", "etcd", "main", name)
}

func TestDiff(t *testing.T) {
	real := copied(t, mustArchive(t, "post-reset"))
	early, before, same, after := realSnapshot(t, real, "2026-11-30T18:05:47Z-000004"), realSnapshot(t, real, "2026-11-30T18:06:17Z-000005"),
		realSnapshot(t, real, "2026-11-30T18:06:47Z-000006"), realSnapshot(t, real, "2026-11-30T18:08:29Z-000007")
	dir := snapshotFiles(t, "wrong-sha", "torn-meta0-resealed", "healthy-v3.6")
	damaged, torn, healthy := filepath.Join(dir, "wrong-sha"), filepath.Join(dir, "torn-meta0-resealed"), filepath.Join(dir, "healthy-v3.6")
	for name, c := range map[string]struct {
		before, after string
		code          int
		says          []string
		never         string
	}{
		"grown":          {early, same, 1, []string{"86    106    +20       ~1        .", "40     60    +20        .        .  +51.8 KiB    team-a", "10 resources did not change"}, "note"},
		"the same":       {before, same, 0, []string{"nothing changed: the same 106 keys"}, "note"},
		"a reset":        {same, after, 1, []string{"no etcd member in common", "holds nothing, as after a reset", "-106"}, ""},
		"backwards":      {same, early, 1, []string{"the first is the newer one, by its revision (289 and 87)", "-20"}, ""},
		"damaged":        {damaged, same, 2, []string{"DAMAGED", "trailer: ", "not compared"}, "added"},
		"damaged second": {same, damaged, 2, []string{"DAMAGED", "not compared"}, "added"},
		"not there":      {same, filepath.Join(dir, "nowhere"), 3, []string{"UNVERIFIED", "not compared"}, "added"},
		"a remark":       {torn, healthy, 0, []string{"remark: meta page 0 is damaged", "nothing changed: the same 1097 keys"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := command(t, verifyTime, "diff", c.before, c.after)
			if r.code != c.code || r.stderr != "" {
				t.Errorf("exit %d, want %d; stderr %q", r.code, c.code, r.stderr)
			}
			for _, s := range c.says {
				if !strings.Contains(r.stdout, s) {
					t.Errorf("it does not say %q:\n%s", s, r.stdout)
				}
			}
			if c.never != "" && strings.Contains(r.stdout, c.never) {
				t.Errorf("it says %q:\n%s", c.never, r.stdout)
			}
		})
	}
}

func TestDiffFromS3(t *testing.T) {
	_, _, endpoint := served(t, verifyTime, mustArchive(t, "post-reset"))
	at := "s3://kops/prod.example.com/backups/etcd/main/"
	r := command(t, verifyTime, "diff", "--endpoint-url", endpoint, at+"2026-11-30T18:05:47Z-000004", at+"2026-11-30T18:06:47Z-000006/etcd.backup.gz")
	if r.code != 1 || !strings.Contains(r.stdout, "+20") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.stderr)
	}
}

func TestDiffUsage(t *testing.T) {
	for name, args := range map[string][]string{
		"one": {"a"}, "three": {"a", "b", "c"}, "standard in twice": {"-", "-"}, "a format": {"-o", "xml", "a", "b"}, "a size": {"--max-memory", "1", "a", "b"},
	} {
		if r := command(t, verifyTime, append([]string{"diff"}, args...)...); r.code != exitUsage || r.stdout != "" {
			t.Errorf("%s: exit %d: %s%s", name, r.code, r.stdout, r.stderr)
		}
	}
}

// What one snapshot keeps is taken from what the other may.
func TestDiffIsBounded(t *testing.T) {
	name := filepath.Join(snapshotFiles(t, "healthy-v3.6"), "healthy-v3.6")
	for kib := 3 << 10; ; kib += 64 { // until the first fits
		r := command(t, verifyTime, "diff", "--max-memory", fmt.Sprint(kib, "KiB"), name, name)
		switch n := strings.Count(r.stdout, "UNVERIFIED"); {
		case r.code != 3 && n == 0:
			t.Fatalf("with %d KiB both fit at once:\n%s", kib, r.stdout)
		case n == 1:
			return
		}
	}
}

// validates holds what a command prints to its schema.
func validates(t *testing.T, schema, doc string) {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", schema))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(doc))
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, doc)
	}
}

func TestDiffJSON(t *testing.T) {
	dir := copied(t, mustArchive(t, "post-reset"))
	early, late := realSnapshot(t, dir, "2026-11-30T18:05:47Z-000004"), realSnapshot(t, dir, "2026-11-30T18:06:47Z-000006")
	r := command(t, verifyTime, "diff", "-o", "json", early, late)
	validates(t, "diff.schema.json", r.stdout)
	var d compared
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil || d.Total.Added != 20 || d.Total.Changed != 1 {
		t.Errorf("%v: %s", err, r.stdout)
	}
	for _, res := range d.Resources {
		if res.Name == "pods" && (len(res.Namespaces) != 1 || res.Namespaces[0].Added != 20) {
			t.Errorf("pods: %+v", res)
		}
	}
	wrong := filepath.Join(snapshotFiles(t, "wrong-sha"), "wrong-sha")
	r = command(t, verifyTime, "diff", "-o", "json", early, wrong)
	if validates(t, "diff.schema.json", r.stdout); r.code != 2 || strings.Contains(r.stdout, `"total"`) {
		t.Errorf("exit %d: %s", r.code, r.stdout)
	}
}

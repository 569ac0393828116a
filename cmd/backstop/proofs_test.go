package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"backstop/store/etcdmanager"
)

// What verify has opened is verified on the page, with what it held.
func TestVerifiedOnThePage(t *testing.T) {
	dir := copied(t, mustArchive(t, "healthy"))
	root := filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(mainStore, "/")))
	names, err := filepath.Glob(filepath.Join(root, "2*"))
	if err != nil || len(names) < 2 {
		t.Fatalf("%v %v", names, err)
	}
	args := []string{"verify", "-o", "json"}
	for _, name := range names {
		args = append(args, filepath.Join(name, etcdmanager.DataFile))
	}
	v := command(t, serveTime, args...)
	file := configured(t, v.stdout)
	page := command(t, serveTime, "audit", root, "-o", "html", "--verified", file, "--exit-zero")
	for _, want := range []string{"verified: 1</li>", "Revision, of what was verified", "Keys, of what was verified", "1 day verified"} {
		if !strings.Contains(page.stdout, want) {
			t.Errorf("exit %d: the page does not say %q\n%s", page.code, want, page.stderr)
		}
	}
	plain := command(t, serveTime, "audit", root, "-o", "html", "--exit-zero")
	if strings.Contains(plain.stdout, "1 day verified") {
		t.Error("it is verified without being opened")
	}
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"audit", "-o", "html"}, {"serve"}} {
		if r := command(t, serveTime, append(args, root, "--verified", file)...); r.code != exitUsage || !strings.Contains(r.stderr, "not what `backstop verify -o json` writes") {
			t.Errorf("%s: exit %d: %s", args, r.code, r.stderr)
		}
	}
}

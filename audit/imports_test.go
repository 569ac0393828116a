package audit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows says which packages of the module each may import: a star around
// audit, which knows nobody. A folder that is not here has no place in the
// program yet.
var arrows = map[string][]string{
	"audit":                       {},
	"audit/report":                {"audit", "rules/forecast", "rules/recovery", "store/etcdmanager"},
	"audit/report/browser":        {},
	"store/etcdmanager":           {},
	"rules/lifecycle":             {},
	"rules/lifecycle/infra":       {"rules/lifecycle"},
	"rules/lint":                  {"audit", "store/etcdmanager", "store/kops", "rules/lifecycle", "rules/lifecycle/infra", "rules/forecast"},
	"store/kops":                  {"store/etcdmanager"},
	"store/snapshot":              {},
	"store/snapshot/snapshottest": {},
	"store/snapshot/etcdtest":     {},
	"store/charm":                 {"store/snapshot"},
	"store/charm/charmtest":       {},
	"rules/preflight":             {"audit", "store/charm", "store/snapshot"},
	"store":                       {"audit", "store/charm", "store/etcdmanager", "store/kops", "store/snapshot", "rules/lifecycle"},
	"store/ledger":                {"audit"},
	"store/drill":                 {"store/snapshot"},
	"store/storetest":             {"audit", "store", "store/etcdmanager", "rules/lifecycle"},
	"store/storetest/rgwtest":     {"audit", "store", "store/storetest", "store/storetest/child"},
	"rules/recovery":              {"audit", "store/etcdmanager", "store/snapshot", "rules/lifecycle", "rules/forecast"},
	"rules/forecast":              {"audit", "store/etcdmanager", "rules/lifecycle"},
	"rules":                       {"audit", "store/etcdmanager", "rules/lifecycle", "rules/recovery", "rules/forecast"},
	"rules/suggest":               {"audit", "store/etcdmanager", "rules/lifecycle", "rules/forecast", "rules"},
	"deploy":                      {},
	"cmd/bench/snapshots":         {},
	"cmd/bench/fleet":             {"audit", "store/etcdmanager", "store/storetest"},
	"cmd/replay":                  {"audit", "rules", "store", "store/storetest"},
	"store/storetest/child":       {},
	"alerts/board":                {"audit", "audit/report", "alerts/notify", "rules/forecast"},
	"alerts/deliver":              {},
	"alerts":                      {"audit", "store/etcdmanager", "alerts/deliver"},
	"alerts/notify":               {"audit", "audit/report", "alerts", "alerts/deliver"},
	"alerts/promtest":             {"store/storetest/child"},
	"cmd/backstop": {"alerts", "alerts/board", "alerts/deliver", "alerts/notify", "audit", "audit/report", "store", "store/charm", "store/drill", "store/etcdmanager", "store/kops", "store/ledger", "store/snapshot", "store/storetest",
		"rules", "rules/lifecycle", "rules/lifecycle/infra", "rules/lint", "rules/recovery", "rules/forecast", "rules/suggest", "rules/preflight"},
}

// pure packages do no I/O and read no clock: what they need to know belongs in
// the Observation.
var pure = []string{"audit", "rules", "rules/lifecycle", "rules/lifecycle/infra", "rules/lint", "rules/recovery", "rules/forecast", "rules/suggest", "rules/preflight", "store/charm", "store/etcdmanager", "store/kops", "store/snapshot", "store/charm", "rules/preflight"}

// standardOnly packages hold knowledge, and need nothing but the standard
// library for it.
var standardOnly = []string{"audit", "store/etcdmanager", "rules/lifecycle"}

// forbidden in pure packages.
var forbidden = []string{"net", "net/http", "os", "os/exec", "context", "io/ioutil", "log", "log/slog", "syscall"}

// sdkFiles are where the S3 SDK may be imported, besides tests.
var sdkFiles = []string{"store/s3*.go", "store/storetest/rgwtest/*.go", "cmd/bench/fleet/sdk.go"}

// The files are parsed, and not `go list` asked: its answer may come from the
// test cache after another package has changed.
func TestImportStar(t *testing.T) {
	root := ".."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		checkFile(t, rel, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkFile(t *testing.T, rel, path string) {
	dir := filepath.ToSlash(filepath.Dir(rel))
	allowed, known := arrows[dir]
	if !known {
		t.Errorf("%s: the folder %s has no place in the star; give it one in arrows", rel, dir)
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Errorf("%s: %v", rel, err)
		return
	}
	for _, spec := range file.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if own, ok := strings.CutPrefix(name, "backstop/"); ok {
			if !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s, which %s may not know", rel, name, dir)
			}
			continue
		}
		if slices.Contains(pure, dir) && slices.Contains(forbidden, name) {
			t.Errorf("%s imports %s: what it needs to know belongs in the Observation", rel, name)
		}
		third := strings.Contains(strings.SplitN(name, "/", 2)[0], ".")
		if slices.Contains(standardOnly, dir) && third {
			t.Errorf("%s imports %s: %s holds knowledge and needs the standard library alone", rel, name, dir)
		}
		if strings.HasPrefix(name, "github.com/aws/") && !matchAny(sdkFiles, rel) {
			t.Errorf("%s imports %s: nothing but store/s3*.go knows S3", rel, name)
		}
	}
	if slices.Contains(pure, dir) || dir == "cmd/backstop" && rel != "cmd/backstop/main.go" {
		for _, use := range uses(file, "time", "Now", "Since", "Until") {
			t.Errorf("%s uses time.%s: the clock is an argument", rel, use)
		}
	}
}

func matchAny(patterns []string, rel string) bool {
	for _, p := range patterns {
		if ok, _ := filepath.Match(p, rel); ok {
			return true
		}
	}
	return false
}

func uses(file *ast.File, pkg string, names ...string) []string {
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg && slices.Contains(names, s.Sel.Name) {
				found = append(found, s.Sel.Name)
			}
		}
		return true
	})
	return found
}

// A star that nobody checks is a drawing: each arrow must lead to a folder.
func TestStarIsOfFoldersThatExist(t *testing.T) {
	for dir := range arrows {
		if _, err := os.Stat(filepath.Join("..", dir)); err != nil {
			t.Errorf("arrows names %s: %v", dir, err)
		}
	}
}

// Command vuln runs govulncheck against the Go vulnerability database as a module of
// the Go module proxy holds it, for machines that reach the proxy and nothing else.
//
//	go run ./.ci/vuln GOVULNCHECK DATABASE
//
// GOVULNCHECK is the program; DATABASE is the directory of golang.org/x/vulndb. It fails
// if the program calls something vulnerable of a module. What is vulnerable in the
// standard library is told and does not fail: it is mended by a newer Go, on the machine
// that builds, and not by a commit.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fail(errors.New("usage: vuln GOVULNCHECK DATABASE"))
	}
	db, err := os.MkdirTemp("", "vulndb")
	if err != nil {
		fail(err)
	}
	n, err := layOut(filepath.Join(os.Args[2], "data", "osv"), db)
	if err != nil {
		fail(err)
	}
	found, err := check(os.Args[1], db)
	os.RemoveAll(db)
	if err != nil {
		fail(err)
	}
	bad := 0
	for _, f := range found {
		fmt.Printf("%s in %s, mended in %s\n", f.OSV, f.Trace[0].Module, f.FixedVersion)
		if f.Trace[0].Module != "stdlib" {
			bad++
		}
	}
	fmt.Printf("vuln: %d entries; called: %d of modules, %d of the standard library\n", n, bad, len(found)-bad)
	if bad > 0 {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "vuln:", err)
	os.Exit(2)
}

// An entry is what the index needs of a report in the format of https://osv.dev.
type entry struct {
	ID       string `json:"id"`
	Affected []struct {
		Package struct {
			Name string `json:"name"`
		} `json:"package"`
		Ranges []struct {
			Events []struct {
				Fixed string `json:"fixed"`
			} `json:"events"`
		} `json:"ranges"`
	} `json:"affected"`
}

// A moduleIndex is a line of index/modules.json (https://go.dev/doc/security/vuln/database).
type moduleIndex struct {
	Path  string      `json:"path"`
	Vulns []vulnIndex `json:"vulns"`
}

type vulnIndex struct {
	ID       string `json:"id"`
	Modified string `json:"modified"`
	Fixed    string `json:"fixed,omitempty"`
}

// epoch is a time of modification: the module keeps none.
const epoch = "2000-01-01T00:00:00Z"

// fewest is how many reports there are at least: fewer, and nothing was checked.
const fewest = 4000

// layOut makes the layout that govulncheck reads of a directory of reports.
func layOut(from, to string) (n int, err error) {
	files, err := filepath.Glob(filepath.Join(from, "*.json"))
	if err != nil {
		return 0, err
	}
	if len(files) < fewest {
		return 0, fmt.Errorf("%s holds %d reports, want at least %d", from, len(files), fewest)
	}
	for _, dir := range []string{"ID", "index"} {
		if err := os.Mkdir(filepath.Join(to, dir), 0o755); err != nil {
			return 0, err
		}
	}
	byPath := map[string][]vulnIndex{}
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		var e entry
		if err := json.Unmarshal(body, &e); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		for path, fixed := range e.mended() {
			byPath[path] = append(byPath[path], vulnIndex{ID: e.ID, Modified: epoch, Fixed: fixed})
		}
		if err := os.WriteFile(filepath.Join(to, "ID", e.ID+".json"), body, 0o644); err != nil {
			return 0, err
		}
	}
	var modules []moduleIndex
	for path, vulns := range byPath {
		modules = append(modules, moduleIndex{path, vulns})
	}
	slices.SortFunc(modules, func(a, b moduleIndex) int { return strings.Compare(a.Path, b.Path) })
	return len(files), errors.Join(write(to, "modules.json", modules), write(to, "db.json", map[string]string{"modified": epoch}))
}

// mended gives the modules of a report, with the last version that mends each.
func (e entry) mended() map[string]string {
	all := map[string]string{}
	for _, a := range e.Affected {
		all[a.Package.Name] = ""
		for _, r := range a.Ranges {
			for _, ev := range r.Events {
				if ev.Fixed != "" {
					all[a.Package.Name] = ev.Fixed
				}
			}
		}
	}
	return all
}

func write(to, name string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "index", name), body, 0o644)
}

// A finding is one of govulncheck's (golang.org/x/vuln/internal/govulncheck).
type finding struct {
	OSV          string `json:"osv"`
	FixedVersion string `json:"fixed_version"`
	Trace        []struct {
		Module   string `json:"module"`
		Function string `json:"function"`
	} `json:"trace"`
}

// check runs govulncheck on the packages of this directory and gives what is called,
// each report once.
func check(program, db string) ([]finding, error) {
	cmd := exec.Command(program, "-db", "file://"+db, "-format", "json", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var called []finding
	seen, scanned := map[string]bool{}, false
	for d := json.NewDecoder(out); ; {
		var m struct {
			Finding *finding `json:"finding"`
			SBOM    *struct {
				Modules []json.RawMessage `json:"modules"`
			} `json:"SBOM"`
		}
		if err := d.Decode(&m); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read what govulncheck writes: %w", err)
		}
		scanned = scanned || m.SBOM != nil && len(m.SBOM.Modules) > 1
		if f := m.Finding; f != nil && len(f.Trace) > 0 && f.Trace[0].Function != "" && !seen[f.OSV] {
			seen[f.OSV] = true
			called = append(called, *f)
		}
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("govulncheck: %w", err)
	}
	if !scanned {
		return nil, errors.New("govulncheck does not say that it looked at our modules")
	}
	return called, nil
}

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"backstop/rules/preflight"
	"backstop/store/charm"
	"backstop/store/charm/charmtest"
	"backstop/store/snapshot/snapshottest"
	"backstop/store/storetest"
)

// A charmUnit is a made-up unit below a directory that stands for its root.
type charmUnit struct{ root string }

func (u charmUnit) path(name string) string { return filepath.Join(u.root, name) }

func (u charmUnit) write(t *testing.T, name string, body []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(u.path(name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(u.path(name), body, 0o600); err != nil {
		t.Fatal(err)
	}
}

// member puts the data of a real etcd's snapshot into a data directory.
func (u charmUnit) member(t *testing.T, dir, snapshot string) {
	t.Helper()
	u.write(t, dir+"/member/snap/db", bareDB(t, snapshot))
	u.write(t, dir+"/member/wal/0000000000000000-0000000000000000.wal", make([]byte, 4096))
}

// bareDB is a database as it lies in member/snap.
func bareDB(t *testing.T, snapshot string) []byte {
	whole := snapshottest.Plain(t, snapshot)
	return whole[:len(whole)-snapshottest.TrailerSize]
}

func charmConf(change func(c *charmtest.Conf)) []byte {
	c := charmtest.Conf{Name: "etcd0", DataDir: charm.CurrentDir, Cluster: "etcd0=https://10.0.0.1:2380", Token: "ABC123", State: "existing", Client: "https://10.0.0.1:2379", Peer: "https://10.0.0.1:2380"}
	if change != nil {
		change(&c)
	}
	return charmtest.Template(c)
}

// healthyUnit is one as the charm leaves it. Its etcd stands at revision 84.
func healthyUnit(t *testing.T) charmUnit {
	u := charmUnit{t.TempDir()}
	u.write(t, charm.CommonDir+"/etcd.conf.yml", charmConf(nil))
	u.member(t, charm.SnapDir+"/123", "healthy-v3.6")
	if err := os.Symlink("123", u.path(charm.CurrentDir)); err != nil {
		t.Fatal(err)
	}
	return u
}

// args are --conf and --data of the unit.
func (u charmUnit) args(more ...string) []string {
	return append([]string{"--conf", u.path(charm.CommonDir + "/etcd.conf.yml"), "--data", u.path(charm.CurrentDir)}, more...)
}

var charmNow = at("2026-12-01T03:30:00Z")

// putSnapshot writes a snapshot that was taken so long ago.
func putSnapshot(t *testing.T, dir string, age time.Duration, body []byte) (file string) {
	t.Helper()
	taken := charmNow.Add(-age)
	return putFile(t, dir, "etcd-snapshot-"+taken.Format("2006-01-02-15.04.05")+".tar.gz", taken, body)
}

func putFile(t *testing.T, dir, name string, stored time.Time, body []byte) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, stored, stored); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(file)
}

// Snapshots by the charm's recipe, each in a folder of its own beside a healthy unit
// of which an older directory is left where that matters.
func TestPreflightOfSnapshots(t *testing.T) {
	db, empty, dead := bareDB(t, "healthy-v3.6"), bareDB(t, "empty-fresh-v3.6"), bareDB(t, "post-reset-v3.6")
	torn := charmtest.Torn(db[:len(db)/2], dead, 3*4096)
	for name, c := range map[string]struct {
		body    []byte
		ids     []string
		verdict preflight.Verdict
		format  charm.Format
		stale   bool // etcd0.etcd is left with an old database
	}{
		"v3":                   {charmtest.V3(t, db), nil, preflight.Safe, charm.V3, false},
		"v2 of an etcdctl 2":   {charmtest.V2(t, nil), []string{"SN1", "SN6"}, preflight.NotSafe, charm.V2, false},
		"v2 of an etcdctl 3":   {charmtest.V2(t, empty), []string{"SN1", "SN6"}, preflight.NotSafe, charm.V2, false},
		"torn":                 {charmtest.V3(t, torn), []string{"SN2", "SN6"}, preflight.NotSafe, charm.V3, false},
		"of a dead directory":  {charmtest.V3(t, dead), []string{"CH2", "SN4", "SN6"}, preflight.NotSafe, charm.V3, true},
		"no Kubernetes in it":  {charmtest.V3(t, empty), []string{"SN6", "SN9"}, preflight.NotSafe, charm.V3, false},
		"plain tar, named .gz": {charmtest.Tar(t, charmtest.File{Name: "./db", Body: db}), nil, preflight.Safe, charm.V3, false},
	} {
		t.Run(name, func(t *testing.T) {
			u, dir := healthyUnit(t), t.TempDir()
			if c.stale {
				u.member(t, charm.CurrentDir+"/etcd0.etcd", "post-reset-v3.6")
			}
			file := putSnapshot(t, dir, 10*time.Minute, c.body)
			r, code := preflightJSON(t, charmNow, u.args("--snapshots", dir)...)
			if want := map[preflight.Verdict]int{preflight.Safe: 0, preflight.NotSafe: 2, preflight.CannotTell: 3}[c.verdict]; code != want || r.Verdict != c.verdict || !slices.Equal(ids(r), append([]string{}, c.ids...)) {
				t.Errorf("exit %d, %s, %q, unseen %q", code, r.Verdict, ids(r), r.Unseen)
			}
			if len(r.Snapshots) != 1 || r.Snapshots[0].File != file || r.Snapshots[0].Format != c.format || r.Snapshots[0].Valid != (c.verdict == preflight.Safe) {
				t.Errorf("snapshots %+v", r.Snapshots)
			}
		})
	}
}

// A copy that a restore makes, an operator's backup and a recorded sum; from S3 too.
func TestPreflightOfOtherSnapshots(t *testing.T) {
	u, dir := healthyUnit(t), t.TempDir()
	db := bareDB(t, "healthy-v3.6")
	good := charmtest.V3(t, db)
	file := putSnapshot(t, dir, 10*time.Minute, good)
	putFile(t, dir, "etcd-data-20261130-101112.tar.gz", charmNow.Add(-17*time.Hour), charmtest.DataCopy(t, db))
	putFile(t, dir, "notes.txt", charmNow, []byte("nothing of the charm's"))
	sum := sha256.Sum256(good)
	recorded := file + "=" + hex.EncodeToString(sum[:])
	if r, code := preflightJSON(t, charmNow, u.args("--snapshots", dir, "--sha256", recorded)...); code != 0 || !slices.Equal(ids(r), []string{"SN7"}) || r.Snapshots[0].Format != charm.DataCopy {
		t.Errorf("exit %d, %+v", code, r)
	}
	wrong := file + "=" + strings.Repeat("0", 64)
	if r, code := preflightJSON(t, charmNow, u.args("--snapshots", filepath.Join(dir, file), "--sha256", wrong)...); code != 2 || !slices.Equal(ids(r), []string{"SN6", "SN8"}) {
		t.Errorf("another sum: exit %d, %+v", code, r)
	}
	_, b, endpoint := served(t, charmNow, nil)
	b.Fill([]storetest.File{{Key: "op/2026-12-01T03:10:00Z", Body: snapshottest.Plain(t, "healthy-v3.6"), Time: charmNow.Add(-20 * time.Minute)}})
	if r, code := preflightJSON(t, charmNow, u.args("--snapshots", "s3://kops/op", "--endpoint-url", endpoint)...); code != 0 || len(r.Snapshots) != 1 || r.Snapshots[0].Format != charm.Plain {
		t.Errorf("an operator's: exit %d, %+v", code, r)
	}
	if r, code := preflightJSON(t, charmNow, u.args("--snapshots", "s3://kops/none", "--endpoint-url", endpoint)...); code != 3 || len(r.Unseen) != 1 || !strings.Contains(r.Unseen[0], "no file there has the name of one") {
		t.Errorf("nothing there: exit %d, %+v", code, r)
	}
}

// What is told, word for word.
func TestPreflightText(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	safe := healthyUnit(t)
	incident := healthyUnit(t)
	incident.member(t, charm.CurrentDir+"/etcd0.etcd", "healthy-v3.6")
	if err := os.RemoveAll(incident.path(charm.SnapDir + "/123/member")); err != nil {
		t.Fatal(err)
	}
	incident.write(t, charm.CommonDir+"/etcd.conf.yml", charmConf(func(c *charmtest.Conf) { c.Cluster, c.Token = "", "XYZ789" }))
	incident.write(t, "before.yml", charmtest.Migrated(charmtest.Conf{Name: "etcd0", DataDir: charm.CurrentDir + "/etcd0.etcd"}))
	trap := healthyUnit(t)
	if err := os.Mkdir(trap.path("snapshots"), 0o755); err != nil {
		t.Fatal(err)
	}
	putSnapshot(t, trap.path("snapshots"), 10*time.Minute, charmtest.V2(t, nil))
	blind := healthyUnit(t)
	blind.write(t, charm.CommonDir+"/etcd.conf.yml", charmConf(func(c *charmtest.Conf) { c.DataDir = charm.StorageDir }))
	for name, c := range map[string]struct {
		unit charmUnit
		args []string
		code int
	}{
		"preflight-safe.txt":     {safe, nil, 0},
		"preflight-incident.txt": {incident, []string{"--before", "before.yml"}, 2},
		"preflight-trap.txt":     {trap, []string{"--snapshots", "snapshots"}, 2},
		"preflight-blind.txt":    {blind, nil, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(c.unit.root)
			got := command(t, charmNow, append([]string{"preflight"}, charmUnit{"."}.args(c.args...)...)...)
			if err := os.Chdir(here); err != nil {
				t.Fatal(err)
			}
			if got.code != c.code {
				t.Errorf("exit %d, want %d: %s", got.code, c.code, got.stderr)
			}
			golden(t, name, got.stdout)
		})
	}
}

// The JSON is as its schema says, whatever the verdict.
func TestPreflightSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/preflight.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	u, dir := healthyUnit(t), t.TempDir()
	putSnapshot(t, dir, time.Hour*50, []byte("no archive"))
	putSnapshot(t, dir, 10*time.Minute, charmtest.V3(t, bareDB(t, "healthy-v3.6")))
	for _, args := range [][]string{u.args(), u.args("--snapshots", dir), u.args("--before", "/none", "--snapshots", "/none"), {"--bundle", dir + "/none"}} {
		got := command(t, charmNow, append([]string{"preflight", "-o", "json"}, args...)...)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(got.stdout))
		if err == nil {
			err = schema.Validate(doc)
		}
		if err != nil {
			t.Errorf("%q: %v\n%s%s", args, err, got.stdout, got.stderr)
		}
	}
}

func TestPreflightUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"nothing to judge":    {},
		"no --data":           {"--conf", "x"},
		"each --data needs":   {"--conf", "x", "--data", "a", "--data", "b"},
		"--output":            {"--conf", "x", "--data", "a", "-o", "xml"},
		"--zone":              {"--conf", "x", "--data", "a", "--zone", "CET", "--snapshots", "/none"},
		"--sha256":            {"--conf", "x", "--data", "a", "--sha256", "y", "--snapshots", "/none"},
		"--snapshots: STORE ": {"--conf", "x", "--data", "a", "--snapshots", "gs://y"},
	} {
		if got := command(t, charmNow, append([]string{"preflight"}, args...)...); got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("%q: exit %d, %s", args, got.code, got.stderr)
		}
	}
}

// collect.sh sees on a unit what preflight sees on its files, and takes no key. It
// changes nothing.
func TestCollect(t *testing.T) {
	for _, tool := range []string{"bash", "tar", "find"} {
		if _, err := exec.LookPath(tool); err != nil {
			skipReal(t, tool)
		}
	}
	u := healthyUnit(t)
	u.write(t, charm.CommonDir+"/server.key", []byte("-----BEGIN RSA PRIVATE KEY-----\nTOPSECRET\n"))
	u.write(t, charm.CommonDir+"/etcd.conf.2x", []byte("ETCD_NAME=etcd0\n"))
	conf := append(charmConf(nil), "\nclient-password: TOPSECRET\n# -----BEGIN PRIVATE KEY-----\n# TOPSECRET\n# -----END PRIVATE KEY-----\n"...)
	u.write(t, charm.CommonDir+"/etcd.conf.yml", conf)
	u.member(t, charm.SnapDir+"/122/etcd0.etcd", "post-reset-v3.6") // what snapd keeps of the revision before
	before := treeOf(t, u.root)
	bundle := collect(t, u)
	if after := treeOf(t, u.root); after != before {
		t.Errorf("it changed the unit:\n%s\nbefore\n%s", after, before)
	}
	raw := exec.Command("tar", "-xzOf", bundle)
	if out, err := raw.Output(); err != nil || strings.Contains(string(out), "TOPSECRET") || !strings.Contains(string(out), "client-password: REDACTED") {
		t.Errorf("%v; it holds a key: %t", err, strings.Contains(string(out), "TOPSECRET"))
	}
	r, code := preflightJSON(t, charmNow, "--bundle", bundle)
	if code != 2 || !slices.Equal(ids(r), []string{"CH3"}) || len(r.Unseen) != 0 {
		t.Errorf("exit %d, %+v", code, r)
	}
	if got := r.Units[0]; got.Start.Outcome != preflight.WithData || len(got.Dirs) != 2 || got.Dirs[0].Revision() != 84 || got.Dirs[1].Path != charm.SnapDir+"/122/etcd0.etcd" {
		t.Errorf("unit %+v", got)
	}
	if err := os.Remove(u.path(charm.CommonDir + "/etcd.conf.2x")); err != nil {
		t.Fatal(err)
	}
	if r, code := preflightJSON(t, charmNow, "--bundle", collect(t, u)); code != 0 || len(r.NotLookedAt) != 0 {
		t.Errorf("without the file of 2.x: exit %d, %+v", code, r)
	}
	if r, code := preflightJSON(t, charmNow, "--bundle", collect(t, u, "-n")); code != 3 || len(r.Unseen) == 0 {
		t.Errorf("without databases: exit %d, %+v", code, r)
	}
}

// collect runs the script on a made-up unit.
func collect(t *testing.T, u charmUnit, args ...string) string {
	t.Helper()
	bundle := filepath.Join(t.TempDir(), "bundle.tar.gz")
	script := exec.Command("bash", append([]string{"../../deploy/charm/collect.sh", "-r", u.root, "-u", "etcd/0", "-o", bundle}, args...)...)
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bundle
}

// treeOf lists names, sizes, modes and dates.
func treeOf(t *testing.T, root string) string {
	t.Helper()
	out, err := exec.Command("find", root, "-printf", `%P %s %m %T@ %l\n`).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestCollectIsShellcheckClean(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		skipReal(t, "shellcheck")
	}
	if out, err := exec.Command("shellcheck", "../../deploy/charm/collect.sh").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// skipReal skips a test for want of a program, or fails where real parts are
// required.
func skipReal(t *testing.T, program string) {
	t.Helper()
	line := "skipped real part: " + program + " (.ci/install-real)"
	if os.Getenv("BACKSTOP_REQUIRE_REAL") == "1" {
		t.Fatal(line)
	}
	t.Skip(line)
}

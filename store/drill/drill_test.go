package drill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"backstop/store/snapshot"
	"backstop/store/snapshot/etcdtest"
	"backstop/store/snapshot/snapshottest"
)

// options drill with the programs in dirs, and leave nothing in scratch.
func options(t *testing.T, dirs ...string) Options {
	t.Helper()
	scratch, err := os.MkdirTemp("", "drill") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, err := os.ReadDir(scratch)
		if err != nil || len(left) > 0 {
			t.Errorf("%d entries are left behind: %v", len(left), err)
		}
		_ = os.RemoveAll(scratch)
	})
	return Options{Dirs: dirs, Scratch: scratch, StartTimeout: 3 * time.Minute, Now: time.Now}
}

// drillOf drills a snapshot.
func drillOf(t *testing.T, b []byte, o Options) Report {
	t.Helper()
	o.Snapshot.Size = int64(len(b))
	r, err := Run(t.Context(), bytes.NewReader(b), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// isRestored holds a report to have compared everything, and found it equal.
func isRestored(t *testing.T, r Report) {
	t.Helper()
	if r.Outcome != Restored || len(r.Checks) != 3 || r.Reason != "" {
		t.Fatalf("%s: %s %+v", r.Outcome, r.Reason, r.Checks)
	}
	for _, c := range r.Checks {
		if !c.Equal || c.Snapshot != c.Server {
			t.Errorf("%+v", c)
		}
	}
}

func TestHealthyAreRestored(t *testing.T) {
	healthy := map[string][]string{
		"3.4": {"healthy-v3.4"},
		"3.6": {"healthy-v3.6", "empty-fresh-v3.6", "post-reset-v3.6", "synced-freelist-ok", "torn-meta0-resealed"},
	}
	if os.Getenv("BACKSTOP_ORACLE") != "" {
		healthy["3.5"] = []string{"healthy-v3.5"}
	}
	for minor, names := range healthy {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				release := etcdtest.Find(t, minor)
				b := snapshottest.Plain(t, name)
				if name == "post-reset-v3.6" {
					b = snapshottest.Gzipped(t, name) // a small one: compressing takes longer than all else
				}
				r := drillOf(t, b, options(t, dirsOf(release)...))
				if isRestored(t, r); r.Minor != minor || !strings.HasPrefix(r.Tools.Version, minor+".") {
					t.Errorf("minor %s, etcd %s", r.Minor, r.Tools.Version)
				}
			})
		}
	}
}

func dirsOf(r etcdtest.Release) []string {
	if r.Dir() == "" {
		return nil
	}
	return []string{r.Dir()}
}

// Snapshots that servers make now, plain and with what compaction and deletions
// leave behind.
func TestFreshSnapshotIsRestored(t *testing.T) {
	minors := []string{"3.4", "3.6"}
	if os.Getenv("BACKSTOP_ORACLE") != "" {
		minors = append(minors, "3.5", "3.7")
	}
	for _, minor := range minors {
		t.Run(minor, func(t *testing.T) {
			release := etcdtest.Find(t, minor)
			s := release.Start(t)
			lease := s.Grant(36000)
			for n := range 20 {
				s.Txn(etcdtest.Op{Key: fmt.Sprint("/registry/pods/default/", n%7), Value: bytes.Repeat([]byte{byte(n)}, 900)},
					etcdtest.Op{Key: "/registry/masterleases/x", Value: []byte{byte(n)}, Lease: lease})
			}
			s.Compact(s.Txn(etcdtest.Op{Key: "/registry/pods/default/3"}))
			s.Txn(etcdtest.Op{Key: "/registry/pods/default/4"})
			isRestored(t, drillOf(t, s.Snapshot(), options(t, dirsOf(release)...)))
		})
	}
}

// A damaged snapshot is refused before any program is looked for.
func TestDamagedAreRefused(t *testing.T) {
	t.Setenv("PATH", "")
	damaged := 0
	for _, name := range snapshottest.Names(t) {
		if strings.HasPrefix(name, "healthy") || strings.HasPrefix(name, "empty-fresh") || strings.HasPrefix(name, "post-reset") || name == "synced-freelist-ok" || name == "torn-meta0-resealed" {
			continue
		}
		damaged++
		o := options(t)
		o.Step = func(what string) { t.Errorf("%s: %s", name, what) }
		if r := drillOf(t, snapshottest.Plain(t, name), o); r.Outcome != Damaged || r.Snapshot.Verdict != snapshot.Damaged || r.Reason == "" {
			t.Errorf("%s: %s, %s", name, r.Outcome, r.Reason)
		}
	}
	if damaged < 8 {
		t.Errorf("only %d damaged snapshots were tried", damaged)
	}
}

// programs writes programs that are shell scripts into a directory.
func programs(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What is the matter with etcd is not taken for what is the matter with the
// snapshot.
func TestProgramsThatFail(t *testing.T) {
	t.Setenv("PATH", "")
	const (
		server = `[ "$1" = --version ] && echo "etcd Version: 3.6.9" && exit
`
		tool = `[ "$1" = version ] && echo "etcdutl version: 3.6.9" && exit
`
	)
	for name, c := range map[string]struct {
		scripts map[string]string
		want    Outcome
		says    string
	}{
		"none":              {nil, Untried, "no etcd was found there"},
		"another minor":     {map[string]string{"etcd": `echo "etcd Version: 3.4.23"`, "etcdutl": tool}, Untried, "etcd is 3.4.23"},
		"no tool":           {map[string]string{"etcd": server, "etcdctl": `echo "etcdctl version: 3.6.9"`}, Untried, "they are not on PATH or in --etcd-bin"},
		"says no version":   {map[string]string{"etcd": `exit 1`, "etcdutl": tool}, Untried, "does not tell its version"},
		"the tool refuses":  {map[string]string{"etcd": server, "etcdutl": tool + `echo "Error: expected sha256"; exit 1`}, Refused, "snapshot restore refuses it (exit status 1); it said: Error: expected sha256"},
		"no room":           {map[string]string{"etcd": server, "etcdutl": tool + `echo "Error: write: no space left on device"; exit 1`}, Untried, "no space left"},
		"the tool is ended": {map[string]string{"etcd": server, "etcdutl": tool + `kill -9 $$`}, Untried, "did not end by itself"},
		"the server ends":   {map[string]string{"etcd": server + `echo '{"level":"fatal","msg":"cannot open"}'; exit 1`, "etcdutl": tool + "exit 0"}, Refused, "does not run on it: etcd ended (exit status 1)"},
		"it is killed":      {map[string]string{"etcd": server + `kill -9 $$`, "etcdutl": tool + "exit 0"}, Untried, "etcd ended (signal: killed)"},
		"it says nothing":   {map[string]string{"etcd": server + `exec /bin/sleep 1000`, "etcdutl": tool + "exit 0"}, Untried, "did not become ready in time"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, programs(t, c.scripts))
			if name == "it says nothing" {
				o.StartTimeout = 200 * time.Millisecond
			}
			r := drillOf(t, snapshottest.Plain(t, "post-reset-v3.6"), o)
			if r.Outcome != c.want || !strings.Contains(r.Reason, c.says) {
				t.Errorf("%s: %s", r.Outcome, r.Reason)
			}
			if c.want == Untried && r.Tools == nil && !strings.Contains(r.Hint, "release of etcd 3.6") {
				t.Errorf("the hint is %q", r.Hint)
			}
		})
	}
}

// An interrupted drill leaves neither files nor processes, wherever it was.
func TestInterrupted(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked for in /proc")
	}
	release := etcdtest.Find(t, "3.6")
	for _, at := range []string{"restoring", "starting", "asking"} {
		t.Run(at, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := options(t, dirsOf(release)...)
			met := false
			o.Step = func(what string) {
				if strings.HasPrefix(what, at) {
					met = true
					cancel()
				}
			}
			b := snapshottest.Gzipped(t, "post-reset-v3.6")
			if _, err := Run(ctx, bytes.NewReader(b), o); !errors.Is(err, context.Canceled) || !met {
				t.Errorf("%v, reached: %t", err, met)
			}
			if pids := runningIn(t, o.Scratch); len(pids) > 0 {
				t.Errorf("processes are left: %v", pids)
			}
		})
	}
}

// runningIn finds the processes whose working directory is below dir.
func runningIn(t *testing.T, dir string) (pids []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if at, err := os.Readlink(l); err == nil && strings.HasPrefix(at, dir) {
			pids = append(pids, filepath.Base(filepath.Dir(l)))
		}
	}
	return pids
}

// A server that holds something else than was found in the snapshot is told of,
// each thing by itself.
func TestDifferent(t *testing.T) {
	release := etcdtest.Find(t, "3.6")
	for name, c := range map[string]struct {
		change func(f *snapshot.Facts)
		says   string
	}{
		"keys":        {func(f *snapshot.Facts) { f.Keys++ }, "keys is 319, and 320 in the snapshot"},
		"hash":        {func(f *snapshot.Facts) { f.HashKV++ }, "hash_kv is "},
		"a later one": {func(f *snapshot.Facts) { f.Revision += 5 }, "revision is 24, and 29 in the snapshot"},
		// It has keys with leases, which may run out: the server may be further on.
		"an earlier one":  {func(f *snapshot.Facts) { f.Revision -= 2 }, "keys is 281, and 319 in the snapshot"},
		"of another time": {func(f *snapshot.Facts) { f.Revision, f.Keys, f.HashKV = 23, 0, 0 }, "; "},
	} {
		t.Run(name, func(t *testing.T) {
			b := snapshottest.Plain(t, "post-reset-v3.6")
			d := &drill{Options: options(t, dirsOf(release)...)}
			d.r.Snapshot = snapshot.Verify(bytes.NewReader(b), snapshot.Options{})
			c.change(d.r.Snapshot.Facts)
			d.dir = filepath.Join(d.Scratch, "d")
			if err := os.Mkdir(d.dir, 0o700); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = os.RemoveAll(d.dir) }()
			if err := os.WriteFile(filepath.Join(d.dir, rawFile), b, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := d.restore(t.Context()); err != nil || d.r.Outcome != Different || !strings.Contains(d.r.Reason, c.says) {
				t.Errorf("%v, %s: %s", err, d.r.Outcome, d.r.Reason)
			}
		})
	}
}

func TestCompareRevision(t *testing.T) {
	for name, c := range map[string]struct {
		want, got int64
		leases    bool
		equal     bool
	}{
		"equal": {5, 5, false, true}, "behind": {5, 4, true, false}, "ahead": {5, 6, false, false}, "leases ran out": {5, 6, true, true},
	} {
		if got := compareRevision(c.want, c.got, c.leases); got.Equal != c.equal || got.bad() == c.equal || (got.Note != "") != (c.equal && c.want != c.got) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCompareHash(t *testing.T) {
	for name, c := range map[string]struct {
		got       uint32
		compacted bool
		minor     string
		bad       bool
	}{
		"equal": {7, true, "3.4", false}, "3.6": {8, true, "3.6", true}, "3.7": {8, true, "3.7", true},
		"3.5, compacted": {8, true, "3.5", false}, "3.4, compacted": {8, true, "3.4", false}, "3.4, not compacted": {8, false, "3.4", true},
	} {
		if got := compareHash(7, c.got, c.compacted, c.minor); got.bad() != c.bad || got.Ignored != (!c.bad && c.got != 7) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestMinor(t *testing.T) {
	for want, f := range map[string]snapshot.Facts{
		"3.7": {StorageVersion: "3.7.0", Term: 4, ClusterVersion: "3.7.0"}, "3.6": {StorageVersion: "3.6.0"},
		"3.5": {Term: 2, ClusterVersion: "3.4.0"}, "3.3": {ClusterVersion: "3.3.0"}, "3.4": {},
	} {
		if got, because := Minor(&f); got != want || because == "" {
			t.Errorf("got %s (%s), want %s", got, because, want)
		}
	}
}

// With authentication on nobody could ask the server.
func TestAuthenticationIsNotTried(t *testing.T) {
	d := &drill{Options: options(t)}
	d.r.Snapshot.Facts = &snapshot.Facts{AuthEnabled: true}
	if err := d.restore(t.Context()); err != nil || d.r.Outcome != Untried || !strings.Contains(d.r.Reason, "authentication") {
		t.Errorf("%v %+v", err, d.r)
	}
}

func TestScratchThatDoesNotServe(t *testing.T) {
	o := options(t)
	deep := filepath.Join(o.Scratch, strings.Repeat("d", 100))
	if err := os.Mkdir(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(deep) }()
	b := snapshottest.Plain(t, "post-reset-v3.6")
	for dir, says := range map[string]string{deep: "shorter one with --scratch", filepath.Join(o.Scratch, "nowhere"): "make a scratch directory"} {
		o.Scratch = dir
		r, err := Run(t.Context(), bytes.NewReader(b), o)
		if err != nil || r.Outcome != Untried || !strings.Contains(r.Reason, says) {
			t.Errorf("%v, %s: %s", err, r.Outcome, r.Reason)
		}
	}
}

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"backstop/store/drill"
	"backstop/store/snapshot/etcdtest"
	"backstop/store/snapshot/snapshottest"
)

// shortDir is a directory whose path leaves room for a socket's, and which must be
// empty at the end.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "drill")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		_ = os.RemoveAll(dir)
	})
	return dir
}

// The last good snapshot of a store that a real etcd-manager wrote, from S3, with
// the etcd that it takes.
func TestDrillFromS3(t *testing.T) {
	release := etcdtest.Find(t, "3.6")
	_, _, endpoint := served(t, verifyTime, mustArchive(t, "post-reset"))
	args := []string{"drill", "--endpoint-url", endpoint, "--etcd-bin", release.Dir(), "--scratch", shortDir(t), "s3://kops/prod.example.com/backups/etcd/main/2026-11-30T18:06:47Z-000006"}
	r := command(t, verifyTime, args...)
	if r.code != exitOK || !strings.HasPrefix(r.stdout, "RESTORED   s3://kops/prod.example.com/backups/etcd/main/2026-11-30T18:06:47Z-000006/etcd.backup.gz\n") {
		t.Fatalf("exit %d: %s%s", r.code, r.stdout, r.stderr)
	}
	for _, s := range []string{"revision  289 in the snapshot, 289 on the server  =", "keys      106 in the snapshot, 106 on the server  =", "hash_kv   387805591 in the snapshot, 387805591 on the server  =", "etcd 3.6."} {
		if !strings.Contains(r.stdout, s) {
			t.Errorf("it does not say %q:\n%s", s, r.stdout)
		}
	}
	r = command(t, verifyTime, append(args, "-o", "json")...)
	validates(t, "drill.schema.json", r.stdout)
	var d drilled
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil || d.Outcome != drill.Restored || len(d.Checks) != 3 {
		t.Errorf("%v: %s", err, r.stdout)
	}
}

// Without etcd, and of what is damaged or not there.
func TestDrillThatIsNotTried(t *testing.T) {
	t.Setenv("PATH", "")
	dir := snapshotFiles(t, "wrong-sha", "healthy-v3.6", "torn-meta0-resealed")
	in := func(name string) []string { return []string{filepath.Join(dir, name)} }
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"damaged":      {in("wrong-sha"), 2, []string{"DAMAGED ", "was not restored: its bytes were changed", "what to do: `backstop plan`"}},
		"not there":    {in("nowhere"), 3, []string{"UNTRIED ", "no such file"}},
		"no etcd":      {in("healthy-v3.6"), 3, []string{"UNTRIED ", "needs etcd and etcdutl of version 3.6 (its storage version is 3.6.0)", "what to do: unpack a release of etcd 3.6"}},
		"and a remark": {in("torn-meta0-resealed"), 3, []string{"UNTRIED ", "remark: meta page 0"}},
		"too big":      {append(in("healthy-v3.6"), "--max-memory", "1MiB"), 3, []string{"UNTRIED ", "was not verified, and so not restored"}},
	} {
		r := command(t, verifyTime, append([]string{"drill", "--scratch", shortDir(t)}, c.args...)...)
		if r.code != c.code {
			t.Errorf("%s: exit %d, want %d: %s", name, r.code, c.code, r.stderr)
		}
		for _, s := range c.says {
			if !strings.Contains(r.stdout, s) {
				t.Errorf("%s: it does not say %q:\n%s", name, s, r.stdout)
			}
		}
		r = command(t, verifyTime, append([]string{"drill", "-o", "json", "--scratch", shortDir(t)}, c.args...)...)
		validates(t, "drill.schema.json", r.stdout)
	}
}

func TestDrillUsage(t *testing.T) {
	for name, args := range map[string][]string{
		"none": {}, "two": {"a", "b"}, "a bucket": {"s3://backups"}, "a format": {"-o", "xml", "a"}, "no time": {"--start-timeout", "0s", "a"},
	} {
		if r := command(t, verifyTime, append([]string{"drill"}, args...)...); r.code != exitUsage || r.stdout != "" {
			t.Errorf("%s: exit %d: %s%s", name, r.code, r.stdout, r.stderr)
		}
	}
}

// drillChild tells the test binary to be the program: see TestDrillChild.
const drillChild = "DRILL_CHILD_ARGS"

// A signal ends a drill, and all that it has started; a second one, or SIGKILL, may
// leave the directory, but no process.
func TestDrillIsInterrupted(t *testing.T) {
	release := etcdtest.Find(t, "3.6")
	name := filepath.Join(t.TempDir(), "snapshot.db")
	if err := os.WriteFile(name, snapshottest.Plain(t, "healthy-v3.6"), 0o600); err != nil {
		t.Fatal(err)
	}
	for sig, code := range map[syscall.Signal]int{syscall.SIGTERM: exitTerminated, syscall.SIGINT: exitInterrupted, syscall.SIGKILL: -1} {
		scratch, err := os.MkdirTemp("", "drill")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(scratch) }()
		c := exec.Command(os.Args[0], "-test.run", "^TestDrillChild$")
		c.Env = append(os.Environ(), drillChild+"="+strings.Join([]string{"drill", "--scratch", scratch, "--etcd-bin", release.Dir(), name}, "\n"))
		out, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		awaitWords(t, out, "starting")
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // its status says it
		if got := c.ProcessState.ExitCode(); got != code {
			t.Errorf("%v: exit %d, want %d", sig, got, code)
		}
		if left, _ := os.ReadDir(scratch); len(left) > 0 && sig != syscall.SIGKILL {
			t.Errorf("%v: left behind: %v", sig, left)
		}
		awaitNobodyIn(t, scratch)
	}
}

// awaitWords reads until a word has come.
func awaitWords(t *testing.T, r interface{ Read([]byte) (int, error) }, word string) {
	t.Helper()
	var all []byte
	b := make([]byte, 4096)
	for !strings.Contains(string(all), word) {
		n, err := r.Read(b)
		if all = append(all, b[:n]...); err != nil {
			t.Fatalf("%v: %s", err, all)
		}
	}
}

// awaitNobodyIn waits until no process has its working directory below dir: the
// kernel ends the children of a killed process a moment later.
func awaitNobodyIn(t *testing.T, dir string) {
	t.Helper()
	links := func() (n int) {
		all, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, l := range all {
			if at, err := os.Readlink(l); err == nil && strings.HasPrefix(at, dir) {
				n++
			}
		}
		return n
	}
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	deadline := time.After(time.Minute)
	for links() > 0 {
		select {
		case <-every.C:
		case <-deadline:
			t.Fatalf("%d processes still run in %s", links(), dir)
		}
	}
}

// TestDrillChild is the program itself, where it is told to be.
func TestDrillChild(t *testing.T) {
	args, ok := os.LookupEnv(drillChild)
	if !ok {
		t.Skip("it is run by TestDrillIsInterrupted")
	}
	p := &program{ctx: untilSignal(t.Context()), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, now: time.Now, env: os.LookupEnv}
	os.Exit(p.run(strings.Split(args, "\n")))
}

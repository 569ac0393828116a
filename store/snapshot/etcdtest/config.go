package etcdtest

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// A Run is a server that was started with a configuration file. It may end by
// itself.
type Run struct {
	*Server
	cmd  *exec.Cmd
	done chan struct{}
	log  string
	tb   testing.TB
}

// FreeURL gives a URL at which nothing listens.
func FreeURL(tb testing.TB) string { return freeURL(tb) }

// RunConfig starts a server with --config-file, and waits until it answers at the
// client URL, or ends. It is stopped with the test at the latest.
func (r Release) RunConfig(tb testing.TB, file, client string) (run *Run, ended bool) {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "log")
	log, err := os.Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	c := child(r.program("etcd"), "--config-file", file)
	c.Dir = tb.TempDir()
	c.Stdout, c.Stderr = log, log
	runtime.LockOSThread() // as in StartOn
	if err := c.Start(); err != nil {
		tb.Fatal(err)
	}
	run = &Run{Server: &Server{Release: r, URL: client, tb: tb}, cmd: c, done: make(chan struct{}), log: name, tb: tb}
	go func() { _ = c.Wait(); close(run.done) }() // its status says nothing that the log does not
	tb.Cleanup(func() {
		run.kill(syscall.SIGKILL)
		runtime.UnlockOSThread()
		_ = log.Close()
	})
	return run, run.awaitEither()
}

// awaitEither waits until the server answers or has ended.
func (r *Run) awaitEither() (ended bool) {
	r.tb.Helper()
	deadline := time.After(time.Minute)
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-r.done:
			return true
		case <-deadline:
			r.failed("neither answered nor ended within a minute", r.log)
		case <-every.C:
		}
		resp, err := http.Get(r.URL + "/health")
		if err != nil {
			continue
		}
		_ = resp.Body.Close() // only the status matters
		if resp.StatusCode == http.StatusOK {
			return false
		}
	}
}

// Stop ends the server as a service manager does, and waits for that.
func (r *Run) Stop() { r.kill(syscall.SIGTERM) }

func (r *Run) kill(s syscall.Signal) {
	_ = r.cmd.Process.Signal(s) // it may have ended
	<-r.done
}

// Log is what the server has written.
func (r *Run) Log() string {
	b, err := os.ReadFile(r.log)
	if err != nil {
		r.tb.Fatal(err)
	}
	return string(b)
}

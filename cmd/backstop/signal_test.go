package main

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The real program, started and signalled: a watch ends with the status of the
// signal.
func TestSignals(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "backstop")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	dir := copied(t, mustArchive(t, "healthy"))
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: exitInterrupted, syscall.SIGTERM: exitTerminated} {
		c := exec.Command(bin, "audit", dir, "--watch", "1h")
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "watching") {
				if err := c.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = c.Wait()
		if got := c.ProcessState.ExitCode(); got != want {
			t.Errorf("%v: exit %d, want %d", sig, got, want)
		}
	}
}

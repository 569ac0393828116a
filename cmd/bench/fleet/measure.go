package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A usage is what one process took.
type usage struct {
	Wall   time.Duration
	CPU    time.Duration // of user and system
	RSS    int64         // peak resident set, bytes
	Status int           // exit status
}

// measure runs a command through a process that does nothing else: Linux counts
// the memory of whoever starts a program among the program's own peak, and this
// one's is small.
func measure(env []string, command ...string) (usage, error) {
	self, err := os.Executable()
	if err != nil {
		return usage{}, err
	}
	var out, errs bytes.Buffer
	c := exec.Command(self, append([]string{"run"}, command...)...)
	c.Env, c.Stdout, c.Stderr = env, &out, &errs
	if err := c.Run(); err != nil {
		return usage{}, fmt.Errorf("%q: %w\n%s", command, err, errs.String())
	}
	var u usage
	if err := json.Unmarshal(out.Bytes(), &u); err != nil {
		return usage{}, fmt.Errorf("%q: %w\n%s", command, err, errs.String())
	}
	if u.Status > 3 {
		return usage{}, fmt.Errorf("%q: exit status %d\n%s", command, u.Status, errs.String())
	}
	return u, nil
}

// run is that process. It prints the usage.
func run(command []string) error {
	c := exec.Command(command[0], command[1:]...)
	c.Stderr = os.Stderr
	begin := time.Now()
	err := c.Run()
	u := usage{Wall: time.Since(begin)}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	u.CPU, u.Status = c.ProcessState.UserTime()+c.ProcessState.SystemTime(), c.ProcessState.ExitCode()
	if r, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.RSS = r.Maxrss * 1024 // Linux counts KiB
	}
	return json.NewEncoder(os.Stdout).Encode(u)
}

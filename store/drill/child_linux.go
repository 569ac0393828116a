package drill

import (
	"os/exec"
	"syscall"
)

// bind lets a process be ended with all that it started, and by the kernel when
// the thread that started it ends: see [Run], which holds its thread.
func bind(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

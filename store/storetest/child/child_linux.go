package child

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Linux ends a child with the thread that started it, not with the process, so
// all daemons are started on one thread that stays to the end.
var starter = sync.OnceValue(func() chan func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// Start starts a program that dies with this process, however that ends.
func Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	result := make(chan error)
	starter() <- func() { result <- cmd.Start() }
	return <-result
}

// End ends a program and what it has started.
func End(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // it may be gone
	t := time.AfterFunc(2*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer t.Stop()
	_ = cmd.Wait() // how it ended is of no interest
}

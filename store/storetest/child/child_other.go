//go:build !linux

package child

import "os/exec"

// Start starts a program. Ceph runs on Linux; elsewhere this is compiled
// and not used.
func Start(cmd *exec.Cmd) error { return cmd.Start() }

func End(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

//go:build !linux

package rgwtest

import "os/exec"

// startBound starts a program. Ceph runs on Linux; elsewhere this is compiled
// and not used.
func startBound(cmd *exec.Cmd) error { return cmd.Start() }

func endBound(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// compile builds the static binary for an architecture.
func compile(source, out, version, arch string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	ldflags := "-s -w"
	if version != "" {
		ldflags += " -X main.version=" + version
	}
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", out, "./cmd/backstop")
	c.Dir = source
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off")
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("build backstop for %s: %w", arch, err)
	}
	return nil
}

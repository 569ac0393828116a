package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// writeFile writes a file whole or not at all: a reader never sees half of it,
// and a failure leaves the old one.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

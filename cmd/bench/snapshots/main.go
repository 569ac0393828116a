package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := act(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "snapshots:", err)
		os.Exit(1)
	}
}

func act(args []string) error {
	flags := flag.NewFlagSet("snapshots", flag.ContinueOnError)
	sizes := flags.String("sizes", "640,2500", "of the databases, MB")
	runs := flags.Int("runs", 5, "how often each is measured, in turns")
	program := flags.String("backstop", "bin/backstop", "the `program` to measure")
	dir := flags.String("dir", "bin/bench", "where the snapshots are kept")
	if err := flags.Parse(args); err != nil {
		return err
	}
	fmt.Printf("%d processors, SHA instructions: %s\n", runtime.NumCPU(), shaInstructions())
	for s := range strings.SplitSeq(*sizes, ",") {
		size, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		file, err := made(*dir, size)
		if err != nil {
			return err
		}
		if err := compare(file, size, *runs, *program); err != nil {
			return err
		}
	}
	return nil
}

// shaInstructions says whether the processor has them: Go uses them, sha256sum
// may not, and without them hashing takes a third of a verification.
func shaInstructions() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	switch {
	case err != nil:
		return "unknown"
	case strings.Contains(string(b), " sha_ni") || strings.Contains(string(b), " sha2"):
		return "yes"
	}
	return "no"
}

// made gives a snapshot of a size, and makes it where there is none.
func made(dir string, size int) (string, error) {
	file := filepath.Join(dir, fmt.Sprintf("etcd-%d.backup.gz", size))
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	build := exec.Command(".ci/etcd/build", "3.6")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("build etcd: %w", err)
	}
	data, err := os.MkdirTemp(dir, "etcd")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(data) }()
	fmt.Fprintf(os.Stderr, "filling an etcd with %d MB; once\n", size)
	return file, fill(data, file, size)
}

// fill runs an etcd for as long as it takes to fill it.
func fill(data, file string, size int) error {
	const client, peer = "http://127.0.0.1:12379", "http://127.0.0.1:12380"
	etcd := exec.Command("bin/etcd/3.6/etcd", "--data-dir", data, "--unsafe-no-fsync", "--quota-backend-bytes", "8589934592", "--log-level", "error",
		"--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
		"--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	etcd.Stderr = os.Stderr
	if err := etcd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = etcd.Process.Kill() // its data is of no use any more
		_ = etcd.Wait()
	}()
	writing := file + ".part"
	f := exec.Command("bin/etcd/3.6/fill", "-endpoint", client, "-size", strconv.Itoa(size), "-out", writing)
	f.Stderr = os.Stderr
	if err := f.Run(); err != nil {
		return fmt.Errorf("fill etcd: %w", err)
	}
	return os.Rename(writing, file)
}

// compare measures all in turns, forwards and backwards.
func compare(file string, size, runs int, program string) error {
	raw := file + ".raw"
	defer func() { _ = os.Remove(raw) }()
	quoted, quotedRaw := "'"+file+"'", "'"+raw+"'"
	all := []*contestant{
		{name: "backstop verify", command: []string{program, "verify", file}},
		{name: "gunzip | sha256sum", command: []string{"sh", "-c", "gunzip -c " + quoted + " | sha256sum"}},
		{name: "gunzip > f; etcdutl snapshot status f", command: []string{"sh", "-c",
			"gunzip -c " + quoted + " >" + quotedRaw + "; bin/etcd/3.6/etcdutl snapshot status " + quotedRaw}},
	}
	for i := range runs {
		for j := range all {
			c := all[j]
			if i%2 == 1 {
				c = all[len(all)-1-j]
			}
			if err := c.run(); err != nil {
				return err
			}
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	fmt.Printf("\n%d MB, %d MB gzipped; median (least to most) of %d runs each, in turns\n", size, info.Size()/1e6, runs)
	return show(os.Stdout, all, targets[size])
}

// A contestant is what is measured.
type contestant struct {
	name     string
	command  []string
	measured []usage
}

// A usage is what one run took, with all processes that it started.
type usage struct {
	wall, cpu time.Duration
	rss       int64 // peak of the largest process, bytes
}

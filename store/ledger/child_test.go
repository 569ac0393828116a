package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"backstop/audit"
)

// A child is this test's binary, which writes to a ledger and says what it has
// written.
const childIs = "BACKSTOP_TEST_LEDGER_CHILD"

func TestMain(m *testing.M) {
	if args, ok := os.LookupEnv(childIs); ok {
		child(strings.Fields(args))
		return
	}
	os.Exit(m.Run())
}

// child writes n records to the ledger at path, each by Keep, with a Note of all
// now and then. limit bounds the size of files, in bytes, if it is not 0.
func child(args []string) {
	path, who := args[0], args[1]
	n, _ := strconv.Atoi(args[2])
	if limit, _ := strconv.ParseUint(args[3], 10, 64); limit > 0 {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			fmt.Println("error", err)
			return
		}
	}
	fmt.Println("begun")
	l, err := Open(path, time.Minute)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	o := storeFor(who, n)
	for i := range n {
		if i%10 == 0 {
			err = l.Note(o)
		}
		if err == nil {
			e := found(o, i, audit.Intact)
			e.Reason = strings.Repeat("x", 3000) // pages are split and moved
			err = l.Keep(o.Store, e)
		}
		if err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println("kept", i)
	}
}

// storeFor is a look at a store with n snapshots.
func storeFor(who string, n int) *audit.Observation {
	o := seen(noon)
	o.Store.URL = "s3://kops/" + who
	for i := range n {
		key := fmt.Sprintf("%s/2026-11-30T00:00:00Z-%06d/etcd.backup.gz", who, i)
		o.Listing.Value.Snapshots = append(o.Listing.Value.Snapshots, audit.Snapshot{Name: fmt.Sprint(i), Data: &audit.Object{Key: key, Size: 1000, ETag: "e"}})
	}
	return o
}

func start(t *testing.T, path, who string, n, limit int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %d", childIs, path, who, n, limit))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	do(t, err)
	do(t, c.Start())
	return c, bufio.NewScanner(out)
}

// A program that is killed at any moment leaves a ledger that can be read, and that
// holds all that the program had said it wrote.
func TestKill(t *testing.T) {
	path := newPath(t)
	const records, kills = 40, 60
	rng := rand.New(rand.NewPCG(1, 2))
	kept := -1
	for k := range kills {
		if k%6 == 0 {
			path, kept = newPath(t), -1 // also while it is made
		}
		c, lines := start(t, path, "killed", records, 0)
		for range rng.IntN(records) {
			if !lines.Scan() {
				break
			}
			if i, ok := strings.CutPrefix(lines.Text(), "kept "); ok {
				n, _ := strconv.Atoi(i)
				kept = max(kept, n)
			} else if lines.Text() != "begun" {
				t.Fatalf("the child says %q", lines.Text())
			}
		}
		for range rng.IntN(2000) { // somewhere within a transaction
			_ = fmt.Sprint(k)
		}
		do(t, c.Process.Signal(syscall.SIGKILL))
		_ = c.Wait() // it was killed
		l, err := Open(path, time.Minute)
		if err != nil {
			t.Fatalf("after kill %d: %v", k, err)
		}
		o := storeFor("killed", records)
		if err := l.Recall(o); err != nil {
			t.Fatalf("after kill %d: %v", k, err)
		}
		if n := len(o.Verification.Snapshots); n <= kept {
			t.Fatalf("after kill %d there are %d records, and %d were written", k, n, kept+1)
		}
	}
}

// Two auditors at a time wait for each other, and neither loses what it wrote.
func TestTwoAtATime(t *testing.T) {
	path := newPath(t)
	const records = 50
	done := make(chan error, 2)
	for _, who := range []string{"a", "b"} {
		c, lines := start(t, path, who, records, 0)
		go func() {
			n := 0
			for lines.Scan() {
				if strings.HasPrefix(lines.Text(), "kept") {
					n++
				}
			}
			err := c.Wait()
			if n != records {
				err = errors.Join(err, fmt.Errorf("%s kept %d records", who, n))
			}
			done <- err
		}()
	}
	do(t, errors.Join(<-done, <-done))
	l := open(t, path)
	for _, who := range []string{"a", "b"} {
		o := storeFor(who, records)
		do(t, l.Recall(o))
		if n := len(o.Verification.Snapshots); n != records {
			t.Errorf("of %s there are %d records", who, n)
		}
	}
}

// A file that cannot grow is told, and holds what it held.
func TestFull(t *testing.T) {
	path := newPath(t)
	c, lines := start(t, path, "full", 100, 256<<10)
	kept, said := 0, ""
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "kept") {
			kept++
		}
		said = lines.Text()
	}
	do(t, c.Wait())
	if !strings.HasPrefix(said, "error write the ledger "+path+": ") || !strings.Contains(said, "file too large") || kept == 0 || kept == 100 {
		t.Fatalf("after %d records it says %q", kept, said)
	}
	o := storeFor("full", 100)
	do(t, open(t, path).Recall(o))
	if n := len(o.Verification.Snapshots); n < kept {
		t.Errorf("there are %d records of %d", n, kept)
	}
	do(t, open(t, path).Keep(o.Store, found(o, 99, audit.Intact))) // there is room again
}

package drill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// command prepares a program that ends with ctx.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Env = environment()
	c.WaitDelay = 5 * time.Second // for what holds its output open
	bind(c)
	return c
}

// environment is this process's, without what would configure etcd or its tools.
func environment() []string {
	env := []string{"ETCDCTL_API=3"}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "ETCD") {
			env = append(env, e)
		}
	}
	return env
}

// run runs a program to its end, in a directory, and gives what it printed.
func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	c := command(ctx, name, args...)
	c.Dir = dir
	out := new(tail)
	c.Stdout, c.Stderr = out, out
	err := c.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.String(), err
}

// refused reports whether a program ended by itself and said no, other than for
// want of room: then it is about what it was given, and not about the machine.
func refused(err error, out string) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.Exited() && !strings.Contains(out, "no space left on device") && !strings.Contains(out, "cannot allocate memory")
}

// A tail keeps the end of what a program prints.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const maxTail = 16 << 10

// Write keeps the last of what comes.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - maxTail; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(p), nil
}

// String gives it.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

// lastWords gives the line of an output that is likeliest to say why a program
// ended: the last that speaks of an error, or else the last.
func lastWords(out string) string {
	said := ""
	for _, line := range bytes.Split([]byte(out), []byte{'\n'}) {
		l := strings.TrimSpace(string(line))
		isError := strings.HasPrefix(l, "Error") || strings.Contains(l, `"level":"fatal"`) || strings.Contains(l, `"level":"panic"`) || strings.HasPrefix(l, "panic:")
		if l != "" && (isError || said == "") {
			said = l
		}
	}
	if len(said) > 500 {
		said = said[:500] + "…"
	}
	if said == "" {
		return "it said nothing"
	}
	return fmt.Sprintf("it said: %s", said)
}

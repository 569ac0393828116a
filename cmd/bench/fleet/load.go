package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A load is `backstop serve` under the eyes of a Prometheus in a hurry: scraped each
// second while one audit follows the other.
type load struct {
	stores int
	server server
	url    string
	audits atomic.Int64
	pid    int

	latencies []time.Duration
	body      int // bytes of a scrape
	peak      int64
	audit     map[string]int // requests of the first audit
	all       map[string]int // requests of the whole time
	took      time.Duration
}

// underLoad measures serve for a time, and prints what came of it.
func underLoad(n size, latency, last time.Duration, program string, w io.Writer) error {
	s, stop, err := startServer(n, latency)
	if err != nil {
		return err
	}
	defer stop()
	l := &load{stores: n.Clusters * n.Stores, server: s}
	if err := l.serve(program, last); err != nil {
		return err
	}
	l.print(w)
	return nil
}

// serve runs the program and ends it.
func (l *load) serve(program string, last time.Duration) error {
	address, err := free()
	if err != nil {
		return err
	}
	l.url = "http://" + address
	c := exec.Command(program, "serve", "s3://"+bucketName, "--endpoint-url", l.server.S3, "--web.listen-address", address,
		"--audit-schedule", "@every 1s", "--probe-schedule", "", "--jitter", "0s", "--log-level", "info")
	c.Env = environment()
	log, err := c.StderrPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	l.pid = c.Process.Pid
	first := make(chan struct{})
	go l.follow(log, first)
	err = l.measure(first, last)
	_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
	return errors.Join(err, c.Wait())
}

// follow counts the audits that the log tells of.
func (l *load) follow(log io.Reader, first chan struct{}) {
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if strings.Contains(lines.Text(), "audited checked=") && l.audits.Add(1) == 1 {
			close(first)
		}
	}
}

// measure scrapes once a second, from the first audit on.
func (l *load) measure(first <-chan struct{}, last time.Duration) error {
	select {
	case <-first:
	case <-time.After(10 * time.Minute):
		return errors.New("the first audit does not end")
	}
	var err error
	if l.audit, err = l.asked(); err != nil {
		return err
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), last)
	defer cancel()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := l.scrape(); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	l.took = time.Since(began)
	if l.peak, err = peak(l.pid); err != nil {
		return err
	}
	l.all, err = l.asked()
	return err
}

// asked is what S3 was asked since the start, by its own log.
func (l *load) asked() (map[string]int, error) {
	tasks, err := l.server.tasks()
	return kinds(tasks), err
}

func (l *load) scrape() error {
	began := time.Now()
	resp, err := http.Get(l.url + "/metrics")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("scrape: %s: %w", resp.Status, err)
	}
	l.latencies = append(l.latencies, time.Since(began))
	l.body = int(n)
	return nil
}

// peak is the largest resident set of a process so far, in bytes.
func peak(pid int) (int64, error) {
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(body), "VmHWM:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return kib << 10, err
}

func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

// print writes the figures. Requests a day are those of one audit, for the schedule
// that serve has by default.
func (l *load) print(w io.Writer) {
	slices.Sort(l.latencies)
	at := func(share float64) time.Duration {
		return l.latencies[min(len(l.latencies)-1, int(share*float64(len(l.latencies))))].Round(100 * time.Microsecond)
	}
	lists := func(m map[string]int) (n int) {
		for op, of := range m {
			if strings.HasPrefix(op, "List") {
				n += of
			}
		}
		return n
	}
	requests := 0
	for _, n := range l.audit {
		requests += n
	}
	const audits = 24 * 6 // a day
	perStore := func(n int) float64 { return float64(n) * audits / float64(l.stores) }
	fmt.Fprintf(w, "serve, %d stores, scraped each second for %v, %d audits ended:\n", l.stores, l.took.Round(time.Second), l.audits.Load())
	fmt.Fprintf(w, "  %d scrapes of %d bytes: median %v, p99 %v, slowest %v\n", len(l.latencies), l.body, at(0.5), at(0.99), at(1))
	fmt.Fprintf(w, "  peak memory %.1f MiB\n", float64(l.peak)/(1<<20))
	fmt.Fprintf(w, "  an audit makes %d requests, of them %d LISTs; a day and store, every 10 minutes: %.0f requests, of them %.0f LISTs\n", requests, lists(l.audit), perStore(requests), perStore(lists(l.audit)))
	fmt.Fprintf(w, "  LISTs of all audits and scrapes: %d\n", lists(l.all))
}

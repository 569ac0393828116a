package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"backstop/audit"
)

func main() {
	if err := act(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// act is the driver, or one of the processes that it starts.
func act(args []string) error {
	if len(args) > 1 && args[0] == "run" {
		return run(args[1:])
	}
	var n size
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	flags.IntVar(&n.Clusters, "clusters", 200, "kops clusters")
	flags.IntVar(&n.Stores, "stores", 2, "backup stores of each cluster, at most 4")
	flags.IntVar(&n.Snapshots, "snapshots", 255, "snapshots of each store")
	latency := flags.Duration("latency", 20*time.Millisecond, "delay of every answer")
	concurrency := flags.Int("concurrency", 8, "of the audit, and of the client that makes its requests")
	runs := flags.Int("runs", 5, "how often each is measured, in turns")
	program := flags.String("backstop", "bin/backstop", "the `program` to measure")
	served := flags.Duration("serve", 3*time.Minute, "how long backstop serve is scraped, with 500 stores; 0 leaves that out")
	role := ""
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		role, args = args[0], args[1:]
	}
	endpoint := flags.String("endpoint", "", "of a client: the server")
	list := flags.String("tasks", "", "of a client: the `file` with its requests")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch role {
	case "serve":
		return serve(n, *latency)
	case "replay", "list":
		return client(role, *endpoint, *list, *concurrency)
	case "":
		if err := compare(n, *latency, *concurrency, *runs, *program); err != nil {
			return err
		}
		fallthrough
	case "load":
		if *served == 0 {
			return nil
		}
		return underLoad(size{Clusters: 250, Stores: 2, Snapshots: n.Snapshots}, *latency, *served, *program, os.Stdout)
	}
	return fmt.Errorf("there is no role %q", role)
}

// client is the process of a bare client.
func client(role, endpoint, list string, concurrency int) error {
	ctx := context.Background()
	b, err := newBare(ctx, endpoint)
	if err != nil {
		return err
	}
	if role == "list" {
		_, err = b.list(ctx)
		return err
	}
	body, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	var tasks []*task
	if err := json.Unmarshal(body, &tasks); err != nil {
		return err
	}
	return b.replay(ctx, tasks, concurrency)
}

// A contest is the comparison of an audit with bare clients.
type contest struct {
	server
	env                  []string
	audit, same, listing *contestant
}

// A contestant is a program that is measured.
type contestant struct {
	name     string
	command  []string
	check    func() error // that it did its work
	measured []usage
	asked    map[string]int // requests by kind
}

func compare(n size, latency time.Duration, concurrency, runs int, program string) error {
	s, stop, err := startServer(n, latency)
	if err != nil {
		return err
	}
	defer stop()
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	tasks, report := filepath.Join(dir, "tasks"), filepath.Join(dir, "report")
	at := strconv.Itoa(concurrency)
	c := &contest{
		server: s, env: environment(),
		audit: &contestant{
			name: "audit",
			command: []string{program, "audit", "s3://" + bucketName, "--endpoint-url", s.S3, "--concurrency", at,
				"--max-requests-per-second", "0", "-o", "text", "-o", "json=" + report},
			check: func() error { return complete(report, n.Clusters*n.Stores) },
		},
		same:    &contestant{name: "same requests", command: []string{self, "replay", "-endpoint", s.S3, "-tasks", tasks, "-concurrency", at}},
		listing: &contestant{name: "keys alone", command: []string{self, "list", "-endpoint", s.S3}},
	}
	if err := c.learn(tasks); err != nil {
		return err
	}
	fmt.Printf("%d clusters x %d stores x %d snapshots, %v latency, concurrency %d; median (least to most) of %d runs each, in turns; %d processors\n",
		n.Clusters, n.Stores, n.Snapshots, latency, concurrency, runs, runtime.NumCPU())
	for i := range runs {
		if err := c.round(i%2 == 1); err != nil {
			return err
		}
	}
	return c.print(os.Stdout)
}

// startServer starts the process of the S3 server, and waits until it is ready.
func startServer(n size, latency time.Duration) (server, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return server{}, nil, err
	}
	c := exec.Command(self, "serve", "-clusters", strconv.Itoa(n.Clusters), "-stores", strconv.Itoa(n.Stores),
		"-snapshots", strconv.Itoa(n.Snapshots), "-latency", latency.String())
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return server{}, nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return server{}, nil, err
	}
	if err := c.Start(); err != nil {
		return server{}, nil, err
	}
	stop := func() { _, _ = in.Close(), c.Wait() } // it ends with its input
	var s server
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s)
	}
	if err != nil {
		stop()
		return server{}, nil, fmt.Errorf("start the server: %w", err)
	}
	return s, stop, nil
}

// environment keeps the machine's own AWS configuration out.
func environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=us-east-1",
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull, "AWS_EC2_METADATA_DISABLED=true",
	}
}

// learn runs an audit to see what it asks, and writes that down.
func (c *contest) learn(file string) error {
	if err := c.measure(c.audit); err != nil {
		return err
	}
	c.audit.measured = nil // it was the first, which warms up
	tasks, err := c.tasks()
	if err != nil {
		return err
	}
	body, err := json.Marshal(tasks)
	if err != nil {
		return err
	}
	return os.WriteFile(file, body, 0o600)
}

// round measures each once.
func (c *contest) round(backwards bool) error {
	all := []*contestant{c.audit, c.same, c.listing}
	if backwards {
		slices.Reverse(all)
	}
	for _, one := range all {
		if err := c.measure(one); err != nil {
			return err
		}
	}
	if !maps.Equal(c.audit.asked, c.same.asked) {
		return fmt.Errorf("the requests differ: the audit made %v, the bare client %v", c.audit.asked, c.same.asked)
	}
	return nil
}

func (c *contest) measure(one *contestant) error {
	if err := c.reset(); err != nil {
		return err
	}
	u, err := measure(c.env, one.command...)
	if err != nil {
		return err
	}
	if one.check != nil {
		if err := one.check(); err != nil {
			return err
		}
	}
	tasks, err := c.tasks()
	if err != nil {
		return err
	}
	one.asked = kinds(tasks)
	one.measured = append(one.measured, u)
	return nil
}

// complete holds a report to what is there: speed is nothing if a store is
// missing.
func complete(file string, stores int) error {
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var r audit.Report
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	if r.Checked != stores || r.Total != stores || r.Verdict != audit.OK {
		return fmt.Errorf("the audit is %s and checked %d of %d stores; want OK and %d", r.Verdict, r.Checked, r.Total, stores)
	}
	return nil
}

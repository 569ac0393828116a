package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"backstop/store/storetest"
)

// A server is where the S3 server listens, and where it tells what it was asked.
type server struct{ S3, Control string }

// serve is the process of the S3 server: it says where it is in a line of JSON,
// and ends when its standard input does.
func serve(n size, latency time.Duration) error {
	fake := storetest.NewFake(time.Now)
	fake.SetLatency(latency)
	fill(fake.CreateBucket(bucketName), n, time.Now())
	endpoint, stop, err := fake.Start()
	if err != nil {
		return err
	}
	defer stop()
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			fake.ResetRequests()
			return
		}
		_ = json.NewEncoder(w).Encode(asked(fake.Requests())) // the driver may be gone
	}))
	defer control.Close()
	if err := json.NewEncoder(os.Stdout).Encode(server{endpoint, control.URL}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// A task is a request, or the pages of one listing, which must be asked for one
// after the other.
type task struct {
	Operation                       string
	Key, Prefix, Delimiter, MaxKeys string `json:",omitempty"`
	Range                           string `json:",omitempty"`
	StartAfter                      string `json:",omitempty"`
	Pages                           int    `json:",omitempty"`
}

// asked makes tasks of a log of requests, in the order in which each began.
func asked(log []storetest.Request) []*task {
	var tasks []*task
	for _, r := range log {
		if token := r.Query.Get("continuation-token"); token != "" {
			if t := continued(tasks, r, token); t != nil {
				t.Pages++
				continue
			}
		}
		t := &task{Operation: r.Operation, Key: r.Key, Range: r.Header.Get("Range"), Pages: 1}
		t.Prefix, t.Delimiter, t.MaxKeys = r.Query.Get("prefix"), r.Query.Get("delimiter"), r.Query.Get("max-keys")
		t.StartAfter = r.Query.Get("start-after")
		tasks = append(tasks, t)
	}
	return tasks
}

// continued finds the listing that a page belongs to: the one of its prefix that
// began last before the key at which the page does. The fake's tokens tell it.
func continued(tasks []*task, r storetest.Request, token string) *task {
	key, err := base64.URLEncoding.DecodeString(token)
	if err != nil {
		return nil
	}
	var best *task
	for _, t := range tasks {
		if t.Operation == r.Operation && t.Prefix == r.Query.Get("prefix") && t.Delimiter == r.Query.Get("delimiter") &&
			t.StartAfter <= string(key) && (best == nil || t.StartAfter >= best.StartAfter) {
			best = t
		}
	}
	return best
}

// tasks asks the server what it was asked since the last reset.
func (s server) tasks() ([]*task, error) {
	resp, err := http.Get(s.Control)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var tasks []*task
	if err := json.NewDecoder(resp.Body).Decode(&tasks); err != nil {
		return nil, fmt.Errorf("read the server's log: %w", err)
	}
	return tasks, nil
}

func (s server) reset() error {
	req, err := http.NewRequest(http.MethodDelete, s.Control, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// kinds counts requests by operation.
func kinds(tasks []*task) map[string]int {
	n := map[string]int{}
	for _, t := range tasks {
		n[t.Operation] += t.Pages
	}
	return n
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"backstop/audit"
	"backstop/store"
	"backstop/store/storetest"
)

// Flag, then environment, then file, then default; and what is in effect reaches
// every bucket of the run, also the one that kops names.
func TestMaxRequestsPerSecond(t *testing.T) {
	now := at("2026-11-30T12:00:00Z")
	fake := storetest.NewFake(func() time.Time { return now })
	state, backups := fake.CreateBucket("kops-state"), fake.CreateBucket("backups-eu")
	c := clusterSpec{name: "a.example.com", created: now.Add(-40 * audit.Day), members: 3, version: "3.5.30", store: map[string]string{"main": "s3://backups-eu/a"}}
	c.put(state, c.created)
	etcdStore(backups, "a", now, "cs", 3, 5*time.Minute)
	endpoint := fake.URL(t)
	file := configured(t, "version: 1\nmax_requests_per_second: 7.5\nstores:\n- {url: s3://kops-state, endpoint_url: \""+endpoint+"\"}\n")
	env := map[string]string{"BACKSTOP_MAX_REQUESTS_PER_SECOND": "30"}
	for name, test := range map[string]struct {
		env  map[string]string
		args []string
		want float64
	}{
		"default":     {nil, []string{"--config", configured(t, "version: 1\nstores:\n- {url: s3://kops-state, endpoint_url: \""+endpoint+"\"}\n")}, store.DefaultPerSecond},
		"file":        {nil, []string{"--config", file}, 7.5},
		"environment": {env, []string{"--config", file}, 30},
		"flag":        {env, []string{"--config", file, "--max-requests-per-second", "40"}, 40},
		"no limit":    {env, []string{"--config", file, "--max-requests-per-second", "0"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			opened := map[string]store.Pace{}
			p := &program{ctx: t.Context(), stdout: &out, stderr: &errs, now: func() time.Time { return now },
				env: func(name string) (string, bool) { v, ok := test.env[name]; return v, ok },
				testOnlyS3: func(in *store.S3Options) {
					opened[in.Bucket] = in.Pace
					in.Pace = nil // the test does not wait
				}}
			if code := p.run(append([]string{"audit"}, test.args...)); code > exitCritical {
				t.Fatalf("exit %d\n%s%s", code, out.String(), errs.String())
			}
			if len(opened) != 2 || opened["kops-state"] != opened["backups-eu"] {
				t.Errorf("the buckets have the paces %v, want one for both", opened)
			}
			if got, want := fmt.Sprintf("%T", opened["kops-state"]), fmt.Sprintf("%T", store.PerSecond(test.want)); got != want {
				t.Errorf("the pace is %s, want %s", got, want)
			}
			printed := commandIn(t, t.Context(), now, test.env, append([]string{"config", "print"}, test.args...)...)
			var c printedConfig
			if err := yaml.Unmarshal([]byte(printed.stdout), &c); err != nil || c.MaxRequestsPerSecond != test.want {
				t.Errorf("printed %v, %v, want %v", c.MaxRequestsPerSecond, err, test.want)
			}
		})
	}
}

// What a run asked of S3 is counted to the last request, in the report and in the
// log; that it was slowed is told to everybody.
func TestUsageIsPrinted(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	fake, endpoint := busyStore(t, now)
	fake.CreateBucket("empty")
	args := []string{"s3://kops", "s3://empty", "--endpoint-url", endpoint}
	quiet, r := reportOf(t, now, args...)
	asked := map[string]int{}
	for _, r := range fake.Requests() {
		asked[r.Operation]++
	}
	if fmt.Sprint(quiet.Usage.Requests) != fmt.Sprint(asked) || quiet.Usage.Bytes == 0 || quiet.Usage.Throttled != 0 {
		t.Errorf("the report counts %+v, the server saw %v", quiet.Usage, asked)
	}
	if r.stderr != "" {
		t.Errorf("unasked: %s", r.stderr)
	}
	slow := func(r storetest.Request) *storetest.Fault {
		if r.Operation == "GetBucketVersioning" && r.Attempt%2 == 1 {
			return &storetest.Fault{Kind: storetest.Refused, Status: 503, Code: "SlowDown"}
		}
		return nil
	}
	fake.ResetRequests()
	fake.Fault(slow)
	rep, told := reportOf(t, now, append(args, "--log-level", "info", "--log-format", "json")...)
	var total struct {
		Message                            string
		Stores, Requests, Bytes, Throttled int
		ByKind                             map[string]int `json:"by_kind"`
	}
	for _, line := range strings.Split(strings.TrimSpace(told.stderr), "\n") {
		if strings.Contains(line, "looked at all stores") {
			if err := json.Unmarshal([]byte(line), &total); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(fake.Requests()); total.Requests != n || total.Throttled != rep.Usage.Throttled || total.Throttled == 0 || total.Stores != 1 ||
		int64(total.Bytes) != rep.Usage.Bytes || fmt.Sprint(total.ByKind) != fmt.Sprint(rep.Usage.Requests) {
		t.Errorf("logged %+v, want %d requests and %+v", total, n, rep.Usage)
	}
	fake.ResetRequests()
	warned := command(t, now, append([]string{"audit"}, args...)...)
	if !strings.Contains(warned.stderr, "S3 asked to slow down") {
		t.Errorf("not told: %s", warned.stderr)
	}
}

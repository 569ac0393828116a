package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// opened counts the requests for the data of snapshots that have no range, and the
// bytes that these have as stored; headed counts those with one.
func opened(w *scene) (opens int, bytes int64, headed int) {
	for _, r := range w.fake.Requests() {
		if !strings.HasSuffix(r.Key, etcdmanager.DataFile) {
			continue
		}
		if r.Header.Get("Range") != "" {
			headed++
			continue
		}
		opens++
		if o, ok := w.state.Stat(r.Key); ok {
			bytes += int64(len(o.Body))
		}
	}
	return opens, bytes, headed
}

// many is a cluster with so many snapshots, as etcd-manager thins them: all of the
// last hour, of each hour of a week, then of each day.
func many(w *scene, n int) *tree {
	s := w.cluster(400*day, func(c *clusterSpec) { c.hourly, c.retention = "7d", 365 }).born(400 * day)
	s.hourly = 7 * day
	all := s.rungs(365*day, minute)
	return s.takes(all[len(all)-n:]...)
}

func newLedger(t *testing.T) string { return filepath.Join(t.TempDir(), "ledger") }

// With a ledger nothing is read twice: the second run opens no snapshot.
func TestVerifyNewTwice(t *testing.T) {
	w := newScene(t)
	many(w, 255)
	total := int64(255 * len(filledSnapshot))
	w.flags = []string{"--verify", "new", "--ledger", newLedger(t), "--max-requests-per-second", "0"}

	r, res := w.look()
	opens, read, headed := opened(w)
	t.Logf("the first run opened %d snapshots of %d bytes, and looked at the ends of %d", opens, read, headed)
	if opens != 255 || read != total || headed != 1 {
		t.Errorf("it opened %d of %d bytes, and headed %d", opens, read, headed)
	}
	if want := fmt.Sprintf("backstop: --verify new: 255 snapshots of 1 store to read, 1.4 MiB (%d bytes)\n", total); !strings.Contains(res.stderr, want) {
		t.Errorf("stderr has %q, want %q", res.stderr, want)
	}
	got := r.Stores[0]
	if p := got.Restorable; p == nil || p.Name != got.Newest.Name || p.Keys != 86 || p.Revision != 87 || p.Depth != audit.Parsed || got.Newest.Depth != audit.Parsed {
		t.Errorf("restorable %+v, newest %+v", got.Restorable, got.Newest)
	}
	asked, bytes := got.Usage.Requests["GetObject"], got.Usage.Bytes

	w.fake.ResetRequests()
	w.now = w.now.Add(minute)
	r, res = w.look()
	opens, read, headed = opened(w)
	again := r.Stores[0]
	t.Logf("the second run opened %d, and looked at the ends of %d; GetObject %d and then %d, %d and then %d bytes", opens, headed, asked, again.Usage.Requests["GetObject"], bytes, again.Usage.Bytes)
	if opens != 0 || read != 0 || headed != 1 || again.Usage.Requests["GetObject"] != asked-255 || bytes-again.Usage.Bytes < total {
		t.Errorf("the second run opened %d of %d bytes", opens, read)
	}
	if !strings.Contains(res.stderr, "--verify new: 0 snapshots of 0 stores to read") {
		t.Errorf("stderr has %q", res.stderr)
	}
	if p := again.Restorable; p == nil || p.Name != again.Newest.Name || p.Verified.After(w.ago(minute)) {
		t.Errorf("it does not remember: %+v", p)
	}
	if again.Verdict != audit.OK {
		t.Errorf("verdict %s: %q", again.Verdict, findings(r))
	}
}

// Without a ledger the newest is read, each time.
func TestVerifyNewest(t *testing.T) {
	w := newScene(t)
	many(w, 5)
	w.flags = []string{"--verify", "newest"}
	for range 2 {
		w.fake.ResetRequests()
		r, _ := w.look()
		if opens, _, headed := opened(w); opens != 1 || headed != 1 || r.Stores[0].Restorable == nil {
			t.Errorf("it opened %d, headed %d, restorable %+v", opens, headed, r.Stores[0].Restorable)
		}
	}
	text := command(t, w.now, "audit", "--verify", "newest", "--endpoint-url", w.url(), "s3://kops-state")
	if !strings.Contains(text.stdout, "ago), which would restore\n") {
		t.Errorf("the text says\n%s%s", text.stdout, text.stderr)
	}
}

// N parts are everything, and no snapshot is in two of them.
func TestVerifyParts(t *testing.T) {
	w := newScene(t)
	many(w, 40)
	keys := map[string]int{}
	for part := 1; part <= 4; part++ {
		w.fake.ResetRequests()
		w.flags = []string{"--verify", fmt.Sprintf("%d/4", part)}
		w.look()
		for _, r := range w.fake.Requests() {
			if strings.HasSuffix(r.Key, etcdmanager.DataFile) && r.Header.Get("Range") == "" {
				keys[r.Key]++
			}
		}
	}
	if len(keys) != 40 {
		t.Errorf("4 parts read %d snapshots of 40", len(keys))
	}
	for key, n := range keys {
		if n != 1 && !strings.Contains(key, "2026-11-30T11:59:00Z") { // the newest is in all
			t.Errorf("%s was read %d times", key, n)
		}
	}
}

// A run whose time is up says what it has not read, and the next goes on.
func TestVerifyGoesOn(t *testing.T) {
	w := newScene(t)
	many(w, 6)
	file := newLedger(t)
	w.flags = []string{"--verify", "new", "--ledger", file, "--max-duration", "1ns"}
	r, _ := w.look()
	if opens, _, _ := opened(w); opens != 0 || !slices.Contains(findings(r), "unknown snapshot/unverified") || r.Verdict != audit.VerdictUnknown {
		t.Errorf("it opened %d, found %q", opens, findings(r))
	}
	w.flags = []string{"--verify", "newest", "--ledger", file}
	w.look()
	w.fake.ResetRequests()
	w.flags = []string{"--verify", "new", "--ledger", file}
	r, _ = w.look()
	if opens, _, _ := opened(w); opens != 5 || r.Verdict != audit.OK {
		t.Errorf("it opened %d of the 5 that are left, found %q", opens, findings(r))
	}
	w.fake.ResetRequests()
	w.flags = []string{"--verify", "all", "--ledger", file}
	w.look()
	if opens, _, _ := opened(w); opens != 6 {
		t.Errorf("all are %d", opens)
	}
}

// What is interrupted is not read again.
func TestAuditVerifyInterrupted(t *testing.T) {
	w := newScene(t)
	many(w, 6)
	file := newLedger(t)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	w.fake.Fault(func(r storetest.Request) *storetest.Fault {
		if strings.HasSuffix(r.Key, etcdmanager.DataFile) && r.Header.Get("Range") == "" {
			if n++; n == 4 {
				cancel()
			}
		}
		return nil
	})
	args := []string{"audit", "--verify", "new", "--ledger", file, "--endpoint-url", w.url(), "s3://kops-state"}
	if res := commandIn(t, ctx, w.now, nil, args...); res.code != exitInterrupted {
		t.Fatalf("exit %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	w.fake.Fault(nil)
	w.fake.ResetRequests()
	if res := command(t, w.now, args...); res.code != 0 {
		t.Fatalf("exit %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	if opens, _, _ := opened(w); opens < 2 || opens > 3 {
		t.Errorf("after three were read it opened %d of 6", opens)
	}
}

// What was verified is recorded, and judged again as it was.
func TestVerifiedIsRecorded(t *testing.T) {
	w := newScene(t)
	many(w, 4)
	file := filepath.Join(t.TempDir(), "seen.json")
	w.flags = []string{"--verify", "all", "--ledger", newLedger(t), "--record", file}
	live, _ := w.look()
	again, _ := reportOf(t, w.now, "--replay", file)
	for _, r := range []*audit.Report{&live, &again} {
		r.Stores[0].Judged, r.Judged = time.Time{}, time.Time{}
	}
	a, _ := json.Marshal(live.Stores[0])
	b, _ := json.Marshal(again.Stores[0])
	if !bytes.Equal(a, b) || again.Stores[0].Depths[2].Snapshots != 4 {
		t.Errorf("live\n%s\nreplayed\n%s", a, b)
	}
}

func TestDeepUsage(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no ledger\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"new without a ledger": {[]string{"--verify", "new"}, 64, "--verify new needs --ledger FILE"},
		"all without a ledger": {[]string{"--verify", "all"}, 64, "--verify all needs --ledger FILE"},
		"another word":         {[]string{"--verify", "some"}, 64, `"some" is neither newest, new, all nor a part such as 2/7`},
		"part 0":               {[]string{"--verify", "0/7"}, 64, "neither"},
		"beyond the parts":     {[]string{"--verify", "8/7"}, 64, "neither"},
		"too little memory":    {[]string{"--verify", "newest", "--max-memory", "lots"}, 64, "--max-memory"},
		"a negative time":      {[]string{"--verify", "newest", "--max-duration", "-1s"}, 64, "--max-duration is -1s"},
		"a replay":             {[]string{"--verify", "newest", "--replay", "x"}, 64, "do not go with --replay"},
		"another time":         {[]string{"--ledger", "x", "--at", "2027-01-01"}, 64, "do not go with"},
		"a text":               {[]string{"--ledger", text}, 64, "it is not a ledger, or it is damaged"},
		"no directory":         {[]string{"--ledger", filepath.Join(dir, "no", "ledger")}, 74, "no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			res := command(t, verifyTime, append(append([]string{"audit"}, c.args...), dir)...)
			if res.code != c.code || !strings.Contains(res.stderr, c.says) {
				t.Errorf("exit %d, want %d: %s", res.code, c.code, res.stderr)
			}
		})
	}
}

// A ledger that fails while it is used costs the memory, and not the report.
func TestLedgerFails(t *testing.T) {
	w := newScene(t)
	many(w, 3)
	file := newLedger(t)
	w.fake.Fault(func(r storetest.Request) *storetest.Fault {
		if r.Operation == "GetBucketVersioning" {
			_ = os.WriteFile(file, []byte(strings.Repeat("no ledger\n", 10_000)), 0o600)
		}
		return nil
	})
	res := command(t, w.now, "audit", "--verify", "new", "--ledger", file, "--endpoint-url", w.url(), "s3://kops-state")
	if res.code != exitUndelivered || !strings.Contains(res.stdout, "which would restore") || !strings.Contains(res.stderr, "ledger "+file+": it is not a ledger, or it is damaged") {
		t.Errorf("exit %d\n%s%s", res.code, res.stdout, res.stderr)
	}
}

// Package etcdtest runs real etcd servers and their tools for tests, as separate
// processes on the loopback interface. etcd 3.4 is the one on PATH, which
// .ci/install-real installs; others are those that .ci/etcd/build builds. Where
// one is missing tests are skipped, or with BACKSTOP_REQUIRE_REAL=1 fail.
package etcdtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A Release is an etcd that is installed here.
type Release struct {
	Minor string // as 3.6
	dir   string // of its programs; empty for PATH
}

// Find gives the etcd of a minor version, or skips the test.
func Find(tb testing.TB, minor string) Release {
	tb.Helper()
	r := Release{Minor: minor}
	hint := "apt-get install etcd-server etcd-client"
	if minor != "3.4" {
		r.dir = filepath.Join(root(), "bin", "etcd", minor)
		hint = ".ci/etcd/build " + minor
	}
	out, err := exec.Command(r.program("etcd"), "--version").Output()
	if err == nil && strings.HasPrefix(string(out), "etcd Version: "+minor+".") {
		return r
	}
	line := fmt.Sprintf("skipped real part: etcd %s (%s)", minor, hint)
	if os.Getenv("BACKSTOP_REQUIRE_REAL") == "1" {
		tb.Fatalf("etcd %s is not here: %q, %v: %s", minor, out, err, line)
	}
	tb.Skip(line)
	return r
}

// root is the folder of the module.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// Dir is where its programs are; empty for PATH.
func (r Release) Dir() string { return r.dir }

func (r Release) program(name string) string { return filepath.Join(r.dir, name) }

// Etcdutl prepares a call of this release's etcdutl; 3.4 has none.
func (r Release) Etcdutl(args ...string) *exec.Cmd { return child(r.program("etcdutl"), args...) }

// child prepares a process that dies with the test.
func child(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), "ETCDCTL_API=3")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// A Server is a cluster of one member.
type Server struct {
	Release
	URL string
	tb  testing.TB
}

// Start runs a server on an empty data directory for the time of the test.
func (r Release) Start(tb testing.TB) *Server {
	tb.Helper()
	return r.StartOn(tb, filepath.Join(tb.TempDir(), "data"))
}

// StartOn runs a server on a data directory, as one that was restored.
func (r Release) StartOn(tb testing.TB, dir string) *Server {
	tb.Helper()
	client, peer := freeURL(tb), freeURL(tb)
	log, err := os.Create(filepath.Join(tb.TempDir(), "log"))
	if err != nil {
		tb.Fatal(err)
	}
	c := child(r.program("etcd"), "--name", "default", "--data-dir", dir, "--unsafe-no-fsync", "--force-new-cluster",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	if r.Minor == "3.4" {
		c.Args = append(c.Args[:5], c.Args[6:]...) // it does not know --unsafe-no-fsync
	}
	c.Stdout, c.Stderr = log, log
	// A process that is to die with its parent does so with the parent's thread.
	runtime.LockOSThread()
	if err := c.Start(); err != nil {
		tb.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	tb.Cleanup(func() {
		_ = c.Process.Kill() // it may be dead
		<-done
		runtime.UnlockOSThread()
		_ = log.Close()
	})
	s := &Server{Release: r, URL: client, tb: tb}
	s.await(done, log.Name())
	return s
}

// await waits until the server answers.
func (s *Server) await(done <-chan error, log string) {
	s.tb.Helper()
	deadline := time.After(time.Minute)
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-deadline:
			s.failed("did not answer within a minute", log)
		case err := <-done:
			s.failed(fmt.Sprintf("ended: %v", err), log)
		}
		resp, err := http.Get(s.URL + "/health")
		if err != nil {
			continue
		}
		_ = resp.Body.Close() // only the status matters
		if resp.StatusCode == http.StatusOK {
			return
		}
	}
}

func (s *Server) failed(how, log string) {
	s.tb.Helper()
	b, _ := os.ReadFile(log)
	s.tb.Fatalf("etcd %s %s:\n%s", s.Minor, how, b[max(0, len(b)-3000):])
}

func freeURL(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return "http://" + l.Addr().String()
}

// Call makes a call of the gateway to etcd's API, as kv/txn, and decodes the
// answer.
func (s *Server) Call(method string, in, out any) {
	s.tb.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		s.tb.Fatal(err)
	}
	resp, err := http.Post(s.URL+"/v3/"+method, "application/json", bytes.NewReader(body))
	if err != nil {
		s.tb.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		s.tb.Fatalf("%s: HTTP %d, %v: %s", method, resp.StatusCode, err, answer.String())
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(answer.Bytes(), out); err != nil {
		s.tb.Fatalf("%s: %v: %s", method, err, answer.String())
	}
}

// An Op is one write of a transaction: a put, or without a value a deletion.
type Op struct {
	Key   string
	Value []byte
	Lease int64
}

// Txn writes in one transaction, and gives its revision.
func (s *Server) Txn(ops ...Op) int64 {
	s.tb.Helper()
	type object = map[string]any
	var success []object
	for _, o := range ops {
		key := base64.StdEncoding.EncodeToString([]byte(o.Key))
		if o.Value == nil {
			success = append(success, object{"requestDeleteRange": object{"key": key}})
			continue
		}
		put := object{"key": key, "value": base64.StdEncoding.EncodeToString(o.Value)}
		if o.Lease != 0 {
			put["lease"] = strconv.FormatInt(o.Lease, 10)
		}
		success = append(success, object{"requestPut": put})
	}
	var out struct{ Header Header }
	s.Call("kv/txn", object{"success": success}, &out)
	return out.Header.Revision
}

// A Header is that of every answer.
type Header struct {
	ClusterID uint64 `json:"cluster_id,string"`
	MemberID  uint64 `json:"member_id,string"`
	Revision  int64  `json:"revision,string"`
	RaftTerm  uint64 `json:"raft_term,string"`
}

// Compact compacts, and waits until it is done.
func (s *Server) Compact(revision int64) {
	s.tb.Helper()
	s.Call("kv/compaction", map[string]any{"revision": strconv.FormatInt(revision, 10), "physical": true}, nil)
}

// Grant makes a lease.
func (s *Server) Grant(seconds int) int64 {
	s.tb.Helper()
	var out struct {
		ID int64 `json:",string"`
	}
	s.Call("lease/grant", map[string]any{"TTL": strconv.Itoa(seconds)}, &out)
	return out.ID
}

// Count counts the keys that begin with prefix.
func (s *Server) Count(prefix string) int64 {
	s.tb.Helper()
	key, end := prefix, prefix[:max(0, len(prefix)-1)]
	if prefix == "" {
		key, end = "\x00", "\x00"
	} else {
		end += string([]byte{prefix[len(prefix)-1] + 1})
	}
	var out struct {
		Count int64 `json:",string"`
	}
	s.Call("kv/range", map[string]any{
		"key": base64.StdEncoding.EncodeToString([]byte(key)), "range_end": base64.StdEncoding.EncodeToString([]byte(end)), "count_only": true,
	}, &out)
	return out.Count
}

// HashKV gives the hash at the newest revision, and the compacted revision, as
// the release's own etcdctl tells them.
func (s *Server) HashKV() (hash uint32, compacted int64) {
	s.tb.Helper()
	out, err := child(s.program("etcdctl"), "--endpoints", s.URL, "endpoint", "hashkv", "-w", "json").Output()
	var answers []struct {
		HashKV struct {
			Hash    uint32 `json:"hash"`
			Compact int64  `json:"compact_revision"`
		}
	}
	if err == nil {
		err = json.Unmarshal(out, &answers)
	}
	if err != nil || len(answers) != 1 {
		s.tb.Fatalf("etcdctl endpoint hashkv: %v: %s", err, out)
	}
	return answers[0].HashKV.Hash, answers[0].HashKV.Compact
}

// A Status is what a server says of itself.
type Status struct {
	Header      Header
	Version     string
	RaftApplied uint64 `json:"raftAppliedIndex,string"`
}

// Status asks for it.
func (s *Server) Status() Status {
	s.tb.Helper()
	var out Status
	s.Call("maintenance/status", map[string]any{}, &out)
	return out
}

// Snapshot takes a snapshot with the release's own etcdctl.
func (s *Server) Snapshot() []byte {
	s.tb.Helper()
	name := filepath.Join(s.tb.TempDir(), "snapshot.db")
	c := child(s.program("etcdctl"), "--endpoints", s.URL, "snapshot", "save", name)
	if out, err := c.CombinedOutput(); err != nil {
		s.tb.Fatalf("etcdctl snapshot save: %v: %s", err, out)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		s.tb.Fatal(err)
	}
	return b
}

// Restore restores a snapshot with the release's own tool, and gives the data
// directory.
func (r Release) Restore(tb testing.TB, snapshot []byte) (dir string, err error) {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "snapshot.db")
	if err := os.WriteFile(file, snapshot, 0o600); err != nil {
		tb.Fatal(err)
	}
	dir = filepath.Join(tb.TempDir(), "restored")
	tool := "etcdutl"
	if r.Minor == "3.4" {
		tool = "etcdctl"
	}
	out, err := child(r.program(tool), "snapshot", "restore", file, "--data-dir", dir).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s snapshot restore: %w: %s", tool, err, out)
	}
	return dir, nil
}

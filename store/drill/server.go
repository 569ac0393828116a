package drill

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"
)

// clientSocket and peerSocket are files in the scratch directory. etcd 3.4 wants a
// port in the name of a socket.
const (
	clientSocket = "client:0"
	peerSocket   = "peer:0"
)

// A server is a restored etcd that runs.
type server struct {
	dir   string // where its sockets are
	tools Tools
	http  *http.Client
	log   *tail
	ended chan error
	stop  context.CancelFunc
}

// start starts etcd on a restored directory below dir.
func start(ctx context.Context, t Tools, dir string) (*server, error) {
	ctx, stop := context.WithCancel(ctx)
	s := &server{dir: dir, tools: t, log: new(tail), ended: make(chan error, 1), stop: stop}
	c := command(ctx, t.Etcd, "--name", memberName, "--data-dir", dataDir, "--force-new-cluster",
		"--listen-client-urls", "unix://"+clientSocket, "--advertise-client-urls", "unix://"+clientSocket,
		"--listen-peer-urls", "unix://"+peerSocket, "--initial-advertise-peer-urls", "unix://"+peerSocket,
		"--initial-cluster", memberName+"=unix://"+peerSocket)
	c.Dir = dir
	c.Stdout, c.Stderr = s.log, s.log
	if err := c.Start(); err != nil {
		stop()
		return nil, err
	}
	go func() { s.ended <- c.Wait() }()
	s.http = &http.Client{Timeout: 5 * time.Minute, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, clientSocket))
		},
	}}
	return s, nil
}

// close ends the server and waits for that.
func (s *server) close() {
	s.stop()
	s.http.CloseIdleConnections()
	<-s.ended
}

// A dead server ended before it was told to.
type dead struct {
	err error
	log string
}

func (d *dead) Error() string {
	return fmt.Sprintf("etcd ended (%v); %s", d.err, lastWords(d.log))
}

// ready waits until the server answers. What it answers there is that it has a
// leader and can commit.
func (s *server) ready(ctx context.Context) error {
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	last := errors.New("it was not asked")
	for {
		select {
		case err := <-s.ended:
			s.ended <- nil // for close
			return &dead{err, s.log.String()}
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
				return fmt.Errorf("etcd did not become ready in time (%w); %s", last, lastWords(s.log.String()))
			}
			return context.Cause(ctx)
		case <-every.C:
		}
		if _, last = s.count(ctx, 0); last == nil {
			return nil
		}
	}
}

// A counted is what a server says of its keys.
type counted struct {
	revision int64 // its newest
	keys     int64 // at the revision that was asked about
}

// count counts all keys at a revision; 0 is the newest.
func (s *server) count(ctx context.Context, revision int64) (counted, error) {
	all := base64.StdEncoding.EncodeToString([]byte{0})
	var out struct {
		Header struct {
			Revision int64 `json:",string"`
		}
		Count int64 `json:",string"`
	}
	err := s.call(ctx, "kv/range", map[string]any{"key": all, "range_end": all, "count_only": true, "revision": strconv.FormatInt(revision, 10)}, &out)
	return counted{out.Header.Revision, out.Count}, err
}

// hashKV gives the hash of all keys up to a revision. etcd has it in its gateway
// since 3.5; of 3.4 only etcdctl can ask.
func (s *server) hashKV(ctx context.Context, revision int64) (uint32, error) {
	var out struct{ Hash uint32 }
	err := s.call(ctx, "maintenance/hashkv", map[string]any{"revision": strconv.FormatInt(revision, 10)}, &out)
	if !errors.Is(err, errNoCall) {
		return out.Hash, err
	}
	if s.tools.Etcdctl == "" {
		return 0, fmt.Errorf("this etcd tells HashKV to etcdctl alone, and there is no etcdctl %s", minorOf(s.tools.Version))
	}
	var answers []struct {
		HashKV struct {
			Hash uint32 `json:"hash"`
		}
	}
	said, err := run(ctx, s.dir, s.tools.Etcdctl, "--endpoints", "unix://"+clientSocket, "--command-timeout", "5m", "endpoint", "hashkv", "--rev", strconv.FormatInt(revision, 10), "-w", "json")
	if err == nil {
		err = json.Unmarshal([]byte(said), &answers)
	}
	if err != nil || len(answers) != 1 {
		return 0, fmt.Errorf("etcdctl endpoint hashkv: %v; %s", err, lastWords(said))
	}
	return answers[0].HashKV.Hash, nil
}

// errNoCall says that the gateway has no such call.
var errNoCall = errors.New("this etcd has no such call")

// call makes a call of etcd's gateway (etcd's API guide, "gRPC gateway").
func (s *server) call(ctx context.Context, method string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://etcd/v3/"+method, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusNotFound:
		return errNoCall
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("etcd answers %s: HTTP %d: %.300s", method, resp.StatusCode, answer)
	}
	return json.Unmarshal(answer, out)
}

// Package rgwtest runs a real Ceph object gateway (RGW) for tests, and fills
// it. It is the second opinion on what S3 does, after storetest.Fake. Only
// tests import it.
//
// The gateway is Debian's: apt-get install ceph-mon ceph-osd radosgw. Where it
// is not installed tests are skipped, or with BACKSTOP_REQUIRE_REAL=1 fail.
package rgwtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"backstop/store/storetest/child"
)

// startLimit bounds the start, which takes 15 to 35 seconds on two busy cores.
const startLimit = 120 * time.Second

// An RGW is a running gateway with one monitor and one object store behind it,
// which keep everything in memory and in a folder of their own.
type RGW struct {
	// Endpoint is the gateway's URL. It listens on the loopback interface.
	Endpoint string
	// AccessKey and SecretKey are those of a user who may do everything with
	// his own buckets.
	AccessKey, SecretKey string

	dir     string
	daemons []*exec.Cmd
}

var shared struct {
	sync.Mutex
	rgw *RGW
	err error
}

// Shared gives the gateway that all tests of a test binary use, and starts it
// for the first of them. [Stop] ends it.
func Shared(tb testing.TB) *RGW {
	tb.Helper()
	need(tb)
	shared.Lock()
	defer shared.Unlock()
	if shared.rgw == nil && shared.err == nil {
		shared.rgw, shared.err = start("")
	}
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	return shared.rgw
}

// Stop ends the shared gateway, if it runs. Call it in TestMain, after the
// tests. The daemons of a test binary that is killed die with it.
func Stop() {
	shared.Lock()
	defer shared.Unlock()
	if shared.rgw != nil {
		shared.rgw.stop()
		shared.rgw = nil
	}
}

// OneList is configuration for [StartRGW] with which lifecycle is executed fast:
// one list of buckets in place of 32, and one worker. See [Client.RunLifecycle].
const OneList = "rgw_lc_max_objs = 1\nrgw_lc_max_wp_worker = 1\n"

// StartRGW starts a gateway for the time of one test, with more lines in the
// [client] section of its configuration.
func StartRGW(tb testing.TB, conf string) *RGW {
	tb.Helper()
	need(tb)
	g, err := start(conf)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(g.stop)
	return g
}

// need skips a test where Ceph is not installed.
func need(tb testing.TB) {
	tb.Helper()
	for _, program := range []string{"monmaptool", "ceph", "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin"} {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		missing(tb, program, "skipped real part: Ceph RGW (apt-get install ceph-mon ceph-osd radosgw)")
	}
}

func missing(tb testing.TB, what, line string) {
	tb.Helper()
	if os.Getenv("BACKSTOP_REQUIRE_REAL") == "1" {
		tb.Fatalf("%s is not installed: %s", what, line)
	}
	tb.Skip(line)
}

// conf is the configuration of a cluster of one node. What is not for speed or
// for thrift:
//
//   - Without authentication the monitor must not be asked for an encrypted
//     session, or the gateway waits for one for ever: ms_mon_client_mode.
//   - A pool with one copy must be allowed.
//   - There is no manager daemon; nothing here needs one.
//   - The bucket index has one shard, as in a small installation.
const conf = `[global]
fsid = %[1]s
mon_host = [v2:127.0.0.1:%[4]d,v1:127.0.0.1:%[5]d]
public_network = 127.0.0.0/8
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
ms_bind_ipv6 = false
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_mon_client_mode = crc
ms_mon_service_mode = crc
ms_mon_cluster_mode = crc
keyring = %[2]s/keyring
run_dir = %[2]s/run
admin_socket = %[2]s/run/$name.$pid.asok
log_file = %[2]s/log/$name.log
crash_dir = %[2]s/log
mon_allow_pool_size_one = true
mon_data_avail_warn = 1
mon_data_avail_crit = 1
mon_max_pg_per_osd = 1000
osd_crush_chooseleaf_type = 0
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 2
osd_pool_default_pgp_num = 2
osd_pool_default_pg_autoscale_mode = off
[mon]
mon_data = %[2]s/mon
mon_cluster_log_file = %[2]s/log/cluster.log
[osd]
osd_data = %[2]s/osd
osd_objectstore = memstore
memstore_device_bytes = 1073741824
osd_class_load_list = *
osd_class_default_list = *
[client]
rgw_frontends = beast endpoint=127.0.0.1:%[3]d
rgw_dns_name = localhost
rgw_enable_usage_log = false
rgw_run_sync_thread = false
rgw_enable_lc_threads = false
rgw_override_bucket_index_max_shards = 1
rgw_thread_pool_size = 32
`

// start makes a cluster in a new folder, because a used one hangs it.
func start(conf string) (*RGW, error) {
	dir, err := os.MkdirTemp("", "backstop-rgw-")
	if err != nil {
		return nil, err
	}
	g := &RGW{AccessKey: "testkey", SecretKey: "testsecret", dir: dir}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	if err := g.up(ctx, conf); err != nil {
		err = fmt.Errorf("start Ceph RGW: %w%s", err, g.lastWords())
		g.stop()
		return nil, err
	}
	return g, nil
}

func (g *RGW) up(ctx context.Context, more string) error {
	for _, d := range []string{"mon", "osd", "run", "log"} {
		if err := os.MkdirAll(filepath.Join(g.dir, d), 0o755); err != nil {
			return err
		}
	}
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	fsid, osdID := uuid(), uuid()
	text := fmt.Sprintf(conf, fsid, g.dir, ports[0], ports[1], ports[2]) + more
	if err := errors.Join(
		os.WriteFile(g.file("ceph.conf"), []byte(text), 0o644),
		os.WriteFile(g.file("keyring"), nil, 0o644),
	); err != nil {
		return err
	}
	g.Endpoint = fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	monmap := g.file("monmap")
	steps := []func() error{
		g.run(ctx, "monmaptool", "--create", "--clobber", "--fsid", fsid, "--addv", "a", fmt.Sprintf("[v2:127.0.0.1:%d,v1:127.0.0.1:%d]", ports[1], ports[2]), monmap),
		g.run(ctx, "ceph-mon", "--mkfs", "-i", "a", "--monmap", monmap),
		g.daemon("ceph-mon", "-f", "-i", "a"),
		g.run(ctx, "ceph", "--connect-timeout", "30", "osd", "new", osdID),
		g.run(ctx, "ceph-osd", "--mkfs", "-i", "0", "--osd-uuid", osdID),
		g.daemon("ceph-osd", "-f", "-i", "0"),
		func() error {
			return until(ctx, "the object store is up", func() bool {
				out, err := g.command(ctx, "ceph", "--connect-timeout", "10", "osd", "stat")
				return err == nil && strings.Contains(out, "1 up")
			})
		},
		func() error {
			// The first call makes the pools, and on a busy machine gives up
			// before they can be written to.
			var last error
			err := until(ctx, "there is a user", func() bool {
				_, last = g.command(ctx, "radosgw-admin", "user", "create", "--uid", "test", "--display-name", "test", "--access-key", g.AccessKey, "--secret-key", g.SecretKey)
				return last == nil || strings.Contains(last.Error(), "exists")
			})
			if err != nil {
				return fmt.Errorf("%w: %w", err, last)
			}
			return nil
		},
		g.daemon("radosgw", "-f", "-n", "client.rgw"),
		func() error {
			return until(ctx, "the gateway answers", func() bool { return answers(g.Endpoint) })
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (g *RGW) file(name string) string { return filepath.Join(g.dir, name) }

// run is a step that runs a program to its end.
func (g *RGW) run(ctx context.Context, program string, args ...string) func() error {
	return func() error {
		_, err := g.command(ctx, program, args...)
		return err
	}
}

// command runs a program of Ceph's on the cluster and gives its standard
// output.
func (g *RGW) command(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, append([]string{"-c", g.file("ceph.conf")}, args...)...)
	if program == "monmaptool" {
		cmd.Args = append([]string{program}, args...) // it knows no -c
	}
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := child.Start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return out.String(), fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, errs.String())
	}
	return out.String(), nil
}

// daemon is a step that starts a program which stays.
func (g *RGW) daemon(program string, args ...string) func() error {
	return g.daemonIn(nil, program, args...)
}

// daemonIn is daemon with an environment; nil is the process's own.
func (g *RGW) daemonIn(env []string, program string, args ...string) func() error {
	return func() error {
		log, err := os.Create(g.file(fmt.Sprintf("log/%s-%d.out", program, len(g.daemons))))
		if err != nil {
			return err
		}
		defer log.Close()
		cmd := exec.Command(program, append([]string{"-c", g.file("ceph.conf")}, args...)...)
		cmd.Stdout, cmd.Stderr, cmd.Env = log, log, env
		if err := child.Start(cmd); err != nil {
			return err
		}
		g.daemons = append(g.daemons, cmd)
		return nil
	}
}

// stop ends the daemons, the gateway first, and removes their folder. They
// have nothing to save.
func (g *RGW) stop() {
	for i := len(g.daemons) - 1; i >= 0; i-- {
		child.End(g.daemons[i])
	}
	_ = os.RemoveAll(g.dir) // it lies below the system's temporary folder
}

// lastWords gives the end of each daemon's output.
func (g *RGW) lastWords() string {
	var s strings.Builder
	files, _ := filepath.Glob(g.file("log/*.out"))
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && len(b) > 0 {
			fmt.Fprintf(&s, "\n%s: %s", filepath.Base(f), b[max(0, len(b)-1000):])
		}
	}
	return s.String()
}

// Admin runs radosgw-admin with these arguments and gives its output.
func (g *RGW) Admin(tb testing.TB, args ...string) string {
	tb.Helper()
	out, err := g.command(tb.Context(), "radosgw-admin", args...)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// AdminAt is Admin with the clock moved by an offset, as "+3d". With the
// arguments "lc", "process" it executes the lifecycle rules of all buckets as
// they would be executed then. It skips the test where libfaketime is not
// installed.
func (g *RGW) AdminAt(tb testing.TB, offset string, args ...string) string {
	tb.Helper()
	env := moved(tb, offset)
	cmd := exec.CommandContext(tb.Context(), "radosgw-admin", append([]string{"-c", g.file("ceph.conf")}, args...)...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("radosgw-admin %s at %s: %v: %s", strings.Join(args, " "), offset, err, out)
	}
	return string(out)
}

// until asks ten times a second whether something has come about.
func until(ctx context.Context, what string, ready func() bool) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, ctx.Err())
		}
	}
	return nil
}

// freePorts gives ports that nobody listens on. The kernel hands them out in
// an order of its own, so that another process gets others.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func uuid() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/rules/preflight"
	"backstop/store/charm/charmtest"
	"backstop/store/snapshot/etcdtest"
)

// preflightJSON runs preflight and parses what it says.
func preflightJSON(t *testing.T, now time.Time, args ...string) (r preflight.Report, code int) {
	t.Helper()
	got := command(t, now, append([]string{"preflight", "-o", "json"}, args...)...)
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatalf("exit %d, %v\n%s%s", got.code, err, got.stdout, got.stderr)
	}
	return r, got.code
}

func ids(r preflight.Report) []string {
	all := []string{}
	for _, f := range r.Findings {
		all = append(all, f.ID)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A realUnit is a unit with a real etcd's data of old times in etcd0.etcd.
type realUnit struct {
	etcdtest.Release
	client, peer string
	old          string // the data directory that was in use
	status       etcdtest.Status
	keys         int64
}

// lived runs an etcd as the charm configures it, writes keys, and stops it.
func lived(t *testing.T) realUnit {
	u := realUnit{Release: etcdtest.Find(t, "3.4"), client: etcdtest.FreeURL(t), peer: etcdtest.FreeURL(t), old: filepath.Join(t.TempDir(), "etcd0.etcd"), keys: 6}
	run, ended := u.RunConfig(t, u.conf(t, t.TempDir(), u.old, true, "ABC123", "new"), u.client)
	if ended {
		t.Fatal(run.Log())
	}
	for i := range u.keys {
		run.Txn(etcdtest.Op{Key: fmt.Sprintf("/registry/pods/default/p%d", i), Value: []byte("a pod")})
	}
	u.status = run.Status()
	run.Stop()
	return u
}

// conf writes an etcd.conf.yml.
func (u realUnit) conf(t *testing.T, dir, data string, cluster bool, token, state string) string {
	t.Helper()
	c := charmtest.Conf{Name: "etcd0", DataDir: data, Token: token, State: state, Client: u.client, Peer: u.peer}
	if cluster {
		c.Cluster = "etcd0=" + u.peer
	}
	name := filepath.Join(dir, "etcd.conf.yml")
	body := append(charmtest.Template(c), "\n# By which the test writes and counts keys.\nenable-grpc-gateway: true\n"...)
	if err := os.WriteFile(name, body, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// What etcd does with a configuration that the charm has rewritten, as the table in
// docs/charm.md has it. preflight says so from the files alone, before etcd is
// started; then a real etcd is started on the same files.
func TestRealStarts(t *testing.T) {
	u := lived(t)
	type want struct {
		outcome preflight.Outcome
		verdict preflight.Verdict
		ids     []string
	}
	for name, c := range map[string]struct {
		data         string // below current
		cluster      bool
		token, state string
		want
		observed string // what etcd does: refuses, empty, data
		sameIDs  bool
	}{
		"A1": {".", false, "XYZ789", "existing", want{preflight.Refuses, preflight.NotSafe, []string{"CH1", "CH4", "CH5"}}, "refuses", false},
		"A2": {".", false, "XYZ789", "new", want{preflight.Empty, preflight.NotSafe, []string{"CH1", "CH4", "CH5"}}, "empty", false},
		"A3": {"etcd0.etcd", false, "XYZ789", "existing", want{preflight.WithData, preflight.NotSafe, []string{"CH3", "CH4", "CH5"}}, "data", true},
		"A4": {"etcd0.etcd", true, "XYZ789", "new", want{preflight.WithData, preflight.NotSafe, []string{"CH3", "CH5"}}, "data", true},
		"A5": {".", true, "ABC123", "new", want{preflight.Empty, preflight.NotSafe, []string{"CH1"}}, "empty", true},
	} {
		t.Run(name, func(t *testing.T) {
			common, current := t.TempDir(), t.TempDir()
			if err := os.CopyFS(filepath.Join(current, "etcd0.etcd"), os.DirFS(u.old)); err != nil {
				t.Fatal(err)
			}
			before := u.conf(t, t.TempDir(), u.old, true, "ABC123", "existing")
			conf := u.conf(t, common, filepath.Join(current, c.data), c.cluster, c.token, c.state)
			r, code := preflightJSON(t, time.Now(), "--conf", conf, "--data", current, "--before", before)
			if code != 2 || r.Verdict != c.verdict || len(r.Units) != 1 || r.Units[0].Start.Outcome != c.outcome || !slices.Equal(ids(r), c.ids) {
				t.Errorf("exit %d, preflight says %+v", code, r)
			}
			run, ended := u.RunConfig(t, conf, u.client)
			if ended != (c.observed == "refuses") {
				t.Fatalf("ended: %t\n%s", ended, run.Log())
			}
			if ended {
				if !strings.Contains(run.Log(), "cannot fetch cluster info from peer urls") {
					t.Errorf("another refusal:\n%s", run.Log())
				}
				u.leftOver(t, conf, current, before)
				return
			}
			got, keys := run.Status(), run.Count("")
			run.Stop()
			if hasData := keys == u.keys && got.Header.Revision == u.status.Header.Revision; hasData != (c.observed == "data") || !hasData && (keys != 0 || got.Header.Revision != 1) {
				t.Errorf("%d keys at revision %d, want %s", keys, got.Header.Revision, c.observed)
			}
			same := got.Header.ClusterID == u.status.Header.ClusterID && got.Header.MemberID == u.status.Header.MemberID
			if same != c.sameIDs {
				t.Errorf("ids %x, %x; before %x, %x", got.Header.ClusterID, got.Header.MemberID, u.status.Header.ClusterID, u.status.Header.MemberID)
			}
			// After the accident the empty database is there, and is told from the data.
			after, code := preflightJSON(t, time.Now(), "--conf", conf, "--data", current)
			if code != 2 || after.Units[0].Start.Outcome != c.outcome {
				t.Errorf("afterwards: exit %d, %+v", code, after)
			}
		})
	}
}

// leftOver looks at what a start leaves that has failed: a database of 16 MB and
// not one key. It is taken for no data, and so is the next start for a failure.
func (u realUnit) leftOver(t *testing.T, conf, current, before string) {
	info, err := os.Stat(filepath.Join(current, "member", "snap", "db"))
	if err != nil || info.Size() < 16<<20 {
		t.Logf("the failed start of this etcd leaves no database: %v", err)
	}
	r, code := preflightJSON(t, time.Now(), "--conf", conf, "--data", current, "--before", before)
	if code != 2 || r.Units[0].Start.Outcome != preflight.Refuses || !slices.Equal(ids(r), []string{"CH1", "CH4", "CH5"}) {
		t.Errorf("after the failed start: exit %d, %+v", code, r)
	}
}

// A healthy unit is SAFE, and so it is while etcd runs. Its etcd then starts with
// its data.
func TestRealHealthyUnit(t *testing.T) {
	u := lived(t)
	common, current := t.TempDir(), t.TempDir()
	if err := os.CopyFS(current, os.DirFS(u.old)); err != nil {
		t.Fatal(err)
	}
	conf := u.conf(t, common, current, true, "ABC123", "existing")
	r, code := preflightJSON(t, time.Now(), "--conf", conf, "--data", current)
	if code != 0 || r.Verdict != preflight.Safe || r.Units[0].Start.Outcome != preflight.WithData || len(r.Findings) != 0 || len(r.Unseen) != 0 {
		t.Errorf("exit %d, %+v", code, r)
	}
	run, ended := u.RunConfig(t, conf, u.client)
	if ended || run.Count("") != u.keys {
		t.Fatalf("ended: %t\n%s", ended, run.Log())
	}
	if r, code := preflightJSON(t, time.Now(), "--conf", conf, "--data", current); code != 0 {
		t.Errorf("while it runs: exit %d, %+v", code, r)
	}
}

package snapshot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"backstop/store/snapshot"
	"backstop/store/snapshot/etcdtest"
	"backstop/store/snapshot/snapshottest"
)

// oracle reports whether the long comparisons are wanted: `make oracle`.
func oracle() bool { return os.Getenv("BACKSTOP_ORACLE") != "" }

// resourcesWritten are what fill writes to.
var resourcesWritten = []string{"pods", "events", "configmaps", "apps.example.com/things", "services/specs"}

// fill writes what Kubernetes would: many objects, changed and deleted, some with
// a lease, one large, and compacts what is old.
func fill(s *etcdtest.Server, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	var keys []string
	lease := s.Grant(36000)
	s.Grant(36000) // one that no key has
	revision := int64(0)
	for n := range 40 {
		var ops []etcdtest.Op
		touched := map[string]bool{}
		for range 1 + r.IntN(60) {
			dice := r.IntN(10)
			key := fmt.Sprintf("/registry/%s/ns-%d/%x", resourcesWritten[r.IntN(len(resourcesWritten))], r.IntN(5), r.Uint64())
			if dice > 5 && len(keys) > 20 {
				key = keys[r.IntN(len(keys))]
			}
			if touched[key] {
				continue
			}
			touched[key] = true
			if dice > 8 {
				ops = append(ops, etcdtest.Op{Key: key})
				continue
			}
			op := etcdtest.Op{Key: key, Value: bytes.Repeat([]byte{byte(r.Uint32())}, 200+r.IntN(9000))}
			if dice == 0 {
				op.Lease = lease
			}
			ops = append(ops, op)
			keys = append(keys, key)
		}
		revision = s.Txn(ops...)
		if n == 30 {
			s.Compact(revision - 7)
		}
	}
	s.Txn(etcdtest.Op{Key: "/registry/configmaps/ns-0/large", Value: bytes.Repeat([]byte("large "), 200_000)})
	s.Txn(etcdtest.Op{Key: "elsewhere/a", Value: []byte("x")}, etcdtest.Op{Key: "/registry/alone", Value: []byte{}})
}

// releases are those whose snapshots are compared with what their servers and
// etcdutl say.
func releases() []string {
	if oracle() {
		return []string{"3.4", "3.5", "3.6", "3.7"}
	}
	return []string{"3.4", "3.6"}
}

// The facts of snapshots that real servers make now.
func TestRealServers(t *testing.T) {
	for _, minor := range releases() {
		t.Run(minor, func(t *testing.T) {
			release := etcdtest.Find(t, minor)
			t.Run("empty", func(t *testing.T) { compare(t, release.Start(t)) })
			t.Run("filled", func(t *testing.T) {
				s := release.Start(t)
				fill(s, 7)
				compare(t, s)
			})
			t.Run("deleted", func(t *testing.T) {
				s := release.Start(t)
				s.Txn(etcdtest.Op{Key: "a", Value: []byte("1")}, etcdtest.Op{Key: "b", Value: []byte("2")})
				s.Compact(s.Txn(etcdtest.Op{Key: "a"}))
				compare(t, s)
				s.Compact(s.Txn(etcdtest.Op{Key: "b"}))
				compare(t, s)
				s.Compact(s.Txn(etcdtest.Op{Key: "c", Value: []byte("3")}))
				s.Txn(etcdtest.Op{Key: "c"})
				compare(t, s)
			})
		})
	}
}

// compare holds the facts of a snapshot to what its server says of itself, and
// to etcdutl's.
func compare(t *testing.T, s *etcdtest.Server) {
	t.Helper()
	b := s.Snapshot()
	got := verify(snapshottest.Gzip(b))
	f := got.Facts
	if f == nil {
		t.Fatalf("%s: %s", got.Verdict, got.Reason)
	}
	equal := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	st := s.Status()
	keys := s.Count("")
	hash, compacted := s.HashKV()
	equal("keys", f.Keys, keys)
	equal("verdict", got.Verdict == snapshot.Intact, keys > 0)
	equal("member", f.Members[0].ID, strconv.FormatUint(st.Header.MemberID, 16))
	equal("derived cluster id", f.DerivedClusterID, strconv.FormatUint(st.Header.ClusterID, 16))
	equal("compacted revision", f.CompactRevision, max(0, compacted))
	// Compaction removes what a deletion left, up to the newest record.
	equal("revision", max(1, f.Revision, f.CompactRevision), st.Header.Revision)
	if s.Minor != "3.4" {
		equal("term", f.Term, st.Header.RaftTerm)
		equal("applied index", f.ConsistentIndex, st.RaftApplied)
	}
	// Promised for 3.6 alone.
	if s.Minor == "3.6" {
		equal("HashKV", f.HashKV, hash)
	} else if f.HashKV != hash {
		t.Logf("HashKV: etcd %s says %d, and 3.6 would say %d", s.Minor, hash, f.HashKV)
	}
	byName := map[string]int64{}
	for _, r := range f.Resources {
		byName[r.Name] = r.Keys
	}
	for _, r := range resourcesWritten {
		equal(r, byName[r], s.Count("/registry/"+r+"/"))
	}
	compareStatus(t, b, f)
}

// compareStatus holds facts to those of `etcdutl snapshot status` 3.6, which is
// the first to count live keys.
func compareStatus(t *testing.T, b []byte, f *snapshot.Facts) {
	t.Helper()
	minors := []string{"3.6"}
	if oracle() {
		minors = append(minors, "3.7")
	}
	for _, minor := range minors {
		st, err := status(t, etcdtest.Find(t, minor), b)
		if err != nil {
			t.Fatal(err)
		}
		want := utlStatus{f.Hash, f.Revision, f.Keys, f.Size, f.StorageVersion}
		if st != want {
			t.Errorf("etcdutl %s says %+v, we %+v", minor, st, want)
		}
	}
}

// utlStatus is what etcdutl says of a snapshot.
type utlStatus struct {
	Hash      uint32
	Revision  int64
	TotalKey  int64
	TotalSize int64
	Version   string
}

// status asks etcdutl about a snapshot.
func status(t *testing.T, r etcdtest.Release, b []byte) (st utlStatus, err error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "snapshot.db")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	c := r.Etcdutl("snapshot", "status", "-w", "json", name)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return st, fmt.Errorf("etcdutl snapshot status: %w: %.300s", err, errs.String())
	}
	return st, json.Unmarshal(out.Bytes(), &st)
}

// A server that was restored has the hash that the snapshot was said to give.
func TestHashKVAfterRestore(t *testing.T) {
	release := etcdtest.Find(t, "3.6")
	from := []string{"3.4", "3.6"}
	for _, minor := range from {
		t.Run(minor, func(t *testing.T) {
			s := etcdtest.Find(t, minor).Start(t)
			fill(s, 8)
			b := s.Snapshot()
			f := verify(b).Facts
			dir, err := release.Restore(t, b)
			if err != nil {
				t.Fatal(err)
			}
			restored := release.StartOn(t, dir)
			hash, _ := restored.HashKV()
			if hash != f.HashKV || restored.Count("") != f.Keys || restored.Status().Header.Revision != f.Revision {
				t.Errorf("restored: hash %d, %d keys, revision %d; the facts are %d, %d, %d",
					hash, restored.Count(""), restored.Status().Header.Revision, f.HashKV, f.Keys, f.Revision)
			}
		})
	}
}

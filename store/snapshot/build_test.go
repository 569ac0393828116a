package snapshot_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"backstop/store/snapshot"
	"backstop/store/snapshot/snapshottest"
)

// A maker makes databases with bbolt itself, as etcd would have.
type maker struct {
	*testing.T
	db   *bolt.DB
	main int64
}

var bucketNames = []string{"alarm", "auth", "authRoles", "authUsers", "cluster", "key", "lease", "members", "members_removed", "meta"}

func makeDB(t *testing.T, pageSize int) *maker {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "db"), 0o600, &bolt.Options{PageSize: pageSize, NoFreelistSync: true, NoSync: true, FreelistType: bolt.FreelistMapType})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	m := &maker{T: t, db: db}
	m.update(func(tx *bolt.Tx) error {
		for _, name := range bucketNames {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return tx.Bucket([]byte("meta")).Put([]byte("consistent_index"), binary.BigEndian.AppendUint64(nil, 7))
	})
	return m
}

func (m *maker) update(do func(tx *bolt.Tx) error) {
	m.Helper()
	if err := m.db.Update(do); err != nil {
		m.Fatal(err)
	}
}

// put puts one entry into a bucket.
func (m *maker) put(bucket, key, value string) {
	m.Helper()
	m.update(func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucket)).Put([]byte(key), []byte(value)) })
}

// write puts a key at a new revision, or deletes it where value is nil.
func (m *maker) write(tx *bolt.Tx, key string, value []byte) error {
	m.main++
	k := revisionKey(m.main, 0)
	if value == nil {
		return tx.Bucket([]byte("key")).Put(append(k, 't'), field(nil, 1, []byte(key)))
	}
	return tx.Bucket([]byte("key")).Put(k, keyValue(key, m.main, value))
}

func revisionKey(main int64, sub uint64) []byte {
	k := binary.BigEndian.AppendUint64(nil, uint64(main))
	return binary.BigEndian.AppendUint64(append(k, '_'), sub)
}

func field(b []byte, n uint64, v []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(b, n<<3|2), uint64(len(v))), v...)
}

func keyValue(key string, mod int64, value []byte) []byte {
	b := field(nil, 1, []byte(key))
	for n, v := range map[uint64]int64{2: mod, 3: mod, 4: 1} {
		b = binary.AppendUvarint(binary.AppendUvarint(b, n<<3), uint64(v))
	}
	return field(b, 5, value)
}

// snapshot gives the database as a snapshot, after bbolt has found nothing wrong
// with it.
func (m *maker) snapshot() []byte {
	m.Helper()
	var b bytes.Buffer
	err := m.db.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			m.Errorf("bbolt: %v", err)
		}
		_, err := tx.WriteTo(&b)
		return err
	})
	if err != nil {
		m.Fatal(err)
	}
	return snapshottest.Seal(b.Bytes())
}

// counted is what a database holds, found in the simplest way.
type counted struct {
	hash                                           uint32
	revision, keys, revisions, tombstones, keyByte int64
}

func (m *maker) count() (c counted) {
	m.Helper()
	newest := map[string]int64{}
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	err := m.db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			h.Write(name)
			return b.ForEach(func(k, v []byte) error {
				h.Write(k)
				h.Write(v)
				if string(name) != "key" {
					return nil
				}
				c.revision = int64(binary.BigEndian.Uint64(k))
				c.revisions++
				n, w := binary.Uvarint(v[1:])
				key := string(v[1+w : 1+w+int(n)])
				newest[key] = int64(len(k) + len(v))
				if len(k) == 18 {
					c.tombstones++
					delete(newest, key)
				}
				return nil
			})
		})
	})
	if err != nil {
		m.Fatal(err)
	}
	c.hash, c.keys = h.Sum32(), int64(len(newest))
	for _, n := range newest {
		c.keyByte += n
	}
	return c
}

// holds verifies the snapshot, gzipped and plain, and holds its facts to the
// count.
func (m *maker) holds() *snapshot.Facts {
	m.Helper()
	b := m.snapshot()
	got := verify(b)
	f := got.Facts
	if f == nil {
		m.Fatalf("%s: %s", got.Verdict, got.Reason)
	}
	if c := (counted{f.Hash, f.Revision, f.Keys, f.Revisions, f.Tombstones, f.KeyBytes}); c != m.count() {
		m.Errorf("got %+v, want %+v", c, m.count())
	}
	return f
}

// Databases of every page size whose pages were used again and again, with values
// that take many pages, so that free pages hold all sorts of old copies.
func TestPagesUsedAgain(t *testing.T) {
	for _, size := range []int{1 << 10, 4 << 10, 16 << 10, 64 << 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			m := makeDB(t, size)
			r := rand.New(rand.NewPCG(uint64(size), 3))
			var old [][]byte
			for n := range 60 {
				m.update(func(tx *bolt.Tx) error {
					for range 1 + r.IntN(30) {
						value := bytes.Repeat([]byte{byte(n)}, r.IntN(3000))
						if r.IntN(20) == 0 {
							value = bytes.Repeat([]byte{2, 0, 16}, r.IntN(120_000))
						}
						if r.IntN(8) == 0 {
							value = nil
						}
						if err := m.write(tx, fmt.Sprintf("/registry/things/%d", r.IntN(400)), value); err != nil {
							return err
						}
						k := revisionKey(m.main, 0)
						if value == nil {
							k = append(k, 't')
						}
						old = append(old, k)
					}
					for len(old) > 600 { // as compaction does
						i := r.IntN(len(old) / 2)
						if err := tx.Bucket([]byte("key")).Delete(old[i]); err != nil {
							return err
						}
						old = append(old[:i], old[i+1:]...)
					}
					return tx.Bucket([]byte("meta")).Put([]byte("consistent_index"), binary.BigEndian.AppendUint64(nil, uint64(n)))
				})
				if n%30 == 29 {
					m.holds()
				}
			}
		})
	}
}

// A value of several megabytes reaches over many blocks of the stream.
func TestLargeValues(t *testing.T) {
	m := makeDB(t, 4096)
	for n := range 3 {
		m.update(func(tx *bolt.Tx) error {
			return m.write(tx, fmt.Sprint("k", n), bytes.Repeat([]byte{byte(n)}, (n+1)<<19))
		})
	}
	m.update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("key")).Delete(revisionKey(2, 0)) })
	for n := range 60 {
		m.update(func(tx *bolt.Tx) error { return m.write(tx, "small", []byte(fmt.Sprint(n))) })
	}
	m.holds()
}

// The bucket of buckets may need several pages.
func TestRootOfSeveralPages(t *testing.T) {
	m := makeDB(t, 4096)
	for n := range 40 {
		m.update(func(tx *bolt.Tx) error {
			b, err := tx.CreateBucket(fmt.Appendf(nil, "more%d", n))
			if err != nil {
				return err
			}
			return b.Put([]byte("k"), make([]byte, 700))
		})
		m.update(func(tx *bolt.Tx) error { return m.write(tx, fmt.Sprint("k", n), []byte("v")) })
	}
	f := m.holds()
	if f.Keys != 40 {
		t.Errorf("got %d keys", f.Keys)
	}
	want{snapshot.Restorable, snapshot.Remarked, `it has a bucket that this program does not know`}.check(t, verify(m.snapshot()))
}

// Thousands of leases fill pages of their own.
func TestManyLeases(t *testing.T) {
	m := makeDB(t, 4096)
	m.update(func(tx *bolt.Tx) error {
		for id := range uint64(5000) {
			v := binary.AppendUvarint([]byte{1 << 3}, id+1)
			v = append(binary.AppendUvarint(append(v, 2<<3), 3600), 3<<3, 9)
			if err := tx.Bucket([]byte("lease")).Put(binary.BigEndian.AppendUint64(nil, id+1), v); err != nil {
				return err
			}
		}
		return m.write(tx, "k", []byte("v"))
	})
	if f := m.holds(); f.Leases != 5000 {
		t.Errorf("got %d leases", f.Leases)
	}
	m.put("lease", "12345678", "no lease")
	want{snapshot.Damaged, snapshot.BadRecord, "is not the lease of its key"}.check(t, verify(m.snapshot()))
}

// What stands in the buckets, and what must be said of it.
func TestBuckets(t *testing.T) {
	tests := map[string]struct {
		do func(m *maker)
		want
	}{
		"nothing else":                   {func(*maker) {}, want{snapshot.Intact, "", ""}},
		"users who look like a revision": {func(m *maker) { m.put("authUsers", "etcduser_12345678", "x") }, want{snapshot.Intact, "", ""}},
		"no bucket of keys": {func(m *maker) {
			m.update(func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("key")) })
		}, want{snapshot.Damaged, snapshot.BadSchema, `it has no bucket "key"`}},
		"no bucket meta": {func(m *maker) {
			m.update(func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("meta")) })
		}, want{snapshot.Damaged, snapshot.BadSchema, `it has no bucket "meta"`}},
		"no bucket of leases": {func(m *maker) {
			m.update(func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("lease")) })
		}, want{snapshot.Restorable, snapshot.Remarked, "it lacks buckets that etcd has: lease"}},
		"a bucket in a bucket": {func(m *maker) {
			m.update(func(tx *bolt.Tx) error {
				_, err := tx.Bucket([]byte("auth")).CreateBucket([]byte("inner"))
				return err
			})
		}, want{snapshot.Damaged, snapshot.BadSchema, "etcd nests none"}},
		"a key that is no revision":   {func(m *maker) { m.put("key", "hello", "x") }, want{snapshot.Damaged, snapshot.BadRecord, `the key "hello" is no revision`}},
		"a value that is no KeyValue": {func(m *maker) { m.put("key", string(revisionKey(9, 0)), "not a protobuf") }, want{snapshot.Damaged, snapshot.BadRecord, "not the KeyValue of its revision"}},
		"a value of another revision": {func(m *maker) { m.put("key", string(revisionKey(9, 0)), string(keyValue("k", 8, nil))) }, want{snapshot.Damaged, snapshot.BadRecord, "not the KeyValue of its revision"}},
		"a value without a key":       {func(m *maker) { m.put("key", string(revisionKey(9, 0)), string(keyValue("", 9, nil))) }, want{snapshot.Damaged, snapshot.BadRecord, "not the KeyValue of its revision"}},
		"a bumped revision":           {func(m *maker) { m.put("key", string(revisionKey(1e9, 0)), "") }, want{snapshot.Intact, "", ""}},
		"a field of a newer etcd": {func(m *maker) {
			m.put("key", string(revisionKey(9, 0)), string(field(keyValue("k", 9, nil), 9, []byte("new"))))
		}, want{snapshot.Restorable, snapshot.Remarked, "1 values have fields"}},
		"a tombstone with a value":      {func(m *maker) { m.put("key", string(revisionKey(9, 0))+"t", string(keyValue("k", 9, nil))) }, want{snapshot.Damaged, snapshot.BadRecord, "a tombstone holds more"}},
		"a tombstone of nothing":        {func(m *maker) { m.put("key", string(revisionKey(9, 0))+"t", "") }, want{snapshot.Damaged, snapshot.BadRecord, "a tombstone holds more or less"}},
		"a sub revision that none has":  {func(m *maker) { m.put("key", string(revisionKey(9, 1<<40)), string(keyValue("k", 9, nil))) }, want{snapshot.Damaged, snapshot.BadRecord, "a revision that no etcd makes"}},
		"a short index":                 {func(m *maker) { m.put("meta", "consistent_index", "short") }, want{snapshot.Damaged, snapshot.BadRecord, "consistent_index has 5 bytes"}},
		"a short compaction":            {func(m *maker) { m.put("meta", "finishedCompactRev", "short") }, want{snapshot.Damaged, snapshot.BadRecord, "finishedCompactRev has 5 bytes"}},
		"the alarm of corruption":       {func(m *maker) { m.put("alarm", "\x08\x01\x10\x02", "") }, want{snapshot.Restorable, snapshot.Remarked, "the alarm CORRUPT was raised"}},
		"the alarm of space":            {func(m *maker) { m.put("alarm", "\x08\x01\x10\x01", "") }, want{snapshot.Restorable, snapshot.Remarked, "the alarm NOSPACE was raised"}},
		"a member that cannot be read":  {func(m *maker) { m.put("members", "abc", "{") }, want{snapshot.Restorable, snapshot.Remarked, "the entry of member"}},
		"authentication":                {func(m *maker) { m.put("auth", "authEnabled", "\x01") }, want{snapshot.Intact, "", ""}},
		"a key with terminal sequences": {func(m *maker) { m.put("key", "\x1b[31m", "x") }, want{snapshot.Damaged, snapshot.BadRecord, `"\x1b[31m"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := makeDB(t, 4096)
			m.update(func(tx *bolt.Tx) error { return m.write(tx, "k", []byte("v")) })
			test.do(m)
			test.check(t, verify(m.snapshot()))
		})
	}
}

func TestResources(t *testing.T) {
	m := makeDB(t, 4096)
	for _, key := range []string{
		"/registry/pods/default/a", "/registry/pods/default/b", "/registry/services/specs/default/a", "/registry/services/endpoints/default/a",
		"/registry/apps.example.com/things/default/a", "/registry/apiregistration.k8s.io/apiservices/v1.", "/registry/ranges/serviceips",
		"/registry/leases/kube-node-lease/n", "cilium/state/identities/1", "/calico/ipam/x", "plain", "/plain", "/registry/", "/registry/a.b/c",
		"/registry/" + strings.Repeat("x", 300) + "/y",
	} {
		m.update(func(tx *bolt.Tx) error { return m.write(tx, key, []byte("v")) })
	}
	got := map[string]int64{}
	for _, r := range m.holds().Resources {
		got[r.Name] = r.Keys
	}
	for name, n := range map[string]int64{
		"pods": 2, "services/specs": 1, "services/endpoints": 1, "apps.example.com/things": 1, "apiregistration.k8s.io/apiservices": 1,
		"ranges": 1, "leases": 1, "cilium": 1, "/calico": 1, "a.b": 1, "(other)": 4,
	} {
		if got[name] != n {
			t.Errorf("%s: got %d, want %d", name, got[name], n)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("and %v", got)
	}
}

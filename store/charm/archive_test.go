package charm_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	bolt "go.etcd.io/bbolt"

	"backstop/store/charm"
	"backstop/store/charm/charmtest"
	"backstop/store/snapshot"
	"backstop/store/snapshot/snapshottest"
)

// database is a copy of a member/snap/db: without the trailer, and grown ahead as
// bbolt does.
func database(t *testing.T, name string) []byte {
	whole := snapshottest.Plain(t, name)
	return append(whole[:len(whole)-snapshottest.TrailerSize:len(whole)-snapshottest.TrailerSize], make([]byte, 64<<10)...)
}

// Snapshots by the recipes of the charm, and what comes near them.
func TestReadArchives(t *testing.T) {
	live, empty := database(t, "healthy-v3.6"), database(t, "empty-fresh-v3.6")
	saved := snapshottest.Plain(t, "healthy-v3.6")
	v3 := charmtest.V3(t, live)
	flipped := bytes.Clone(v3)
	flipped[len(flipped)/2] ^= 0x10
	for name, c := range map[string]struct {
		body    []byte
		format  charm.Format
		problem string // a part of it
		db      snapshot.Verdict
		keys    int64 // of Kubernetes
	}{
		"v3":                                  {v3, charm.V3, "", snapshot.Intact, 1097},
		"v3 of an empty etcd":                 {charmtest.V3(t, empty), charm.V3, "", snapshot.Restorable, 0},
		"v3, the database cut":                {charmtest.V3(t, live[:len(live)/2-len(live)/2%4096]), charm.V3, "", snapshot.Damaged, -1},
		"v3, repacked after snapshot save":    {charmtest.V3(t, saved), charm.V3, "", snapshot.Intact, 1097},
		"v2 of an etcdctl 2":                  {charmtest.V2(t, nil), charm.V2, "", "", -1},
		"v2 of an etcdctl 3":                  {charmtest.V2(t, empty), charm.V2, "", snapshot.Restorable, 0},
		"plain tar with the name of a gz":     {charmtest.DataCopy(t, live), charm.V2, "", snapshot.Intact, 1097},
		"snapshot save":                       {saved, charm.Plain, "", snapshot.Intact, 1097},
		"a bare db":                           {live, charm.Plain, "", snapshot.Intact, 1097},
		"both":                                {charmtest.Gzip(t, charmtest.Tar(t, charmtest.File{Name: "./db", Body: live}, charmtest.File{Name: "./member/wal/0.wal"})), charm.NoFormat, "both", snapshot.Intact, 1097},
		"neither":                             {charmtest.Gzip(t, charmtest.Tar(t, charmtest.File{Name: "./readme", Body: []byte("x")})), charm.NoFormat, "neither ./db", "", -1},
		"an archive of nothing":               {charmtest.Gzip(t, charmtest.Tar(t)), charm.NoFormat, "neither a tar archive nor", "", -1},
		"cut":                                 {v3[:len(v3)/2], charm.V3, "cut short", "", -1},
		"a bit flipped":                       {flipped, charm.V3, "gzip data is damaged", "", -1},
		"empty":                               {nil, charm.NoFormat, "it is empty", "", -1},
		"text":                                {[]byte("hello, this is no archive at all"), charm.NoFormat, "neither a tar archive nor", "", -1},
		"the v2 layout in a folder of a name": {charmtest.Tar(t, charmtest.File{Name: "etcd0.etcd/member/wal/0.wal"}, charmtest.File{Name: "etcd0.etcd/member/snap/db", Body: empty}), charm.V2, "", snapshot.Restorable, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := charm.Read(bytes.NewReader(c.body), charm.ReadOptions{Size: int64(len(c.body))})
			var verdict snapshot.Verdict
			if got.DB != nil {
				verdict = got.DB.Verdict
			}
			if got.Format != c.format || (got.Problem == "") != (c.problem == "") || !strings.Contains(got.Problem, strings.TrimPrefix(c.problem, "both")) || verdict != c.db || got.Unread != "" {
				t.Errorf("got %s, problem %q, unread %q, database %s %+v; want %s, %q, %s", got.Format, got.Problem, got.Unread, verdict, got.DB, c.format, c.problem, c.db)
			}
			if n := got.KubernetesKeys(); n != c.keys {
				t.Errorf("%d keys of Kubernetes, want %d", n, c.keys)
			}
			sum := sha256.Sum256(c.body)
			if want := hex.EncodeToString(sum[:]); got.SHA256 != want {
				t.Errorf("sha256 %s, want %s", got.SHA256, want)
			}
		})
	}
}

// What could not be read is no damage, wherever the reading ended.
func TestAnErrorOfTheReaderIsNoDamage(t *testing.T) {
	body := charmtest.V3(t, database(t, "post-reset-v3.6"))
	for _, n := range []int{0, 1, 20, 1000, len(body) / 2, len(body) - 1} {
		r := io.MultiReader(bytes.NewReader(body[:n]), iotest.ErrReader(errors.New("the disk failed")))
		if got := charm.Read(r, charm.ReadOptions{}); !strings.Contains(got.Unread, "the disk failed") || got.Problem != "" || got.DB != nil {
			t.Errorf("after %d bytes: %+v", n, got)
		}
		if got := charm.Read(bytes.NewReader(body[:n]), charm.ReadOptions{Size: int64(len(body))}); got.Unread == "" || got.Problem != "" {
			t.Errorf("ended early after %d bytes: %+v", n, got)
		}
	}
}

// A copy with cp while etcd commits: pages of two times, of which neither is whole.
func TestTornCopy(t *testing.T) {
	before, after := commits(t)
	torn := charmtest.V3(t, charmtest.Torn(before, after, 3*4096))
	got := charm.Read(bytes.NewReader(torn), charm.ReadOptions{})
	if got.Format != charm.V3 || got.DB == nil || got.DB.Verdict != snapshot.Damaged {
		t.Errorf("got %+v, database %+v", got, got.DB)
	}
	for _, whole := range [][]byte{before, after} {
		if got := charm.Read(bytes.NewReader(charmtest.V3(t, whole)), charm.ReadOptions{}); got.DB == nil || got.DB.Verdict == snapshot.Damaged {
			t.Errorf("the whole one: %+v", got.DB)
		}
	}
}

// commits gives a database before and after bbolt has used its pages again, as etcd
// would have it: the buckets of etcd and nothing in them, which etcd restores.
func commits(t *testing.T) (before, after []byte) {
	name := filepath.Join(t.TempDir(), "db")
	db, err := bolt.Open(name, 0o600, &bolt.Options{NoSync: true, PageSize: 4096, FreelistType: bolt.FreelistMapType, NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	update := func(do func(*bolt.Tx) error) {
		if err := db.Update(do); err != nil {
			t.Fatal(err)
		}
	}
	update(func(tx *bolt.Tx) error {
		for _, b := range []string{"alarm", "auth", "authRoles", "authUsers", "cluster", "key", "lease", "members", "members_removed", "meta"} {
			if _, err := tx.CreateBucket([]byte(b)); err != nil {
				return err
			}
		}
		return tx.Bucket([]byte("meta")).Put([]byte("consistent_index"), make([]byte, 8))
	})
	copyOf := func() []byte {
		var b bytes.Buffer
		if err := db.View(func(tx *bolt.Tx) error { _, err := tx.WriteTo(&b); return err }); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	before = copyOf()
	for range 40 {
		update(func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("authUsers")).Put([]byte{byte(tx.ID())}, bytes.Repeat([]byte("x"), 3000))
		})
	}
	return before, copyOf()
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("hello"))
	f.Add(charmtest.Gzip(f, charmtest.Tar(f, charmtest.File{Name: "./db", Body: make([]byte, 9000)})))
	f.Add(charmtest.Tar(f, charmtest.File{Name: "./member/wal/0.wal"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got := charm.Read(bytes.NewReader(b), charm.ReadOptions{MaxMemory: 64 << 20}); got.Format == charm.NoFormat && got.Problem == "" && got.Unread == "" {
			t.Errorf("nothing is said of it: %+v", got)
		}
	})
}

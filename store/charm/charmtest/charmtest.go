// Package charmtest makes snapshots by the recipes of the etcd charm, and the
// configuration files that the charm and its snap write, for tests.
package charmtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// walSize is the length of a log file in bytes. etcd gives it 64,000,000 beforehand,
// of which nearly all are zeros; fewer make tests faster.
const walSize = 1_000_000

// A File is one entry of an archive; a folder where the name ends with a slash.
type File struct {
	Name string
	Body []byte
	Size int64 // where it is longer than Body: the rest is zeros
}

// V3 packs a copy of member/snap/db as the action does with keys-version=v3: from
// inside the directory, so that every name begins with ./.
func V3(tb testing.TB, db []byte) []byte {
	tb.Helper()
	return Gzip(tb, Tar(tb, File{Name: "./"}, File{Name: "./db", Body: db}))
}

// V2 packs what `etcdctl backup` writes, as the action does with keys-version=v2. An
// etcdctl of etcd 3 adds a database that holds no key; nil leaves it out.
func V2(tb testing.TB, db []byte) []byte {
	tb.Helper()
	return Gzip(tb, Tar(tb, v2(db)...))
}

// DataCopy packs a data directory as the action `restore` does before it begins: a
// plain tar archive, whose name ends in .tar.gz all the same.
func DataCopy(tb testing.TB, db []byte) []byte {
	tb.Helper()
	return Tar(tb, v2(db)...)
}

func v2(db []byte) []File {
	files := []File{{Name: "./"}, {Name: "./member/"}, {Name: "./member/wal/"},
		{Name: "./member/wal/0000000000000000-0000000000000000.wal", Body: []byte("log"), Size: walSize},
		{Name: "./member/snap/"}, {Name: "./member/snap/0000000000000002-0000000000000008.snap", Body: []byte("v2 store")}}
	if db != nil {
		files = append(files, File{Name: "./member/snap/db", Body: db})
	}
	return files
}

// Tar packs files.
func Tar(tb testing.TB, files ...File) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.Name, Mode: 0o600, Size: max(f.Size, int64(len(f.Body))), Typeflag: tar.TypeReg, Format: tar.FormatGNU, ModTime: time.Unix(1_796_000_000, 0)}
		if strings.HasSuffix(f.Name, "/") {
			h.Typeflag, h.Mode, h.Size = tar.TypeDir, 0o700, 0
		}
		must(tb, w.WriteHeader(h))
		_, err := w.Write(f.Body)
		must(tb, err)
		_, err = io.CopyN(w, zeros{}, h.Size-int64(len(f.Body)))
		must(tb, err)
	}
	must(tb, w.Close())
	return b.Bytes()
}

// Gzip compresses.
func Gzip(tb testing.TB, body []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	must(tb, err)
	_, err = w.Write(body)
	must(tb, err)
	must(tb, w.Close())
	return b.Bytes()
}

type zeros struct{}

// Read gives zeros.
func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Torn is what cp makes of a database while etcd commits: what it read before the
// commit, and from byte cut on what it read after.
func Torn(before, after []byte, cut int) []byte {
	return append(slices.Clone(before[:cut]), after[min(cut, len(after)):]...)
}

// A Conf is what differs between configuration files.
type Conf struct {
	Name, DataDir, Cluster, Token, State string
	Client, Peer                         string // addresses; of the test itself where a server is to run
}

// Template is the file as the charm's template renders it (templates/etcd3.conf),
// without TLS.
func Template(c Conf) []byte {
	return fmt.Appendf(nil, `# This is the configuration file for the etcd server.

# Human-readable name for this member.
name: %s

# Enable API v2
enable-v2: true

# Path to the data directory.
data-dir: %s

# Number of committed transactions to trigger a snapshot to disk.
snapshot-count: 10000

heartbeat-interval: 100
election-timeout: 1000

listen-peer-urls: %s
listen-client-urls: %s

max-snapshots: 5
max-wals: 5

initial-advertise-peer-urls: %s
advertise-client-urls: %s

# Initial cluster configuration for bootstrapping.
initial-cluster: %s

# Initial cluster token for the etcd cluster during bootstrap.
initial-cluster-token: '%s'

# Initial cluster state ('new' or 'existing').
initial-cluster-state: %s

strict-reconfig-check: true

# Force to create a new one member cluster.
force-new-cluster: false
`, c.Name, c.DataDir, c.Peer, c.Client, c.Peer, c.Client, c.Cluster, c.Token, c.State)
}

// Migrated is the file that the snap's wrapper wrote when it went from 2.3 to 3.x:
// without any of the initial- keys.
func Migrated(c Conf) []byte {
	return fmt.Appendf(nil, `# etcd config migrated from 2.x ENV-style to yaml.
# old config is in etcd.conf.2x
name: '%s'
data-dir: '%s'
snapshot-count:
listen-peer-urls: %s
listen-client-urls: %s
advertise-client-urls: %s
`, c.Name, c.DataDir, c.Peer, c.Client, c.Client)
}

package charm_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"backstop/store/charm"
	"backstop/store/charm/charmtest"
)

func TestParseName(t *testing.T) {
	at := time.Date(2026, 3, 29, 2, 30, 5, 0, time.UTC)
	for key, want := range map[string]charm.Name{
		"etcd-snapshot-2026-03-29-02.30.05.tar.gz":         {Kind: charm.Snapshot, Clock: at},
		"a/b/etcd-snapshot-2026-03-29-02.30.05.tar.gz":     {Kind: charm.Snapshot, Clock: at},
		"etcd-data-20260329-023005.tar.gz":                 {Kind: charm.PreRestore, Clock: at},
		"backups/2026-03-29T02:30:05Z":                     {Kind: charm.Operator, Clock: at},
		"etcd-snapshot-2026-02-30-02.30.05.tar.gz":         {},
		"etcd-snapshot-2026-03-29-02.30.05.tar":            {},
		"etcd-snapshot-2026-03-29-2.30.05.tar.gz":          {},
		"etcd-snapshot-2026-03-29-02.30.05.tar.gz/x":       {},
		"2026-03-29T02:30:05Z-000001/etcd.backup.gz":       {},
		"2026-03-29T02:30:05Z-000001":                      {},
		"etcd-snapshot-2026-03-29-02.30.05.000.tar.gz.tmp": {},
		"2026-03-29T02:30:05.5Z":                           {},
		"":                                                 {},
	} {
		got, ok := charm.ParseName(key)
		if got != want || ok != (want.Kind != "") {
			t.Errorf("%s: %+v, %t; want %+v", key, got, ok, want)
		}
	}
	n := charm.Name{Clock: at}
	if n.Latest().Sub(at) != 12*time.Hour || at.Sub(n.Earliest()) != 14*time.Hour || n.In(2*time.Hour) != at.Add(-2*time.Hour) {
		t.Error("zones")
	}
}

// Tokens that YAML 1.1 reads as numbers, and ones that it does not.
func TestTokens(t *testing.T) {
	for text, number := range map[string]bool{"012345": true, "12E456": true, "123456": true, "0x12AB": true, "ABC123": false, "1A2B3C": false, "'012345'": false, `"12E456"`: false, "E12345": false, "": false, "10.0.0.1": false, "true": true} {
		c, err := charm.ParseConfig([]byte("name: etcd0\ninitial-cluster-token: " + text + "\n"))
		if err != nil || c.TokenNumber != number {
			t.Errorf("%s: %v, %+v, want a number: %t", text, err, c, number)
		}
	}
}

func TestParseConfigRefuses(t *testing.T) {
	for body, want := range map[string]string{
		"":                               "not a YAML mapping",
		"ETCD_NAME=etcd0\nETCD_X=1\n":    "not a YAML mapping",
		"name: [":                        "not YAML",
		"foo: bar\n":                     "none of etcd's keys",
		"- a\n":                          "not a YAML mapping",
		"name: a\nname: b\n":             "",
		"data-dir: &d /x\nwal-dir: *d\n": "",
		"data-dir: ~\ninitial-cluster:\ninitial-cluster-state: null\nforce-new-cluster: yes\n": "",
	} {
		c, err := charm.ParseConfig([]byte(body))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", body, err, want)
		}
		if strings.Contains(body, "null") && (c.DataDir != "" || c.InitialCluster != "" || c.EffectiveState() != "new" || !c.ForceNewCluster) {
			t.Errorf("%q: %+v", body, c)
		}
		if strings.Contains(body, "*d") && c.WALDir != "/x" {
			t.Errorf("%q: %+v", body, c)
		}
	}
}

func TestTree(t *testing.T) {
	var tree charm.Tree
	for name, size := range map[string]int64{
		"member/wal/0.wal": 64_000_000, "member/wal/1.wal": 64_000_000, "member/wal/0.tmp": 64_000_000,
		"member/snap/db": 16_801_792, "member/snap/0.snap": 9000, "member/snap/x.snap.db": 5,
		"etcd0.etcd/member/snap/db": 16_801_792, "storage/0.wal": 1, "readme": 3,
	} {
		tree.Add(name, size)
	}
	got := tree.Dirs()
	if len(got) != 3 || got[0].Path != "." || got[0].WALs != 2 || got[0].Snaps != 1 || !got[0].Full() || !got[0].Doubtful() ||
		got[1].Path != "etcd0.etcd" || got[1].Full() || got[2].Path != "storage" || got[2].Member || got[2].Full() {
		t.Errorf("got %+v", got)
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct{ name, real, revision, want string }{
		{"/var/snap/etcd/current", "", "", "."},
		{"/var/snap/etcd/current/", "", "", "."},
		{"/var/snap/etcd/current/etcd0.etcd", "/tmp/copy", "", "etcd0.etcd"},
		{"/tmp/copy/etcd0.etcd", "/tmp/copy", "", "etcd0.etcd"},
		{"/tmp/copy2", "/tmp/copy", "", ""},
		{"/var/snap/etcd/123/etcd0.etcd", "", "123", "etcd0.etcd"},
		{"/var/snap/etcd/123", "", "124", ""},
		{"/media/etcd/data", "", "123", ""},
		{"default.etcd", "/tmp/copy", "", ""},
		{"/var/snap/etcd/current/../123", "", "", ""},
	} {
		if got, ok := charm.Within(c.name, c.real, c.revision); got != c.want || ok != (c.want != "") {
			t.Errorf("%+v: %q, %t", c, got, ok)
		}
	}
	for name, want := range map[string]string{"/var/snap/etcd/123/x": "123", "/var/snap/etcd/x1": "x1", "/var/snap/etcd/current": "", "/var/snap/etcd": "", "/media/etcd/data": ""} {
		if got := charm.PinnedRevision(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A bundle that is cut, of another format, or something else is refused, and never
// read as one of a unit without data.
func TestBundlesThatAreNone(t *testing.T) {
	manifest := charmtest.File{Name: "manifest", Body: []byte("backstop_charm_bundle=1\nunit=etcd/0\ntaken=1796000000\nzone=+0000\nrevision=7\n")}
	listing := charmtest.File{Name: "listing", Body: []byte("f\t64000000\t/var/snap/etcd/current/member/wal/0.wal\n")}
	end := charmtest.File{Name: "end"}
	whole := charmtest.Tar(t, manifest, listing, end)
	if b, err := charm.ReadBundle(bytes.NewReader(charmtest.Gzip(t, whole)), 0); err != nil || b.Unit != "etcd/0" || b.Revision != "7" || len(b.Dirs) != 1 || b.Dirs[0].WALs != 1 {
		t.Errorf("a whole one: %v, %+v", err, b)
	}
	for want, body := range map[string][]byte{
		"no member `end`":          charmtest.Tar(t, manifest, listing),
		"cut short":                whole[:700],
		"format \"2\"":             charmtest.Tar(t, charmtest.File{Name: "manifest", Body: []byte("backstop_charm_bundle=2\n")}, end),
		"format \"\"":              charmtest.Tar(t, end),
		"gzip header":              {0x1f, 0x8b, 9, 9},
		"is no distance from UTC":  charmtest.Tar(t, charmtest.File{Name: "manifest", Body: []byte("backstop_charm_bundle=1\nzone=CET\n")}, end),
		"want TYPE, SIZE and PATH": charmtest.Tar(t, manifest, charmtest.File{Name: "listing", Body: []byte("f 12 /x\n")}, end),
		"the size is no number":    charmtest.Tar(t, manifest, charmtest.File{Name: "listing", Body: []byte("f\tmany\t/x\n")}, end),
	} {
		if b, err := charm.ReadBundle(bytes.NewReader(body), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %+v", want, err, b)
		}
	}
	if _, err := charm.ReadBundle(bytes.NewReader(nil), 0); err == nil {
		t.Error("an empty file was read")
	}
}

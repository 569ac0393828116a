package etcdmanager_test

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/store/etcdmanager"
)

// The real etcd-manager cleaned a store of 67 backups with 90 days of daily
// retention, right after it had taken another; Thin must drop what it dropped.
func TestThinDropsWhatEtcdManagerDropped(t *testing.T) {
	before, kept := cleanedStore(t)
	const taken = "2026-11-30T18:24:05Z-000001"
	now, _ := etcdmanager.ParseName(taken)
	drop := etcdmanager.Thin(append(before, taken), now, etcdmanager.Retention{Hourly: 168 * time.Hour, Daily: 90 * 24 * time.Hour})
	for _, name := range before {
		if slices.Contains(drop, name) == kept[name] {
			t.Errorf("%s: dropped %t, etcd-manager kept it: %t", name, slices.Contains(drop, name), kept[name])
		}
	}
}

// cleanedStore gives the names before the cleanup, and which still have a meta
// file, or had none, after it.
func cleanedStore(t *testing.T) (before []string, kept map[string]bool) {
	f, err := os.Open("../storetest/testdata/stores/retention-after-cleanup.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	kept = map[string]bool{}
	var all []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch path.Base(h.Name) {
		case "ret-before.txt":
			body, _ := io.ReadAll(r)
			all = strings.Fields(string(body))
		case etcdmanager.MetaFile:
			kept[path.Base(path.Dir(h.Name))] = true
		}
	}
	for _, name := range all {
		// A directory without a meta file is no backup, and the cleanup never
		// sees it.
		if name != "control" && name != "2026-11-30T01:01:01Z-000777" && name != "old-copy" {
			before = append(before, name)
		}
	}
	if len(before) < 50 || len(kept) < 20 {
		t.Fatalf("%d names before, %d kept: the archive is not the one that was meant", len(before), len(kept))
	}
	return before, kept
}

func TestThin(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	at := func(age time.Duration) string { return etcdmanager.FormatName(now.Add(-age), 1) }
	for what, c := range map[string]struct {
		names []string
		drop  []string
	}{
		"under an hour: all stay":            {[]string{at(59 * time.Minute), at(44 * time.Minute), at(time.Minute)}, nil},
		"exactly an hour counts by the hour": {[]string{at(time.Hour), at(time.Hour + 15*time.Minute)}, nil},
		"of an hour the earliest stays":      {[]string{at(90 * time.Minute), at(75 * time.Minute)}, []string{at(75 * time.Minute)}},
		"exactly a week counts by the day":   {[]string{at(168 * time.Hour), at(169 * time.Hour)}, []string{at(168 * time.Hour)}},
		"beyond the daily retention: none":   {[]string{at(2 * 365 * 24 * time.Hour)}, []string{at(2 * 365 * 24 * time.Hour)}},
		"the future stays":                   {[]string{at(-48 * time.Hour)}, nil},
		"what does not parse stays":          {[]string{"manual", "2020-01-01"}, nil},
		"of one second the last stays": {
			[]string{"2026-11-30T11:59:00Z-000001", "2026-11-30T11:59:00Z-000002"}, []string{"2026-11-30T11:59:00Z-000001"}},
	} {
		if got := etcdmanager.Thin(c.names, now, etcdmanager.DefaultRetention); !slices.Equal(got, c.drop) {
			t.Errorf("%s: Thin drops %q, want %q", what, got, c.drop)
		}
	}
}

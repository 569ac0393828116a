package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/charm/charmtest"
	"backstop/store/snapshot/snapshottest"
	"backstop/store/storetest"
)

// A folder of the charm's snapshots is a store for audit, judged by its age with the
// charm's own interval and by the zone that its names do not tell, and for no other
// command.
func TestAuditOfCharmSnapshots(t *testing.T) {
	now := charmNow
	body := charmtest.V3(t, bareDB(t, "empty-fresh-v3.6"))
	name := func(age time.Duration) string {
		return "etcd-snapshot-" + now.Add(-age).Format("2006-01-02-15.04.05") + ".tar.gz"
	}
	file := func(key string, stored time.Duration) storetest.File {
		return storetest.File{Key: key, Body: body, Time: now.Add(-stored)}
	}
	const day = 24 * time.Hour
	for title, c := range map[string]struct {
		files   []storetest.File
		verdict audit.Verdict
		rules   []string
	}{
		"daily":                         {[]storetest.File{file("u/"+name(30*time.Hour), 30*time.Hour), file("u/"+name(6*time.Hour), 6*time.Hour)}, audit.OK, nil},
		"thirty hours old":              {[]storetest.File{file("u/"+name(30*time.Hour), 30*time.Hour)}, audit.OK, nil},
		"older than that":               {[]storetest.File{file("u/"+name(31*time.Hour), 31*time.Hour)}, audit.VerdictWarning, []string{"snapshot/late"}},
		"two days and more":             {[]storetest.File{file("u/"+name(55*time.Hour), 55*time.Hour)}, audit.VerdictCritical, []string{"snapshot/stale"}},
		"copied today, taken long ago":  {[]storetest.File{file("u/"+name(10*day), time.Hour)}, audit.VerdictCritical, []string{"snapshot/stale"}},
		"in a zone ahead of UTC":        {[]storetest.File{file("u/"+name(-10*time.Hour), time.Hour)}, audit.OK, nil},
		"in a zone behind UTC":          {[]storetest.File{file("u/"+name(12*time.Hour), time.Hour)}, audit.OK, nil},
		"nothing in it":                 {[]storetest.File{{Key: "u/" + name(time.Hour), Body: []byte("x"), Time: now.Add(-time.Hour)}}, audit.VerdictCritical, []string{"snapshot/empty-object"}},
		"a pre-restore copy beside it":  {[]storetest.File{file("u/"+name(time.Hour), time.Hour), file("u/etcd-data-20261201-010000.tar.gz", 2*time.Hour)}, audit.OK, nil},
		"the operator's":                {[]storetest.File{{Key: "op/2026-12-01T02:30:00Z", Body: snapshottest.Plain(t, "empty-fresh-v3.6"), Time: now.Add(-time.Hour)}}, audit.OK, nil},
		"two units, one of them behind": {[]storetest.File{file("a/"+name(time.Hour), time.Hour), file("b/"+name(9*day), 9*day)}, audit.VerdictCritical, []string{"snapshot/stale"}},
	} {
		t.Run(title, func(t *testing.T) {
			_, _, endpoint := served(t, now, c.files)
			r, _ := reportOf(t, now, "s3://kops", "--endpoint-url", endpoint)
			var rules []string
			for _, s := range r.Stores {
				if s.Store.Layout != audit.LayoutCharm || s.State.Name != "charm" || s.Control != nil {
					t.Errorf("store %+v", s)
				}
				for _, f := range s.Findings {
					if f.Severity != audit.Info {
						rules = append(rules, f.Rule)
					}
				}
			}
			if r.Verdict != c.verdict || !slices.Equal(rules, c.rules) {
				t.Errorf("%s, %q, problems %+v; want %s, %q", r.Verdict, rules, r.Problems, c.verdict, c.rules)
			}
			if got := command(t, now, "gate", "s3://kops", "--endpoint-url", endpoint); got.code != exitUnknown {
				t.Errorf("gate: exit %d: %s%s", got.code, got.stdout, got.stderr)
			}
		})
	}
}

// In a directory too, where most facts of a bucket are not to be had: the charm's
// store needs none of them. The other layout beside it is judged as ever.
func TestAuditOfCharmSnapshotsBesideAnother(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	dir := t.TempDir()
	taken := now.Add(-2 * time.Hour)
	putFile(t, dir, "etcd-snapshot-"+taken.Format("2006-01-02-15.04.05")+".tar.gz", taken, charmtest.V3(t, bareDB(t, "empty-fresh-v3.6")))
	r, got := reportOf(t, now, dir)
	if got.code != 0 || r.Verdict != audit.OK || len(r.Stores) != 1 || r.Stores[0].Snapshots != 1 {
		t.Errorf("exit %d, %+v", got.code, r)
	}
	for _, f := range mustArchive(t, "healthy") {
		name := filepath.Join(dir, filepath.FromSlash(f.Key))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		putFile(t, filepath.Dir(name), filepath.Base(name), f.Time, f.Body)
	}
	// One that somebody keeps in a store of etcd-manager's is a stray there.
	putFile(t, filepath.Join(dir, "prod.example.com/backups/etcd/main"), "etcd-snapshot-2020-01-01-00.00.00.tar.gz", now, []byte("x"))
	r, _ = reportOf(t, now, dir)
	var layouts []string
	for _, s := range r.Stores {
		layouts = append(layouts, string(s.Store.Layout)+s.Store.Prefix)
	}
	slices.Sort(layouts)
	if !slices.Equal(layouts, []string{"charm", "prod.example.com/backups/etcd/main"}) {
		t.Errorf("stores %q", layouts)
	}
}

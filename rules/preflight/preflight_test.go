package preflight_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/rules/preflight"
	"backstop/store/charm"
	"backstop/store/charm/charmtest"
	"backstop/store/snapshot"
)

var now = time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC)

// holds is a directory with data.
func holds(path string, revision, keys int64) charm.DataDir {
	return charm.DataDir{Path: path, Member: true, WALs: 1, DBSize: 16 << 20, DB: database(revision, keys)}
}

func database(revision, keys int64) *snapshot.Result {
	return &snapshot.Result{Verdict: snapshot.Intact, Facts: &snapshot.Facts{Revision: revision, Keys: keys, KubernetesKeys: keys}}
}

// leftOver is what a start leaves that failed.
func leftOver(path string) charm.DataDir {
	return charm.DataDir{Path: path, Member: true, DBSize: 16_801_792, DB: database(0, 0)}
}

// unit is a healthy one; change changes its configuration.
func unit(change func(c *charm.Config), dirs ...charm.DataDir) preflight.Unit {
	c := charm.Config{Writer: charm.WroteTemplate, Name: "etcd0", DataDir: charm.CurrentDir, InitialCluster: "etcd0=https://10.0.0.1:2380", State: "existing", Token: "ABC123"}
	if change != nil {
		change(&c)
	}
	return preflight.Unit{Name: "etcd0", File: "etcd.conf.yml", Config: c, Beside: &preflight.Beside{}, Data: &preflight.Data{Root: "current", Dirs: dirs}}
}

func ids(r preflight.Report) string {
	var all []string
	for _, f := range r.Findings {
		id := f.ID
		if f.Blocks {
			id += "!"
		}
		all = append(all, id+" "+string(f.Severity))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// Every predicate about configurations, speaking and silent.
func TestConfigurations(t *testing.T) {
	main := holds(".", 5000, 900)
	old := holds("etcd0.etcd", 5000, 900)
	set := func(dir string) func(*charm.Config) {
		return func(c *charm.Config) { c.DataDir = charm.CurrentDir + dir }
	}
	with := func(u preflight.Unit, change func(u *preflight.Unit)) preflight.Unit { change(&u); return u }
	for name, c := range map[string]struct {
		units   []preflight.Unit
		before  *charm.Config
		want    string
		verdict preflight.Verdict
		outcome preflight.Outcome
	}{
		"healthy":                         {[]preflight.Unit{unit(nil, main)}, nil, "", preflight.Safe, preflight.WithData},
		"data elsewhere, existing":        {[]preflight.Unit{unit(nil, old)}, nil, "CH1! critical", preflight.NotSafe, preflight.Refuses},
		"data elsewhere, new":             {[]preflight.Unit{unit(func(c *charm.Config) { c.State = "new" }, old)}, nil, "CH1! critical", preflight.NotSafe, preflight.Empty},
		"data elsewhere, no state at all": {[]preflight.Unit{unit(func(c *charm.Config) { c.State = "" }, old)}, nil, "CH1! critical", preflight.NotSafe, preflight.Empty},
		"data elsewhere, two members":     {[]preflight.Unit{unit(func(c *charm.Config) { c.InitialCluster += ",etcd1=https://10.0.0.2:2380" }, old)}, nil, "CH1! critical", preflight.NotSafe, preflight.Joins},
		"what a failed start leaves":      {[]preflight.Unit{unit(nil, old, leftOver("."))}, nil, "CH1! critical", preflight.NotSafe, preflight.Refuses},
		"an empty etcd that was started":  {[]preflight.Unit{unit(nil, old, holds(".", 0, 0))}, nil, "CH1! critical", preflight.NotSafe, preflight.Empty},
		"runs on the younger database":    {[]preflight.Unit{unit(nil, old, holds(".", 40, 12))}, nil, "CH2! critical", preflight.NotSafe, preflight.WithData},
		"a stale second database":         {[]preflight.Unit{unit(nil, main, holds("etcd0.etcd", 100, 20))}, nil, "CH2! warning", preflight.NotSafe, preflight.WithData},
		"a copy that a person made":       {[]preflight.Unit{unit(nil, main, holds("backup/2019", 100, 20))}, nil, "", preflight.Safe, preflight.WithData},
		"once 2.3, by the directory":      {[]preflight.Unit{unit(set("/etcd0.etcd"), old)}, nil, "CH3! warning", preflight.NotSafe, preflight.WithData},
		"once 2.3, by the header":         {[]preflight.Unit{unit(func(c *charm.Config) { c.Writer = charm.WroteMigration }, main)}, nil, "CH3! warning", preflight.NotSafe, preflight.WithData},
		"once 2.3, by the file":           {[]preflight.Unit{with(unit(nil, main), func(u *preflight.Unit) { u.Beside.Migrated = true })}, nil, "CH3! warning", preflight.NotSafe, preflight.WithData},
		"no initial-cluster":              {[]preflight.Unit{unit(func(c *charm.Config) { c.InitialCluster = "" }, main)}, nil, "CH4! warning", preflight.NotSafe, preflight.WithData},
		"no initial-cluster and no data":  {[]preflight.Unit{unit(func(c *charm.Config) { c.InitialCluster = "" }, old)}, nil, "CH1! critical, CH4! critical", preflight.NotSafe, preflight.Refuses},
		"the token changed":               {[]preflight.Unit{unit(nil, main)}, &charm.Config{Token: "XYZ789"}, "CH5 warning", preflight.Safe, preflight.WithData},
		"the token did not change":        {[]preflight.Unit{unit(nil, main)}, &charm.Config{Token: "ABC123"}, "", preflight.Safe, preflight.WithData},
		"the token changed, no data":      {[]preflight.Unit{unit(nil, old)}, &charm.Config{Token: "XYZ789"}, "CH1! critical, CH5 critical", preflight.NotSafe, preflight.Refuses},
		"another token on another unit":   {[]preflight.Unit{unit(nil, main), with(unit(func(c *charm.Config) { c.Token = "OTHER1" }), func(u *preflight.Unit) { u.Name, u.Data = "etcd1", nil })}, nil, "CH5 warning", preflight.Safe, preflight.WithData},
		"a token that is a number":        {[]preflight.Unit{unit(func(c *charm.Config) { c.Token, c.TokenNumber = "012345", true }, main)}, nil, "CH6 warning", preflight.Safe, preflight.WithData},
		"a token of another make":         {[]preflight.Unit{unit(func(c *charm.Config) { c.Token = "my-etcd" }, main)}, nil, "CH6 warning", preflight.Safe, preflight.WithData},
		"a token of a restore":            {[]preflight.Unit{unit(func(c *charm.Config) { c.Token = "10.0.0.1" }, main)}, nil, "", preflight.Safe, preflight.WithData},
		"no data-dir":                     {[]preflight.Unit{unit(func(c *charm.Config) { c.DataDir = "" }, main)}, nil, "CH7 warning", preflight.CannotTell, preflight.NoIdea},
		"data-dir in another revision":    {[]preflight.Unit{unit(func(c *charm.Config) { c.DataDir = charm.SnapDir + "/123" }, main)}, nil, "CH7 warning", preflight.CannotTell, preflight.NoIdea},
		"data-dir in this revision":       {[]preflight.Unit{with(unit(func(c *charm.Config) { c.DataDir = charm.SnapDir + "/123" }, main), func(u *preflight.Unit) { u.Data.Revision = "123" })}, nil, "CH7 warning", preflight.Safe, preflight.WithData},
		"force-new-cluster":               {[]preflight.Unit{unit(func(c *charm.Config) { c.ForceNewCluster = true }, main)}, nil, "CH8! critical", preflight.NotSafe, preflight.WithData},
		"etcd.conf beside it":             {[]preflight.Unit{with(unit(nil, main), func(u *preflight.Unit) { u.Beside.OldConfig = true })}, nil, "CH9! critical", preflight.NotSafe, preflight.WithData},
		"data on storage, not looked at":  {[]preflight.Unit{unit(func(c *charm.Config) { c.DataDir = charm.StorageDir }, main)}, nil, "SN5 warning", preflight.CannotTell, preflight.NoIdea},
		"data on storage, looked at": {[]preflight.Unit{with(unit(func(c *charm.Config) { c.DataDir = charm.StorageDir }), func(u *preflight.Unit) {
			u.Data.Elsewhere, u.Data.Whole = []charm.DataDir{holds(charm.StorageDir, 9, 4)}, true
		})}, nil, "SN5 warning", preflight.Safe, preflight.WithData},
		"no data anywhere":                 {[]preflight.Unit{unit(nil)}, nil, "", preflight.CannotTell, preflight.Refuses},
		"the database was not read":        {[]preflight.Unit{unit(nil, charm.DataDir{Path: ".", WALs: 1, DBSize: 1 << 20, Unread: "permission denied"})}, nil, "", preflight.CannotTell, preflight.NoIdea},
		"the other database was not read":  {[]preflight.Unit{unit(nil, main, charm.DataDir{Path: "etcd0.etcd", WALs: 1, DBSize: 1 << 20, Unread: "permission denied"})}, nil, "CH2! warning", preflight.NotSafe, preflight.WithData},
		"data elsewhere that was not read": {[]preflight.Unit{unit(nil, charm.DataDir{Path: "etcd0.etcd", WALs: 1, DBSize: 1 << 20, Unread: "permission denied"})}, nil, "CH1! critical", preflight.NotSafe, preflight.Refuses},
		"an etcd 2's data elsewhere":       {[]preflight.Unit{unit(nil, charm.DataDir{Path: "etcd0.etcd", WALs: 1, Snaps: 2})}, nil, "CH1! critical", preflight.NotSafe, preflight.Refuses},
		"a state that there is not":        {[]preflight.Unit{unit(func(c *charm.Config) { c.State = "exists" }, old)}, nil, "CH1! critical", preflight.NotSafe, preflight.Refuses},
		"a log elsewhere":                  {[]preflight.Unit{unit(func(c *charm.Config) { c.WALDir = "/srv/wal" }, main)}, nil, "", preflight.CannotTell, preflight.NoIdea},
		"no unit at all":                   {nil, nil, "", preflight.CannotTell, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := preflight.Judge(preflight.Input{Units: c.units, Before: c.before, Now: now})
			var outcome preflight.Outcome
			if len(r.Units) > 0 {
				outcome = r.Units[0].Start.Outcome
			}
			if got := ids(r); got != c.want || r.Verdict != c.verdict || outcome != c.outcome {
				t.Errorf("got %s, %q, start %s\nwant %s, %q, start %s\nunseen %q", r.Verdict, got, outcome, c.verdict, c.want, c.outcome, r.Unseen)
			}
			for _, f := range r.Findings {
				if f.Title == "" || f.Message == "" || len(f.Do) == 0 {
					t.Errorf("%s is not explained: %+v", f.ID, f)
				}
			}
		})
	}
}

// backup is a snapshot taken so long ago, by a unit whose clock is UTC.
func backup(age time.Duration, format charm.Format, db *snapshot.Result) preflight.Snapshot {
	at := now.Add(-age)
	file := "etcd-snapshot-" + at.Format("2006-01-02-15.04.05") + ".tar.gz"
	name, _ := charm.ParseName(file)
	return preflight.Snapshot{File: file, Name: name, Stored: at, Archive: charm.Archive{Format: format, Gzip: true, DB: db, SHA256: "aa"}}
}

// Every predicate about snapshots, speaking and silent.
func TestSnapshots(t *testing.T) {
	healthy := unit(nil, holds(".", 5000, 900))
	twice := unit(nil, holds(".", 5000, 900), holds("etcd0.etcd", 100, 20))
	good := func(age time.Duration) preflight.Snapshot { return backup(age, charm.V3, database(4990, 899)) }
	change := func(s preflight.Snapshot, how func(*preflight.Snapshot)) preflight.Snapshot { how(&s); return s }
	damaged := &snapshot.Result{Verdict: snapshot.Damaged, Cause: snapshot.BadStructure, Reason: "page 7 is wrong"}
	data := preflight.Snapshot{File: "etcd-data-20261201-010000.tar.gz", Name: charm.Name{Kind: charm.PreRestore}, Archive: charm.Archive{Format: charm.DataCopy, DB: database(1, 1)}}
	berlin := time.Hour
	for name, c := range map[string]struct {
		unit    preflight.Unit
		all     []preflight.Snapshot
		want    string
		verdict preflight.Verdict
	}{
		"fresh and valid":                      {healthy, []preflight.Snapshot{good(10 * time.Minute)}, "", preflight.Safe},
		"an hour old":                          {healthy, []preflight.Snapshot{good(time.Hour)}, "", preflight.Safe},
		"older than an hour":                   {healthy, []preflight.Snapshot{good(time.Hour + time.Second)}, "SN6! critical", preflight.NotSafe},
		"none":                                 {healthy, nil, "SN6! critical", preflight.NotSafe},
		"v2":                                   {healthy, []preflight.Snapshot{backup(time.Minute, charm.V2, nil)}, "SN1! critical, SN6! critical", preflight.NotSafe},
		"v2 beside a fresh v3":                 {healthy, []preflight.Snapshot{good(2 * time.Minute), backup(time.Minute, charm.V2, nil)}, "SN1 info", preflight.Safe},
		"v2 with Kubernetes' keys":             {healthy, []preflight.Snapshot{backup(time.Minute, charm.V2, database(10, 10))}, "SN1! warning, SN6! critical", preflight.NotSafe},
		"an old v2":                            {healthy, []preflight.Snapshot{backup(90*time.Hour, charm.V2, nil), good(time.Minute)}, "SN1 info", preflight.Safe},
		"no format":                            {healthy, []preflight.Snapshot{change(good(time.Minute), func(s *preflight.Snapshot) { s.Problem, s.DB = "neither", nil })}, "SN1! critical, SN6! critical", preflight.NotSafe},
		"an old one of no format":              {healthy, []preflight.Snapshot{change(good(time.Hour), func(s *preflight.Snapshot) { s.Problem, s.DB = "neither", nil }), good(time.Minute)}, "SN1 warning", preflight.Safe},
		"torn":                                 {healthy, []preflight.Snapshot{backup(time.Minute, charm.V3, damaged)}, "SN2! critical, SN6! critical", preflight.NotSafe},
		"with a trailer":                       {healthy, []preflight.Snapshot{change(good(time.Minute), func(s *preflight.Snapshot) { s.Trailer = true })}, "SN3 info", preflight.Safe},
		"of a dead directory":                  {twice, []preflight.Snapshot{backup(time.Minute, charm.V3, database(100, 20))}, "CH2! warning, SN4! critical, SN6! critical", preflight.NotSafe},
		"revisions that fall":                  {healthy, []preflight.Snapshot{good(2 * time.Hour), backup(time.Minute, charm.V3, database(4000, 800))}, "SN4! critical", preflight.NotSafe},
		"revisions that stand still":           {healthy, []preflight.Snapshot{good(2 * time.Hour), good(time.Minute)}, "SN4! critical", preflight.NotSafe},
		"an idle cluster":                      {healthy, []preflight.Snapshot{backup(2*time.Minute, charm.V3, database(5000, 900)), backup(time.Minute, charm.V3, database(5000, 900))}, "", preflight.Safe},
		"a pre-restore copy":                   {healthy, []preflight.Snapshot{data, good(time.Minute)}, "SN7 info", preflight.Safe},
		"a pre-restore copy alone":             {healthy, []preflight.Snapshot{data}, "SN6! critical, SN7 info", preflight.NotSafe},
		"another file than the action told of": {healthy, []preflight.Snapshot{change(good(time.Minute), func(s *preflight.Snapshot) { s.Recorded = "bb" })}, "SN6! critical, SN8! critical", preflight.NotSafe},
		"the file that it told of":             {healthy, []preflight.Snapshot{change(good(time.Minute), func(s *preflight.Snapshot) { s.Recorded = "aa" })}, "", preflight.Safe},
		"no keys of Kubernetes":                {healthy, []preflight.Snapshot{backup(time.Minute, charm.V3, &snapshot.Result{Verdict: snapshot.Restorable, Facts: &snapshot.Facts{Revision: 4999}})}, "SN6! critical, SN9! critical", preflight.NotSafe},
		"the cluster was made anew":            {unit(nil, holds(".", 40, 12)), []preflight.Snapshot{good(time.Minute)}, "CH10! critical", preflight.NotSafe},
		"a copy of the data of an hour before": {unit(nil, holds(".", 4900, 890)), []preflight.Snapshot{good(time.Minute)}, "", preflight.Safe},
		"not read":                             {healthy, []preflight.Snapshot{{File: good(time.Minute).File, Name: good(time.Minute).Name, Stored: now, Archive: charm.Archive{Unread: "the disk failed"}}}, "", preflight.CannotTell},
		"copied today, taken who knows when":   {healthy, []preflight.Snapshot{change(good(9*time.Hour), func(s *preflight.Snapshot) { s.Stored = now })}, "", preflight.CannotTell},
		"copied today, in a known zone":        {healthy, []preflight.Snapshot{change(good(9*time.Hour), func(s *preflight.Snapshot) { s.Stored, s.Zone = now, new(time.Duration) })}, "SN6! critical", preflight.NotSafe},
		"an hour ahead, in a known zone":       {healthy, []preflight.Snapshot{change(good(-55*time.Minute), func(s *preflight.Snapshot) { s.Stored, s.Zone = now, &berlin })}, "", preflight.Safe},
		"copied today, taken last week":        {healthy, []preflight.Snapshot{change(good(170*time.Hour), func(s *preflight.Snapshot) { s.Stored = now })}, "SN6! critical", preflight.NotSafe},
	} {
		t.Run(name, func(t *testing.T) {
			r := preflight.Judge(preflight.Input{Units: []preflight.Unit{c.unit}, Snapshots: &preflight.Snapshots{Store: "DIR", All: c.all}, Now: now})
			if got := ids(r); got != c.want || r.Verdict != c.verdict {
				t.Errorf("got %s, %q\nwant %s, %q\nunseen %q", r.Verdict, got, c.verdict, c.want, r.Unseen)
			}
		})
	}
}

// What was not given is named, and does not decide.
func TestNotChecked(t *testing.T) {
	u := unit(nil, holds(".", 5000, 900))
	u.Beside = nil
	r := preflight.Judge(preflight.Input{Units: []preflight.Unit{u}, Now: now})
	var got []string
	for _, n := range r.NotChecked {
		got = append(got, n.ID)
		if n.Needs == "" || n.Title == "" {
			t.Errorf("%+v", n)
		}
	}
	want := []string{"CH5", "CH9", "CH10", "SN1", "SN2", "SN3", "SN4", "SN6", "SN7", "SN8", "SN9"}
	if !slices.Equal(got, want) || r.Verdict != preflight.Safe || len(r.NotLookedAt) != 1 || !strings.Contains(r.NotLookedAt[0], charm.StorageDir) {
		t.Errorf("got %q, %s, %q", got, r.Verdict, r.NotLookedAt)
	}
}

// The documented trap, in words that a person understands.
func TestTheTrapIsToldPlainly(t *testing.T) {
	r := preflight.Judge(preflight.Input{Units: []preflight.Unit{unit(nil, holds(".", 5000, 900))}, Now: now,
		Snapshots: &preflight.Snapshots{Store: "DIR", All: []preflight.Snapshot{backup(time.Minute, charm.V2, nil)}}})
	f := r.Findings[0]
	for _, words := range []string{"v2 snapshot", "NO KUBERNETES DATA", "no pods, no deployments, no secrets", "restoring it gives an empty cluster"} {
		if f.ID != "SN1" || !strings.Contains(f.Message, words) {
			t.Errorf("%s does not say %q: %s", f.ID, words, f.Message)
		}
	}
	if !strings.HasPrefix(r.Do[0], "Do NOT upgrade") || !strings.Contains(strings.Join(r.Do, "\n"), "keys-version=v3") {
		t.Errorf("what to do: %q", r.Do)
	}
}

func TestParseConfigOfTheWriters(t *testing.T) {
	in := charmtest.Conf{Name: "etcd0", DataDir: charm.CurrentDir, Cluster: "etcd0=https://10.0.0.1:2380", Token: "012345", State: "existing", Client: "https://10.0.0.1:2379", Peer: "https://10.0.0.1:2380"}
	got, err := charm.ParseConfig(charmtest.Template(in))
	want := charm.Config{Writer: charm.WroteTemplate, Name: "etcd0", DataDir: charm.CurrentDir, InitialCluster: in.Cluster, State: "existing", Token: "012345"}
	if err != nil || got != want {
		t.Errorf("template: %v, %+v", err, got)
	}
	got, err = charm.ParseConfig(charmtest.Migrated(in))
	want = charm.Config{Writer: charm.WroteMigration, Name: "etcd0", DataDir: charm.CurrentDir}
	if err != nil || got != want {
		t.Errorf("migrated: %v, %+v", err, got)
	}
}

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"backstop/audit"
	"backstop/store"
	"backstop/store/storetest"
)

// When windows last began, at a time: a Monday to begin with.
func TestBegun(t *testing.T) {
	for _, c := range []struct{ cron, now, want string }{
		{"0 20 * * 1-5", "2026-11-30T20:00:00Z", "2026-11-30T20:00:00Z"},
		{"0 20 * * 1-5", "2026-11-30T19:59:59Z", "2026-11-27T20:00:00Z"},
		{"0 20 * * 1-5", "2026-11-29T12:00:00Z", "2026-11-27T20:00:00Z"},
		{"0 20 * * 1-5", "2026-12-01T06:00:00+09:00", "2026-11-30T20:00:00Z"},
		{"*/5 * * * *", "2026-11-30T12:04:59Z", "2026-11-30T12:00:00Z"},
		{"* * * * *", "2026-11-30T12:04:59Z", "2026-11-30T12:04:00Z"},
		{"0 0 1 7 *", "2026-11-30T12:00:00Z", "2026-07-01T00:00:00Z"},
		{"0 0 29 2 *", "2026-11-30T12:00:00Z", "2024-02-29T00:00:00Z"},
		{"0 2 29 3 *", "2026-03-29T02:30:00Z", "2026-03-29T02:00:00Z"}, // Europe puts its clocks forward; UTC does not
	} {
		got := begun([]audit.Window{{Cron: c.cron, For: time.Hour}}, at(c.now))[0].Began
		if !got.Equal(at(c.want)) {
			t.Errorf("%s at %s: %v, want %s", c.cron, c.now, got, c.want)
		}
	}
	for _, cron := range []string{"", "x", "TZ=UTC", "0 0 30 2 *"} {
		if got := begun([]audit.Window{{Cron: cron, Began: configNoon}}, configNoon)[0].Began; !got.IsZero() {
			t.Errorf("%q began %v", cron, got)
		}
	}
}

// A window silences late snapshots at night, also when what was recorded by day
// is judged as of the night, and the other way round.
func TestWindowsSurviveRecording(t *testing.T) {
	now := at("2026-11-30T18:07:10Z") // a Monday; the newest snapshot is seconds old
	_, b, endpoint := served(t, now, mustArchive(t, "healthy"))
	b.SetVersioning("Enabled")
	file := configured(t, fmt.Sprintf("version: 1\nstores:\n- url: s3://kops\n  endpoint_url: %s\n  windows:\n  - {cron: 0 20 * * 1-5, for: 11h, reason: at night}\n", endpoint))
	seen := filepath.Join(t.TempDir(), "seen.json")
	if r := command(t, now, "audit", "--config", file, "--record", seen); r.code != 0 {
		t.Fatalf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	replayed := []string{"--replay", seen, "--rules", "snapshot/late,snapshot/stale", "--at"}
	for at, want := range map[string][]string{
		"2026-11-30T19:50:00Z": {"warning snapshot/late"},
		"2026-11-30T20:00:00Z": nil,
		"2026-12-01T06:00:00Z": nil,
		"2026-12-01T08:00:00Z": nil, // for an hour after its end
		"2026-12-01T08:00:01Z": {"critical snapshot/stale"},
		"2026-12-02T02:00:00Z": nil,
		"2026-12-05T12:00:00Z": {"critical snapshot/stale"}, // a Saturday
	} {
		r, _ := reportOf(t, now, append(replayed, at)...)
		if got := findings(r); !sameSet(got, want) {
			t.Errorf("judged as of %s: %q, want %q", at, got, want)
		}
	}
	// Another configuration judges what was recorded anew.
	r, _ := reportOf(t, now, append(replayed, "2026-12-01T06:00:00Z", "--config", configured(t, "version: 1\nstores: [{url: s3://kops}]\n"))...)
	if got := findings(r); !sameSet(got, []string{"critical snapshot/stale"}) {
		t.Errorf("by another configuration: %q", got)
	}
	r, _ = reportOf(t, now, append(replayed, "2026-12-01T10:00:00Z", "--config", configured(t, "version: 1\ndefaults: {interval: 6h}\n"))...)
	if got := findings(r); len(got) != 0 {
		t.Errorf("by defaults: %q", got)
	}
	r, _ = reportOf(t, now, append(replayed, "2026-12-01T10:00:00Z", "--interval", "6h")...)
	if got := findings(r); len(got) != 0 {
		t.Errorf("by a flag: %q", got)
	}
}

// A replica is no alarm: not in the report, not at the gate, and there is nothing
// to repair.
func TestReplicaFromConfiguration(t *testing.T) {
	now := at("2026-11-30T18:08:05Z")
	_, b, endpoint := served(t, now, mustArchive(t, "armed"))
	b.SetVersioning("Enabled")
	config := func(role string) string {
		return configured(t, fmt.Sprintf("version: 1\nstores:\n- url: s3://kops\n  endpoint_url: %s\n  role: %s\n", endpoint, role))
	}
	for role, want := range map[string]struct {
		audit, gate, plan int
		say               []string
	}{
		"live":    {2, 2, 2, []string{"CRITICAL control/reset-armed", "NO GO", "The order of repair"}},
		"replica": {0, 3, 0, []string{"of no consequence in a store that is configured as replica: etcd-cluster-created is missing", "SKIPPED", "nothing to repair"}},
		"archive": {0, 3, 0, []string{"of no consequence in a store that is configured as archive: etcd-cluster-created is missing", "SKIPPED", "nothing to repair"}},
	} {
		for i, args := range [][]string{{"audit"}, {"gate"}, {"plan"}} {
			r := command(t, now, append(args, "--config", config(role))...)
			if code := []int{want.audit, want.gate, want.plan}[i]; r.code != code || !strings.Contains(r.stdout, want.say[i]) {
				t.Errorf("%s %s: exit %d, want %d and %q\n%s%s", args, role, r.code, code, want.say[i], r.stdout, r.stderr)
			}
		}
	}
	r, res := reportOf(t, now, "--config", config("replica"))
	if r.Stores[0].Role != audit.Replica || r.Stores[0].State.Name != "armed" {
		t.Errorf("%+v", r.Stores[0])
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(res.stdout))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile("../../docs/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("the report is not as published: %v", err)
	}
	// A live store beside it opens the gate.
	_, live, other := served(t, now, mustArchive(t, "healthy"))
	live.SetVersioning("Enabled")
	both := configured(t, fmt.Sprintf("version: 1\nstores:\n- {url: s3://kops, endpoint_url: %s, role: replica}\n- {url: s3://kops, endpoint_url: %s}\n", endpoint, other))
	if r := command(t, now, "gate", "--config", both); r.code != 0 || !strings.Contains(r.stdout, "GO: 1 store\n") {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// several serves four stores in one bucket: healthy ones, and one that was reset.
func several(t *testing.T, now time.Time) (endpoint string) {
	t.Helper()
	_, b, endpoint := served(t, now, nil)
	b.SetVersioning("Enabled")
	for i, name := range []string{"healthy", "healthy", "post-reset", "healthy"} {
		files := mustArchive(t, name)
		for j := range files {
			files[j].Key = strings.Replace(files[j].Key, "prod.", fmt.Sprintf("c%d.", i), 1)
		}
		b.Fill(files)
	}
	return endpoint
}

// In an entry of many stores an exception is told as unused once, and only if no
// store needs it.
func TestExceptionsOfManyStores(t *testing.T) {
	now := at("2026-11-30T18:09:08Z")
	endpoint := several(t, now)
	first, _ := reportOf(t, now, "s3://kops", "--endpoint-url", endpoint)
	var event string
	for _, f := range first.Stores[0].Findings {
		if f.Rule == "control/reseeded" {
			event = f.Event
		}
	}
	if event == "" {
		t.Fatalf("no event: %+v", first.Stores[0])
	}
	config := func(more string) string {
		return configured(t, fmt.Sprintf("version: 1\nstores:\n- url: s3://kops\n  endpoint_url: %s\n  acknowledged:\n  - {rule: control/reseeded, event: %s, reason: planned}\n%s", endpoint, event, more))
	}
	told := func(r audit.Report) (all []string) {
		for _, s := range r.Stores {
			for _, f := range s.Findings {
				if f.Rule == "audit/ignore" {
					all = append(all, strings.TrimPrefix(s.Store.URL, "s3://kops/")[:2]+" "+f.Observed[:strings.Index(f.Observed, " of the")])
				}
			}
		}
		return all
	}
	r, res := reportOf(t, now, "--config", config(""))
	if res.code != 0 || !slices.Contains(findings(r), "info control/reseeded") || len(told(r)) != 0 {
		t.Errorf("acknowledged: exit %d, %q, told %q", res.code, findings(r), told(r))
	}
	r, _ = reportOf(t, now, "--config", config("  - {rule: control/reseeded, event: 17, reason: another}\n  ignore:\n  - {rule: snapshot/late, until: 2026-01-01, reason: r}\n"))
	if got := told(r); !slices.Equal(got, []string{"c0 stores[0].acknowledged[1]", "c0 stores[0].ignore[0]"}) {
		t.Errorf("told %q", got)
	}
	// One store of the entry, asked for by itself, needs what it needs, and says
	// nothing of what the others may need.
	r, res = reportOf(t, now, "--config", config(""), "s3://kops/c1.example.com")
	if len(r.Stores) != 1 || res.code != 0 || len(told(r)) != 0 {
		t.Errorf("one of them: exit %d, %d stores, told %q", res.code, len(r.Stores), told(r))
	}
	r, res = reportOf(t, now, "--config", config(""), "s3://kops/c2.example.com")
	if res.code != 0 || !slices.Contains(findings(r), "info control/reseeded") {
		t.Errorf("the one that was reset: exit %d, %q", res.code, findings(r))
	}
}

// A store that two entries lead to belongs to the one that names it more
// closely, in whatever order they stand.
func TestTheCloserEntryCounts(t *testing.T) {
	now := at("2026-11-30T18:09:08Z")
	endpoint := several(t, now)
	wide := "- {url: s3://kops, endpoint_url: " + endpoint + "}\n"
	narrow := "- {url: s3://kops/c2.example.com/backups/etcd/main, endpoint_url: " + endpoint + ", role: archive}\n"
	for _, order := range []string{wide + narrow, narrow + wide} {
		file := configured(t, "version: 1\nstores:\n"+order)
		r, _ := reportOf(t, now, "--config", file)
		if len(r.Stores) != 4 || r.Verdict != audit.OK {
			t.Errorf("%d stores, %s: %q", len(r.Stores), r.Verdict, findings(r))
		}
		r, _ = reportOf(t, now, "--config", file, "s3://kops/c2.example.com/backups/etcd/main/")
		if len(r.Stores) != 1 || r.Stores[0].Role != audit.Archive || r.Stores[0].Store.NamedBy != "configuration" {
			t.Errorf("asked for by itself: %+v", r.Stores)
		}
		if r, _ := reportOf(t, now, "--config", file, "s3://kops/c2.example.com/backups"); r.Stores[0].Role != "" || r.Stores[0].Store.NamedBy != "" {
			t.Errorf("asked for from above: %+v", r.Stores)
		}
	}
}

func TestEntryOf(t *testing.T) {
	c, wrong := parseConfig([]byte("version: 1\nstores:\n- url: s3://abc\n- url: s3://abc/prod/main\n- url: /srv/copy\n- {url: s3://abc/prod, endpoint_url: https://s3.example.org}\n- url: s3://abd/x/\n"), configNoon)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	for _, e := range []struct {
		arg, endpoint string
		want          int
		whole         bool
	}{
		{"s3://abc", "", 0, true}, {"s3://abc/", "", 0, true}, {"s3://abc/test", "", 0, false}, {"s3://abc/prod/main", "", 1, true}, {"s3://abc/prod/main/x", "", 1, false},
		{"s3://abc/prod/mainz", "", 3, false}, {"s3://abc/prod", "https://other.example.org", 0, false}, {"s3://abc/prod", "https://s3.example.org", 3, true},
		{"/srv/copy/", "", 2, true}, {"/srv/copy/a", "", 2, false}, {"/srv/copycat", "", -1, false}, {"s3://abd", "", -1, false}, {"s3://abd/x", "", 4, true}, {"s3://other", "", -1, false}, {"/", "", -1, false},
	} {
		at, err := store.ParseTarget(e.arg)
		if err != nil {
			t.Fatal(err)
		}
		if got, whole := c.entryOf(at, e.endpoint); got != e.want || whole != e.whole {
			t.Errorf("%s at %q: stores[%d], whole %t; want %d, %t", e.arg, e.endpoint, got, whole, e.want, e.whole)
		}
	}
}

// A provider that cannot tell is assumed about, and only one that cannot tell.
func TestAssumeFromConfiguration(t *testing.T) {
	now := at("2026-11-30T18:07:10Z")
	fake, b, endpoint := served(t, now, mustArchive(t, "healthy"))
	b.SetVersioning("Enabled")
	fault := func(status int, code string) {
		fake.Fault(func(r storetest.Request) *storetest.Fault {
			if r.Operation != "GetBucketLifecycleConfiguration" {
				return nil
			}
			return &storetest.Fault{Kind: storetest.Refused, Status: status, Code: code, Message: "no"}
		})
	}
	assume := func(until string) string {
		return configured(t, fmt.Sprintf("version: 1\nstores:\n- url: s3://kops\n  endpoint_url: %s\n  assume: [{fact: lifecycle, value: none, until: %s, reason: console checked}]\n", endpoint, until))
	}
	for name, c := range map[string]struct {
		status      int
		code, until string
		verdict     audit.Verdict
		find        string
	}{
		"cannot tell": {501, "NotImplemented", "2027-06-30", audit.OK, "info audit/assumed"},
		"it ended":    {501, "NotImplemented", "2026-11-30", audit.VerdictUnknown, "info audit/ignore"},
		"refused":     {403, "AccessDenied", "2027-06-30", audit.VerdictUnknown, "info audit/ignore"},
		"can tell":    {0, "", "2027-06-30", audit.OK, "info audit/ignore"},
	} {
		fault(c.status, c.code)
		if c.status == 0 {
			fake.Fault(nil)
		}
		r, res := reportOf(t, now, "--config", assume(c.until))
		if r.Verdict != c.verdict || !slices.Contains(findings(r), c.find) {
			t.Errorf("%s: %s, %q\n%s", name, r.Verdict, findings(r), res.stderr)
		}
	}
}

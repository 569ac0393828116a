package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"backstop/audit"
	"backstop/store/storetest"
)

// A random fleet: clusters in good and in bad states, some with a store elsewhere, in a
// bucket with a lifecycle rule that concerns some of them or all.
func randomFleet(w *scene, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	backups := w.bucket("backups")
	for i := range 2 + r.IntN(7) {
		name := fmt.Sprintf("c%d-%d.example.com", seed, i)
		elsewhere := r.IntN(4) == 0
		w.kops(name, 300*day, func(c *clusterSpec) {
			c.etcds = []string{"main", "events"}
			if elsewhere {
				c.store = map[string]string{"events": "s3://backups/" + name + "-events"}
			}
		})
		main := w.tree(name+"/backups/etcd/main").born(300*day).takes(26*hour, 2*hour, 5*minute)
		events := w.tree(name + "/backups/etcd/events")
		if elsewhere {
			events = w.treeIn(backups, name+"-events")
		}
		if r.IntN(5) > 0 {
			events.born(300 * day).takes(time.Duration(1+r.IntN(60)) * hour)
		}
		switch r.IntN(6) {
		case 0:
			main.loses(hour, "control/etcd-cluster-created")
		case 1:
			main.loses(hour, "control/etcd-cluster-spec")
		case 2:
			main.queues(hour, "2020-01-01T00:00:00Z-000001")
		case 3:
			w.tree(fmt.Sprintf("stray-%d", i)).born(20 * day).takes(hour)
		}
	}
	prefix := []string{"", fmt.Sprintf("c%d-1.example.com/", seed), "logs/"}[r.IntN(3)]
	w.lifecycle("<Rule><ID>old</ID><Status>Enabled</Status><Filter><Prefix>" + prefix + "</Prefix></Filter><Expiration><Days>330</Days></Expiration></Rule>")
}

// withoutCost writes a report without what it cost, and without what a shard is.
func withoutCost(t *testing.T, r audit.Report) string {
	t.Helper()
	r.Usage, r.Shard = audit.Usage{}, nil
	for i := range r.Stores {
		r.Stores[i].Usage = audit.Usage{}
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The union of the shards is what one run reports, whatever the fleet and the number
// of shards; in every format, metrics among them.
func TestUnionOfShardsIsTheWhole(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newScene(t)
			randomFleet(w, seed)
			w.places = [][]string{{"s3://kops-state"}, {"s3://kops-state", "s3://nowhere"}}[seed%2]
			whole, _ := w.look()
			for _, n := range []int{1, 3, 8} {
				files, asked := w.shards(n)
				out := filepath.Join(t.TempDir(), "union.json")
				res := command(t, w.now, append([]string{"merge", "-o", "text", "-o", "json=" + out}, files...)...)
				var union audit.Report
				if err := json.Unmarshal([]byte(readText(t, out)), &union); err != nil {
					t.Fatalf("merge: exit %d: %v\n%s", res.code, err, res.stderr)
				}
				w.holdToSchema(readText(t, out))
				if got, want := withoutCost(t, union), withoutCost(t, whole); got != want {
					t.Errorf("%d shards: the union is\n%s\nand not\n%s", n, got, want)
				}
				if sumOf(union.Usage.Requests) != asked {
					t.Errorf("%d shards: the union has %d requests, and the shards made %d", n, sumOf(union.Usage.Requests), asked)
				}
				if want := statusOf(whole, audit.VerdictWarning, false); res.code != want {
					t.Errorf("%d shards: merge exits with %d, want %d", n, res.code, want)
				}
			}
		})
	}
}

// shards audits the scene in shards, and gives their reports and the requests that
// they made.
func (w *scene) shards(n int) (files []string, requests int) {
	w.t.Helper()
	dir := w.t.TempDir()
	flags := w.flags
	defer func() { w.flags = flags }()
	for i := range n {
		w.flags = append(flags[:len(flags):len(flags)], "--shard", fmt.Sprintf("%d/%d", i, n))
		r, res := w.look()
		if r.Total == 0 && len(r.Problems) == 0 && res.code != 0 {
			w.t.Errorf("the empty shard %d/%d exits with %d", i, n, res.code)
		}
		file := filepath.Join(dir, fmt.Sprintf("%d.json", i))
		if err := os.WriteFile(file, []byte(res.stdout), 0o600); err != nil {
			w.t.Fatal(err)
		}
		files = append(files, file)
		requests += sumOf(r.Usage.Requests)
	}
	return files, requests
}

func sumOf(counts map[string]int) int {
	n := 0
	for _, of := range counts {
		n += of
	}
	return n
}

func readText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A shard that could not list the bucket must not be OK because the stores might be
// others', and the union must not be.
func TestShardThatSawNothingIsNotOK(t *testing.T) {
	w := newScene(t)
	w.prod()
	w.fails("ListObjectsV2", storetest.Fault{Kind: storetest.Refused, Status: 403, Code: "AccessDenied"})
	files, _ := w.shards(4)
	for _, f := range files {
		var r audit.Report
		if err := json.Unmarshal([]byte(readText(t, f)), &r); err != nil || r.Verdict != audit.VerdictUnknown {
			t.Errorf("%s: %v %s, want UNKNOWN", f, err, r.Verdict)
		}
	}
	if res := command(t, w.now, append([]string{"merge"}, files...)...); res.code != exitUnknown || !strings.Contains(res.stdout, "checked 0 of 1 store") {
		t.Errorf("merge: exit %d\n%s", res.code, res.stdout)
	}
}

// What is wrong with the reports of shards is told, and is never OK.
func TestMergeTellsWhatIsMissing(t *testing.T) {
	w := newScene(t)
	w.kops("prod.example.com", 400*day, func(c *clusterSpec) { c.etcds = []string{"main", "events"} })
	for _, etcd := range []string{"main", "events"} {
		w.tree("prod.example.com/backups/etcd/" + etcd).lives(400 * day)
	}
	files, _ := w.shards(3)
	if res := command(t, w.now, append([]string{"merge"}, files...)...); res.code != exitOK || strings.Contains(res.stdout, "alone") {
		t.Fatalf("the whole fleet: exit %d\n%s", res.code, res.stdout)
	}
	edit := func(file string, change func(r *audit.Report)) string {
		var r audit.Report
		if err := json.Unmarshal([]byte(readText(t, file)), &r); err != nil {
			t.Fatal(err)
		}
		change(&r)
		b, _ := json.Marshal(r)
		name := filepath.Join(t.TempDir(), "edited.json")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	torn := filepath.Join(t.TempDir(), "torn.json")
	if err := os.WriteFile(torn, []byte(readText(t, files[1])[:100]), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		files []string
		say   string
	}{
		"one is not given":    {[]string{files[0], files[2]}, "there is no report of shard 1/3"},
		"one does not exist":  {[]string{files[0], files[1] + "x", files[2]}, "no such file"},
		"one is torn":         {[]string{files[0], torn, files[2]}, "no whole JSON document"},
		"one is old":          {[]string{files[0], edit(files[1], func(r *audit.Report) { r.Judged = r.Judged.Add(-61 * time.Minute) }), files[2]}, "is 61m old"},
		"another version":     {[]string{files[0], files[2], edit(files[1], func(r *audit.Report) { r.Shard.Version = "0.9.0"; r.Judged = r.Judged.Add(-time.Second) })}, "written by backstop 0.9.0"},
		"another count":       {[]string{files[0], files[2], edit(files[1], func(r *audit.Report) { r.Shard.Of = 4; r.Judged = r.Judged.Add(-time.Second) })}, "of another run"},
		"other places":        {[]string{files[0], files[2], edit(files[1], func(r *audit.Report) { r.Shard.Looked = nil; r.Judged = r.Judged.Add(-time.Second) })}, "of another run"},
		"another schema":      {[]string{files[0], files[2], edit(files[1], func(r *audit.Report) { r.Schema = 2 })}, "schema 2"},
		"no shard":            {[]string{files[0], files[2], edit(files[1], func(r *audit.Report) { r.Shard = nil })}, "no report of a shard"},
		"fewer than it says":  {[]string{files[0], files[2], edit(files[1], func(r *audit.Report) { r.Total++ })}, "contradicts itself"},
		"an index of no sort": {[]string{files[0], files[2], edit(files[1], func(r *audit.Report) { r.Shard.Index = 3 })}, "contradicts itself"},
	} {
		res := command(t, w.now, append([]string{"merge"}, c.files...)...)
		if res.code != exitUnknown || !strings.Contains(res.stdout, c.say) || !strings.Contains(res.stdout, "there is no report of shard 1/3") {
			t.Errorf("%s: exit %d, want %d and %q\n%s%s", name, res.code, exitUnknown, c.say, res.stdout, res.stderr)
		}
	}
	if res := command(t, w.now, "merge", torn); res.code != exitUsage {
		t.Errorf("no report at all: exit %d, want %d", res.code, exitUsage)
	}
	if res := command(t, w.now, "merge", files[0], files[0], files[1]); res.code != exitUsage || !strings.Contains(res.stderr, "both of shard 0/3") {
		t.Errorf("one twice: exit %d %s", res.code, res.stderr)
	}
	if res := command(t, w.now.Add(day), append([]string{"merge", "--max-age", "0"}, files...)...); res.code != exitOK {
		t.Errorf("without a limit: exit %d\n%s", res.code, res.stdout)
	}
}

// A Kubernetes Indexed Job says which shard a pod is.
func TestShardFlags(t *testing.T) {
	dir := copied(t, mustArchive(t, "healthy"))
	now := at(realStores["healthy"].at)
	run := func(env map[string]string, args ...string) result {
		return commandIn(t, t.Context(), now, env, append([]string{"audit", dir, "--interval", "25s"}, args...)...)
	}
	in := 0
	for i := range 2 {
		res := run(map[string]string{jobIndex: fmt.Sprint(i)}, "--shards", "2")
		if !strings.Contains(res.stdout, fmt.Sprintf("shard %d/2 alone", i)) {
			t.Errorf("index %d: exit %d\n%s%s", i, res.code, res.stdout, res.stderr)
		}
		in += strings.Count(res.stdout, "running ")
	}
	if in != 1 {
		t.Errorf("the store is in %d shards", in)
	}
	for name, args := range map[string][]string{
		"no index":   {"--shards", "2"},
		"both":       {"--shards", "2", "--shard", "0/2"},
		"none":       {"--shards", "0"},
		"beyond":     {"--shard", "2/2"},
		"textfile":   {"--shard", "0/2", "--textfile", t.TempDir()},
		"watch":      {"--shard", "0/2", "--watch", "1s"},
		"pushing":    {"--shard", "0/2", "--pushgateway", "http://127.0.0.1:1"},
		"merge ages": {"--max-age", "1h"},
	} {
		if res := run(nil, args...); res.code != exitUsage {
			t.Errorf("%s: exit %d, want %d: %s", name, res.code, exitUsage, res.stderr)
		}
	}
}

// Metrics that are told of the union count nothing twice, and those of a run that lacks
// a shard take no store for vanished.
func TestMergeTellsMetrics(t *testing.T) {
	w := newScene(t)
	randomFleet(w, 3)
	w.lifecycle("<Rule><ID>old</ID><Status>Enabled</Status><Filter><Prefix></Prefix></Filter><Expiration><Days>330</Days></Expiration></Rule>")
	files, _ := w.shards(4)
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.prom")
	w.flags = []string{"-o", "prometheus=" + whole}
	w.look()
	command(t, w.now, append([]string{"merge", "--textfile", dir}, files...)...)
	got, want := series(readText(t, filepath.Join(dir, "backstop.prom"))), series(readText(t, whole))
	if got != want || !strings.Contains(got, "lifecycle/") {
		t.Errorf("metrics of the union:\n%s\nwant\n%s", got, want)
	}
}

// series are the lines of metrics but for those that count requests.
func series(text string) string {
	var keep []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "_s3_") {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep, "")
}

// A recording is judged in shards as the stores themselves are.
func TestShardsOfARecording(t *testing.T) {
	w := newScene(t)
	randomFleet(w, 5)
	rec := filepath.Join(t.TempDir(), "seen.json")
	w.flags = []string{"--record", rec}
	whole, _ := w.look()
	var files []string
	for i := range 3 {
		f := filepath.Join(t.TempDir(), fmt.Sprintf("%d.json", i))
		command(t, w.now, "audit", "--replay", rec, "--shard", fmt.Sprintf("%d/3", i), "-o", "json="+f)
		files = append(files, f)
	}
	var union audit.Report
	res := command(t, w.now, append([]string{"merge", "-o", "json"}, files...)...)
	if err := json.Unmarshal([]byte(res.stdout), &union); err != nil {
		t.Fatal(err, res.stderr)
	}
	if got, want := withoutCost(t, union), withoutCost(t, whole); got != want {
		t.Errorf("the union is\n%s\nand not\n%s", got, want)
	}
}

// An exception that is of use in another shard is not called idle.
func TestExceptionsOfOtherShards(t *testing.T) {
	w := newScene(t)
	for i := range 8 {
		name := fmt.Sprintf("c%d.example.com", i)
		w.kops(name, 300*day, func(c *clusterSpec) { c.etcds = []string{"main", "events"} })
		w.tree(name + "/backups/etcd/main").lives(300 * day)
		w.tree(name + "/backups/etcd/events").lives(300 * day)
	}
	w.tree("c3.example.com/backups/etcd/main").loses(hour, "control/etcd-cluster-spec")
	w.config = "  - url: s3://kops-state\n    ignore: [{rule: control/spec-missing, until: 2026-12-05, reason: being retired}]\n"
	files, _ := w.shards(4)
	for _, f := range files {
		if text := readText(t, f); strings.Contains(text, "audit/ignore") {
			t.Errorf("%s calls the exception idle", f)
		}
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// grown fills a bucket with a store that has run for a while: its control files
// are of these ages, and there is a snapshot of each noon since created, and of
// the last hours.
func grown(b *storetest.Bucket, now time.Time, created, spec time.Duration) {
	b.SetVersioning("Enabled")
	born := now.Add(-created)
	b.Put(mainStore+etcdmanager.CreatedPath, etcdmanager.FormatCreated(born), storetest.WithTime(born))
	b.Put(mainStore+etcdmanager.SpecPath, etcdmanager.FormatSpec(etcdmanager.ClusterSpec{MemberCount: 3, EtcdVersion: "3.5.30"}), storetest.WithTime(now.Add(-spec)))
	noon := born.Truncate(audit.Day).Add(36 * time.Hour)
	for at := noon; at.Before(now.Add(-2 * time.Hour)); at = at.Add(audit.Day) {
		backup(b, at)
	}
	for age := 90 * time.Minute; age > 0; age -= 15 * time.Minute {
		backup(b, now.Add(-age))
	}
}

// backup puts the snapshot of a time into the store.
func backup(b *storetest.Bucket, at time.Time) {
	name := etcdmanager.FormatName(at, 1)
	meta := fmt.Sprintf(`{"etcdVersion": "3.5.30", "timestamp": "%d", "clusterSpec": {"memberCount": 3, "etcdVersion": "3.5.30"}}`, at.Unix())
	b.Put(mainStore+name+"/"+etcdmanager.DataFile, make([]byte, 5000), storetest.WithTime(at.Add(time.Second)))
	b.Put(mainStore+name+"/"+etcdmanager.MetaFile, []byte(meta), storetest.WithTime(at.Add(2*time.Second)))
}

// ninetyDays is the rule of the incident.
const ninetyDays = `<LifecycleConfiguration><Rule><ID>prune</ID><Status>Enabled</Status><Filter/><Expiration><Days>90</Days></Expiration></Rule></LifecycleConfiguration>`

// forecastOf runs a forecast with JSON output and parses it.
func forecastOf(t *testing.T, now time.Time, args ...string) (report.Forecast, result) {
	t.Helper()
	r := command(t, now, append([]string{"forecast", "-o", "json"}, args...)...)
	var f report.Forecast
	if err := json.Unmarshal([]byte(r.stdout), &f); err != nil {
		t.Fatalf("backstop forecast %q: exit %d, not JSON (%v)\n%s\n%s", args, r.code, err, r.stdout, r.stderr)
	}
	return f, r
}

// The incident: a rule of 90 days on the whole bucket. From the day on which
// somebody adds it, the audit and the forecast say what will come, and on the
// same day; and when the day comes, that is what is there.
func TestIncident(t *testing.T) {
	for name, c := range map[string]struct {
		created, spec time.Duration
		day           string // on which created goes
		says          []string
		never         string
		state         string // when lifecycle has acted
		reset         bool
	}{
		"spec was rewritten later": {60 * audit.Day, 20 * audit.Day, "2026-12-31",
			[]string{"created goes first: reset with nobody touching it", "etcd-cluster-spec stays until 2027-02-09 00:00:00Z"}, "armed at best", "imminent", true},
		"both equally old": {60 * audit.Day, 60 * audit.Day, "2026-12-31",
			[]string{"armed at best", "eset possible"}, "created goes first", "armed", false},
	} {
		t.Run(name, func(t *testing.T) {
			now := at("2026-11-30T12:00:00Z")
			fake := storetest.NewFake(func() time.Time { return now })
			b := fake.CreateBucket("kops")
			b.Configure(wellKept())
			grown(b, now, c.created, c.spec)
			endpoint := fake.URL(t)
			look := []string{"s3://kops", "--endpoint-url", endpoint}

			r, _ := reportOf(t, now, look...)
			f, _ := forecastOf(t, now, look...)
			if r.Verdict != audit.OK || f.Verdict != audit.OK {
				t.Fatalf("before the rule: the audit says %s %q, the forecast %s", r.Verdict, findings(r), f.Verdict)
			}

			b.SetLifecycle([]byte(ninetyDays))
			due := at(c.day + "T00:00:00Z")
			for _, day := range []time.Duration{0, 14 * audit.Day, 24 * audit.Day, 30 * audit.Day} {
				now = at("2026-11-30T12:00:00Z").Add(day)
				verdict, status := audit.VerdictWarning, 1
				if due.Sub(now) <= 7*audit.Day {
					verdict, status = audit.VerdictCritical, 2
				}
				backup(b, now.Add(-5*time.Minute))
				r, res := reportOf(t, now, look...)
				i := slices.IndexFunc(r.Stores[0].Findings, func(f audit.Finding) bool { return f.Rule == "lifecycle/deletes-control" })
				if r.Verdict != verdict || res.code != status || i < 0 {
					t.Fatalf("%v later: the audit says %s %q (exit %d), want %s", day, r.Verdict, findings(r), res.code, verdict)
				}
				said := r.Stores[0].Findings[i].Message
				for _, w := range append(c.says, "on "+audit.Stamp(due), "Point of no return: "+audit.Stamp(due)) {
					if !strings.Contains(said, w) {
						t.Errorf("%v later: the audit does not say %q: %s", day, w, said)
					}
				}
				f, _ := forecastOf(t, now, look...)
				tl := f.Stores[0]
				if !tl.NoReturn.Equal(due) || !tl.Control[0].Gone.Equal(due) || tl.Reset.Equal(due) != c.reset {
					t.Errorf("%v later: the forecast says no return %v, reset %v, want %v", day, tl.NoReturn, tl.Reset, due)
				}
				text := command(t, now, append([]string{"forecast"}, look...)...).stdout
				for _, w := range append(c.says, c.day+" 00:00Z", "POINT OF NO RETURN "+c.day) {
					if !strings.Contains(text, w) {
						t.Errorf("%v later: the forecast does not say %q:\n%s", day, w, text)
					}
				}
				if strings.Contains(text, c.never) || strings.Contains(said, c.never) {
					t.Errorf("%v later: something says %q", day, c.never)
				}
			}

			// The day comes.
			now = due.Add(time.Hour)
			b.Delete(mainStore+etcdmanager.CreatedPath, storetest.WithTime(due))
			if !c.reset {
				b.Delete(mainStore+etcdmanager.SpecPath, storetest.WithTime(due))
			}
			if r, _ := reportOf(t, now, look...); r.Stores[0].State.Name != c.state || r.Verdict != audit.VerdictCritical {
				t.Errorf("when lifecycle has acted the state is %s, %s", r.Stores[0].State.Name, r.Verdict)
			}
		})
	}
}

// worldWith is a bucket with a grown store at a time.
func worldWith(t *testing.T, change func(b *storetest.Bucket)) (now time.Time, endpoint string) {
	t.Helper()
	now = at("2026-11-30T12:00:00Z")
	fake := storetest.NewFake(func() time.Time { return now })
	b := fake.CreateBucket("kops")
	b.Configure(wellKept())
	grown(b, now, 60*audit.Day, 20*audit.Day)
	if change != nil {
		change(b)
	}
	return now, fake.URL(t)
}

func ruled(xml string) func(b *storetest.Bucket) {
	return func(b *storetest.Bucket) { b.SetLifecycle([]byte(xml)) }
}

// snapshotsAfter prunes snapshots alone, by the one prefix that can.
func snapshotsAfter(days int) string {
	return fmt.Sprintf(`<LifecycleConfiguration><Rule><ID>snapshots</ID><Status>Enabled</Status><Filter><Prefix>%s20</Prefix></Filter><Expiration><Days>%d</Days></Expiration></Rule></LifecycleConfiguration>`, mainStore, days)
}

var forecastWorlds = map[string]struct {
	change func(b *storetest.Bucket)
	args   []string
	code   int
	say    []string
}{
	"healthy":  {nil, nil, 0, []string{"No lifecycle rule takes a control file until 2028-11-29"}},
	"incident": {ruled(ninetyDays), []string{"--at", "2027-02-01"}, 1, nil},
	"armed": {func(b *storetest.Bucket) {
		b.Delete(mainStore+etcdmanager.CreatedPath, storetest.WithTime(at("2026-11-30T00:00:00Z")))
		b.Delete(mainStore+etcdmanager.SpecPath, storetest.WithTime(at("2026-11-30T00:00:00Z")))
		b.SetLifecycle([]byte(strings.Replace(ninetyDays, "</Rule>", "<NoncurrentVersionExpiration><NoncurrentDays>7</NoncurrentDays></NoncurrentVersionExpiration></Rule>", 1)))
	}, nil, 2, []string{"destroys the last version of etcd-cluster-created and etcd-cluster-spec"}},
	"imminent":     {func(b *storetest.Bucket) { b.Purge(mainStore + etcdmanager.CreatedPath) }, []string{"--within", "90d"}, 2, []string{"RESET at any moment"}},
	"ladder":       {ruled(snapshotsAfter(30)), []string{"--within", "60d"}, 1, nil},
	"rules-unseen": {func(b *storetest.Bucket) { b.SetLifecycle([]byte(ninetyDays)); b.Deny("s3:GetLifecycleConfiguration") }, nil, 3, []string{"NOT KNOWN"}},
	"nothing-seen": {func(b *storetest.Bucket) {
		b.Deny("s3:ListBucket", "s3:GetObject", "s3:GetLifecycleConfiguration", "s3:GetBucketVersioning", "s3:ListBucketVersions")
	}, nil, 77, []string{"NOT KNOWN"}},
}

// What a person reads, word for word, with the exit status; and what a program
// reads is as the published schema has it.
func TestForecastOutputs(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/forecast.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range forecastWorlds {
		t.Run(name, func(t *testing.T) {
			now, endpoint := worldWith(t, c.change)
			args := append([]string{"forecast", "s3://kops/" + strings.TrimSuffix(mainStore, "/"), "--endpoint-url", endpoint}, c.args...)
			r := command(t, now, args...)
			if r.code != c.code {
				t.Errorf("exit %d, want %d: %s", r.code, c.code, r.stderr)
			}
			golden(t, "forecast-"+name+".txt", r.stdout)
			for _, w := range c.say {
				if !strings.Contains(r.stdout, w) {
					t.Errorf("nothing says %q", w)
				}
			}
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(command(t, now, append(args, "-o", "json")...).stdout))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(doc); err != nil {
				t.Error(err)
			}
		})
	}
	now, endpoint := worldWith(t, ruled(ninetyDays))
	golden(t, "forecast-incident.md", command(t, now, "forecast", "s3://kops", "--endpoint-url", endpoint, "-o", "markdown").stdout)
	bad, _ := jsonschema.UnmarshalJSON(strings.NewReader(`{"schema":1,"verdict":"FINE","from":"x","to":"x","stores":[]}`))
	if schema.Validate(bad) == nil {
		t.Error("the schema accepts a verdict that there is not")
	}
}

// The stores that a real etcd-manager wrote are foretold too, each as the schema
// has it.
func TestForecastOfRealStores(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/forecast.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range realStores {
		_, _, endpoint := served(t, at(c.at), mustArchive(t, name))
		for _, args := range [][]string{{"s3://kops", "--endpoint-url", endpoint}, {"s3://nobucket", "--endpoint-url", endpoint}, {t.TempDir()}, {copied(t, mustArchive(t, name))}} {
			r := command(t, at(c.at), append([]string{"forecast", "-o", "json"}, args...)...)
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(r.stdout))
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, r.stdout)
			}
			if err := schema.Validate(doc); err != nil {
				t.Errorf("%s %q: %v", name, args, err)
			}
		}
	}
}

// ninetyDaysPlan is ninetyDays as a Terraform plan has it.
func ninetyDaysPlan(bucket string) string {
	return `{"format_version":"1.2","resource_changes":[{"address":"aws_s3_bucket_lifecycle_configuration.x","type":"aws_s3_bucket_lifecycle_configuration","name":"x",
		"provider_name":"registry.terraform.io/hashicorp/aws","change":{"actions":["create"],"before":null,"after_unknown":{},
		"after":{"bucket":"` + bucket + `","rule":[{"id":"prune","status":"Enabled","filter":[{"prefix":""}],"expiration":[{"days":90}]}]}}}]}`
}

// ninetyDaysTemplate is ninetyDays in CloudFormation.
const ninetyDaysTemplate = `
Resources:
  State:
    Type: AWS::S3::Bucket
    Properties:
      BucketName: kops
      LifecycleConfiguration:
        Rules:
          - {Id: prune, Status: Enabled, ExpirationInDays: 90}
`

// A proposed policy stands in the place of the bucket's own.
func TestForecastPolicy(t *testing.T) {
	dir := t.TempDir()
	file := func(name, body string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	now, endpoint := worldWith(t, nil)
	look := []string{"s3://kops", "--endpoint-url", endpoint}
	for name, body := range map[string]string{
		"policy.xml":  ninetyDays,
		"policy.json": `{"Rules":[{"ID":"prune","Status":"Enabled","Filter":{},"Expiration":{"Days":90}}]}`,
		"plan.json":   ninetyDaysPlan("kops"),
		"stack.yaml":  ninetyDaysTemplate,
	} {
		f, r := forecastOf(t, now, append(look, "--policy", file(name, body))...)
		if tl := f.Stores[0]; r.code != 1 || !tl.Proposed || f.Policy != name || !tl.Reset.Equal(at("2026-12-31T00:00:00Z")) {
			t.Errorf("%s: exit %d, policy %q, reset %v", name, r.code, f.Policy, tl.Reset)
		}
		if got := f.Stores[0].Rules; len(got) != 1 || len(got[0].Control) != 2 || got[0].Snapshots != 65 || got[0].Due != 0 {
			t.Errorf("%s: it reaches %+v", name, got)
		}
	}
	// The other way round: what the bucket has is gone under a proposal without it.
	now, endpoint = worldWith(t, ruled(ninetyDays))
	f, r := forecastOf(t, now, "s3://kops", "--endpoint-url", endpoint, "--policy", file("mpu.json",
		`{"Rules":[{"ID":"mpu","Status":"Enabled","Filter":{},"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":7}}]}`))
	if r.code != 0 || !f.Stores[0].NoReturn.IsZero() {
		t.Errorf("a harmless proposal: exit %d, no return %v", r.code, f.Stores[0].NoReturn)
	}
	for what, c := range map[string]struct{ file, say string }{
		"no file":            {filepath.Join(dir, "none"), "no such file"},
		"not a policy":       {file("x", "hello"), "--policy reads a lifecycle configuration"},
		"another bucket":     {file("o", ninetyDaysPlan("other")), "it says nothing of bucket kops; it has the lifecycle rules of other"},
		"not known yet":      {file("u", strings.Replace(ninetyDaysTemplate, "90", "!GetAtt Age.Days", 1)), "not known before it is applied"},
		"no rules in it":     {file("n", `{"AWSTemplateFormatVersion":"2010-09-09","Resources":{"Q":{"Type":"AWS::SQS::Queue"}}}`), "it holds no lifecycle configuration"},
		"S3 would refuse it": {file("y", `{"Rules":[{"ID":"a","Status":"Enabled","Filter":{},"Expiration":{"Days":0}}]}`), "S3 would refuse it"},
	} {
		r := command(t, now, append([]string{"forecast", "--policy", c.file}, look...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, c.say) || r.stdout != "" {
			t.Errorf("%s: exit %d, %q, stdout %q", what, r.code, r.stderr, r.stdout)
		}
	}
}

// What was recorded is foretold the same elsewhere, from the time of the look;
// --at asks about a time to come, or makes an earlier one the beginning.
func TestForecastReplay(t *testing.T) {
	now, endpoint := worldWith(t, ruled(ninetyDays))
	seen := filepath.Join(t.TempDir(), "seen.json")
	live, _ := forecastOf(t, now, "s3://kops", "--endpoint-url", endpoint, "--record", seen)
	again, _ := forecastOf(t, now.Add(1000*time.Hour), "--replay", seen)
	a, _ := json.Marshal(live)
	b, _ := json.Marshal(again)
	if string(a) != string(b) {
		t.Errorf("replayed differently:\n%s\n%s", a, b)
	}
	later, _ := forecastOf(t, now, "--replay", seen, "--at", "2027-02-01", "--within", "30d")
	if s := later.Stores[0].At; s == nil || s.State != etcdmanager.Running || s.Window.Count == 0 || !later.To.Equal(at("2027-02-01T00:00:00Z")) {
		t.Errorf("on the first of February: %+v, until %v", s, later.To)
	}
	earlier, _ := forecastOf(t, now, "--replay", seen, "--at", "2026-11-30T11:00:00Z")
	if !earlier.From.Equal(at("2026-11-30T11:00:00Z")) || earlier.Stores[0].At != nil {
		t.Errorf("from %v, at %v", earlier.From, earlier.Stores[0].At)
	}
}

func TestForecastUsage(t *testing.T) {
	now := at("2026-11-30T12:00:00Z")
	for _, args := range [][]string{{"--within", "1h"}, {"--within", "11y"}, {"--within", "soon"}, {"--fail-on", "never"}, {"-o", "nagios"}, {"-o", "text", "-o", "json"}, {"--at", "tomorrow"}} {
		if r := command(t, now, append([]string{"forecast", "s3://kops"}, args...)...); r.code != exitUsage {
			t.Errorf("%q: exit %d", args, r.code)
		}
	}
	_, endpoint := worldWith(t, ruled(ninetyDays))
	for _, c := range []struct {
		args []string
		code int
	}{{nil, 1}, {[]string{"--fail-on", "critical"}, 0}, {[]string{"--exit-zero"}, 0}} {
		if r := command(t, now, append([]string{"forecast", "s3://kops", "--endpoint-url", endpoint}, c.args...)...); r.code != c.code {
			t.Errorf("%q: exit %d, want %d", c.args, r.code, c.code)
		}
	}
}

// After the real reset the good snapshots fall one by one at the first cleanups
// after 19:05:47, 19:06:17 and 19:06:47, because an empty one is the earliest of
// their hour.
func TestThinningAfterTheRealReset(t *testing.T) {
	now := at("2026-11-30T18:09:08Z")
	dir := copied(t, mustArchive(t, "post-reset"))
	r, _ := reportOf(t, now, "--interval", "25s", dir)
	i := slices.IndexFunc(r.Stores[0].Findings, func(f audit.Finding) bool { return f.Rule == "retention/last-good-expiring" })
	if i < 0 {
		t.Fatalf("findings %q", findings(r))
	}
	f := r.Stores[0].Findings[i]
	said := f.Message
	for _, e := range f.Evidence {
		said += "\n" + e.Message
	}
	for _, w := range []string{
		"the last good snapshot is 2026-11-30T18:06:47Z-000006, and etcd-manager's cleanup (it keeps the earliest of each hour) deletes it on 2026-11-30 19:06:47Z",
		"2026-11-30T18:06:17Z-000005 goes on 2026-11-30 19:06:17Z", "2026-11-30T18:05:47Z-000004 goes on 2026-11-30 19:05:47Z",
	} {
		if !strings.Contains(said, w) {
			t.Errorf("nothing says %q:\n%s", w, said)
		}
	}
	fc, _ := forecastOf(t, now, "--interval", "25s", dir)
	tl := fc.Stores[0]
	if w := tl.Window; w.Count != 3 || !w.Newest.Equal(at("2026-11-30T18:06:47Z")) {
		t.Errorf("restorable of the old cluster: %+v", w)
	}
	// What stays is the empty one, in which there is nothing to restore.
	if !tl.Lost.Equal(at("2026-11-30T19:06:47Z")) || tl.FinalWindow.Count != 0 {
		t.Errorf("lost %v, at the end %+v", tl.Lost, tl.FinalWindow)
	}
}

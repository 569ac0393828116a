package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
	"backstop/store/storetest"
)

// harmlessRule is another program's rule in the same bucket.
const harmlessRule = `<Rule><ID>logs</ID><Status>Enabled</Status><Filter><Prefix>logs/</Prefix></Filter><Expiration><Days>30</Days></Expiration></Rule>`

// mixed is a bucket with the rule of the incident and a harmless one.
var mixed = ruled(strings.Replace(ninetyDays, "</LifecycleConfiguration>", harmlessRule+"</LifecycleConfiguration>", 1))

// What is printed, word for word, in each format, and what is said of it.
func TestSuggestOutputs(t *testing.T) {
	now, endpoint := worldWith(t, mixed)
	var said string
	for format, file := range map[string]string{"json": "suggest.json", "terraform": "suggest.tf", "cloudformation": "suggest.template.json"} {
		r := command(t, now, "suggest", "s3://kops", "--endpoint-url", endpoint, "-o", format)
		if r.code != 0 {
			t.Fatalf("%s: exit %d\n%s", format, r.code, r.stderr)
		}
		golden(t, file, r.stdout)
		if said != "" && r.stderr != said {
			t.Errorf("%s: it says\n%s\nand of another format\n%s", format, r.stderr, said)
		}
		said = r.stderr
	}
	golden(t, "suggest.txt", strings.ReplaceAll(said, endpoint, "http://127.0.0.1:9000"))
	if r := command(t, now, "suggest", "s3://kops", "--endpoint-url", endpoint, "--quiet"); r.stderr != "" {
		t.Errorf("--quiet says %q", r.stderr)
	}
}

// What was suggested takes no control file, by the forecast of the command and by
// the audit of a bucket that has it.
func TestSuggestionIsHarmless(t *testing.T) {
	now, endpoint := worldWith(t, mixed)
	file := filepath.Join(t.TempDir(), "lifecycle.json")
	look := []string{"s3://kops", "--endpoint-url", endpoint}
	if r := command(t, now, append([]string{"suggest", "-o", "json=" + file}, look...)...); r.code != 0 || r.stdout != "" {
		t.Fatalf("exit %d, %q\n%s", r.code, r.stdout, r.stderr)
	}
	f, r := forecastOf(t, now, append(look, "--policy", file, "--within", "10y")...)
	tl := f.Stores[0]
	if r.code != 0 || f.Verdict != audit.OK || !tl.NoReturn.IsZero() || !tl.Reset.IsZero() || tl.FinalState != etcdmanager.Running {
		t.Errorf("exit %d, verdict %s, no return %v, at the end %s", r.code, f.Verdict, tl.NoReturn, tl.FinalState)
	}
	body, _ := os.ReadFile(file)
	c, err := lifecycle.Parse(body)
	if err != nil || len(c.Validate()) > 0 || len(c.Warnings(lifecycle.Bucket{Versioning: lifecycle.Enabled}, now)) > 0 {
		t.Errorf("%v, %+v, %+v", err, c.Validate(), c.Warnings(lifecycle.Bucket{Versioning: lifecycle.Enabled}, now))
	}
}

// Checkov's CKV_AWS_300 asks for a block that ends unfinished uploads in an enabled
// rule whose filter is empty, as Terraform's own parser reads it.
func TestSuggestedTerraformPleasesCheckov(t *testing.T) {
	now, endpoint := worldWith(t, nil)
	r := command(t, now, "suggest", "s3://kops", "--endpoint-url", endpoint, "-o", "terraform")
	file, diags := hclparse.NewParser().ParseHCL([]byte(r.stdout), "lifecycle.tf")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	passes := false
	for _, rule := range file.Body.(*hclsyntax.Body).Blocks[0].Body.Blocks {
		aborts, whole := false, false
		for _, b := range rule.Body.Blocks {
			aborts = aborts || b.Type == "abort_incomplete_multipart_upload"
			whole = whole || b.Type == "filter" && len(b.Body.Attributes) == 0 && len(b.Body.Blocks) == 0
		}
		status, _ := rule.Body.Attributes["status"].Expr.Value(nil)
		passes = passes || aborts && whole && status.AsString() == "Enabled"
	}
	if !passes {
		t.Errorf("CKV_AWS_300 fails:\n%s", r.stdout)
	}
}

// Where nothing can be shown nothing is printed, and the status says so.
func TestSuggestNothing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *storetest.Bucket)
		place  string
		code   int
		say    string
	}{
		"the rules are refused": {func(b *storetest.Bucket) { b.Deny("s3:GetLifecycleConfiguration") }, "s3://kops", 3, "nothing is suggested, because it cannot be shown to be safe: lifecycle of"},
		"everything is refused": {func(b *storetest.Bucket) {
			b.Deny("s3:ListBucket", "s3:GetObject", "s3:GetLifecycleConfiguration", "s3:GetBucketVersioning", "s3:ListBucketVersions")
		}, "s3://kops/" + strings.TrimSuffix(mainStore, "/"), 77, "was not seen"},
		"there is no store":  {nil, "s3://kops/none", 3, "there is no etcd-manager backup store"},
		"there is no bucket": {nil, "s3://nokops", 3, "the bucket does not exist"},
	} {
		now, endpoint := worldWith(t, c.change)
		r := command(t, now, "suggest", c.place, "--endpoint-url", endpoint)
		if r.code != c.code || r.stdout != "" || !strings.Contains(r.stderr, c.say) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", name, r.code, r.stdout, r.stderr)
		}
	}
}

func TestSuggestUsage(t *testing.T) {
	now, endpoint := worldWith(t, nil)
	for _, args := range [][]string{{"-o", "pulumi"}, {"-o", "json", "-o", "terraform"}, {"--at", "soon"}} {
		if r := command(t, now, append([]string{"suggest", "s3://kops", "--endpoint-url", endpoint}, args...)...); r.code != exitUsage {
			t.Errorf("%q: exit %d", args, r.code)
		}
	}
	fake := storetest.NewFake(func() time.Time { return now })
	for _, name := range []string{"one", "two"} {
		grown(fake.CreateBucket(name), now, 60*audit.Day, 60*audit.Day)
	}
	r := command(t, now, "suggest", "s3://one", "s3://two", "--endpoint-url", fake.URL(t))
	if r.code != exitUsage || !strings.Contains(r.stderr, "for one bucket") {
		t.Errorf("two buckets: exit %d, %s", r.code, r.stderr)
	}
}

// From a recording it suggests the same.
func TestSuggestReplay(t *testing.T) {
	now, endpoint := worldWith(t, mixed)
	seen := filepath.Join(t.TempDir(), "seen.json")
	command(t, now, "audit", "s3://kops", "--endpoint-url", endpoint, "--record", seen)
	live := command(t, now, "suggest", "s3://kops", "--endpoint-url", endpoint)
	again := command(t, now, "suggest", "--replay", seen)
	if again.code != 0 || again.stdout != live.stdout || !json.Valid([]byte(live.stdout)) {
		t.Errorf("exit %d\n%s\nwant\n%s%s", again.code, again.stdout, live.stdout, again.stderr)
	}
}

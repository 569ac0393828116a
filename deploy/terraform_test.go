package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Terraform itself evaluates the policy: for one bucket it is deploy/iam-policy.json.
func TestTerraformPolicy(t *testing.T) {
	tf, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("terraform is not installed")
	}
	dir := t.TempDir()
	run := func(args ...string) []byte {
		t.Helper()
		c := exec.Command(tf, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+os.DevNull, "CHECKPOINT_DISABLE=1")
		out, err := c.Output()
		if err != nil {
			t.Fatalf("terraform %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return out
	}
	module, err := filepath.Abs("terraform/policy")
	if err != nil {
		t.Fatal(err)
	}
	root := fmt.Sprintf(`
module "one" {
  source  = %q
  buckets = ["state"]
}
module "more" {
  source       = %q
  buckets      = ["state", "backups"]
  partition    = "aws-cn"
  kms_key_arns = ["arn:aws-cn:kms:cn-north-1:1:key/1"]
  deleter_arns = ["arn:aws-cn:iam::1:role/kops"]
}
output "one" { value = module.one.json }
output "more" { value = module.more.json }
output "hardening" { value = module.more.hardening }
`, module, module)
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(root), 0o600); err != nil {
		t.Fatal(err)
	}
	run("init", "-input=false", "-no-color")
	run("apply", "-auto-approve", "-input=false", "-no-color")
	var out struct {
		One, More struct{ Value string }
		Hardening struct{ Value map[string]string }
	}
	if err := json.Unmarshal(run("output", "-json"), &out); err != nil {
		t.Fatal(err)
	}
	template, err := os.ReadFile("iam-policy.json")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(string(template), "BUCKET", "state")
	for _, sid := range []string{"LookAtBucket", "ReadObjects", "NeverWrite"} {
		want = strings.ReplaceAll(want, sid, sid+"0")
	}
	if got := document(t, out.One.Value); !reflect.DeepEqual(got, document(t, want)) {
		t.Errorf("the policy is %v", got)
	}
	for _, say := range []string{`"NeverWrite1"`, `"arn:aws-cn:s3:::backups/*"`, `"kms:Decrypt"`} {
		if !strings.Contains(out.More.Value, say) {
			t.Errorf("the policy of two buckets lacks %s: %s", say, out.More.Value)
		}
	}
	if strings.Contains(out.More.Value, "arn:aws:") {
		t.Error("another partition's policy speaks of aws")
	}
	if h := out.Hardening.Value["backups"]; !strings.Contains(h, "arn:aws-cn:s3:::backups/*/control/etcd-cluster-*") || !strings.Contains(h, "role/kops") || strings.Contains(h, "KeepLifecycleRules") {
		t.Errorf("hardening: %s", h)
	}
	c := exec.Command(tf, "fmt", "-check", "-recursive", "terraform")
	if said, err := c.Output(); err != nil {
		t.Errorf("terraform fmt would change: %s", said)
	}
}

func document(t *testing.T, s string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v: %s", err, s)
	}
	return v
}

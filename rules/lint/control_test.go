package lint

import (
	"strings"
	"testing"

	"backstop/audit"
	"backstop/rules/lifecycle/infra"
)

// allCases are the cases of all tests, so that one can see that each rule has one.
var allCases = []lintCases{controlCases, undoCases, snapshotCases, catalogueCases, objectCases, contentCases, moveCases, bucketCases, lookCases}

const (
	expire = "lint/expire-control"
	cold   = "lint/archive-control"
	small  = "lint/protected-only-by-128k"
	undo   = "lint/undo-window-short"
)

var controlCases = lintCases{
	"the whole bucket": {doc: policy(`"Filter":{},"Expiration":{"Days":30}`), stores: []Store{healthy()},
		want: []string{"critical " + expire + ": rule `r`, prefix ``, matches 2 control files, 5 snapshots, 1 cluster, of which 7 objects are due at once: it will delete etcd-cluster-created at once, when the configuration is written (due since 2025-12-31 00:00:00Z)"},
		says: []string{"in 20d", "the rules in force leave it alone", `"prod.example.com/backups/etcd/main/20"`, "created goes first"}},
	"both overdue from different midnights": {doc: policy(`"Filter":{},"Expiration":{"Days":5}`), stores: []Store{healthy()},
		want: []string{"critical lint/expire-control: Both control files are overdue, since 2025-12-06 00:00:00Z and 2026-11-26 00:00:00Z, and go in the same run"}, says: []string{"Reset possible at once"}},
	"the store's prefix": {doc: policy(`"Filter":{"Prefix":"prod.example.com/"},"Expiration":{"Days":400}`), stores: []Store{healthy()},
		want: []string{"critical " + expire + ": etcd-cluster-created on 2027-01-05 00:00:00Z, in 35d"}},
	"only the spec": {doc: policy(`"Filter":{"Prefix":"` + root + `/control/etcd-cluster-spec"},"Expiration":{"Days":400}`), stores: []Store{healthy()},
		want: []string{"critical " + expire + ": matches 1 control file, 0 snapshots, 1 cluster: it will delete etcd-cluster-spec on"}, says: []string{"Backups then stop when the leader next changes."}},
	"snapshots alone are silent":   {doc: policy(`"Filter":{"Prefix":"` + root + `/20"},"Expiration":{"Days":800}`), stores: []Store{healthy()}},
	"a disabled rule is silent":    {doc: `{"Rules":[{"ID":"r","Status":"Disabled","Filter":{},"Expiration":{"Days":1}}]}`, stores: []Store{healthy()}},
	"another prefix is silent":     {doc: policy(`"Filter":{"Prefix":"backups/"},"Expiration":{"Days":1}`), stores: []Store{healthy()}},
	"old versions are no deletion": {doc: policy(`"Filter":{},"NoncurrentVersionExpiration":{"NoncurrentDays":60}`), stores: []Store{changed(healthy(), versioning("Enabled"))}, want: []string{"info lint/markers-accumulate: pile up"}},
	"a versioned bucket hides": {doc: policy(`"Filter":{"Prefix":"prod"},"Expiration":{"Days":400}`), stores: []Store{changed(healthy(), versioning("Enabled"))},
		want: []string{"critical " + expire + ": it will hide etcd-cluster-created", "info lint/no-noncurrent-rule: storage grows"}},
	"versioning that the code turns on hides": {doc: `{"Resources":{"B":{"Type":"AWS::S3::Bucket","Properties":{"BucketName":"kops-state","VersioningConfiguration":{"Status":"Enabled"},"LifecycleConfiguration":{"Rules":[{"Id":"r","Status":"Enabled","ExpirationInDays":400}]}}}}}`, stores: []Store{healthy()},
		want: []string{"critical " + expire + ": it will hide", "info lint/no-noncurrent-rule: storage grows", "info lint/remark: no DeletionPolicy"}},
	"what is in force already is told": {doc: policy(`"Filter":{},"Expiration":{"Days":400}`), stores: []Store{changed(healthy(), live(policy(`"Filter":{},"Expiration":{"Days":500}`)))},
		want: []string{"critical " + expire + ": it will delete"}, says: []string{"by the rules in force it is deleted for good on 2027-04-15 00:00:00Z, by rule `r`"}},
	"rules in force that were not seen": {doc: policy(`"Filter":{},"Expiration":{"Days":400}`), stores: []Store{changed(healthy(), func(o *audit.Observation) { o.Bucket.Lifecycle = audit.Fact[audit.Document]{} })},
		want: []string{"critical " + expire + ": it will delete"}, says: []string{"the rules in force were not seen"}},
	"three stores": {doc: policy(`"Filter":{},"Expiration":{"Days":400}`), stores: []Store{healthy(), storeAt("kops-state", "prod.example.com/backups/etcd/events"), storeAt("kops-state", "dev.example.com/backups/etcd/main")},
		want: []string{"critical " + expire + ": matches 6 control files, 15 snapshots, 2 clusters"}, says: []string{"and 1 control file more"}},
	"a prefix without a look": {doc: policy(`"Filter":{},"Expiration":{"Days":30}`), stores: []Store{bare("kops-state", root)},
		want: []string{"critical " + expire + ": matches control files and snapshots in 1 store that nobody looked at: it will delete etcd-cluster-created and etcd-cluster-spec 30d after it is written"}},
	"a prefix without a look, and out of reach": {doc: policy(`"Filter":{"Prefix":"logs/"},"Expiration":{"Days":30}`), stores: []Store{bare("", root)}},
	"a store that has lost its files": {doc: policy(`"Filter":{},"Expiration":{"Days":30}`), stores: []Store{armed()},
		want: []string{"critical " + expire + ": 30d after it is written", "warning lint/store-in-trouble: armed"}},
	"tags that nobody read": {doc: policy(`"Filter":{"Tag":{"Key":"tier","Value":"cold"}},"Expiration":{"Days":30}`), stores: []Store{healthy()},
		want: []string{"unknown " + expire + ": may match 2 control files"}, says: []string{"assuming the worse: tags not read"}},
	"tags that the files do not have": {doc: policy(`"Filter":{"Tag":{"Key":"tier","Value":"cold"}},"Expiration":{"Days":30}`), stores: []Store{changed(healthy(), tagged(map[string]string{}))}},
	"tags that they have": {doc: policy(`"Filter":{"Tag":{"Key":"tier","Value":"cold"}},"Expiration":{"Days":30}`), stores: []Store{changed(healthy(), tagged(map[string]string{"tier": "cold"}))},
		want: []string{"critical " + expire + ": may match 2 control files, 5 snapshots"}},
	"a status that is not known": {doc: tf(`"rule":[{"id":"r","filter":[],"expiration":[{"days":30}]}]`, `{"rule":[{"status":true}]}`), stores: []Store{healthy()},
		want: []string{"unknown " + expire + ": it will delete", "info lint/unknown-value: 1 value is"}, says: []string{"rule[0].status is known only when the code is applied; read as Enabled"}},
	"a rule that the plan leaves": {doc: strings.Replace(tf(`"rule":[{"id":"r","status":"Enabled","filter":[],"expiration":[{"days":400}]}]`, `{}`), `"update"`, `"no-op"`, 1), stores: []Store{healthy()},
		want: []string{"critical " + expire + ": it will delete"}, says: []string{"the rule is in force already", "Disable the rule now"}, never: []string{"Do NOT apply it"}},
	"days that are not known are certain to come": {doc: tf(`"rule":[{"id":"r","status":"Enabled","filter":[],"expiration":[{}]}]`, `{"rule":[{"expiration":[{"days":true}]}]}`), stores: []Store{healthy()},
		want: []string{"critical " + expire + ": it will delete", "info lint/unknown-value: 1 value is"}, says: []string{"so that the date is not: read as 1"}},
	"what is not known elsewhere does no harm": {doc: tf(`"rule":[{"id":"r","status":"Enabled","filter":[{"prefix":"logs/"}],"expiration":[{}]}]`, `{"rule":[{"expiration":[{"days":true}]}]}`), stores: []Store{healthy()},
		want: []string{"info lint/unknown-value: 1 value is"}},
	"one way of a condition": {doc: cfn("!If [Prod, Disabled, Enabled]"), stores: []Store{healthy()},
		want: []string{"unknown " + expire + ": it will delete", "info lint/unknown-value: 1 value is"}, says: []string{"only where Prod is false"}},
	"whichever way it goes": {doc: strings.Replace(cfn("Enabled"), "ExpirationInDays: 400", "ExpirationInDays: !If [Prod, 400, 500]", 1), stores: []Store{healthy()},
		want: []string{"critical " + expire + ": it will delete", "info lint/unknown-value: 1 value is"}, never: []string{"only where"}},
	"a bucket that is not known": {doc: strings.Replace(cfn("Enabled"), "BucketName: kops-state", "BucketName: !Ref N", 1), stores: []Store{healthy()},
		want: []string{"unknown " + expire + ": it will delete"}, says: []string{"--bucket B=NAME"}},
	"a bucket that is still to be created": {doc: tfNew(), stores: []Store{healthy()},
		want: []string{"unknown lint/not-judged: nothing in the files", "info lint/not-judged: the bucket that aws_s3_bucket.b will create"}},
	"class that cannot be read": {doc: policy(`"Filter":{},"Transitions":[{"Days":400,"StorageClass":"GLACIER"}]`), stores: []Store{healthy()},
		want: []string{"critical " + cold + ": it will move to storage class GLACIER etcd-cluster-created on 2027-01-05 00:00:00Z"}},
	"a class that can": {doc: policy(`"Filter":{},"Transitions":[{"Days":400,"StorageClass":"GLACIER_IR"}]`), stores: []Store{healthy()}},
	"a size condition lifts the default": {doc: `{"TransitionDefaultMinimumObjectSize":"all_storage_classes_128K","Rules":[{"ID":"r","Status":"Enabled","Filter":{"ObjectSizeGreaterThan":10},"Transitions":[{"Days":400,"StorageClass":"DEEP_ARCHIVE"}]}]}`, stores: []Store{healthy()},
		want: []string{"critical " + cold + ": it will move to storage class DEEP_ARCHIVE"}, says: []string{"lint/size-filter-disables-128k-default"}},
	"only the default protects": {doc: strings.Replace(policy(`"Filter":{},"Transitions":[{"Days":400,"StorageClass":"GLACIER"}]`), "varies_by_storage_class", "all_storage_classes_128K", 1), stores: []Store{healthy()},
		want: []string{"warning " + small + ": nothing but S3's default", "warning lint/splits-backup-pair: separates data from meta"}, says: []string{"the configuration says all_storage_classes_128K"}},
	"only the default, which nobody names": {doc: `{"Rules":[{"ID":"r","Status":"Enabled","Filter":{"Prefix":"prod.example.com/backups/etcd/main/control"},"Transitions":[{"Days":400,"StorageClass":"GLACIER"}]}]}`, stores: []Store{healthy()},
		want: []string{"warning " + small + ": the file does not say, and S3 then takes all_storage_classes_128K"}},
	"a default that is not known": {doc: tf(`"rule":[{"id":"r","status":"Enabled","filter":[],"transition":[{"days":400,"storage_class":"GLACIER"}]}]`, `{"transition_default_minimum_object_size":true}`), stores: []Store{healthy()},
		want: []string{"unknown " + cold + ": it will move", "info lint/unknown-value: 1 value is"}, says: []string{"transition size default not stated", "say so in the file"}},
}

func bare(bucket, prefix string) Store {
	return Store{Policy: audit.DefaultPolicy(), Now: noon, Bucket: bucket, Prefix: prefix}
}

func tagged(tags map[string]string) func(o *audit.Observation) {
	return func(o *audit.Observation) {
		o.Created.Value.Tags, o.Spec.Value.Tags = audit.Is(tags), audit.Is(tags)
	}
}

// tf is a plan that updates the lifecycle configuration of kops-state.
func tf(after, unknowns string) string {
	if !strings.Contains(after, "transition_default") && !strings.Contains(unknowns, "transition_default") {
		after = `"transition_default_minimum_object_size":"varies_by_storage_class",` + after
	}
	return `{"format_version":"1.2","resource_changes":[{"address":"aws_s3_bucket_lifecycle_configuration.l","type":"aws_s3_bucket_lifecycle_configuration","name":"l",
		"change":{"actions":["update"],"before":{"bucket":"kops-state","rule":[]},"after":{"bucket":"kops-state",` + after + `},"after_unknown":` + unknowns + `}}]}`
}

// tfNew is a plan that makes a bucket with rules.
func tfNew() string {
	return `{"format_version":"1.2","resource_changes":[
		{"address":"aws_s3_bucket.b","type":"aws_s3_bucket","name":"b","change":{"actions":["create"],"after":{},"after_unknown":{"bucket":true,"lifecycle_rule":true}}},
		{"address":"aws_s3_bucket_lifecycle_configuration.l","type":"aws_s3_bucket_lifecycle_configuration","name":"l","change":{"actions":["create"],"after":{"rule":[{"id":"r","status":"Enabled","filter":[],"expiration":[{"days":1}]}]},"after_unknown":{"bucket":true}}}],
		"configuration":{"root_module":{"resources":[{"address":"aws_s3_bucket.b","expressions":{}},{"address":"aws_s3_bucket_lifecycle_configuration.l","expressions":{"bucket":{"references":["aws_s3_bucket.b.id"]}}}]}}}`
}

// cfn is a template with one rule for kops-state.
func cfn(status string) string {
	return "Resources:\n  B:\n    Type: AWS::S3::Bucket\n    DeletionPolicy: Retain\n    Properties:\n      BucketName: kops-state\n      LifecycleConfiguration:\n        TransitionDefaultMinimumObjectSize: varies_by_storage_class\n        Rules:\n          - Id: r\n            Status: " + status + "\n            ExpirationInDays: 400\n"
}

func TestControl(t *testing.T) { controlCases.run(t) }

var undoCases = lintCases{
	"a day short": {doc: policy(`"Filter":{},"NoncurrentVersionExpiration":{"NoncurrentDays":29}`), stores: []Store{changed(healthy(), versioning("Enabled"))},
		want: []string{"warning " + undo + ": 29 days after they were hidden"}},
	"long enough":             {doc: policy(`"Filter":{},"NoncurrentVersionExpiration":{"NoncurrentDays":30}`), stores: []Store{changed(healthy(), versioning("Enabled"))}},
	"a bucket without":        {doc: policy(`"Filter":{},"NoncurrentVersionExpiration":{"NoncurrentDays":1}`), stores: []Store{healthy()}},
	"versioning not seen":     {doc: policy(`"Filter":{},"NoncurrentVersionExpiration":{"NoncurrentDays":1}`), stores: []Store{changed(healthy(), func(o *audit.Observation) { o.Bucket.Versioning = audit.Fact[string]{} })}, want: []string{"warning " + undo + ": 1 day after"}},
	"of snapshots":            {doc: policy(`"Filter":{"Prefix":"` + root + `/20"},"NoncurrentVersionExpiration":{"NoncurrentDays":1}`), stores: []Store{changed(healthy(), versioning("Enabled"))}},
	"days that are not known": {doc: tf(`"rule":[{"id":"r","status":"Enabled","filter":[],"noncurrent_version_expiration":[{}]}]`, `{"rule":[{"noncurrent_version_expiration":[{"noncurrent_days":true}]}]}`), stores: []Store{changed(healthy(), versioning("Enabled"))}},
}

func TestUndoWindow(t *testing.T) { undoCases.run(t, undo) }

// The effects are told for each file, before and after.
func TestEffects(t *testing.T) {
	r := lintCase{doc: policy(`"Filter":{},"Expiration":{"Days":400}`), stores: []Store{changed(healthy(), live(policy(`"Filter":{},"Expiration":{"Days":500}`))), bare("kops-state", "other")}}.judge(t)
	c := r.Files[0].Configurations[0]
	if len(c.Effects) != 2 || !c.Effects[0].After.Value.At.Equal(noon.AddDate(0, 0, 36).Truncate(audit.Day)) || c.Effects[0].Before.Value.Rule != "r" {
		t.Errorf("%+v", c.Effects)
	}
	if len(c.Radius) != 1 || c.Radius[0].ControlFiles != 2 || c.Radius[0].Unlooked != "control files and snapshots in 1 store that nobody looked at" || c.Radius[0].Snapshots != 5 || c.Radius[0].Stores != 2 || !c.Radius[0].Acts {
		t.Errorf("%+v", c.Radius)
	}
	if r.Verdict != audit.VerdictCritical || r.Files[0].Format != string(infra.AWSJSON) {
		t.Errorf("%+v", r)
	}
}

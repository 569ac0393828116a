package lint

import (
	"strings"
	"testing"

	"backstop/audit"
)

// logs is a rule that touches no store.
func logs(action string) string { return policy(`"Filter":{"Prefix":"logs/"},` + action) }

// snaps is a rule for the store's snapshots.
func snaps(action string) string { return policy(`"Filter":{"Prefix":"` + root + `/20"},` + action) }

func two(a, b string) string { return `{"Rules":[` + a + `,` + b + `]}` }

var catalogueCases = lintCases{
	"expires a bucket that nobody looked at": {doc: policy(`"Filter":{},"Expiration":{"Days":30}`),
		want: []string{"unknown lint/store-not-seen: no store was looked at", "warning lint/expire-whole-bucket: rule `r` has no condition"}},
	"archives it": {doc: policy(`"Filter":{},"Transitions":[{"Days":30,"StorageClass":"GLACIER"}]`),
		want: []string{"unknown lint/store-not-seen: no store", "warning lint/archive-whole-bucket: rule `r` has no condition"}},
	"a size condition": {doc: policy(`"Filter":{"And":{"Prefix":"` + root + `/20","ObjectSizeGreaterThan":1000}},"Transitions":[{"Days":900,"StorageClass":"GLACIER_IR"}]`), stores: []Store{healthy()},
		want: []string{"warning lint/size-filter-disables-128k-default: size condition"}},
	"a size condition elsewhere": {doc: policy(`"Filter":{"And":{"Prefix":"logs/","ObjectSizeGreaterThan":1000}},"Transitions":[{"Days":900,"StorageClass":"GLACIER_IR"}]`), stores: []Store{healthy()},
		want: []string{"info lint/size-filter-disables-128k-default: size condition"}},
	"a date":              {doc: snaps(`"Expiration":{"Date":"2030-01-01T00:00:00Z"}`), stores: []Store{healthy()}, want: []string{"warning lint/date-rule: not for once"}},
	"a date elsewhere":    {doc: logs(`"Expiration":{"Date":"2030-01-01T00:00:00Z"}`), stores: []Store{healthy()}, want: []string{"info lint/date-rule: not for once"}},
	"a date that passed":  {doc: snaps(`"Expiration":{"Date":"2020-01-01T00:00:00Z"}`), stores: []Store{healthy()}, want: []string{"warning lint/date-in-past: everything that matches is due"}, says: []string{"lint/date-rule"}},
	"a date of this noon": {doc: snaps(`"Expiration":{"Date":"2026-12-01T00:00:00Z"}`), stores: []Store{healthy()}, want: []string{"warning lint/date-rule: not for once"}},
	"a count that is undermined": {doc: two(`{"ID":"a","Status":"Enabled","Filter":{"Prefix":"prod"},"NoncurrentVersionExpiration":{"NoncurrentDays":60,"NewerNoncurrentVersions":3}}`, `{"ID":"b","Status":"Enabled","Filter":{},"NoncurrentVersionExpiration":{"NoncurrentDays":60}}`), stores: []Store{changed(healthy(), versioning("Enabled"))},
		want: []string{"warning lint/count-undermined: rule `a` retains", "info lint/markers-accumulate: pile up"}},
	"a longer rule": {doc: two(`{"ID":"a","Status":"Enabled","Filter":{"Prefix":"`+root+`/20"},"Expiration":{"Days":800}}`, `{"ID":"b","Status":"Enabled","Filter":{"Prefix":"`+root+`/2026-0"},"Expiration":{"Days":900}}`), stores: []Store{healthy()},
		want: []string{"warning lint/longer-rule-no-protection: rule `b` is longer"}},
	"suspended versioning": {doc: snaps(`"Expiration":{"Days":800},"NoncurrentVersionExpiration":{"NoncurrentDays":60}`), stores: []Store{changed(healthy(), versioning("Suspended"))},
		want: []string{"warning lint/suspended-destroys: versioning is suspended"}},
	"suspended versioning, elsewhere": {doc: logs(`"Expiration":{"Days":800},"NoncurrentVersionExpiration":{"NoncurrentDays":60}`), stores: []Store{changed(healthy(), versioning("Suspended"))},
		want: []string{"info lint/suspended-destroys: versioning is suspended"}},
	"Object Lock": {doc: snaps(`"Expiration":{"Days":800},"NoncurrentVersionExpiration":{"NoncurrentDays":60}`), stores: []Store{changed(healthy(), func(o *audit.Observation) {
		o.Bucket.Versioning, o.Bucket.ObjectLock = audit.Is("Enabled"), audit.Is(audit.ObjectLock{})
	})}, want: []string{"info lint/lock-does-not-hide: Object Lock"}},
	"archive tiers": {doc: `{"Resources":{"B":{"Type":"AWS::S3::Bucket","Properties":{"BucketName":"kops-state","IntelligentTieringConfigurations":[{"Id":"i","Status":"Enabled","Tierings":[{"AccessTier":"ARCHIVE_ACCESS","Days":90}]}],
		"LifecycleConfiguration":{"Rules":[{"Id":"r","Status":"Enabled","Prefix":"x","Transitions":[{"StorageClass":"INTELLIGENT_TIERING","TransitionInDays":1}]}]}}}}}`, stores: []Store{healthy()},
		want: []string{"warning lint/it-archive-tier: Intelligent-Tiering", "info lint/remark: no DeletionPolicy"}},
	"old versions that stay": {doc: snaps(`"Expiration":{"Days":800}`), stores: []Store{changed(healthy(), versioning("Enabled"))},
		want: []string{"info lint/no-noncurrent-rule: storage grows"}},
	"a rule that does nothing": {doc: snaps(`"Expiration":{"ExpiredObjectDeleteMarker":false}`), stores: []Store{healthy()}, want: []string{"info lint/no-effect: rule `r` does nothing"}},
	"a slash too many":         {doc: policy(`"Filter":{"Prefix":"/prod.example.com/"},"Expiration":{"Days":30}`), stores: []Store{healthy()}, want: []string{"info lint/no-effect: prefix is compared with the key's beginning"}},
	"a star":                   {doc: policy(`"Filter":{"Prefix":"prod.example.com/*"},"Expiration":{"Days":30}`), stores: []Store{healthy()}, want: []string{"info lint/no-effect: prefix is compared"}},
	"a rule that ends": {doc: snaps(`"Expiration":{"Days":800}`), stores: []Store{changed(healthy(), live(`{"Rules":[{"ID":"old","Status":"Enabled","Filter":{},"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":1}}]}`))},
		want: []string{"info lint/drops-existing-rule: rule `old` is in force"}},
	"a rule that the plan ends": {doc: strings.Replace(tf(`"rule":[{"id":"r","status":"Enabled","filter":[{"prefix":"x"}],"expiration":[{"days":3}]}]`, `{}`), `"rule":[]`, `"rule":[{"id":"gone","status":"Enabled","filter":[]}]`, 1),
		stores: []Store{bare("kops-state", root)}, want: []string{"info lint/drops-existing-rule: rule `gone` is in force"}},
	"the older form": {doc: `{"Rules":[{"ID":"r","Status":"Enabled","Prefix":"logs/","Expiration":{"Days":3}}]}`, stores: []Store{healthy()},
		want: []string{"info lint/legacy-prefix-schema: Prefix of its own"}},
	"many old versions": {doc: snaps(`"NoncurrentVersionExpiration":{"NoncurrentDays":60,"NewerNoncurrentVersions":101},"Expiration":{"ExpiredObjectDeleteMarker":true}`), stores: []Store{changed(healthy(), versioning("Enabled"))},
		want: []string{"info lint/newer-noncurrent-above-documented: more than 100"}},
	"no ID": {doc: strings.Replace(logs(`"Expiration":{"Days":3}`), `"ID":"r",`, "", 1), stores: []Store{healthy()}, want: []string{"info lint/id-missing: rule 1 has no ID"}},
	"what S3 refuses": {doc: snaps(`"Expiration":{"Days":0}`), stores: []Store{healthy()},
		want: []string{"warning lint/rejected: S3 would refuse the configuration (InvalidArgument, Expiration.Days)", "warning lint/retention-shorter-than-tool: 0 days"}},
	"no rules":                  {doc: `{"Rules":[]}`, stores: []Store{healthy()}, want: []string{"warning lint/rejected: S3 would refuse the configuration (MalformedXML, Rules)"}},
	"rules that are null":       {doc: `{"Rules":null}`, stores: []Store{healthy()}, want: []string{"warning lint/rejected: S3 would refuse"}},
	"no rules in XML":           {doc: `<LifecycleConfiguration></LifecycleConfiguration>`, stores: []Store{healthy()}, want: []string{"warning lint/rejected: S3 would refuse"}},
	"no rules after a mark":     {doc: "\ufeff" + `{"Rules":[]}`, stores: []Store{healthy()}, want: []string{"warning lint/rejected: S3 would refuse"}},
	"no rules in Terraform":     {doc: lifecycleRulesPlan(`"update"`, `{"bucket":"kops-state","rule":[]}`), stores: []Store{healthy()}, want: []string{"warning lint/rejected: S3 would refuse"}},
	"no rules, in some bucket":  {doc: lifecycleRulesPlan(`"update"`, `{"rule":[]}`), stores: []Store{healthy()}, want: []string{"warning lint/rejected: S3 would refuse"}},
	"rules that Terraform ends": {doc: lifecycleRulesPlan(`"delete"`, `null`), stores: []Store{healthy()}},
	"a plan that does not tell": {doc: lifecycleRulesPlan(`"update"`, `null`), stores: []Store{healthy()}, want: []string{"unknown lint/unreadable-part: The plan does not tell what l will be"}},
	"no rules in CloudFormation": {doc: `{"Resources":{"B":{"Type":"AWS::S3::Bucket","DeletionPolicy":"Retain","Properties":{"BucketName":"kops-state","LifecycleConfiguration":{"Rules":[]}}}}}`, stores: []Store{healthy()},
		want: []string{"warning lint/rejected: S3 would refuse"}},
	"what S3 refuses, at another server": {doc: logs(`"Expiration":{"Days":0}`), stores: []Store{changed(healthy(), elsewhere)},
		want: []string{"info lint/rejected: AWS would refuse"}},
	"what nobody foretells, at another server": {doc: logs(`"Vanish":true,"Expiration":{"Days":3}`), stores: []Store{changed(healthy(), elsewhere)},
		want: []string{"unknown lint/rejected: AWS would refuse"}},
	"what the tool refuses": {doc: `{"Resources":{"B":{"Type":"AWS::S3::Bucket","DeletionPolicy":"Retain","Properties":{"BucketName":"kops-state","LifecycleConfiguration":{"Rules":[{"Id":"r","Status":"Enabled","Prefix":"logs/","Expiration":{"Days":1},"ExpirationInDays":3}]}}}}}`, stores: []Store{healthy()},
		want: []string{"warning lint/rejected: Rules[0].Expiration: there is no such property"}},
	"an extension at MinIO": {doc: policy(`"Filter":{},"DelMarkerExpiration":{"Days":900},"Expiration":{"ExpiredObjectDeleteMarker":true}`), stores: []Store{changed(healthy(), elsewhere)},
		want: []string{"critical lint/minio-extension: deletes every version", "info lint/rejected: AWS would refuse"}},
	"an extension at MinIO, elsewhere": {doc: logs(`"DelMarkerExpiration":{"Days":900},"Expiration":{"ExpiredObjectDeleteMarker":true}`), stores: []Store{changed(healthy(), elsewhere)},
		want: []string{"info lint/minio-extension: deletes every version", "info lint/rejected: AWS would refuse"}},
	"an extension at AWS": {doc: logs(`"DelMarkerExpiration":{"Days":900},"Expiration":{"ExpiredObjectDeleteMarker":true}`), stores: []Store{healthy()},
		want: []string{"warning lint/rejected: S3 would refuse"}},
	"a safe configuration is silent": {doc: `{"Rules":[{"ID":"u","Status":"Enabled","Filter":{},"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":7}},{"ID":"s","Status":"Enabled","Filter":{"Prefix":"` + root + `/20"},"Expiration":{"Days":800},"NoncurrentVersionExpiration":{"NoncurrentDays":60}}]}`,
		stores: []Store{changed(healthy(), versioning("Enabled"))}},
}

func elsewhere(o *audit.Observation) { o.Store.Endpoint = "https://s3.example.org" }

func TestCatalogue(t *testing.T) { catalogueCases.run(t) }

var snapshotCases = lintCases{
	"a size condition splits": {doc: policy(`"Filter":{"And":{"Prefix":"` + root + `/20","ObjectSizeGreaterThan":200000}},"Expiration":{"Days":800}`), stores: []Store{healthy()},
		want: []string{"warning lint/splits-backup-pair: rule `r` separates data from meta"}, says: []string{"so in 5 snapshots", "(300 bytes) stays"}},
	"a prefix does not": {doc: snaps(`"Expiration":{"Days":800}`), stores: []Store{healthy()}},
	"shorter than any ladder in use": {doc: snaps(`"Expiration":{"Days":20}`), stores: []Store{healthy()},
		want: []string{"warning lint/retention-shorter-than-tool: leaves snapshots of 20 days, and one of each day is kept for 90d (as kops has written into the spec"}},
	"shorter than the tool": {doc: snaps(`"Expiration":{"Days":729}`), stores: []Store{healthy()},
		want: []string{"info lint/retention-shorter-than-tool: leaves snapshots of 729 days, and one of each day is kept for 730d (as etcd-manager does by itself)"}},
	"as long as the tool": {doc: snaps(`"Expiration":{"Days":730}`), stores: []Store{healthy()}},
	"what kops says counts": {doc: snaps(`"Expiration":{"Days":90}`), stores: []Store{changed(healthy(), func(o *audit.Observation) {
		o.Kops = audit.Is(audit.Kops{Known: true, Daily: 90 * audit.Day})
	})}},
	"a store without a look": {doc: snaps(`"Expiration":{"Days":90}`), stores: []Store{bare("", root)},
		want: []string{"info lint/retention-shorter-than-tool: leaves snapshots of 90 days"}},
	"another store's snapshots": {doc: policy(`"Filter":{"Prefix":"dev/20"},"Expiration":{"Days":9}`), stores: []Store{healthy()}},
}

func TestSnapshots(t *testing.T) { snapshotCases.run(t) }

// lifecycleRulesPlan is a plan for a lifecycle configuration that has no rules before.
func lifecycleRulesPlan(actions, after string) string {
	return `{"format_version":"1.2","resource_changes":[{"address":"l","type":"aws_s3_bucket_lifecycle_configuration","name":"l","change":{"actions":[` + actions + `],"before":{"bucket":"kops-state","rule":[]},"after":` + after + `,"after_unknown":{}}}]}`
}

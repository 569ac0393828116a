package infra

import (
	"fmt"
	"testing"
)

func TestPulumi(t *testing.T) {
	step := func(op, kind, inputs string) string {
		return fmt.Sprintf(`{"config":{},"steps":[{"op":%q,"urn":"urn:x","oldState":null,"newState":{"type":%q,"urn":"urn:x","inputs":%s}}]}`, op, kind, inputs)
	}
	const config, bucket, native = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", "aws:s3/bucket:Bucket", "aws-native:s3:Bucket"
	for name, c := range map[string]struct {
		doc           string
		want, unknown []string
		bucket        string
	}{
		"a configuration": {step("create", config, `{"bucket":"b","rules":[{"id":"r","status":"Enabled","filter":{"and":{"prefix":"main/20","tags":{"tier":"cold"}}},"expiration":{"days":90},
			"transitions":[{"days":30,"storageClass":"GLACIER"}],"noncurrentVersionExpiration":{"noncurrentDays":14,"newerNoncurrentVersions":3},
			"noncurrentVersionTransitions":[{"noncurrentDays":1,"storageClass":"GLACIER"}],"abortIncompleteMultipartUpload":{"daysAfterInitiation":7}}]}`),
			[]string{"r | Enabled | and{prefix=main/20 tier=cold} | expire 90 | GLACIER 30 | old 14 keep 3 | old GLACIER 1 keep ? | abort 7"}, nil, "b"},
		"its alias, without a filter": {step("update", "aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2", `{"bucket":"b","rules":[{"id":"r","status":"Enabled","expiration":{"date":"2030-01-02T00:00:00Z"}}]}`),
			[]string{"r | Enabled | filter{} | expire 2030-01-02"}, nil, "b"},
		"placeholders": {step("create", config, `{"bucket":"04da6b54-80e4-46f7-96ec-b56ff0331ba9","rules":[{"id":"r","status":"04da6b54-80e4-46f7-96ec-b56ff0331ba9","filter":{"prefix":"04da6b54-80e4-46f7-96ec-b56ff0331ba9"},"expiration":{"days":"3eeb2bf0-c639-47a8-9e75-3b44932eb421"}}]}`),
			[]string{"r | Enabled | filter{} | expire 1"}, []string{"rules[0].status", "rules[0].filter.prefix", "rules[0].expiration.days"}, ""},
		"a UUID where a number belongs": {step("create", config, `{"bucket":"b","rules":[{"id":"r","status":"Enabled","filter":{"prefix":"x"},"expiration":{"days":"11111111-2222-3333-4444-555555555555"}}]}`),
			[]string{"r | Enabled | filter{prefix=x} | expire 1"}, []string{"rules[0].expiration.days"}, "b"},
		"a secret": {step("create", config, `{"bucket":"b","rules":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"xx"}}`),
			[]string{"rule 1 | Enabled | filter{} | expire 1 | old 1 keep ?"}, []string{"rules"}, "b"},
		"a bucket's own rules": {step("update", bucket, `{"bucket":"b","lifecycleRules":[{"id":"r","enabled":true,"prefix":"x/","tags":{"k":"v"},"expiration":{"days":9},"transitions":[{"days":1,"storageClass":"GLACIER"}],"noncurrentVersionExpiration":{"days":4}}]}`),
			[]string{"r | Enabled | and{prefix=x/ k=v} | expire 9 | GLACIER 1 | old 4 keep ?"}, nil, "b"},
		"AWS Native": {step("create", native, `{"bucketName":"b","lifecycleConfiguration":{"rules":[{"id":"r","status":"Enabled","prefix":"x","expirationInDays":7,"transitions":[{"storageClass":"GLACIER","transitionInDays":3}]}]}}`),
			[]string{"r | Enabled | filter{prefix=x} | expire 7 | GLACIER 3"}, nil, "b"},
		"deleted": {`{"steps":[{"op":"delete","urn":"urn:x","oldState":{"type":"` + config + `","inputs":{"bucket":"b","rules":[]}}}]}`, nil, nil, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			p := only(t, mustRead(t, c.doc, Options{}))
			same2(t, "rules", words(p.Readings[0].Configuration), c.want)
			same2(t, "unknown", p.Unknown, c.unknown)
			if p.Bucket.Name != c.bucket || p.Source != "urn:x" {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestPulumiObjectsAndBuckets(t *testing.T) {
	d := mustRead(t, `{"steps":[
		{"op":"replace","urn":"u1","oldState":{"type":"aws:s3/bucketObjectv2:BucketObjectv2","inputs":{"bucket":"b","key":"k","content":"x"}},"newState":{"type":"aws:s3/bucketObjectv2:BucketObjectv2","inputs":{"bucket":"b","key":"l","content":"y"}}},
		{"op":"delete-replaced","urn":"u1","oldState":{"type":"aws:s3/bucketObjectv2:BucketObjectv2","inputs":{"bucket":"b","key":"k"}}},
		{"op":"delete","urn":"u2","oldState":{"type":"aws:s3/bucketV2:BucketV2","inputs":{"bucket":"b","forceDestroy":true}}}]}`, Options{})
	if len(d.Objects) != 1 || d.Objects[0].Was.Key != "k" || d.Objects[0].At.Key != "l" || *d.Objects[0].Content != "y" || d.Objects[0].Change != Replaces {
		t.Errorf("objects %+v", d.Objects)
	}
	if len(d.Buckets) != 1 || !d.Buckets[0].Force || d.Buckets[0].Bucket.Name != "b" {
		t.Errorf("buckets %+v", d.Buckets)
	}
	d = mustRead(t, `{"version":3,"deployment":{"resources":[{"urn":"u","type":"aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration","inputs":{"bucket":"b","rules":[{"id":"r","status":"Enabled"}]}}]}}`, Options{})
	if d.Format != PulumiState || d.Format.Proposed() || len(d.Notes) != 1 || only(t, d).Change != Stands {
		t.Errorf("%+v", d)
	}
}

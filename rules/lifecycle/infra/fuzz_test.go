package infra

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"backstop/rules/lifecycle"
)

// seeds are documents of every format, whole and broken.
func seeds(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.json")
	for _, name := range files {
		if body, err := os.ReadFile(name); err == nil {
			f.Add(body)
		}
	}
	for _, doc := range []string{
		wholeBucket, `<LifecycleConfiguration><Rule><Status>Enabled</Status></Rule></LifecycleConfiguration>`,
		bucketTemplate("          - {Id: a, Status: !If [P, Enabled, Disabled], ExpirationInDays: !Ref D, TagFilters: [{Key: !Sub '${A}', Value: v}]}"),
		`{"Conditions":{"A":{"Fn::Not":[{"Condition":"A"}]}},"Resources":{"B":{"Type":"AWS::S3::Bucket","Properties":{"LifecycleConfiguration":{"Rules":{"Fn::If":["A",[],[1]]}}}}}}`,
		planOf("aws_s3_bucket_lifecycle_configuration", `"update"`, `{"bucket":"b","rule":[{"filter":[{"and":[{"tags":{"a":1}}]}]}]}`, `{"rule":[{"filter":[{"and":[{"tags":{"b":true}}]}],"status":true},true]}`),
		planOf("aws_s3_bucket", `"delete","create"`, `{"lifecycle_rule":[{"enabled":true,"expiration":[null]}]}`, `{"bucket":true}`),
		`{"steps":[{"op":"create","newState":{"type":"aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration","inputs":{"rules":[{"filter":{"and":{}}}]}}}]}`,
		`{"deployment":{"resources":[{"type":"aws-native:s3:Bucket","inputs":{"lifecycleConfiguration":{"rules":[{}]}}}]}}`,
		"a: &a [*a]\n", "Resources: {Fn::ForEach::X: 1}\n", bomb(), `{"format_version":"1.2","planned_values":{"root_module":{"child_modules":[{"resources":[{"type":"aws_s3_bucket","values":[]}]}]}}}`,
	} {
		f.Add([]byte(doc))
	}
}

// Whatever the bytes, Read ends, and what it gives keeps its promises.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, doc []byte) {
		d, err := Read(doc, Options{Defaults: true, Parameters: map[string]string{"D": "3"}})
		if err != nil {
			return
		}
		for _, p := range d.Proposals {
			checkProposal(t, p)
		}
		for _, o := range d.Objects {
			if o.Change == Deletes && o.At.Key != "" || o.Change == Creates && o.Was.Key != "" {
				t.Errorf("object %+v", o)
			}
		}
	})
}

func checkProposal(t *testing.T, p Proposal) {
	t.Helper()
	if len(p.Readings) == 0 || p.Change == "" {
		t.Fatalf("a proposal without readings or change: %+v", p)
	}
	for _, r := range p.Readings {
		if len(r.Lines) != len(r.Rules) || len(r.Paths) != len(r.Rules) {
			t.Errorf("%d rules, %d lines, %d paths", len(r.Rules), len(r.Lines), len(r.Paths))
		}
		for _, d := range r.Doubts {
			if d.Rule < 0 || d.Rule >= len(r.Rules) || d.Path == "" || d.Kind == 0 || len(p.Unknown) == 0 {
				t.Errorf("doubt %+v of %d rules, unknown %q", d, len(r.Rules), p.Unknown)
			}
		}
		r.Validate()
		r.Warnings(lifecycle.Bucket{}, time.Unix(1e9, 0))
		r.Follow(lifecycle.Bucket{}, []lifecycle.Version{{Key: "a/control/etcd-cluster-created", Size: 48, LastModified: time.Unix(1e9, 0)}}, time.Unix(2e9, 0), 0)
	}
}

// More unknown never makes a configuration less harmful: a control file that a
// rule takes is taken no later when a value of the rule is not known.
func FuzzUnknownIsWorse(f *testing.F) {
	paths := []string{`"status":true`, `"filter":true`, `"filter":[{"prefix":true}]`, `"filter":[{"and":true}]`, `"expiration":true`, `"expiration":[{"days":true}]`, `"expiration":[{"date":true}]`,
		`"transition":true`, `"transition":[{"days":true}]`, `"transition":[{"storage_class":true}]`, `"prefix":true`, `"filter":[{"tag":true}]`, `"filter":[{"object_size_greater_than":true}]`}
	for i := range paths {
		f.Add(uint8(i), "", uint16(30), "GLACIER", false)
		f.Add(uint8(i), "a/", uint16(1), "DEEP_ARCHIVE", true)
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	v := lifecycle.Version{Key: "a/control/etcd-cluster-created", Size: 48, LastModified: now.AddDate(0, -1, 0), TagsKnown: true}
	first := func(t *testing.T, unknowns, rule string) time.Time {
		p := only(t, mustRead(t, planOf("aws_s3_bucket_lifecycle_configuration", `"update"`, `{"bucket":"b","transition_default_minimum_object_size":"varies_by_storage_class","rule":[`+rule+`]}`, `{"rule":[{`+unknowns+`}]}`), Options{}))
		for _, e := range p.Readings[0].Timeline(lifecycle.Bucket{Provider: lifecycle.AWS, Versioning: lifecycle.Off}, []lifecycle.Version{v}, now) {
			if e.Kind == lifecycle.Expire || e.Reader == lifecycle.Archived {
				return e.Run(now)
			}
		}
		return now.AddDate(1000, 0, 0)
	}
	f.Fuzz(func(t *testing.T, which uint8, prefix string, days uint16, class string, archive bool) {
		if prefix != "" && prefix != "a/" && prefix != "a/control" && prefix != "b" || class != "GLACIER" && class != "DEEP_ARCHIVE" {
			return
		}
		rule := `{"id":"r","status":"Enabled","prefix":"","filter":[{"prefix":"` + prefix + `"}],"expiration":[{"days":` + number64(new(int(days)+1)) + `}]}`
		if archive {
			rule = `{"id":"r","status":"Enabled","prefix":"","filter":[{"prefix":"` + prefix + `"}],"transition":[{"days":` + number64(new(int(days))) + `,"storage_class":"` + class + `"}]}`
		}
		known, unknown := first(t, "", rule), first(t, paths[int(which)%len(paths)], rule)
		if unknown.After(known) {
			t.Errorf("%s: %s is taken at %s, and with %s unknown at %s", prefix, rule, known, paths[int(which)%len(paths)], unknown)
		}
	})
}

package infra

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"backstop/rules/lifecycle"
)

// The plans in testdata were made by a real Terraform; see its README.
func TestRealPlans(t *testing.T) {
	logs := []string{"all | Enabled | filter{} | expire 14"}
	store := func(days int, late, filter string) []string {
		return []string{
			fmt.Sprintf("expire | Enabled | filter{%s} | expire %d | old 7 keep 3", filter, days),
			"late | Enabled | and{prefix=x/ tier=cold} | GLACIER " + late,
			"a | Disabled | own prefix legacy/ | abort 3",
		}
	}
	inline := func(days int) []string {
		return []string{
			fmt.Sprintf("old-backups | Enabled | filter{prefix=prod.example.com/backups/} | expire %d | old 14 keep ?", days),
			"rule 2 | Enabled | filter{prefix=} | abort 7",
			"cold | Disabled | and{prefix= tier=cold} | GLACIER 30",
		}
	}
	late := []string{"rule[1].transition[0].days"}
	type proposal struct {
		source, bucket string
		isNew          bool
		change         Change
		rules, unknown []string
		versioning     lifecycle.Versioning
	}
	prod, dev := `module.etcd["prod"].aws_s3_bucket_lifecycle_configuration.store`, `module.etcd["dev.eu"].aws_s3_bucket_lifecycle_configuration.store`
	for file, want := range map[string][]proposal{
		"v3-create.json": {{"aws_s3_bucket.state", "kops-state", true, Creates, inline(90), nil, lifecycle.Enabled}},
		"v3-update.json": {{"aws_s3_bucket.state", "kops-state", false, Updates, inline(30), nil, lifecycle.Enabled}},
		"v5-create.json": {
			{"aws_s3_bucket_lifecycle_configuration.logs", "", true, Creates, logs, nil, lifecycle.Unknown},
			{dev, "acme-dev.eu-etcd", true, Creates, store(30, "0", "prefix="), late, lifecycle.Enabled},
			{prod, "acme-prod-etcd", true, Creates, store(30, "0", "prefix="), late, lifecycle.Enabled},
		},
		"v5-update.json": {
			{"aws_s3_bucket_lifecycle_configuration.logs", "acme-logs-20260101", false, Unchanged, logs, nil, lifecycle.Unknown},
			{dev, "acme-dev.eu-etcd", false, Updates, store(7, "31", "prefix="), nil, lifecycle.Enabled},
			{prod, "acme-prod-etcd", false, Updates, store(7, "31", "prefix="), nil, lifecycle.Enabled},
		},
		"v5-destroy.json": {
			{"aws_s3_bucket_lifecycle_configuration.logs", "acme-logs-20260101", false, Deletes, nil, nil, lifecycle.Unknown},
			{dev, "acme-dev.eu-etcd", false, Deletes, nil, nil, lifecycle.Unknown},
			{prod, "acme-prod-etcd", false, Deletes, nil, nil, lifecycle.Unknown},
		},
		"v6-update.json": {
			{"aws_s3_bucket_lifecycle_configuration.logs", "acme-logs", false, Unchanged, logs, nil, lifecycle.Unknown},
			{dev, "acme-dev.eu-etcd", false, Updates, store(7, "22", "prefix="), nil, lifecycle.Enabled},
			{prod, "acme-prod-etcd", false, Updates, store(7, "22", "prefix="), nil, lifecycle.Enabled},
		},
		"v6-state.json": {
			{"aws_s3_bucket_lifecycle_configuration.logs", "acme-logs", false, Stands, logs, nil, lifecycle.Unknown},
			{dev, "acme-dev.eu-etcd", false, Stands, store(30, "22", "prefix="), nil, lifecycle.Enabled},
			{prod, "acme-prod-etcd", false, Stands, store(30, "22", "prefix="), nil, lifecycle.Enabled},
		},
	} {
		t.Run(file, func(t *testing.T) {
			d := realPlan(t, file)
			if len(d.Proposals) != len(want) {
				t.Fatalf("%d proposals, want %d", len(d.Proposals), len(want))
			}
			for i, w := range want {
				p := d.Proposals[i]
				same2(t, p.Source, words(p.Readings[0].Configuration), w.rules)
				same2(t, p.Source+" unknown", p.Unknown, w.unknown)
				if p.Source != w.source || p.Bucket.Name != w.bucket || p.Bucket.New != w.isNew || p.Change != w.change || p.Facts.Versioning != w.versioning {
					t.Errorf("proposal %+v, want %+v", p, w)
				}
				if hasBefore := p.Before != nil; hasBefore != (w.change != Creates && w.change != Stands) {
					t.Errorf("%s: before %v", p.Source, p.Before)
				}
			}
			if len(d.Gaps) > 0 {
				t.Errorf("gaps %+v", d.Gaps)
			}
		})
	}
}

func realPlan(t *testing.T, file string) Document {
	t.Helper()
	body, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return mustRead(t, string(body), Options{})
}

// kops's Terraform target: the objects that it writes, before and after.
func TestRealKopsPlans(t *testing.T) {
	const spec = "prod.example.com/backups/etcd/main/control/etcd-cluster-spec"
	for file, want := range map[string]string{
		"kops-create.json":  "create  -> " + spec,
		"kops-nothing.json": "unchanged " + spec + " -> " + spec,
		"kops-move.json":    "replace " + spec + " -> moved/etcd/main/control/etcd-cluster-spec",
		"kops-destroy.json": "delete " + spec + " -> ",
	} {
		d := realPlan(t, file)
		i := slices.IndexFunc(d.Objects, func(o Object) bool { return o.Source == "aws_s3_object.etcd-cluster-spec-main" })
		if len(d.Objects) != 5 || i < 0 {
			t.Errorf("%s: %d objects", file, len(d.Objects))
			continue
		}
		o := d.Objects[i]
		if got := fmt.Sprintf("%s %s -> %s", o.Change, o.Was.Key, o.At.Key); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
		if o.Change != Deletes && (o.Content == nil || !strings.Contains(*o.Content, "memberCount")) {
			t.Errorf("%s: content %v", file, o.Content)
		}
	}
}

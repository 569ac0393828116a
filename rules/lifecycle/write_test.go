package lifecycle

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// normal is a configuration as it is written: the newer schema, flat filters, names
// for rules that have none, and nothing that is not written.
func normal(c Configuration, named bool) Configuration {
	n := Configuration{}
	for i, r := range c.Rules {
		p, _ := r.plain()
		if len(p.Tags) == 0 {
			p.Tags = nil
		}
		r.Prefix, r.Filter, r.Position = nil, &Filter{Predicates: p}, 0
		if named {
			r.ID = c.name(i)
		}
		n.Rules = append(n.Rules, r)
	}
	return n
}

// writable are the accepted policies of the cases, and some with odd names.
func writable(t *testing.T) map[string]Configuration {
	t.Helper()
	raw, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var f caseFile
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	all := map[string]Configuration{
		"odd":   parsed(t, `{"ID":"a \"b\" ${c} %{d} \\ \n é 日本 \u0007","Status":"Enabled","Filter":{"And":{"Prefix":"a/$${x}\u2028\t","Tags":[{"Key":"$","Value":"%"},{"Key":"k\"","Value":"${v}"}],"ObjectSizeGreaterThan":0,"ObjectSizeLessThan":5}},"Expiration":{"Date":"2030-01-01T00:00:00Z"}}`),
		"empty": {},
	}
	for _, p := range f.ValidPolicies {
		c, err := Parse(p.Policy)
		if err == nil && c.Writable() == nil {
			all[p.ID] = c
		}
	}
	if len(all) < 15 {
		t.Fatalf("only %d policies to write", len(all))
	}
	return all
}

func same(t *testing.T, id, form string, got, want Configuration) {
	t.Helper()
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if !bytes.Equal(a, b) {
		t.Errorf("%s through %s:\n%s\nwant\n%s", id, form, a, b)
	}
}

// What is written is read back as it was, and S3 would accept it as it did before.
func TestWriteJSON(t *testing.T) {
	for id, c := range writable(t) {
		b, err := c.JSON()
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse(b)
		if err != nil || len(back.Notes) > 0 {
			t.Fatalf("%s: %v %+v\n%s", id, err, back.Notes, b)
		}
		same(t, id, "JSON", normal(back, false), normal(c, false))
		if p := back.Validate(); len(p) > 0 && id != "empty" {
			t.Errorf("%s: S3 would refuse %+v\n%s", id, p, b)
		}
	}
}

// Terraform's own parser reads the same rules back.
func TestWriteTerraform(t *testing.T) {
	for id, c := range writable(t) {
		b, err := c.Terraform("store", "my-bucket", "made by\na test ${x}")
		if err != nil {
			t.Fatal(err)
		}
		file, diags := hclparse.NewParser().ParseHCL(b, id+".tf")
		if diags.HasErrors() {
			t.Fatalf("%s: %v\n%s", id, diags, b)
		}
		body := file.Body.(*hclsyntax.Body)
		if len(body.Blocks) != 1 || !reflect.DeepEqual(body.Blocks[0].Labels, []string{"aws_s3_bucket_lifecycle_configuration", "store"}) {
			t.Fatalf("%s: blocks %+v", id, body.Blocks)
		}
		resource := body.Blocks[0].Body
		if got := text(t, resource, "bucket"); got != "my-bucket" {
			t.Errorf("%s: bucket %q", id, got)
		}
		var back Configuration
		for _, block := range resource.Blocks {
			back.Rules = append(back.Rules, terraformRule(t, block.Body))
		}
		same(t, id, "Terraform", back, normal(c, true))
	}
}

// attribute is the value of an attribute; cty.NilVal where there is none.
func attribute(t *testing.T, b *hclsyntax.Body, name string) cty.Value {
	t.Helper()
	a := b.Attributes[name]
	if a == nil {
		return cty.NilVal
	}
	v, diags := a.Expr.Value(&hcl.EvalContext{})
	if diags.HasErrors() {
		t.Fatalf("%s: %v", name, diags)
	}
	return v
}

func text(t *testing.T, b *hclsyntax.Body, name string) string {
	if v := attribute(t, b, name); v != cty.NilVal {
		return v.AsString()
	}
	return ""
}

func count[N int | int64](t *testing.T, b *hclsyntax.Body, name string) *N {
	v := attribute(t, b, name)
	if v == cty.NilVal {
		return nil
	}
	n, _ := v.AsBigFloat().Int64()
	return new(N(n))
}

// terraformRule reads a rule block as the provider does.
func terraformRule(t *testing.T, b *hclsyntax.Body) Rule {
	t.Helper()
	r := Rule{ID: text(t, b, "id"), Status: text(t, b, "status"), Filter: &Filter{}}
	for _, block := range b.Blocks {
		in := block.Body
		switch block.Type {
		case "filter":
			p := &r.Filter.Predicates
			for _, and := range in.Blocks {
				if and.Type == "and" {
					in = and.Body
				} else {
					p.Tags = append(p.Tags, Tag{text(t, and.Body, "key"), text(t, and.Body, "value")})
				}
			}
			if in.Attributes["prefix"] != nil {
				p.Prefix = new(text(t, in, "prefix"))
			}
			if tags := attribute(t, in, "tags"); tags != cty.NilVal {
				for key, value := range tags.AsValueMap() {
					p.Tags = append(p.Tags, Tag{key, value.AsString()})
				}
			}
			p.ObjectSizeGreaterThan, p.ObjectSizeLessThan = count[int64](t, in, "object_size_greater_than"), count[int64](t, in, "object_size_less_than")
		case "expiration":
			r.Expiration = &Expiration{Days: count[int](t, in, "days")}
			if s := text(t, in, "date"); s != "" {
				r.Expiration.Date = at(t, s)
			}
			if v := attribute(t, in, "expired_object_delete_marker"); v != cty.NilVal {
				r.Expiration.ExpiredObjectDeleteMarker = new(v.True())
			}
		case "transition":
			a := TransitionAction{Days: count[int](t, in, "days"), StorageClass: text(t, in, "storage_class")}
			if s := text(t, in, "date"); s != "" {
				a.Date = at(t, s)
			}
			r.Transitions = append(r.Transitions, a)
		case "noncurrent_version_expiration":
			r.NoncurrentExpiration = &NoncurrentExpiration{count[int](t, in, "noncurrent_days"), count[int](t, in, "newer_noncurrent_versions")}
		case "noncurrent_version_transition":
			r.NoncurrentTransitions = append(r.NoncurrentTransitions, NoncurrentTransitionAction{count[int](t, in, "noncurrent_days"), count[int](t, in, "newer_noncurrent_versions"), text(t, in, "storage_class")})
		case "abort_incomplete_multipart_upload":
			r.AbortMultipart = &AbortMultipart{count[int](t, in, "days_after_initiation")}
		default:
			t.Errorf("a block %q", block.Type)
		}
	}
	sortTags(r.Filter)
	return r
}

func sortTags(f *Filter) {
	tags := f.Tags
	if len(tags) == 2 && tags[0].Key > tags[1].Key {
		tags[0], tags[1] = tags[1], tags[0]
	}
}

// CloudFormation's form holds the same rules, in the properties that its schema has.
func TestWriteCloudFormation(t *testing.T) {
	for id, c := range writable(t) {
		b, err := c.CloudFormation("Store", "my-bucket")
		if err != nil {
			t.Fatal(err)
		}
		var template struct {
			AWSTemplateFormatVersion string
			Resources                map[string]struct {
				Type, DeletionPolicy, UpdateReplacePolicy string
				Properties                                struct {
					BucketName             string
					LifecycleConfiguration struct{ Rules []map[string]any }
				}
			}
		}
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		d.UseNumber()
		if err := d.Decode(&template); err != nil {
			t.Fatalf("%s: %v\n%s", id, err, b)
		}
		p := template.Resources["Store"].Properties
		if p.BucketName != "my-bucket" || template.Resources["Store"].Type != "AWS::S3::Bucket" {
			t.Errorf("%s: %+v", id, template)
		}
		var rules []any
		for _, r := range p.LifecycleConfiguration.Rules {
			rules = append(rules, fromCloudFormation(t, r))
		}
		doc, _ := json.Marshal(map[string]any{"Rules": rules})
		back, err := Parse(doc)
		if err != nil || len(back.Notes) > 0 {
			t.Fatalf("%s: %v %+v\n%s", id, err, back.Notes, doc)
		}
		same(t, id, "CloudFormation", normal(back, false), normal(c, false))
	}
}

// fromCloudFormation renames a rule's properties to those of the API.
func fromCloudFormation(t *testing.T, r map[string]any) map[string]any {
	t.Helper()
	out, filter, expiration := map[string]any{}, map[string]any{}, map[string]any{}
	number := func(v any) any {
		n, err := strconv.ParseInt(v.(string), 10, 64)
		if err != nil {
			t.Errorf("a size %v", v)
		}
		return n
	}
	moves := func(v any) (all []any) {
		for _, m := range v.([]any) {
			m := m.(map[string]any)
			renamed := map[string]any{}
			for name, v := range m {
				switch name {
				case "TransitionInDays":
					name = "Days"
				case "TransitionDate":
					name = "Date"
				}
				renamed[name] = v
			}
			all = append(all, renamed)
		}
		return all
	}
	for name, v := range r {
		switch name {
		case "Id":
			out["ID"] = v
		case "Status", "NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload":
			out[name] = v
		case "Prefix":
			filter["Prefix"] = v
		case "TagFilters":
			filter["Tags"] = v
		case "ObjectSizeGreaterThan", "ObjectSizeLessThan":
			filter[name] = number(v)
		case "ExpirationInDays":
			expiration["Days"] = v
		case "ExpirationDate":
			expiration["Date"] = v
		case "ExpiredObjectDeleteMarker":
			expiration[name] = v
		case "Transitions":
			out[name] = moves(v)
		case "NoncurrentVersionTransitions":
			all := moves(v)
			for _, m := range all {
				m := m.(map[string]any)
				m["NoncurrentDays"] = m["Days"]
				delete(m, "Days")
			}
			out[name] = all
		default:
			t.Errorf("a property %s that CloudFormation's schema does not have", name)
		}
	}
	if len(expiration) > 0 {
		out["Expiration"] = expiration
	}
	out["Filter"] = map[string]any{"And": filter}
	return out
}

// What would be lost is not written.
func TestWriteRefuses(t *testing.T) {
	for what, rules := range map[string]string{
		"MinIO's removal of all versions": `{"ID":"a","Status":"Enabled","Filter":{},"Expiration":{"Days":1,"ExpiredObjectAllVersions":true}}`,
		"MinIO's marker rule":             `{"ID":"a","Status":"Enabled","Filter":{},"DelMarkerExpiration":{"Days":1}}`,
		"an element that nobody knows":    `{"ID":"a","Status":"Enabled","Filter":{"Suffix":"x"},"Expiration":{"Days":1}}`,
	} {
		c := parsed(t, rules)
		_, err1 := c.JSON()
		_, err2 := c.Terraform("a", "b")
		_, err3 := c.CloudFormation("a", "b")
		for _, err := range []error{err1, err2, err3} {
			if err == nil || !strings.Contains(err.Error(), "was not understood") {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

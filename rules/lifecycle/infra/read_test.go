package infra

import (
	"strings"
	"testing"

	"backstop/rules/lifecycle"
)

const wholeBucket = `{"Rules":[{"ID":"r","Status":"Enabled","Filter":{},"Expiration":{"Days":30}}]}`

// The format is told by what is in the document, whatever its name.
func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		doc  string
		want Format
	}{
		"JSON":                         {wholeBucket, AWSJSON},
		"JSON with a byte order mark":  {"\xEF\xBB\xBF" + wholeBucket, AWSJSON},
		"the command line's input":     {`{"Bucket":"b","LifecycleConfiguration":` + wholeBucket + `}`, AWSJSON},
		"XML":                          {"<?xml version=\"1.0\"?>\n<LifecycleConfiguration><Rule><Status>Enabled</Status></Rule></LifecycleConfiguration>", AWSXML},
		"a plan":                       {`{"format_version":"1.2","resource_changes":[]}`, TerraformPlan},
		"a plan of OpenTofu":           {`{"format_version":"1.2","terraform_version":"1.8.0","planned_values":{"root_module":{}},"resource_changes":[],"timestamp":"x"}`, TerraformPlan},
		"a state":                      {`{"format_version":"1.0","terraform_version":"1.8.0","values":{"root_module":{}}}`, TerraformState},
		"a template in JSON":           {`{"Resources":{"B":{"Type":"AWS::S3::Bucket"}}}`, CloudFormation},
		"a template in YAML":           {"Resources:\n  B:\n    Type: AWS::S3::Bucket\n", CloudFormation},
		"one with a comment above":     {"# mine\n---\nAWSTemplateFormatVersion: 2010-09-09\nResources: {}\n", CloudFormation},
		"a preview":                    {`{"steps":[]}`, PulumiPreview},
		"a stack":                      {`{"version":3,"deployment":{"manifest":{},"resources":[]}}`, PulumiState},
		"JSON that YAML would take to": {" \n\t" + wholeBucket, AWSJSON},
	} {
		if d, err := Read([]byte(c.doc), Options{}); err != nil || d.Format != c.want {
			t.Errorf("%s: %q, %v", name, d.Format, err)
		}
	}
}

// What is of no format is refused, with a word about what it is.
func TestNoFormat(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"empty":                   {" \n", "it is empty"},
		"a binary plan":           {"PK\x03\x04xxxx", "terraform show -json plan.out"},
		"Terraform's source":      {"resource \"aws_s3_bucket\" \"b\" {\n}\n", "it is Terraform's source"},
		"the log of a plan":       {`{"@level":"info","@message":"x"}` + "\n" + `{"@level":"info"}`, "terraform plan -json"},
		"one line of it":          {`{"@level":"info","@message":"x"}`, "no format that is known"},
		"a list":                  {`[{"ID":"x"}]`, "a JSON list"},
		"Google's policy":         {`{"rule":[{"action":{"type":"Delete"},"condition":{"age":3}}]}`, "Google Cloud Storage"},
		"Google's, wrapped":       {`{"lifecycle":{"rule":[{"action":{"type":"Delete"}}]}}`, "Google Cloud Storage"},
		"Azure's policy":          {`{"rules":[{"name":"x","type":"Lifecycle","definition":{}}]}`, "Azure"},
		"a state file":            {`{"version":4,"terraform_version":"1.5.0","resources":[]}`, "Terraform state file"},
		"Kubernetes":              {"apiVersion: s3.aws.upbound.io/v1beta1\nkind: BucketLifecycleConfiguration\n", "Kubernetes object (BucketLifecycleConfiguration)"},
		"another document":        {`{"hello":1,"world":2}`, "its members (hello, world)"},
		"a text":                  {"hello", "a single value"},
		"broken JSON":             {"{\n\"Rules\": [\n", "not whole JSON: line 2"},
		"JSON with more behind":   {wholeBucket + "x", "not whole JSON"},
		"a member that is twice":  {`{"Rules":[],"Rules":[]}`, `"Rules" is there twice`},
		"broken YAML":             {"a: [1,", "as YAML it cannot be read"},
		"XML of something else":   {"<html></html>", `"html"`},
		"broken XML":              {"<LifecycleConfiguration>", "lifecycle:"},
		"resources of no AWS":     {`{"Resources":{"x":{"Type":"other"}}}`, "no format that is known"},
		"AWS's members in YAML":   {"Rules:\n- ID: x\n", "write it as JSON"},
		"nesting without end":     {`{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", "nests deeper"},
		"YAML nesting":            {strings.Repeat("- ", 5000) + "x", "nests deeper"},
		"YAML that unfolds":       {bomb(), "unfold to more than"},
		"YAML that holds itself":  {"a: &a [*a]\n", "nests deeper"},
		"a template without type": {"Resources:\n  B: {Properties: {}}\n", "no format that is known"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read([]byte(c.doc), Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// bomb is a YAML document of few bytes and billions of values.
func bomb() string {
	s := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	names := "0123456789"
	for i := 1; i < len(names); i++ {
		ref := "*a" + names[i-1:i]
		s += "a" + names[i:i+1] + ": &a" + names[i:i+1] + " [" + strings.Repeat(ref+",", 9) + ref + "]\n"
	}
	return s
}

func TestAWS(t *testing.T) {
	p := only(t, mustRead(t, `{"Bucket":"b","LifecycleConfiguration":`+wholeBucket+`}`, Options{}))
	if p.Bucket.Name != "b" || !p.Bucket.Named || p.Change != Proposes {
		t.Errorf("%+v", p)
	}
	p = only(t, mustRead(t, wholeBucket, Options{}))
	if p.Bucket.Named || !p.Implied || p.Readings[0].DefaultMinimumSize != lifecycle.AllClasses128K {
		t.Errorf("%+v", p)
	}
	same2(t, "rules", words(p.Readings[0].Configuration), []string{"r | Enabled | filter{} | expire 30"})
	if c, ok := p.Whole(); !ok || len(c.Rules) != 1 {
		t.Errorf("not whole: %+v", p)
	}
}

// Lines are those of the document, so that a person finds the place.
func TestLines(t *testing.T) {
	doc := "{\n \"format_version\": \"1.2\",\n \"resource_changes\": [\n  {\"address\": \"a\",\n   \"type\": \"aws_s3_bucket_lifecycle_configuration\",\n   \"change\": {\"actions\": [\"create\"], \"after\": {\"bucket\": \"b\",\n    \"rule\": [\n     {\"id\": \"x\", \"status\": \"Enabled\"},\n\n     {\"id\": \"y\", \"status\": \"Enabled\"}]}}}]}"
	p := only(t, mustRead(t, doc, Options{}))
	if l := p.Readings[0].Lines; p.Line != 4 || l[0] != 8 || l[1] != 10 {
		t.Errorf("lines %d, %v", p.Line, l)
	}
}

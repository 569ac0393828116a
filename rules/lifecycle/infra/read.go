package infra

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"backstop/rules/lifecycle"
)

// Read reads a document of whichever format it turns out to be. It fails for
// what is of none, and for what is broken; the caller limits the size.
func Read(doc []byte, o Options) (Document, error) {
	doc = bytes.TrimPrefix(doc, []byte("\xEF\xBB\xBF"))
	begin := bytes.TrimLeft(doc, " \t\r\n")
	switch {
	case len(begin) == 0:
		return Document{}, errors.New("it is empty")
	case begin[0] == '<':
		return readAWS(doc, AWSXML)
	case begin[0] == '{':
		return readObject(doc, o)
	}
	if hint := foreign(begin); hint != "" {
		return Document{}, errors.New(hint)
	}
	root, err := readYAML(doc)
	if err != nil {
		return Document{}, fmt.Errorf("it is neither JSON nor XML, and as YAML it cannot be read: %w", err)
	}
	if isConfiguration(root) {
		return Document{}, errors.New("it is a lifecycle configuration in YAML, which the AWS CLI does not take: write it as JSON")
	}
	return dispatch(doc, root, o)
}

// isConfiguration reports whether a document has the members of AWS's own JSON.
func isConfiguration(root *node) bool {
	return root.has("Rules") || root.has("Rule") || root.get("LifecycleConfiguration").is(object)
}

// readObject reads a JSON object.
func readObject(doc []byte, o Options) (Document, error) {
	root, err := readJSON(doc)
	if err != nil {
		if first, _, _ := bytes.Cut(bytes.TrimSpace(doc), []byte("\n")); bytes.Contains(first, []byte(`"@level"`)) {
			return Document{}, errors.New("it is the log of `terraform plan -json`: give the plan itself, from `terraform plan -out plan.out && terraform show -json plan.out`")
		}
		return Document{}, fmt.Errorf("it is not whole JSON: %w", err)
	}
	if root.twice != "" {
		return Document{}, fmt.Errorf("the member %q is there twice", shorten(root.twice))
	}
	return dispatch(doc, root, o)
}

// dispatch tells the formats apart by their members.
func dispatch(doc []byte, root *node, o Options) (Document, error) {
	switch {
	case root.get("format_version").there() && (root.has("resource_changes") || root.has("planned_values")):
		return readPlan(root)
	case root.get("format_version").there() && root.has("values"):
		return readState(root)
	case isTemplate(root):
		return readTemplate(root, o)
	case isConfiguration(root):
		return readAWS(doc, AWSJSON)
	case root.get("steps").is(list):
		return readPulumi(root)
	case root.get("deployment").get("resources").is(list):
		return readPulumiState(root)
	}
	return Document{}, errors.New(unfit(root))
}

// isTemplate reports whether the resources are CloudFormation's.
func isTemplate(root *node) bool {
	resources := root.get("Resources")
	if !resources.is(object) {
		return false
	}
	if root.has("AWSTemplateFormatVersion") || len(resources.members) == 0 {
		return true
	}
	for _, m := range resources.members {
		if strings.Contains(m.get("Type").str(), "::") || strings.HasPrefix(m.name, "Fn::") {
			return true
		}
	}
	return false
}

// readAWS reads a configuration as S3 has it.
func readAWS(doc []byte, f Format) (Document, error) {
	c, err := lifecycle.Parse(doc)
	if err != nil {
		return Document{}, err
	}
	p := Proposal{Change: Proposes}
	if c.DefaultMinimumSize == "" { // which a PUT that does not say selects
		c.DefaultMinimumSize, p.Implied = lifecycle.AllClasses128K, true
	}
	if f == AWSJSON {
		root, err := readJSON(doc)
		if err != nil {
			return Document{}, err
		}
		p.Bucket.Name = root.get("Bucket").str()
		p.Bucket.Named = p.Bucket.Name != ""
	}
	p.Readings = []Reading{{Configuration: c, Lines: make([]int, len(c.Rules)), Paths: paths(c), Written: true}}
	return Document{Format: f, Proposals: []Proposal{p}}, nil
}

func paths(c lifecycle.Configuration) []string {
	all := make([]string, len(c.Rules))
	for i := range c.Rules {
		all[i] = fmt.Sprintf("Rules[%d]", i)
	}
	return all
}

// foreign recognises what people give by mistake; empty for anything else.
func foreign(doc []byte) string {
	start := string(doc[:min(len(doc), 4096)])
	switch {
	case strings.HasPrefix(start, "PK\x03\x04"):
		return "it is a plan in Terraform's own form: `terraform show -json plan.out` writes it as JSON"
	case strings.HasPrefix(start, `resource "`), strings.HasPrefix(start, "terraform {"), strings.HasPrefix(start, `module "`),
		strings.HasPrefix(start, `variable "`), strings.HasPrefix(start, `provider "`), strings.HasPrefix(start, "locals {"), strings.HasPrefix(start, `data "`):
		return "it is Terraform's source, in which values are still to be computed: give the plan, from `terraform plan -out plan.out && terraform show -json plan.out`"
	case strings.Contains(start, `"@level"`):
		return "it is the log of `terraform plan -json`: give the plan itself, from `terraform show -json plan.out`"
	case start[0] == '[':
		return "it is a JSON list; want an object: a lifecycle configuration has Rules"
	}
	return ""
}

// unfit says what a document is that none of the readers takes.
func unfit(root *node) string {
	const want = "want a lifecycle configuration (AWS JSON or XML), a Terraform plan from `terraform show -json`, a CloudFormation template, or `pulumi preview --json`"
	rule := root.get("rule").at(0)
	if lc := root.get("lifecycle"); lc.is(object) {
		rule = lc.get("rule").at(0)
	}
	switch {
	case rule.get("action").get("type").is(text):
		return "it is a lifecycle policy of Google Cloud Storage, whose grammar is another; " + want
	case root.get("rules").at(0).get("definition").is(object):
		return "it is a lifecycle policy of Azure Blob Storage, whose grammar is another; " + want
	case root.get("version").is(number) && root.has("terraform_version") && root.has("resources"):
		return "it is a Terraform state file: `terraform show -json` writes it in the form that is documented; better, give a plan"
	case root.has("apiVersion") && root.has("kind"):
		return "it is a Kubernetes object (" + shorten(root.get("kind").str()) + "), which is not read; " + want
	case !root.is(object):
		return "it is a single value; " + want
	}
	var names []string
	for _, m := range root.members {
		if names = append(names, shorten(m.name)); len(names) == 5 {
			break
		}
	}
	return fmt.Sprintf("its members (%s) are those of no format that is known; %s", strings.Join(names, ", "), want)
}

package infra

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"backstop/rules/lifecycle"
)

// Options say what is known beside the document.
type Options struct {
	// Parameters are values of a CloudFormation template's parameters.
	Parameters map[string]string
	// Defaults takes a parameter's default where Parameters has no value for it.
	Defaults bool
}

// maxConditions bounds for how many conditions both ways are read. With more
// there is one reading, of the worst.
const maxConditions = 5

// A template is a CloudFormation template being read.
type template struct {
	doc    Document
	root   *node
	o      Options
	native bool // of Pulumi's aws-native: the same properties in camel case
}

// readTemplate reads a CloudFormation template.
func readTemplate(root *node, o Options) (Document, error) {
	t := &template{doc: Document{Format: CloudFormation}, root: root, o: o}
	for _, m := range root.get("Resources").members {
		switch kind := m.get("Type").str(); {
		case m.name == "Fn::Transform" || strings.HasPrefix(m.name, "Fn::ForEach"):
			t.doc.Gaps = append(t.doc.Gaps, Gap{Source: m.name, Line: m.lineOf(), Why: "what " + m.name + " makes of it is known only when the template is deployed"})
		case kind == "AWS::S3::Bucket":
			t.bucket(m.name, m.node)
		case kind == "AWS::CloudFormation::Stack":
			t.doc.Notes = append(t.doc.Notes, fmt.Sprintf("%s is a nested stack: its template is another file, which is not read", m.name))
		}
	}
	t.macros()
	return t.doc, nil
}

// harmless are transforms of AWS's that leave buckets as they are written.
var harmless = []string{"AWS::Serverless-2016-10-31", "AWS::LanguageExtensions", "AWS::SecretsManager-", "AWS::CodeDeployBlueGreen", "AWS::ServiceCatalog"}

// macros notes transforms that may write anything into the template.
func (t *template) macros() {
	transform := t.root.get("Transform")
	names := transform.list()
	if transform.is(text) {
		names = []*node{transform}
	}
	for _, n := range names {
		known := slices.ContainsFunc(harmless, func(h string) bool { return strings.HasPrefix(n.str(), h) })
		if !known {
			t.doc.Gaps = append(t.doc.Gaps, Gap{Source: "Transform", Line: n.lineOf(), Why: "the macro " + shorten(cmp.Or(n.str(), n.get("Name").str())) + " may change anything when the template is deployed"})
		}
	}
}

// bucket reads an AWS::S3::Bucket.
func (t *template) bucket(id string, resource *node) {
	base := t.resolver(nil)
	properties := base.resolve(resource.get("Properties"), 0)
	out := Proposal{Source: id, Line: resource.lineOf(), Change: Proposes, Facts: bucketFacts(properties),
		Bucket: BucketRef{Name: properties.get("BucketName").str(), Source: id, Named: true}}
	if policy := resource.get("DeletionPolicy"); out.Bucket.Name != "" && policy.str() != "Retain" && policy.str() != "RetainExceptOnCreate" {
		t.doc.Notes = append(t.doc.Notes, fmt.Sprintf("%s (bucket %s) has no DeletionPolicy Retain: deleting the stack deletes the bucket, if it is empty", id, out.Bucket.Name))
	}
	if !properties.is(unknown) && !resource.get("Properties").has("LifecycleConfiguration") {
		return
	}
	first := t.reading(base, resource)
	out.Readings, out.Unknown, out.Faults = []Reading{first.Reading}, first.unknown, first.faults
	out.Implied = first.implied
	if open := base.open; len(open) > 0 && len(open) <= maxConditions {
		out.Readings = t.branches(open, resource)
	}
	t.doc.Proposals = append(t.doc.Proposals, out)
}

// branches reads a bucket for each way in which the conditions may go.
func (t *template) branches(open []string, resource *node) []Reading {
	var all []Reading
	for ways := range 1 << len(open) {
		assumed := map[string]bool{}
		var when []string
		for i, name := range open {
			yes := ways&(1<<i) != 0
			assumed[name] = yes
			when = append(when, fmt.Sprintf("%s is %v", name, yes))
		}
		r := t.reading(t.resolver(assumed), resource).Reading
		r.When = strings.Join(when, ", ")
		all = append(all, r)
	}
	return all
}

// resolver begins to evaluate the template under assumptions on its conditions.
func (t *template) resolver(assumed map[string]bool) *resolver {
	return &resolver{template: t, assumed: assumed}
}

// reading reads the lifecycle configuration of a bucket.
func (t *template) reading(r *resolver, resource *node) *propertyReader {
	b := &propertyReader{native: t.native}
	properties := r.resolve(resource.get("Properties"), 0)
	b.configuration(properties.get("LifecycleConfiguration"), properties)
	return b
}

// A propertyReader reads rules in the shape of AWS::S3::Bucket.
type propertyReader struct {
	builder
	native  bool
	implied bool
}

// name gives the name of a property in the reader's language.
func (b *propertyReader) name(pascal string) string {
	if !b.native {
		return pascal
	}
	return strings.ToLower(pascal[:1]) + pascal[1:]
}

// property gives a property with its place.
func (b *propertyReader) property(n *node, path, pascal string) (*node, string) {
	name := b.name(pascal)
	return n.get(name), join(path, name)
}

func (b *propertyReader) configuration(n, properties *node) {
	if properties.is(unknown) || n.is(unknown) {
		b.anyRule(b.name("LifecycleConfiguration"), n)
		return
	}
	rules, path := b.property(n, "", "Rules")
	b.Written = rules.is(list)
	if rules.is(unknown) {
		b.anyRule(path, rules)
	}
	for i, r := range rules.list() {
		b.readRule(r, fmt.Sprintf("%s[%d]", path, i))
	}
	mode, path := b.property(n, "", "TransitionDefaultMinimumObjectSize")
	switch {
	case mode.is(unknown):
		b.unknown = append(b.unknown, path)
	case mode.there():
		b.DefaultMinimumSize = mode.str()
	default:
		b.DefaultMinimumSize, b.implied = lifecycle.AllClasses128K, true
	}
	b.rest(n, "", "Rules", "TransitionDefaultMinimumObjectSize")
}

// bucketFacts are what a template says about a bucket besides its lifecycle.
func bucketFacts(properties *node) Facts {
	f := Facts{ObjectLock: properties.get("ObjectLockEnabled").truth() || properties.get("ObjectLockConfiguration").there()}
	switch properties.get("VersioningConfiguration").get("Status").str() {
	case "Enabled":
		f.Versioning = lifecycle.Enabled
	case "Suspended":
		f.Versioning = lifecycle.Suspended
	}
	for _, c := range properties.get("IntelligentTieringConfigurations").list() {
		t := lifecycle.Tiering{ID: c.get("Id").str(), Status: cmp.Or(c.get("Status").str(), "Enabled")}
		if prefix := c.get("Prefix").str(); prefix != "" {
			t.Filter = &lifecycle.Filter{Predicates: lifecycle.Predicates{Prefix: &prefix}}
		}
		for _, tier := range c.get("Tierings").list() {
			days, _ := whole(tier.get("Days").str())
			t.Tiers = append(t.Tiers, lifecycle.Tier{AccessTier: tier.get("AccessTier").str(), Days: int(max(days, 90))})
		}
		f.Tiering = append(f.Tiering, t)
	}
	return f
}

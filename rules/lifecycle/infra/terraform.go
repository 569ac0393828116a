package infra

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A plan is a Terraform plan being read.
type plan struct {
	doc     Document
	changes []*resource
	// byAddress finds changes; one address may have several (deposed objects).
	byAddress map[string]*resource
	config    *node // configuration.root_module
	// schemas are the versions of the resources' schemas, by address.
	schemas map[string]string
	// refs are the buckets of resources that were found already.
	refs map[*resource]BucketRef
}

func newPlan(f Format, config *node) *plan {
	return &plan{doc: Document{Format: f}, byAddress: map[string]*resource{}, schemas: map[string]string{}, refs: map[*resource]BucketRef{}, config: config}
}

// A resource is one resource of a plan: what it was, and what it will be.
type resource struct {
	address, kind, name string
	module              string // address of the module, empty for the root
	line                int
	change              Change
	// after has unknown nodes where the plan does not know the value.
	before, after *node
	sensitive     *node
}

// readPlan reads the output of `terraform show -json PLAN`.
func readPlan(root *node) (Document, error) {
	p := newPlan(TerraformPlan, root.get("configuration").get("root_module"))
	if !strings.HasPrefix(root.get("format_version").str(), "1.") && !strings.HasPrefix(root.get("format_version").str(), "0.") {
		return Document{}, fmt.Errorf("a Terraform plan with the format version %q; this backstop reads 0.x and 1.x", shorten(root.get("format_version").str()))
	}
	p.readSchemas(root.get("planned_values").get("root_module"), 0)
	p.completeness(root)
	if root.get("resource_changes").is(list) {
		for _, c := range root.get("resource_changes").items {
			p.addChange(c)
		}
	} else if !p.fromPlannedValues(root.get("planned_values").get("root_module"), 0) {
		return Document{}, errors.New("a Terraform plan without resource_changes and planned_values: there is nothing in it to judge")
	}
	p.deferred(root.get("deferred_changes"))
	p.read()
	return p.doc, nil
}

// readState reads the output of `terraform show -json` without a plan: what is.
func readState(root *node) (Document, error) {
	p := newPlan(TerraformState, nil)
	p.readSchemas(root.get("values").get("root_module"), 0)
	p.fromState(root.get("values").get("root_module"), 0)
	p.read()
	p.doc.Objects, p.doc.Buckets = nil, nil // a state changes nothing
	p.doc.Notes = append(p.doc.Notes, "this is a state, not a plan: it tells what is, and not what will be; `terraform plan -out plan.out && terraform show -json plan.out` gives a plan")
	return p.doc, nil
}

// completeness notes what the plan says of itself.
func (p *plan) completeness(root *node) {
	if root.get("errored").truth() {
		p.doc.Gaps = append(p.doc.Gaps, Gap{Why: "planning ended with an error, so that the plan is not whole"})
	}
	if c := root.get("complete"); c.is(boolean) && !c.truth() {
		p.doc.Notes = append(p.doc.Notes, "another plan will be needed after this one is applied")
	}
}

// deferred notes changes that Terraform leaves to a later plan.
func (p *plan) deferred(changes *node) {
	if changes == nil {
		return
	}
	for _, d := range changes.items {
		c := d.get("resource_change")
		if concerns(c.get("type").str()) {
			p.doc.Gaps = append(p.doc.Gaps, Gap{Source: c.get("address").str(), Line: c.lineOf(),
				Why: "Terraform defers the change to a later plan (" + shorten(d.get("reason").str()) + ")"})
		}
	}
}

// concerns reports whether a resource's type can matter to a backup store.
func concerns(kind string) bool {
	return slices.Contains(objectTypes, kind) || strings.HasPrefix(kind, "aws_s3_bucket") || strings.HasPrefix(kind, "aws_s3_directory_bucket")
}

// addChange takes up one of resource_changes.
func (p *plan) addChange(c *node) {
	kind := c.get("type").str()
	if c.get("mode").str() == "data" {
		return
	}
	if !concerns(kind) {
		p.stranger(c)
		return
	}
	change := c.get("change")
	if !change.is(object) {
		p.doc.Gaps = append(p.doc.Gaps, Gap{Source: c.get("address").str(), Line: c.line, Why: "the plan does not tell the change of the resource " + shorten(c.get("address").str())})
		return
	}
	if change.twice != "" {
		p.doc.Gaps = append(p.doc.Gaps, Gap{Source: c.get("address").str(), Line: c.line, Why: "the member " + shorten(change.twice) + " is there twice"})
	}
	r := &resource{
		address: c.get("address").str(), kind: kind, name: c.get("name").str(), module: c.get("module_address").str(), line: c.line,
		before: change.get("before"), after: overlay(change.get("after"), change.get("after_unknown")), sensitive: change.get("after_sensitive"),
	}
	r.address = cmp.Or(r.address, kind+"."+cmp.Or(r.name, "unnamed"))
	r.change = planned(change.get("actions"))
	if c.has("deposed") { // a leftover of an earlier replacement
		r.change = Deletes
	}
	if change.twice == "" && r.change.Writes() && !r.after.there() {
		p.doc.Gaps = append(p.doc.Gaps, Gap{Source: r.address, Line: c.line, Bucket: r.before.get("bucket").str(), Why: "the plan does not tell what " + shorten(r.address) + " will be"})
		return
	}
	p.add(r)
}

// strangers are resources of other providers that have lifecycle rules of the S3
// API's, with the attributes that hold the rules and the bucket's name.
var strangers = map[string][2]string{
	"awscc_s3_bucket":              {"lifecycle_configuration", "bucket_name"},
	"digitalocean_spaces_bucket":   {"lifecycle_rule", "name"},
	"scaleway_object_bucket":       {"lifecycle_rule", "name"},
	"linode_object_storage_bucket": {"lifecycle_rule", "label"},
	"minio_ilm_policy":             {"rule", "bucket"},
}

// stranger looks at a resource of another provider: what it does to a store cannot
// be told, and must not be passed over.
func (p *plan) stranger(c *node) {
	kind, change := c.get("type").str(), c.get("change")
	after := overlay(change.get("after"), change.get("after_unknown"))
	gap := Gap{Source: c.get("address").str(), Line: c.line}
	if names, ok := strangers[kind]; ok {
		rules := after.get(names[0])
		if rules.is(unknown) || rules.is(object) || len(rules.list()) > 0 {
			gap.Why, gap.Bucket = "backstop does not read the lifecycle rules of "+kind, after.get(names[1]).str()
			p.doc.Gaps = append(p.doc.Gaps, gap)
		}
		return
	}
	if planned(change.get("actions")) == Unchanged {
		return
	}
	for _, values := range []*node{change.get("before"), after} {
		for _, name := range []string{"key", "name", "object_name"} {
			if key := values.get(name).str(); strings.HasSuffix(key, "control/etcd-cluster-spec") || strings.HasSuffix(key, "control/etcd-cluster-created") {
				gap.Why = "it writes or deletes " + shorten(key) + " by the resource " + kind + ", whose stores backstop does not know"
				p.doc.Gaps = append(p.doc.Gaps, gap)
				return
			}
		}
	}
}

func (p *plan) add(r *resource) {
	p.changes = append(p.changes, r)
	if _, taken := p.byAddress[r.address]; !taken {
		p.byAddress[r.address] = r
	}
}

// planned gives the change that a list of actions stands for. Actions that are
// not known may do anything.
func planned(actions *node) Change {
	var all []string
	if actions != nil {
		for _, a := range actions.items {
			all = append(all, a.str())
		}
	}
	has := func(a string) bool { return slices.Contains(all, a) }
	switch {
	case has("delete") && has("create"), has("forget") && has("create"):
		return Replaces
	case has("create"):
		return Creates
	case has("update"):
		return Updates
	case has("delete"):
		return Deletes
	case has("forget"):
		return Forgets
	case has("no-op"), has("read"):
		return Unchanged
	}
	return Updates
}

// overlay puts what after_unknown says over after. True at a place means that
// what stands there is not known, whatever it is.
func overlay(after, unknowns *node) *node {
	switch {
	case unknowns.is(boolean) && unknowns.truth():
		return depends("known after apply", after.lineOf())
	case unknowns.is(list) && !after.is(unknown):
		return overlayList(after, unknowns)
	case unknowns.is(object) && (after.is(object) || !after.there()):
		return overlayObject(after, unknowns)
	}
	return after
}

func overlayList(after, unknowns *node) *node {
	out := &node{kind: list, line: after.lineOf()}
	n := len(unknowns.items)
	if after != nil {
		n = max(n, len(after.items))
	}
	for i := range n {
		if item := overlay(after.at(i), unknowns.at(i)); item != nil {
			out.items = append(out.items, item)
		}
	}
	if len(out.items) == 0 && !after.there() {
		return after
	}
	return out
}

func overlayObject(after, unknowns *node) *node {
	if !after.there() && !unknowns.holds(boolean) {
		return after
	}
	out := &node{kind: object, line: after.lineOf()}
	for _, m := range after.membersOf() {
		out.members = append(out.members, member{m.name, overlay(m.node, unknowns.get(m.name))})
	}
	for _, m := range unknowns.members {
		if !after.has(m.name) {
			if v := overlay(nil, m.node); v.there() {
				out.members = append(out.members, member{m.name, v})
			}
		}
	}
	return out
}

// readSchemas remembers the versions of the resources' schemas.
func (p *plan) readSchemas(module *node, depth int) {
	if module == nil || depth > maxDepth {
		return
	}
	if resources := module.get("resources"); resources != nil {
		for _, r := range resources.items {
			if v := r.get("schema_version"); v.there() {
				p.schemas[r.get("address").str()] = v.str()
			}
		}
	}
	for _, m := range module.get("child_modules").list() {
		p.readSchemas(m, depth+1)
	}
}

// list gives the elements of a list; none of anything else.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

// fromPlannedValues reads a plan from which resource_changes was cut out. What is
// not known is left out of planned_values, and cannot be told from what is unset.
func (p *plan) fromPlannedValues(module *node, depth int) bool {
	if module == nil || depth > maxDepth {
		return false
	}
	for _, r := range module.get("resources").list() {
		if kind := r.get("type").str(); concerns(kind) && r.get("mode").str() != "data" {
			p.add(&resource{address: r.get("address").str(), kind: kind, name: r.get("name").str(), module: module.get("address").str(),
				line: r.line, change: Proposes, after: withGaps(kind, r.get("values")), sensitive: r.get("sensitive_values")})
		}
	}
	for _, m := range module.get("child_modules").list() {
		p.fromPlannedValues(m, depth+1)
	}
	if depth == 0 {
		p.doc.Notes = append(p.doc.Notes, "the plan has no resource_changes: what it deletes, and what was there before, is not told")
	}
	return true
}

// withGaps marks what planned_values lacks of a rule that must have it.
func withGaps(kind string, values *node) *node {
	if kind != "aws_s3_bucket_lifecycle_configuration" || values == nil {
		return values
	}
	must := func(n *node, names ...string) *node {
		out := *n
		for _, name := range names {
			if !n.get(name).there() {
				out.members = append(slices.Clone(out.members), member{name, depends("left out of planned_values", n.line)})
			}
		}
		return &out
	}
	out := must(values, "rule")
	for i, m := range out.members {
		if m.name != "rule" || !m.is(list) {
			continue
		}
		rules := *m.node
		rules.items = nil
		for _, r := range m.items {
			rules.items = append(rules.items, must(r, "status"))
		}
		out.members = slices.Clone(out.members)
		out.members[i].node = &rules
	}
	return out
}

// fromState reads the resources of a state.
func (p *plan) fromState(module *node, depth int) {
	if module == nil || depth > maxDepth {
		return
	}
	for _, r := range module.get("resources").list() {
		if kind := r.get("type").str(); concerns(kind) && r.get("mode").str() != "data" {
			p.add(&resource{address: r.get("address").str(), kind: kind, name: r.get("name").str(), module: module.get("address").str(),
				line: r.line, change: Stands, after: r.get("values"), sensitive: r.get("sensitive_values")})
		}
	}
	for _, m := range module.get("child_modules").list() {
		p.fromState(m, depth+1)
	}
}

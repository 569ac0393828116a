package infra

import (
	"slices"
	"strings"
)

// A resolver evaluates the intrinsic functions of a template as far as that can
// be done before it is deployed (CloudFormation user guide, "Intrinsic function
// reference").
type resolver struct {
	template *template
	// assumed are values of conditions that cannot be evaluated, and open names
	// those that were asked for and had none.
	assumed map[string]bool
	open    []string
	// asking are the conditions being evaluated, for templates that go in circles,
	// and told those that were.
	asking []string
	told   map[string]verdict
}

// A verdict is what a condition evaluates to, if that is known.
type verdict struct{ value, known bool }

// resolve evaluates a value. What AWS::NoValue removes is nil.
func (r *resolver) resolve(n *node, depth int) *node {
	switch {
	case n == nil || depth > maxDepth:
		return nil
	case n.kind == list:
		return r.elements(n, depth)
	case n.kind != object:
		return n
	}
	if len(n.members) == 1 {
		if f := n.members[0]; f.name == "Ref" || strings.HasPrefix(f.name, "Fn::") {
			return r.call(f.name, f.node, depth)
		}
	}
	out := &node{kind: object, line: n.line, twice: n.twice}
	for _, m := range n.members {
		if m.name == "Fn::Transform" || strings.HasPrefix(m.name, "Fn::ForEach") {
			return depends(m.name, n.line)
		}
		if v := r.resolve(m.node, depth+1); v != nil {
			out.members = append(out.members, member{m.name, v})
		}
	}
	return out
}

func (r *resolver) elements(n *node, depth int) *node {
	out := &node{kind: list, line: n.line}
	for _, item := range n.items {
		if v := r.resolve(item, depth+1); v != nil {
			out.items = append(out.items, v)
		}
	}
	return out
}

// call evaluates a function.
func (r *resolver) call(name string, in *node, depth int) *node {
	var out *node
	switch name {
	case "Ref":
		return r.ref(in)
	case "Fn::If":
		return r.branch(in, depth)
	case "Fn::Sub":
		out = r.sub(in, depth)
	case "Fn::Join":
		out = r.joined(in, depth)
	case "Fn::FindInMap":
		out = r.find(in, depth)
	case "Fn::Select":
		out = r.chosen(in, depth)
	}
	if out == nil {
		return depends(name, in.lineOf())
	}
	return out
}

// ref gives the value of a parameter.
func (r *resolver) ref(in *node) *node {
	name := in.str()
	if name == "AWS::NoValue" {
		return nil
	}
	if v, ok := r.template.o.Parameters[name]; ok {
		return &node{kind: text, text: v, line: in.lineOf()}
	}
	if v := r.template.root.get("Parameters").get(name).get("Default"); r.template.o.Defaults && v.scalar() {
		return &node{kind: text, text: v.text, line: in.lineOf()}
	}
	return depends("Ref "+name, in.lineOf())
}

// branch evaluates Fn::If.
func (r *resolver) branch(in *node, depth int) *node {
	if !in.is(list) || len(in.items) != 3 {
		return nil
	}
	yes, known := r.condition(in.at(0).str())
	switch {
	case !known:
		return depends("Fn::If "+in.at(0).str(), in.line)
	case yes:
		return r.resolve(in.at(1), depth+1)
	}
	return r.resolve(in.at(2), depth+1)
}

// condition evaluates a named condition.
func (r *resolver) condition(name string) (value, known bool) {
	if v, ok := r.told[name]; ok {
		return v.value, v.known
	}
	if slices.Contains(r.asking, name) {
		return false, false
	}
	value, known = r.evaluate(name)
	if r.told == nil {
		r.told = map[string]verdict{}
	}
	r.told[name] = verdict{value, known}
	return value, known
}

// evaluate evaluates a named condition that was not asked for before.
func (r *resolver) evaluate(name string) (value, known bool) {
	expression := r.template.root.get("Conditions").get(name)
	r.asking = append(r.asking, name)
	value, known = r.truth(expression, 0)
	r.asking = r.asking[:len(r.asking)-1]
	if known {
		return value, true
	}
	if v, ok := r.assumed[name]; ok {
		return v, true
	}
	// One that rests on others is told by them.
	if !rests(expression) && !slices.Contains(r.open, name) {
		r.open = append(r.open, name)
	}
	return false, false
}

// rests reports whether a condition asks for another one by name.
func rests(expression *node) bool {
	if expression == nil {
		return false
	}
	return expression.get("Condition").is(text) || slices.ContainsFunc(expression.items, rests) ||
		slices.ContainsFunc(expression.members, func(m member) bool { return rests(m.node) })
}

// truth evaluates a condition's expression.
func (r *resolver) truth(n *node, depth int) (value, known bool) {
	if n == nil || depth > maxDepth || len(n.members) != 1 {
		return false, false
	}
	in := n.members[0].node
	switch n.members[0].name {
	case "Condition":
		return r.condition(in.str())
	case "Fn::Equals":
		a, b := r.resolve(in.at(0), depth+1), r.resolve(in.at(1), depth+1)
		return a.str() == b.str(), a.scalar() && b.scalar()
	case "Fn::Not":
		v, ok := r.truth(in.at(0), depth+1)
		return !v, ok
	case "Fn::And":
		return r.all(in, depth, false)
	case "Fn::Or":
		return r.all(in, depth, true)
	}
	return false, false
}

// all evaluates And (decided by a false) and Or (decided by a true).
func (r *resolver) all(in *node, depth int, decisive bool) (value, known bool) {
	known = true
	for _, item := range in.list() {
		v, ok := r.truth(item, depth+1)
		if ok && v == decisive {
			return decisive, true
		}
		known = known && ok
	}
	return !decisive, known && len(in.list()) > 0
}

// sub evaluates Fn::Sub; nil where a variable is not known.
func (r *resolver) sub(in *node, depth int) *node {
	pattern, own := in, (*node)(nil)
	if in.is(list) {
		pattern, own = in.at(0), in.at(1)
	}
	if !pattern.is(text) {
		return nil
	}
	var b strings.Builder
	rest := pattern.text
	for {
		before, after, found := strings.Cut(rest, "${")
		b.WriteString(before)
		if !found {
			return &node{kind: text, text: b.String(), line: in.line}
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			return nil
		}
		rest = tail
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			b.WriteString("${" + literal + "}")
			continue
		}
		v := r.resolve(own.get(name), depth+1)
		if v == nil {
			v = r.ref(&node{kind: text, text: name})
		}
		if !v.scalar() {
			return nil
		}
		b.WriteString(v.text)
	}
}

// joined evaluates Fn::Join.
func (r *resolver) joined(in *node, depth int) *node {
	parts := r.resolve(in.at(1), depth+1)
	if !in.at(0).is(text) || !parts.is(list) {
		return nil
	}
	var all []string
	for _, p := range parts.items {
		if !p.scalar() {
			return nil
		}
		all = append(all, p.text)
	}
	return &node{kind: text, text: strings.Join(all, in.at(0).text), line: in.line}
}

// find evaluates Fn::FindInMap.
func (r *resolver) find(in *node, depth int) *node {
	at := r.template.root.get("Mappings")
	for i := range 3 {
		key := r.resolve(in.at(i), depth+1)
		if !key.scalar() {
			return nil
		}
		at = at.get(key.text)
	}
	if !at.there() {
		return nil
	}
	return at
}

// chosen evaluates Fn::Select.
func (r *resolver) chosen(in *node, depth int) *node {
	i, ok := whole(r.resolve(in.at(0), depth+1).str())
	from := r.resolve(in.at(1), depth+1)
	if !ok || i < 0 || i > 1<<16 || !from.is(list) {
		return nil
	}
	return from.at(int(i))
}

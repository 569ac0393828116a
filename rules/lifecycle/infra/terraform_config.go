package infra

import (
	"encoding/base64"
	"slices"
	"strings"
)

// maxHops bounds how far a reference is followed.
const maxHops = 16

// owner finds the aws_s3_bucket that a resource's attribute bucket leads to
// through the plan's configuration; nil where it does not lead to one.
func (p *plan) owner(r *resource) *resource {
	config := p.declared(r)
	if config == nil {
		return nil
	}
	at := p.follow(r.module, config.get("expressions").get("bucket"), 0)
	if at == "" {
		return nil
	}
	return p.instance(at, r.address)
}

// declared gives the configuration of a resource; nil where the plan has none.
func (p *plan) declared(r *resource) *node {
	module := p.moduleConfig(r.module)
	want := r.kind + "." + r.name
	if r.name == "" {
		want = withoutIndex(strings.TrimPrefix(r.address, r.module+"."))
	}
	return declaredIn(module, want)
}

// declaredIn finds a resource of a module.
func declaredIn(module *node, address string) *node {
	for _, c := range module.get("resources").list() {
		if c.get("address").str() == address {
			return c
		}
	}
	return nil
}

// moduleConfig gives the configuration of a module by its address.
func (p *plan) moduleConfig(address string) *node {
	module := p.config
	for _, name := range moduleNames(address) {
		module = module.get("module_calls").get(name).get("module")
	}
	return module
}

// moduleNames gives the names in the address of a module: module.a[0].module.b
// has a and b.
func moduleNames(address string) []string {
	var names []string
	for _, part := range splitAddress(address) {
		if part != "module" {
			names = append(names, withoutIndex(part))
		}
	}
	return names
}

// splitAddress splits an address at the dots that are in no index.
func splitAddress(address string) []string {
	var parts []string
	inQuotes, depth, from := false, 0, 0
	for i := 0; i < len(address); i++ {
		switch c := address[i]; {
		case inQuotes && c == '\\':
			i++
		case c == '"':
			inQuotes = !inQuotes
		case inQuotes:
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '.' && depth == 0:
			parts = append(parts, address[from:i])
			from = i + 1
		}
	}
	if from < len(address) {
		parts = append(parts, address[from:])
	}
	return parts
}

// withoutIndex cuts an index off an address.
func withoutIndex(s string) string {
	if i := strings.IndexByte(s, '['); i >= 0 {
		return s[:i]
	}
	return s
}

// follow follows an expression within a module to an aws_s3_bucket, and gives
// its address without an index; empty where it leads elsewhere.
func (p *plan) follow(module string, expression *node, hops int) string {
	if hops > maxHops {
		return ""
	}
	for _, ref := range expression.get("references").list() {
		if at := p.followRef(module, splitAddress(ref.str()), hops); at != "" {
			return at
		}
	}
	return ""
}

// followRef follows one reference: to a bucket, through another resource's
// attribute bucket, a variable of the module, or an output of another.
func (p *plan) followRef(module string, ref []string, hops int) string {
	if len(ref) < 2 {
		return ""
	}
	config := p.moduleConfig(module)
	switch kind, name := ref[0], withoutIndex(ref[1]); {
	case kind == "aws_s3_bucket":
		return strings.TrimPrefix(module+".aws_s3_bucket."+name, ".")
	case strings.HasPrefix(kind, "aws_s3_"):
		return p.follow(module, declaredIn(config, kind+"."+name).get("expressions").get("bucket"), hops+1)
	case kind == "var":
		return p.followVariable(module, name, hops)
	case kind == "module" && len(ref) > 2:
		called := config.get("module_calls").get(name).get("module")
		output := called.get("outputs").get(withoutIndex(ref[2])).get("expression")
		return p.follow(strings.TrimPrefix(module+".module."+ref[1], "."), output, hops+1)
	}
	return ""
}

// followVariable follows a variable to what the calling module gives for it.
func (p *plan) followVariable(module, name string, hops int) string {
	parts := splitAddress(module)
	if len(parts) < 2 {
		return ""
	}
	parent := strings.Join(parts[:len(parts)-2], ".")
	call := p.moduleConfig(parent).get("module_calls").get(withoutIndex(parts[len(parts)-1]))
	return p.follow(parent, call.get("expressions").get(name), hops+1)
}

// instance finds the one resource of a bucket's address: that of the same index
// as who refers to it, or the only one.
func (p *plan) instance(bucket, who string) *resource {
	plain := func(address string) string {
		parts := splitAddress(address)
		for i := range parts {
			parts[i] = withoutIndex(parts[i])
		}
		return strings.Join(parts, ".")
	}
	var found []*resource
	for _, c := range p.changes {
		if c.kind == "aws_s3_bucket" && plain(c.address) == plain(bucket) {
			found = append(found, c)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	i := slices.IndexFunc(found, func(c *resource) bool { return indices(c.address) == indices(who) })
	if i < 0 {
		return nil
	}
	return found[i]
}

// indices gives the indices in an address.
func indices(address string) string {
	var all strings.Builder
	for _, part := range splitAddress(address) {
		if i := strings.IndexByte(part, '['); i >= 0 {
			all.WriteString(part[i:])
		}
	}
	return all.String()
}

// unbase64 decodes what content_base64 holds.
func unbase64(s string) (string, bool) {
	b, err := base64.StdEncoding.DecodeString(s)
	return string(b), err == nil
}

package infra

import (
	"cmp"
	"slices"
	"strings"

	"backstop/rules/lifecycle"
)

// objectTypes are the resources that write an object.
var objectTypes = []string{"aws_s3_object", "aws_s3_bucket_object", "aws_s3_object_copy"}

// read makes the document of the plan's resources.
func (p *plan) read() {
	for _, r := range p.changes {
		p.secrets(r)
		switch {
		case r.kind == "aws_s3_bucket_lifecycle_configuration":
			p.configuration(r)
		case r.kind == "aws_s3_bucket":
			p.bucket(r)
		case slices.Contains(objectTypes, r.kind):
			p.object(r)
		}
	}
	p.dropMirrors()
}

// dropMirrors drops inline rules that only mirror what another resource says.
func (p *plan) dropMirrors() {
	mirrors := func(out Proposal) bool {
		r := p.byAddress[out.Source]
		return r.kind == "aws_s3_bucket" && !p.declared(r).get("expressions").has("lifecycle_rule") &&
			slices.ContainsFunc(p.doc.Proposals, func(o Proposal) bool { return o.Source != out.Source && same(o.Bucket, out.Bucket) })
	}
	p.doc.Proposals = slices.DeleteFunc(slices.Clone(p.doc.Proposals), mirrors)
}

// proposal begins a proposal for a resource.
func (p *plan) proposal(r *resource, bucket BucketRef) Proposal {
	return Proposal{Source: r.address, Line: r.line, Bucket: bucket, Change: r.change, Facts: p.facts(bucket)}
}

// configuration reads an aws_s3_bucket_lifecycle_configuration.
func (p *plan) configuration(r *resource) {
	values := r.after
	if r.change == Deletes || r.change == Forgets {
		values = r.before
	}
	out := p.proposal(r, p.bucketOf(r, values))
	if before := p.blocks(r); r.before.there() {
		before.rules(r.before)
		before.Configuration.DefaultMinimumSize = r.before.get(sizeDefault).str()
		out.Before = &before.Configuration
	}
	if r.change == Deletes { // DELETE takes all rules away
		out.Readings = []Reading{{}}
		p.doc.Proposals = append(p.doc.Proposals, out)
		return
	}
	b := p.blocks(r)
	switch rules := values.get("rule"); {
	case values.is(unknown):
		b.anyRule("rule", values)
	case rules.is(unknown):
		b.anyRule("rule", rules)
	default:
		b.rules(values)
	}
	out.Implied = b.sizeDefault(values.get(sizeDefault), r.change)
	b.Written = r.change.Writes()
	out.take(&b.builder)
	p.doc.Proposals = append(p.doc.Proposals, out)
}

const sizeDefault = "transition_default_minimum_object_size"

// blocks begins to read a resource's rules.
func (p *plan) blocks(r *resource) blockReader {
	return blockReader{legacy: r.kind == "aws_s3_bucket_lifecycle_configuration" && p.schemas[r.address] == "0"}
}

// sizeDefault reads what becomes of small objects. Where nobody says, a PUT
// selects the newer default, and a configuration that stays as it is may have
// either.
func (b *builder) sizeDefault(n *node, c Change) (implied bool) {
	switch {
	case n.is(unknown):
		b.unknown = append(b.unknown, sizeDefault)
	case n.str() != "":
		b.DefaultMinimumSize = n.str()
	case c.Writes():
		b.DefaultMinimumSize = lifecycle.AllClasses128K
		return true
	}
	return false
}

// take makes what a builder has read the only reading.
func (p *Proposal) take(b *builder) {
	p.Readings = []Reading{b.Reading}
	p.Unknown, p.Faults = b.unknown, b.faults
}

// bucket reads an aws_s3_bucket: its inline rules, and whether it goes.
func (p *plan) bucket(r *resource) {
	if r.change == Deletes || r.change == Replaces {
		p.doc.Buckets = append(p.doc.Buckets, BucketChange{Source: r.address, Line: r.line, Change: r.change,
			Bucket: BucketRef{Name: r.before.get("bucket").str(), Source: r.address, Named: true}, Force: r.before.get("force_destroy").truth()})
	}
	if r.change == Deletes || r.change == Forgets || !p.inline(r) {
		return
	}
	out := p.proposal(r, p.ownRef(r))
	if before := p.blocks(r); r.before.there() {
		before.inline(r.before)
		out.Before = &before.Configuration
	}
	b := p.blocks(r)
	if rules := r.after.get("lifecycle_rule"); rules.is(unknown) {
		b.anyRule("lifecycle_rule", rules)
	} else {
		b.inline(r.after)
	}
	out.Implied = b.sizeDefault(nil, r.change)
	out.take(&b.builder)
	p.doc.Proposals = append(p.doc.Proposals, out)
}

// inline reports whether a bucket's own lifecycle_rule says what will be. Since
// version 4 the provider also fills it in from the bucket, for information: where
// the code has no such block, or another resource has the rules, it says nothing.
func (p *plan) inline(r *resource) bool {
	after, before := r.after.get("lifecycle_rule"), r.before.get("lifecycle_rule")
	if config := p.declared(r); config != nil {
		return config.get("expressions").has("lifecycle_rule") || r.change == Updates && len(before.list()) > 0 && !after.is(unknown) && len(after.list()) == 0
	}
	if after.is(unknown) {
		return false // computed
	}
	return len(after.list()) > 0 || len(before.list()) > 0
}

// ownRef names the bucket that a resource makes.
func (p *plan) ownRef(r *resource) BucketRef {
	ref := BucketRef{Source: r.address, Named: true, New: r.change == Creates, Name: r.after.get("bucket").str()}
	if ref.Name == "" && r.change != Creates && r.change != Replaces {
		ref.Name = r.before.get("bucket").str()
	}
	return ref
}

// bucketOf names the bucket that a resource's attribute bucket means.
func (p *plan) bucketOf(r *resource, values *node) BucketRef {
	ref, known := p.refs[r]
	if !known {
		ref = p.findBucket(r, values)
		p.refs[r] = ref
	}
	return ref
}

func (p *plan) findBucket(r *resource, values *node) BucketRef {
	ref := BucketRef{Named: true, Name: values.get("bucket").str()}
	if ref.Name == "" && r.change == Updates {
		ref.Name = r.before.get("bucket").str()
	}
	if owner := p.owner(r); owner != nil {
		own := p.ownRef(owner)
		ref.Source, ref.New, ref.Name = own.Source, own.New, cmp.Or(ref.Name, own.Name)
		return ref
	}
	for _, c := range p.changes {
		if c.kind == "aws_s3_bucket" && ref.Name != "" && c.after.get("bucket").str() == ref.Name {
			ref.Source, ref.New = c.address, c.change == Creates
		}
	}
	return ref
}

// facts are what the plan says about a bucket besides its lifecycle.
func (p *plan) facts(bucket BucketRef) Facts {
	var f Facts
	for _, r := range p.changes {
		if r.change == Deletes || r.change == Forgets {
			continue
		}
		if r.kind == "aws_s3_bucket" && bucket.Source == r.address {
			f.ofBucket(r.after)
			continue
		}
		if !strings.HasPrefix(r.kind, "aws_s3_bucket_") || !same(p.bucketOf(r, r.after), bucket) {
			continue
		}
		switch r.kind {
		case "aws_s3_bucket_versioning":
			f.ofVersioning(r.after)
		case "aws_s3_bucket_object_lock_configuration":
			f.ObjectLock = true
		case "aws_s3_bucket_intelligent_tiering_configuration":
			f.Tiering = append(f.Tiering, tieringOf(r.after))
		}
	}
	return f
}

// same reports whether two references mean one bucket, as far as they tell.
func same(a, b BucketRef) bool {
	return a.Source != "" && a.Source == b.Source || a.Name != "" && a.Name == b.Name
}

// ofBucket reads the facts that an aws_s3_bucket has inline.
func (f *Facts) ofBucket(values *node) {
	f.ObjectLock = f.ObjectLock || values.get("object_lock_enabled").truth() || len(values.get("object_lock_configuration").list()) > 0
	if v := values.get("versioning").at(0); f.Versioning == lifecycle.Unknown && v.get("enabled").is(boolean) {
		f.MFADelete = v.get("mfa_delete").truth()
		if v.get("enabled").truth() {
			f.Versioning = lifecycle.Enabled
		} // else it may be off, or have been on: nobody can tell
	}
}

func (f *Facts) ofVersioning(values *node) {
	v := values.get("versioning_configuration").at(0)
	f.MFADelete = v.get("mfa_delete").str() == "Enabled"
	switch v.get("status").str() {
	case "Enabled":
		f.Versioning = lifecycle.Enabled
	case "Suspended":
		f.Versioning = lifecycle.Suspended
	case "Disabled": // which only a new bucket takes
		f.Versioning = lifecycle.Off
	}
}

// tieringOf reads an archive configuration. Days that are not known are S3's
// least.
func tieringOf(values *node) lifecycle.Tiering {
	t := lifecycle.Tiering{ID: values.get("name").str(), Status: cmp.Or(values.get("status").str(), "Enabled")}
	for _, tier := range values.get("tiering").list() {
		days, _ := whole(tier.get("days").str())
		t.Tiers = append(t.Tiers, lifecycle.Tier{AccessTier: tier.get("access_tier").str(), Days: int(max(days, 90))})
	}
	if prefix := values.get("filter").at(0).get("prefix"); prefix.str() != "" {
		t.Filter = &lifecycle.Filter{Predicates: lifecycle.Predicates{Prefix: new(prefix.str())}}
	}
	return t
}

// object reads a resource that writes an object.
func (p *plan) object(r *resource) {
	o := Object{Source: r.address, Line: r.line, Change: r.change}
	if r.before.there() && r.change != Creates {
		o.Was = Place{Key: r.before.get("key").str(), Bucket: BucketRef{Name: r.before.get("bucket").str(), Named: true}}
		o.Before = content(r.before)
	}
	if r.after.there() && r.change != Deletes && r.change != Forgets {
		o.At = Place{Key: r.after.get("key").str(), KeyUnknown: r.after.is(unknown) || r.after.get("key").is(unknown), Bucket: p.bucketOf(r, r.after)}
		o.Content = content(r.after)
	}
	o.Kept = kept(r.before, r.after)
	p.doc.Objects = append(p.doc.Objects, o)
}

// origins are the attributes that say what stands in an object, in the spelling of
// Terraform and of Pulumi. The etag is that of the content, and tells that the file
// which it is from changed.
var origins = []string{"content", "content_base64", "contentBase64", "source", "etag", "source_hash", "sourceHash"}

// kept reports whether an object's content stays: an update then changes its tags,
// or something else beside it.
func kept(before, after *node) bool {
	if !before.there() || !after.there() || after.is(unknown) {
		return false
	}
	named := false
	for _, name := range origins {
		was, is := before.get(name), after.get(name)
		if is.is(unknown) && name == "etag" { // computed anew, whatever changes
			continue
		}
		if is.there() && !is.scalar() || was.str() != is.str() {
			return false
		}
		named = named || is.str() != "" && name != "etag"
	}
	return named
}

// content gives the content that a resource holds; nil where it is in a file, or
// not known.
func content(values *node) *string {
	if c := values.get("content"); c.is(text) && c.text != "" {
		return &c.text
	}
	if c := values.get("content_base64"); c.is(text) && c.text != "" {
		if s, ok := unbase64(c.text); ok {
			return &s
		}
	}
	return nil
}

// secrets remembers the names that the plan marks as sensitive.
func (p *plan) secrets(r *resource) {
	if r.sensitive.is(boolean) && r.sensitive.truth() {
		p.secretsIn(r.after, nil, true)
		return
	}
	p.secretsIn(r.after, r.sensitive, false)
}

// secretsIn walks values and marks side by side. Short words are left: they are
// no secrets, and cutting them out would garble everything.
func (p *plan) secretsIn(values, marks *node, all bool) {
	const shortest = 3
	all = all || marks.is(boolean) && marks.truth()
	switch {
	case values == nil:
	case values.is(text):
		if all && len(values.text) >= shortest && len(values.text) <= 1024 {
			p.doc.Secrets = append(p.doc.Secrets, values.text)
		}
	case values.is(list):
		for i, item := range values.items {
			p.secretsIn(item, marks.at(i), all)
		}
	case values.is(object):
		for _, m := range values.members {
			p.secretsIn(m.node, marks.get(m.name), all)
		}
	}
}

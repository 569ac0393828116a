package infra

import (
	"backstop/rules/lifecycle"
)

// A Format is the kind of a document.
type Format string

// The formats that Read knows.
const (
	AWSJSON        Format = "aws-json"        // what the AWS CLI prints and takes
	AWSXML         Format = "aws-xml"         // the S3 API's own
	TerraformPlan  Format = "terraform-plan"  // terraform show -json PLAN, also of OpenTofu
	TerraformState Format = "terraform-state" // terraform show -json: what is, and not what will be
	CloudFormation Format = "cloudformation"  // JSON or YAML, also of CDK
	PulumiPreview  Format = "pulumi-preview"  // pulumi preview --json
	PulumiState    Format = "pulumi-state"    // pulumi stack export
)

// Proposed reports whether the format tells what will be, and not what is.
func (f Format) Proposed() bool { return f != TerraformState && f != PulumiState }

// A Document is what infrastructure code says about buckets.
type Document struct {
	Format    Format
	Proposals []Proposal
	Objects   []Object
	Buckets   []BucketChange
	// Gaps are parts of the document that could not be read and may hold any of
	// the above.
	Gaps []Gap
	// Notes are remarks about the document that change nothing.
	Notes []string
	// Secrets are names that the document marks as sensitive: bucket names, keys,
	// prefixes, rule ids. They must not be shown.
	Secrets []string
}

// A Change is what the code will do to something.
type Change string

// The changes.
const (
	Proposes  Change = "proposed" // the document does not say what was before
	Creates   Change = "create"
	Updates   Change = "update"
	Replaces  Change = "replace" // deletes and creates
	Deletes   Change = "delete"
	Unchanged Change = "unchanged"
	Forgets   Change = "forget" // it stays, and the tool looks after it no longer
	Stands    Change = "stands" // of a state: it is so now
)

// Writes reports whether the change writes something new.
func (c Change) Writes() bool {
	return c == Proposes || c == Creates || c == Updates || c == Replaces
}

// A Proposal is the lifecycle configuration that a bucket will have.
type Proposal struct {
	// Source is the resource: an address, a logical id, a URN. Empty where the
	// document is the configuration.
	Source string
	Line   int // of the document, from 1; 0 where it is not known
	Bucket BucketRef
	Change Change
	// Readings are what the configuration may be, at least one; all but the
	// first are for other values of a template's conditions.
	Readings []Reading
	// Before is what the code says was there before; nil where it does not say.
	Before *lifecycle.Configuration
	// Unknown are the places, within the configuration as it is written, of what
	// is known only when the code is applied.
	Unknown []string
	// Faults are what the tool itself would refuse, or the reader did not
	// understand; S3 is never asked then.
	Faults []string
	// Facts are what the code says about the bucket.
	Facts Facts
	// Implied says that the size default for transitions is not in the document
	// and is what S3 takes when a PUT does not say.
	Implied bool
}

// Whole gives the one configuration of a proposal in which nothing is unknown;
// ok is false for one that cannot be told.
func (p Proposal) Whole() (c lifecycle.Configuration, ok bool) {
	if len(p.Readings) != 1 || len(p.Unknown) > 0 {
		return lifecycle.Configuration{}, false
	}
	return p.Readings[0].Configuration, true
}

// A Reading is one configuration that a proposal may come to, with what is
// unknown read in the worst way.
type Reading struct {
	lifecycle.Configuration
	// Doubts are what is not known about the rules.
	Doubts []Doubt
	// When names the conditions under which it is so; empty for always.
	When string
	// Lines are where the rules stand, by index.
	Lines []int
	// Paths are the places of the rules within the document, by index.
	Paths []string
	// Written says that a configuration is written even if it has no rules, which
	// S3 refuses: it takes rules away by a DELETE.
	Written bool
}

// A Doubt is something about a rule that was not known, and was read in the
// worst way.
type Doubt struct {
	Rule int    // index
	Path string // of the value, as it is written
	Kind DoubtKind
	// ReadAs says what the value was taken for.
	ReadAs string
}

// A DoubtKind says what a doubt is about.
type DoubtKind uint8

const (
	// Scope: whether the rule acts at all, on what, and how.
	Scope DoubtKind = iota + 1
	// Timing: only when it acts.
	Timing
)

// A BucketRef names a bucket as far as the code tells.
type BucketRef struct {
	Name string // empty where it is not known
	// Source is the resource that makes the bucket; empty where it is not one of
	// the document's.
	Source string
	// New says that the bucket is created with the code, so that nothing lies in
	// it yet.
	New bool
	// Named says that the document says which bucket it is, be it not by name;
	// not so for a configuration alone.
	Named bool
}

// Facts are what the code says about a bucket besides its lifecycle.
type Facts struct {
	// Versioning is Unknown where the code does not say.
	Versioning lifecycle.Versioning
	MFADelete  bool
	ObjectLock bool
	Tiering    []lifecycle.Tiering
}

// An Object is an object that the code writes, moves or deletes.
type Object struct {
	Source string
	Line   int
	Change Change
	// At is where it will be; zero where it is deleted. Was is where it was; zero
	// where it is new.
	At, Was Place
	// Content is what will be in it, and Before what was; nil where the document
	// does not hold it.
	Content, Before *string
	// Kept says that the content stays: all that it is made from is as it was.
	Kept bool
}

// A Place is a key of a bucket, or what is known of one.
type Place struct {
	Bucket BucketRef
	Key    string
	// KeyUnknown says that the key is known only when the code is applied.
	KeyUnknown bool
}

// A BucketChange is a change of a bucket itself.
type BucketChange struct {
	Source string
	Line   int
	Change Change
	Bucket BucketRef
	// Force says that the tool empties the bucket so that it can be deleted.
	Force bool
}

// A Gap is a part of a document that could not be read.
type Gap struct {
	Source string
	Line   int
	Why    string
	// Bucket is the one that it concerns; empty where that may be any.
	Bucket string
}

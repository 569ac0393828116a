package audit

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// LintSchema is the version of the JSON form of a [LintReport], published as
// docs/lint.schema.json.
const LintSchema = 1

// A LintReport is what infrastructure code would do to backup stores.
type LintReport struct {
	Schema  int        `json:"schema"`
	Verdict Verdict    `json:"verdict"`
	Judged  time.Time  `json:"judged"`
	Files   []LintFile `json:"files"`
	// Stores are what the code was held against.
	Stores   []LintStore   `json:"stores"`
	Findings []LintFinding `json:"findings"`
	// Timelines are what becomes of stores by the rules in force, and by those
	// that are proposed.
	Timelines []LintTimeline `json:"timelines,omitempty"`
	// Unfollowed counts further stores that a change concerns and of which no
	// timeline is told, because there are so many.
	Unfollowed int `json:"unfollowed,omitempty"`
	// Problems are places to look at that gave no store to hold the code against.
	Problems []Problem `json:"problems,omitempty"`
	Usage    Usage     `json:"usage"`
}

// A LintFile is one file of infrastructure code.
type LintFile struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	// Configurations are the lifecycle configurations in it.
	Configurations []LintConfiguration `json:"configurations"`
	// Objects counts the objects in it that concern a backup store: control files,
	// and what tells etcd-manager where its store is.
	Objects int `json:"objects"`
}

// A LintConfiguration is a lifecycle configuration that a file proposes.
type LintConfiguration struct {
	// Source is the resource's address; empty where the file is the
	// configuration itself.
	Source string `json:"source,omitempty"`
	Line   int    `json:"line,omitempty"`
	// Bucket is empty where it is known only when the code is applied.
	Bucket string `json:"bucket,omitempty"`
	Change string `json:"change"`
	Rules  int    `json:"rules"`
	// Stores are those that it was held against, by URL.
	Stores []string `json:"stores"`
	// Radius says what each enabled rule would touch.
	Radius []Radius `json:"radius"`
	// Effects are what becomes of the control files.
	Effects []Effect `json:"effects"`
	// Unknown are the places of what is known only when the code is applied.
	Unknown []string `json:"unknown,omitempty"`
}

// A Radius is what a lifecycle rule matches in the stores that were looked at,
// whatever the age of it.
type Radius struct {
	Rule   string `json:"rule"`
	Prefix string `json:"prefix"`
	// Conditions are the rest of the filter, in words.
	Conditions string `json:"conditions,omitempty"`
	// Action is what the rule does, in words.
	Action string `json:"action"`
	// Acts says that it acts on current objects, which are those that readers see.
	Acts bool `json:"acts"`
	// Unlooked says in words what it matches in stores that nobody looked at, of
	// which the numbers count nothing.
	Unlooked     string `json:"unlooked,omitempty"`
	ControlFiles int    `json:"control_files"`
	Snapshots    int    `json:"snapshots"`
	Stores       int    `json:"stores"`
	Clusters     int    `json:"clusters"`
	// DueAtOnce counts the objects that are old enough on the day on which the
	// configuration is written: S3 takes them at its next run.
	DueAtOnce int `json:"due_at_once"`
	// Unsure says that whether it matches is not known in every case.
	Unsure bool `json:"unsure,omitempty"`
}

// An Effect is what lifecycle rules do to a control file now and will do.
type Effect struct {
	Store string `json:"store"`
	Key   string `json:"key"`
	// Before is by the rules that are in force; unseen where they were not seen.
	Before Fact[Fate] `json:"before"`
	// After is by the rules that are proposed. Unset means that nothing happens.
	After Fact[Fate] `json:"after"`
}

// A Fate is the first thing that takes an object from its readers.
type Fate struct {
	// What is deleted, hidden or archived.
	What string    `json:"what"`
	At   time.Time `json:"at"`
	Rule string    `json:"rule"`
	// Unsure says what was not known, and was read in the harmful way.
	Unsure string `json:"unsure,omitempty"`
}

// A LintTimeline is what becomes of a store before a change and after it, if nobody
// touches it.
type LintTimeline struct {
	Store string `json:"store"`
	// File and Source name the proposed configuration.
	File   string `json:"file"`
	Source string `json:"source,omitempty"`
	// Assumes says that what is unknown of the proposal was read in the worst way.
	Assumes bool `json:"assumes,omitempty"`
	// Before is by the rules in force; unseen where they were not seen.
	Before Fact[Future] `json:"before"`
	After  Fact[Future] `json:"after"`
}

// A Future is what becomes of a store.
type Future struct {
	Until time.Time `json:"until"` // how far it was looked
	// Steps are in the order in which they happen; none means that nothing does.
	Steps []LintStep `json:"steps"`
	// NoReturn is when etcd-cluster-created is taken away, Reset when etcd-manager
	// makes a new, empty cluster with nobody touching it; zero for never.
	NoReturn time.Time `json:"no_return,omitzero"`
	Reset    time.Time `json:"reset,omitzero"`
	// Final is what can be restored at the end, in words.
	Final string `json:"final"`
}

// A LintStep is one thing that happens to a store.
type LintStep struct {
	At time.Time `json:"at"`
	// Overdue says that it may happen at any moment, since At.
	Overdue bool `json:"overdue,omitempty"`
	// What happens, State afterwards, and what it means, in words.
	What     string   `json:"what"`
	State    string   `json:"state"`
	Meaning  string   `json:"meaning,omitempty"`
	Severity Severity `json:"severity"`
}

// A LintStore is a store that code was held against.
type LintStore struct {
	URL string `json:"url"`
	// State is the store's state; empty for a prefix that nobody looked at.
	State     string `json:"state,omitempty"`
	Snapshots int    `json:"snapshots"`
	// Looked says that somebody looked, now or when it was recorded.
	Looked bool         `json:"looked"`
	Unseen []UnseenFact `json:"unseen,omitempty"`
}

// A LintFinding is a [Finding] about a place in a file. Its Rule is the lint
// rule, and its Store is empty where it concerns several.
type LintFinding struct {
	Finding
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"` // from 1; 0 where it is not known
	// Source is the resource's address.
	Source string `json:"source,omitempty"`
	// LifecycleRule is the lifecycle rule that it is about.
	LifecycleRule string `json:"lifecycle_rule,omitempty"`
}

// NewLintReport puts a report together: the most urgent findings first, and a
// verdict that is the worst of them. A place that was not looked at makes it
// UNKNOWN at best.
func NewLintReport(r LintReport) LintReport {
	r.Schema, r.Verdict = LintSchema, OK
	if len(r.Problems) > 0 {
		r.Verdict = VerdictUnknown
	}
	r.Findings = slices.Clone(r.Findings)
	slices.SortStableFunc(r.Findings, func(a, b LintFinding) int {
		return cmp.Or(-cmp.Compare(a.Severity.rank(), b.Severity.rank()), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Source, b.Source))
	})
	for _, f := range r.Findings {
		if v := f.Severity.verdict(); v.Worse(r.Verdict) {
			r.Verdict = v
		}
	}
	if r.Findings == nil {
		r.Findings = []LintFinding{}
	}
	if r.Files == nil {
		r.Files = []LintFile{}
	}
	if r.Stores == nil {
		r.Stores = []LintStore{}
	}
	return r
}

// Reach says what the rule matches, in words.
func (r Radius) Reach() string {
	verb := "matches"
	if r.Unsure {
		verb = "may match"
	}
	counts := fmt.Sprintf("%s, %s, %s", Plural(r.ControlFiles, "control file"), Plural(r.Snapshots, "snapshot"), Plural(r.Clusters, "cluster"))
	switch {
	case r.Unlooked == "":
		return verb + " " + counts
	case r.ControlFiles+r.Snapshots == 0:
		return verb + " " + r.Unlooked
	}
	return verb + " " + counts + ", and " + r.Unlooked
}

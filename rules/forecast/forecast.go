package forecast

import (
	"cmp"
	"errors"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

// Within is how far a timeline reaches where nobody says.
const Within = 2 * 365 * audit.Day

// An Input is what a forecast is made from.
type Input struct {
	Observation *audit.Observation
	// Policy is the store's own, as [audit.Policy.For] gives it.
	Policy audit.Policy
	Now    time.Time
	// Within is how far to look; 0 means [Within].
	Within time.Duration
	// At is a time to tell the state and the window of; zero for none. The
	// timeline reaches at least that far.
	At time.Time
	// Rules stand in the place of the bucket's lifecycle configuration: a
	// proposal, or none (a zero Configuration). nil takes the bucket's own.
	Rules *lifecycle.Configuration

	// World is what etcd-manager finds, State the auditor's word for it, Fresh
	// whether backups are recent. Package rules knows; see rules.Forecast.
	World etcdmanager.World
	State etcdmanager.State
	Fresh bool
	// Reset is when a new, empty cluster took the place of the old one whose
	// snapshots are still there; zero where none did, or it was meant. What can
	// be restored is then what is left of the old one.
	Reset time.Time
	// Overdue says that the cluster is old enough to have a snapshot: it is then in
	// trouble if none can be restored.
	Overdue bool
	// Untold says why nothing can be told of the store as of Now: it was written to
	// later. Empty where that is not so.
	Untold string
	// Filled is how many bytes the data of a snapshot has at least to count as
	// one that can be restored; 0 means 1.
	Filled int64
}

// Of foresees what becomes of a store if nobody touches it.
func Of(in Input) Timeline {
	f := newForesight(in)
	if in.Untold != "" {
		return f.untold()
	}
	f.followControl()
	f.followSnapshots()
	f.tell()
	return f.t
}

// A foresight is a Timeline being made.
type foresight struct {
	Input
	o         *audit.Observation
	to        time.Time
	bucket    lifecycle.Bucket
	config    lifecycle.Configuration
	known     bool // the lifecycle rules
	retention etcdmanager.Retention
	live      bool // an etcd-manager reads and writes the store

	files      [2]controlFile // created, spec
	due        [2]time.Time   // when each was last due to be taken away
	phases     []phase
	reset      bool // etcd-manager has made a new cluster, in this timeline
	after      bool // or before it
	milestones []Event
	atoms      []atom

	backups []*backup            // those that are there, by time
	future  map[time.Time]backup // those that are expected, as they begin
	good    []*backup            // of the cluster as it is now, when its backups have ended

	t Timeline
}

func newForesight(in Input) *foresight {
	o := in.Observation
	within := cmp.Or(in.Within, Within)
	f := &foresight{Input: in, o: o, to: latest(in.Now.Add(within), in.At), bucket: BucketOf(o), future: map[time.Time]backup{}}
	f.live = in.Policy.RoleOf(o) == audit.Live
	f.after = !in.Reset.IsZero()
	f.t = Timeline{Store: o.Store, From: in.Now, To: f.to, State: in.State, Proposed: in.Rules != nil, Control: []Fate{}, Rules: []Effect{}, Events: []Event{}}
	if !f.live {
		f.t.Role = in.Policy.RoleOf(o)
	}
	f.t.Reset = in.Reset
	f.t.Retention = retentionOf(o, in.Policy)
	f.retention = etcdmanager.Retention{Hourly: f.t.Retention.Hourly, Daily: f.t.Retention.Daily}
	f.config, f.known = f.rules()
	f.gaps()
	return f
}

// rules gives the lifecycle rules to follow, and whether they are known.
func (f *foresight) rules() (lifecycle.Configuration, bool) {
	if f.Rules != nil {
		c := *f.Rules
		if c.DefaultMinimumSize == "" && f.bucket.Provider == lifecycle.AWS {
			// A PUT that does not say selects it (user guide,
			// lifecycle-transition-general-considerations).
			c.DefaultMinimumSize = lifecycle.AllClasses128K
		}
		return c, true
	}
	c, err := ConfigurationOf(f.o)
	return c, err == nil && f.o.Bucket.Lifecycle.Seen()
}

// errNoRules is of a configuration without rules, which no S3 gives: of a bucket
// without rules it says that there is no configuration (404).
var errNoRules = errors.New("it has no rule, and of a bucket without rules S3 says that there is no configuration")

// ConfigurationOf gives the bucket's lifecycle rules, with what the server says of
// small objects. Where there are none, or none were seen, it has no rules: ask
// the observation which.
func ConfigurationOf(o *audit.Observation) (lifecycle.Configuration, error) {
	if !o.Bucket.Lifecycle.IsSet() {
		return lifecycle.Configuration{}, nil
	}
	c, err := lifecycle.Parse(o.Bucket.Lifecycle.Value.Body)
	if err != nil {
		return lifecycle.Configuration{}, err
	}
	if len(c.Rules) == 0 {
		return lifecycle.Configuration{}, errNoRules
	}
	// AWS's JSON holds the default, XML does not.
	c.DefaultMinimumSize = cmp.Or(c.DefaultMinimumSize, o.Bucket.TransitionSizeDefault)
	return c, nil
}

// BucketOf is what the lifecycle evaluator needs to know of a store's bucket.
func BucketOf(o *audit.Observation) lifecycle.Bucket {
	b := lifecycle.Bucket{Provider: lifecycle.AWS, MFADelete: o.Bucket.MFADelete, ObjectLock: o.Bucket.ObjectLock.IsSet()}
	if o.Store.Endpoint != "" {
		b.Provider = lifecycle.Unknown
	}
	switch v := o.Bucket.Versioning; {
	case v.State == audit.Unset:
		b.Versioning = lifecycle.Off
	case v.IsSet() && v.Value == "Enabled":
		b.Versioning = lifecycle.Enabled
	case v.IsSet() && v.Value == "Suspended":
		b.Versioning = lifecycle.Suspended
	}
	return b
}

// retentionOf is what etcd-manager keeps: as kops configures it, else as the
// owner says, else as it does by itself.
func retentionOf(o *audit.Observation, p audit.Policy) Retention {
	k := o.Kops.Value
	switch {
	case o.Kops.IsSet() && k.Known && (k.Hourly != 0 || k.Daily != 0):
		return Retention{Hourly: k.Hourly, Daily: k.Daily, By: "kops"}
	case p.Given.KeepHourly || p.Given.KeepDaily:
		return Retention{Hourly: p.KeepHourly, Daily: p.KeepDaily, By: "configuration"}
	}
	d := etcdmanager.DefaultRetention
	return Retention{Hourly: d.Hourly, Daily: d.Daily, By: "default"}
}

// kopsDaily is what kops writes into a cluster's spec since 1.27
// (upup/pkg/fi/cloudup/defaults.go). It is the least that may be meant where
// nobody says how long snapshots are to be kept.
const kopsDaily = 90 * audit.Day

// Ladder is how long one snapshot of each day is to be kept, and by whose word.
// Where nobody says it is etcd-manager's own two years; sure is then what even the
// shortest ladder in use would keep, which [SureWord] speaks of.
func Ladder(o *audit.Observation, p audit.Policy) (keep, sure time.Duration, whose string) {
	keep = max(clamp(p.KeepDaily), clamp(p.KeepHourly))
	k := o.Kops.Value
	switch {
	case p.Given.KeepDaily || p.Given.KeepHourly:
		return keep, keep, "as the configuration says"
	case o.Kops.IsSet() && k.Known && k.Daily > 0:
		return keep, keep, "as kops configures it"
	}
	return keep, min(keep, kopsDaily), "as etcd-manager does by itself"
}

// SureWord says whose word the shorter of two ladders is: nobody's about this
// cluster.
const SureWord = "as kops has written into the spec of a cluster since 1.27; nobody says what holds for this one, and by itself etcd-manager keeps 2 years"

// Kept is what a rule that takes snapshots after some days is held against: by the
// sure ladder where the rule is shorter than that, and else by the whole one, which
// perhaps nobody means.
func Kept(o *audit.Observation, p audit.Policy, days time.Duration) (keep time.Duration, whose string, sure bool) {
	keep, least, whose := Ladder(o, p)
	switch {
	case least == keep:
		return keep, whose, true
	case days < least:
		return least, SureWord, true
	}
	return keep, whose, false
}

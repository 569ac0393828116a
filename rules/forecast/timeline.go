package forecast

import (
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// A Timeline is what becomes of one store, from one instant on.
type Timeline struct {
	Store audit.Store `json:"store"`
	// From is the time that it is told from, To how far it reaches.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Proposed says that other lifecycle rules than the bucket's own were
	// followed.
	Proposed bool `json:"proposed,omitempty"`
	// Role is what the store is for; empty for a live one. Nobody reads the
	// control files of the others.
	Role audit.Role `json:"role,omitempty"`

	// Verdict is the worst of State, Events and Gaps, by the policy's horizons.
	Verdict audit.Verdict `json:"verdict"`
	// State and Window are as of From; FinalState and FinalWindow as of To.
	State       etcdmanager.State `json:"state"`
	Window      Window            `json:"window"`
	FinalState  etcdmanager.State `json:"final_state"`
	FinalWindow Window            `json:"final_window"`
	// At is how things stand at the time that was asked about, if one was.
	At *Standing `json:"at,omitempty"`

	// NoReturn is when etcd-cluster-created is taken away: until then it is
	// enough to stop the rule that does it. Zero where nothing takes it.
	NoReturn time.Time `json:"no_return,omitzero"`
	// Reset is when etcd-manager makes a new, empty cluster with nobody touching
	// it; zero where it does not. States after it are the new cluster's, and
	// windows hold what is left of the old one.
	Reset time.Time `json:"reset,omitzero"`
	// ResetPossible is when both control files go in one run of S3's: if created
	// goes first, that is a reset with nobody touching it; zero for never.
	ResetPossible time.Time `json:"reset_possible,omitzero"`
	// Lost is when the last snapshot of the cluster as it is now can no longer
	// be restored. Zero where that does not come before To.
	Lost time.Time `json:"lost,omitzero"`

	// Retention is what etcd-manager keeps.
	Retention Retention `json:"retention"`
	// Control is what becomes of the two control files, created first.
	Control []Fate `json:"control"`
	// Rules are the enabled lifecycle rules that match something of the store.
	Rules []Effect `json:"rules"`
	// Events are in the order in which they happen.
	Events []Event `json:"events"`
	// Gaps are what was not seen, Assumes what was taken for granted.
	Gaps    []Gap    `json:"gaps,omitempty"`
	Assumes []string `json:"assumes,omitempty"`
}

// An Actor is who does something to a store.
type Actor string

// The actors.
const (
	ByLifecycle   Actor = "lifecycle"    // a lifecycle rule of the bucket
	ByRetention   Actor = "retention"    // etcd-manager's cleanup of its snapshots
	ByEtcdManager Actor = "etcd-manager" // the control loop of its leader
)

// An Action is what is done.
type Action string

// The actions.
const (
	Deletes  Action = "deletes"  // for good
	Hides    Action = "hides"    // a delete marker: to a reader it is missing
	Archives Action = "archives" // to a class that nobody can read before a thaw
	Destroys Action = "destroys" // an old version of a control file, for good
	Unmarks  Action = "unmarks"  // removes a delete marker under which nothing is left
	Resets   Action = "resets"   // makes a new, empty cluster
	Forms    Action = "forms"    // makes a cluster for the first time
	Loses    Action = "loses"    // nothing is left to restore
	// WouldLose is no event but a date: from then on a reset deletes every
	// snapshot at once.
	WouldLose Action = "would-lose"
)

// An Event is something that happens to a store, or a span of many such things.
type Event struct {
	// At is the first instant at which it can happen; it lies before From where
	// Overdue is set, and may then happen at any moment.
	At      time.Time `json:"at"`
	Overdue bool      `json:"overdue,omitempty"`
	// Late is the date with an hour's lag at each stage, or by the other of two
	// readings, where that differs from At.
	Late time.Time `json:"late,omitzero"`
	// To is when the last of a span can happen; zero for a single event.
	To time.Time `json:"to,omitzero"`

	Actor  Actor  `json:"actor"`
	Rule   string `json:"rule,omitempty"`
	Action Action `json:"action"`
	Class  string `json:"class,omitempty"` // the storage class of Archives

	// Paths are the control files concerned, relative to the store. Versions
	// counts their old versions, where it is those that are concerned.
	Paths    []string `json:"paths,omitempty"`
	Versions int      `json:"versions,omitempty"`
	// Snapshots are the snapshots concerned.
	Snapshots *Snapshots `json:"snapshots,omitempty"`
	// Until is when what was hidden is destroyed, and can no longer be brought
	// back; zero where nothing destroys it. Of a span it is the first such date.
	Until time.Time `json:"until,omitzero"`

	// State is the state afterwards, Window what can be restored then.
	State  etcdmanager.State `json:"state"`
	Window Window            `json:"window"`
	// IfReset is what the first cleanup would leave of Window if the cluster
	// were reset then. It is set while that only takes somebody who writes the
	// spec.
	IfReset *Window `json:"if_reset,omitempty"`

	Severity audit.Severity `json:"severity"`
	// Meaning says what follows, in sentences.
	Meaning string `json:"meaning,omitempty"`
	// Unsure says what was not known and was read in the harmful way.
	Unsure string `json:"unsure,omitempty"`
}

// Snapshots are those that a span takes.
type Snapshots struct {
	Count int `json:"count"`
	// First and Last are when the first and the last of them were taken.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Continues says that it goes on with snapshots that are yet to be taken.
	Continues bool `json:"continues,omitempty"`
}

// A Window is what can be restored at a time: complete snapshots that can be read
// where they are. After a reset those of the new, empty cluster do not count.
type Window struct {
	// Known is false where the snapshots were not seen.
	Known bool `json:"known"`
	Count int  `json:"count"`
	// Oldest and Newest are when the first and the last of them were taken;
	// zero without any.
	Oldest time.Time `json:"oldest,omitzero"`
	Newest time.Time `json:"newest,omitzero"`
}

// A Standing is how a store stands at a time.
type Standing struct {
	At     time.Time         `json:"at"`
	State  etcdmanager.State `json:"state"`
	Window Window            `json:"window"`
	// IfReset is as in Event.
	IfReset *Window `json:"if_reset,omitempty"`
}

// A Fate is what becomes of one control file.
type Fate struct {
	Path string `json:"path"`
	// Presence is what a reader gets now: present, missing, empty, unreadable
	// or unseen.
	Presence string `json:"presence"`
	// Gone is when it is first missing or unreadable to readers, by Rule; zero
	// for never. Late is as in Event.
	Gone time.Time `json:"gone,omitzero"`
	Late time.Time `json:"late,omitzero"`
	Rule string    `json:"rule,omitempty"`
	// Action is Deletes, Hides or Archives.
	Action Action `json:"action,omitempty"`
	// Until is when its hidden content is destroyed; zero for never.
	Until time.Time `json:"until,omitzero"`
}

// An Effect is how far a lifecycle rule reaches into a store.
type Effect struct {
	Rule string `json:"rule"`
	// Control are the paths of the control files that it matches, Snapshots
	// counts the snapshots with an object that it matches.
	Control   []string `json:"control,omitempty"`
	Snapshots int      `json:"snapshots"`
	// Due counts the matched objects, control files and halves of snapshots,
	// that it may take at once: their date has passed.
	Due int `json:"due"`
	// First is the first date on which it takes one; zero for never.
	First time.Time `json:"first,omitzero"`
}

// A Retention is how long etcd-manager keeps snapshots: the earliest of each
// hour, and the earliest of each day.
type Retention struct {
	Hourly time.Duration `json:"hourly"` // nanoseconds
	Daily  time.Duration `json:"daily"`  // nanoseconds
	// By says whose word it is: kops, configuration, or default.
	By string `json:"by"`
}

// A Gap is something that was not seen, and what the timeline therefore cannot
// tell.
type Gap struct {
	Fact audit.FactName `json:"fact"`
	// Necessary says that without it the timeline may lack what matters.
	Necessary bool   `json:"necessary,omitempty"`
	Reason    string `json:"reason"`
	Means     string `json:"means"`
}

package etcdmanager

// Presence is what a reader with etcd-manager's rights gets for a control file.
type Presence int

// The answers for a control file. The zero value is NotSeen, so that a file
// nobody looked at never counts as missing.
const (
	NotSeen    Presence = iota // we could not look; etcd-manager may well
	Missing                    // 404 NoSuchKey, or a delete marker on top
	Empty                      // there, zero bytes
	Present                    // there, and readable
	Unreadable                 // there, and every reader is refused: archived, its key disabled
)

// Quality is what etcd-manager makes of the spec's bytes.
type Quality int

// The qualities of a spec that is present. The zero value is Bad.
const (
	Bad         Quality = iota // does not parse, or an unknown etcd version
	NoMembers                  // parses; memberCount absent, zero or negative
	WithMembers                // parses, memberCount of at least 1
)

// Evidence says whether an earlier cluster has lived in the store.
type Evidence int

// The zero value is EvidenceUnknown.
const (
	EvidenceUnknown Evidence = iota
	EvidenceNone
	EvidenceFound
)

// World is what there is for etcd-manager to find.
type World struct {
	Created Presence
	Spec    Presence
	Quality Quality // of the spec, when it is Present
	// Evidence is for the auditor; etcd-manager does not look for any. That
	// is the accident.
	Evidence Evidence
	// Cached says that the leader still holds a spec that it read before: it
	// has not restarted, been gone over a minute, or seen a new peer since.
	Cached bool
	// NoPeers says that fewer peers are alive than the spec needs for a quorum.
	NoPeers bool
	// QueueBad says that some queued command does not parse, which fails
	// every refresh of the control store.
	QueueBad bool
	// RestoreQueued says that a queued command asks for a restore.
	RestoreQueued bool
}

// An Action is what etcd-manager's leader does in its next cycle (10 s).
type Action string

// The actions. Only ActWork and ActRestore come with backups.
const (
	ActWork    Action = "work"    // backs up, and manages members
	ActIdle    Action = "idle"    // "no cluster spec set": no backups, no membership work, etcd serves
	ActError   Action = "error"   // the cycle ends with an error before backups, etcd serves
	ActReset   Action = "reset"   // stops etcd everywhere, puts its data aside, starts an empty cluster
	ActRestore Action = "restore" // resets, then restores the backup that the command names
	ActUnknown Action = "unknown" // a file was not seen
)

// A Step is an action with what etcd-manager's log says of it.
type Step struct {
	Action Action
	Log    string
}

// Next gives what the leader does next. It is the truth table of the control
// files, pkg/controller/controller.go (func run), each row observed on the
// running program or read in its source.
func Next(w World) Step {
	switch w.Created {
	case NotSeen:
		return Step{Action: ActUnknown}
	case Empty:
		return Step{ActError, "marker file … was unexpectedly empty"}
	case Unreadable:
		return Step{ActError, "error checking control store: error reading cluster-creation marker file"}
	case Missing:
		return nextWithoutCreated(w)
	}
	if w.Cached {
		return Step{ActWork, "took backup"}
	}
	return nextAfterLeaderChange(w)
}

// nextWithoutCreated is the path of a cluster that looks new: the control store
// is read afresh in every cycle.
func nextWithoutCreated(w World) Step {
	switch {
	case w.Spec == NotSeen:
		return Step{Action: ActUnknown}
	case w.QueueBad || w.Spec == Unreadable:
		return Step{ActError, "error refreshing control store"}
	case w.Spec == Missing:
		return Step{ActIdle, "detected that there is no existing cluster; no cluster spec set - must seed new cluster"}
	case w.Spec == Empty || w.Quality == Bad:
		return Step{ActError, "error refreshing control store: error parsing cluster spec"}
	case w.Quality == NoMembers:
		return Step{ActError, "we don't support etcd version requested, won't assume forward compatibility"}
	case w.NoPeers:
		return Step{ActError, "insufficient peers in our gossip group to build a cluster"}
	}
	return Step{ActReset, "detected that there is no existing cluster; stopped etcd on peer; starting new etcd cluster"}
}

// nextAfterLeaderChange is the path of a leader without a cached spec.
func nextAfterLeaderChange(w World) Step {
	switch {
	case w.Spec == NotSeen:
		return Step{Action: ActUnknown}
	case w.QueueBad || w.Spec == Unreadable:
		return Step{ActError, "error refreshing control store after leadership change"}
	case w.Spec == Missing:
		return Step{ActIdle, "no cluster spec set - must seed new cluster"}
	case w.Spec == Empty || w.Quality == Bad:
		return Step{ActError, "error refreshing control store after leadership change: error parsing cluster spec"}
	case w.RestoreQueued:
		return Step{ActRestore, "got restore-backup command"}
	}
	return Step{ActWork, "took backup"}
}

// A State is the auditor's word for how a store stands.
type State string

// The states of a store.
const (
	Running       State = "running"       // created present, spec parses: it works
	Latent        State = "latent"        // spec missing or bad, snapshots fresh: runs on the cached spec
	Stuck         State = "stuck"         // the same, snapshots stale: no backups
	Blocked       State = "blocked"       // created empty or unreadable for everyone: every cycle fails
	Bootstrapping State = "bootstrapping" // created missing, spec parses, no earlier cluster: first formation
	Uninitialised State = "uninitialised" // created missing and nothing else, or bootstrapping for over an hour
	Armed         State = "armed"         // created missing, spec missing or bad, an earlier cluster: the next good spec resets it
	Imminent      State = "imminent"      // created missing, a good spec, an earlier cluster: resets within seconds
	Unknown       State = "unknown"       // something needed was not seen
)

// States are all states, from the harmless to the most urgent.
var States = []State{Running, Bootstrapping, Uninitialised, Unknown, Latent, Stuck, Blocked, Armed, Imminent}

// ClassifyState gives the state of a store. fresh says that its snapshots are
// recent enough; young that a cluster without created may still be forming.
func ClassifyState(w World, fresh, young bool) State {
	switch w.Created {
	case NotSeen:
		return Unknown
	case Empty, Unreadable:
		return Blocked
	case Missing:
		return classifyWithoutCreated(w, young)
	}
	switch {
	case w.Spec == NotSeen:
		return Unknown
	case w.Spec == Present && w.Quality != Bad:
		return Running
	case fresh:
		return Latent
	}
	return Stuck
}

// classifyWithoutCreated tells an accident from a birth. While created is
// missing, a spec without members is bad: etcd-manager refuses it.
func classifyWithoutCreated(w World, young bool) State {
	good := w.Spec == Present && w.Quality == WithMembers
	switch {
	case w.Spec == NotSeen:
		return Unknown
	case w.Evidence == EvidenceFound && good:
		return Imminent
	case w.Evidence == EvidenceFound:
		return Armed
	case w.Evidence == EvidenceUnknown:
		return Unknown
	case good && young:
		return Bootstrapping
	}
	return Uninitialised
}

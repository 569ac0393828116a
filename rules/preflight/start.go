package preflight

import (
	"fmt"
	"strings"

	"backstop/audit"
	"backstop/store/charm"
)

// An Outcome is what etcd does when it next starts.
type Outcome string

// The outcomes.
const (
	WithData Outcome = "with-data" // it starts on the data that is in data-dir
	Empty    Outcome = "empty"     // it starts an empty cluster
	Refuses  Outcome = "refuses"   // it does not start
	Joins    Outcome = "joins"     // it asks its peers, and comes up empty or not at all
	NoIdea   Outcome = "unknown"   // that was not seen
)

// A Start is a prediction.
type Start struct {
	Outcome Outcome `json:"outcome"`
	// Why is a sentence for people.
	Why string `json:"why"`
}

// StartOf predicts what etcd does with a unit's configuration and files. It looks
// for a log below data-dir first. Where there is one it goes on with what is there,
// and neither the token nor initial-cluster nor its state matters. Where there is
// none initial-cluster-state decides.
func StartOf(u Unit) Start {
	d, looked := u.configured()
	switch {
	case u.Data == nil:
		return Start{NoIdea, "its data was not given"}
	case u.Config.DataDir == "":
		return Start{NoIdea, "data-dir is missing: etcd makes one by its member's name in whatever directory it is started from"}
	case !looked:
		return Start{NoIdea, fmt.Sprintf("data-dir is %s, which was not looked at; deploy/charm/collect.sh, run on the unit, looks there too", u.Config.DataDir)}
	case u.Config.WALDir != "" && u.Config.WALDir != u.Config.DataDir:
		return Start{NoIdea, fmt.Sprintf("wal-dir is %s, which was not looked at", u.Config.WALDir)}
	case d.WALs > 0:
		return onward(u, d)
	}
	return afresh(u)
}

// onward is a start on a directory with a log.
func onward(u Unit, d charm.DataDir) Start {
	switch {
	case d.DBSize == 0 && d.Snaps == 0:
		return Start{NoIdea, fmt.Sprintf("%s holds a log and no database: etcd replays what is in the log, or fails", u.place(d))}
	case d.Doubtful():
		return Start{NoIdea, fmt.Sprintf("%s holds a log, so etcd goes on with what is there; its database was not read: %s", u.place(d), unread(d))}
	case !d.Full():
		return Start{Empty, fmt.Sprintf("%s holds an etcd without a single key, and etcd goes on with that", u.place(d))}
	}
	return Start{WithData, fmt.Sprintf("%s holds a log and a database (%s), so etcd goes on with it; token, initial-cluster and its state are not looked at", u.place(d), contents(d))}
}

// afresh is a start on a directory without a log.
func afresh(u Unit) Start {
	c := u.Config
	nothing := fmt.Sprintf("%s holds no log (member/wal)", c.DataDir)
	peers := peersOf(c)
	switch state := c.EffectiveState(); {
	case state == "new" && len(peers) > 0:
		return Start{Empty, fmt.Sprintf("%s and initial-cluster-state is new: etcd forms a NEW, EMPTY cluster with %s", nothing, strings.Join(peers, ", "))}
	case state == "new":
		return Start{Empty, fmt.Sprintf("%s and initial-cluster-state is %s: etcd starts a NEW, EMPTY cluster of one member, and says nothing of it", nothing, stateWord(c))}
	case state == "existing" && len(peers) > 0:
		return Start{Joins, fmt.Sprintf("%s and initial-cluster-state is existing: etcd asks %s; it does not start if they do not know it, and comes up without its data if they do", nothing, strings.Join(peers, ", "))}
	case state == "existing":
		return Start{Refuses, nothing + ", initial-cluster-state is existing and initial-cluster names no other member: etcd does not start (cannot fetch cluster info from peer urls)"}
	}
	return Start{Refuses, fmt.Sprintf("%s, and initial-cluster-state is %q, which is neither new nor existing", nothing, c.State)}
}

func stateWord(c charm.Config) string {
	if c.State == "" {
		return "missing, which etcd takes for new"
	}
	return c.State
}

// peersOf are the members of initial-cluster but for the unit's own.
func peersOf(c charm.Config) []string {
	var all []string
	for member := range strings.SplitSeq(c.InitialCluster, ",") {
		name, _, ok := strings.Cut(strings.TrimSpace(member), "=")
		if ok && name != c.Name && name != "" {
			all = append(all, name)
		}
	}
	return all
}

// contents says what a directory holds.
func contents(d charm.DataDir) string {
	if f := d.Facts(); f != nil {
		return fmt.Sprintf("revision %d, %s", d.Revision(), audit.Plural(int(f.Keys), "key"))
	}
	if d.DBSize == 0 {
		return "an etcd 2's: a log and no database"
	}
	return "of " + audit.Plural(int(d.DBSize), "byte") + ", not read"
}

// unread says why a database is not known.
func unread(d charm.DataDir) string {
	if d.DB != nil {
		return d.DB.Reason
	}
	return d.Unread
}

// Describe says what a data directory holds, for people.
func Describe(d charm.DataDir) string {
	switch {
	case d.Full():
		return "a log and a database: " + contents(d)
	case d.WALs > 0:
		return "a log, and not one key"
	case d.DBSize > 0:
		return "a database and no log, as a start that failed leaves it: no data"
	}
	return "no data"
}

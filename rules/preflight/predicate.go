package preflight

import (
	"fmt"

	"backstop/audit"
	"backstop/store/charm"
)

// A Predicate is one thing that can be wrong.
type Predicate struct {
	// ID is that of the catalogue in docs/charm.md; it is never reused.
	ID string
	// Title says in a few words what is wrong when it holds.
	Title string
	// needs says what it cannot be told without, for the list of what was not
	// checked; nil where it can always be told.
	needs func(in Input) (missing string)
	// check gives the findings for one unit, or, of those that are about
	// snapshots, for the input as a whole.
	unit  func(in Input, u Unit) []Finding
	whole func(in Input) []Finding
}

// All are the predicates, in the order in which they are told.
var All = []Predicate{
	{ID: "CH1", Title: "data-dir points where the data is not", unit: dataElsewhere},
	{ID: "CH2", Title: "two data directories hold data", unit: twoDatabases},
	{ID: "CH3", Title: "the cluster once ran etcd 2.3", unit: onceRan23},
	{ID: "CH4", Title: "initial-cluster is missing or empty", unit: noInitialCluster},
	{ID: "CH5", Title: "initial-cluster-token has changed, or differs between units", needs: needsOther, whole: tokenDiffers},
	{ID: "CH6", Title: "initial-cluster-token is no string, or none that the charm makes", unit: oddToken},
	{ID: "CH7", Title: "data-dir is missing, or does not follow a snap refresh", unit: pinned},
	{ID: "CH8", Title: "force-new-cluster is on", unit: forceNew},
	{ID: "CH9", Title: "the configuration of etcd 2.x is still there", unit: oldConfig, needs: needsBeside},
	{ID: "CH10", Title: "the cluster was made anew after a snapshot", needs: needsSnapshots, unit: reinitialised},
	{ID: "SN1", Title: "the snapshot is v2 and holds no Kubernetes data, or is none", needs: needsSnapshots, whole: formats},
	{ID: "SN2", Title: "the snapshot's database is damaged: a torn copy", needs: needsSnapshots, whole: torn},
	{ID: "SN3", Title: "the snapshot has a sha256 trailer", needs: needsSnapshots, whole: trailers},
	{ID: "SN4", Title: "the snapshot is a copy of a dead database", needs: needsSnapshots, whole: deadCopies},
	{ID: "SN5", Title: "the snapshot action does not look where the data is", unit: storageUnseen},
	{ID: "SN6", Title: "there is no valid snapshot younger than an hour", needs: needsSnapshots, whole: noneFresh},
	{ID: "SN7", Title: "a file is a plain tar archive with the name of a gzipped one", needs: needsSnapshots, whole: dataCopies},
	{ID: "SN8", Title: "the snapshot is not the one that the action told of", needs: needsRecorded, whole: otherFile},
	{ID: "SN9", Title: "the snapshot holds no Kubernetes keys", needs: needsSnapshots, whole: noKubernetes},
}

// A Finding is a predicate that holds.
type Finding struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Severity is the audit's; Blocks says that it makes an upgrade NOT SAFE.
	Severity audit.Severity `json:"severity"`
	Blocks   bool           `json:"blocks"`
	// Unit and Snapshot name what it is about; empty where it is about all.
	Unit     string `json:"unit,omitempty"`
	Snapshot string `json:"snapshot,omitempty"`
	// Message says what is wrong in a sentence for a tired person.
	Message string `json:"message"`
	// Do is what to do, in order; what not to do comes first.
	Do []string `json:"do,omitempty"`
}

func found(s audit.Severity, format string, args ...any) Finding {
	return Finding{Severity: s, Blocks: s == audit.Critical, Message: fmt.Sprintf(format, args...)}
}

// blocking makes a finding one that an upgrade must not meet, though it does no
// harm by itself.
func (f Finding) blocking() Finding { f.Blocks = true; return f }

func (f Finding) todo(steps ...string) Finding { f.Do = append(f.Do, steps...); return f }

func (f Finding) about(snapshot string) Finding { f.Snapshot = snapshot; return f }

func needsOther(in Input) string {
	if in.Before == nil && len(in.Units) < 2 {
		return "needs --before, or the --conf of another unit"
	}
	return ""
}

func needsBeside(in Input) string {
	for _, u := range in.Units {
		if u.Beside == nil {
			return "needs " + charm.ConfigFile + " in its own folder, and not a copy by another name, for " + u.Name
		}
	}
	return ""
}

func needsSnapshots(in Input) string {
	if in.Snapshots == nil {
		return "needs --snapshots"
	}
	return ""
}

func needsRecorded(in Input) string {
	if in.Snapshots != nil {
		for _, s := range in.Snapshots.All {
			if s.Recorded != "" {
				return ""
			}
		}
	}
	return "needs --snapshots and the --sha256 that the snapshot action printed"
}

package lint

import (
	"fmt"

	"backstop/audit"
	"backstop/rules/lifecycle/infra"
	"backstop/store/etcdmanager"
)

// writesSpec is the trigger itself. It was at this write that clusters were lost.
var writesSpec = Rule{
	ID:         "lint/writes-spec",
	Title:      "the code writes etcd-cluster-spec, which resets a cluster whose etcd-cluster-created is gone",
	Severities: []audit.Severity{audit.Critical, audit.Unsure, audit.Info},
	whole: func(j *judgement) []audit.LintFinding {
		var all []audit.LintFinding
		for _, o := range j.objects {
			root, path, ok := controlFile(o.At.Key)
			if ok && path == etcdmanager.SpecPath && (o.Change.Writes() || o.Change == infra.Unchanged) && !o.moves() {
				all = append(all, j.specWritten(o, root)...)
			}
		}
		return all
	},
}

// specWritten judges the write of a spec by what lies in its store.
func (j *judgement) specWritten(o object, root string) []audit.LintFinding {
	st := j.storeAt(o.At.Bucket.Name, root)
	switch {
	case o.Change == infra.Unchanged && (st == nil || !st.looked() || presenceOf(st.Observation.Spec) != missing):
		return nil // nothing is written
	case st == nil && o.At.Bucket.New:
		return nil // nothing lies in it yet
	case st == nil && j.listed(o.At.Bucket.Name, root):
		return []audit.LintFinding{o.found(audit.Info, "%s writes the spec of a store that is not there yet, %s: a new cluster.", o.Source, placeName(o.At.Bucket, root))}
	case st == nil || !st.looked():
		return []audit.LintFinding{o.unlooked(st, root)}
	}
	fresh := o.Change != infra.Updates
	created := presenceOf(st.Observation.Created)
	snapshots := len(st.Observation.Listing.Value.Snapshots)
	f := o.found(audit.Critical, "")
	f.Key, f.Store = o.At.Key, st.url()
	switch {
	case created == missing && (snapshots > 0 || lost(st)):
		f.Message = fmt.Sprintf("%s writes etcd-cluster-spec to %s, which has %s and no etcd-cluster-created: etcd-manager then makes a NEW, EMPTY cluster within seconds, and Kubernetes deletes every workload.", o.Source, st.url(), plural(snapshots, "snapshot"))
		f.Finding = f.Saw("state "+st.State.Name, "etcd-cluster-created before anything writes the spec").
			Todo("Do NOT apply it, and do not run kops update cluster --yes either.", "Put etcd-cluster-created back first: `backstop plan "+st.url()+"` prints the order of repair.")
	case created != present:
		if created == missing {
			return []audit.LintFinding{o.found(audit.Info, "%s writes the spec of %s, in which nothing shows an earlier cluster: a new cluster.", o.Source, st.url())}
		}
		f.Message = fmt.Sprintf("%s writes etcd-cluster-spec to %s, where etcd-cluster-created is %s.", o.Source, st.url(), created)
		f.Finding = f.Todo("Do NOT apply it before etcd-cluster-created is whole: `backstop plan " + st.url() + "` says how.")
	case fresh && snapshots > 0:
		return []audit.LintFinding{o.unknownToTerraform(f, st, snapshots)}
	default:
		return nil // an update of a running store
	}
	if o.Change == infra.Unchanged {
		f.Finding = f.Because("the plan shows no change, because it was made before the spec was lost; the next plan shows the write")
	}
	return []audit.LintFinding{f}
}

// unknownToTerraform speaks of a spec that is created on a store that lives. Its
// etcd-cluster-created was there at the look; a plan is applied later.
func (o object) unknownToTerraform(f audit.LintFinding, st *Store, snapshots int) audit.LintFinding {
	seen := "the spec is there, too, and the code does not know it"
	if presenceOf(st.Observation.Spec) == missing {
		seen = "the spec was deleted, and whatever did that may take etcd-cluster-created before this is applied"
	}
	f.Message = fmt.Sprintf("%s creates etcd-cluster-spec in %s, which has %s: %s. etcd-cluster-created was there when it was looked at. Were it gone when this is applied, the cluster would be reset to an empty one.", o.Source, st.url(), plural(snapshots, "snapshot"), seen)
	f.Finding = f.Saw("state "+st.State.Name, "an object that the state knows, so that the plan shows no creation").Todo(
		"Do NOT apply it before you know why the code does not know the object.",
		fmt.Sprintf("If it is there and right, import it, so that the plan shows no change: terraform import '%s' 's3://%s/%s'.", o.Source, st.bucket(), o.At.Key),
		"If it was deleted, find what deleted it first: `backstop audit "+st.url()+"`. Right before apply, run `backstop gate "+st.url()+"`.")
	return f
}

// unlooked speaks of a spec in a store that nobody looked at.
func (o object) unlooked(st *Store, root string) audit.LintFinding {
	why := "that store was not looked at"
	if st != nil && st.Observation != nil {
		why = "that store could not be looked at: " + unseenOf(st)
	}
	f := o.found(audit.Unsure, "%s writes etcd-cluster-spec to %s, and %s. If it has snapshots and no etcd-cluster-created, this resets its cluster to an empty one.", o.Source, placeName(o.At.Bucket, root), why)
	f.Key = o.At.Key
	f.Finding = f.Todo("Look at it: --against "+placeName(o.At.Bucket, root), "Right before apply, run `backstop gate` on it.")
	return f
}

// lost reports whether the store's state shows an earlier cluster.
func lost(st *Store) bool {
	s := etcdmanager.State(st.State.Name)
	return s == etcdmanager.Armed || s == etcdmanager.Imminent
}

// A presence says whether a control file is there, for people.
type presence string

const (
	present presence = "there"
	missing presence = "missing"
)

func presenceOf(f audit.Fact[audit.Document]) presence {
	switch {
	case !f.Seen():
		return "not seen"
	case !f.IsSet():
		return missing
	case f.Value.Unreadable != "":
		return presence("unreadable (" + f.Value.Unreadable + ")")
	case len(f.Value.Body) == 0:
		return "empty"
	}
	return present
}

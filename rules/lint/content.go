package lint

import (
	"bytes"
	"fmt"

	"backstop/audit"
	"backstop/rules/lifecycle/infra"
	"backstop/store/etcdmanager"
)

// changesControlFile judges what will stand in a control file. Whether the write by
// itself does harm, writesSpec says.
var changesControlFile = Rule{
	ID:         "lint/changes-control-file",
	Title:      "the code changes what stands in a control file",
	Severities: []audit.Severity{audit.Critical, audit.Unsure, audit.Warning},
	whole: func(j *judgement) []audit.LintFinding {
		var all []audit.LintFinding
		for _, o := range j.objects {
			root, path, ok := controlFile(o.At.Key)
			if !ok || !o.Change.Writes() || o.moves() || o.At.Bucket.New || o.sameContent() {
				continue
			}
			st := j.storeAt(o.At.Bucket.Name, root)
			if st == nil && j.listed(o.At.Bucket.Name, root) {
				continue // a new cluster
			}
			if f, ok := o.rewritten(st, root, path); ok {
				all = append(all, f)
			}
		}
		return all
	},
}

// sameContent reports whether the document shows that the content stays.
func (o object) sameContent() bool {
	return o.Change == infra.Updates && (o.Kept || o.Content != nil && o.Before != nil && *o.Content == *o.Before)
}

// rewritten judges the new content of a control file.
func (o object) rewritten(st *Store, root, path string) (audit.LintFinding, bool) {
	if st != nil && o.Content != nil && bytes.Equal(st.document(path).Value.Body, []byte(*o.Content)) {
		return audit.LintFinding{}, false
	}
	severity, what := audit.Severity(""), ""
	switch {
	case o.Content == nil && o.Change == infra.Creates && path == etcdmanager.SpecPath:
		return audit.LintFinding{}, false // writesSpec speaks
	case o.Content == nil:
		severity, what = audit.Unsure, "its new content is not in the code, or known only when it is applied: whether it is a good one cannot be told"
	case path == etcdmanager.SpecPath:
		severity, what = o.specChange(st)
	default:
		severity, what = o.createdChange(st)
	}
	if severity == "" {
		return audit.LintFinding{}, false
	}
	f := o.found(severity, "%s changes %s of %s: %s.", o.Source, path, placeName(o.At.Bucket, root), what)
	if f.Key = o.At.Key; st != nil {
		f.Store = st.url()
	}
	f.Finding = f.Todo("Do NOT apply it before the content is right.",
		"kops writes etcd-cluster-spec from the members in its cluster spec (`kops update cluster`), and nobody but etcd-manager writes etcd-cluster-created.")
	return f, true
}

const removesMembers = "at the next change of leader etcd-manager removes members"

// specChange judges the new content of etcd-cluster-spec as the audit would judge
// it where it is (control/spec-shrinks, and a spec that does not parse).
func (o object) specChange(st *Store) (audit.Severity, string) {
	spec, err := etcdmanager.ParseSpec([]byte(*o.Content))
	switch {
	case err != nil || *o.Content == "":
		return audit.Critical, "the new content is no cluster spec that etcd-manager can read: once its leader changes every cycle ends with an error, and no backup is taken"
	case spec.MemberCount < 1:
		return audit.Critical, "the new content asks for no member: " + removesMembers + " from the cluster"
	}
	had, told := o.membersBefore(st)
	if k := kopsMembers(st); k > 0 {
		switch {
		case spec.MemberCount >= k:
			return "", "" // what kops asks for
		default:
			return audit.Critical, fmt.Sprintf("the new content asks for fewer members than kops does, which asks for %d: %s, which kops does not want", k, removesMembers)
		}
	}
	if told && spec.MemberCount < had {
		return audit.Warning, fmt.Sprintf("the new content asks for fewer members than the %d before: %s", had, removesMembers)
	}
	return "", ""
}

// createdChange judges the new content of etcd-cluster-created.
func (o object) createdChange(st *Store) (audit.Severity, string) {
	switch {
	case *o.Content == "":
		return audit.Critical, "the new content is empty: every cycle of etcd-manager then ends with an error, and no backup is taken"
	case st != nil && st.looked() && presenceOf(st.Observation.Created) != present:
		return "", "" // what is put back
	case st != nil && st.looked() || o.Change == infra.Updates:
		return audit.Warning, "it says when the cluster was made, and nobody but etcd-manager writes it"
	}
	return audit.Unsure, "whether it is there already was not seen, and nobody but etcd-manager writes it"
}

// membersBefore is the greatest number of members that is known of: of the code's
// earlier spec, of the one in the store, and of the newest snapshot's.
func (o object) membersBefore(st *Store) (most int32, ok bool) {
	take := func(s etcdmanager.ClusterSpec, err error) {
		if err == nil && s.MemberCount > most {
			most, ok = s.MemberCount, true
		}
	}
	if o.Before != nil {
		take(etcdmanager.ParseSpec([]byte(*o.Before)))
	}
	if st == nil || st.Observation == nil {
		return most, ok
	}
	take(etcdmanager.ParseSpec(st.Observation.Spec.Value.Body))
	if meta, err := etcdmanager.ParseMeta(st.Observation.NewestMeta.Value.Body); err == nil && meta.ClusterSpec != nil {
		take(*meta.ClusterSpec, nil)
	}
	return most, ok
}

// kopsMembers is how many members kops asks for; 0 where that is not known.
func kopsMembers(st *Store) int32 {
	if st == nil || st.Observation == nil || !st.Observation.Kops.IsSet() || !st.Observation.Kops.Value.Known {
		return 0
	}
	return int32(min(max(0, st.Observation.Kops.Value.Members), 1<<20))
}

// document gives a control file of the store, as it was seen.
func (s *Store) document(path string) audit.Fact[audit.Document] {
	switch {
	case s.Observation == nil:
		return audit.Fact[audit.Document]{}
	case path == etcdmanager.CreatedPath:
		return s.Observation.Created
	}
	return s.Observation.Spec
}

package lint

import (
	"fmt"
	"slices"
	"strings"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

var unknownValue = Rule{
	ID:         "lint/unknown-value",
	Title:      "something is known only when the code is applied",
	Severities: []audit.Severity{audit.Unsure, audit.Info},
	whole: func(j *judgement) []audit.LintFinding {
		var all []audit.LintFinding
		for _, s := range j.subjects {
			if len(s.proposal.Unknown) > 0 && len(s.stores) > 0 {
				all = append(all, s.found(audit.Info, -1, "%s known only when the code is applied (%s). What that may do is judged by the worst value; this finding by itself says that nothing was taken for harmless.",
					areOr(len(s.proposal.Unknown)), list(s.proposal.Unknown)))
			}
		}
		for _, o := range j.objects {
			if !o.At.KeyUnknown || !o.Change.Writes() || !o.mayConcern(j.Stores) {
				continue
			}
			f := o.found(audit.Unsure, "which key %s writes is known only when the code is applied: it may be a control file.", o.Source)
			f.Finding = f.Todo("Give the object a key that is known when the code is planned, or look at the plan by hand.")
			all = append(all, f)
		}
		return all
	},
}

func areOr(n int) string {
	if n == 1 {
		return "1 value is"
	}
	return fmt.Sprintf("%d values are", n)
}

var unreadablePart = Rule{
	ID:         "lint/unreadable-part",
	Title:      "a part of the file cannot be read before it is applied",
	Severities: []audit.Severity{audit.Unsure},
	whole: func(j *judgement) []audit.LintFinding {
		var all []audit.LintFinding
		for _, f := range j.Files {
			for _, g := range f.Gaps {
				if !j.mayHold(g.Bucket) {
					continue
				}
				all = append(all, audit.LintFinding{Finding: audit.Found(audit.Unsure, "%s. What it does to backup stores cannot be told.", strings.ToUpper(g.Why[:1])+g.Why[1:]), File: f.Name, Line: g.Line, Source: g.Source})
			}
		}
		return all
	},
}

// mayHold reports whether a store that was given lies in a bucket, or may. Without
// a name, or without stores, that is not known.
func (j *judgement) mayHold(bucket string) bool {
	if bucket == "" || len(j.Stores) == 0 {
		return true
	}
	return slices.ContainsFunc(j.Stores, func(st Store) bool { return st.bucket() == "" || st.bucket() == bucket })
}

var storeNotSeen = Rule{
	ID:         "lint/store-not-seen",
	Title:      "a store could not be looked at, so that what the code does to it cannot be told",
	Severities: []audit.Severity{audit.Unsure},
	whole: func(j *judgement) []audit.LintFinding {
		var all []audit.LintFinding
		if len(j.Stores)+len(j.Places)+len(j.Input.Problems) == 0 {
			f := audit.LintFinding{Finding: audit.Found(audit.Unsure, "no store was looked at: whether anything here concerns a backup store cannot be told.")}
			f.Finding = f.Todo("Name the stores: --against s3://BUCKET, a recording with --replay, or, without any access, --prefix s3://BUCKET/CLUSTER/backups/etcd/main.")
			return append(all, f)
		}
		for i := range j.Stores {
			st := &j.Stores[i]
			if st.Observation == nil || st.looked() {
				continue
			}
			f := audit.LintFinding{Finding: audit.Found(audit.Unsure, "%s could not be looked at (%s): whether it has control files and snapshots to lose is not known.", st.url(), unseenOf(st))}
			f.Store = st.url()
			all = append(all, f)
		}
		return all
	},
}

// unseenOf says what of a store was not seen, and why.
func unseenOf(st *Store) string {
	for _, u := range st.Unseen {
		switch u.Fact {
		case audit.FactListing, audit.FactCreated, audit.FactSpec:
			return string(u.Fact) + " was not seen: " + u.Why.String()
		}
	}
	return "it was not seen"
}

var storeInTrouble = Rule{
	ID:         "lint/store-in-trouble",
	Title:      "a store is in trouble already, whatever the code does",
	Severities: []audit.Severity{audit.Warning},
	whole: func(j *judgement) []audit.LintFinding {
		var all []audit.LintFinding
		for i := range j.Stores {
			st := &j.Stores[i]
			switch etcdmanager.State(st.State.Name) {
			case etcdmanager.Armed, etcdmanager.Imminent, etcdmanager.Latent, etcdmanager.Stuck, etcdmanager.Blocked:
			default:
				continue
			}
			if st.Policy.RoleOf(st.Observation) != audit.Live {
				continue
			}
			f := audit.LintFinding{Finding: audit.Found(audit.Warning, "%s is %s now, whatever the code does: any write of its spec may reset its cluster.", st.url(), st.State.Name)}
			f.Finding = f.Todo("Do NOT run kops update cluster --yes or terraform apply.", "`backstop plan "+st.url()+"` prints the order of repair.")
			f.Store = st.url()
			all = append(all, f)
		}
		return all
	},
}

var notJudged = Rule{
	ID:         "lint/not-judged",
	Title:      "a configuration is for a bucket in which no store was looked at",
	Severities: []audit.Severity{audit.Unsure, audit.Info},
	whole: func(j *judgement) []audit.LintFinding {
		if len(j.Stores) == 0 {
			return nil // lint/store-not-seen speaks
		}
		var all []audit.LintFinding
		judged := false
		for _, s := range j.subjects {
			if judged = judged || len(s.stores) > 0; len(s.stores) == 0 {
				all = append(all, s.found(audit.Info, -1, "this configuration is for the bucket %s, in which no store was looked at: it was not judged.", s.bucket()))
			}
		}
		for _, o := range j.objects {
			judged = judged || o.concerns()
		}
		if len(all) > 0 && !judged {
			f := audit.LintFinding{Finding: audit.Found(audit.Unsure, "nothing in the files concerns the buckets that were looked at, so that nothing was judged.")}
			f.Finding = f.Todo("Check that STORE names the bucket of the plan; `--bucket SOURCE=NAME` says which bucket a configuration is for.")
			all = append(all, f)
		}
		return all
	},
}

var nothingFound = Rule{
	ID:         "lint/nothing-found",
	Title:      "there is nothing to judge in the files",
	Severities: []audit.Severity{audit.Unsure, audit.Info},
	whole: func(j *judgement) []audit.LintFinding {
		for _, o := range j.objects {
			if o.concerns() || o.At.KeyUnknown {
				return nil
			}
		}
		if len(j.subjects) > 0 || len(j.buckets()) > 0 || slices.ContainsFunc(j.Files, func(f File) bool { return len(f.Gaps) > 0 }) {
			return nil
		}
		severity := audit.Unsure
		if j.AllowNothing {
			severity = audit.Info
		}
		var names []string
		for _, f := range j.Files {
			names = append(names, fmt.Sprintf("%s (%s)", f.Name, f.Format))
		}
		f := audit.LintFinding{Finding: audit.Found(severity, "no lifecycle configuration, and no object of a backup store, is in %s.", list(names))}
		if severity == audit.Unsure {
			f.Finding = f.Todo("If that is as it should be, say so with --allow-nothing. Else check that it is the right file, and a plan of the right folder.")
		}
		return []audit.LintFinding{f}
	},
}

var remark = Rule{
	ID:         "lint/remark",
	Title:      "something about the file that changes no verdict",
	Severities: onlyInfo,
	whole: func(j *judgement) []audit.LintFinding {
		var all []audit.LintFinding
		for _, f := range j.Files {
			for _, n := range f.Notes {
				all = append(all, audit.LintFinding{Finding: audit.Found(audit.Info, "%s.", n), File: f.Name})
			}
		}
		return all
	},
}

var twoConfigurations = Rule{
	ID:         "lint/two-configurations",
	Title:      "a bucket has two lifecycle configurations, of which the last one written holds",
	Severities: []audit.Severity{audit.Unsure},
	whole: func(j *judgement) []audit.LintFinding {
		var all []audit.LintFinding
		for i, s := range j.subjects {
			for _, t := range j.subjects[:i] {
				if s.rivals(t) {
					f := s.found(audit.Unsure, -1, "%s and %s are both the lifecycle configuration of the bucket %s. Each replaces the other when it is written: which rules hold is chance.", t.proposal.Source, s.proposal.Source, s.bucket())
					f.Finding = f.Todo("Put all rules of a bucket into one resource.")
					all = append(all, f)
					break
				}
			}
		}
		return all
	},
}

// rivals reports whether two configurations are of one bucket, and both will be
// there.
func (s *subject) rivals(t *subject) bool {
	a, b := s.proposal, t.proposal
	one := a.Bucket.Source != "" && a.Bucket.Source == b.Bucket.Source && s.file == t.file || a.Bucket.Name != "" && a.Bucket.Name == b.Bucket.Name
	return one && a.Source != "" && b.Source != "" && len(a.Readings[0].Rules) > 0 && len(b.Readings[0].Rules) > 0 && (len(s.stores) > 0)
}

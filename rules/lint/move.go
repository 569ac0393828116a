package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"backstop/audit"
	"backstop/rules/lifecycle/infra"
	"backstop/store/kops"
)

// A move is a backup store that goes elsewhere.
type move struct {
	object
	who      string // the etcd cluster, or the resource
	from, to string // URLs
	also     []string
}

// moves reports whether the object is a control file that goes to another key or
// bucket.
func (o object) moves() bool {
	_, _, was := controlFile(o.Was.Key)
	_, _, is := controlFile(o.At.Key)
	return was && is && (o.Was.Key != o.At.Key || o.At.Bucket.Name != "" && o.Was.Bucket.Name != o.At.Bucket.Name)
}

var movesBackupStore = Rule{
	ID:         "lint/moves-backup-store",
	Title:      "the code moves a backup store, and etcd-manager finds no control files at the new place",
	Severities: []audit.Severity{audit.Critical, audit.Warning, audit.Unsure},
	whole: func(j *judgement) []audit.LintFinding {
		var all []audit.LintFinding
		for _, m := range j.moves() {
			all = append(all, j.moved(m))
		}
		return append(all, j.unknownMoves()...)
	},
}

// moves are the stores that the objects move, each once.
func (j *judgement) moves() []move {
	var all []move
	add := func(m move) {
		if i := slices.IndexFunc(all, func(k move) bool { return k.from == m.from && k.to == m.to }); i >= 0 {
			all[i].also = append(all[i].also, m.Source)
			return
		}
		all = append(all, m)
	}
	for _, o := range j.objects {
		if o.moves() {
			from, _, _ := controlFile(o.Was.Key)
			to, _, _ := controlFile(o.At.Key)
			add(move{object: o, who: o.Source, from: placeName(o.Was.Bucket, from), to: placeName(o.At.Bucket, to)})
		}
		before, after := backupStores(o.Was.Key, o.Before), backupStores(o.At.Key, o.Content)
		for _, who := range slices.Sorted(maps.Keys(before)) {
			if from, to := tidy(before[who]), tidy(after[who]); after[who] != "" && from != to {
				add(move{object: o, who: who, from: from, to: to})
			}
		}
	}
	return all
}

// tidy spells a location in one way.
func tidy(location string) string {
	if scheme, bucket, prefix, err := kops.Location(location); err == nil {
		return strings.TrimSuffix(scheme+"://"+bucket+"/"+prefix, "/")
	}
	return location
}

// moved judges a move by what lies at the new place.
func (j *judgement) moved(m move) audit.LintFinding {
	severity, there := audit.Critical, "Nobody looked at the new place; without etcd-cluster-created in it, etcd-manager makes a NEW, EMPTY cluster there as soon as the spec is written."
	if st := j.storeOf(m.to); st != nil && st.looked() {
		there = "The new place has no etcd-cluster-created: etcd-manager makes a NEW, EMPTY cluster as soon as the spec is written."
		if presenceOf(st.Observation.Created) == present {
			severity, there = audit.Warning, "The new place has an etcd-cluster-created; whether it is this cluster's is for you to check."
		}
	} else if st == nil && j.listedURL(m.to) {
		there = "The new place is empty: etcd-manager makes a NEW, EMPTY cluster there as soon as the spec is written."
	}
	f := m.found(severity, "the backup store of %s moves from %s to %s. %s", m.who, m.from, m.to, there)
	f.Finding = f.Saw(m.to, m.from).Todo("Do NOT apply it before both control files lie at the new place.",
		fmt.Sprintf("Copy them first, etcd-cluster-created before etcd-cluster-spec: aws s3 cp %s/control/etcd-cluster-created %s/control/etcd-cluster-created, then the same with etcd-cluster-spec.", m.from, m.to),
		"Keep the old place until snapshots are made at the new one.")
	if len(m.also) > 0 {
		f.Finding = f.Because("so do %s", list(m.also))
	}
	return f
}

// storeOf finds a store by its URL.
func (j *judgement) storeOf(url string) *Store {
	_, bucket, prefix, err := kops.Location(url)
	if err != nil {
		return nil
	}
	return j.storeAt(bucket, prefix)
}

// listedURL reports whether everything was listed at a place.
func (j *judgement) listedURL(url string) bool {
	_, bucket, prefix, err := kops.Location(url)
	return err == nil && j.listed(bucket, prefix)
}

// unknownMoves are documents that told where a store is, and of which the new
// content is not known.
func (j *judgement) unknownMoves() []audit.LintFinding {
	var all []audit.LintFinding
	for _, o := range j.objects {
		if before := backupStores(o.Was.Key, o.Before); len(before) > 0 && o.Content == nil && o.Change.Writes() && o.Change != infra.Unchanged {
			all = append(all, o.found(audit.Unsure, "%s tells etcd-manager where its backups go, and its new content is known only when the code is applied: whether the store moves cannot be told.", o.Source))
		}
	}
	return all
}

package preflight

import (
	"fmt"
	"time"

	"backstop/audit"
	"backstop/store/charm"
	"backstop/store/snapshot"
)

// freshFor is how young a snapshot must be before an upgrade.
const freshFor = time.Hour

// backups are the snapshots that a restore could take, and not the copies that one
// leaves.
func (s *Snapshots) backups() []Snapshot {
	var all []Snapshot
	for _, x := range s.All {
		if x.Name.Kind != charm.PreRestore {
			all = append(all, x)
		}
	}
	return all
}

// newest is the newest backup; ok is false without any.
func (s *Snapshots) newest() (Snapshot, bool) {
	all := s.backups()
	if len(all) == 0 {
		return Snapshot{}, false
	}
	return all[len(all)-1], true
}

// Valid reports whether a restore of it brings a Kubernetes cluster back, as far as
// the file itself tells.
func (s Snapshot) Valid() bool {
	return s.whole() && (s.Format == charm.V3 || s.Format == charm.Plain) && s.KubernetesKeys() > 0 && !s.altered()
}

// whole reports whether the file was read and is sound.
func (s Snapshot) whole() bool {
	return s.Problem == "" && s.Unread == "" && (s.DB == nil || s.DB.Verdict != snapshot.Damaged)
}

func (s Snapshot) altered() bool { return s.Recorded != "" && s.SHA256 != "" && s.Recorded != s.SHA256 }

// fresh reports whether there is a valid snapshot younger than freshFor. sure is
// false where that depends on the zone of the unit's clock.
func (in Input) fresh() (ok, sure bool) {
	sure = true
	for _, s := range in.Snapshots.backups() {
		if !s.Valid() || in.Now.Sub(s.Written()) > freshFor || in.dead(s) {
			continue
		}
		if s.Dated() {
			return true, true
		}
		sure = false
	}
	return false, sure
}

// each makes a finding of every backup of which say has something to say. One of
// the newest blocks, if it is critical; one of another is a warning at most.
func (in Input) each(say func(s Snapshot) (Finding, bool)) []Finding {
	newest, _ := in.Snapshots.newest()
	var all []Finding
	for _, s := range in.Snapshots.backups() {
		f, ok := say(s)
		if !ok {
			continue
		}
		if s.File != newest.File && f.Severity == audit.Critical {
			f.Severity, f.Blocks = audit.Warning, false
		}
		all = append(all, f.about(s.File))
	}
	return all
}

const saveOne = "Save a snapshot now on a unit, and copy it off: etcdctl snapshot save FILE (with ETCDCTL_API=3 and the certificates in " + charm.CommonDir + "), then verify it: backstop verify FILE."

// formats is SN1.
func formats(in Input) []Finding {
	fresh, _ := in.fresh()
	return in.each(func(s Snapshot) (Finding, bool) {
		switch {
		case s.Problem != "":
			return found(audit.Critical, "%s is no snapshot that could be restored: %s", s.File, s.Problem).todo("Do NOT rely on it.", saveOne), true
		case s.Format != charm.V2:
			return Finding{}, false
		case s.KubernetesKeys() > 0:
			return found(audit.Warning, "%s is of the kind v2 and yet holds %s of Kubernetes; the charm's restore takes the v2 way, which was never tried with such a file", s.File, audit.Plural(int(s.KubernetesKeys()), "key")).
				blocking().todo(saveOne), true
		case fresh:
			return found(audit.Info, "%s is a v2 snapshot: it holds what flannel keeps in etcd's old store, and nothing of Kubernetes. A v3 snapshot lies beside it", s.File), true
		}
		f := found(audit.Critical, "%s is a v2 snapshot. It contains NO KUBERNETES DATA: no pods, no deployments, no secrets. Kubernetes keeps everything in etcd's v3 store, and this is a copy of the old v2 store, so restoring it gives an empty cluster", s.File).
			todo("Do NOT upgrade, and do not restore this file: as a backup of Kubernetes it is worth nothing.",
				"Take a v3 snapshot: juju run etcd/leader snapshot keys-version=v3 (charms before 2020-12-08 take v2 unless told).", saveOne)
		return f, true
	})
}

// torn is SN2.
func torn(in Input) []Finding {
	return in.each(func(s Snapshot) (Finding, bool) {
		if s.Problem != "" || s.DB == nil || s.DB.Verdict != snapshot.Damaged {
			return Finding{}, false
		}
		return found(audit.Critical, "%s is damaged and would not restore: %s. The charm copies etcd's live file, and a copy during a commit is torn; its restore skips the check and takes it all the same, after it has taken the cluster apart", s.File, s.DB.Reason).
			todo("Do NOT restore it.", saveOne), true
	})
}

// trailers is SN3.
func trailers(in Input) []Finding {
	return in.each(func(s Snapshot) (Finding, bool) {
		if !s.Trailer || s.Format != charm.V3 {
			return Finding{}, false
		}
		return found(audit.Info, "%s holds a database with a sha256 trailer, which was checked: somebody made it with etcdctl snapshot save, and not the charm", s.File), true
	})
}

// dead reports whether a snapshot is one of a database that etcd does not use: of
// the revision of another directory, while the configured one is elsewhere.
func (in Input) dead(s Snapshot) bool { return in.deadDir(s) != "" }

// deadDir names that directory; empty without one.
func (in Input) deadDir(s Snapshot) string {
	for _, u := range in.Units {
		live, looked := u.configured()
		if !looked || live.Facts() == nil || s.Revision() == 0 || live.Revision() <= s.Revision() {
			continue
		}
		for _, d := range u.others() {
			if d.Facts() != nil && d.Revision() == s.Revision() {
				return fmt.Sprintf("%s, which stands at revision %d; etcd runs on %s, at revision %d", u.place(d), d.Revision(), u.place(live), live.Revision())
			}
		}
	}
	return ""
}

// deadCopies is SN4.
func deadCopies(in Input) []Finding {
	older := int64(0)
	name := ""
	return in.each(func(s Snapshot) (Finding, bool) {
		rev, before, beforeName := s.Revision(), older, name
		if rev > 0 && s.whole() {
			older, name = rev, s.File
		}
		how := ""
		switch dir := in.deadDir(s); {
		case rev == 0 || !s.whole():
		case dir != "":
			how = "it is a copy of " + dir
		case rev < before:
			how = fmt.Sprintf("its revision is %d, and the older %s has %d already", rev, beforeName, before)
		case rev == before && in.liveBeyond(rev):
			how = fmt.Sprintf("its revision is %d, as that of the older %s, and the live database is beyond it", rev, beforeName)
		}
		if how == "" {
			return Finding{}, false
		}
		return found(audit.Critical, "%s is no copy of the live database: %s. The snapshot action archives %s/<unit>.etcd wherever it exists, whatever data-dir says", s.File, how, charm.CurrentDir).
			todo("Do NOT restore it: it would take the cluster back to that day.", saveOne), true
	})
}

// liveBeyond reports whether a configured database was seen at a higher revision.
func (in Input) liveBeyond(rev int64) bool {
	for _, u := range in.Units {
		if d, looked := u.configured(); looked && d.Revision() > rev {
			return true
		}
	}
	return false
}

// noneFresh is SN6 as the gate before an upgrade has it.
func noneFresh(in Input) []Finding {
	ok, sure := in.fresh()
	if ok || !sure {
		return nil // Judge says that it cannot be told
	}
	s, any := in.Snapshots.newest()
	if s.Unread != "" {
		return nil // likewise
	}
	if !any {
		return []Finding{found(audit.Critical, "%s holds no snapshot of the charm", in.Snapshots.Store).todo(saveOne)}
	}
	return []Finding{found(audit.Critical, "there is no valid snapshot younger than an hour: the newest file, %s, is at least %s old%s", s.File, audit.Span(in.Now.Sub(s.Written())), invalid(s)).todo(saveOne)}
}

func invalid(s Snapshot) string {
	if s.Valid() {
		return ""
	}
	return ", and is not valid"
}

// dataCopies is SN7.
func dataCopies(in Input) []Finding {
	var all []Finding
	for _, s := range in.Snapshots.All {
		if s.Name.Kind != charm.PreRestore {
			continue
		}
		switch {
		case !s.whole():
			why := s.Problem
			if why == "" && s.DB != nil {
				why = s.DB.Reason
			}
			if s.Unread == "" {
				all = append(all, found(audit.Warning, "%s, the copy of a data directory that the action restore made before it began, is damaged: %s", s.File, why).about(s.File))
			}
		default:
			all = append(all, found(audit.Info, "%s is the copy of a data directory that the action restore made before it began: a plain tar archive in spite of its name. Unpack it with tar xf, and not with gunzip", s.File).about(s.File))
		}
	}
	return all
}

// otherFile is SN8.
func otherFile(in Input) []Finding {
	return in.each(func(s Snapshot) (Finding, bool) {
		if !s.altered() {
			return Finding{}, false
		}
		return found(audit.Critical, "%s is not the file that the snapshot action made: its sha256 is %.16s…, and the action told %.16s…", s.File, s.SHA256, s.Recorded).
			todo("Do NOT restore it; copy it from the unit again.", saveOne), true
	})
}

// noKubernetes is SN9.
func noKubernetes(in Input) []Finding {
	return in.each(func(s Snapshot) (Finding, bool) {
		if s.Format != charm.V3 && s.Format != charm.Plain || !s.whole() || s.KubernetesKeys() != 0 {
			return Finding{}, false
		}
		return found(audit.Critical, "%s is a sound v3 snapshot, and there is not one key of Kubernetes in it: restoring it gives an empty cluster", s.File).
			todo("Do NOT upgrade before it is clear whether the running cluster is empty too: etcdctl get /registry --prefix --keys-only --limit 5.", saveOne), true
	})
}

// reinitialised is CH10.
func reinitialised(in Input, u Unit) []Finding {
	d, looked := u.configured()
	if !looked || d.Facts() == nil || in.Snapshots == nil {
		return nil
	}
	var best Snapshot
	for _, s := range in.Snapshots.backups() {
		if s.whole() && s.Revision() > best.Revision() {
			best = s
		}
	}
	had, has := max(0, best.KubernetesKeys()), d.Facts().KubernetesKeys
	if d.Revision() >= best.Revision() || d.Revision() >= best.Revision()/2 && has >= had/2 {
		return nil
	}
	return []Finding{found(audit.Critical, "the cluster was made anew after %s: that holds revision %d and %s of Kubernetes, and etcd's own data stands at revision %d with %d", best.File, best.Revision(), audit.Plural(int(had), "key"), d.Revision(), has).
		todo("Do NOT upgrade, and take no snapshot over the old ones: this is the accident itself.",
			"Look for the data in the other directories below "+charm.SnapDir+" first; else restore "+best.File+".")}
}

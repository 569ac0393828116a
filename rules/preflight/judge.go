package preflight

import (
	"fmt"
	"slices"

	"backstop/audit"
	"backstop/store/charm"
)

// A Verdict is the outcome.
type Verdict string

// The verdicts.
const (
	Safe       Verdict = "SAFE"
	NotSafe    Verdict = "NOT SAFE"
	CannotTell Verdict = "CANNOT TELL"
)

// Schema is the version of the JSON form of a [Report], published as
// docs/preflight.schema.json.
const Schema = 1

// A Report is all that is to say.
type Report struct {
	Schema   int          `json:"backstop_preflight"`
	Verdict  Verdict      `json:"verdict"`
	Units    []UnitReport `json:"units"`
	Findings []Finding    `json:"findings"`
	// Unseen is what was needed and not seen; it makes CANNOT TELL of SAFE.
	Unseen []string `json:"unseen"`
	// NotChecked are predicates that nobody gave what they need. They do not decide.
	NotChecked []NotChecked `json:"not_checked"`
	// NotLookedAt are places where data could be and that do not decide.
	NotLookedAt []string         `json:"not_looked_at"`
	Snapshots   []SnapshotReport `json:"snapshots,omitempty"`
	// Do is what to do, in order.
	Do []string `json:"do"`
}

// A UnitReport says what was seen of one unit.
type UnitReport struct {
	Unit    string          `json:"unit"`
	File    string          `json:"file"`
	Writer  charm.Writer    `json:"written_by"`
	DataDir string          `json:"data_dir"`
	Start   Start           `json:"start"`
	Dirs    []charm.DataDir `json:"dirs"`
}

// NotChecked names a predicate and what it needs.
type NotChecked struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Needs string `json:"needs"`
}

// A SnapshotReport says what was seen of one snapshot.
type SnapshotReport struct {
	File     string       `json:"file"`
	Format   charm.Format `json:"format"`
	Valid    bool         `json:"valid"`
	Revision int64        `json:"revision"`
	// Keys is the number of keys of Kubernetes; -1 where it is not known.
	Keys   int64  `json:"kubernetes_keys"`
	SHA256 string `json:"sha256,omitempty"`
	Says   string `json:"says"`
}

// Judge applies the predicates.
func Judge(in Input) Report {
	r := Report{Schema: Schema, Units: []UnitReport{}, Findings: []Finding{}, Unseen: slices.Clone(in.Unseen), NotChecked: []NotChecked{}, NotLookedAt: []string{}, Do: []string{}}
	for _, u := range in.Units {
		r.look(u)
	}
	if in.Snapshots != nil {
		r.lookAtSnapshots(in)
	}
	for _, p := range All {
		r.apply(p, in)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return rank(a) - rank(b) })
	r.Verdict = r.verdict()
	r.steps()
	if r.Unseen == nil {
		r.Unseen = []string{}
	}
	return r
}

// look tells of a unit what was seen, and what was not.
func (r *Report) look(u Unit) {
	ur := UnitReport{Unit: u.Name, File: u.File, Writer: u.Config.Writer, DataDir: u.Config.DataDir, Start: StartOf(u), Dirs: []charm.DataDir{}}
	if u.Data == nil {
		r.NotLookedAt = append(r.NotLookedAt, fmt.Sprintf("the data of %s: nothing is said of it but what its configuration tells; run preflight with its own --data", u.Name))
		r.Units = append(r.Units, ur)
		return
	}
	ur.Dirs = append(ur.Dirs, u.Data.Dirs...)
	ur.Dirs = append(ur.Dirs, u.Data.Elsewhere...)
	r.Units = append(r.Units, ur)
	d, looked := u.configured()
	switch {
	case len(u.full()) == 0:
		r.unseen("%s: no data of an etcd was found in %s; is it %s of that unit?", u.Name, u.Data.Root, charm.CurrentDir)
	case ur.Start.Outcome == NoIdea:
		r.unseen("%s: what etcd would start with: %s", u.Name, ur.Start.Why)
	case looked && d.Doubtful():
		r.unseen("%s: the database in %s: %s", u.Name, u.place(d), unread(d))
	}
	for _, o := range u.others() {
		if o.Doubtful() {
			r.unseen("%s: the database in %s: %s", u.Name, u.place(o), unread(o))
		}
	}
	if !u.Data.Whole {
		r.NotLookedAt = append(r.NotLookedAt, fmt.Sprintf("%s and other snap revisions below %s of %s", charm.StorageDir, charm.SnapDir, u.Name))
	}
}

func (r *Report) unseen(format string, args ...any) {
	r.Unseen = append(r.Unseen, fmt.Sprintf(format, args...))
}

// lookAtSnapshots tells of each what it is, and what of them was not seen.
func (r *Report) lookAtSnapshots(in Input) {
	newest, _ := in.Snapshots.newest()
	for _, s := range in.Snapshots.All {
		r.Snapshots = append(r.Snapshots, SnapshotReport{File: s.File, Format: s.Format, Valid: s.Valid() && !in.dead(s), Revision: s.Revision(), Keys: s.KubernetesKeys(), SHA256: s.SHA256, Says: says(s)})
		if s.Unread != "" && s.File == newest.File {
			r.unseen("snapshot %s: %s", s.File, s.Unread)
		}
	}
	if n := in.Snapshots.NotOpened; n > 0 {
		r.NotLookedAt = append(r.NotLookedAt, fmt.Sprintf("%s of %s that are older than those above", audit.Plural(n, "snapshot"), in.Snapshots.Store))
	}
	if ok, sure := in.fresh(); !ok && !sure {
		r.unseen("whether a snapshot is younger than an hour: names hold the unit's local time without a zone, and the files' dates lie elsewhere, as those of copies do; give the zone, as `date +%%z` prints it on the unit: --zone +0000")
	}
}

// says describes a snapshot in a few words.
func says(s Snapshot) string {
	switch {
	case s.Unread != "":
		return "not read: " + s.Unread
	case s.Problem != "":
		return s.Problem
	case s.DB != nil && s.DB.Reason != "" && s.DB.Facts == nil:
		return "damaged: " + s.DB.Reason
	case s.Format == charm.V2 && s.KubernetesKeys() <= 0:
		return "the old v2 store; no Kubernetes data"
	case s.DB == nil:
		return "no database"
	}
	return fmt.Sprintf("revision %d, %s, %d of Kubernetes", s.Revision(), audit.Plural(int(s.DB.Facts.Keys), "key"), s.KubernetesKeys())
}

// apply asks one predicate.
func (r *Report) apply(p Predicate, in Input) {
	if p.needs != nil {
		if missing := p.needs(in); missing != "" {
			r.NotChecked = append(r.NotChecked, NotChecked{p.ID, p.Title, missing})
			if p.ID != "CH9" { // the other units are still asked
				return
			}
		}
	}
	add := func(unit string, all []Finding) {
		for _, f := range all {
			f.ID, f.Title = p.ID, p.Title
			if f.Unit == "" {
				f.Unit = unit
			}
			r.Findings = append(r.Findings, f)
		}
	}
	if p.whole != nil {
		add("", p.whole(in))
		return
	}
	for _, u := range in.Units {
		add(u.Name, p.unit(in, u))
	}
}

// rank puts first what blocks, and then what is worse.
func rank(f Finding) int {
	n := slices.Index([]audit.Severity{audit.Critical, audit.Warning, audit.Info}, f.Severity)
	if !f.Blocks {
		n += 10
	}
	return n
}

func (r *Report) verdict() Verdict {
	for _, f := range r.Findings {
		if f.Blocks {
			return NotSafe
		}
	}
	if len(r.Unseen) > 0 || !slices.ContainsFunc(r.Units, func(u UnitReport) bool { return u.Start.Outcome != NoIdea }) {
		return CannotTell
	}
	return Safe
}

// steps puts together what to do: each thing once, what comes first for the worst
// finding first.
func (r *Report) steps() {
	for _, f := range r.Findings {
		for _, step := range f.Do {
			if !slices.Contains(r.Do, step) {
				r.Do = append(r.Do, step)
			}
		}
	}
}

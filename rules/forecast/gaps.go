package forecast

import (
	"strings"
	"time"

	"backstop/audit"
	"backstop/rules/lifecycle"
	"backstop/store/etcdmanager"
)

// gaps says what was not seen, and what was taken for granted.
func (f *foresight) gaps() {
	for _, g := range []struct {
		fact  audit.FactName
		means string
	}{
		{audit.FactListing, "The snapshots were not seen: what becomes of them, and what can be restored, is not told."},
		{audit.FactCreated, "Whether etcd-cluster-created is there, and what follows when it goes, is not known."},
		{audit.FactSpec, "Whether etcd-cluster-spec is there and good decides between a reset and an armed store, and is not known."},
		{audit.FactQueue, "Whether a queued restore will roll the cluster back at the leader's next restart is not known."},
		{audit.FactVersioning, "Whether a rule hides or destroys is not known: destroying is told."},
		{audit.FactControlVersions, "Old versions of the control files, and until when they can be brought back, are not told."},
		{audit.FactTags, "Which rules match by tags is not known: that they match is told."},
	} {
		if why, not := f.o.Unseen(g.fact); not {
			f.gap(g.fact, why.String(), g.means)
		}
	}
	f.rulesGap()
	f.assume()
}

func (f *foresight) gap(fact audit.FactName, reason, means string) {
	f.t.Gaps = append(f.t.Gaps, Gap{Fact: fact, Necessary: fact.IsNecessary(), Reason: reason, Means: means})
}

// rulesGap says that the lifecycle rules are not known, or not wholly.
func (f *foresight) rulesGap() {
	const means = "What lifecycle rules delete, hide or archive, and when, is not told: it does NOT follow that nothing is."
	if f.Rules == nil {
		if why, not := f.o.Unseen(audit.FactLifecycle); not {
			f.gap(audit.FactLifecycle, why.String(), means)
			return
		}
		if _, err := ConfigurationOf(f.o); err != nil {
			f.gap(audit.FactLifecycle, "the bucket's lifecycle configuration cannot be understood: "+err.Error(), means)
			return
		}
	}
	if odd := notUnderstood(f.config); len(odd) > 0 {
		f.gap(audit.FactLifecycle, strings.Join(odd, "; "), "What that does is not told: it does NOT follow that it does nothing.")
	}
}

// notUnderstood names what enabled rules hold and the evaluator does not read.
func notUnderstood(c lifecycle.Configuration) []string {
	var odd []string
	for _, n := range c.Notes {
		if n.Why == lifecycle.OldName || n.Rule >= 0 && c.Rules[n.Rule].Status == "Disabled" {
			continue
		}
		where := "the lifecycle configuration"
		if n.Rule >= 0 {
			where = "lifecycle rule " + c.Rules[n.Rule].Name()
		}
		odd = append(odd, where+" holds "+n.Field+", which is not understood")
	}
	return odd
}

// assume says what was taken for granted.
func (f *foresight) assume() {
	add := func(s string) { f.t.Assumes = append(f.t.Assumes, s) }
	r := f.t.Retention
	keeps := "etcd-manager keeps the earliest snapshot of each hour for " + audit.Span(r.Hourly) + " and of each day for " + audit.Span(r.Daily)
	switch {
	case !f.live:
	case r.By == "default":
		add(keeps + ": its own defaults, because nobody says otherwise (kops writes 90 days into a cluster's spec since 1.27)")
	case r.By == "configuration":
		add(keeps + ", as the configuration says")
	default:
		add(keeps + ", as kops configures it")
	}
	add(f.backupsAssumed() + "; nobody touches the bucket")
	if backup := queuedRestore(f.o); backup != "" {
		add("the leader of etcd-manager does not restart: it would restore " + backup + ", which is queued, over the live cluster")
	}
	if f.bucket.Provider == lifecycle.Unknown && len(f.config.Rules) > 0 {
		add("the server is not AWS's: the earlier of the readings of AWS and of MinIO is told")
	}
	if lock := f.o.Bucket.ObjectLock; lock.IsSet() && lock.Value.Retention > 0 {
		add("Object Lock holds every snapshot for " + audit.Span(lock.Value.Retention) + ": until then etcd-manager's cleanup fails, and lifecycle rules hide and do not destroy")
	}
	if f.o.Bucket.MFADelete {
		add("MFA delete is on: etcd-manager's cleanup cannot delete, and S3 accepts no lifecycle rules")
	}
	if f.tagged() {
		add("no snapshot has tags, because etcd-manager sets none: rules that ask for tags spare them")
	}
	if f.o.Listing.Value.Copied() {
		add("the store is a copy: lifecycle rules count from the date of the copy, and etcd-manager from the names")
	}
}

// backupsAssumed says whether backups are counted on.
func (f *foresight) backupsAssumed() string {
	switch {
	case f.live && f.Fresh && (f.State == etcdmanager.Running || f.State == etcdmanager.Bootstrapping):
		return "backups go on every " + audit.Span(f.Policy.Interval) + " as long as the control files let them"
	case f.live && f.Fresh && f.State != etcdmanager.Armed && f.State != etcdmanager.Imminent:
		return "no backup to come is counted on, though the newest one is recent"
	}
	return "no backups are taken any more"
}

// queuedRestore names the backup whose restore is queued; empty without one.
func queuedRestore(o *audit.Observation) string {
	bodies := make([][]byte, len(o.Queue.Value))
	for i, c := range o.Queue.Value {
		bodies[i] = c.Body.Value.Body
	}
	if i, cmd := etcdmanager.NextRestore(bodies); i >= 0 {
		return cmd.Restore.Backup
	}
	return ""
}

// tagged reports whether an enabled rule asks for tags.
func (f *foresight) tagged() bool {
	for _, r := range f.config.Rules {
		if r.Enabled() && r.Filter != nil && (len(r.Filter.Tags) > 0 || r.Filter.And != nil && len(r.Filter.And.Tags) > 0) {
			return true
		}
	}
	return false
}

// untold is the timeline of a store that was written to after the time that it is
// told from: what it held then nobody knows.
func (f *foresight) untold() Timeline {
	f.t.Gaps = []Gap{{Fact: audit.FactListing, Necessary: true, Reason: f.Untold, Means: "How the store stood then, and what became of it, cannot be told."}}
	f.t.Assumes, f.t.Reset = nil, time.Time{}
	f.t.State, f.t.FinalState, f.t.Verdict = etcdmanager.Unknown, etcdmanager.Unknown, audit.VerdictUnknown
	if !f.At.IsZero() {
		f.t.At = &Standing{At: f.At, State: etcdmanager.Unknown}
	}
	return f.t
}

package forecast

import (
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// meaning says what follows when readers lose control files. gone are indices of
// files.
func (f *foresight) meaning(before, after etcdmanager.State, gone []int) string {
	if !f.live {
		return "Nobody reads it in a store that is configured as " + string(f.Policy.RoleOf(f.o)) + "."
	}
	switch after {
	case etcdmanager.Imminent:
		return f.imminentMeaning()
	case etcdmanager.Armed:
		return f.armedMeaning(len(gone) == 2)
	case etcdmanager.Latent, etcdmanager.Stuck:
		s := "spec goes first: backups go on until the leader changes, and then stop. etcd-cluster-created stays"
		if until, ok := f.lostAt(0); ok {
			s += " until " + audit.Stamp(until)
		}
		return s + "."
	case etcdmanager.Blocked:
		return "Every cycle of etcd-manager then ends with an error: no backups, no replacement of a lost member, and no reset."
	case etcdmanager.Unknown:
		return "What follows cannot be told: something that decides it was not seen."
	case etcdmanager.Uninitialised:
		return "No cluster has lived here: nothing is lost."
	}
	if after == before {
		return "The state does not change."
	}
	return ""
}

func (f *foresight) imminentMeaning() string {
	if f.World.QueueBad {
		return "etcd-cluster-spec is there: only a queued command that does not parse keeps etcd-manager from making a NEW, EMPTY cluster."
	}
	s := "created goes first: reset with nobody touching it. etcd-cluster-spec stays"
	if until, ok := f.lostAt(1); ok {
		s += " until " + audit.Stamp(until)
	}
	return s + ", so that etcd-manager makes a NEW, EMPTY cluster within 10 s of having a quorum of members."
}

// armedMeaning says what follows when created and a good spec are both gone.
func (f *foresight) armedMeaning(atOnce bool) string {
	const next = "Backups stop; the next `kops update cluster --yes`, `terraform apply` or `etcd-manager-ctl configure-cluster` resets the cluster."
	switch {
	case atOnce && f.World.Quality == etcdmanager.WithMembers:
		return Together(f.due[0], f.due[1]) + ": armed at best, reset possible (if S3 removes created more than 10 s before spec, etcd-manager makes a NEW, EMPTY cluster with nobody touching it). " + next
	case f.files[1].presence == etcdmanager.Present:
		return "etcd-cluster-spec is there but bad: only that keeps etcd-manager from a reset. " + next
	}
	return next
}

// lostAt is when a control file is next taken away from readers.
func (f *foresight) lostAt(i int) (time.Time, bool) {
	for _, h := range f.files[i].pending {
		if h.takes() {
			return h.run(f.Now), true
		}
	}
	return time.Time{}, false
}

// OneRun reports whether one run of S3's lifecycle takes two things: those that are
// due at the same midnight, and all that is overdue. Which goes first nobody knows.
func OneRun(a, b, now time.Time) bool { return a.Equal(b) || !a.After(now) && !b.After(now) }

// Together says that both control files go in one run.
func Together(created, spec time.Time) string {
	if created.Equal(spec) {
		return "Both control files go at the same midnight"
	}
	return "Both control files are overdue, since " + audit.Stamp(created) + " and " + audit.Stamp(spec) + ", and go in the same run, in an order that nobody knows"
}

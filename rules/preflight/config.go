package preflight

import (
	"fmt"
	"slices"
	"strings"

	"backstop/audit"
	"backstop/store/charm"
)

// keepExisting is the repair that brought the data back in every trial (case A3).
func keepExisting(u Unit, d charm.DataDir) []string {
	where := u.place(d)
	return []string{
		"Do NOT set initial-cluster-state to new, and do not delete any directory below " + charm.SnapDir + ": the bug deletes nothing, the data is still there.",
		"Do NOT restart etcd, upgrade the charm or refresh the snap before data-dir is right.",
		"Stop etcd on the unit: sudo systemctl stop snap.etcd.etcd.",
		"Copy " + where + " to another disk.",
		fmt.Sprintf("Set data-dir in %s/%s back to %s, and keep initial-cluster-state: existing.", charm.CommonDir, charm.ConfigFile, where),
		"Start etcd (sudo systemctl start snap.etcd.etcd), and compare the revision (etcdctl endpoint status): member and cluster ids prove nothing, they can be the same in an empty cluster.",
	}
}

// dataElsewhere is CH1, CH1a and CH1b.
func dataElsewhere(in Input, u Unit) []Finding {
	d, looked := u.configured()
	full := u.others()
	if !looked || d.Full() || len(full) == 0 {
		return nil
	}
	most := furthest(full)
	message := fmt.Sprintf("etcd.conf.yml points to %s, where there is %s; the data (%s) is in %s. ", u.Config.DataDir, absence(d), contents(most), u.place(most))
	switch s := StartOf(u); s.Outcome {
	case Empty:
		message += "The next start gives an EMPTY cluster without a word of warning, and Kubernetes deletes every workload."
	case Refuses:
		message += "The next start fails. Setting initial-cluster-state to new does not mend that: it gives an EMPTY cluster."
	default:
		message += "The next start comes up without the data, or fails."
	}
	return []Finding{found(audit.Critical, "%s", message).todo(keepExisting(u, most)...)}
}

// absence says what is in a directory that is not full.
func absence(d charm.DataDir) string {
	switch {
	case d.WALs > 0:
		return "an etcd without a key"
	case d.DBSize > 0:
		return "no log, just an empty database that a failed start left behind"
	}
	return "nothing"
}

// furthest gives the directory with the highest revision.
func furthest(dirs []charm.DataDir) charm.DataDir {
	most := dirs[0]
	for _, d := range dirs[1:] {
		if d.Revision() > most.Revision() || d.Revision() == most.Revision() && d.DBSize > most.DBSize {
			most = d
		}
	}
	return most
}

// twoDatabases is CH2.
func twoDatabases(in Input, u Unit) []Finding {
	d, looked := u.configured()
	others := u.others()
	if !looked || !d.Full() || len(others) == 0 {
		return nil
	}
	others = slices.DeleteFunc(others, func(o charm.DataDir) bool { return !charmsOwn(o) && o.Revision() <= d.Revision() })
	if len(others) == 0 {
		return nil // a copy that somebody has made
	}
	older := furthest(others)
	if d.Facts() != nil && older.Facts() != nil && d.Revision() < older.Revision() {
		return []Finding{found(audit.Critical, "etcd runs on the younger database: %s holds %s, and the older data, %s, is in %s. The cluster was made anew",
			u.place(d), contents(d), contents(older), u.place(older)).
			todo("Decide which of the two to keep before anything else: what was written since is in the younger one alone.").
			todo(keepExisting(u, older)...)}
	}
	f := found(audit.Warning, "two directories hold data: %s (%s), which is configured, and %s (%s). The charm's upgrade moves one onto the other and stops half-way, with etcd stopped, and the snapshot action archives %s.etcd wherever data-dir points",
		u.place(d), contents(d), u.place(older), contents(older), u.Name).blocking().
		todo("Make sure by the revisions above which one is live (etcdctl endpoint status), and snapshot that one: etcdctl snapshot save.",
			"Move the other out of "+charm.CurrentDir+", and keep it until the upgrade is done.")
	if d.Doubtful() || older.Doubtful() {
		f.Message += ". Their revisions were not read, so that it does not show which is the live one"
	}
	return []Finding{f}
}

// charmsOwn reports whether a directory is one of those that the charm knows.
func charmsOwn(d charm.DataDir) bool {
	return d.Path == "." || !strings.Contains(d.Path, "/") && strings.HasSuffix(d.Path, ".etcd") || d.Path == charm.StorageDir
}

// onceRan23 is CH3.
func onceRan23(in Input, u Unit) []Finding {
	var signs []string
	if u.Config.Writer == charm.WroteMigration {
		signs = append(signs, "etcd.conf.yml was written by the migration from 2.x")
	}
	if u.Beside != nil && u.Beside.Migrated {
		signs = append(signs, charm.MigratedFile+" is there")
	}
	if strings.HasSuffix(strings.TrimRight(u.Config.DataDir, "/"), ".etcd") {
		signs = append(signs, "data-dir is "+u.Config.DataDir)
	}
	if len(signs) == 0 {
		return nil
	}
	return []Finding{found(audit.Warning, "this cluster once ran etcd 2.3 (%s): charm revision 449 loses all its data, because it writes another data-dir and moves nothing", strings.Join(signs, ", ")).blocking().
		todo("Do NOT upgrade to charm revision 449. Upgrade to 460 or later directly, which moves the data first.",
			"Before that save a snapshot with etcdctl snapshot save on the leader, copy it off the unit, and verify it: backstop verify FILE.",
			"Upgrade in a maintenance window, and compare revision and number of keys before and after.")}
}

// noInitialCluster is CH4.
func noInitialCluster(in Input, u Unit) []Finding {
	if u.Config.InitialCluster != "" {
		return nil
	}
	f := found(audit.Warning, "initial-cluster is missing or empty: it does no harm while data-dir holds the data, and a start without it makes a cluster of this member alone").blocking().
		todo("Upgrade to a charm that always writes initial-cluster (its fix is of 2020-07-24), and do not run the action restore before: without the key it needs a charm of 2019-10-22 or later.")
	if d, looked := u.configured(); looked && !d.Full() {
		f.Severity = audit.Critical
	}
	return []Finding{f}
}

// tokenDiffers is CH5.
func tokenDiffers(in Input) []Finding {
	if len(in.Units) == 0 {
		return nil
	}
	var all []Finding
	first := in.Units[0]
	say := func(unit, how string) {
		f := found(audit.Warning, "initial-cluster-token %s. That is harmless while data-dir holds the data: etcd does not look at it then", how).
			todo("Leave initial-cluster-token as it is while etcd runs. It matters when a member is made anew: set it to one value on every unit before a restore or a rejoin.")
		f.Unit, f.Blocks = unit, false
		if d, looked := first.configured(); looked && !d.Full() && len(first.others()) > 0 {
			f.Severity = audit.Critical
			f.Message = "initial-cluster-token " + how + ", and data-dir holds no data: a start makes another cluster (CH1)"
		}
		all = append(all, f)
	}
	if in.Before != nil && in.Before.Token != first.Config.Token {
		say(first.Name, fmt.Sprintf("was %q and is %q", in.Before.Token, first.Config.Token))
	}
	for _, u := range in.Units[1:] {
		if u.Config.Token != first.Config.Token {
			say(u.Name, fmt.Sprintf("is %q on %s and %q on %s", first.Config.Token, first.Name, u.Config.Token, u.Name))
		}
	}
	return all
}

// oddToken is CH6.
func oddToken(in Input, u Unit) []Finding {
	c := u.Config
	switch {
	case c.Token == "":
		return nil
	case c.TokenNumber:
		return []Finding{found(audit.Warning, "initial-cluster-token %s stands without quotes and is read as a number, so that units may hold different tokens", c.Token).
			todo("Put initial-cluster-token in quotes on every unit; charms since 2018-07-30 do.")}
	case !c.CharmToken():
		return []Finding{found(audit.Warning, "initial-cluster-token %q is none that the charm makes (six of A-Z and 0-9, or an address after a restore)", c.Token).
			todo("Find out who wrote the file: the charm will write its own token when it next renders it.")}
	}
	return nil
}

// pinned is CH7.
func pinned(in Input, u Unit) []Finding {
	if u.Config.DataDir == "" {
		return []Finding{found(audit.Warning, "data-dir is missing from the configuration; the charm's upgrade fails on that, with etcd stopped").
			todo("Set data-dir to the directory that etcd uses now (ls -l /proc/$(pidof etcd)/fd shows it).")}
	}
	if rev := charm.PinnedRevision(u.Config.DataDir); rev != "" {
		return []Finding{found(audit.Warning, "data-dir is %s, in snap revision %s, and does not follow when the snap is refreshed: snapd copies the data, and etcd goes on with the old place", u.Config.DataDir, rev).
			todo("Stop etcd, set data-dir to the same below " + charm.CurrentDir + ", make sure that the newest data is there, start etcd.")}
	}
	return nil
}

// forceNew is CH8.
func forceNew(in Input, u Unit) []Finding {
	if !u.Config.ForceNewCluster {
		return nil
	}
	return []Finding{found(audit.Critical, "force-new-cluster is true: every start of etcd drops all other members").
		todo("Do NOT restart etcd before it is false.", "Set force-new-cluster: false in "+charm.ConfigFile+".")}
}

// oldConfig is CH9.
func oldConfig(in Input, u Unit) []Finding {
	if u.Beside == nil || !u.Beside.OldConfig {
		return nil
	}
	return []Finding{found(audit.Critical, "%s of etcd 2.x lies beside %s: the snaps of etcd 3.1 and later do not start then", charm.OldConfigFile, charm.ConfigFile).
		todo("Rename " + charm.OldConfigFile + " to " + charm.MigratedFile + " before the snap is refreshed, if etcd 3 runs on " + charm.ConfigFile + " now.")}
}

// storageUnseen is SN5.
func storageUnseen(in Input, u Unit) []Finding {
	if u.Config.DataDir != charm.StorageDir && !strings.HasPrefix(u.Config.DataDir, charm.StorageDir+"/") {
		return nil
	}
	return []Finding{found(audit.Warning, "data-dir is on Juju storage, %s, and the charm's snapshot action never looks there: it archives %s.etcd in %s if that exists, else %s itself",
		u.Config.DataDir, u.Name, charm.CurrentDir, charm.CurrentDir).
		todo("Take snapshots with etcdctl snapshot save instead.")}
}

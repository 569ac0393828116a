package suggest

import (
	"fmt"
	"strings"

	"backstop/audit"
	"backstop/rules"
	"backstop/store/etcdmanager"
)

// trouble says what is wrong with a store, so that nothing of it may be deleted now,
// old versions neither: they may be all that is left. It is empty for one that is
// well.
func trouble(s Store) string {
	o := s.Observation
	in := rules.Foresee(o, s.Policy, s.Now, 0, nil)
	switch state := string(in.State); {
	case s.Policy.RoleOf(o) != audit.Live:
		return "it is configured as " + string(s.Policy.RoleOf(o)) + ", in which nothing else deletes"
	case state != string(etcdmanager.Running) && state != string(etcdmanager.Bootstrapping):
		return "the store is " + state
	case !in.Reset.IsZero():
		return "a new, empty cluster took the place of an older one at " + audit.Stamp(in.Reset) + ", whose snapshots must stay"
	case !in.Fresh:
		return "its newest snapshot is old, and while no backups are taken the last ones must stay"
	}
	return ""
}

// inseparable says why the snapshots of a store cannot be told from everything else by
// a prefix; empty where they can.
func (m *maker) inseparable(o *audit.Observation, prefix string) string {
	if why := odd(o, prefix); why != "" {
		return why
	}
	for _, other := range m.stores {
		if why := foreign(o, other.Observation, prefix); why != "" {
			return why
		}
	}
	return ""
}

// odd finds something in the store that begins like a snapshot and is none of
// etcd-manager's.
func odd(o *audit.Observation, prefix string) string {
	l := o.Listing.Value
	for _, s := range l.Snapshots {
		if s.Taken.IsZero() && strings.HasPrefix(o.Store.Key(s.Name), prefix) {
			return fmt.Sprintf("%s begins as a snapshot does and was named by hand; etcd-manager never deletes it, and the prefix %q would", o.Store.Key(s.Name), prefix)
		}
	}
	for _, stray := range l.Strays {
		if strings.HasPrefix(stray.Key, prefix) {
			return fmt.Sprintf("%s is no snapshot, and begins with the prefix %q that separates snapshots from control/", stray.Key, prefix)
		}
	}
	if l.StrayCount > len(l.Strays) {
		return fmt.Sprintf("the store holds %d objects that etcd-manager would not write, more than are looked at one by one", l.StrayCount)
	}
	return ""
}

// foreign finds something of another store, or of kops, that begins with the prefix
// of a store's snapshots.
func foreign(o, other *audit.Observation, prefix string) string {
	if other != o {
		for _, path := range []string{etcdmanager.CreatedPath, etcdmanager.SpecPath} {
			if key := other.Store.Key(path); strings.HasPrefix(key, prefix) {
				return fmt.Sprintf("no prefix separates them: %q matches %s too, which is another store's", prefix, key)
			}
		}
	}
	for _, file := range other.Kops.Value.Files.Value {
		if other.Kops.Value.Bucket == nil && strings.HasPrefix(file.Key, prefix) {
			return fmt.Sprintf("no prefix separates them: %q matches %s too, which is kops's", prefix, file.Key)
		}
	}
	return ""
}

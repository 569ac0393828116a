package rules

import (
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

var snapshotBadMeta = audit.Rule{
	ID:         "snapshot/bad-meta",
	Title:      "the newest snapshot's meta file does not parse, or could not be read",
	Severities: []audit.Severity{audit.Unsure, audit.Warning},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if !o.Listing.Seen() {
			return nil // control/unseen speaks
		}
		s, _, _, _ := newest(o, now)
		key := o.Store.Key(s.Name, etcdmanager.MetaFile)
		if why, not := o.Unseen(audit.FactNewestMeta); not {
			f := audit.Found(audit.Unsure, "the meta file of the newest snapshot could not be seen: %s", why.Reason).
				About(key).Saw("unseen: "+string(audit.FactNewestMeta), "an answer").Todo(remedy(why))
			return []audit.Finding{f}
		}
		if !o.NewestMeta.IsSet() {
			return nil
		}
		fault := o.NewestMeta.Value.Unreadable
		if fault == "" {
			_, err := etcdmanager.ParseMeta(o.NewestMeta.Value.Body)
			if err == nil {
				return nil
			}
			fault = err.Error()
		}
		return []audit.Finding{audit.Found(audit.Warning,
			"the meta file of the newest snapshot cannot be read by etcd-manager, which therefore cannot restore it").
			About(key).
			Saw(fault, "a meta file as etcd-manager writes it").
			Todo("Do not count on this snapshot. Look whether the next one's meta file is good.")}
	},
}

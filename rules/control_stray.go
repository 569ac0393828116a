package rules

import (
	"strings"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

// strayNames bounds how many names a finding lists.
const strayNames = 5

var controlStray = audit.Rule{
	ID:         "control/stray",
	Title:      "the store holds objects that etcd-manager would not write",
	Severities: onlyInfo,
	Needs:      []audit.FactName{audit.FactListing, audit.FactQueue},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		l := o.Listing.Value
		n := l.StrayCount
		var keys []string
		for _, s := range l.Strays {
			keys = append(keys, s.Key)
		}
		for _, s := range l.Snapshots {
			if s.Taken.IsZero() {
				n++
				keys = append(keys, o.Store.Key(s.Name)+"/")
			}
		}
		for _, c := range o.Queue.Value {
			if cmd, err := etcdmanager.ParseCommand(c.Body.Value.Body); err == nil && cmd.Restore == nil && c.Body.IsSet() {
				n++
				keys = append(keys, c.Object.Key)
			}
		}
		if n == 0 {
			return nil
		}
		more := ""
		if n > strayNames {
			keys, more = keys[:min(strayNames, len(keys))], ", …"
		}
		return []audit.Finding{audit.Found(audit.Info,
			"%s in this store that etcd-manager would not write; they are not counted as backups, and its cleanup never removes them", plural(n, "object")).
			About(keys[0]).
			Saw(strings.Join(keys, ", ")+more, "control files, commands and dated snapshots alone")}
	},
}

package rules

import (
	"time"

	"backstop/audit"
)

// The name of a snapshot is the writer's clock at the start of its upload. It
// may lie a little after S3's own time, and before it by as long as an upload
// takes.
var (
	writerAhead  = 5 * time.Minute
	writerBehind = 30 * time.Minute
)

var snapshotWriterClock = audit.Rule{
	ID:         "snapshot/writer-clock",
	Title:      "the clock of the node that writes the snapshots is wrong",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactListing},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		last, at, age, ok := newest(o, now)
		if !ok || age > p.StaleAfter() || o.Listing.Value.Copied() {
			return nil
		}
		s, who := last, "the node that wrote the newest snapshot has"
		if how := offBy(s, at); how == "" {
			if s, ok = otherWriter(o, p, now); !ok {
				return nil
			}
			at, who = s.Stored(), "a node that wrote others than the newest snapshot has"
		}
		return []audit.Finding{audit.Found(audit.Warning,
			"%s a clock that is %s S3's: names of snapshots, and etcd-manager's cleanup, which goes by them, are off by as much", who, offBy(s, at)).
			About(o.Store.Key(s.Name)).
			Saw("named "+s.Name+", written "+stamp(at), "within "+span(writerAhead)+" ahead or "+span(writerBehind)+" behind").
			Todo("Look at time synchronisation (chronyd or systemd-timesyncd) on the control-plane nodes.")}
	},
}

// offBy says how far a snapshot's name lies from when it was written; empty where
// that is as it should be.
func offBy(s audit.Snapshot, at time.Time) string {
	switch ahead := s.Taken.Sub(at); {
	case ahead > writerAhead:
		return span(ahead) + " ahead of"
	case -ahead > writerBehind:
		return span(-ahead) + " behind"
	}
	return ""
}

// otherWriter finds the newest fresh snapshot with a wrong name that another one
// bears out, off by the same amount: members of a cluster take turns in writing,
// and one slow clock among them must not be seen only when it was the last. One
// such snapshot alone was rather written again, of which snapshot/altered speaks.
func otherWriter(o *audit.Observation, p audit.Policy, now time.Time) (found audit.Snapshot, ok bool) {
	var off []audit.Snapshot
	for _, s := range o.Listing.Value.Snapshots {
		if s.Complete() && !s.Taken.IsZero() && now.Sub(s.Stored()) <= p.StaleAfter() && offBy(s, s.Stored()) != "" {
			off = append(off, s)
		}
	}
	for i, a := range off {
		for j, b := range off {
			by := a.Taken.Sub(a.Stored()) - b.Taken.Sub(b.Stored())
			if i != j && by.Abs() <= sameClock && (!ok || a.Stored().After(found.Stored())) {
				found, ok = a, true
			}
		}
	}
	return found, ok
}

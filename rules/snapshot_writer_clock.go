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
		s, at, age, ok := newest(o, now)
		if !ok || age > p.StaleAfter() || o.Listing.Value.Copied() {
			return nil
		}
		ahead := s.Taken.Sub(at)
		var how string
		switch {
		case ahead > writerAhead:
			how = span(ahead) + " ahead of"
		case -ahead > writerBehind:
			how = span(-ahead) + " behind"
		default:
			return nil
		}
		return []audit.Finding{audit.Found(audit.Warning,
			"the node that wrote the newest snapshot has a clock that is %s S3's: names of snapshots, and etcd-manager's cleanup, which goes by them, are off by as much", how).
			About(o.Store.Key(s.Name)).
			Saw("named "+s.Name+", written "+stamp(at), "within "+span(writerAhead)+" ahead or "+span(writerBehind)+" behind").
			Todo("Look at time synchronisation (chronyd or systemd-timesyncd) on the control-plane nodes.")}
	},
}

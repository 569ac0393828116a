package rules

import (
	"time"

	"backstop/audit"
)

var auditClockSkew = audit.Rule{
	ID:         "audit/clock-skew",
	Title:      "the auditor's clock is off; S3's is used",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactClock},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		if !o.ClockIsOff() {
			return nil
		}
		offset := o.ClockOffset.Value
		side := "behind"
		if offset < 0 {
			side = "ahead of"
		}
		return []audit.Finding{audit.Found(audit.Warning,
			"the clock of the machine that backstop runs on is %s %s S3's; ages are judged by S3's clock", span(offset.Abs()), side).
			Saw("off by "+offset.Round(time.Second).String(), "within "+span(audit.ClockTolerance)).
			Todo("Look at time synchronisation on this machine. S3 refuses requests that are more than 15 minutes off.")}
	},
}

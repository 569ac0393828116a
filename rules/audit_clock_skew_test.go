package rules

import (
	"testing"
	"time"

	"backstop/audit"
)

// clockOff is S3's clock less ours.
func clockOff(d time.Duration) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.ClockOffset = audit.Is(d) }
}

var auditClockSkewSuite = suite{cases: cases{
	"ours is ten minutes behind": {is: "speaks", seen: clockOff(10 * time.Minute), want: []string{"warning: the clock of the machine that backstop runs on is 10m behind S3's; ages are judged by S3's clock"}, says: []string{"off by 10m0s"}},
	"ours is ten minutes ahead":  {is: "speaks", seen: clockOff(-10 * time.Minute), want: []string{"warning: is 10m ahead of S3's"}},

	"a minute behind is tolerated": {is: "boundary", seen: clockOff(time.Minute)},
	"a second more is not":         {is: "boundary", seen: clockOff(time.Minute + time.Second), want: []string{"warning: is 61s behind"}},
	"a minute ahead is tolerated":  {is: "boundary", seen: clockOff(-time.Minute)},
	"a second more of that is not": {is: "boundary", seen: clockOff(-time.Minute - time.Second), want: []string{"warning: is 61s ahead"}},

	"nothing is wrong":         {is: "silent"},
	"a directory has no clock": {is: "silent", seen: func(o *audit.Observation) { o.ClockOffset = audit.None[time.Duration]() }},

	"no answer told the time": {is: "blind", seen: unseen(audit.FactClock)},
}}

func TestAuditClockSkew(t *testing.T) { auditClockSkewSuite.cases.run(t, auditClockSkew) }

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

// writtenBeforeNoon is how long before noon the healthy store was last written.
const writtenBeforeNoon = 4*time.Minute + 57*time.Second

var auditClockSkewSuite = suite{ages: true, limits: []limit{timeLimit("judgedBefore", &judgedBefore)}, cases: cases{
	"ours is ten minutes behind": {is: "speaks", seen: clockOff(10 * time.Minute), want: []string{"warning: the clock of the machine that backstop runs on is 10m behind S3's; ages are judged by S3's clock"}, says: []string{"off by 10m0s"}},
	"ours is ten minutes ahead":  {is: "speaks", seen: clockOff(-10 * time.Minute), want: []string{"warning: is 10m ahead of S3's"}},

	"a minute behind is tolerated": {is: "boundary", seen: clockOff(time.Minute)},
	"a second more is not":         {is: "boundary", seen: clockOff(time.Minute + time.Second), want: []string{"warning: is 61s behind"}},
	"a minute ahead is tolerated":  {is: "boundary", seen: clockOff(-time.Minute)},
	"a second more of that is not": {is: "boundary", seen: clockOff(-time.Minute - time.Second), want: []string{"warning: is 61s ahead"}},

	"judged as of last year":                 {is: "speaks", seen: func(*audit.Observation) {}, at: -365 * audit.Day, want: []string{"unknown: how it stood then cannot be told"}},
	"the last write lies five minutes ahead": {is: "boundary", at: -5*time.Minute - writtenBeforeNoon},
	"and a second more":                      {is: "boundary", at: -5*time.Minute - writtenBeforeNoon - time.Second, want: []string{"unknown: the store is judged as of"}},

	"nothing is wrong":         {is: "silent"},
	"a directory has no clock": {is: "silent", seen: func(o *audit.Observation) { o.ClockOffset = audit.None[time.Duration]() }},

	"no answer told the time": {is: "blind", seen: unseen(audit.FactClock)},
}}

func TestAuditClockSkew(t *testing.T) { auditClockSkewSuite.cases.run(t, auditClockSkew) }

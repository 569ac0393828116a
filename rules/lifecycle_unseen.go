package rules

import (
	"fmt"
	"strconv"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
)

var lifecycleUnseen = audit.Rule{
	ID:         "lifecycle/unseen",
	Title:      "the lifecycle rules could not be seen, so no deletion can be foretold",
	Severities: onlyUnknown,
	Scope:      "bucket",
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		life := o.Bucket.Lifecycle
		if why, not := o.Unseen(audit.FactLifecycle); not {
			return []audit.Finding{audit.Found(audit.Unsure,
				"the bucket's lifecycle rules could not be seen: %s. Whether they will delete the control files is not known.", why.Reason).
				Saw("unseen: "+string(audit.FactLifecycle), "the rules, or the answer that there are none").
				Todo(remedy(why))}
		}
		if !life.IsSet() {
			return nil
		}
		config, err := forecast.ConfigurationOf(o)
		if err == nil {
			err = notUnderstood(config)
		}
		if err != nil {
			return []audit.Finding{audit.Found(audit.Unsure,
				"the bucket's lifecycle configuration cannot be understood (%v). Whether it will delete the control files is not known.", err).
				Saw("unseen: "+string(audit.FactLifecycle), "a lifecycle configuration").
				Todo("Look at it by hand: aws s3api get-bucket-lifecycle-configuration --bucket " + o.Bucket.Name + "; and report it, so that it is understood.")}
		}
		return nil
	},
}

// notUnderstood names what an enabled rule holds and no part of the evaluator
// reads: such a rule may do what nobody foretells.
func notUnderstood(c lifecycle.Configuration) error {
	for _, n := range c.Notes {
		if n.Why == lifecycle.OldName || n.Rule >= 0 && c.Rules[n.Rule].Status == "Disabled" {
			continue
		}
		where := "the configuration"
		if n.Rule >= 0 {
			where = "rule " + strconv.Quote(c.Rules[n.Rule].Name())
		}
		return fmt.Errorf("%s holds %s %q, which no S3 documents", where, n.Field, n.Text)
	}
	for i, r := range c.Rules {
		if r.Status != "Enabled" && r.Status != "Disabled" {
			return fmt.Errorf("rule %d has the status %q", i+1, r.Status)
		}
	}
	return nil
}

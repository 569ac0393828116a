package rules

import (
	"time"

	"backstop/audit"
)

var auditProviderUnverified = audit.Rule{
	ID:         "audit/provider-unverified",
	Title:      "the bucket is not on AWS, and what its server does was not verified",
	Severities: onlyInfo,
	Scope:      "bucket",
	Needs:      []audit.FactName{audit.FactLifecycle},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		// Without lifecycle rules nothing is foretold that the server could
		// carry out otherwise.
		if o.Store.Endpoint == "" || o.Bucket.Lifecycle.State == audit.Unset {
			return nil
		}
		return []audit.Finding{audit.Found(audit.Info,
			"the bucket is behind %s: lifecycle rules are read as AWS and MinIO carry them out, and the earlier date is told. Whether this server does the same is not known", o.Store.Endpoint).
			Saw("endpoint "+o.Store.Endpoint, "AWS, or a server whose behaviour you know")}
	},
}

package rules

import (
	"testing"

	"backstop/audit"
)

func behind(endpoint string) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Store.Endpoint = endpoint }
}

var auditProviderUnverifiedSuite = suite{cases: cases{
	"another server":              {is: "speaks", seen: all(behind("https://s3.example.org"), lifecycleRules(expireAll(9000))), want: []string{"info: the bucket is behind https://s3.example.org: lifecycle rules are read as AWS and MinIO carry them out"}},
	"nothing of it could be seen": {is: "speaks", seen: all(behind("https://s3.example.org"), unseen(audit.FactListing), unseen(audit.FactLifecycle)), want: []string{"info: the bucket is behind"}},

	"no endpoint is AWS": {is: "boundary", seen: behind("")},

	"nothing is wrong":         {is: "silent"},
	"there are no rules there": {is: "silent", seen: behind("https://s3.example.org")},

	"nothing was looked at": {is: "blind", seen: func(o *audit.Observation) { *o = audit.Observation{} }},
}}

func TestAuditProviderUnverified(t *testing.T) {
	auditProviderUnverifiedSuite.cases.run(t, auditProviderUnverified)
}

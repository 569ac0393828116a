package rules

import (
	"testing"

	"backstop/audit"
)

func lifecycleBody(body string) func(o *audit.Observation) {
	return func(o *audit.Observation) { o.Bucket.Lifecycle = audit.Is(audit.Document{Body: []byte(body)}) }
}

var lifecycleUnseenSuite = suite{cases: cases{
	"it is no lifecycle configuration": {is: "speaks", seen: lifecycleBody("<html>maintenance</html>"), want: []string{"unknown: the bucket's lifecycle configuration cannot be understood"},
		says: []string{"aws s3api get-bucket-lifecycle-configuration --bucket kops"}},
	"it is cut short": {is: "speaks", seen: lifecycleBody("<LifecycleConfiguration><Rule>"), want: []string{"unknown: cannot be understood"}},
	"it is empty":     {is: "speaks", seen: lifecycleBody(""), want: []string{"unknown: cannot be understood"}},

	"a rule holds what no S3 documents": {is: "speaks", seen: lifecycleRules("<Rule><ID>odd</ID><Status>Enabled</Status><Filter/><Evaporation><Days>1</Days></Evaporation></Rule>"),
		want: []string{`unknown: rule "odd" holds Evaporation`}},
	"a rule has a status that is none": {is: "speaks", seen: lifecycleRules("<Rule><ID>odd</ID><Status>On</Status><Filter/><Expiration><Days>1</Days></Expiration></Rule>"),
		want: []string{`unknown: rule 1 has the status "On"`}},
	"the configuration holds what no S3 documents": {is: "speaks", seen: lifecycleRules("<Evaporation/>" + expireAll(90)), want: []string{"unknown: the configuration holds Evaporation"}},
	"no rules at all, which no S3 says":            {is: "boundary", seen: lifecycleBody("<LifecycleConfiguration></LifecycleConfiguration>"), want: []string{"unknown: cannot be understood (it has no rule"}},
	"the same as AWS's JSON":                       {is: "boundary", seen: lifecycleBody(`{"Rules":[]}`), want: []string{"unknown: cannot be understood (it has no rule"}},

	"a rule that is switched off may hold anything": {is: "boundary", seen: lifecycleRules("<Rule><ID>odd</ID><Status>Disabled</Status><Filter/><Evaporation><Days>1</Days></Evaporation></Rule>")},
	"one that is not, after it, may not": {is: "boundary", seen: lifecycleRules("<Rule><ID>off</ID><Status>Disabled</Status><Filter/><Evaporation/></Rule><Rule><ID>on</ID><Status>Enabled</Status><Filter/><Evaporation/></Rule>"),
		want: []string{`unknown: rule "on" holds Evaporation`}},
	"names of the older API are known": {is: "boundary", seen: lifecycleBody(`{"Rules":[{"ID":"old","Status":"Enabled","Prefix":"","Transition":{"Days":30,"StorageClass":"GLACIER"}}]}`)},
	"there are none":                   {is: "silent"},
	"they delete everything":           {is: "silent", seen: lifecycleRules(expireAll(90))},

	"they were refused to us": {is: "blind", seen: unseen(audit.FactLifecycle),
		want: []string{"unknown: the bucket's lifecycle rules could not be seen: get s3://kops/x: access denied"}, says: []string{"Allow s3:GetLifecycleConfiguration", "unseen: lifecycle"}},
	"the provider cannot tell": {is: "blind", seen: func(o *audit.Observation) {
		o.Bucket.Lifecycle = audit.Unknown[audit.Document](audit.Why{Cause: audit.CauseUnsupported, Reason: "get the lifecycle of s3://kops: the provider does not support this call (HTTP 501)"})
	}, want: []string{"unknown: the provider does not support this call"}, says: []string{"The provider cannot tell"}},
}}

func TestLifecycleUnseen(t *testing.T) { lifecycleUnseenSuite.cases.run(t, lifecycleUnseen) }

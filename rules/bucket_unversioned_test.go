package rules

import (
	"testing"

	"backstop/audit"
)

var bucketUnversionedSuite = suite{cases: cases{
	"never enabled": {is: "speaks", seen: unversioned, want: []string{"warning: versioning of the bucket was never enabled: a control file that is deleted or overwritten is gone for good"}, says: []string{"Enable versioning"}},

	"suspended counts as off": {is: "boundary", seen: suspended, want: []string{"warning: versioning of the bucket is suspended: what was written since then is gone for good"}},

	"enabled": {is: "silent"},

	"refused to us": {is: "blind", seen: unseen(audit.FactVersioning), want: []string{"unknown: whether the bucket keeps old versions could not be seen: get s3://kops/x: access denied"},
		says: []string{"Allow s3:GetBucketVersioning", "unseen: versioning"}},
	"not looked at": {is: "blind", seen: func(o *audit.Observation) { o.Bucket = audit.Bucket{} }, want: []string{"unknown: it was not looked at"}},
}}

func TestBucketUnversioned(t *testing.T) { bucketUnversionedSuite.cases.run(t, bucketUnversioned) }

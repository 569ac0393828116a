package rules

import (
	"time"

	"backstop/audit"
)

var bucketUnversioned = audit.Rule{
	ID:         "bucket/unversioned",
	Title:      "the bucket keeps no old versions: a deletion is final",
	Severities: []audit.Severity{audit.Unsure, audit.Warning},
	Scope:      "bucket",
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		v := o.Bucket.Versioning
		if why, not := o.Unseen(audit.FactVersioning); not {
			return []audit.Finding{audit.Found(audit.Unsure, "whether the bucket keeps old versions could not be seen: %s", why.Reason).
				Saw("unseen: "+string(audit.FactVersioning), "an answer").Todo(remedy(why))}
		}
		state, lost := "was never enabled", "a control file that is deleted or overwritten is gone for good"
		switch {
		case v.IsSet() && v.Value == "Enabled":
			return nil
		case v.IsSet():
			state, lost = "is suspended", "what was written since then is gone for good when it is deleted or overwritten"
		}
		return []audit.Finding{audit.Found(audit.Warning,
			"versioning of the bucket %s: %s", state, lost).
			Saw("versioning "+state, "versioning enabled").
			Todo("Enable versioning. Existing expiration rules then hide objects instead of destroying them; add a rule that removes noncurrent versions, after 30 days or more, or storage grows for ever.",
				"etcd-manager's own cleanup deletes all versions of old snapshots, so versioning does not make those pile up where it has s3:ListBucketVersions and s3:DeleteObjectVersion.")}
	},
}

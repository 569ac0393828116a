package rules

import (
	"strings"
	"time"

	"backstop/audit"
)

// leftOver is the age from which an unfinished upload counts as left behind.
var leftOver = 24 * time.Hour

var bucketHygiene = audit.Rule{
	ID:         "bucket/hygiene",
	Title:      "the bucket could be kept better",
	Severities: onlyInfo,
	Scope:      "bucket",
	Needs:      []audit.FactName{audit.FactVersioning, audit.FactObjectLock, audit.FactPublicAccessBlock, audit.FactEncryption, audit.FactUploads},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		b := o.Bucket
		var is, do []string
		add := func(what, remedy string) { is, do = append(is, what), append(do, remedy) }
		versioned := b.Versioning.IsSet() && b.Versioning.Value == "Enabled"
		switch {
		case b.MFADelete:
			add("MFA delete is on, so etcd-manager's cleanup can delete nothing",
				"Switch MFA delete off, and put a legal hold on the version of each etcd-cluster-created instead, which is written once.")
		case versioned && b.ObjectLock.State == audit.Unset:
			add("neither Object Lock nor MFA delete is on, so whoever may delete versions can delete everything for good",
				"Enable Object Lock without a default retention, which would lock etcd-manager's cleanup out, and put a legal hold on the version of each etcd-cluster-created, which is written once.")
		}
		if open := openTo(b.PublicAccessBlock); len(open) > 0 {
			add("public access is not blocked on the bucket itself ("+strings.Join(open, ", ")+")", "Block public access: all four settings; nothing in kops needs it open.")
		}
		if b.Encryption.State == audit.Unset {
			add("there is no default encryption", "Set a default encryption. etcd-manager asks for AES256 where there is none.")
		}
		if u := b.Uploads.Value; b.Uploads.IsSet() && u.Count > 0 && now.Sub(u.Oldest) > leftOver {
			count := plural(u.Count, "multipart upload")
			if u.More {
				count = "over " + count
			}
			add(count+" begun and never finished, the oldest "+stamp(u.Oldest), "Add a lifecycle rule with AbortIncompleteMultipartUpload alone; it touches no finished object. etcd-manager makes no such uploads, so something else writes here.")
		}
		if len(is) == 0 {
			return nil
		}
		return []audit.Finding{audit.Found(audit.Info, "the bucket could be kept better: %s", strings.Join(is, "; ")).
			Saw(strings.Join(is, "; "), "Object Lock without default retention, public access blocked, default encryption, no uploads left behind").
			Todo(do...)}
	},
}

// openTo names the settings of a public access block that are off.
func openTo(f audit.Fact[audit.PublicAccessBlock]) []string {
	if !f.Seen() {
		return nil
	}
	var open []string
	for _, s := range []struct {
		name string
		on   bool
	}{
		{"BlockPublicAcls", f.Value.BlockPublicACLs}, {"IgnorePublicAcls", f.Value.IgnorePublicACLs},
		{"BlockPublicPolicy", f.Value.BlockPublicPolicy}, {"RestrictPublicBuckets", f.Value.RestrictPublicBuckets},
	} {
		if !s.on {
			open = append(open, s.name)
		}
	}
	return open
}

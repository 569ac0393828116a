package store

import (
	"time"

	"backstop/audit"
)

// What the documents of a bucket mean, wherever they were read. An answer that
// says nothing is foreign: servers that do not know a call give one.

// longestLock is what S3 allows, and keeps the sum below from running over.
const longestLock = 36500

func versioningOf(status, mfaDelete string) (Versioning, error) {
	switch status {
	case "", "Enabled", "Suspended":
		return Versioning{Status: status, MFADelete: mfaDelete == "Enabled"}, nil
	}
	return Versioning{}, faultf(audit.CauseForeign, "the status %q is unknown", status)
}

func objectLockOf(enabled, mode string, days, years int32) (audit.ObjectLock, error) {
	switch {
	case enabled != "Enabled":
		return audit.ObjectLock{}, faultf(audit.CauseForeign, "it says that Object Lock is %q, and not that it is enabled", enabled)
	case mode == "" && days == 0 && years == 0:
		return audit.ObjectLock{}, nil
	case mode != "GOVERNANCE" && mode != "COMPLIANCE":
		return audit.ObjectLock{}, faultf(audit.CauseForeign, "the retention mode %q is unknown", mode)
	case days < 0 || years < 0 || (days == 0) == (years == 0) || days > longestLock || years > longestLock/365:
		return audit.ObjectLock{}, faultf(audit.CauseForeign, "a retention of %d days and %d years", days, years)
	}
	return audit.ObjectLock{Mode: mode, Retention: time.Duration(days+365*years) * audit.Day}, nil
}

func publicAccessBlockOf(blockACLs, ignoreACLs, blockPolicy, restrict *bool) (audit.PublicAccessBlock, error) {
	if blockACLs == nil && ignoreACLs == nil && blockPolicy == nil && restrict == nil {
		return audit.PublicAccessBlock{}, faultf(audit.CauseForeign, "none of its four settings is in it")
	}
	is := func(b *bool) bool { return b != nil && *b }
	return audit.PublicAccessBlock{
		BlockPublicACLs: is(blockACLs), IgnorePublicACLs: is(ignoreACLs), BlockPublicPolicy: is(blockPolicy), RestrictPublicBuckets: is(restrict),
	}, nil
}

func policyStatusOf(public *bool) (bool, error) {
	if public == nil {
		return false, faultf(audit.CauseForeign, "it does not say whether the policy is public")
	}
	return *public, nil
}

// encryptionOf takes the algorithms of all rules, of which S3 allows one.
func encryptionOf(algorithms []string) (string, error) {
	if len(algorithms) == 0 || algorithms[0] == "" {
		return "", faultf(audit.CauseForeign, "no rule in it names an algorithm")
	}
	return algorithms[0], nil
}

// countUpload adds an unfinished upload.
func countUpload(u *audit.Uploads, begun time.Time) {
	if u.Count++; u.Count == 1 || begun.Before(u.Oldest) {
		u.Oldest = begun.UTC()
	}
}

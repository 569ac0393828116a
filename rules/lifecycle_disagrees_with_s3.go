package rules

import (
	"fmt"
	"time"

	"backstop/audit"
	"backstop/rules/forecast"
	"backstop/rules/lifecycle"
)

// headerTolerance is by how much S3's date may differ from ours: of an age that
// runs out exactly at midnight there are two readings, a day apart.
var headerTolerance = audit.Day

var lifecycleDisagreesWithS3 = audit.Rule{
	ID:         "lifecycle/disagrees-with-s3",
	Title:      "S3 announces another date than the lifecycle rules give",
	Severities: onlyWarning,
	Needs:      []audit.FactName{audit.FactLifecycle, audit.FactVersioning, audit.FactCreated, audit.FactSpec, audit.FactNewestMeta, audit.FactTags},
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		// Ceph's header is wrong in versioned buckets: it speaks of rules for
		// noncurrent versions there (measured on RGW 16.2.15).
		config, err := forecast.ConfigurationOf(o)
		if err != nil || !o.Bucket.Lifecycle.Seen() || o.Store.Endpoint != "" && o.Bucket.Versioning.State != audit.Unset {
			return nil
		}
		var f audit.Finding
		for _, doc := range []audit.Fact[audit.Document]{o.Created, o.Spec, o.NewestMeta} {
			words, ok := announcement(o, config, doc, now)
			switch {
			case !ok:
			case f.Message == "":
				f = audit.Found(audit.Warning, "S3 itself announces that %s. What this report foretells may be wrong, in either direction", words).
					About(doc.Value.Key).
					Saw("x-amz-expiration: "+doc.Value.Expiration, "the date that the rules give, to a day")
			default:
				f = f.Because("%s: S3 announces that %s", doc.Value.Key, words)
			}
		}
		if f.Message == "" {
			return nil
		}
		return []audit.Finding{f.Todo(
			"If the rules were changed within the last day, look again tomorrow: S3 takes minutes to hours to agree with itself.",
			"Else act on the earlier of the two dates, and report it with `backstop audit --record seen.json`: either backstop reads the rules wrongly, or this server does not carry them out as AWS does.")}
	},
}

// announcement says how S3's word on an object differs from what its rules give.
// That there is no word proves nothing: S3 leaves it out of many answers.
func announcement(o *audit.Observation, config lifecycle.Configuration, doc audit.Fact[audit.Document], now time.Time) (string, bool) {
	told, toldRule, announced := lifecycle.ParseExpirationHeader(doc.Value.Expiration)
	if !doc.IsSet() || !announced {
		return "", false
	}
	v := forecast.VersionOf(doc.Value)
	ours, rule, expires := config.ExpirationHeader(forecast.BucketOf(o), v)
	switch {
	case undecided(config, v):
		return "", false
	case !expires:
		return fmt.Sprintf("rule %q expires this object on %s, and no rule that was seen does", toldRule, stamp(told)), true
	case told.Sub(ours).Abs() <= headerTolerance, !told.After(now) && !ours.After(now):
		return "", false
	}
	return fmt.Sprintf("rule %q expires this object on %s, and by the rules that were seen it is rule %q on %s", toldRule, stamp(told), rule, stamp(ours)), true
}

// undecided reports whether some rule may match or not, as of tags that were not
// read.
func undecided(c lifecycle.Configuration, v lifecycle.Version) bool {
	for _, r := range c.Rules {
		if r.Enabled() && r.Expiration != nil && r.Matches(v) == lifecycle.Unknown {
			return true
		}
	}
	return false
}

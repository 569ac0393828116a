package rules

import (
	"strings"
	"time"

	"backstop/audit"
	"backstop/store/etcdmanager"
)

var controlUnseen = audit.Rule{
	ID:         "control/unseen",
	Title:      "the listing, a control file or the queue could not be read",
	Severities: onlyUnknown,
	Check: func(o *audit.Observation, p audit.Policy, now time.Time) []audit.Finding {
		var found []audit.Finding
		// Several facts that failed for one reason are one finding.
		byReason := map[string]int{}
		for _, fact := range []audit.FactName{audit.FactListing, audit.FactCreated, audit.FactSpec, audit.FactQueue, audit.FactControlVersions} {
			why, not := o.Unseen(fact)
			if !not || fact == audit.FactControlVersions && !bornOrLost(o, now) {
				continue
			}
			if i, ok := byReason[why.String()]; ok {
				found[i].Observed += ", " + string(fact)
				continue
			}
			byReason[why.String()] = len(found)
			f := audit.Found(audit.Unsure, "%s could not be seen: %s", fact, why.Reason).
				Saw("unseen: "+string(fact), "an answer").
				Todo(remedy(why))
			f.Event = string(fact)
			if fact == audit.FactSpec && o.Created.State == audit.Unset && evidence(o, now) == etcdmanager.EvidenceFound {
				f.Message = "etcd-cluster-created is missing, so this store is armed or about to be reset, and which of the two was not seen: " + why.Reason
				f = f.Because("either way etcd-cluster-created goes back FIRST; `backstop explain control/reset-armed` has the order")
			}
			found = append(found, f.Because("%s", untellable[fact]))
		}
		return found
	},
}

// bornOrLost reports whether only the old versions of the control files could
// tell a cluster that is being born from one that is about to be reset.
func bornOrLost(o *audit.Observation, now time.Time) bool {
	return o.Created.State == audit.Unset && o.Listing.IsSet() && len(o.Listing.Value.Snapshots) == 0
}

// untellable says what cannot be told apart without a fact.
var untellable = map[audit.FactName]string{
	audit.FactListing:         "without a complete listing nobody can tell whether snapshots exist, how old they are, and whether a command is queued",
	audit.FactCreated:         "without etcd-cluster-created nobody can tell a running cluster from one that is armed, or about to be reset",
	audit.FactSpec:            "without etcd-cluster-spec nobody can tell an armed store from one that is about to be reset, nor a running from a stuck one",
	audit.FactQueue:           "without the queue nobody can tell whether the next restart of the leader restores an old backup",
	audit.FactControlVersions: "without the old versions nobody can tell a cluster that is being born from one that lost its files",
}

// remedy says what would let a fact be seen.
func remedy(w audit.Why) string {
	switch w.Cause {
	case audit.CauseDenied:
		if strings.HasPrefix(w.Permission, "kms:") {
			return "Allow " + w.Permission + " on the key that the object is encrypted with to the identity that backstop runs as."
		}
		return "Allow " + w.Permission + " to the identity that backstop runs as (deploy/iam-policy.json has all that it needs)."
	case audit.CauseCredentials:
		return "Give backstop valid credentials: AWS_PROFILE, AWS_ACCESS_KEY_ID, a role, or --profile."
	case audit.CauseThrottled, audit.CauseServer, audit.CauseTimeout:
		return "Run it again; if it persists, raise --timeout, or look at the provider's status."
	case audit.CauseUnreachable:
		return "Check the network, the proxy and --endpoint-url."
	case audit.CauseUnsupported:
		return "The provider cannot tell. Look in its console, and see docs/providers.md."
	case audit.CauseNotRecorded:
		return "Audit the bucket itself, or put what it says into a bucket.json beside the copy (docs/directories.md)."
	case audit.CauseForeign, audit.CauseMalformed:
		return "The server or a proxy before it does not answer as S3 does; see docs/providers.md."
	case audit.CauseRedirect:
		return "Give the bucket's region with --region."
	case audit.CauseNoBucket:
		return "Check the bucket's name and --endpoint-url."
	}
	return "See the reason, and run backstop again."
}

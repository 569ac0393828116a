package store

import (
	"errors"
	"strings"

	"backstop/audit"
)

// Problem says in a line why a place could not be looked at, and what to do.
func Problem(url string, err error) audit.Problem {
	// What is no Error is about the SDK's configuration, as a profile that does
	// not exist.
	pr := audit.Problem{Target: url, Cause: audit.CauseCredentials, Message: err.Error()}
	var e *Error
	if errors.As(err, &e) {
		pr.Cause = e.Cause
	}
	switch {
	case !strings.HasPrefix(url, "s3://"):
	case pr.Cause == audit.CauseNoBucket:
		pr.Do = "Check the name, and --endpoint-url if the bucket is not on AWS."
	case pr.Cause == audit.CauseCredentials:
		pr.Do = "Give backstop valid credentials: AWS_PROFILE or --profile, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role; `aws sts get-caller-identity` shows whether they work."
	}
	return pr
}

// unreadCluster is the problem of a cluster of which kops's own word could not be
// read: where its stores are, and whether they were looked at, nobody knows.
func unreadCluster(p Place, c cluster) audit.Problem {
	do := "See the reason. The cluster's stores that were found by their layout are in the report; others may be missing."
	if c.why.Permission != "" {
		do = "Allow " + c.why.Permission + " on " + p.Bucket.URL(c.folder) + "/ to the identity that backstop runs as, or name the cluster's stores in the configuration."
	}
	return audit.Problem{Target: p.Bucket.URL(c.folder), Cause: c.why.Cause, Do: do,
		Message: "kops's documents of the cluster " + c.Name + " could not be read, so that stores which it keeps elsewhere were not looked at: " + c.why.Reason}
}

func noStore(p Place) audit.Problem {
	return audit.Problem{Target: p.URL, Cause: audit.CauseNoStore,
		Message: "there is no etcd-manager backup store below " + p.URL + ": no control/etcd-cluster-created, control/etcd-cluster-spec, and no dated snapshot",
		Do:      "Check the bucket and the prefix; kops keeps stores at s3://STATE-STORE/CLUSTER/backups/etcd/NAME unless backupStore in `kops get cluster -o yaml` says otherwise."}
}

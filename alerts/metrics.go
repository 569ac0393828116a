package alerts

import "strings"

// Prefix begins the name of every metric.
const Prefix = "backstop_"

// A Kind is what Prometheus calls the type of a metric.
type Kind string

// The kinds in use. Everything that a single audit tells is a gauge; what a
// process adds up is a counter.
const (
	Gauge   Kind = "gauge"
	Counter Kind = "counter"
)

// A Metric is one line of the table of metrics.
type Metric struct {
	Name   string
	Kind   Kind
	Labels []string // besides those of the store, where it is of one
	// OfStore says that it has the labels store, cluster and etcd.
	OfStore bool
	Help    string
}

// The labels. Their values are bounded: by the stores that are audited, the
// configuration, and the program. No name of a snapshot and no prose is among
// them.
const (
	LabelStore    = "store"    // as reports name it; with its endpoint, where that is not AWS's
	LabelCluster  = "cluster"  // the cluster, by kops's layout or kops's word
	LabelEtcd     = "etcd"     // main, events, …
	LabelState    = "state"    // of a state-set: 1 for the one that is, 0 for the others
	LabelRule     = "rule"     // group/what-is-wrong
	LabelSeverity = "severity" // critical, unknown, warning, info
	LabelFact     = "fact"     // as audit.Facts names them
	LabelFile     = "file"     // etcd-cluster-created, etcd-cluster-spec
	LabelCause    = "cause"    // why a request or a place failed, in one word
)

// storeLabels are the labels of whatever belongs to one store.
var storeLabels = []string{LabelStore, LabelCluster, LabelEtcd}

// Names of metrics that the alerting rules, the dashboard and the collector
// share.
const (
	NameBuild           = Prefix + "build_info"
	NameRun             = Prefix + "last_run_timestamp_seconds"
	NameStores          = Prefix + "stores"
	NameUnaudited       = Prefix + "place_unaudited"
	NameReload          = Prefix + "config_last_reload_successful"
	NameReloadTime      = Prefix + "config_last_reload_success_timestamp_seconds"
	NameStoreInfo       = Prefix + "store_info"
	NameAudit           = Prefix + "last_audit_timestamp_seconds"
	NameProbe           = Prefix + "last_probe_timestamp_seconds"
	NameProbeOK         = Prefix + "probe_success"
	NameDuration        = Prefix + "audit_duration_seconds"
	NameVerdict         = Prefix + "verdict"
	NameReset           = Prefix + "reset_state"
	NamePending         = Prefix + "restore_pending"
	NameFindings        = Prefix + "findings"
	NameUnseen          = Prefix + "fact_unseen"
	NameControlPresent  = Prefix + "control_file_present"
	NameControlModified = Prefix + "control_file_last_modified_timestamp_seconds"
	NameControlExpiry   = Prefix + "control_file_expiry_timestamp_seconds"
	NameSnapshots       = Prefix + "snapshots"
	NameIncomplete      = Prefix + "snapshots_incomplete"
	NameBytes           = Prefix + "snapshot_bytes"
	NameNewest          = Prefix + "newest_snapshot_timestamp_seconds"
	NameOldest          = Prefix + "oldest_snapshot_timestamp_seconds"
	NameInterval        = Prefix + "expected_snapshot_interval_seconds"
	NameAuditRequests   = Prefix + "audit_s3_requests"
	NameAuditErrors     = Prefix + "audit_s3_errors"
	NameRequests        = Prefix + "s3_requests_total"
	NameErrors          = Prefix + "s3_errors_total"
	NameReceived        = Prefix + "s3_received_bytes_total"
	NameNotifications   = Prefix + "notifications_total"
)

// Metrics are all metrics, in the order of docs/metrics.md.
var Metrics = []Metric{
	{NameBuild, Gauge, []string{"version", "revision", "goversion"}, false,
		"1, labelled with what was built."},
	{NameRun, Gauge, nil, false,
		"When an audit last ended, of any store. 0 before the first."},
	{NameStores, Gauge, nil, false,
		"Stores that are known."},
	{NameUnaudited, Gauge, []string{LabelStore, LabelCause}, false,
		"1 for a place, named in the label store, that was to be audited and gave no store to report on."},
	{NameRequests, Counter, []string{"operation"}, false,
		"Requests to S3, retries included, by S3's name of the operation."},
	{NameErrors, Counter, []string{LabelCause}, false,
		"Requests to S3 that failed, retries included. That something does not exist is no failure."},
	{NameReceived, Counter, nil, false,
		"Bytes of response bodies that S3 sent."},
	{NameNotifications, Counter, []string{"channel", "outcome"}, false,
		"Notifications by the channel's name and their outcome, which is sent or failed."},
	{NameReload, Gauge, nil, false,
		"1 if the configuration that serve last read is in force, 0 if it has a mistake and the one before is. serve alone has it."},
	{NameReloadTime, Gauge, nil, false,
		"When serve read the configuration that is in force."},

	{NameStoreInfo, Gauge, []string{"bucket", "prefix", "role"}, true,
		"1 for each store, labelled with where it is and what it is for: live, replica or archive."},
	{NameAudit, Gauge, nil, true,
		"When the last look at the store ended, by the auditor's clock. 0 for a store that was never audited, which has no other metrics."},
	{NameProbe, Gauge, nil, true,
		"When serve last had an answer to whether the control files are as they were. 0 before the first, and no series where it does not probe."},
	{NameProbeOK, Gauge, nil, true,
		"1 if the last probe of the control files had an answer, 0 if it had none."},
	{NameDuration, Gauge, nil, true,
		"How long the last look at the store took."},
	{NameVerdict, Gauge, []string{LabelState}, true,
		"1 for the verdict of the last audit, ok, warning, unknown or critical, and 0 for the others."},
	{NameReset, Gauge, []string{LabelState}, true,
		"1 for the state of the store, and 0 for the others: what etcd-manager does with it next."},
	{NamePending, Gauge, nil, true,
		"1 if a restore command is queued, which runs when the leader next restarts. NaN if the queue was not seen."},
	{NameFindings, Gauge, []string{LabelRule, LabelSeverity}, true,
		"Findings of the last audit. One that went away has no series. What concerns a whole bucket stands once, under the bucket: store=\"s3://BUCKET\", with cluster and etcd empty."},
	{NameUnseen, Gauge, []string{LabelFact}, true,
		"1 if the last audit could not see the fact. Necessary facts are always there, others only when they were not seen."},
	{NameControlPresent, Gauge, []string{LabelFile}, true,
		"1 if the control file is there, 0 if it is missing, NaN if that was not seen."},
	{NameControlModified, Gauge, []string{LabelFile}, true,
		"When the control file was written, by S3's clock. NaN if it is missing or was not seen."},
	{NameControlExpiry, Gauge, []string{LabelFile}, true,
		"When the bucket's lifecycle rules take the control file away from etcd-manager, be it overdue. +Inf if they never do; NaN if it is missing, or that was not seen, as " + NameUnseen + " then says."},
	{NameSnapshots, Gauge, nil, true,
		"Complete snapshots. NaN if the listing was not seen."},
	{NameIncomplete, Gauge, nil, true,
		"Snapshots that lack their data or their meta file, one that is being uploaded among them. NaN if the listing was not seen."},
	{NameBytes, Gauge, nil, true,
		"Size of the data of the complete snapshots, as it lies in the store. NaN if the listing was not seen."},
	{NameNewest, Gauge, nil, true,
		"When the newest complete snapshot was written. 0 if there is none, NaN if the listing was not seen."},
	{NameOldest, Gauge, nil, true,
		"When the oldest complete snapshot was written. 0 if there is none, NaN if the listing was not seen."},
	{NameInterval, Gauge, nil, true,
		"How often a backup is expected."},
	{NameAuditRequests, Gauge, nil, true,
		"Requests to S3 in the last audit of the store, retries included. The bucket's own count for the store that was looked at first."},
	{NameAuditErrors, Gauge, nil, true,
		"Requests of " + NameAuditRequests + " that failed because S3 or the way to it did: throttled, server-error, timeout, unreachable, malformed. Refusals are not among them."},
}

// Named gives a metric of the table. It panics for a name that is not in it.
func Named(name string) Metric {
	for _, m := range Metrics {
		if m.Name == name {
			return m
		}
	}
	panic("alerts: there is no metric " + name)
}

// AllLabels are the metric's labels, those of its store first.
func (m Metric) AllLabels() []string {
	if !m.OfStore {
		return m.Labels
	}
	return append(storeLabels[:len(storeLabels):len(storeLabels)], m.Labels...)
}

// Table writes the metrics as a table in Markdown.
func Table(of []Metric) string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | says |\n|---|---|---|---|\n")
	for _, m := range of {
		labels := "none"
		if all := m.AllLabels(); len(all) > 0 {
			labels = "`" + strings.Join(all, "`, `") + "`"
		}
		b.WriteString("| `" + m.Name + "` | " + string(m.Kind) + " | " + labels + " | " + m.Help + " |\n")
	}
	return b.String()
}

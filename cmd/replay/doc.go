// Command replay lives through months of a fleet of kops clusters in memory, audits
// it every quarter of an hour with the true rules, and counts what was said wrongly
// and what was missed.
//
// What it simulates (S3's buckets and lifecycle runs, etcd-manager, kops, and the
// people who use them) is written a second time here, slow and simple, and calls
// nothing of what it judges: neither etcd-manager's model nor the lifecycle
// evaluator. What is seen of it goes through store.Survey and audit.Judge.
//
// docs/reliability.md describes the scenarios and what came of them.
package main

// Package ledger remembers what earlier runs saw of backup stores, and what they
// found in snapshots: by object, version id and ETag.
//
// Losing a ledger loses no truth, only memory: every run judges what is there. So
// nothing is ever decided by it alone, and it may be deleted at any time.
//
// It is a file of bbolt, which is opened for each reading and each writing and not
// held between them: several auditors may use one at a time, and each waits for
// the other for a moment. bbolt writes a transaction whole or not at all, so that a
// program that is killed leaves it as it was before or after.
package ledger

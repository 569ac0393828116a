// Package storetest holds what a store.Bucket is tested with, and what
// `backstop demo` runs on: [Fake], an S3 in memory that can be made to fail in
// every way in which a real one does, and [Contract], the promises of a Bucket
// as a test suite.
//
// Package rgwtest below it runs a real Ceph object gateway.
package storetest

// Package store looks into object storage and writes down what it sees. It is
// the only package that knows S3.
//
// A [Bucket] is a read-only view of a bucket: [S3] over the network, [Dir] over
// a directory. [Discover] finds the backup stores in it, and [Observe] looks at
// one and gives an audit.Observation. What a store refuses to tell becomes an
// unseen fact with its reason, never an empty one.
package store

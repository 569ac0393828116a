// Command snapshots measures `backstop verify` beside what one would do without it:
// `gunzip | sha256sum`, and `gunzip` into a file on which `etcdutl snapshot status`
// is run. The snapshots are made once, by a real etcd 3.6 that is filled as
// Kubernetes fills it, and kept in bin/bench. `make bench` runs it.
package main

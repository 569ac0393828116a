// Package drill restores a snapshot for trial: with etcd's own tool into a scratch
// directory, and with a real etcd server that is then asked what it holds. What it
// says is compared with what [backstop/store/snapshot] found in the snapshot.
//
// The server listens on sockets in the scratch directory, which nobody but its
// owner can open, and on no port: what it holds are the cluster's secrets. The
// directory and the processes are gone when [Run] returns, however it returns. If
// this process is killed, the kernel ends the processes with it (on Linux); the
// directory then stays.
package drill

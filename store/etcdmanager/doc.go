// Package etcdmanager is what backstop knows of etcd-manager: how it lays a
// backup store out ([Layout] of keys and names), how strictly it reads the
// documents in it, and what it does next ([Next], [Classify]).
//
// The facts come from kubernetes-sigs/etcd-manager at ad35ed6691d8 (2026-07-08,
// v3.0.20260707), read in its source and observed on the running program. The
// package imports nothing but the standard library.
package etcdmanager

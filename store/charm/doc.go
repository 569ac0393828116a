// Package charm knows what Juju's etcd charm (layer-etcd) and the charmed-etcd
// operator leave behind: the names and layouts of their snapshots, the
// configuration that the charm and its snap write, where etcd's data lies, and the
// bundle that deploy/charm/collect.sh makes of a unit.
//
// The facts are from the sources of charmed-kubernetes/layer-etcd (233f62a) and
// juju-solutions/etcd-snaps, and of canonical/charmed-etcd-operator. What etcd does
// with such a configuration was tried with real servers; the tests of
// cmd/backstop/preflight try it again.
//
// It reads streams and values, and does no I/O of its own.
package charm

// Package preflight judges whether Juju's etcd charm can be upgraded, and what etcd
// will do when it next starts, from a unit's configuration, its data directories and
// its snapshots. It is pure: what it needs to know is in an [Input].
//
// Each predicate has an id (CH1, SN4, …), a title, and what to do where it holds.
// [Judge] puts what they find together: NOT SAFE where one of those holds that an
// upgrade must not meet, CANNOT TELL where something was not seen, else SAFE.
package preflight

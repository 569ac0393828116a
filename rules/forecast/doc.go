// Package forecast foresees what becomes of a backup store if nobody touches it.
//
// Three things act on a store. The bucket's lifecycle rules delete, hide and
// archive its objects ([backstop/rules/lifecycle]). etcd-manager's own retention
// thins its snapshots, and only while backups run
// ([backstop/store/etcdmanager.Thin]). And etcd-manager reacts to what is left of
// its two control files ([backstop/store/etcdmanager.Next]): it goes on, stops
// backing up, or makes a new, empty cluster. [Of] lets them act on one another
// and gives a [Timeline]: dated events, the state after each, and what can still
// be restored then.
//
// # What a date promises
//
// [Event.At] is the first instant at which something can happen. S3 runs
// lifecycle rules late, by hours or days, and gives no bound. [Event.Late] is the
// date with an hour's lag at each stage, where that is another one.
//
// # What is not seen
//
// A fact that was not seen is a [Gap] with what the timeline therefore cannot
// tell. What it had to take for granted is in [Timeline.Assumes]. Where there are
// two readings, the one that does more harm or acts earlier is told.
//
// The package does no input or output, and reads no clock.
package forecast

// Package audit is the vocabulary of backstop. Three words carry it: an
// [Observation] is what was seen in a backup store, a [Policy] is what its owner
// expects of it, and a [Finding] is where the two differ. [Judge] brings them
// together with a set of [Rule]s and a time, and gives a [StoreReport].
//
// The package does no I/O and reads no clock, so an Observation that was saved
// can be judged again elsewhere, or as of another time, with the same result.
// It imports nothing but the standard library; see docs/architecture.md for who
// may import whom.
package audit

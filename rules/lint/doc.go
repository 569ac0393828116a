// Package lint judges infrastructure code before it is applied: what a proposed
// lifecycle configuration would do to backup stores, and what a plan would do to
// their control files. It is pure: what the code says comes from package infra,
// what the stores hold from an [audit.Observation], and a store that nobody may
// look at is represented by its prefix.
//
// Each rule is a value in [All], with its runbook page beside it. Ids follow
// the names that package lifecycle gives to its warnings.
//
// # How sure a finding is
//
// CRITICAL is what will happen. What only may happen, because a value is known
// only when the code is applied, or because the store was not seen, is UNKNOWN:
// it cannot be proven safe. Where the code branches on a condition, CRITICAL is
// what happens whichever way it goes.
package lint

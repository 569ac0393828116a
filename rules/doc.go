// Package rules holds every rule, one to a file: the rule's literal and its
// Check in group_id.go, its runbook page in group_id.md, its tests in
// group_id_test.go. A rule is a pure function of an observation, a policy and a
// time; what it needs to know belongs in the observation.
//
// To add a rule, write the three files with one stem, add the rule to [All] and
// its cases to allCases in cases_test.go, and run `go test ./... -update`. The
// tests name whatever was forgotten.
package rules

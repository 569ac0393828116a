package main

import (
	"strings"

	"backstop/audit"
	"backstop/audit/report"
	"backstop/rules"
	"backstop/rules/recovery"
	"backstop/store/etcdmanager"
)

// detailOf is what the page draws of a store. p is the policy that it was judged by.
func detailOf(o *audit.Observation, p audit.Policy, r audit.StoreReport, proofs map[string]report.Proof) report.Detail {
	var steps []recovery.Step
	if r.Role == "" { // in a replica or an archive there is nothing to repair
		steps = recovery.Repair(o, etcdmanager.State(r.State.Name))
	}
	return report.NewDetail(o, r.Judged, rules.Forecast(o, p, r.Judged, 0, nil), steps, proofs)
}

// isHTML reports whether an --output is the page.
func isHTML(output string) bool {
	name, _, _ := strings.Cut(output, "=")
	return name == "html"
}

// details collects what is drawn, by the store's ID.
type details struct {
	byStore map[string]report.Detail
	proofs  map[string]report.Proof
}

// newDetails begins, with what these files of `backstop verify` prove.
func newDetails(verified []string) (*details, error) {
	proofs, err := readProofs(verified)
	return &details{map[string]report.Detail{}, proofs}, err
}

// keep implements judge.each.
func (d *details) keep(s sight, r audit.StoreReport) {
	d.byStore[r.Store.ID()] = detailOf(s.Observation, s.Policy, r, d.proofs)
}

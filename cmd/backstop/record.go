package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"backstop/audit"
	"backstop/rules/lint"
)

// A recording is what --record writes and --replay reads: observations as they
// were made, to be judged elsewhere or as of another time. It holds the control
// files' contents and object names, and no credentials.
type recording struct {
	Schema   int             `json:"schema"`
	Sights   []sight         `json:"stores"`
	Problems []audit.Problem `json:"problems,omitempty"`
	// Places are those of which everything was listed.
	Places []lint.Place `json:"places,omitempty"`
}

// A recorder keeps what its viewer is shown.
type recorder struct {
	viewer
	sights []sight
}

func (r *recorder) expect(policies []audit.Policy) {
	r.sights = make([]sight, len(policies))
	r.viewer.expect(policies)
}

func (r *recorder) show(i int, s sight) {
	r.sights[i] = s
	r.viewer.show(i, s)
}

// replay shows what was recorded.
func (p *program) replay(args []string, o *options, v viewer) ([]audit.Problem, error) {
	if len(args) > 0 {
		return nil, usagef("--replay judges what was recorded; give no STORE with it")
	}
	sights, problems, places, err := readRecording(o.replay)
	if err != nil {
		return nil, err
	}
	if !o.charm { // other commands are about etcd-manager's
		sights = slices.DeleteFunc(sights, func(s sight) bool { return s.Observation.Store.Layout != "" })
	}
	o.places = places
	if sights, err = p.rejudge(sights, o); err != nil {
		return nil, err
	}
	fleet := expected(sights)
	sights = ofShard(sights, o.shard)
	policies := expected(sights)
	answerElsewhere(policies, fleet)
	for i := range sights {
		sights[i].Policy = policies[i]
	}
	v.expect(policies)
	for i, s := range sights {
		v.show(i, s)
	}
	return problems, nil
}

func expected(sights []sight) []audit.Policy {
	policies := make([]audit.Policy, len(sights))
	for i, s := range sights {
		policies[i] = s.Policy
	}
	return policies
}

func writeRecording(name string, sights []sight, problems []audit.Problem, places []lint.Place) error {
	err := writeFile(name, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(recording{Schema: audit.ObservationSchema, Sights: sights, Problems: problems, Places: places})
	})
	if err != nil {
		return &failure{status: exitInternal, err: fmt.Errorf("record observations: %w", err)}
	}
	return nil
}

func readRecording(name string) ([]sight, []audit.Problem, []lint.Place, error) {
	refuse := func(err error) ([]sight, []audit.Problem, []lint.Place, error) {
		return nil, nil, nil, &failure{status: exitUsage, err: fmt.Errorf("replay %s: %w", name, err), hint: "--replay reads what `backstop audit --record FILE` wrote"}
	}
	body, err := os.ReadFile(name)
	if err != nil {
		return refuse(err)
	}
	var r recording
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return refuse(err)
	}
	if r.Schema != audit.ObservationSchema {
		return refuse(fmt.Errorf("it has schema %d, and this backstop reads %d", r.Schema, audit.ObservationSchema))
	}
	for i, s := range r.Sights {
		if s.Observation == nil {
			return refuse(fmt.Errorf("store %d has no observation", i))
		}
	}
	return r.Sights, r.Problems, r.Places, nil
}

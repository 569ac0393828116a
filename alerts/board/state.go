package board

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"backstop/alerts/notify"
	"backstop/audit"
	"backstop/audit/report"
)

// StateSchema is the version of the state file. A file of another one is refused:
// what stands is found out anew within minutes, and a misread verdict is worse than
// none.
const StateSchema = 1

// state is what a state file holds. Losing it loses no truth, only the time until
// the first run has ended, but for Told: what was raised is then not resolved.
type state struct {
	Schema  int                      `json:"schema"`
	Report  audit.Report             `json:"report"`
	Details map[string]report.Detail `json:"details"`
	Last    Run                      `json:"last"`
	Told    notify.State             `json:"told"`
}

// Save writes what stands to a file, whole or not at all.
func (b *Board) Save(name string) error {
	b.mu.RLock()
	s := state{Schema: StateSchema, Report: b.report(b.last.Succeeded), Details: b.details, Last: b.last, Told: b.told}
	b.mu.RUnlock()
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("save state to %s: %w", name, err)
	}
	defer os.Remove(f.Name())
	e := json.NewEncoder(f)
	if err := errors.Join(e.Encode(s), f.Sync(), f.Close(), os.Rename(f.Name(), name)); err != nil {
		return fmt.Errorf("save state to %s: %w", name, err)
	}
	return nil
}

// Load puts up what a file holds. A file that does not exist is no error, and
// changes nothing; any other that cannot be read is one.
func (b *Board) Load(name string) error {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("load state from %s: %w", name, err)
	}
	defer f.Close()
	s, err := readState(f)
	if err != nil {
		return fmt.Errorf("load state from %s: %w; remove the file, the next audit makes a new one", name, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range s.Report.Stores {
		b.stores[r.Store.ID()] = r
	}
	b.problems, b.last = s.Report.Problems, s.Last
	b.ready, b.told = !s.Last.Succeeded.IsZero(), s.Told
	if s.Details != nil {
		b.details = s.Details
	}
	return nil
}

func readState(r io.Reader) (state, error) {
	var s state
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		return state{}, err
	}
	if s.Schema != StateSchema {
		return state{}, fmt.Errorf("it has schema %d, and this version reads %d", s.Schema, StateSchema)
	}
	return s, nil
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"backstop/audit/report"
	"backstop/store/etcdmanager"
	"backstop/store/snapshot"
)

// readProofs reads what `backstop verify -o json` wrote, for the page. No files give
// none. What could not be verified proves nothing.
func readProofs(files []string) (map[string]report.Proof, error) {
	all := map[string]report.Proof{}
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("--verified: %w", err)
		}
		var read struct {
			Format    int        `json:"backstop_verify"`
			Snapshots []verified `json:"snapshots"`
		}
		if err := json.Unmarshal(body, &read); err != nil || read.Format != 1 {
			return nil, fmt.Errorf("--verified %s: it is not what `backstop verify -o json` writes", name)
		}
		for _, v := range read.Snapshots {
			if v.Verdict == snapshot.Unverified {
				continue
			}
			p := report.Proof{Good: v.Verdict != snapshot.Damaged, Size: v.Size}
			if v.Facts != nil {
				p.Revision, p.Keys = v.Facts.Revision, v.Facts.Keys
			}
			all[strings.TrimSuffix(strings.TrimSuffix(v.Name, "/"), "/"+etcdmanager.DataFile)] = p
		}
	}
	return all, nil
}

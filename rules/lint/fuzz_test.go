package lint

import (
	"os"
	"path/filepath"
	"testing"

	"backstop/audit"
	"backstop/rules/lifecycle/infra"
)

// Whatever a file holds, it is judged: no panic, no severity that a rule does not
// declare, and a verdict that is the worst of the findings. Without a store nothing
// is OK.
func FuzzJudge(f *testing.F) {
	for _, cases := range allCases {
		for _, c := range cases {
			f.Add([]byte(c.doc))
		}
	}
	plans, _ := filepath.Glob("../lifecycle/infra/testdata/kops-*.json")
	for _, name := range plans {
		if body, err := os.ReadFile(name); err == nil {
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		d, err := infra.Read(doc, infra.Options{})
		if err != nil {
			return
		}
		files := []File{{Name: "code", Document: d}}
		for _, stores := range [][]Store{{healthy(), armed(), unseen()}, {changed(healthy(), elsewhere), changed(healthy(), versioning("Suspended")), bare("", root)}, nil} {
			r := Judge(Input{Files: files, Stores: stores, Now: noon, AllowNothing: true})
			if len(stores) == 0 && (r.Verdict == audit.OK || r.Verdict == audit.VerdictWarning) {
				t.Errorf("no store was looked at, and the verdict is %s", r.Verdict)
			}
			for _, found := range r.Findings {
				rule, ok := Named(found.Rule)
				if !ok || !rule.May(found.Severity) || found.Message == "" {
					t.Errorf("%+v", found)
				}
			}
		}
	})
}

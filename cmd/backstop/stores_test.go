package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"backstop/audit"
)

// The stores that a real etcd-manager wrote, judged just after their last
// write: what must be found in each, in a bucket that was never versioned and
// has no lifecycle rules. bucket/unversioned therefore speaks of all.
var realStores = map[string]struct {
	at      string
	state   string
	pending bool
	verdict audit.Verdict
	find    []string
}{
	"healthy":        {"2026-11-30T18:07:10Z", "running", false, audit.VerdictWarning, nil},
	"healthy-etcd35": {"2026-11-30T18:31:00Z", "running", false, audit.VerdictWarning, nil},
	"created-only-clean": {"2026-11-30T18:07:10Z", "latent", false, audit.VerdictCritical,
		[]string{"critical control/spec-missing"}},
	"armed": {"2026-11-30T18:08:05Z", "armed", false, audit.VerdictCritical,
		[]string{"critical control/reset-armed"}},
	"trigger": {"2026-11-30T18:08:25Z", "imminent", false, audit.VerdictCritical,
		[]string{"critical control/reset-imminent"}},
	"post-reset": {"2026-11-30T18:09:08Z", "running", false, audit.VerdictCritical,
		[]string{"critical control/reseeded", "critical retention/last-good-expiring"}},
	"pending-restore-clean": {"2026-11-30T19:10:00Z", "running", true, audit.VerdictCritical,
		[]string{"critical queue/pending-restore", "warning snapshot/late"}},
	"stuck-command-clean": {"2026-11-30T18:32:30Z", "running", true, audit.VerdictCritical,
		[]string{"critical queue/bad-restore"}},
	"ha-armed": {"2026-11-30T18:27:15Z", "armed", false, audit.VerdictCritical,
		[]string{"critical control/reset-armed"}},
	"retention-after-cleanup": {"2026-11-30T18:35:00Z", "running", false, audit.VerdictCritical,
		[]string{"critical control/reseeded", "critical retention/last-good-expiring", "warning snapshot/incomplete", "warning snapshot/incomplete", "info snapshot/copied-store", "info control/stray"}},
}

func TestRealStoresThroughDirectoryAndFake(t *testing.T) {
	for name, want := range realStores {
		t.Run(name, func(t *testing.T) {
			files := mustArchive(t, name)
			now := at(want.at)
			dir := copied(t, files)
			_, _, endpoint := served(t, now, files)
			flags := []string{"--interval", "25s"}
			byDir, _ := reportOf(t, now, append(flags, dir)...)
			byFake, _ := reportOf(t, now, append(flags, "s3://kops", "--endpoint-url", endpoint)...)
			for from, r := range map[string]audit.Report{"directory": byDir, "fake": byFake} {
				if len(r.Stores) != 1 {
					t.Fatalf("%s: %d stores, want 1: %+v", from, len(r.Stores), r.Problems)
				}
				s := r.Stores[0]
				if s.State.Name != want.state || s.State.RestorePending != want.pending || s.Verdict != want.verdict {
					t.Errorf("%s: state %+v verdict %s, want %s pending %t %s", from, s.State, s.Verdict, want.state, want.pending, want.verdict)
				}
				if got := findings(r); !sameSet(got, append([]string{"warning bucket/unversioned"}, want.find...)) {
					t.Errorf("%s: found %q, want %q and bucket/unversioned", from, got, want.find)
				}
			}
			if a, b := comparable(t, byDir, dir), comparable(t, byFake, "s3://kops"); a != b {
				t.Errorf("directory and fake differ:\n%s\n%s", a, b)
			}
		})
	}
}

// comparable writes a report without what names the place, or counts requests.
func comparable(t *testing.T, r audit.Report, place string) string {
	t.Helper()
	r.Usage = audit.Usage{}
	for i := range r.Stores {
		r.Stores[i].Usage = audit.Usage{}
		r.Stores[i].Store.Endpoint = ""
		r.Stores[i].Findings = slices.DeleteFunc(r.Stores[i].Findings, func(f audit.Finding) bool { return f.Rule == "audit/provider-unverified" })
		r.Stores[i].Observed = r.Judged
		for j := range r.Stores[i].Findings {
			// Commands to paste differ: aws here, rm there.
			r.Stores[i].Findings[j].Do = make([]string, len(r.Stores[i].Findings[j].Do))
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), place, "PLACE")
}

// What the findings of the real stores must say, besides speaking.
func TestRealStoresSayTheFacts(t *testing.T) {
	for name, words := range map[string][]string{
		"armed":                 {"2026-11-30T18:06:47Z-000006", "kops update cluster --yes", "Put etcd-cluster-created back FIRST", "memberCount 1, etcdVersion 3.6.11", "LEADER"},
		"ha-armed":              {"memberCount 3"},
		"post-reset":            {"2026-11-30 18:08:28Z", "2026-11-30T18:06:47Z-000006, 16984 bytes", "data-trashcan"},
		"stuck-command-clean":   {"2026-11-30T18:06:74Z-000006", "there is no such backup", "delete-command"},
		"pending-restore-clean": {"2026-11-30T18:06:17Z-000005", "set back by 63m", "delete-command"},
	} {
		now := at(realStores[name].at)
		r := command(t, now, "audit", "--interval", "25s", copied(t, mustArchive(t, name)))
		for _, w := range words {
			if !strings.Contains(r.stdout, w) {
				t.Errorf("%s: the report does not say %q:\n%s", name, w, r.stdout)
			}
		}
	}
}

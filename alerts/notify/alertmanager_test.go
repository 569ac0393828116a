package notify

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"backstop/alerts/promtest"
	"backstop/audit"
	"backstop/rules"
)

// active are the alerts that a real Alertmanager would tell of: name, severity and
// store.
func active(t *testing.T, url string) []string {
	t.Helper()
	resp, err := http.Get(url + "/api/v2/alerts")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all []struct {
		Labels map[string]string
		Status struct{ State string }
		EndsAt time.Time
	}
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, a := range all {
		got = append(got, a.Labels["alertname"]+" "+a.Labels["severity"]+" "+a.Labels["store"])
	}
	slices.Sort(got)
	return got
}

// Two real replicas of Alertmanager: alerts are raised on both, change, stand while
// nothing can be seen, and are resolved, by processes that share a state and
// nothing else.
func TestRealAlertmanager(t *testing.T) {
	one, two := promtest.Alertmanager(t, ""), promtest.Alertmanager(t, "")
	n := &Notifier{Client: impatient(), Channels: []Channel{{Name: "am", Type: Alertmanager, URLs: []string{one, two}}}}
	var state []byte
	tell := func(what string, r audit.Report, want ...string) {
		t.Helper()
		var s State
		if state != nil {
			var err error
			if s, err = ParseState(state); err != nil {
				t.Fatal(err)
			}
		}
		// An Alertmanager goes by the true time.
		s, _, err := n.Tell(t.Context(), s, Round{Report: r, Rules: rules.All, Now: time.Now(), Runbooks: "https://wiki.example.org/"})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if state, err = json.Marshal(s); err != nil {
			t.Fatal(err)
		}
		for _, url := range []string{one, two} {
			if got := active(t, url); !slices.Equal(got, append([]string{}, want...)) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
	}
	const a, b = "s3://kops/a/backups/etcd/main", "s3://kops/b/backups/etcd/main"
	mismatch := func(s audit.Severity) audit.Finding { return finding("control/spec-mismatch", s, "m") }
	tell("nothing", reportOf(store("a"), store("b")))
	tell("armed", reportOf(store("a", armed), store("b", mismatch(audit.Warning))), "BackstopControlResetArmed critical "+a, "BackstopControlSpecMismatch warning "+b)
	tell("worse", reportOf(store("a", armed), store("b", mismatch(audit.Critical))), "BackstopControlResetArmed critical "+a, "BackstopControlSpecMismatch critical "+b)
	tell("blind", reportOf(blind(store("a", denied), audit.FactCreated), store("b")), "BackstopControlResetArmed critical "+a)
	tell("hostile", reportOf(store("a", armed), hostile()), "BackstopControlResetArmed critical s3://kops/<!channel> *b*\\n\"}]{{.}}\\x1b[31m\\u202e/backups/etcd/main", "BackstopControlResetArmed critical "+a)
	tell("repaired", reportOf(store("a"), store("b")))
	if err := n.Test(t.Context(), n.Channels[0], time.Now()); err != nil {
		t.Error(err)
	}
}
